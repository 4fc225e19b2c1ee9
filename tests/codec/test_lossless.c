/* lossless: every byte of every type comes back, and what does not shrink is refused. */
#include "tests/codec/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static tah_params_t params_of(tah_dtype_t dtype)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_LOSSLESS);
    params.dtype = dtype;
    return params;
}

/* Numbers of one size: compressible in every type, because their exponents are alike. */
static uint8_t *data_make(tah_dtype_t dtype, size_t count)
{
    const size_t element = tah_dtype_bytes(dtype);
    uint8_t *x = support_alloc(count * element);
    rng_t rng = {count};
    for (size_t i = 0; i < count * element; i++) {
        const bool top = i % element == element - 1;
        x[i] = (uint8_t)(top || element == 1 ? rng_next(&rng) % 3 + 60 : rng_next(&rng));
    }
    return x;
}

START_TEST(every_type_and_size)
{
    /* Blocks are 2^17 bytes: sizes around one and several of them. */
    static const size_t bytes[] = {1600, 4096, 131064, 131072, 131080, 262144, 700000};
    const tah_params_t params = params_of((tah_dtype_t)_i);
    const size_t element = tah_dtype_bytes(params.dtype);
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
        const size_t count = bytes[k] / element;
        uint8_t *x = data_make(params.dtype, count), *y = support_alloc(count * element);
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, x, count, &result);
        ck_assert_uint_lt(result.frame_bytes, count * element + 112);
        support_decode(frame, result.frame_bytes, y, count * element);
        ck_assert_mem_eq(x, y, count * element);
        free(frame);
        free(x);
        free(y);
    }
}
END_TEST

START_TEST(special_values_are_bytes_like_any)
{
    const tah_params_t params = params_of(TAH_FLOAT32);
    float x[4096], y[4096];
    for (int i = 0; i < 4096; i++)
        x[i] = i % 5 == 0 ? NAN : i % 5 == 1 ? -0.0f : i % 5 == 2 ? INFINITY : 1e-42f;
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, 4096, &result);
    ck_assert_uint_lt(result.frame_bytes, sizeof x / 8);
    support_decode(frame, result.frame_bytes, y, sizeof y);
    ck_assert_mem_eq(x, y, sizeof x);
    free(frame);
}
END_TEST

START_TEST(noise_is_refused)
{
    const tah_params_t params = params_of((tah_dtype_t)_i);
    enum { BYTES = 300000 };
    uint8_t *x = support_alloc(BYTES), *frame = support_alloc(2 * BYTES);
    rng_t rng = {3};
    for (int i = 0; i < BYTES; i++)
        x[i] = (uint8_t)rng_next(&rng);
    const tah_message_t message = support_message();
    tah_encoded_t result;
    for (int bytes = 0; bytes <= BYTES; bytes += 60000) {
        const size_t count = (size_t)bytes / tah_dtype_bytes(params.dtype);
        /* Only nothing at all takes no more room than it has. */
        ck_assert_int_eq(
            tah_encode(&params, &message, x, count, frame, 2 * BYTES, &result),
            bytes ? TAH_ERR_SPACE : TAH_OK);
    }
    free(x);
    free(frame);
}
END_TEST

START_TEST(short_capacity_is_refused)
{
    const tah_params_t params = params_of(TAH_FLOAT32);
    enum { COUNT = 80000 };
    uint8_t *x = data_make(TAH_FLOAT32, COUNT);
    tah_encoded_t result, again;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    const tah_message_t message = support_message();
    for (size_t less = 1; less < result.frame_bytes; less = less * 3 + 100)
        ck_assert_int_eq(tah_encode(&params, &message, x, COUNT, frame, result.frame_bytes - less,
                                    &again),
                         TAH_ERR_SPACE);
    free(frame);
    free(x);
}
END_TEST

START_TEST(level_is_checked)
{
    tah_params_t params = params_of(TAH_BYTES);
    char why[100];
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_OK);
    params.level = 0;
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_ERR_PARAM);
    ck_assert_ptr_nonnull(strstr(why, "level"));
    params.level = 20;
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_ERR_PARAM);
}
END_TEST

/* Any byte of the payload changed, with a right checksum: an error or a tensor, nothing else. */
START_TEST(wrong_payloads)
{
    enum { COUNT = 40000, BYTES = COUNT * 4 };
    const tah_params_t params = params_of(TAH_FLOAT32);
    uint8_t *x = data_make(TAH_FLOAT32, COUNT), *y = support_alloc(BYTES);
    memset(x + BYTES / 2, 0, BYTES / 2);
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    unsigned refused = 0;
    for (size_t at = 28; at < result.frame_bytes; at += at < 200 ? 1 : 997) {
        const uint8_t before = frame[at];
        frame[at] ^= (uint8_t)(0x11 + at);
        const uint64_t sum = XXH3_64bits(frame + 24, result.frame_bytes - 24);
        memcpy(frame + 16, &sum, sizeof sum);
        tah_frame_t info;
        tah_status_t status = tah_frame_read(frame, result.frame_bytes, support_key, &info);
        if (status == TAH_OK)
            status = tah_decode(frame, result.frame_bytes, &info, NULL, y, BYTES);
        ck_assert(status == TAH_OK || status == TAH_ERR_HEADER || status == TAH_ERR_PAYLOAD ||
                  status == TAH_ERR_TRUNCATE);
        refused += status != TAH_OK;
        if (at < 72) /* header fields, and the two lengths of blocks */
            ck_assert_int_ne(status, TAH_OK);
        frame[at] = before;
    }
    ck_assert_uint_gt(refused, 40);
    free(frame);
    free(x);
    free(y);
}
END_TEST

int main(void)
{
    const tah_params_t params = params_of(TAH_BYTES);
    char why[100];
    if (tah_params_check(&params, why, sizeof why) != TAH_OK) {
        printf("1..0 # SKIP this build has no lossless codec\n");
        return 0;
    }
    Suite *suite = suite_create("lossless");
    TCase *tests = tcase_create("lossless");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, every_type_and_size, 0, TAH_DTYPE_COUNT);
    tcase_add_test(tests, special_values_are_bytes_like_any);
    tcase_add_loop_test(tests, noise_is_refused, 0, TAH_DTYPE_COUNT);
    tcase_add_test(tests, short_capacity_is_refused);
    tcase_add_test(tests, level_is_checked);
    tcase_add_test(tests, wrong_payloads);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
