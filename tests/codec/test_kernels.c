/*
 * Every kernel of this build that the processor has gives the frames, tensors and refusals of the
 * scalar one, bit for bit: one table of settings, over element types, tiles, shapes and contents.
 */
#include "tests/codec/support.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct setting {
    tah_codec_t codec;
    uint8_t high, low;
    float share; /* of the high width; tahx: rate */
    tah_allocate_t allocate;
    tah_hadamard_t hadamard;
    tah_rounding_t rounding;
    bool search;
} setting_t;

/* Published transform, and rounding to nearest, where nothing else is said. */
static const setting_t settings[] = {
    {TAH_CODEC_UNIFORM, .high = 2},
    {TAH_CODEC_UNIFORM, .high = 3},
    {TAH_CODEC_UNIFORM, .high = 4, .search = true},
    {TAH_CODEC_UNIFORM, .high = 5, .rounding = TAH_ROUND_STOCHASTIC},
    {TAH_CODEC_UNIFORM, .high = 6},
    {TAH_CODEC_UNIFORM, .high = 7},
    {TAH_CODEC_UNIFORM, .high = 8},
    {TAH_CODEC_UNIFORM, .high = 8, .rounding = TAH_ROUND_STOCHASTIC},
    {TAH_CODEC_TAH, .high = 4, .low = 3, .share = 0.8f, .allocate = TAH_ALLOCATE_TOKEN},
    {TAH_CODEC_TAH, .high = 4, .low = 3, .share = 0.8f, .allocate = TAH_ALLOCATE_TILE},
    {TAH_CODEC_TAH, .high = 4, .low = 3, .share = 0.8f, .allocate = TAH_ALLOCATE_RANGE},
    {TAH_CODEC_TAH, .high = 8, .low = 2, .share = 0.5f, .allocate = TAH_ALLOCATE_RANGE,
     .hadamard = TAH_HADAMARD_BEST},
    {TAH_CODEC_TAH, .high = 5, .low = 4, .share = 0.3f, .allocate = TAH_ALLOCATE_TOKEN,
     .hadamard = TAH_HADAMARD_BEST},
    {TAH_CODEC_TAH, .high = 7, .low = 6, .share = 0.1f, .allocate = TAH_ALLOCATE_TILE,
     .hadamard = TAH_HADAMARD_OFF},
    {TAH_CODEC_TAH, .high = 2, .low = 2, .share = 1, .allocate = TAH_ALLOCATE_RANGE},
    {TAH_CODEC_TAH, .high = 4, .low = 3, .share = 0.8f, .allocate = TAH_ALLOCATE_TOKEN,
     .rounding = TAH_ROUND_STOCHASTIC},
    {TAH_CODEC_TAH, .high = 4, .low = 3, .share = 0.8f, .allocate = TAH_ALLOCATE_RANGE,
     .search = true},
    {TAH_CODEC_TAHX, .share = 3},
    {TAH_CODEC_TAHX, .low = 1, .share = 4.3f},
    {TAH_CODEC_TAHX, .share = 8},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Elements and channels: whole tiles, tails of every kind, one row, many rows, hardly anything. */
static const struct shape {
    uint32_t count, channels;
} shapes[] = {
    {0, 0}, {1, 0}, {15, 5}, {77, 0}, {1024, 0}, {2048, 128}, {1080, 120}, {1530, 255}, {1700, 17},
    {1152, 36}, {1544, 772}, {1008, 112},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef enum content {
    SMOOTH,   /* Gaussian */
    PIVOTS,   /* with one element in a hundred 40 times as large */
    OFFSET,   /* small differences on a large mean, of either sign */
    COARSE,   /* few different values: ties of keys and halves between codes */
    SPECIAL,  /* zeros, constants, NaN, infinities, subnormals, among ordinary values */
    TINY,     /* magnitudes down to the smallest */
    HUGE_END, /* magnitudes up to the largest */
    CONTENTS
} content_t;

/* A power of two times a Gaussian, for every kind of content. */
static double element_of(content_t content, size_t i, rng_t *rng)
{
    static const double odd[] = {0, -0.0, 1, -2.5, 0x1p-140, 1e30, -1e-30};
    const double normal = rng_normal(rng);
    switch (content) {
    case PIVOTS:
        return rng_next(rng) % 100 ? normal : 40 * normal;
    case OFFSET:
        return (i / 300 % 2 ? 1000 : -30) + normal;
    case COARSE:
        return (double)(rng_next(rng) % 8) - 2;
    case SPECIAL:
        switch (i / 48 % 6) {
        case 0:
            return i / 288 % 2 ? 0 : i % 3 ? 0.0 : -0.0;
        case 1:
            return odd[i / 288 % 7];
        case 2:
            return rng_next(rng) % 40 ? normal : odd[rng_next(rng) % 7];
        case 3:
            return i % 64 == 9 ? (i / 288 % 2 ? (double)NAN : -(double)INFINITY) : normal;
        default:
            return normal;
        }
    case TINY:
        return ldexp(normal, (int)(i / 100 % 4) * -11 - 115);
    case HUGE_END:
        return ldexp(normal, (int)(i / 100 % 4) * 10 + 96);
    case SMOOTH:
    case CONTENTS:
        break;
    }
    return normal;
}

/* Elements of a type; 16-bit ones cut off from float32, which is as good as rounding here. */
static void tensor_fill(tah_dtype_t dtype, content_t content, uint64_t seed, uint8_t *at,
                        size_t count)
{
    rng_t rng = {seed};
    for (size_t i = 0; i < count; i++) {
        const double wide = element_of(content, i, &rng);
        const float narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        if (dtype == TAH_FLOAT64) {
            memcpy(at + 8 * i, &wide, 8);
        } else if (dtype == TAH_FLOAT32) {
            memcpy(at + 4 * i, &bits, 4);
        } else {
            /* float16: the upper exponents of float32 would be beyond it, its own bits are not. */
            const uint16_t half =
                dtype == TAH_BFLOAT16
                    ? (uint16_t)(bits >> 16)
                    : (uint16_t)(bits >> 31 << 15 | (bits >> 13 & 0x3fff) |
                                 ((bits >> 23 & 255) == 255 ? 0x7c00 : 0) |
                                 ((bits >> 23 & 255) > 130 ? 0x4000 : 0));
            memcpy(at + 2 * i, &half, 2);
        }
    }
}

static const char *const kernels[] = {"scalar", "avx2", "avx512"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Whether a kernel can be used here; it then is. */
static bool kernel_use(int kernel)
{
    return tah_kernel_select(kernels[kernel]) == TAH_OK;
}

typedef struct work {
    char where[160]; /* what is being tested, for messages */
    size_t capacity;
    uint8_t *frame, *own, *tensor, *back;
    tah_encoded_t result;
    size_t tensor_bytes;
} work_t;

static tah_params_t params_of(const setting_t *setting, tah_dtype_t dtype, unsigned tile,
                              uint32_t channels)
{
    tah_params_t params;
    tah_params_init(&params, setting->codec);
    params.dtype = dtype;
    params.tile = (uint16_t)tile;
    params.channels = channels;
    if (setting->codec == TAH_CODEC_TAHX) {
        params.rate = setting->share;
        params.min_bits = setting->low;
        return params;
    }
    params.bits_high = setting->high;
    params.bits_low = setting->low;
    params.high_fraction = setting->share;
    params.allocate = setting->allocate;
    params.hadamard = setting->hadamard;
    params.rounding = setting->rounding;
    params.range_search = setting->search;
    params.seed = 99;
    return params;
}

/* The status of reading and decoding a frame; the tensor, where there is one, to tensor. */
static tah_status_t frame_decode(const uint8_t *frame, size_t bytes, uint8_t *tensor,
                                 size_t capacity)
{
    tah_frame_t info;
    const tah_status_t status = tah_frame_read(frame, bytes, support_key, &info);
    return status == TAH_OK ? tah_decode(frame, bytes, &info, NULL, tensor, capacity) : status;
}

/* All kernels against the first: the frame of a tensor, and what it decodes to. */
static void kernels_agree(work_t *work, const tah_params_t *params, const uint8_t *src,
                          size_t count)
{
    tah_message_t message = support_message();
    tah_status_t status = TAH_OK;
    message.serial = 3;
    message.measure = true;
    for (int k = 0; k < KERNELS; k++) {
        tah_encoded_t result;
        if (!kernel_use(k))
            continue;
        /* What lies behind the frame has to stay as it is. */
        uint8_t *frame = k ? work->own : work->frame;
        memset(frame, 0xa5, work->capacity + 64);
        const tah_status_t own =
            tah_encode(params, &message, src, count, frame, work->capacity, &result);
        for (int i = 0; i < 64; i++)
            ck_assert_msg(frame[work->capacity + (size_t)i] == 0xa5, "%s: %s writes too far",
                          work->where, kernels[k]);
        uint8_t *back = k ? work->back : work->tensor;
        memset(back, 0xa5, work->tensor_bytes + 64);
        if (own == TAH_OK)
            ck_assert_int_eq(frame_decode(frame, result.frame_bytes, back, work->tensor_bytes),
                             TAH_OK);
        for (int i = 0; i < 64; i++)
            ck_assert_msg(back[work->tensor_bytes + (size_t)i] == 0xa5,
                          "%s: %s writes behind the tensor", work->where, kernels[k]);
        if (k == 0) {
            work->result = result;
            status = own;
            continue;
        }
        ck_assert_msg(own == status, "%s: %s says %s", work->where, kernels[k],
                      tah_status_string(own));
        ck_assert_msg(result.frame_bytes == work->result.frame_bytes &&
                          memcmp(frame, work->frame, result.frame_bytes) == 0,
                      "%s: the frame of %s differs", work->where, kernels[k]);
        ck_assert_msg(memcmp(back, work->tensor, work->tensor_bytes) == 0,
                      "%s: the tensor of %s differs", work->where, kernels[k]);
        ck_assert_uint_eq(result.tiles_rotated, work->result.tiles_rotated);
        ck_assert_uint_eq(result.tiles_exact, work->result.tiles_exact);
    }
}

/* The same of a frame with a few bytes changed at random and a right checksum. */
static void damaged_agree(work_t *work, rng_t *rng)
{
    const size_t bytes = work->result.frame_bytes;
    if (bytes <= TAH_HEADER_BYTES)
        return;
    memcpy(work->own, work->frame, bytes);
    for (unsigned changes = 1 + rng_next(rng) % 3; changes > 0; changes--) {
        const size_t at = 25 + (size_t)(rng_next(rng) % (bytes - 25));
        work->own[at] ^= (uint8_t)(1 << rng_next(rng) % 8);
    }
    const uint64_t sum = XXH3_64bits(work->own + 24, bytes - 24);
    memcpy(work->own + 16, &sum, sizeof sum);
    tah_status_t status = TAH_OK;
    for (int k = 0; k < KERNELS; k++) {
        if (!kernel_use(k))
            continue;
        const tah_status_t own =
            frame_decode(work->own, bytes, k ? work->back : work->tensor, work->tensor_bytes);
        if (k == 0) {
            status = own;
            continue;
        }
        ck_assert_msg(own == status, "%s, damaged: %s says \"%s\", not \"%s\"", work->where,
                      kernels[k], tah_status_string(own), tah_status_string(status));
        if (own == TAH_OK)
            ck_assert_msg(memcmp(work->back, work->tensor, work->tensor_bytes) == 0,
                          "%s, damaged: the tensor of %s differs", work->where, kernels[k]);
    }
}

static void work_case(const setting_t *setting, tah_dtype_t dtype, unsigned tile,
                      const struct shape *shape, content_t content, rng_t *rng)
{
    const tah_params_t params = params_of(setting, dtype, tile, shape->channels);
    const size_t bytes = shape->count * tah_dtype_bytes(dtype), shift = rng_next(rng) % 64;
    work_t work = {.tensor_bytes = bytes};
    snprintf(work.where, sizeof work.where,
             "setting %d, %s, tile %u, %u elements of %u channels, content %d",
             (int)(setting - settings), tah_dtype_name(dtype), tile, shape->count, shape->channels,
             (int)content);
    /*
     * One time in three the room is that of the message, or what is needed, or hardly too little.
     */
    const size_t bound = tah_frame_bound(&params, shape->count);
    const size_t capacities[] = {bound + bytes, bound, bound > 240 ? bound - 128 : bound};
    work.capacity = capacities[rng_next(rng) % 3];
    uint8_t *const memory = support_alloc(2 * work.capacity + 3 * bytes + 5 * 128);
    uint8_t *const src = memory + shift;
    work.frame = src + bytes + 64 + rng_next(rng) % 64;
    work.own = work.frame + work.capacity + 64;
    work.tensor = work.own + work.capacity + 64;
    work.back = work.tensor + bytes + 64;
    tensor_fill(dtype, content, rng_next(rng), src, shape->count);
    kernels_agree(&work, &params, src, shape->count);
    if (work.result.frame_bytes)
        for (int i = 0; i < 3; i++)
            damaged_agree(&work, rng);
    free(memory);
}

START_TEST(kernels_agree_on_every_setting)
{
    static const unsigned tiles[] = {16, 32, 64, 128, 256};
    rng_t rng = {(uint64_t)_i + 1};
    for (int dtype = TAH_FLOAT32; dtype <= TAH_FLOAT64; dtype++)
        for (size_t tile = 0; tile < sizeof tiles / sizeof *tiles; tile++)
            for (size_t shape = 0; shape < SHAPES; shape++)
                /* Three contents each time, so that all meet every pair of the others. */
                for (size_t k = 0; k < 3; k++)
                    work_case(&settings[_i], (tah_dtype_t)dtype, tiles[tile], &shapes[shape],
                              (content_t)((k * 2 + shape + tile + (size_t)(dtype + _i)) % CONTENTS),
                              &rng);
    tah_kernel_select("auto");
}
END_TEST

/* Neither the rounding mode nor flushing of subnormals changes a bit, or is changed. */
START_TEST(kernels_ignore_the_environment)
{
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    static const content_t contents[] = {PIVOTS, OFFSET, TINY, HUGE_END};
    enum { COUNT = 2048, CHANNELS = 128 };
    const tah_params_t params = params_of(&settings[_i], TAH_FLOAT32, 32, CHANNELS);
    const size_t capacity = tah_frame_bound(&params, COUNT) + 4 * COUNT;
    uint8_t *frame = support_alloc(capacity), *other = support_alloc(capacity);
    static uint8_t src[4 * COUNT], tensor[4 * COUNT], back[4 * COUNT];
    const tah_message_t message = support_message();
    tah_encoded_t result, again;
    for (size_t c = 0; c < sizeof contents / sizeof *contents; c++) {
        tensor_fill(TAH_FLOAT32, contents[c], 5, src, COUNT);
        kernel_use(0);
        ck_assert_int_eq(tah_encode(&params, &message, src, COUNT, frame, capacity, &result),
                         TAH_OK);
        support_decode(frame, result.frame_bytes, tensor, sizeof tensor);
        for (int k = 0; k < KERNELS; k++) {
            if (!kernel_use(k))
                continue;
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
                fesetround(modes[m]);
#if defined(__x86_64__)
                const unsigned state = _mm_getcsr() | 0x8040; /* flush results and operands */
                _mm_setcsr(state);
#endif
                const tah_status_t status =
                    tah_encode(&params, &message, src, COUNT, other, capacity, &again);
                if (status == TAH_OK)
                    support_decode(other, again.frame_bytes, back, sizeof back);
                const int mode = fegetround();
#if defined(__x86_64__)
                const unsigned left = _mm_getcsr();
                _mm_setcsr(left & ~0x8040u);
                ck_assert_uint_eq(left & 0xe040, state & 0xe040);
#endif
                fesetround(FE_TONEAREST);
                ck_assert_int_eq(mode, modes[m]);
                ck_assert_int_eq(status, TAH_OK);
                ck_assert_uint_eq(again.frame_bytes, result.frame_bytes);
                ck_assert_mem_eq(other, frame, result.frame_bytes);
                ck_assert_mem_eq(back, tensor, sizeof tensor);
            }
        }
    }
    free(frame);
    free(other);
    tah_kernel_select("auto");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, kernels_agree_on_every_setting, 0, SETTINGS);
    tcase_add_loop_test(tcase, kernels_ignore_the_environment, 0, SETTINGS);
    suite_add_tcase(suite, tcase);
    /* On standard error, where it does not disturb the results: what is not tested here. */
    for (int k = 0; k < KERNELS; k++)
        if (!kernel_use(k))
            fprintf(stderr, "# no kernel %s here\n", kernels[k]);
    tah_kernel_select("auto");
    return check_run(suite);
}
