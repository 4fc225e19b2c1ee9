/*
 * What the parts of the AVX2 kernel of tahx share. Elements are handled in vectors of 8 floats,
 * tiles in blocks of 32 elements; float64 goes to the reference.
 */
#ifndef TAH_TAHX_AVX2_H
#define TAH_TAHX_AVX2_H

#include <immintrin.h>

#include "codec/tahx.h"

#define INLINE static inline __attribute__((always_inline))
#define LANES 8
#define BLOCK 32
#define VECTORS 4 /* of floats in a block */

size_t tahx_avx2_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                        size_t room);
size_t tahx_avx2_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in, size_t room,
                        uint8_t *dst);

/* The first n of eight lanes. */
INLINE __m256i lanes_of(int n)
{
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), number);
}

/* Eight floats of which n count, the others 0. */
INLINE __m256 load_floats(const float *at, int n)
{
    return n >= LANES ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, lanes_of(n));
}

/* Eight elements as floats, of which n count, the others 0. */
INLINE __m256 load_elements(tah_dtype_t dtype, const uint8_t *src, int n)
{
    if (dtype == TAH_FLOAT32)
        return load_floats((const float *)(const void *)src, n);
    uint16_t part[LANES] = {0};
    if (n < LANES)
        src = memcpy(part, src, (size_t)n * sizeof *part);
    const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)src);
    if (dtype == TAH_BFLOAT16)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    return _mm256_cvtph_ps(half);
}

INLINE __m256 magnitude_of(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

#endif
