/*
 * Element types to and from float32 bit patterns, by integer arithmetic alone: no conversion here
 * depends on the rounding mode or on what the processor does with subnormals.
 */
#ifndef TAH_CONVERT_H
#define TAH_CONVERT_H

#include "codec/tah.h"

#include <string.h>

#define FLOAT_INFINITY_BITS 0x7f800000u
#define FLOAT_NORMAL_BITS 0x00800000u /* the smallest normal magnitude */

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The float without its sign. */
static inline float float_magnitude(float value)
{
    return bits_float(float_bits(value) & 0x7fffffff);
}

/* 2^exponent as a float; exponent -126..127. */
static inline float float_power(int exponent)
{
    return bits_float((uint32_t)(exponent + 127) << 23);
}

/*
 * Loops of reductions go by so many elements at once: sums and extremes in as many variables do not
 * wait for each other, and a compiler has vectors for them.
 */
#define CONVERT_LANES 16

/* The largest of n float32 patterns without their signs; 0 of none. */
uint32_t convert_peak(const uint32_t *patterns, unsigned n);

/*
 * n elements of a float type at src (any alignment) as float32 bit patterns. bfloat16 and float16
 * convert exactly, float64 is cut off toward zero. *peak is the largest pattern without its sign.
 * false, with values and peak undefined: an element is NaN, infinite, or (float64) 2^128 or larger.
 */
bool convert_load(tah_dtype_t dtype, const uint8_t *src, unsigned n, uint32_t *values,
                  uint32_t *peak);

/*
 * Writes values[i] * 2^exponent, |values[i]| < 2^24, as n elements of a float type to dst. Exact in
 * float32 and float64 for every exponent >= -149; bfloat16 and float16 are rounded to nearest,
 * halves to even, and saturate at their largest finite value.
 */
void convert_store(tah_dtype_t dtype, const int32_t *values, int exponent, unsigned n,
                   uint8_t *dst);

/* The same elements as floats, float64 cut off; what is not finite in float32 becomes 0. */
void convert_finite(tah_dtype_t dtype, const uint8_t *src, unsigned n, float *values);

/*
 * Writes values[i] * 2^exponent as n elements to dst, |exponent| <= 200: rounded to float32 first,
 * to nearest, and saturated at the largest finite value, then to the element type as above. Under
 * the default floating-point environment.
 */
void convert_scale(tah_dtype_t dtype, const float *values, int exponent, unsigned n, uint8_t *dst);

#endif
