/*
 * Element types to and from float32 bit patterns, by integer arithmetic alone: no conversion here
 * depends on the rounding mode or on what the processor does with subnormals.
 */
#ifndef TAH_CONVERT_H
#define TAH_CONVERT_H

#include "codec/tah.h"

#define FLOAT_INFINITY_BITS 0x7f800000u
#define FLOAT_NORMAL_BITS 0x00800000u /* the smallest normal magnitude */

/* 2^exponent as a float; exponent -126..127. */
static inline float float_power(int exponent)
{
    union {
        uint32_t bits;
        float value;
    } power = {.bits = (uint32_t)(exponent + 127) << 23};
    return power.value;
}

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

#endif
