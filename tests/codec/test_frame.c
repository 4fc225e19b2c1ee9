/* Parameters, the frame around a payload, and the limits of every buffer. */
#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT = 7 * 200, CHANNELS = 200 };

static tah_params_t params_of(tah_codec_t codec)
{
    tah_params_t params;
    tah_params_init(&params, codec);
    params.channels = CHANNELS;
    return params;
}

static float *data_make(size_t count)
{
    float *x = support_alloc(count * sizeof *x);
    rng_t rng = {count};
    for (size_t i = 0; i < count; i++)
        x[i] = (float)rng_normal(&rng) * (rng_next(&rng) % 150 ? 1 : 50);
    return x;
}

START_TEST(defaults_are_the_published_setting)
{
    tah_params_t params;
    char why[200] = "x";
    tah_params_init(&params, TAH_CODEC_TAH);
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_OK);
    ck_assert_str_eq(why, "");
    ck_assert_uint_eq(params.bits_high, 4);
    ck_assert_uint_eq(params.bits_low, 3);
    ck_assert_uint_eq(params.tile, 64);
    ck_assert_float_eq(params.high_fraction, 0.8f);
    tah_params_init(&params, TAH_CODEC_UNIFORM);
    ck_assert_int_eq(tah_params_check(&params, why, sizeof why), TAH_OK);
    ck_assert_uint_eq(params.bits_high, 6);
    ck_assert_uint_eq(params.tile, 32);
}
END_TEST

static void refuse(const tah_params_t *params, tah_status_t status, const char *word)
{
    char why[200] = "";
    ck_assert_int_eq(tah_params_check(params, why, sizeof why), status);
    ck_assert_msg(strstr(why, word) != NULL, "\"%s\" does not name %s", why, word);

    float x[64] = {1, 2};
    uint8_t frame[1024];
    memset(frame, 0xaa, sizeof frame);
    const tah_message_t message = support_message();
    tah_encoded_t result;
    ck_assert_int_eq(tah_encode(params, &message, x, 64, frame, sizeof frame, &result), status);
    ck_assert_uint_eq(result.frame_bytes, 0);
    ck_assert(!tah_frame_has_key(frame, support_key));
}

START_TEST(bad_parameters_are_named)
{
    tah_params_t good;
    tah_params_init(&good, TAH_CODEC_TAH);
#define REFUSE(field, value, status, word)                                                         \
    do {                                                                                           \
        tah_params_t bad = good;                                                                   \
        bad.field = value;                                                                         \
        refuse(&bad, status, word);                                                                \
    } while (0)
    REFUSE(codec, TAH_CODEC_NONE, TAH_ERR_PARAM, "codec");
    REFUSE(codec, (tah_codec_t)17, TAH_ERR_PARAM, "codec");
    REFUSE(dtype, TAH_BYTES, TAH_ERR_DTYPE, "dtype");
    REFUSE(dtype, (tah_dtype_t)9, TAH_ERR_PARAM, "dtype");
    REFUSE(tile, 8, TAH_ERR_PARAM, "tile");
    REFUSE(tile, 512, TAH_ERR_PARAM, "tile");
    REFUSE(tile, 48, TAH_ERR_PARAM, "tile");
    REFUSE(tile, 0, TAH_ERR_PARAM, "tile");
    REFUSE(bits_high, 1, TAH_ERR_PARAM, "bits");
    REFUSE(bits_high, 9, TAH_ERR_PARAM, "bits");
    REFUSE(bits_low, 1, TAH_ERR_PARAM, "low");
    REFUSE(bits_low, 5, TAH_ERR_PARAM, "low");
    REFUSE(high_fraction, -0.1f, TAH_ERR_PARAM, "high-fraction");
    REFUSE(high_fraction, 1.1f, TAH_ERR_PARAM, "high-fraction");
    REFUSE(high_fraction, NAN, TAH_ERR_PARAM, "high-fraction");
    REFUSE(allocate, (tah_allocate_t)3, TAH_ERR_PARAM, "allocate");
    REFUSE(hadamard, (tah_hadamard_t)3, TAH_ERR_PARAM, "hadamard");
    REFUSE(min_sqnr, NAN, TAH_ERR_PARAM, "min-sqnr");
#undef REFUSE
}
END_TEST

START_TEST(why_is_cut_to_its_buffer)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.tile = 3;
    char why[8] = "zzzzzzz";
    ck_assert_int_eq(tah_params_check(&params, why, 5), TAH_ERR_PARAM);
    ck_assert_str_eq(why, "tile");
    ck_assert_int_eq(why[5], 'z');
}
END_TEST

START_TEST(channels_have_to_divide)
{
    const tah_params_t params = params_of(TAH_CODEC_TAH);
    float x[CHANNELS + 1] = {0};
    uint8_t frame[2048];
    const tah_message_t message = support_message();
    tah_encoded_t result;
    ck_assert_int_eq(tah_params_fit(&params, 3 * CHANNELS), TAH_OK);
    ck_assert_int_eq(tah_params_fit(&params, CHANNELS + 1), TAH_ERR_PARAM);
    ck_assert_int_eq(
        tah_encode(&params, &message, x, CHANNELS + 1, frame, sizeof frame, &result),
        TAH_ERR_PARAM);
}
END_TEST

START_TEST(empty_tensor)
{
    const tah_params_t params = params_of(_i ? TAH_CODEC_TAH : TAH_CODEC_UNIFORM);
    tah_encoded_t result;
    float nothing = 5;
    uint8_t *frame = support_encode(&params, &nothing, 0, &result);
    ck_assert_uint_eq(result.frame_bytes, TAH_FRAME_MIN);
    support_decode(frame, result.frame_bytes, &nothing, 0);
    ck_assert_float_eq(nothing, 5);
    free(frame);
}
END_TEST

/* Every byte from the checksum on is protected; damage to the key makes it somebody else's data. */
START_TEST(every_flipped_bit_is_found)
{
    const tah_params_t params = params_of(TAH_CODEC_TAH);
    float *x = data_make(COUNT);
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    for (size_t byte = 0; byte < result.frame_bytes; byte++) {
        tah_frame_t info = {.count = 99};
        frame[byte] ^= (uint8_t)(1 << byte % 8);
        const tah_status_t status =
            tah_frame_read(frame, result.frame_bytes, support_key, &info);
        ck_assert_int_eq(status, byte < TAH_KEY_BYTES ? TAH_NOT_A_FRAME
                                 : byte == 24         ? TAH_ERR_VERSION
                                                      : TAH_ERR_CHECKSUM);
        ck_assert_uint_eq(info.count, 99);
        frame[byte] ^= (uint8_t)(1 << byte % 8);
    }
    free(frame);
    free(x);
}
END_TEST

START_TEST(other_lengths_are_not_frames)
{
    const tah_params_t params = params_of(TAH_CODEC_UNIFORM);
    float *x = data_make(COUNT);
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    tah_frame_t info;
    for (size_t bytes = 0; bytes < result.frame_bytes; bytes++) {
        const tah_status_t status = tah_frame_read(frame, bytes, support_key, &info);
        ck_assert_int_eq(status, bytes % 128 == 112 ? TAH_ERR_CHECKSUM : TAH_NOT_A_FRAME);
    }
    free(frame);
    free(x);
}
END_TEST

START_TEST(short_destination_is_untouched)
{
    const tah_params_t params = params_of(TAH_CODEC_UNIFORM);
    float *x = data_make(COUNT), y[COUNT] = {42};
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, COUNT, &result);
    tah_frame_t info;
    ck_assert_int_eq(tah_frame_read(frame, result.frame_bytes, support_key, &info), TAH_OK);
    ck_assert_int_eq(
        tah_decode(frame, result.frame_bytes, &info, NULL, y, COUNT * sizeof *y - 1),
        TAH_ERR_TRUNCATE);
    ck_assert_float_eq(y[0], 42);
    free(frame);
    free(x);
}
END_TEST

/* The end of a buffer is the end of a page, behind which there is nothing. */
typedef struct guarded {
    uint8_t *start, *map;
    size_t map_bytes;
} guarded_t;

static guarded_t guarded_alloc(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded_t guarded = {.map_bytes = (bytes + page - 1) / page * page + page};
    guarded.map = mmap(NULL, guarded.map_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(guarded.map, MAP_FAILED);
    ck_assert_int_eq(mprotect(guarded.map + guarded.map_bytes - page, page, PROT_NONE), 0);
    guarded.start = guarded.map + guarded.map_bytes - page - bytes;
    return guarded;
}

/* Sizes around every boundary of tile and row, source, frame and destination exactly as long. */
START_TEST(nothing_beyond_the_buffers)
{
    static const tah_codec_t codecs[] = {TAH_CODEC_TAH, TAH_CODEC_UNIFORM, TAH_CODEC_TAHX};
    for (size_t count = 1; count < 300; count += count < 140 ? 1 : 13) {
        tah_params_t params;
        tah_params_init(&params, codecs[_i]);
        params.bits_high = (uint8_t)(3 + count % 6);
        params.tile = (uint16_t)(16 << count % 5);
        params.channels = count % 3 == 0 ? (uint32_t)(count / 3) : 0;
        float *x = data_make(count);
        guarded_t src = guarded_alloc(count * sizeof *x);
        memcpy(src.start, x, count * sizeof *x);
        tah_encoded_t result;
        uint8_t *frame = support_encode(&params, src.start, count, &result);

        guarded_t tight = guarded_alloc(result.frame_bytes);
        guarded_t dst = guarded_alloc(count * sizeof *x);
        const tah_message_t message = support_message();
        tah_encoded_t again;
        ck_assert_int_eq(tah_encode(&params, &message, src.start, count, tight.start,
                                    result.frame_bytes, &again),
                         TAH_OK);
        ck_assert_mem_eq(tight.start, frame, result.frame_bytes);
        support_decode(tight.start, result.frame_bytes, dst.start, count * sizeof *x);
        /* One byte less is refused, and what is there cannot pass for a frame. */
        ck_assert_int_eq(tah_encode(&params, &message, src.start, count, tight.start + 1,
                                    result.frame_bytes - 1, &again),
                         TAH_ERR_SPACE);
        ck_assert(!tah_frame_has_key(tight.start + 1, support_key));
        munmap(src.map, src.map_bytes);
        munmap(tight.map, tight.map_bytes);
        munmap(dst.map, dst.map_bytes);
        free(frame);
        free(x);
    }
}
END_TEST

/* Every capacity from nothing up: SPACE, and never a byte beyond it. */
START_TEST(every_capacity)
{
    enum { SMALL = 150 };
    float *x = data_make(SMALL);
    x[70] = NAN;
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    const tah_message_t message = support_message();
    tah_encoded_t result;
    uint8_t whole[1024];
    ck_assert_int_eq(tah_encode(&params, &message, x, SMALL, whole, sizeof whole, &result),
                     TAH_OK);
    for (size_t capacity = 0; capacity < result.frame_bytes + 200; capacity++) {
        guarded_t frame = guarded_alloc(capacity);
        tah_encoded_t again;
        const tah_status_t status =
            tah_encode(&params, &message, x, SMALL, frame.start, capacity, &again);
        ck_assert_int_eq(status, capacity < result.frame_bytes ? TAH_ERR_SPACE : TAH_OK);
        munmap(frame.map, frame.map_bytes);
    }
    free(x);
}
END_TEST

/* Sizes near the end of 64 bits are refused, not computed wrongly. */
START_TEST(bound_does_not_overflow)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.channels = 1;
    params.bits_high = 8;
    ck_assert_uint_eq(tah_frame_bound(&params, SIZE_MAX), SIZE_MAX);
    size_t last = 0;
    params.channels = 0;
    for (size_t count = 1; count < SIZE_MAX / 4; count *= 3) {
        ck_assert_uint_ge(tah_frame_bound(&params, count), last);
        last = tah_frame_bound(&params, count);
    }
}
END_TEST

START_TEST(kernels_by_name)
{
    ck_assert_int_eq(tah_kernel_select("scalar"), TAH_OK);
    ck_assert_str_eq(tah_kernel_name(), "scalar");
    ck_assert_int_eq(tah_kernel_select("abacus"), TAH_ERR_PARAM);
    ck_assert_str_eq(tah_kernel_name(), "scalar");
    ck_assert_int_eq(tah_kernel_select(NULL), TAH_OK);
    ck_assert_int_eq(tah_kernel_select("auto"), TAH_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame");
    TCase *tests = tcase_create("frame");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, defaults_are_the_published_setting);
    tcase_add_test(tests, bad_parameters_are_named);
    tcase_add_test(tests, why_is_cut_to_its_buffer);
    tcase_add_test(tests, channels_have_to_divide);
    tcase_add_loop_test(tests, empty_tensor, 0, 2);
    tcase_add_test(tests, every_flipped_bit_is_found);
    tcase_add_test(tests, other_lengths_are_not_frames);
    tcase_add_test(tests, short_destination_is_untouched);
    tcase_add_loop_test(tests, nothing_beyond_the_buffers, 0, 3);
    tcase_add_test(tests, every_capacity);
    tcase_add_test(tests, bound_does_not_overflow);
    tcase_add_test(tests, kernels_by_name);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
