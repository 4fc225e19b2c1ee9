/*
 * A counter-based generator: number `index` of stream `stream` is a pure function of the seed, so
 * a parameter gets the same start value, and a step the same text, on whichever rank it lives.
 * All functions are thread-safe.
 */
#ifndef LM_RANDOM_H
#define LM_RANDOM_H

#include <stdint.h>

/* 64 uniform bits. */
uint64_t lm_random_bits(uint64_t seed, uint64_t stream, uint64_t index);

/* A standard normal deviate (Box and Muller 1958, the cosine half). */
double lm_random_normal(uint64_t seed, uint64_t stream, uint64_t index);

#endif
