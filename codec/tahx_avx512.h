/*
 * What the parts of the AVX-512 kernel of tahx share. Elements are handled in vectors of 16 floats,
 * tiles in blocks of 64 elements; float64 goes to the reference.
 */
#ifndef TAH_TAHX_AVX512_H
#define TAH_TAHX_AVX512_H

#include <immintrin.h>

#include "codec/tahx.h"

#define INLINE static inline __attribute__((always_inline))
#define LANES 16
#define BLOCK 64

size_t tahx_avx512_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room);
size_t tahx_avx512_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                          size_t room, uint8_t *dst);

/* The lowest n bits; all 64 from there on. */
INLINE uint64_t first_bits(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The lanes of a vector, the first element of which is number at of n. */
INLINE __mmask16 lanes_of(unsigned at, unsigned n)
{
    return n >= at + LANES ? 0xffff : n > at ? (__mmask16)((1u << (n - at)) - 1) : 0;
}

#endif
