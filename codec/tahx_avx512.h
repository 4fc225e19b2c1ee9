/*
 * What the parts of the AVX-512 kernel of tahx share. Elements are handled in vectors of 16 floats,
 * tiles in blocks of 64 elements; float64 goes to the reference.
 */
#ifndef TAH_TAHX_AVX512_H
#define TAH_TAHX_AVX512_H

#include <immintrin.h>

#include "codec/tahx.h"

#define INLINE static inline __attribute__((always_inline))
#define LANES 16
#define BLOCK 64

size_t tahx_avx512_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room);
size_t tahx_avx512_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                          size_t room, uint8_t *dst);

/* The lowest n bits; all 64 from there on. */
INLINE uint64_t first_bits(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The lanes of a vector, the first element of which is number at of n. */
INLINE __mmask16 lanes_of(unsigned at, unsigned n)
{
    return n >= at + LANES ? 0xffff : n > at ? (__mmask16)((1u << (n - at)) - 1) : 0;
}

/* Elements as floats, those without a bit in mask as 0. */
INLINE __m512 load_elements(tah_dtype_t dtype, const uint8_t *src, __mmask16 mask)
{
    if (dtype == TAH_FLOAT32)
        return _mm512_maskz_loadu_ps(mask, src);
    const __m256i half = _mm256_maskz_loadu_epi16(mask, src);
    if (dtype == TAH_BFLOAT16)
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    return _mm512_cvtph_ps(half);
}

/* A vector of coded values: elements from number at of a run on. */
INLINE __m512 load_coded(const tahx_run_t *run, tah_dtype_t dtype, bool scaled, __m512 unit,
                         const uint8_t *src, unsigned at, __mmask16 mask)
{
    __m512 x = load_elements(dtype, src, mask);
    if (scaled)
        x = _mm512_mul_ps(x, unit);
    if (run->inverse)
        x = _mm512_sub_ps(_mm512_mul_ps(x, _mm512_maskz_loadu_ps(mask, run->inverse + at)),
                          _mm512_maskz_loadu_ps(mask, run->offset + at));
    return x;
}

#endif
