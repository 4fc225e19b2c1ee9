/*
 * Tensors that are decoded past the caches: every element in its place, wherever the tensor starts,
 * nothing beside it, whatever the kernel and the number of threads.
 */
#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/stream.h"

enum { CHANNELS = 1000, BLOCK = 1000, PERIOD = 65537, GUARD = 64 };

static const struct {
    tah_params_t params;
    double most; /* relative error of a block, squared */
} cases[] = {
    {{.codec = TAH_CODEC_TAH,
      .dtype = TAH_FLOAT32,
      .tile = 64,
      .bits_high = 4,
      .bits_low = 3,
      .high_fraction = 0.8f,
      .channels = CHANNELS},
     0.1},
    {{.codec = TAH_CODEC_UNIFORM, .dtype = TAH_FLOAT32, .tile = 256, .bits_high = 6}, 0.002},
    {{.codec = TAH_CODEC_TAHX,
      .dtype = TAH_FLOAT32,
      .tile = 32,
      .rate = 4.3f,
      .channels = CHANNELS},
     0.1},
};
enum { CASES = sizeof cases / sizeof *cases };

static float *source_make(size_t count)
{
    float *x = support_alloc(count * sizeof *x);
    rng_t rng = {3};
    for (size_t i = 0; i < count; i++)
        x[i] = i < PERIOD ? (float)rng_normal(&rng) : x[i - PERIOD];
    return x;
}

/* Whether each block is near its source: no block of another place would be. */
static void blocks_check(const float *x, const uint8_t *back, size_t count, double most)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        double signal = 0, noise = 0;
        for (size_t i = first; i < count && i < first + BLOCK; i++) {
            float y;
            memcpy(&y, back + i * sizeof y, sizeof y);
            signal += (double)x[i] * x[i];
            noise += ((double)y - x[i]) * ((double)y - x[i]);
        }
        ck_assert_msg(noise <= most * signal, "elements from %zu on: error %g", first,
                      noise / signal);
    }
}

/* What was there before: no number either. */
static void guards_check(const uint8_t *before, const uint8_t *behind)
{
    for (int i = 1; i <= GUARD; i++)
        ck_assert_uint_eq(before[-i], 0xff);
    for (int i = 0; i < GUARD; i++)
        ck_assert_uint_eq(behind[i], 0xff);
}

START_TEST(large_tensors_are_whole)
{
    static const char *const kernels[] = {"scalar", "avx2", "avx512"};
    const tah_params_t params = cases[_i].params;
    /* Tiles that are not whole end each row or, of one row, the tensor. */
    const size_t least = STREAM_PAST / sizeof(float) + 777;
    const size_t count = params.channels ? (least / CHANNELS + 1) * CHANNELS : least;
    const size_t bytes = count * sizeof(float);
    const tah_message_t message = support_message();
    tah_encoded_t result;
    tah_frame_t info;
    float *x = source_make(count);
    const size_t bound = tah_frame_bound(&params, count);
    uint8_t *frame = support_alloc(bound), *memory = support_alloc(bytes + 3 * GUARD);
    ck_assert_int_eq(tah_encode(&params, &message, x, count, frame, bound, &result), TAH_OK);
    ck_assert_int_eq(tah_frame_read(frame, result.frame_bytes, support_key, &info), TAH_OK);
    tah_pool_t *pool = tah_pool_create(2, NULL, NULL);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (tah_kernel_select(kernels[k]) != TAH_OK)
            continue;
        uint8_t *back = memory + GUARD + 20 * k;
        memset(memory, 0xff, bytes + 3 * GUARD);
        ck_assert_int_eq(
            tah_decode(frame, result.frame_bytes, &info, k % 2 ? pool : NULL, back, bytes), TAH_OK);
        blocks_check(x, back, count, cases[_i].most);
        guards_check(back, back + bytes);
    }
    tah_kernel_select("auto");
    tah_pool_destroy(pool);
    free(memory);
    free(frame);
    free(x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large");
    TCase *tcase = tcase_create("large");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, large_tensors_are_whole, 0, CASES);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
