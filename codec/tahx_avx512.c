/* The AVX-512 kernel of tahx: peaks and sums. */
#include "codec/tahx_avx512.h"

#include <math.h>

/* --- peaks ----------------------------------------------------------------------------------- */

/* The largest of each of four vectors. */
INLINE __m128i largest_of_four(const __m512i most[4])
{
    __m512i pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = _mm512_max_epi32(_mm512_shuffle_i64x2(most[2 * i], most[2 * i + 1], 0x44),
                                   _mm512_shuffle_i64x2(most[2 * i], most[2 * i + 1], 0xee));
    __m512i all = _mm512_max_epi32(_mm512_shuffle_i64x2(pair[0], pair[1], 0x88),
                                   _mm512_shuffle_i64x2(pair[0], pair[1], 0xdd));
    all = _mm512_max_epi32(all, _mm512_shuffle_epi32(all, 0x4e));
    all = _mm512_max_epi32(all, _mm512_shuffle_epi32(all, 0xb1));
    /* Each has 128 bits now. */
    return _mm512_castsi512_si128(
        _mm512_permutexvar_epi32(_mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12)), all));
}

INLINE __m512i largest_magnitudes(const tahx_run_t *run, __m512 unit, const uint8_t *src,
                                  unsigned at, unsigned n, tah_dtype_t dtype, unsigned element)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const bool scaled = run->exponent != 0;
    __m512i most = _mm512_setzero_si512();
    for (unsigned i = 0; i < n; i += LANES) {
        const __m512 y = load_coded(run, dtype, scaled, unit, src + (size_t)(at + i) * element,
                                    at + i, lanes_of(i, n));
        most = _mm512_max_epi32(most, _mm512_and_si512(_mm512_castps_si512(y), magnitude));
    }
    return most;
}

/* Four tiles at once, of which the last may be a part or not there at all. */
INLINE void peaks_of(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks, tah_dtype_t dtype,
                     unsigned element, unsigned tile)
{
    const __m512 unit = _mm512_set1_ps(float_power(-run->exponent));
    for (unsigned at = 0; at < run->n; at += 4 * tile, peaks += 4) {
        const unsigned left = run->n - at, count = (left + tile - 1) / tile;
        __m512i most[4];
        for (unsigned t = 0; t < 4; t++) {
            const unsigned own = at + t * tile;
            if (left >= (t + 1) * tile)
                most[t] = largest_magnitudes(run, unit, src, own, tile, dtype, element);
            else
                most[t] = largest_magnitudes(run, unit, src, own,
                                             left > t * tile ? left - t * tile : 0, dtype, element);
        }
        const __m128i largest = largest_of_four(most);
        const __m128i rounded = _mm_srli_epi32(_mm_add_epi32(largest, _mm_set1_epi32(0x7ffff)), 19);
        const __mmask8 beyond = _mm_cmpge_epi32_mask(largest, _mm_set1_epi32(FLOAT_INFINITY_BITS));
        const __m128i found = _mm_mask_mov_epi32(rounded, beyond, _mm_set1_epi32(TAHX_NOT_FINITE));
        _mm_mask_storeu_epi16(peaks, (__mmask8)((1u << (count < 4 ? count : 4)) - 1),
                              _mm_cvtepi32_epi16(found));
    }
}

INLINE void peaks_type(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks,
                       tah_dtype_t dtype, unsigned element)
{
    if (run->shape->tile == 32)
        peaks_of(run, src, peaks, dtype, element, 32);
    else if (run->shape->tile == 64)
        peaks_of(run, src, peaks, dtype, element, 64);
    else
        peaks_of(run, src, peaks, dtype, element, run->shape->tile);
}

static void avx512_peaks(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks)
{
    if (run->dtype == TAH_FLOAT32)
        peaks_type(run, src, peaks, TAH_FLOAT32, 4);
    else if (run->dtype == TAH_BFLOAT16)
        peaks_type(run, src, peaks, TAH_BFLOAT16, 2);
    else if (run->dtype == TAH_FLOAT16)
        peaks_type(run, src, peaks, TAH_FLOAT16, 2);
    else
        tahx_kernel_scalar.peaks(run, src, peaks);
}

/* --- sums ------------------------------------------------------------------------------------ */

static void avx512_sum(tah_dtype_t dtype, const uint8_t *src, unsigned n, float unit,
                       const float *about, float *sum)
{
    const size_t element = tah_dtype_bytes(dtype);
    if (dtype == TAH_FLOAT64) {
        tahx_kernel_scalar.sum(dtype, src, n, unit, about, sum);
        return;
    }
    for (unsigned i = 0; i < n; i += LANES) {
        const __mmask16 mask = lanes_of(i, n);
        const __m512 x = load_elements(dtype, src + i * element, mask);
        const __mmask16 finite =
            _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(INFINITY), _CMP_LT_OQ);
        __m512 y = _mm512_mul_ps(_mm512_maskz_mov_ps(finite, x), _mm512_set1_ps(unit));
        if (about)
            y = _mm512_abs_ps(_mm512_sub_ps(y, _mm512_maskz_loadu_ps(mask, about + i)));
        _mm512_mask_storeu_ps(sum + i, mask,
                              _mm512_add_ps(_mm512_maskz_loadu_ps(mask, sum + i), y));
    }
}

const tahx_kernel_t tahx_kernel_avx512 = {
    .peaks = avx512_peaks,
    .sum = avx512_sum,
    .encode = tahx_avx512_encode,
    .decode = tahx_avx512_decode,
};
