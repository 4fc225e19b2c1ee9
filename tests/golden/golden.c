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

#define TAH TAH_CODEC_TAH
#define UNI TAH_CODEC_UNIFORM
#define X TAH_CODEC_TAHX
#define ABS TAH_ERROR_ABSOLUTE
#define REL TAH_ERROR_TOKEN
#define F32 TAH_FLOAT32
#define BF16 TAH_BFLOAT16
#define F16 TAH_FLOAT16
#define F64 TAH_FLOAT64
#define TOKEN TAH_ALLOCATE_TOKEN
#define TILE TAH_ALLOCATE_TILE
#define RANGE TAH_ALLOCATE_RANGE
#define PUB TAH_HADAMARD_PUBLISHED
#define BEST TAH_HADAMARD_BEST
#define OFF TAH_HADAMARD_OFF

static const golden_t cases[] = {
    {"uniform-ramp", UNI, F32, FILL_RAMP, 20, 0, 16, 4, 4, 0, 0, 0, 0},
    {"uniform-published", UNI, F32, FILL_SMOOTH, 300, 100, 32, 6, 6, 0, 0, 0, 0},
    {"uniform-2bit-tile256", UNI, F32, FILL_SMOOTH, 700, 0, 256, 2, 2, 0, 0, 0, 0},
    {"uniform-3bit-tile128", UNI, F32, FILL_OUTLIERS, 300, 150, 128, 3, 3, 0, 0, 0, 0},
    {"uniform-5bit", UNI, F32, FILL_SMOOTH, 129, 0, 64, 5, 5, 0, 0, 0, 0},
    {"uniform-7bit-tile16", UNI, F32, FILL_OUTLIERS, 90, 30, 16, 7, 7, 0, 0, 0, 0},
    {"uniform-8bit", UNI, F32, FILL_SMOOTH, 200, 0, 64, 8, 8, 0, 0, 0, 0},
    {"uniform-special", UNI, F32, FILL_SPECIAL, 345, 0, 32, 4, 4, 0, 0, 0, 0},
    {"uniform-tiny", UNI, F32, FILL_TINY, 300, 0, 16, 8, 8, 0, 0, 0, 0},
    {"uniform-huge", UNI, F32, FILL_HUGE, 300, 0, 64, 5, 5, 0, 0, 0, 0},
    {"uniform-bfloat16", UNI, BF16, FILL_OUTLIERS, 200, 0, 64, 6, 6, 0, 0, 0, 0},
    {"uniform-bfloat16-special", UNI, BF16, FILL_SPECIAL, 345, 0, 32, 4, 4, 0, 0, 0, 0},
    {"uniform-float16", UNI, F16, FILL_OUTLIERS, 200, 0, 64, 8, 8, 0, 0, 0, 0},
    {"uniform-float16-special", UNI, F16, FILL_SPECIAL, 345, 0, 32, 4, 4, 0, 0, 0, 0},
    {"uniform-float16-tiny", UNI, F16, FILL_TINY, 200, 0, 32, 8, 8, 0, 0, 0, 0},
    {"uniform-float64", UNI, F64, FILL_OUTLIERS, 200, 0, 64, 6, 6, 0, 0, 0, 0},
    {"uniform-float64-special", UNI, F64, FILL_SPECIAL, 345, 0, 32, 4, 4, 0, 0, 0, 0},
    {"uniform-float64-tiny", UNI, F64, FILL_TINY, 300, 0, 16, 8, 8, 0, 0, 0, 0},
    {"uniform-float64-huge", UNI, F64, FILL_HUGE, 300, 0, 64, 5, 5, 0, 0, 0, 0},
    {"tah-one-pivot", TAH, F32, FILL_PIVOT, 16, 0, 16, 4, 4, 0, PUB, 0, 0},
    {"tah-published", TAH, F32, FILL_OUTLIERS, 1280, 128, 64, 4, 3, TOKEN, PUB, 0, 0},
    {"tah-ragged", TAH, F32, FILL_OUTLIERS, 1200, 120, 64, 4, 3, TOKEN, PUB, 0, 0},
    {"tah-ragged-tile256", TAH, F32, FILL_OUTLIERS, 1500, 300, 256, 5, 2, TOKEN, PUB, 0, 0},
    {"tah-tile128", TAH, F32, FILL_OUTLIERS, 1000, 0, 128, 8, 6, TILE, PUB, 0, 0},
    {"tah-by-tile", TAH, F32, FILL_OUTLIERS, 640, 0, 32, 4, 2, TILE, PUB, 0, 0},
    {"tah-by-range", TAH, F32, FILL_OUTLIERS, 640, 64, 16, 4, 3, RANGE, BEST, 0, 0},
    {"tah-one-element-tails", TAH, F32, FILL_SMOOTH, 85, 17, 16, 3, 2, RANGE, PUB, 0, 0},
    {"tah-two-element-tails", TAH, F32, FILL_OUTLIERS, 180, 18, 16, 3, 2, TILE, PUB, 0, 0},
    {"tah-plain", TAH, F32, FILL_OUTLIERS, 500, 100, 64, 6, 4, TOKEN, OFF, 0, 0},
    {"tah-special", TAH, F32, FILL_SPECIAL, 600, 60, 32, 4, 3, TOKEN, PUB, 0, 0},
    {"tah-tiny", TAH, F32, FILL_TINY, 300, 0, 64, 4, 3, TILE, PUB, 0, 0},
    {"tah-huge", TAH, F32, FILL_HUGE, 600, 0, 64, 4, 3, TILE, PUB, 0, 0},
    {"tah-bfloat16", TAH, BF16, FILL_OUTLIERS, 600, 200, 64, 4, 3, RANGE, PUB, 0, 0},
    {"tah-float16", TAH, F16, FILL_OUTLIERS, 600, 200, 64, 4, 3, TOKEN, PUB, 0, 0},
    {"tah-float64", TAH, F64, FILL_OUTLIERS, 600, 200, 64, 4, 3, TOKEN, PUB, 0, 0},
    {"tahx-ramp", X, F32, FILL_RAMP, 40, 0, 32, 0, 0, 0, 0, 9, ABS},
    {"tahx-channels", X, F32, FILL_CHANNELS, 6400, 100, 32, 0, 0, 0, 0, 4.3f, ABS},
    {"tahx-tokens", X, F32, FILL_CHANNELS, 6400, 100, 64, 0, 2, 0, 0, 4.3f, REL},
    {"tahx-flat", X, F32, FILL_OUTLIERS, 3000, 0, 128, 0, 0, 0, 0, 3, ABS},
    {"tahx-tile16", X, F32, FILL_OUTLIERS, 1700, 17, 16, 0, 1, 0, 0, 6, REL},
    {"tahx-tile256", X, F32, FILL_OUTLIERS, 3000, 300, 256, 0, 3, 0, 0, 7.5f, ABS},
    {"tahx-special", X, F32, FILL_SPECIAL, 2040, 60, 32, 0, 0, 0, 0, 5, ABS},
    {"tahx-special-tokens", X, F32, FILL_SPECIAL, 2040, 60, 32, 0, 0, 0, 0, 5, REL},
    {"tahx-tiny", X, F32, FILL_TINY, 1000, 50, 32, 0, 4, 0, 0, 6, ABS},
    {"tahx-tiny-tokens", X, F32, FILL_TINY, 1920, 64, 32, 0, 4, 0, 0, 8, REL},
    {"tahx-huge", X, F32, FILL_HUGE, 1000, 50, 32, 0, 2, 0, 0, 6, ABS},
    {"tahx-huge-tokens", X, F32, FILL_HUGE, 1920, 64, 64, 0, 0, 0, 0, 6, REL},
    {"tahx-bfloat16", X, BF16, FILL_CHANNELS, 4000, 100, 32, 0, 0, 0, 0, 4.3f, ABS},
    {"tahx-bfloat16-special", X, BF16, FILL_SPECIAL, 1200, 0, 32, 0, 0, 0, 0, 5, ABS},
    {"tahx-float16", X, F16, FILL_CHANNELS, 4000, 100, 32, 0, 0, 0, 0, 4.3f, REL},
    {"tahx-float16-tiny", X, F16, FILL_TINY, 1200, 0, 32, 0, 5, 0, 0, 8, ABS},
    {"tahx-float64", X, F64, FILL_CHANNELS, 4000, 100, 32, 0, 0, 0, 0, 4.3f, ABS},
    {"tahx-float64-tiny", X, F64, FILL_TINY, 600, 60, 32, 0, 0, 0, 0, 8, REL},
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
