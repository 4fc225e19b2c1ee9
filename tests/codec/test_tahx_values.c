/* tahx: special and extreme values, types, the caller's environment, damage. */
#include "tests/codec/tensors.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- values ---------------------------------------------------------------------------------- */

/* Times a power of two: the same codes, until float32 itself loses bits. */
START_TEST(scale_does_not_matter)
{
    enum { COUNT = TOKENS * CHANNELS };
    const tah_params_t params = tahx_params(_i ? CHANNELS : 0, 4.3f);
    float *x = tensor_make(FILL_REAL, TOKENS, CHANNELS), *scaled = support_alloc(4 * COUNT);
    size_t bytes;
    const double noise = tensor_loss(&params, x, COUNT, &bytes);
    for (int k = -100; k <= 100; k += 10) {
        for (size_t i = 0; i < COUNT; i++)
            scaled[i] = ldexpf(x[i], k);
        const double decibels =
            10 * log10(ldexp(tensor_loss(&params, scaled, COUNT, &bytes), -2 * k) / noise);
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
    tah_params_t params = tahx_params(_i ? ROW : 0, 5);
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
            ck_assert_double_lt(tensor_noise(x + t * ROW, y + t * ROW, ROW), 0.03 * ROW);
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
    tah_params_t params = tahx_params(_i ? ROW : 0, 6);
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
    const tah_params_t params = tahx_params(CHANNELS, 4.3f);
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
    tah_params_t params = tahx_params(CHANNELS, 4.3f);
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

/* A mean that rounds to one unit more than fits, of either sign, hardly varies: it must fit. */
START_TEST(means_of_most_units)
{
    enum { ROWS = 512, COUNT = ROWS * CHANNELS };
    const tah_params_t params = tahx_params(CHANNELS, 4.3f);
    float *x = tensor_make(FILL_GAUSSIAN, ROWS, CHANNELS);
    const float mean = _i ? -0.99999f : 0.99999f;
    size_t bytes;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i % CHANNELS == 5 ? mean : ldexpf(x[i], -20);
    ck_assert_double_lt(tensor_loss(&params, x, COUNT, &bytes), 1e-9 * COUNT);
    free(x);
}
END_TEST

/* --- damage ---------------------------------------------------------------------------------- */

/* Any payload with a right checksum: decoded or refused, nothing else (run under sanitizers too).
 */
START_TEST(damaged_payloads)
{
    enum { COUNT = 40 * 60 };
    rng_t rng = {99 + (uint64_t)_i};
    tah_params_t params = tahx_params(_i % 3 ? 60 : 0, (float)(2 + _i % 5));
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
    Suite *suite = suite_create("tahx_values");
    TCase *cases = tcase_create("tahx_values");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, scale_does_not_matter, 0, 2);
    tcase_add_loop_test(cases, special_values, 0, 3);
    tcase_add_loop_test(cases, largest_and_smallest, 0, 3);
    tcase_add_loop_test(cases, means_of_most_units, 0, 2);
    tcase_add_test(cases, rounding_mode_is_the_callers);
    tcase_add_test(cases, types_agree);
    tcase_add_loop_test(cases, damaged_payloads, 0, 15);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
