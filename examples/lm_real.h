/*
 * The number type of the language model: float, as trainers use and send it. The gradient check
 * compiles the same sources with LM_DOUBLE, where a numerical derivative has digits to spare.
 */
#ifndef LM_REAL_H
#define LM_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cblas.h>

#ifdef LM_DOUBLE
typedef double lm_real;
#define lm_gemm cblas_dgemm
#define lm_exp exp
#define lm_sqrt sqrt
#else
typedef float lm_real;
#define lm_gemm cblas_sgemm
#define lm_sqrt sqrtf

/* e^x within 2e-7 of it, relatively, for x from -87 to 88, and at those ends beyond; NaN for NaN.
   The C library's takes a sixth of a training step: this one has neither call nor branch, so that
   compilers make vector code of the loops around it. Polynomial of Cephes' expf (Moshier 1989). */
static inline float lm_exp(float x)
{
    /* Adding this leaves the nearest whole number in the low bits of the mantissa. */
    const float shifter = 0x1.8p23f;

    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;

    float shifted = x * 1.44269504f + shifter, power = shifted - shifter, scale;
    float rest = x - power * 0.693359375f - power * -2.12194440e-4f;
    float value = 1.9875691500e-4f;
    uint32_t bits;

    value = value * rest + 1.3981999507e-3f;
    value = value * rest + 8.3334519073e-3f;
    value = value * rest + 4.1665795894e-2f;
    value = value * rest + 1.6666665459e-1f;
    value = value * rest + 5.0000001201e-1f;
    value = value * rest * rest + rest + 1;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits + 127) << 23; /* 2^power as the bits of a float */
    memcpy(&scale, &bits, sizeof(scale));
    return value * scale;
}
#endif

#endif
