/*
 * What the allocation of widths sorts by: entropy of magnitudes, range of values. These decide
 * which frame an encoder writes, not what a frame means, but every kernel has to agree.
 */
#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/tile_math.h"

/*
 * log2(1 + f) - f for f = fraction / 2^16, as a fraction of 2^16, to 1.7e-4:
 * f (1 - f) (c0 - c1 f - c2 f (1 - f)), coefficients by least squares. 16-bit products only.
 */
static uint32_t log2_excess(uint32_t fraction)
{
    const uint32_t c0 = 28710, c1 = 10249, c2 = 5263;
    const uint32_t bow = fraction * (-fraction & 0xffff) >> 16;
    return bow * (c0 - (fraction * c1 >> 16) - (bow * c2 >> 16)) >> 16;
}

/*
 * Exponent field and 11 bits of mantissa of a float32 pattern without sign, 2^-11 units: already a
 * piecewise linear logarithm. Subnormals continue it below 0.
 */
static int32_t log2_linear(uint32_t pattern)
{
    if (pattern >= 1u << 23 || pattern == 0)
        return (int32_t)(pattern >> 12);
    const int32_t length = (int32_t)bit_length(pattern);
    const uint32_t mantissa = pattern << (24 - length) & 0x7fffff;
    return (length - 23) * 2048 + (int32_t)(mantissa >> 12);
}

uint32_t tile_peak(tah_dtype_t dtype, const uint8_t *src, size_t n)
{
    const size_t element = tah_dtype_bytes(dtype);
    uint32_t values[TILE_MAX], largest = 0;
    while (n > 0) {
        const unsigned count = n < TILE_MAX ? (unsigned)n : TILE_MAX;
        uint32_t peak;
        if (!convert_load(dtype, src, count, values, &peak))
            return TILE_NOT_FINITE;
        largest = peak > largest ? peak : largest;
        src += count * element;
        n -= count;
    }
    return largest;
}

void tile_weigh(tah_dtype_t dtype, const uint8_t *src, unsigned n, uint32_t peak,
                tile_weight_t *weight)
{
    uint32_t values[TILE_MAX], own;
    int32_t x[TILE_MAX];
    const int32_t exponent = peak >> 23 ? (int32_t)(peak >> 23) : 1;
    if (!convert_load(dtype, src, n, values, &own)) {
        weight->finite = false;
        return;
    }
    const int32_t top = (exponent + 1) * 2048; /* logarithm of the power of two above peak */
    tile_fix(values, n, peak, x);
    for (unsigned i = 0; i < n; i++) {
        const uint32_t mass = (uint32_t)(x[i] < 0 ? -x[i] : x[i]) >> (TILE_FIXED_BITS - 15);
        const int32_t linear = log2_linear(values[i] & 0x7fffffff);
        const uint32_t fraction = (uint32_t)linear & 2047;
        const int32_t excess = (int32_t)(log2_excess(fraction << 5) + 16) >> 5;
        weight->mass += mass;
        /* The logarithm is at most top; where it is 15 octaves lower, mass is 0. */
        weight->moment += (uint64_t)mass * (uint32_t)(top - linear - excess);
    }
}

uint32_t tile_entropy(const tile_weight_t *weight)
{
    if (!weight->finite)
        return UINT32_MAX;
    if (weight->mass == 0)
        return 0;
    /* log2(mass) - 15 + moment / mass, in units of 2^-20. */
    const unsigned length = bit_length(weight->mass);
    const uint64_t normal = weight->mass << (64 - length);
    const uint32_t fraction = (uint32_t)(normal >> 47 & 0xffff);
    const int64_t logarithm = (int64_t)(length - 1) * (1 << 20) +
                              (int64_t)(fraction + log2_excess(fraction)) * (1 << 4);
    const uint64_t whole = weight->moment / weight->mass, rest = weight->moment % weight->mass;
    /* mass has at most 47 bits: 2^32 elements of 15 bits. */
    const uint64_t mean = (whole << 9) + (rest << 9) / weight->mass;
    const int64_t entropy = logarithm - (INT64_C(15) << 20) + (int64_t)mean;
    return entropy < 0 ? 0 : (uint32_t)entropy;
}

uint32_t tile_range(tah_dtype_t dtype, const uint8_t *src, unsigned n)
{
    uint32_t values[TILE_MAX], peak;
    int32_t x[TILE_MAX], low, high;
    if (!convert_load(dtype, src, n, values, &peak))
        return UINT32_MAX;
    tile_fix(values, n, peak, x);
    tile_extent(x, n, &low, &high);
    return range_key((uint32_t)(high - low), peak);
}
