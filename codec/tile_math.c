/* Fixed point, transform, grid: the integer arithmetic of a tile. */
#include "codec/tile_math.h"

#include "codec/bytes.h"
#include "codec/convert.h"

/* Exponent field from which fixed point can be reached by one product with a finite float32. */
#define EXPONENT_FAST 23

int tile_fix(const uint32_t *values, unsigned n, uint32_t peak, int32_t *x)
{
    const int exponent = peak >> 23 ? (int)(peak >> 23) : 1;
    const int unit = exponent - 126 - TILE_FIXED_BITS;
    if (exponent >= EXPONENT_FAST) {
        /*
         * The product only moves the exponent. Where it or the element is subnormal it is far
         * below one, so that flushing it to zero does not change the integer.
         */
        const float power = float_power(-unit);
        for (unsigned i = 0; i < n; i++) {
            float value;
            memcpy(&value, values + i, sizeof value);
            x[i] = (int32_t)(value * power);
        }
        return unit;
    }
    for (unsigned i = 0; i < n; i++) {
        const int field = (int)(values[i] >> 23 & 255);
        const uint32_t mantissa = (values[i] & 0x7fffff) | (field ? 0x800000u : 0);
        const int32_t magnitude = (int32_t)(mantissa >> (exponent - (field ? field : 1) + 2));
        x[i] = values[i] >> 31 ? -magnitude : magnitude;
    }
    return unit;
}

static int32_t magnitude_of(int32_t value)
{
    return value < 0 ? -value : value;
}

bool tile_pivot(const int32_t *x, unsigned n, unsigned *pivot)
{
    int32_t largest = 0;
    for (unsigned i = 0; i < n; i++) {
        const int32_t magnitude = magnitude_of(x[i]);
        largest = magnitude > largest ? magnitude : largest;
    }
    unsigned above = 0, last = 0;
    for (unsigned i = 0; i < n; i++) {
        if (2 * magnitude_of(x[i]) > largest) {
            above++;
            last = i;
        }
    }
    *pivot = last;
    return above == 1;
}

void tile_swap_pad(const int32_t *x, unsigned n, unsigned coded, unsigned pivot, int32_t *w)
{
    memcpy(w, x, n * sizeof *w);
    memset(w + n, 0, (coded - n) * sizeof *w);
    w[0] = x[pivot];
    w[pivot] = x[0];
}

void tile_hadamard(int32_t *w, unsigned order)
{
    const unsigned n = 1u << order;
    for (unsigned half = 1; half < n; half *= 2) {
        for (unsigned i = 0; i < n; i += 2 * half) {
            for (unsigned k = i; k < i + half; k++) {
                const int32_t a = w[k], b = w[k + half];
                w[k] = a + b;
                w[k + half] = a - b;
            }
        }
    }
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

void tile_extent(const int32_t *w, unsigned n, int32_t *low, int32_t *high)
{
    int32_t least = w[0], most = w[0];
    for (unsigned i = 1; i < n; i++) {
        least = w[i] < least ? w[i] : least;
        most = w[i] > most ? w[i] : most;
    }
    *low = least;
    *high = most;
}

/* Rounds *zero down to TILE_ZERO_BITS significant bits; false where it is too large. */
static bool zero_round(int32_t *zero)
{
    const uint32_t magnitude = (uint32_t)magnitude_of(*zero);
    const unsigned length = bit_length(magnitude);
    const unsigned drop = length > TILE_ZERO_BITS ? length - TILE_ZERO_BITS : 0;
    const uint32_t up = *zero < 0 ? (1u << drop) - 1 : 0;
    const uint32_t rounded = (magnitude + up) >> drop << drop;
    if (bit_length(rounded) > TILE_ZERO_BITS + TILE_ZERO_SHIFT)
        return false;
    *zero = *zero < 0 ? -(int32_t)rounded : (int32_t)rounded;
    return true;
}

/* The smallest step m * 2^j with m in 256..511, j >= least, of which levels cover span. */
static uint32_t step_fit(int64_t span, unsigned levels, unsigned least, unsigned *j)
{
    const uint64_t step = ((uint64_t)span + levels - 1) / levels;
    const unsigned length = bit_length(step);
    *j = length > least + 9 ? length - 9 : least;
    const uint64_t mantissa = (step + (UINT64_C(1) << *j) - 1) >> *j;
    if (mantissa <= 256)
        return 256;
    if (mantissa < 512)
        return (uint32_t)mantissa;
    ++*j;
    return 256;
}

bool grid_bounded(const tile_grid_t *grid, unsigned bits, unsigned order)
{
    const uint32_t largest =
        (uint32_t)magnitude_of(grid->zero) + ((1u << bits) - 1) * grid->step;
    return (int)bit_length(largest) + (int)order + grid->exponent - TILE_SCALE_BIAS <= 128;
}

bool grid_fit(int32_t low, int32_t high, unsigned bits, unsigned slack, int unit, unsigned order,
              tile_grid_t *grid, unsigned *shift)
{
    const unsigned levels = (1u << bits) - 1;
    /* The exponent byte starts at 1. */
    const int first = 1 - TILE_SCALE_BIAS - unit;
    unsigned least = first > 0 ? (unsigned)first : 0, j;
    int64_t span = (int64_t)high - low;
    for (;;) {
        const uint32_t step = step_fit(span, levels, least, &j);
        int32_t zero = low >> j;
        if (!zero_round(&zero)) {
            least = j + 1;
            continue;
        }
        /* Rounding the zero point down may leave high too far above the last code. */
        const int64_t over = high - (int64_t)zero * ((int64_t)1 << j);
        if (2 * over >= ((int64_t)(2 * levels + slack) * step << j) + 1 - slack) {
            span = over;
            continue;
        }
        const int exponent = (int)j + unit + TILE_SCALE_BIAS;
        if (exponent > 255)
            return false;
        grid->exponent = (uint8_t)exponent;
        grid->step = (uint16_t)step;
        grid->zero = zero;
        *shift = j;
        return grid_bounded(grid, bits, order);
    }
}
