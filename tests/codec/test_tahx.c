/* tahx: its parameters, its exact rate, its quality against the published method. */
#include "tests/codec/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parameters ------------------------------------------------------------------------------ */

START_TEST(bad_parameters_are_named)
{
    char why[200];
    const tah_params_t good = tahx_params(0, 4.3f);
    ck_assert_int_eq(tah_params_check(&good, why, sizeof why), TAH_OK);
#define REFUSE(field, value, word)                                                      \
    do {                                                                                \
        tah_params_t bad = good;                                                        \
        bad.field = value;                                                              \
        ck_assert_int_eq(tah_params_check(&bad, why, sizeof why), TAH_ERR_PARAM);       \
        ck_assert_msg(strstr(why, word) != NULL, "\"%s\" does not name %s", why, word); \
    } while (0)
    REFUSE(tile, 8, "tile");
    REFUSE(tile, 48, "tile");
    REFUSE(tile, 512, "tile");
    REFUSE(rate, 0.9f, "rate");
    REFUSE(rate, 9.1f, "rate");
    REFUSE(rate, NAN, "rate");
    REFUSE(min_bits, 8, "min-bits");
    REFUSE(min_bits, 5, "min-bits");
    REFUSE(error, (tah_error_t)2, "error");
    REFUSE(error, TAH_ERROR_TOKEN, "channels");
#undef REFUSE
}
END_TEST

/* --- rate ------------------------------------------------------------------------------------ */

/* Never above the rate, and the payload fills what the frame's length gives it. */
START_TEST(rate_is_met)
{
    static const float rates[] = {1, 1.7f, 2.5f, 3.9f, 4.3f, 6, 8.2f};
    static const size_t shapes[][2] = {{16, 64},   {16, 1024}, {64, 256}, {128, 120}, {100, 333},
                                       {1, 50000}, {700, 96},  {31, 37},  {4000, 16}};
    const fill_t fill = _i % 2 ? FILL_CHANNELS_LARGE : FILL_GAUSSIAN;
    const size_t tokens = shapes[_i / 2][0], channels = shapes[_i / 2][1];
    const size_t count = tokens * channels;
    float *x = tensor_make(fill, tokens, channels);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        for (int known = 0; known < 2; known++) {
            const tah_params_t params = tahx_params(known ? (uint32_t)channels : 0, rates[r]);
            tah_encoded_t result;
            tah_frame_t info;
            uint8_t *frame = support_encode(&params, x, count, &result);
            ck_assert_int_eq(tah_frame_read(frame, result.frame_bytes, support_key, &info), TAH_OK);
            const double budget = (double)rates[r] * (double)count / 8;
            ck_assert_double_le((double)result.frame_bytes, budget);
            /* No longer frame would do, and a hundredth of a bit a value is left at most. */
            ck_assert_double_gt((double)result.frame_bytes + TAH_FRAME_ALIGN, budget);
            const size_t left = result.frame_bytes - TAH_HEADER_BYTES - (size_t)info.payload_bytes;
            ck_assert_uint_le(left, count / 800 + 16);
            if (count >= 100000)
                ck_assert_double_gt((double)result.frame_bytes * 8 / (double)count,
                                    rates[r] - 0.02);
            free(frame);
        }
    }
    free(x);
}
END_TEST

/* All tiles alike: the bits are spread by tile number, not by the scale. */
START_TEST(rate_is_met_by_equal_tiles)
{
    enum { COUNT = 1 << 17 };
    float *x = support_alloc(COUNT * sizeof *x);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = sinf((float)(i % 32));
    for (float rate = 1; rate < 9; rate += 0.37f) {
        const tah_params_t params = tahx_params(0, rate);
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, COUNT, &result);
        tah_frame_t info;
        ck_assert_int_eq(tah_frame_read(frame, result.frame_bytes, support_key, &info), TAH_OK);
        const double bits = (double)(info.payload_bytes + TAH_HEADER_BYTES) * 8 / COUNT;
        ck_assert_double_le(bits, rate);
        if (rate < 8.2f)
            ck_assert_double_gt(bits, rate - 0.02);
        free(frame);
    }
    free(x);
}
END_TEST

START_TEST(least_width_holds)
{
    enum { COUNT = 100 * 128 };
    float *x = tensor_make(FILL_GAUSSIAN, 100, 128), *y = support_alloc(COUNT * sizeof *y);
    for (size_t i = 0; i < COUNT / 2; i++)
        x[i] *= 0x1p-7f;
    for (int floored = 0; floored < 2; floored++) {
        tah_params_t params = tahx_params(128, 4);
        params.min_bits = floored ? 3 : 0;
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, COUNT, &result);
        support_decode(frame, result.frame_bytes, y, COUNT * sizeof *y);
        const double noise = tensor_noise(x, y, COUNT / 2) / (COUNT / 2) / 0x1p-14;
        /* 3 bits leave a fortieth, none leave most. */
        if (floored)
            ck_assert_double_lt(noise, 0.04);
        else
            ck_assert_double_gt(noise, 0.2);
        free(frame);
    }
    free(x);
    free(y);
}
END_TEST

/* --- quality --------------------------------------------------------------------------------- */

typedef struct floor {
    fill_t fill;
    uint16_t tokens, channels;
    double gain; /* dB below the error of tah as published, in a frame no longer than its */
} floor_t;

static const floor_t floors[] = {
    {FILL_REAL, TOKENS, CHANNELS, 3.25},    {FILL_GAUSSIAN, 1024, 256, 3.9},
    {FILL_GAUSSIAN, 16, 1024, 3.7},         {FILL_CHANNELS_LARGE, 1024, 256, 8},
    {FILL_CHANNELS_OFFSET, 1024, 200, 4.5}, {FILL_TOKENS_MASSIVE, 1024, 256, 15},
    {FILL_SCATTERED, 1024, 256, 5},
};

START_TEST(quality_floors)
{
    const floor_t *floor = &floors[_i];
    const size_t count = (size_t)floor->tokens * floor->channels;
    float *x = tensor_make(floor->fill, floor->tokens, floor->channels);
    size_t published_bytes, bytes;
    tah_params_t published;
    tah_params_init(&published, TAH_CODEC_TAH);
    published.channels = floor->channels;
    const double before = tensor_loss(&published, x, count, &published_bytes);
    const tah_params_t params =
        tahx_params(floor->channels, (float)published_bytes * 8 / (float)count * 1.0001f);
    const double after = tensor_loss(&params, x, count, &bytes);
    ck_assert_uint_le(bytes, published_bytes);
    const double gain = 10 * log10(before / after);
    ck_assert_msg(gain >= floor->gain, "only %.2f dB better", gain);
    free(x);
}
END_TEST

/* Relative to its token, the error of small tokens is what counts; absolutely, it does not. */
START_TEST(error_by_token)
{
    enum { ROWS = 256, ROW = 128 };
    float *x = tensor_make(FILL_GAUSSIAN, ROWS, ROW), *y = support_alloc(ROWS * ROW * sizeof *y);
    double relative[2] = {0}, absolute[2] = {0};
    for (size_t i = 0; i < ROWS * ROW; i++)
        x[i] *= i / ROW % 4 ? 0x1p-30f : 1;
    for (int token = 0; token < 2; token++) {
        tah_params_t params = tahx_params(ROW, 4);
        params.error = token ? TAH_ERROR_TOKEN : TAH_ERROR_ABSOLUTE;
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, ROWS * ROW, &result);
        support_decode(frame, result.frame_bytes, y, ROWS * ROW * sizeof *y);
        for (size_t t = 0; t < ROWS; t++) {
            const double noise = tensor_noise(x + t * ROW, y + t * ROW, ROW);
            absolute[token] += noise;
            relative[token] += noise / tensor_noise(x + t * ROW, (float[ROW]){0}, ROW);
        }
        free(frame);
    }
    ck_assert_double_lt(relative[1] / ROWS, 0.015);
    ck_assert_double_gt(relative[0] / ROWS, 0.5);
    ck_assert_double_lt(absolute[0], absolute[1] / 10);
    free(x);
    free(y);
}
END_TEST

START_TEST(measured_loss_is_the_loss)
{
    float *x = tensor_make(FILL_REAL, TOKENS, CHANNELS);
    const size_t count = TOKENS * CHANNELS;
    const tah_params_t params = tahx_params(CHANNELS, 4.3f);
    tah_message_t message = support_message();
    message.measure = true;
    const size_t bound = tah_frame_bound(&params, count);
    uint8_t *frame = support_alloc(bound);
    tah_encoded_t result;
    ck_assert_int_eq(tah_encode(&params, &message, x, count, frame, bound, &result), TAH_OK);
    size_t bytes;
    const double noise = tensor_loss(&params, x, count, &bytes);
    ck_assert(result.measured);
    ck_assert_double_eq_tol(result.noise / noise, 1, 1e-9);
    const double signal = tensor_noise(x, (float[TOKENS * CHANNELS]){0}, count);
    ck_assert_double_eq_tol(result.signal / signal, 1, 1e-9);
    free(frame);
    free(x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tahx");
    TCase *cases = tcase_create("tahx");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, bad_parameters_are_named);
    tcase_add_loop_test(cases, rate_is_met, 0, 18);
    tcase_add_test(cases, rate_is_met_by_equal_tiles);
    tcase_add_test(cases, least_width_holds);
    tcase_add_loop_test(cases, quality_floors, 0, sizeof floors / sizeof *floors);
    tcase_add_test(cases, error_by_token);
    tcase_add_test(cases, measured_loss_is_the_loss);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
