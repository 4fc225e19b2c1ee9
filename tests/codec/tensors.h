/* Tensors for the tests of tahx, and what is lost of them. */
#ifndef TESTS_CODEC_TENSORS_H
#define TESTS_CODEC_TENSORS_H

#include "tests/codec/support.h"

enum { TOKENS = 320, CHANNELS = 120 }; /* of FILL_REAL */

typedef enum fill {
    FILL_REAL,
    FILL_GAUSSIAN,
    FILL_CHANNELS_LARGE,  /* one channel in fifty 20 times as large */
    FILL_CHANNELS_OFFSET, /* one channel in a hundred 100 off */
    FILL_TOKENS_MASSIVE,  /* one token in a hundred 1000 times as large */
    FILL_SCATTERED,       /* one element in two hundred 30 times as large */
} fill_t;

/* The parameters of tahx with these channels and bits a value. */
tah_params_t tahx_params(uint32_t channels, float rate);

/* A tensor, always the same for the same arguments; the caller frees it. */
float *tensor_make(fill_t fill, size_t tokens, size_t channels);

/* The sum of squared differences. */
double tensor_noise(const float *x, const float *y, size_t count);

/* Encodes and decodes; the sum of squared errors, and the length of the frame. */
double tensor_loss(const tah_params_t *params, const float *x, size_t count, size_t *frame_bytes);

#endif
