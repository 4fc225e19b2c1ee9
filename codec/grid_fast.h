/*
 * grid_fit for the common case, without a loop or a division, for kernels that want many a
 * microsecond. Where it says no, tile_encode finds the grid.
 */
#ifndef TAH_GRID_FAST_H
#define TAH_GRID_FAST_H

#include "codec/tile_math.h"

/* What does not change from tile to tile of one width. */
typedef struct grid_width {
    unsigned bits, last;  /* last code */
    uint64_t reciprocal;  /* of last, rounded up: 2^(31 + bits) / last */
} grid_width_t;

static inline grid_width_t grid_width(unsigned bits)
{
    const unsigned last = (1u << bits) - 1;
    const grid_width_t width = {bits, last, ((UINT64_C(1) << (31 + bits)) + last - 1) / last};
    return width;
}

/*
 * As grid_fit with slack 1, and the same grid where it is true. span = high - low is below 2^31 and
 * |low| below 2^30. False also for grids whose distances would have to be shifted left, or whose
 * values are near the ends of float32's range.
 */
static inline bool grid_fast(int32_t low, int32_t high, const grid_width_t *width, int unit,
                             tile_grid_t *grid, unsigned *shift)
{
    const uint32_t span = (uint32_t)high - (uint32_t)low;
    /* Exact for every dividend below 2^31: the reciprocal is off by less than 2^bits / 2^(31+bits). */
    const uint32_t step = (uint32_t)((span + width->last - 1) * width->reciprocal >>
                                     (31 + width->bits));
    const int length = (int)bit_length(step | 1);
    unsigned j = length > 9 ? (unsigned)length - 9 : 0;
    uint32_t mantissa = (step + (1u << j) - 1) >> j;
    j += mantissa >> 9;
    mantissa = mantissa < 256 || mantissa == 512 ? 256 : mantissa;

    const int32_t floored = low >> j;
    const uint32_t magnitude = (uint32_t)(floored < 0 ? -floored : floored);
    const int bits = (int)bit_length(magnitude | 1);
    const unsigned drop = bits > TILE_ZERO_BITS ? (unsigned)bits - TILE_ZERO_BITS : 0;
    const uint32_t up = floored < 0 ? (1u << drop) - 1 : 0;
    const uint32_t rounded = (magnitude + up) >> drop << drop;
    const int32_t zero = floored < 0 ? -(int32_t)rounded : (int32_t)rounded;
    const int64_t over = high - (int64_t)zero * ((int64_t)1 << j);
    const int exponent = (int)j + unit + TILE_SCALE_BIAS;
    grid->exponent = (uint8_t)exponent;
    grid->step = (uint16_t)mantissa;
    grid->zero = zero;
    *shift = j;
    return span != 0 && rounded >> (TILE_ZERO_BITS + TILE_ZERO_SHIFT) == 0 &&
           2 * over < (int64_t)(2 * width->last + 1) * mantissa << j && j + width->bits >= 7 &&
           unit >= 1 - TILE_SCALE_BIAS && exponent <= TILE_EXPONENT_FAST_MAX;
}

#endif
