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

bool tile_pivot(const float *x, unsigned n, unsigned *pivot)
{
    float largest = 0;
    for (unsigned i = 0; i < n; i++) {
        const float magnitude = float_magnitude(x[i]);
        largest = magnitude > largest ? magnitude : largest;
    }
    unsigned above = 0, last = 0;
    for (unsigned i = 0; i < n; i++) {
        /* Which way this goes cannot be foreseen: no branch. */
        const unsigned one = float_magnitude(x[i]) > 0.5f * largest;
        above += one;
        last += one * (i - last);
    }
    *pivot = last;
    return above == 1;
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
    float least = w[0], most = w[0];
    for (unsigned i = 1; i < n; i++) {
        least = w[i] < least ? w[i] : least;
        most = w[i] > most ? w[i] : most;
    }
    *low = least;
    *high = most;
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
