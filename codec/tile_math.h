/*
 * The arithmetic inside a tile, shared by the reference and by what kernels leave to it.
 *
 * Encoding is float32 arithmetic, one rounding to nearest an operation, none fused, under the
 * default floating-point environment (codec/environment.h): additions, products and quotients then
 * have the same bits everywhere. Decoding is integer arithmetic, and products that are exact.
 */
#ifndef TAH_TILE_MATH_H
#define TAH_TILE_MATH_H

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/tile.h"

/*
 * Exponent fields of the largest magnitude of a tile between which nothing in the arithmetic of an
 * encoder is subnormal or overflows, rotated or not. Other tiles are first multiplied by a power of
 * two, 2^TILE_SCALE or its inverse.
 */
#define TILE_PEAK_LEAST (127 - 80)
#define TILE_PEAK_MOST (127 + 80)
#define TILE_SCALE 100

/* log2 of what a tile is multiplied by; peak is its largest pattern without sign. */
static inline int tile_scale(uint32_t peak)
{
    const uint32_t exponent = peak >> 23;
    return exponent < TILE_PEAK_LEAST  ? TILE_SCALE
           : exponent > TILE_PEAK_MOST ? -TILE_SCALE
                                       : 0;
}

/* x = n float32 patterns times 2^scale. */
void tile_values(const uint32_t *patterns, unsigned n, int scale, float *x);

/* Whether exactly one of n magnitudes is above half of the largest; *pivot is then its index. */
bool tile_pivot(const float *x, unsigned n, float largest, unsigned *pivot);

/* w = x with elements 0 and pivot swapped, then zeros up to coded elements. */
void tile_swap_pad(const float *x, unsigned n, unsigned coded, unsigned pivot, float *w);

/*
 * Multiplies w by the Sylvester Hadamard matrix of 2^order rows (entries +1 and -1), in place, by
 * butterflies of elements 1 apart, then 2, 4 and so on: in floats the order counts.
 */
void tile_hadamard(float *w, unsigned order);

/* The same of integers, whose sums have no order. */
void tile_hadamard_codes(int32_t *y, unsigned order);

/*
 * Rounds the 2^order sums of an inverse transform to less than 2^24, dropping order - 1 bits
 * (halves upward); returns the number of bits dropped.
 */
unsigned tile_settle(int32_t *y, unsigned order);

/*
 * Whether the extremes of a tile are nearer to each other after a transform than before; the
 * transform multiplies a norm by 2^(order / 2).
 */
static inline bool rotation_shortens(float low, float high, float turned_low, float turned_high,
                                     unsigned order)
{
    const double before = (double)high - low, after = (double)turned_high - turned_low;
    return after * after < before * before * (1 << order);
}

/* Smallest and largest of n values, n >= 1. */
void tile_extent(const float *w, unsigned n, float *low, float *high);

/* What does not change from tile to tile of one width. */
typedef struct grid_width {
    float reciprocal; /* of the last code; rounding stochastically a little more */
    float reach;      /* how many steps above the zero point a value may lie */
    uint32_t up;      /* added to the pattern of a step before it is cut to 9 significant bits */
    unsigned last;    /* code */
} grid_width_t;

grid_width_t grid_width(unsigned bits, tah_rounding_t rounding);

/*
 * The smallest step relative to a zero point, so that the zero point is less than 2^22 units even
 * when its magnitude has been rounded up to 11 bits.
 */
#define GRID_STEP_LEAST (0x1p-13f * (1 + 0x1p-10f))
#define GRID_STEP_DROP 0x7fffu  /* bits of a step's pattern that are not stored */
#define GRID_ZERO_DROP 0x1fffu  /* of a zero point's, in units */
#define GRID_RECORD_EXPONENT 7  /* exponent field of a record, less that of the step */

/* A grid in float32. */
typedef struct grid_fit {
    float zero, step; /* in the unit of the tile's values */
    float zero_units; /* zero / unit of the grid, an integer */
} grid_fit_t;

/* The grid at a width of values from low to high, not both 0; steps are not below least. */
grid_fit_t grid_fit(float low, float high, const grid_width_t *width, float least);

/*
 * The record of a grid whose values were multiplied by 2^scale and are the sums of a transform of
 * 2^order elements (0: none). false: the format has no such grid.
 */
bool grid_record(const grid_fit_t *fit, unsigned bits, int scale, unsigned order,
                 uint32_t *record);

/*
 * Exponents of grids whose values are normal float32 numbers, rotated or not: no value can be
 * subnormal, and none can reach 2^128.
 */
#define TILE_EXPONENT_FAST_MIN (TILE_SCALE_BIAS - 126)
#define TILE_EXPONENT_FAST_MAX 239

/* Whether no value that codes on this grid stand for can reach 2^128. */
bool grid_bounded(const tile_grid_t *grid, unsigned bits, unsigned order);

/* Whether a record is that of a tile with codes; and whether such a tile is rotated. */
static inline bool record_coded(uint32_t record)
{
    return (record >> 8 & 255) != 0;
}
static inline bool record_rotated(uint32_t record)
{
    return record >> 30 & 1;
}

/*
 * Takes a record apart: mantissa in bits 0..7, exponent 8..15, zero point 16..25 and 26..29,
 * rotated 30, sign of the zero point 31. false: it is not that of a tile with codes.
 */
static inline bool record_unpack(uint32_t record, tile_grid_t *grid, bool *rotated)
{
    const unsigned field = record >> 26 & 15;
    const int32_t mantissa = (int32_t)(record >> 16 & 1023);
    if (field > TILE_ZERO_SHIFT + 1)
        return false;
    const int32_t magnitude = field ? (1024 + mantissa) << (field - 1) : mantissa;
    grid->exponent = record >> 8 & 255;
    grid->step = 256 + (record & 255);
    grid->zero = record >> 31 ? -magnitude : magnitude;
    *rotated = record_rotated(record);
    return grid->exponent != 0;
}

/*
 * Stochastic rounding: what the numbers of a tile start from, and the i-th of them, 32 bits. Both
 * are finalisers that spread every bit of a counter over the result (splitmix64, and the 32-bit one
 * of xxHash), so that any number can be had without those before it.
 */
static inline uint32_t random_start(uint64_t message, uint64_t tile)
{
    uint64_t z = message + (tile + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

static inline uint32_t random_number(uint32_t start, uint32_t i)
{
    uint32_t h = start + i * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca77u;
    h = (h ^ h >> 13) * 0xc2b2ae3du;
    return h ^ h >> 16;
}

/* --- keys of the allocation (entropy.c) ------------------------------------------------------ */

#define WEIGHT_LANES 32

/* Sums over magnitudes: of those whose index is i modulo WEIGHT_LANES, in the order of indices. */
typedef struct tile_weight {
    float mass[WEIGHT_LANES];   /* a */
    float moment[WEIGHT_LANES]; /* a * WEIGHT_LOG2(a) */
} tile_weight_t;

/*
 * log2(a) + 127 + WEIGHT_C0 of a positive normal float: its exponent field plus a cubic of its
 * mantissa 1..2, to 7e-4; by Horner's rule.
 */
#define WEIGHT_C0 2.14494063f
#define WEIGHT_C1 3.02947821f
#define WEIGHT_C2 (-1.03925816f)
#define WEIGHT_C3 0.15544586f

/*
 * Entropy of the distribution a / sum of a as a key that sorts like it, from the sums of the lanes,
 * 0 for all zeros. Lanes are added up in pairs half of them apart, then a quarter, down to
 * neighbours. false: the sums are so small or large that the elements have to be scaled first, or
 * not finite.
 */
bool weight_key(float mass, float moment, uint32_t *key);

/* The key of a range: a float32 pattern, 0 or positive. */
static inline uint32_t range_key(float low, float high)
{
    return float_bits(high - low) & 0x7fffffff;
}

#endif
