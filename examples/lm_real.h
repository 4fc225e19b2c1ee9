/*
 * The number type of the language model: float, as trainers use and send it. The gradient check
 * compiles the same sources with LM_DOUBLE, where a numerical derivative has digits to spare.
 */
#ifndef LM_REAL_H
#define LM_REAL_H

#include <math.h>
#include <cblas.h>

#ifdef LM_DOUBLE
typedef double lm_real;
#define lm_gemm cblas_dgemm
#define lm_exp exp
#define lm_sqrt sqrt
#else
typedef float lm_real;
#define lm_gemm cblas_sgemm
#define lm_exp expf
#define lm_sqrt sqrtf
#endif

#endif
