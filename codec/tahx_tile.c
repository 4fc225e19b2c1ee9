/* One tile of tahx: the reference that every kernel has to match bit for bit. */
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"

#include <math.h>
#include <stdlib.h>

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
        uint32_t bits[TILE_MAX], largest = FLOAT_INFINITY_BITS;
        if (tile_coded(run, src, at, n, coded))
            largest = convert_peak(memcpy(bits, coded, n * sizeof *bits), n);
        *peaks++ = largest >= FLOAT_INFINITY_BITS ? TAHX_NOT_FINITE
                                                  : (uint16_t)((largest + 0x7ffff) >> 19);
    }
}

static void scalar_sum(tah_dtype_t dtype, const uint8_t *src, unsigned n, float unit,
                       const float *about, float *sum)
{
    const size_t element = tah_dtype_bytes(dtype);
    float values[TILE_MAX];
    for (unsigned at = 0; at < n; at += TILE_MAX) {
        const unsigned count = n - at < TILE_MAX ? n - at : TILE_MAX;
        convert_finite(dtype, src + at * element, count, values);
        for (unsigned i = 0; i < count; i++)
            sum[at + i] += about ? float_magnitude(values[i] * unit - about[at + i])
                                 : values[i] * unit;
    }
}

static uint64_t scalar_squares(tah_dtype_t dtype, const uint8_t *src, uint64_t n, uint32_t *peak)
{
    const size_t element = tah_dtype_bytes(dtype);
    float values[TILE_MAX];
    uint64_t sum = 0;
    *peak = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t at = 0; at < n; at += TILE_MAX) {
            const unsigned count = n - at < TILE_MAX ? (unsigned)(n - at) : TILE_MAX;
            convert_finite(dtype, src + at * element, count, values);
            for (unsigned i = 0; i < count; i++) {
                const uint32_t magnitude = float_bits(values[i]) & 0x7fffffff;
                const unsigned down = 12 + (*peak >> 23) - (magnitude >> 23);
                if (pass == 0)
                    *peak = magnitude > *peak ? magnitude : *peak;
                else if (magnitude >= FLOAT_NORMAL_BITS && down < 24) {
                    const uint64_t a = ((magnitude & 0x7fffff) | 0x800000) >> down;
                    sum += a * a;
                }
            }
        }
    }
    return sum;
}

/*
 * Values in units of 2^-14 of the scale before that of a byte, cut off: at most a sixteenth above
 * 2^14.
 */
static void tile_fix(const tahx_run_t *run, const float *coded, unsigned n, unsigned byte,
                     int *fixed)
{
    const float inverse = run->widths->inverse[byte];
    for (unsigned i = 0; i < n; i++)
        fixed[i] = (int)(coded[i] * inverse);
}

/* Of the scales that are tried, the one of least error; by its number. */
static unsigned tile_search(const tahx_run_t *run, const int *fixed, unsigned at, unsigned n,
                            unsigned byte, unsigned tried, unsigned width)
{
    const tahx_steps_t *steps = &tahx_steps[byte % 16];
    unsigned best = 1;
    float least = INFINITY;
    if (width > TAHX_EDGED)
        return best;
    const uint8_t *square = run->shape->book->square[width - 1];
    const int8_t *weight = run->weight ? run->weight + at : NULL;
    for (unsigned step = 0; step < TAHX_STEPS; step++) {
        uint32_t sum = 0;
        if (!(tried >> step & 1))
            continue;
        for (unsigned i = 0; i < n; i++) {
            const uint32_t error = square[(uint32_t)abs(fixed[i]) * steps->place[step] >> 16];
            sum += weight ? error * (uint8_t)weight[i] : error;
        }
        /* The sum has 24 bits at most. */
        const float error = (float)sum * steps->square[step];
        if (error < least) {
            least = error;
            best = step;
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
    const uint64_t number = run->first + at / shape->tile;
    const unsigned width = tahx_width(run->widths, *byte, number);
    const size_t bytes = tile_code_bytes(n, width);
    float coded[TILE_MAX];
    int fixed[TILE_MAX];
    uint8_t codes[TILE_MAX];
    if (room < bytes)
        return SIZE_MAX;
    if (width == 0)
        return 0;
    tile_coded(run, src, at, n, coded);
    tile_fix(run, coded, n, *byte, fixed);
    const unsigned step =
        tile_search(run, fixed, at, n, *byte, tahx_tried(run->widths, *byte, number), width);
    const uint32_t ratio = tahx_ratios[*byte % 16][step];
    for (unsigned i = 0; i < n; i++)
        codes[i] =
            (uint8_t)(tahx_cell(shape->book, (uint32_t)abs(fixed[i]) * ratio >> 16, width) |
                      (fixed[i] < 0 ? 1u << (width - 1) : 0));
    *byte = (uint8_t)(*byte - 1 + step);
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
    const float scale = run->widths->level[byte];
    if (width <= TAHX_EDGED)
        for (unsigned i = 0; i < n; i++)
            values[i] = scale * run->widths->signed_level[width][codes[i]];
    else
        for (unsigned i = 0; i < n; i++) {
            const unsigned minus = codes[i] >> (width - 1), cell = codes[i] ^ minus << (width - 1);
            const float value = scale * tahx_levels(shape->book, width)[cell];
            values[i] = bits_float(float_bits(value) | minus << 31);
        }
    for (unsigned i = 0; run->scale && i < n; i++)
        values[i] = values[i] * run->scale[at + i] + run->mean[at + i];
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
    .sum = scalar_sum,
    .squares = scalar_squares,
    .encode = scalar_encode,
    .decode = scalar_decode,
};
