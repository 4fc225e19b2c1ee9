/*
 * The integer arithmetic inside a tile, shared by the reference and by what kernels leave to it.
 * "Fixed point" is a magnitude of at most TILE_FIXED_BITS bits in units of a power of two that
 * follows from the largest element of the tile.
 */
#ifndef TAH_TILE_MATH_H
#define TAH_TILE_MATH_H

#include "codec/bytes.h"
#include "codec/tile.h"

/*
 * n float32 patterns to fixed point, cut off toward zero; peak is the largest of them without
 * sign, finite. Returns log2 of the unit.
 */
int tile_fix(const uint32_t *values, unsigned n, uint32_t peak, int32_t *x);

/*
 * Whether the largest magnitude of x is at least twice every other; *pivot is then its index.
 */
bool tile_pivot(const int32_t *x, unsigned n, unsigned *pivot);

/* w = x with elements 0 and pivot swapped, then zeros up to coded elements. */
void tile_swap_pad(const int32_t *x, unsigned n, unsigned coded, unsigned pivot, int32_t *w);

/* Multiplies w by the Sylvester Hadamard matrix of 2^order rows (entries +1 and -1), in place. */
void tile_hadamard(int32_t *w, unsigned order);

/*
 * Rounds the 2^order sums of an inverse transform to less than 2^24, dropping order - 1 bits
 * (halves upward); returns the number of bits dropped.
 */
unsigned tile_settle(int32_t *y, unsigned order);

/* Smallest and largest of n values, n >= 1. */
void tile_extent(const int32_t *w, unsigned n, int32_t *low, int32_t *high);

/*
 * The finest grid at a width of bits that covers low..high: nothing is nearer to a value beyond the
 * last one, and with slack 0, nothing is beyond it (1: it may be, by less than half a step). unit
 * is log2 of the unit of low and high, order that of the transform (0: none). *shift is log2 of the
 * grid's unit in that unit. false: no grid of the format does.
 */
bool grid_fit(int32_t low, int32_t high, unsigned bits, unsigned slack, int unit, unsigned order,
              tile_grid_t *grid, unsigned *shift);

/*
 * Exponents of grids whose values are normal float32 numbers, rotated or not: no value can be
 * subnormal, and none can reach 2^128.
 */
#define TILE_EXPONENT_FAST_MIN (TILE_SCALE_BIAS - 126)
#define TILE_EXPONENT_FAST_MAX 239

/* Whether no value that codes on this grid stand for can reach 2^128. */
bool grid_bounded(const tile_grid_t *grid, unsigned bits, unsigned order);

/*
 * A record: mantissa in bits 0..7, exponent 8..15, zero point 16..25 and 26..29, rotated 30, sign of
 * the zero point 31.
 */
static inline uint32_t record_pack(const tile_grid_t *grid, bool rotated)
{
    const uint32_t magnitude = (uint32_t)(grid->zero < 0 ? -grid->zero : grid->zero);
    const unsigned length = bit_length(magnitude);
    const unsigned field =
        length < TILE_ZERO_BITS ? 0 : length - TILE_ZERO_BITS + 1; /* 0: no hidden bit */
    const uint32_t mantissa = (field ? magnitude >> (field - 1) : magnitude) & 1023;
    return (grid->step - 256u) | (uint32_t)grid->exponent << 8 | mantissa << 16 | field << 26 |
           (uint32_t)rotated << 30 | (uint32_t)(grid->zero < 0) << 31;
}

/* false: the record is not that of a tile with codes. */
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
    *rotated = record >> 30 & 1;
    return true;
}

/* 1 / step as a 16-bit fraction of 2^24. */
static inline uint32_t grid_inverse(uint32_t step)
{
    const uint32_t inverse = (1u << 24) / step;
    return inverse < 65535 ? inverse : 65535;
}

/* A distance from the zero point in 16 bits: shifted right by shift (left if negative), saturated. */
static inline uint32_t grid_distance(int32_t distance, int shift)
{
    const int64_t scaled =
        shift >= 0 ? distance >> shift : (int64_t)distance * ((int64_t)1 << -shift);
    return scaled < 0 ? 0 : scaled > 65535 ? 65535 : (uint32_t)scaled;
}

/* What is added before the fraction is cut off: a half, to round to nearest. */
static inline uint32_t grid_half(unsigned bits)
{
    return 1u << (14 - bits);
}

/*
 * The code of a distance. The product has 15 - bits fraction bits, offset as many; the 1 makes up
 * for what the two cut-offs before it lose on average.
 */
static inline uint8_t grid_code(uint32_t distance, uint32_t inverse, uint32_t offset,
                                unsigned bits)
{
    const unsigned fraction = 15 - bits;
    uint32_t product = (distance * inverse >> 16) + offset + 1;
    product = product < 65535 ? product : 65535;
    const uint32_t code = product >> fraction, last = (1u << bits) - 1;
    return (uint8_t)(code < last ? code : last);
}

/*
 * The key of a range in fixed point, relative to the exponent of peak: a floating-point number,
 * exponent of its leading bit, then the bits below.
 */
static inline uint32_t range_key(uint32_t range, uint32_t peak)
{
    if (range == 0)
        return 0;
    const unsigned length = bit_length(range);
    const uint32_t exponent = (peak >> 23 ? peak >> 23 : 1) + length;
    return exponent << 23 | (range << (TILE_FIXED_BITS + 1 - length) & 0x3fffff) << 1;
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

#endif
