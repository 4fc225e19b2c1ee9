/* Options of an encoder: stochastic rounding, range search, the best-range transform, min_sqnr. */
#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 192, COUNT = 64 * CHANNELS };

static float data[COUNT], back[COUNT];

static void data_make(void)
{
    rng_t rng = {1};
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(rng_normal(&rng) * (rng_next(&rng) % 80 ? 1 : 20));
}

static tah_params_t params_of(tah_codec_t codec)
{
    tah_params_t params;
    tah_params_init(&params, codec);
    params.channels = CHANNELS;
    return params;
}

/* Encodes data and decodes it to back; the frame goes to frame if that is not NULL. */
static tah_encoded_t pass(const tah_params_t *params, uint64_t serial, uint8_t *frame)
{
    static uint8_t own[COUNT * 4 + 1024];
    tah_message_t message = support_message();
    message.serial = serial;
    tah_encoded_t result;
    frame = frame ? frame : own;
    memset(frame, 0, sizeof own);
    ck_assert_int_eq(
        tah_encode(params, &message, data, COUNT, frame, sizeof own, &result), TAH_OK);
    support_decode(frame, result.frame_bytes, back, sizeof back);
    return result;
}

static double noise_of(void)
{
    double noise = 0;
    for (int i = 0; i < COUNT; i++)
        noise += ((double)data[i] - back[i]) * ((double)data[i] - back[i]);
    return noise;
}

START_TEST(stochastic_is_reproducible_and_changes_with_seed_and_serial)
{
    static uint8_t a[COUNT * 4 + 1024], b[COUNT * 4 + 1024];
    tah_params_t params = params_of(_i ? TAH_CODEC_TAH : TAH_CODEC_UNIFORM);
    params.rounding = TAH_ROUND_STOCHASTIC;
    params.seed = 5;
    data_make();
    pass(&params, 9, a);
    pass(&params, 9, b);
    ck_assert_mem_eq(a, b, sizeof a);
    pass(&params, 10, b);
    ck_assert_mem_ne(a, b, sizeof a);
    params.seed = 6;
    pass(&params, 9, b);
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

/* The mean of many encodings tends to the tensor: its noise falls as 1 / repetitions. */
START_TEST(stochastic_is_unbiased)
{
    enum { REPETITIONS = 64 };
    static double mean[COUNT];
    tah_params_t params = params_of(_i % 2 ? TAH_CODEC_TAH : TAH_CODEC_UNIFORM);
    params.bits_high = _i < 2 ? 4 : 8;
    params.rounding = TAH_ROUND_STOCHASTIC;
    data_make();
    memset(mean, 0, sizeof mean);
    double single = 0;
    for (unsigned k = 0; k < REPETITIONS; k++) {
        pass(&params, k, NULL);
        single += noise_of() / REPETITIONS;
        for (int i = 0; i < COUNT; i++)
            mean[i] += back[i] / (double)REPETITIONS;
    }
    double noise = 0, bias = 0, deviation = 0;
    for (int i = 0; i < COUNT; i++) {
        noise += (mean[i] - data[i]) * (mean[i] - data[i]);
        bias += mean[i] - data[i];
        deviation += single / COUNT / REPETITIONS;
    }
    ck_assert_double_le(noise, 1.1 * single / REPETITIONS);
    ck_assert_double_ge(noise, 0.9 * single / REPETITIONS);
    ck_assert_double_le(fabs(bias), 5 * sqrt(deviation));
}
END_TEST

START_TEST(range_search_is_better)
{
    tah_params_t params = params_of(_i % 2 ? TAH_CODEC_TAH : TAH_CODEC_UNIFORM);
    params.bits_high = (uint8_t)(3 + _i / 2);
    data_make();
    pass(&params, 0, NULL);
    const double plain = noise_of();
    params.range_search = true;
    pass(&params, 0, NULL);
    ck_assert_double_lt(noise_of(), plain * 0.95);
}
END_TEST

START_TEST(range_search_and_stochastic_exclude_each_other)
{
    tah_params_t params = params_of(TAH_CODEC_TAH);
    char why[200];
    params.range_search = true;
    params.rounding = TAH_ROUND_STOCHASTIC;
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_ERR_PARAM);
    ck_assert_ptr_nonnull(strstr(why, "range-search"));
}
END_TEST

/* Tiles whose pivot is a constant factor above a constant rest gain nothing by the transform. */
START_TEST(best_transforms_only_what_it_shortens)
{
    tah_params_t params = params_of(TAH_CODEC_TAH);
    data_make();
    for (int i = 0; i < COUNT; i += 64)
        data[i + 5] = i / 64 % 2 ? 50 : 6; /* far above the rest, and about as far as it reaches */
    const tah_encoded_t published = pass(&params, 0, NULL);
    params.hadamard = TAH_HADAMARD_BEST;
    const tah_encoded_t best = pass(&params, 0, NULL);
    params.hadamard = TAH_HADAMARD_OFF;
    const tah_encoded_t off = pass(&params, 0, NULL);
    ck_assert_uint_gt(published.tiles_rotated, COUNT / 64 / 3);
    ck_assert_uint_gt(best.tiles_rotated, 0);
    ck_assert_uint_le(best.tiles_rotated, published.tiles_rotated);
    ck_assert_uint_eq(off.tiles_rotated, 0);
}
END_TEST

static const tah_codec_t lossy[] = {TAH_CODEC_TAH, TAH_CODEC_UNIFORM, TAH_CODEC_TAHX};

START_TEST(min_sqnr_takes_more_bits)
{
    tah_params_t params = params_of(lossy[_i]);
    params.bits_high = 4;
    params.rate = 3;
    data_make();
    double signal = 0;
    for (int i = 0; i < COUNT; i++)
        signal += (double)data[i] * data[i];
    unsigned last = 0;
    for (params.min_sqnr = 0; params.min_sqnr < 40; params.min_sqnr += 5) {
        const tah_encoded_t result = pass(&params, 0, NULL);
        ck_assert(result.measured);
        ck_assert_double_ge(10 * log10(signal / noise_of()), params.min_sqnr);
        ck_assert_uint_ge(result.retries, last);
        last = result.retries;
    }
    ck_assert_uint_ge(last, 2);
}
END_TEST

START_TEST(min_sqnr_out_of_reach)
{
    tah_params_t params = params_of(lossy[_i]);
    static uint8_t frame[COUNT * 4];
    const tah_message_t message = support_message();
    tah_encoded_t result;
    data_make();
    params.min_sqnr = 90;
    ck_assert_int_eq(tah_encode(&params, &message, data, COUNT, frame, sizeof frame, &result),
                     TAH_ERR_SQNR);
    ck_assert(!tah_frame_has_key(frame, support_key));
    /* Without room for more bits it is the room that is missing. */
    params.min_sqnr = 30;
    const size_t bound = tah_frame_bound(&params, COUNT);
    params.bits_high = 3;
    params.bits_low = 2;
    params.rate = 3;
    ck_assert_int_eq(tah_encode(&params, &message, data, COUNT, frame, bound * 3 / 4, &result),
                     TAH_ERR_SPACE);
    /* An exact tensor is as good as any. */
    memset(data, 0, sizeof data);
    ck_assert_int_eq(tah_encode(&params, &message, data, COUNT, frame, bound, &result), TAH_OK);
    ck_assert_uint_eq(result.retries, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("options");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, stochastic_is_reproducible_and_changes_with_seed_and_serial, 0, 2);
    tcase_add_loop_test(tests, stochastic_is_unbiased, 0, 4);
    tcase_add_loop_test(tests, range_search_is_better, 0, 4);
    tcase_add_test(tests, range_search_and_stochastic_exclude_each_other);
    tcase_add_test(tests, best_transforms_only_what_it_shortens);
    tcase_add_loop_test(tests, min_sqnr_takes_more_bits, 0, 3);
    tcase_add_loop_test(tests, min_sqnr_out_of_reach, 0, 3);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
