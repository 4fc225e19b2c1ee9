/* bfloat16, float16 and float64: the codes are those of the same numbers as float32. */
#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 136, COUNT = 24 * CHANNELS };

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value of a float16 pattern, by its definition. */
static double half_value(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const double magnitude =
        exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return half >> 15 ? -magnitude : magnitude;
}

/* Of the finite patterns of a 16-bit type the one nearest to a value, halves to even. */
static uint16_t nearest16(tah_dtype_t dtype, double value)
{
    const unsigned infinity = dtype == TAH_BFLOAT16 ? 0x7f80 : 0x7c00;
    unsigned low = 0, high = infinity - 1;
    const double magnitude = fabs(value);
#define VALUE16(p) (dtype == TAH_BFLOAT16 ? float_of((p) << 16) : half_value((uint16_t)(p)))
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        *(VALUE16(middle) <= magnitude ? &low : &high) = middle;
    }
    const double below = magnitude - VALUE16(low), above = VALUE16(high) - magnitude;
#undef VALUE16
    const unsigned pattern = below < above || (below == above && low % 2 == 0) ? low : high;
    return (uint16_t)(pattern | (signbit(value) ? 0x8000 : 0));
}

/* Numbers that all types hold exactly: 8 bits of mantissa, exponents that float16 has. */
static void data_make(float *x)
{
    rng_t rng = {2};
    for (int i = 0; i < COUNT; i++) {
        const double size = rng_next(&rng) % 60 ? 1 : 40;
        x[i] = float_of(bits_of((float)(size * rng_normal(&rng))) & 0xffff0000);
        if (fabsf(x[i]) < 0x1p-14f)
            x[i] = 0;
    }
}

static void convert(tah_dtype_t dtype, const float *x, uint8_t *out)
{
    for (int i = 0; i < COUNT; i++) {
        const double wide = x[i];
        const uint16_t half = nearest16(dtype, x[i]);
        if (dtype == TAH_FLOAT64)
            memcpy(out + 8 * i, &wide, sizeof wide);
        else
            memcpy(out + 2 * i, &half, sizeof half);
    }
}

static tah_params_t params_of(int variant)
{
    tah_params_t params;
    tah_params_init(&params, variant % 2 ? TAH_CODEC_TAH : TAH_CODEC_UNIFORM);
    params.channels = CHANNELS;
    params.bits_high = variant % 2 ? 4 : 7;
    params.allocate = (tah_allocate_t)(variant % 3);
    params.hadamard = TAH_HADAMARD_PUBLISHED;
    return params;
}

START_TEST(same_codes_as_float32)
{
    static const tah_dtype_t types[] = {TAH_BFLOAT16, TAH_FLOAT16, TAH_FLOAT64};
    const tah_dtype_t dtype = types[_i % 3];
    tah_params_t params = params_of(_i / 3);
    float *x = support_alloc(COUNT * sizeof *x), *y = support_alloc(COUNT * sizeof *y);
    uint8_t *typed = support_alloc(COUNT * 8), *expected = support_alloc(COUNT * 8);
    data_make(x);
    convert(dtype, x, typed);
    tah_encoded_t plain, other;
    uint8_t *frame = support_encode(&params, x, COUNT, &plain);
    params.dtype = dtype;
    uint8_t *typed_frame = support_encode(&params, typed, COUNT, &other);
    ck_assert_uint_eq(plain.frame_bytes, other.frame_bytes);
    ck_assert_mem_eq(frame + TAH_HEADER_BYTES, typed_frame + TAH_HEADER_BYTES,
                     plain.frame_bytes - TAH_HEADER_BYTES);

    support_decode(frame, plain.frame_bytes, y, COUNT * sizeof *y);
    convert(dtype, y, expected);
    const size_t bytes = COUNT * tah_dtype_bytes(dtype);
    support_decode(typed_frame, other.frame_bytes, typed, bytes);
    ck_assert_mem_eq(typed, expected, bytes);
    free(x);
    free(y);
    free(typed);
    free(expected);
    free(frame);
    free(typed_frame);
}
END_TEST

/* Special values of every type come back bit for bit, at every place of their type's range. */
START_TEST(special_patterns_are_exact)
{
    static const struct {
        tah_dtype_t dtype;
        uint64_t patterns[6];
    } cases[] = {
        {TAH_BFLOAT16, {0x7f80, 0xff80, 0x7fc1, 0xff81, 0x7f7f, 0x0001}},
        {TAH_FLOAT16, {0x7c00, 0xfc00, 0x7e01, 0xfc01, 0xfe00, 0x7dff}},
        {TAH_FLOAT64,
         {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0xfff0000000000001,
          0x47f0000000000000, 0x7fefffffffffffff}},
    };
    const tah_dtype_t dtype = cases[_i].dtype;
    const size_t element = tah_dtype_bytes(dtype);
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_UNIFORM);
    params.dtype = dtype;
    for (int k = 0; k < 6; k++) {
        enum { N = 32 };
        uint8_t x[N * 8] = {0}, y[N * 8], frame[1024];
        for (int i = 0; i < N; i += 3)
            memcpy(x + (size_t)i * element, &cases[_i].patterns[k], element);
        const tah_message_t message = support_message();
        tah_encoded_t result;
        ck_assert_int_eq(
            tah_encode(&params, &message, x, N, frame, sizeof frame, &result), TAH_OK);
        support_decode(frame, result.frame_bytes, y, N * element);
        if (cases[_i].dtype == TAH_BFLOAT16 && k == 5)
            ck_assert_uint_le(y[0] | y[1], 2); /* a subnormal: quantised, not exact */
        else
            ck_assert_mem_eq(x, y, N * element);
    }
}
END_TEST

/* What float32 cannot hold is exact in float64; what it can is quantised in its place. */
START_TEST(float64_beyond_float32)
{
    static const double sizes[] = {0x1p-1022, 0x1p-200, 0x1p-140, 0x1p130, 0x1p1000};
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_TAH);
    params.dtype = TAH_FLOAT64;
    double x[64], y[64];
    rng_t rng = {8};
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 64; i++)
            x[i] = sizes[k] * (1 + rng_uniform(&rng));
        uint8_t frame[1024];
        const tah_message_t message = support_message();
        tah_encoded_t result;
        ck_assert_int_eq(
            tah_encode(&params, &message, x, 64, frame, sizeof frame, &result), TAH_OK);
        ck_assert_uint_eq(result.tiles_exact, 1);
        support_decode(frame, result.frame_bytes, y, sizeof y);
        ck_assert_mem_eq(x, y, sizeof x);
    }
}
END_TEST

/* Decoding may land a little outside what the tile held: never on an infinity. */
START_TEST(float16_saturates)
{
    tah_params_t params;
    tah_params_init(&params, TAH_CODEC_UNIFORM);
    params.dtype = TAH_FLOAT16;
    params.bits_high = 2;
    uint16_t x[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = (uint16_t)(i % 2 ? 0x7bff : 0xfbf0 + i % 8);
    tah_encoded_t result;
    uint8_t *frame = support_encode(&params, x, 64, &result);
    support_decode(frame, result.frame_bytes, y, sizeof y);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_lt(y[i] & 0x7fff, 0x7c00);
    free(frame);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("types");
    TCase *tests = tcase_create("types");
    tcase_add_loop_test(tests, same_codes_as_float32, 0, 3 * 6);
    tcase_add_loop_test(tests, special_patterns_are_exact, 0, 3);
    tcase_add_test(tests, float64_beyond_float32);
    tcase_add_test(tests, float16_saturates);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
