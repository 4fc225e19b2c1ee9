/*
 * Values that quantisers like to break: zeros, constants, NaN, infinities, the ends of the range.
 */
#include "tests/codec/support.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { TILE = 64, TILES = 8, COUNT = TILE * TILES };

typedef struct job {
    const char *name;
    tah_codec_t codec;
    tah_allocate_t allocate;
} job_t;

static const job_t jobs[] = {
    {"tah by token", TAH_CODEC_TAH, TAH_ALLOCATE_TOKEN},
    {"tah by tile", TAH_CODEC_TAH, TAH_ALLOCATE_TILE},
    {"tah by range", TAH_CODEC_TAH, TAH_ALLOCATE_RANGE},
    {"uniform", TAH_CODEC_UNIFORM, TAH_ALLOCATE_TOKEN},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static tah_params_t job_params(const job_t *job)
{
    tah_params_t params;
    tah_params_init(&params, job->codec);
    params.tile = TILE;
    params.channels = 2 * TILE;
    params.allocate = job->allocate;
    return params;
}

static void fill(float *x, size_t count, double size, uint64_t seed)
{
    rng_t rng = {seed};
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(size * rng_normal(&rng));
}

/* Through a frame that may be as long as the tensor; tells how long it was. */
static size_t pass(const tah_params_t *params, const float *x, float *y, size_t count)
{
    const size_t capacity = count * sizeof *x + 1024;
    uint8_t *frame = support_alloc(capacity);
    const tah_message_t message = support_message();
    tah_encoded_t result;
    ck_assert_int_eq(tah_encode(params, &message, x, count, frame, capacity, &result), TAH_OK);
    support_decode(frame, result.frame_bytes, y, count * sizeof *y);
    free(frame);
    return result.frame_bytes;
}

static double sqnr(const float *x, const float *y, size_t count)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        signal += (double)x[i] * x[i];
        noise += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
    }
    return 10 * log10(signal / noise);
}

/* One tile with values that no grid holds: it is exact, and the others are as without it. */
static void exact_tile(const job_t *job, const float *special, size_t n)
{
    tah_params_t params = job_params(job);
    params.bits_low = params.bits_high; /* so that no other tile gets another width */
    float x[COUNT], plain[COUNT], y[COUNT], z[COUNT];
    fill(x, COUNT, 1, 11);
    memcpy(plain, x, sizeof x);
    for (size_t i = 0; i < n; i++)
        x[7 + 5 * i] = special[i];
    pass(&params, x, y, COUNT);
    pass(&params, plain, z, COUNT);
    ck_assert_mem_eq(y, x, TILE * sizeof *x);
    ck_assert_mem_eq(y + TILE, z + TILE, (COUNT - TILE) * sizeof *x);
}

START_TEST(nan_and_infinity_are_exact)
{
    const uint32_t signalling = 0xff800001u;
    float special[4] = {NAN, INFINITY, -INFINITY};
    memcpy(special + 3, &signalling, sizeof signalling);
    for (int k = 0; k < 4; k++)
        exact_tile(&jobs[_i], special + k, 1);
    exact_tile(&jobs[_i], special, 4);
}
END_TEST

START_TEST(largest_float_is_exact)
{
    const float special[] = {FLT_MAX, -FLT_MAX, 1e-38f};
    exact_tile(&jobs[_i], special, 3);
}
END_TEST

START_TEST(zeros_and_constants_are_exact_and_short)
{
    static const float values[] = {0, -0.0f, 1, -3.1415927f, FLT_MAX, -FLT_MIN, 1e-45f, INFINITY};
    const tah_params_t params = job_params(&jobs[_i]);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        float x[COUNT], y[COUNT];
        for (int i = 0; i < COUNT; i++)
            x[i] = values[k];
        const size_t bytes = pass(&params, x, y, COUNT);
        ck_assert_mem_eq(x, y, sizeof x);
        ck_assert_uint_le(bytes, 112 + 128);
    }
}
END_TEST

START_TEST(mixed_zeros_are_exact_and_short)
{
    const tah_params_t params = job_params(&jobs[_i]);
    float x[COUNT - 3], y[COUNT - 3];
    for (int i = 0; i < COUNT - 3; i++)
        x[i] = i % 3 ? 0.0f : -0.0f;
    tah_params_t any = params;
    any.channels = 0;
    const size_t bytes = pass(&any, x, y, COUNT - 3);
    ck_assert_mem_eq(x, y, sizeof x);
    ck_assert_uint_le(bytes, 112 + 128);
}
END_TEST

/* Whole tensors of subnormals, at the smallest step that the format has. */
START_TEST(subnormals_keep_their_size)
{
    const tah_params_t params = job_params(&jobs[_i]);
    float x[COUNT], y[COUNT];
    rng_t rng = {21};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((rng_uniform(&rng) - 0.5) * 0x1p-127);
    pass(&params, x, y, COUNT);
    for (int i = 0; i < COUNT; i++)
        ck_assert_double_le(fabs((double)x[i] - y[i]), 0x1p-127 / 7 / 1.8);
}
END_TEST

/* 3e38 next to 1e-38: nothing overflows, and tiles of either size keep their own precision. */
START_TEST(both_ends_of_the_range_together)
{
    tah_params_t params = job_params(&jobs[_i]);
    params.channels = TILE;
    float x[COUNT], y[COUNT];
    fill(x, COUNT, 1, 31);
    for (int t = 0; t < TILES; t++) {
        static const float sizes[TILES] = {1e-38f, 4e37f, 1e-30f, 1e30f, 1, 4e37f, 1e-38f, 1e10f};
        for (int i = 0; i < TILE; i++)
            x[t * TILE + i] *= sizes[t];
    }
    x[5 * TILE + 3] = 3e38f;
    x[5 * TILE + 4] = 1e-38f;
    pass(&params, x, y, COUNT);
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < TILE; i++)
            ck_assert(isfinite(y[t * TILE + i]));
        ck_assert_double_ge(sqnr(x + t * TILE, y + t * TILE, TILE), 14);
    }
}
END_TEST

/* Multiplying a tensor by a power of two multiplies what comes back by it, bit for bit. */
START_TEST(powers_of_two_change_nothing)
{
    const tah_params_t params = job_params(&jobs[_i]);
    float x[COUNT], y[COUNT], scaled[COUNT], z[COUNT];
    fill(x, COUNT, 0.03, 41);
    for (int i = 0; i < COUNT; i += 57)
        x[i] *= 40;
    pass(&params, x, y, COUNT);
    for (int k = -100; k <= 100; k += 20) {
        for (int i = 0; i < COUNT; i++)
            scaled[i] = ldexpf(x[i], k);
        pass(&params, scaled, z, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert_double_eq(ldexp(y[i], k), z[i]);
    }
}
END_TEST

/* A mean that dwarfs the range costs precision only as float32 itself has none. */
START_TEST(large_mean)
{
    const tah_params_t params = job_params(&jobs[_i]);
    static const double means[] = {10, -1e3, 1e5, -1e7};
    for (int k = 0; k < 4; k++) {
        float x[COUNT], y[COUNT];
        fill(x, COUNT, 1, 51);
        for (int i = 0; i < COUNT; i++)
            x[i] = (float)(x[i] + means[k]);
        pass(&params, x, y, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert_double_le(fabs((double)x[i] - y[i]), 0.6 + fabs(means[k]) * 0x1p-13);
    }
}
END_TEST

/* The transform is what saves tiles with one massive element. */
START_TEST(massive_elements_are_spread)
{
    float x[COUNT], y[COUNT];
    fill(x, COUNT, 1, 61);
    for (int i = 9; i < COUNT; i += TILE)
        x[i] = 100;
    tah_params_t params = job_params(&jobs[0]);
    pass(&params, x, y, COUNT);
    const double with = sqnr(x, y, COUNT);
    params.hadamard = TAH_HADAMARD_OFF;
    pass(&params, x, y, COUNT);
    ck_assert_double_ge(with, sqnr(x, y, COUNT) + 10);
}
END_TEST

#if defined(__x86_64__)
/*
 * Frames and tensors are the same in every rounding mode and with FTZ and DAZ, which stay as set.
 */
START_TEST(floating_point_state_is_neither_used_nor_changed)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const tah_params_t params = job_params(&jobs[_i / 8]);
    const unsigned ftz_daz = _i / 4 % 2 ? 0x8040 : 0;
    float x[COUNT], y[COUNT], z[COUNT];
    fill(x, COUNT, 1, 71);
    for (int i = 0; i < TILE; i++) {
        x[i] *= 0x1p-127f;
        x[TILE + i] *= 0x1p-120f;
        x[2 * TILE + i] *= i % 5 ? 0x1p-128f : 1;
    }
    x[3 * TILE] = 1000;
    const size_t capacity = sizeof x + 1024;
    uint8_t *frame = support_alloc(capacity), *other = support_alloc(capacity);
    const tah_message_t message = support_message();
    tah_encoded_t first, second;
    ck_assert_int_eq(tah_encode(&params, &message, x, COUNT, frame, capacity, &first), TAH_OK);
    support_decode(frame, first.frame_bytes, y, sizeof y);

    const unsigned before = _mm_getcsr();
    fesetround(modes[_i % 4]);
    _mm_setcsr(_mm_getcsr() | ftz_daz);
    const unsigned set = _mm_getcsr() & ~0x3fu; /* without the exception flags */
    tah_frame_t info;
    const tah_status_t encoded =
        tah_encode(&params, &message, x, COUNT, other, capacity, &second);
    const tah_status_t read = tah_frame_read(other, second.frame_bytes, support_key, &info);
    const tah_status_t decoded =
        tah_decode(other, second.frame_bytes, &info, NULL, z, sizeof z);
    const unsigned after = _mm_getcsr() & ~0x3fu;
    fesetround(FE_TONEAREST);
    _mm_setcsr(before);

    ck_assert_uint_eq(after, set);
    ck_assert_int_eq(encoded, TAH_OK);
    ck_assert_int_eq(read, TAH_OK);
    ck_assert_int_eq(decoded, TAH_OK);
    ck_assert_uint_eq(first.frame_bytes, second.frame_bytes);
    ck_assert_mem_eq(frame, other, first.frame_bytes);
    ck_assert_mem_eq(y, z, sizeof y);
    free(frame);
    free(other);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("special");
    TCase *tests = tcase_create("special");
    tcase_add_loop_test(tests, nan_and_infinity_are_exact, 0, JOBS);
    tcase_add_loop_test(tests, largest_float_is_exact, 0, JOBS);
    tcase_add_loop_test(tests, zeros_and_constants_are_exact_and_short, 0, JOBS);
    tcase_add_loop_test(tests, mixed_zeros_are_exact_and_short, 0, JOBS);
    tcase_add_loop_test(tests, subnormals_keep_their_size, 0, JOBS);
    tcase_add_loop_test(tests, both_ends_of_the_range_together, 0, JOBS);
    tcase_add_loop_test(tests, powers_of_two_change_nothing, 0, JOBS);
    tcase_add_loop_test(tests, large_mean, 0, JOBS);
    tcase_add_test(tests, massive_elements_are_spread);
#if defined(__x86_64__)
    tcase_add_loop_test(tests, floating_point_state_is_neither_used_nor_changed, 0, 8 * JOBS);
#endif
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
