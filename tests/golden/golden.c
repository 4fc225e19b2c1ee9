/* The good golden frames: tensors that are the same on every machine, and their parameters. */
#include "tests/golden/golden.h"

#include <stdlib.h>
#include <string.h>

const uint8_t golden_key[TAH_KEY_BYTES] = {0x74, 0x61, 0x68, 0x6d, 0x70, 0x69, 0x20, 0x67,
                                           0x6f, 0x6c, 0x64, 0x65, 0x6e, 0x20, 0x6b, 0x31};

typedef enum fill {
    FILL_RAMP,     /* i - 5: for examples that one can follow by hand */
    FILL_PIVOT,    /* -2..2 and a 100: likewise */
    FILL_SMOOTH,   /* sums of random numbers, about Gaussian */
    FILL_OUTLIERS, /* the same with an element 40 times as large now and then */
    FILL_SPECIAL,  /* tiles of zeros, mixed zeros, constants, NaN, infinities, ordinary ones */
    FILL_TINY,     /* down to subnormals */
    FILL_HUGE,     /* up to the largest finite value */
    FILL_CHANNELS, /* channels of 100 with means and scales of their own, tokens too */
} fill_t;

typedef struct golden {
    const char *name;
    tah_codec_t codec;
    tah_dtype_t dtype;
    fill_t fill;
    uint16_t count, channels, tile;
    uint8_t high, low;
    tah_allocate_t allocate;
    tah_hadamard_t hadamard;
    /* tahx; its least width is in low */
    float rate;
    tah_error_t error;
} golden_t;

/* Published transform, and absolute errors, where nothing else is said. */
static const golden_t cases[] = {
    {"uniform-ramp", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_RAMP, .count = 20, .tile = 16, .high = 4,
     .low = 4},
    {"uniform-published", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_SMOOTH, .count = 300,
     .channels = 100, .tile = 32, .high = 6, .low = 6},
    {"uniform-2bit-tile256", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_SMOOTH, .count = 700, .tile = 256,
     .high = 2, .low = 2},
    {"uniform-3bit-tile128", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_OUTLIERS, .count = 300,
     .channels = 150, .tile = 128, .high = 3, .low = 3},
    {"uniform-5bit", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_SMOOTH, .count = 129, .tile = 64,
     .high = 5, .low = 5},
    {"uniform-7bit-tile16", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_OUTLIERS, .count = 90,
     .channels = 30, .tile = 16, .high = 7, .low = 7},
    {"uniform-8bit", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_SMOOTH, .count = 200, .tile = 64,
     .high = 8, .low = 8},
    {"uniform-special", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_SPECIAL, .count = 345, .tile = 32,
     .high = 4, .low = 4},
    {"uniform-tiny", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_TINY, .count = 300, .tile = 16, .high = 8,
     .low = 8},
    {"uniform-huge", TAH_CODEC_UNIFORM, TAH_FLOAT32, FILL_HUGE, .count = 300, .tile = 64, .high = 5,
     .low = 5},
    {"uniform-bfloat16", TAH_CODEC_UNIFORM, TAH_BFLOAT16, FILL_OUTLIERS, .count = 200, .tile = 64,
     .high = 6, .low = 6},
    {"uniform-bfloat16-special", TAH_CODEC_UNIFORM, TAH_BFLOAT16, FILL_SPECIAL, .count = 345,
     .tile = 32, .high = 4, .low = 4},
    {"uniform-float16", TAH_CODEC_UNIFORM, TAH_FLOAT16, FILL_OUTLIERS, .count = 200, .tile = 64,
     .high = 8, .low = 8},
    {"uniform-float16-special", TAH_CODEC_UNIFORM, TAH_FLOAT16, FILL_SPECIAL, .count = 345,
     .tile = 32, .high = 4, .low = 4},
    {"uniform-float16-tiny", TAH_CODEC_UNIFORM, TAH_FLOAT16, FILL_TINY, .count = 200, .tile = 32,
     .high = 8, .low = 8},
    {"uniform-float64", TAH_CODEC_UNIFORM, TAH_FLOAT64, FILL_OUTLIERS, .count = 200, .tile = 64,
     .high = 6, .low = 6},
    {"uniform-float64-special", TAH_CODEC_UNIFORM, TAH_FLOAT64, FILL_SPECIAL, .count = 345,
     .tile = 32, .high = 4, .low = 4},
    {"uniform-float64-tiny", TAH_CODEC_UNIFORM, TAH_FLOAT64, FILL_TINY, .count = 300, .tile = 16,
     .high = 8, .low = 8},
    {"uniform-float64-huge", TAH_CODEC_UNIFORM, TAH_FLOAT64, FILL_HUGE, .count = 300, .tile = 64,
     .high = 5, .low = 5},
    {"tah-one-pivot", TAH_CODEC_TAH, TAH_FLOAT32, FILL_PIVOT, .count = 16, .tile = 16, .high = 4,
     .low = 4},
    {"tah-published", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 1280, .channels = 128,
     .tile = 64, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_TOKEN},
    {"tah-ragged", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 1200, .channels = 120,
     .tile = 64, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_TOKEN},
    {"tah-ragged-tile256", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 1500,
     .channels = 300, .tile = 256, .high = 5, .low = 2, .allocate = TAH_ALLOCATE_TOKEN},
    {"tah-tile128", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 1000, .tile = 128,
     .high = 8, .low = 6, .allocate = TAH_ALLOCATE_TILE},
    {"tah-by-tile", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 640, .tile = 32, .high = 4,
     .low = 2, .allocate = TAH_ALLOCATE_TILE},
    {"tah-by-range", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 640, .channels = 64,
     .tile = 16, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_RANGE,
     .hadamard = TAH_HADAMARD_BEST},
    {"tah-one-element-tails", TAH_CODEC_TAH, TAH_FLOAT32, FILL_SMOOTH, .count = 85, .channels = 17,
     .tile = 16, .high = 3, .low = 2, .allocate = TAH_ALLOCATE_RANGE},
    {"tah-two-element-tails", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 180,
     .channels = 18, .tile = 16, .high = 3, .low = 2, .allocate = TAH_ALLOCATE_TILE},
    {"tah-plain", TAH_CODEC_TAH, TAH_FLOAT32, FILL_OUTLIERS, .count = 500, .channels = 100,
     .tile = 64, .high = 6, .low = 4, .allocate = TAH_ALLOCATE_TOKEN, .hadamard = TAH_HADAMARD_OFF},
    {"tah-special", TAH_CODEC_TAH, TAH_FLOAT32, FILL_SPECIAL, .count = 600, .channels = 60,
     .tile = 32, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_TOKEN},
    {"tah-tiny", TAH_CODEC_TAH, TAH_FLOAT32, FILL_TINY, .count = 300, .tile = 64, .high = 4,
     .low = 3, .allocate = TAH_ALLOCATE_TILE},
    {"tah-huge", TAH_CODEC_TAH, TAH_FLOAT32, FILL_HUGE, .count = 600, .tile = 64, .high = 4,
     .low = 3, .allocate = TAH_ALLOCATE_TILE},
    {"tah-bfloat16", TAH_CODEC_TAH, TAH_BFLOAT16, FILL_OUTLIERS, .count = 600, .channels = 200,
     .tile = 64, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_RANGE},
    {"tah-float16", TAH_CODEC_TAH, TAH_FLOAT16, FILL_OUTLIERS, .count = 600, .channels = 200,
     .tile = 64, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_TOKEN},
    {"tah-float64", TAH_CODEC_TAH, TAH_FLOAT64, FILL_OUTLIERS, .count = 600, .channels = 200,
     .tile = 64, .high = 4, .low = 3, .allocate = TAH_ALLOCATE_TOKEN},
    {"tahx-ramp", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_RAMP, .count = 40, .tile = 32, .rate = 9},
    {"tahx-channels", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_CHANNELS, .count = 6400, .channels = 100,
     .tile = 32, .rate = 4.3f},
    {"tahx-tokens", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_CHANNELS, .count = 6400, .channels = 100,
     .tile = 64, .low = 2, .rate = 4.3f, .error = TAH_ERROR_TOKEN},
    {"tahx-flat", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_OUTLIERS, .count = 3000, .tile = 128,
     .rate = 3},
    {"tahx-tile16", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_OUTLIERS, .count = 1700, .channels = 17,
     .tile = 16, .low = 1, .rate = 6, .error = TAH_ERROR_TOKEN},
    {"tahx-tile256", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_OUTLIERS, .count = 3000, .channels = 300,
     .tile = 256, .low = 3, .rate = 7.5f},
    {"tahx-special", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_SPECIAL, .count = 2040, .channels = 60,
     .tile = 32, .rate = 5},
    {"tahx-special-tokens", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_SPECIAL, .count = 2040,
     .channels = 60, .tile = 32, .rate = 5, .error = TAH_ERROR_TOKEN},
    {"tahx-tiny", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_TINY, .count = 1000, .channels = 50, .tile = 32,
     .low = 4, .rate = 6},
    {"tahx-tiny-tokens", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_TINY, .count = 1920, .channels = 64,
     .tile = 32, .low = 4, .rate = 8, .error = TAH_ERROR_TOKEN},
    {"tahx-huge", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_HUGE, .count = 1000, .channels = 50, .tile = 32,
     .low = 2, .rate = 6},
    {"tahx-huge-tokens", TAH_CODEC_TAHX, TAH_FLOAT32, FILL_HUGE, .count = 1920, .channels = 64,
     .tile = 64, .rate = 6, .error = TAH_ERROR_TOKEN},
    {"tahx-bfloat16", TAH_CODEC_TAHX, TAH_BFLOAT16, FILL_CHANNELS, .count = 4000, .channels = 100,
     .tile = 32, .rate = 4.3f},
    {"tahx-bfloat16-special", TAH_CODEC_TAHX, TAH_BFLOAT16, FILL_SPECIAL, .count = 1200, .tile = 32,
     .rate = 5},
    {"tahx-float16", TAH_CODEC_TAHX, TAH_FLOAT16, FILL_CHANNELS, .count = 4000, .channels = 100,
     .tile = 32, .rate = 4.3f, .error = TAH_ERROR_TOKEN},
    {"tahx-float16-tiny", TAH_CODEC_TAHX, TAH_FLOAT16, FILL_TINY, .count = 1200, .tile = 32,
     .low = 5, .rate = 8},
    {"tahx-float64", TAH_CODEC_TAHX, TAH_FLOAT64, FILL_CHANNELS, .count = 4000, .channels = 100,
     .tile = 32, .rate = 4.3f},
    {"tahx-float64-tiny", TAH_CODEC_TAHX, TAH_FLOAT64, FILL_TINY, .count = 600, .channels = 60,
     .tile = 32, .rate = 8, .error = TAH_ERROR_TOKEN},
};

size_t golden_count(void)
{
    return sizeof cases / sizeof *cases;
}

const char *golden_name(size_t index)
{
    return cases[index].name;
}

/* A number in 0..2^32-1 for each index (the finaliser of splitmix64): no state, no library. */
static uint32_t hash(uint64_t index)
{
    uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* About Gaussian, deviation 1; exact in float32: only integers below 2^18 and powers of two. */
static double smooth(size_t i)
{
    int64_t sum = 0;
    for (unsigned k = 0; k < 12; k++)
        sum += hash(12 * i + k) >> 18;
    return (double)(sum - 6 * (1 << 14)) * 0x1p-14;
}

static double special(size_t i)
{
    switch (i / 32 % 8) {
    case 0:
        return 0;
    case 1:
        return i % 3 ? 0.0 : -0.0;
    case 2:
        return -1.625;
    case 3:
        return i % 32 == 9 ? __builtin_nan("") : smooth(i);
    case 4:
        return i % 32 == 30 ? -__builtin_inf() : smooth(i);
    case 5:
        return 1000 + smooth(i);
    default:
        return smooth(i);
    }
}

static double value(fill_t fill, size_t i)
{
    /* For tiles of 64: from 2^-110 down past the smallest subnormal, and from 2^100 up. */
    static const double tiny[] = {0x1p-110, 0x1p-119, 0x1p-124, 0x1p-128, 0x1p-141, 0x1p-147};
    static const double huge[] = {0x1p100, 0x1p115, 0x1p118, 0x1p122, 0x1p125, 0x1.fp125};
    const double outlier = hash(i) % 37 == 0 ? 40 : 1;
    switch (fill) {
    case FILL_RAMP:
        return (double)i - 5;
    case FILL_PIVOT:
        return i == 11 ? 100 : (double)(i % 5) - 2;
    case FILL_SMOOTH:
        return smooth(i);
    case FILL_OUTLIERS:
        return smooth(i) * outlier;
    case FILL_SPECIAL:
        return special(i);
    case FILL_TINY:
        return smooth(i) * outlier * tiny[i / 64 % 6];
    case FILL_CHANNELS:
        return (smooth(i) * (1 + hash(i % 100) % 16 * 0.25) + hash(i % 100 + 500) % 64 * 0.125) *
               (1 + (i / 100 % 9 == 4 ? 12 : 0));
    case FILL_HUGE:
        break;
    }
    return smooth(i) * 0.25 * huge[i / 64 % 6];
}

static void put(tah_dtype_t dtype, fill_t fill, size_t i, uint8_t *at)
{
    const double number = value(fill, i);
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint16_t half = (uint16_t)(bits >> 16);
    switch (dtype) {
    case TAH_FLOAT64:
        memcpy(at, &number, sizeof number);
        return;
    case TAH_BFLOAT16:
        memcpy(at, &half, sizeof half);
        return;
    case TAH_FLOAT16:
        /* Tiny: any pattern with a small exponent field. Else cut off; all fit a normal float16. */
        half = (uint16_t)(bits >> 31 << 15);
        if (fill == FILL_TINY)
            half = (uint16_t)(hash(i) & 0x87ff);
        else if ((bits & 0x7fffffff) >= 0x7f800000)
            half |= bits & 0x7fffff ? 0x7e00 : 0x7c00;
        else if ((bits & 0x7fffffff) >= 0x38800000)
            half |= (uint16_t)(((bits & 0x7fffffff) - 0x38000000) >> 13);
        memcpy(at, &half, sizeof half);
        return;
    default:
        memcpy(at, &single, sizeof single);
    }
}

bool golden_make(size_t index, uint8_t **frame, size_t *frame_bytes, uint8_t **tensor,
                 size_t *tensor_bytes)
{
    const golden_t *own = &cases[index];
    const size_t element = tah_dtype_bytes(own->dtype), capacity = own->count * 9u + 1024;
    tah_params_t params;
    tah_params_init(&params, own->codec);
    params.dtype = own->dtype;
    params.channels = own->channels;
    params.tile = own->tile;
    params.bits_high = own->high;
    params.bits_low = own->low;
    params.min_bits = own->low;
    params.rate = own->rate;
    params.error = own->error;
    params.allocate = own->allocate;
    params.hadamard = own->hadamard;
    tah_message_t message = {.rule = (uint8_t)index};
    memcpy(message.key, golden_key, sizeof message.key);

    *tensor_bytes = own->count * element;
    *frame = malloc(capacity);
    *tensor = malloc(*tensor_bytes);
    tah_encoded_t result;
    tah_frame_t info;
    bool made = *frame && *tensor;
    if (made) {
        for (size_t i = 0; i < own->count; i++)
            put(own->dtype, own->fill, i, *tensor + i * element);
        made = tah_encode(&params, &message, *tensor, own->count, *frame, capacity, &result) ==
                   TAH_OK &&
               tah_frame_read(*frame, result.frame_bytes, golden_key, &info) == TAH_OK &&
               tah_decode(*frame, result.frame_bytes, &info, NULL, *tensor, *tensor_bytes) ==
                   TAH_OK;
    }
    if (!made) {
        free(*frame);
        free(*tensor);
        return false;
    }
    *frame_bytes = result.frame_bytes;
    return true;
}
