/*
 * What the allocation of widths sorts by: entropy of magnitudes, range of values. These decide
 * which frame an encoder writes, not what a frame means, but every kernel has to agree.
 */
#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/tile_math.h"

/* Sums between which no magnitude that counts is subnormal and nothing overflows. */
#define MASS_LEAST 0x1p-60f
#define MASS_MOST 0x1p+90f

static float lanes_sum(const float *lanes)
{
    float sum[WEIGHT_LANES];
    memcpy(sum, lanes, sizeof sum);
    for (unsigned half = WEIGHT_LANES / 2; half > 0; half /= 2)
        for (unsigned i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
}

bool weight_key(float mass, float moment, uint32_t *key)
{
    *key = 0;
    if (mass == 0)
        return true;
    if (!(mass >= MASS_LEAST && mass <= MASS_MOST))
        return false;
    const uint32_t bits = float_bits(mass);
    const float t = bits_float((bits & 0x7fffff) | float_bits(1));
    const float logarithm =
        (float)(bits >> 23) + ((WEIGHT_C3 * t + WEIGHT_C2) * t + WEIGHT_C1) * t;
    const float entropy = logarithm - moment / mass;
    *key = entropy > 0 ? float_bits(entropy) : 0;
    return true;
}

/*
 * Sums over n elements, a multiple of WEIGHT_LANES from the start, and times 2^scale. Zeros, which
 * add nothing, fill the last lanes.
 */
static void weigh(const uint32_t *patterns, unsigned n, int scale, tile_weight_t *weight)
{
    float x[TILE_MAX + WEIGHT_LANES];
    tile_values(patterns, n, scale, x);
    memset(x + n, 0, WEIGHT_LANES * sizeof *x);
    for (unsigned i = 0; i < n; i += WEIGHT_LANES)
        for (unsigned k = 0; k < WEIGHT_LANES; k++) {
            const float a = float_magnitude(x[i + k]);
            const uint32_t bits = float_bits(a);
            const float t = bits_float((bits & 0x7fffff) | float_bits(1));
            const float logarithm =
                ((WEIGHT_C3 * t + WEIGHT_C2) * t + WEIGHT_C1) * t + (float)(int32_t)(bits >> 23);
            weight->mass[k] += a;
            weight->moment[k] += a * logarithm;
        }
}

/* The sums over any number of elements; *peak is their largest pattern. false: not all finite. */
static bool weigh_all(tah_dtype_t dtype, const uint8_t *src, size_t n, int scale,
                      tile_weight_t *weight, uint32_t *peak)
{
    const size_t element = tah_dtype_bytes(dtype);
    uint32_t patterns[TILE_MAX], own;
    *weight = (tile_weight_t){{0}, {0}};
    *peak = 0;
    while (n > 0) {
        const unsigned count = n < TILE_MAX ? (unsigned)n : TILE_MAX;
        if (!convert_load(dtype, src, count, patterns, &own))
            return false;
        *peak = own > *peak ? own : *peak;
        weigh(patterns, count, scale, weight);
        src += count * element;
        n -= count;
    }
    return true;
}

uint32_t tile_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n)
{
    tile_weight_t weight;
    uint32_t key, peak;
    if (!weigh_all(dtype, src, n, 0, &weight, &peak))
        return UINT32_MAX;
    if (weight_key(lanes_sum(weight.mass), lanes_sum(weight.moment), &key))
        return key;
    /* Of numbers this small or large, those near the largest ones become ordinary. */
    const int exponent = peak >> 23 ? (int)(peak >> 23) : 1;
    const int scale = 127 - exponent < -126 ? -126 : 127 - exponent;
    weigh_all(dtype, src, n, scale, &weight, &peak);
    weight_key(lanes_sum(weight.mass), lanes_sum(weight.moment), &key);
    return key;
}

uint32_t tile_range(tah_dtype_t dtype, const uint8_t *src, unsigned n)
{
    uint32_t patterns[TILE_MAX], peak;
    float x[TILE_MAX], low, high;
    if (!convert_load(dtype, src, n, patterns, &peak))
        return UINT32_MAX;
    memcpy(x, patterns, n * sizeof *x);
    tile_extent(x, n, &low, &high);
    return range_key(low, high);
}
