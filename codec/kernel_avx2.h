/*
 * What the parts of the AVX2 kernel share: tiles of fixed point in vectors of eight 32-bit values.
 * All functions give what their counterparts in tile_math.c and entropy.c give.
 */
#ifndef TAH_KERNEL_AVX2_H
#define TAH_KERNEL_AVX2_H

#include <immintrin.h>

#include "codec/kernels.h"
#include "codec/tile_math.h"

/* Loops over the vectors of a tile: their values then stay in registers. */
#define UNROLLED _Pragma("GCC unroll 8")

#define LANES 8
#define VECTORS_MAX (TILE_MAX / LANES)

/* Exponent field of a tile's largest element from which one product gives fixed point. */
#define AVX2_EXPONENT_LEAST 23

size_t avx2_encode(const tile_run_t *run, const uint8_t *src, uint8_t *records, uint8_t *out,
                   size_t room, tile_counts_t *counts);
size_t avx2_decode(const tile_run_t *run, const uint8_t *records, const uint8_t *in, size_t room,
                   uint8_t *dst);
uint32_t avx2_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n);
void avx2_range(tah_dtype_t dtype, const uint8_t *src, unsigned n, unsigned tiles, uint32_t *keys);

static inline int32_t avx2_most(__m256i v)
{
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtsi128_si32(m);
}

static inline int32_t avx2_least(__m256i v)
{
    __m128i m = _mm_min_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtsi128_si32(m);
}

/* Float32 patterns to fixed point; power is 2^-unit. */
static inline __m256i avx2_fix(__m256i pattern, __m256 power)
{
    return _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(pattern), power));
}

/* The inner stages of the Hadamard transform, between the lanes of one vector. */
static inline __m256i avx2_hadamard_lanes(__m256i x)
{
    const __m256i by1 = _mm256_setr_epi32(1, -1, 1, -1, 1, -1, 1, -1);
    const __m256i by2 = _mm256_setr_epi32(1, 1, -1, -1, 1, 1, -1, -1);
    const __m256i by4 = _mm256_setr_epi32(1, 1, 1, 1, -1, -1, -1, -1);
    x = _mm256_add_epi32(_mm256_shuffle_epi32(x, 0xb1), _mm256_sign_epi32(x, by1));
    x = _mm256_add_epi32(_mm256_shuffle_epi32(x, 0x4e), _mm256_sign_epi32(x, by2));
    return _mm256_add_epi32(_mm256_permute2x128_si256(x, x, 1), _mm256_sign_epi32(x, by4));
}

/*
 * The whole transform of 8 * vectors values; vectors is a power of two. Sums of integers have no
 * order, so the stages may come in any.
 */
static inline void avx2_hadamard(__m256i *x, unsigned vectors)
{
    for (unsigned i = 0; i < vectors; i++)
        x[i] = avx2_hadamard_lanes(x[i]);
    for (unsigned half = 1; half < vectors; half *= 2) {
        for (unsigned i = 0; i < vectors; i += 2 * half) {
            for (unsigned k = i; k < i + half; k++) {
                const __m256i a = x[k], b = x[k + half];
                x[k] = _mm256_add_epi32(a, b);
                x[k + half] = _mm256_sub_epi32(a, b);
            }
        }
    }
}

#endif
