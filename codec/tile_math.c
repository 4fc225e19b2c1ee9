/* Values, transform, grid: the arithmetic of a tile. */
#include "codec/tile_math.h"

#include "codec/bytes.h"

void tile_values(const uint32_t *patterns, unsigned n, int scale, float *x)
{
    memcpy(x, patterns, n * sizeof *x);
    if (scale == 0)
        return;
    const float power = float_power(scale);
    for (unsigned i = 0; i < n; i++)
        x[i] *= power;
}

bool tile_pivot(const float *x, unsigned n, float largest, unsigned *pivot)
{
    const float half = 0.5f * largest;
    /* Which way it goes cannot be foreseen: no branch. Indices, and from bit 16 on how many. */
    uint32_t above[CONVERT_LANES] = {0}, sum = 0;
    unsigned i = 0;
    for (; i + CONVERT_LANES <= n; i += CONVERT_LANES)
        for (unsigned k = 0; k < CONVERT_LANES; k++)
            above[k] += float_magnitude(x[i + k]) > half ? 1u << 16 | (i + k) : 0;
    for (; i < n; i++)
        sum += float_magnitude(x[i]) > half ? 1u << 16 | i : 0;
    for (unsigned k = 0; k < CONVERT_LANES; k++)
        sum += above[k];
    *pivot = sum & 0xffff;
    return sum >> 16 == 1;
}

void tile_swap_pad(const float *x, unsigned n, unsigned coded, unsigned pivot, float *w)
{
    memcpy(w, x, n * sizeof *w);
    memset(w + n, 0, (coded - n) * sizeof *w);
    w[0] = x[pivot];
    w[pivot] = x[0];
}

/* The body of both transforms. */
#define HADAMARD(type, w, order)                                                                   \
    for (unsigned half = 1; half < 1u << (order); half *= 2)                                       \
        for (unsigned i = 0; i < 1u << (order); i += 2 * half)                                     \
            for (unsigned k = i; k < i + half; k++) {                                              \
                const type a = (w)[k], b = (w)[k + half];                                          \
                (w)[k] = a + b;                                                                    \
                (w)[k + half] = a - b;                                                             \
            }

void tile_hadamard(float *w, unsigned order)
{
    HADAMARD(float, w, order)
}

void tile_hadamard_codes(int32_t *y, unsigned order)
{
    HADAMARD(int32_t, y, order)
}

unsigned tile_settle(int32_t *y, unsigned order)
{
    if (order < 2)
        return 0;
    const unsigned drop = order - 1;
    for (unsigned i = 0; i < 1u << order; i++)
        y[i] = (y[i] + (1 << (drop - 1))) >> drop;
    return drop;
}

void tile_extent(const float *w, unsigned n, float *low, float *high)
{
    float least[CONVERT_LANES], most[CONVERT_LANES];
    for (unsigned k = 0; k < CONVERT_LANES; k++)
        least[k] = most[k] = w[0];
    unsigned i = 0;
    for (; i + CONVERT_LANES <= n; i += CONVERT_LANES)
        for (unsigned k = 0; k < CONVERT_LANES; k++) {
            least[k] = w[i + k] < least[k] ? w[i + k] : least[k];
            most[k] = w[i + k] > most[k] ? w[i + k] : most[k];
        }
    for (; i < n; i++) {
        least[0] = w[i] < least[0] ? w[i] : least[0];
        most[0] = w[i] > most[0] ? w[i] : most[0];
    }
    for (unsigned half = CONVERT_LANES / 2; half > 0; half /= 2)
        for (unsigned k = 0; k < half; k++) {
            least[k] = least[k + half] < least[k] ? least[k + half] : least[k];
            most[k] = most[k + half] > most[k] ? most[k + half] : most[k];
        }
    *low = least[0];
    *high = most[0];
}

grid_width_t grid_width(unsigned bits, tah_rounding_t rounding)
{
    const unsigned last = (1u << bits) - 1;
    const bool nearest = rounding == TAH_ROUND_NEAREST;
    /*
     * Rounding to nearest, a value may lie half a step above the last code, so the step may be cut
     * to nearest too. Else it has to be cut upward, from something that is certainly not less.
     */
    const grid_width_t width = {
        .reciprocal = nearest ? 1.0f / (float)last : 1.0f / (float)last * (1 + 0x1p-22f),
        .reach = (float)last + (nearest ? 0.5f : 0),
        .up = nearest ? (GRID_STEP_DROP + 1) / 2 : GRID_STEP_DROP,
        .last = last,
    };
    return width;
}

/* A positive or negative integer, rounded toward minus infinity to 11 significant bits. */
static float zero_cut(float units)
{
    const uint32_t bits = float_bits(units);
    return bits_float((bits + (bits >> 31 ? GRID_ZERO_DROP : 0)) & ~GRID_ZERO_DROP);
}

static float floor_small(float value)
{
    const float whole = (float)(int32_t)value;
    return whole > value ? whole - 1 : whole;
}

grid_fit_t grid_fit(float low, float high, const grid_width_t *width, float least)
{
    const float least_low = float_magnitude(low) * GRID_STEP_LEAST;
    grid_fit_t fit;
    float span = high - low;
    least = least > least_low ? least : least_low;
    for (;;) {
        float step = span * width->reciprocal;
        step = step > least ? step : least;
        const uint32_t bits = (float_bits(step) + width->up) & ~GRID_STEP_DROP;
        const int exponent = (int)(bits >> 23) - 127 - 8; /* of the unit */
        fit.step = bits_float(bits);
        fit.zero_units = zero_cut(floor_small(low * float_power(-exponent)));
        fit.zero = fit.zero_units * float_power(exponent);
        /* Rounding the zero point down may have left high too far above the last code. */
        const float over = high - fit.zero;
        if (over <= width->reach * fit.step)
            return fit;
        span = over;
    }
}

bool grid_bounded(const tile_grid_t *grid, unsigned bits, unsigned order)
{
    const uint32_t zero = (uint32_t)(grid->zero < 0 ? -grid->zero : grid->zero);
    const uint32_t largest = zero + ((1u << bits) - 1) * grid->step;
    return (int)bit_length(largest) + (int)order + grid->exponent - TILE_SCALE_BIAS <= 128;
}

bool grid_record(const grid_fit_t *fit, unsigned bits, int scale, unsigned order,
                 uint32_t *record)
{
    const uint32_t step = float_bits(fit->step), zero = float_bits(fit->zero_units);
    const int exponent = (int)(step >> 23) + GRID_RECORD_EXPONENT - scale - (int)order;
    const float magnitude = float_magnitude(fit->zero_units);
    /* From 2^10 on, the length of the integer and what is below its leading bit. */
    const uint32_t field = magnitude < 1024
                               ? (uint32_t)magnitude
                               : (float_bits(magnitude) >> 13) - ((127 + 9) << 10);
    if (exponent < 1 || exponent > 255)
        return false;
    *record = (step >> 15 & 255) | (uint32_t)exponent << 8 | field << 16 |
              (uint32_t)(order != 0) << 30 | (magnitude > 0 ? zero & 0x80000000u : 0);
    tile_grid_t grid;
    bool rotated;
    return record_unpack(*record, &grid, &rotated) && grid_bounded(&grid, bits, order);
}
