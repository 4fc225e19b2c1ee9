/* One tile of tahx: the reference that every kernel has to match bit for bit. */
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"

/*
 * The values of n elements as they are coded. false: one is not finite, or they are float64 ones
 * that float32 cannot tell from zero.
 */
static bool tile_coded(const tahx_run_t *run, const uint8_t *src, unsigned at, unsigned n,
                       float *coded)
{
    uint32_t bits[TILE_MAX], peak;
    const float unit = float_power(-run->exponent);
    if (!convert_load(run->dtype, src, n, bits, &peak) ||
        (run->dtype == TAH_FLOAT64 && peak < FLOAT_NORMAL_BITS))
        return false;
    memcpy(coded, bits, n * sizeof *coded);
    for (unsigned i = 0; i < n; i++) {
        coded[i] *= unit;
        if (run->inverse)
            coded[i] = coded[i] * run->inverse[at + i] - run->offset[at + i];
    }
    return true;
}

/* --- encoding -------------------------------------------------------------------------------- */

static void scalar_peaks(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks)
{
    const unsigned tile = run->shape->tile;
    float coded[TILE_MAX];
    for (unsigned at = 0; at < run->n; at += tile, src += (size_t)tile * run->element) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        uint32_t largest = 0;
        if (!tile_coded(run, src, at, n, coded))
            largest = FLOAT_INFINITY_BITS;
        else
            for (unsigned i = 0; i < n; i++) {
                const uint32_t magnitude = float_bits(coded[i]) & 0x7fffffff;
                largest = magnitude > largest ? magnitude : largest;
            }
        *peaks++ = largest >= FLOAT_INFINITY_BITS ? TAHX_NOT_FINITE
                                                  : (uint16_t)((largest + 0x7ffff) >> 19);
    }
}

/* Magnitudes in units of 2^-15 of a scale, of which none is above 17/16. */
static void tile_quantise(const tahx_run_t *run, const float *coded, unsigned n, unsigned byte,
                          uint16_t *u)
{
    const int exponent = (int)(byte / 16) + run->shape->tile_exponent;
    /* Both factors are exact but for the one division. */
    const float inverse = 32768.0f / (float)tahx_scale_mantissa(byte) * float_power(-exponent);
    for (unsigned i = 0; i < n; i++) {
        u[i] = (uint16_t)(float_magnitude(coded[i]) * inverse);
    }
}

/*
 * Squared error of n values at a scale, in units of (2^-12 of the scale)^2, each error taken by
 * the weight of its channel if there are any.
 */
static uint32_t tile_error(const tahx_book_t *book, const uint16_t *u, unsigned n,
                           const int16_t *weight, unsigned width)
{
    const uint16_t *levels = tahx_levels(book, width);
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        int32_t error = (u[i] >> 1) - levels[tahx_cell(book, u[i], width)];
        if (weight)
            error = (error * weight[i] + (1 << 14)) >> 15;
        error >>= 2;
        sum += (uint32_t)(error * error);
    }
    return sum;
}

/* Of a scale and its two neighbours with the same width, the one of least error; its u. */
static uint8_t tile_search(const tahx_run_t *run, const float *coded, unsigned at, unsigned n,
                           uint8_t byte, unsigned width, uint16_t *u)
{
    const tahx_book_t *book = run->shape->book;
    const uint64_t number = run->first + at / run->shape->tile;
    const int16_t *weight = run->weight ? run->weight + at : NULL;
    uint16_t other[TILE_MAX];
    uint8_t best = byte;
    uint64_t least = UINT64_MAX;
    tile_quantise(run, coded, n, byte, u);
    if (width == 0 || width > TAHX_EDGED)
        return byte;
    for (int step = 0; step < 3; step++) {
        const int candidate = byte + (step == 0 ? 0 : step == 1 ? -1 : 1);
        if (candidate < TAHX_COARSEST || candidate > TAHX_FINEST ||
            tahx_width(run->widths, (uint8_t)candidate, number) != width)
            continue;
        if (step)
            tile_quantise(run, coded, n, (unsigned)candidate, other);
        /* Scales in units of that of the octave below. */
        const uint64_t scale = (uint64_t)tahx_scale_mantissa((unsigned)candidate)
                               << (candidate / 16 - (byte - 1) / 16);
        const uint64_t error = scale * scale * tile_error(book, step ? other : u, n, weight, width);
        if (error < least) {
            least = error;
            best = (uint8_t)candidate;
            if (step)
                memcpy(u, other, n * sizeof *u);
        }
    }
    return best;
}

size_t tahx_tile_encode(const tahx_run_t *run, const uint8_t *src, unsigned at, unsigned n,
                        uint8_t *byte, uint8_t *out, size_t room)
{
    const tahx_shape_t *shape = run->shape;
    if (*byte < TAHX_COARSEST)
        return tile_special_encode((tile_kind_t)*byte, src, n, run->element, out, room);
    const unsigned width = tahx_width(run->widths, *byte, run->first + at / shape->tile);
    const size_t bytes = tile_code_bytes(n, width);
    float coded[TILE_MAX];
    uint16_t u[TILE_MAX];
    uint8_t codes[TILE_MAX];
    if (room < bytes)
        return SIZE_MAX;
    if (width == 0)
        return 0;
    tile_coded(run, src, at, n, coded);
    *byte = tile_search(run, coded, at, n, *byte, width, u);
    for (unsigned i = 0; i < n; i++)
        codes[i] = (uint8_t)(tahx_cell(shape->book, u[i], width) |
                             float_bits(coded[i]) >> 31 << (width - 1));
    tile_codes_pack(codes, n, width, out);
    return bytes;
}

static size_t scalar_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                            size_t room)
{
    const unsigned tile = run->shape->tile;
    size_t used = 0;
    for (unsigned at = 0; at < run->n; at += tile, src += (size_t)tile * run->element) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        const size_t taken = tahx_tile_encode(run, src, at, n, bytes++, out + used, room - used);
        if (taken == SIZE_MAX)
            return SIZE_MAX;
        used += taken;
    }
    return used;
}

/* --- decoding -------------------------------------------------------------------------------- */

size_t tahx_tile_decode(const tahx_run_t *run, uint8_t byte, const uint8_t *in, size_t room,
                        unsigned at, unsigned n, uint8_t *dst)
{
    const tahx_shape_t *shape = run->shape;
    if (byte < TAHX_COARSEST)
        return tile_special_decode(byte, in, room, n, run->element, dst);
    const unsigned width = tahx_width(run->widths, byte, run->first + at / shape->tile);
    const size_t bytes = tile_code_bytes(n, width);
    uint8_t codes[TILE_MAX];
    float values[TILE_MAX];
    if (room < bytes || !tile_codes_unpack(in, n, width, codes))
        return SIZE_MAX;
    /* Level, scale and the scale of the channel have 14, 5 and 4 bits: the product is exact. */
    const float scale = (float)tahx_scale_mantissa(byte) *
                        float_power((int)(byte / 16) + shape->tile_exponent - TAHX_LEVEL_BITS);
    for (unsigned i = 0; i < n; i++) {
        const unsigned sign = width ? codes[i] >> (width - 1) : 0;
        float value = 0;
        if (width)
            value = scale * tahx_levels(shape->book, width)[codes[i] & ((1u << (width - 1)) - 1)];
        value = sign ? -value : value;
        values[i] = run->scale ? value * run->scale[at + i] + run->mean[at + i] : value;
    }
    convert_scale(run->dtype, values, run->exponent, n, dst);
    return bytes;
}

static size_t scalar_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                            size_t room, uint8_t *dst)
{
    const unsigned tile = run->shape->tile;
    size_t used = 0;
    for (unsigned at = 0; at < run->n; at += tile, dst += (size_t)tile * run->element) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        const size_t taken = tahx_tile_decode(run, *bytes++, in + used, room - used, at, n, dst);
        if (taken == SIZE_MAX)
            return SIZE_MAX;
        used += taken;
    }
    return used;
}

const tahx_kernel_t tahx_kernel_scalar = {
    .peaks = scalar_peaks,
    .encode = scalar_encode,
    .decode = scalar_decode,
};
