/* What the codec's tests share: data, messages, and one call that encodes and decodes. */
#ifndef TESTS_CODEC_SUPPORT_H
#define TESTS_CODEC_SUPPORT_H

#include <check.h>

#include "codec/tah.h"
#include "tests/lib/check_run.h"

/* A reproducible stream of numbers (splitmix64). */
typedef struct rng {
    uint64_t state;
} rng_t;
uint64_t rng_next(rng_t *rng);
double rng_uniform(rng_t *rng); /* 0 <= u < 1 */
double rng_normal(rng_t *rng);

extern const uint8_t support_key[TAH_KEY_BYTES];

/* A message with support_key, rule 7. */
tah_message_t support_message(void);

/* calloc that ends the test instead of failing. */
void *support_alloc(size_t bytes);

/*
 * Encodes into a new buffer of exactly the bound, checks the length and the header, and returns
 * the frame (the caller frees it). Ends the test on any error.
 */
uint8_t *support_encode(const tah_params_t *params, const void *src, size_t count,
                        tah_encoded_t *result);

/* Reads and decodes a frame of support_key to dst; ends the test on any error. */
void support_decode(const uint8_t *frame, size_t bytes, void *dst, size_t capacity);

#endif
