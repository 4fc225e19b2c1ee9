/* The AVX2 kernel: the keys that the allocation of widths sorts by. */
#include "codec/kernel_avx2.h"

#include "codec/bytes.h"
#include "codec/convert.h"

/* Elements weighed at a time: sums of 32 bits do not overflow. */
#define WEIGH_BLOCK 16

static inline uint64_t sum_u64(__m256i v)
{
    const __m128i s = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return (uint64_t)_mm_cvtsi128_si64(s) + (uint64_t)_mm_extract_epi64(s, 1);
}

/* As log2_excess, of 16-bit fractions: only 16-bit products occur in it. */
static inline __m256i excess16(__m256i fraction)
{
    const __m256i c0 = _mm256_set1_epi16(28710), c1 = _mm256_set1_epi16(10249),
                  c2 = _mm256_set1_epi16(5263);
    const __m256i rest = _mm256_sub_epi16(_mm256_setzero_si256(), fraction);
    const __m256i bow = _mm256_mulhi_epu16(fraction, rest);
    __m256i slope = _mm256_sub_epi16(c0, _mm256_mulhi_epu16(fraction, c1));
    slope = _mm256_sub_epi16(slope, _mm256_mulhi_epu16(bow, c2));
    return _mm256_mulhi_epu16(bow, slope);
}

/*
 * As tile_weigh, of n elements, a multiple of WEIGH_BLOCK, whose largest pattern is peak with an
 * exponent of AVX2_EXPONENT_LEAST at least: then what is subnormal has no mass.
 */
static void weigh(const uint8_t *src, size_t n, uint32_t peak, tile_weight_t *weight)
{
    const int unit = (int)(peak >> 23) - 126 - TILE_FIXED_BITS;
    const __m256 power = _mm256_set1_ps(float_power(-unit));
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    const __m256i top = _mm256_set1_epi32(((int32_t)(peak >> 23) + 1) * 2048);
    const __m256i low11 = _mm256_set1_epi16(2047), half = _mm256_set1_epi16(16);
    const __m256i ones = _mm256_set1_epi16(1), low32 = _mm256_set1_epi64x(0xffffffff);
    __m256i mass_sum = _mm256_setzero_si256(), moment_sum = mass_sum;
    for (size_t i = 0; i < n; i += WEIGH_BLOCK, src += WEIGH_BLOCK * 4) {
        const __m256i a = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)src), magnitude);
        const __m256i b =
            _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(src + 32)), magnitude);
        /* Interleaved alike in all three, so that the order of lanes does not matter. */
        const __m256i mass = _mm256_packus_epi32(
            _mm256_srli_epi32(avx2_fix(a, power), TILE_FIXED_BITS - 15),
            _mm256_srli_epi32(avx2_fix(b, power), TILE_FIXED_BITS - 15));
        const __m256i la = _mm256_srli_epi32(a, 12), lb = _mm256_srli_epi32(b, 12);
        const __m256i below = _mm256_packus_epi32(_mm256_sub_epi32(top, la),
                                                  _mm256_sub_epi32(top, lb));
        const __m256i linear = _mm256_packus_epi32(
            _mm256_and_si256(la, _mm256_set1_epi32(2047)),
            _mm256_and_si256(lb, _mm256_set1_epi32(2047)));
        const __m256i excess = _mm256_srli_epi16(
            _mm256_add_epi16(excess16(_mm256_slli_epi16(_mm256_and_si256(linear, low11), 5)),
                             half),
            5);
        /* At most 15 octaves of 2048 where there is mass, so signed products do. */
        const __m256i moment = _mm256_madd_epi16(mass, _mm256_sub_epi16(below, excess));
        const __m256i masses = _mm256_madd_epi16(mass, ones);
        moment_sum = _mm256_add_epi64(moment_sum, _mm256_and_si256(moment, low32));
        moment_sum = _mm256_add_epi64(moment_sum, _mm256_srli_epi64(moment, 32));
        mass_sum = _mm256_add_epi64(mass_sum, _mm256_and_si256(masses, low32));
        mass_sum = _mm256_add_epi64(mass_sum, _mm256_srli_epi64(masses, 32));
    }
    weight->mass += sum_u64(mass_sum);
    weight->moment += sum_u64(moment_sum);
}

static uint32_t peak_of(const uint8_t *src, size_t n)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i peak = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += LANES)
        peak = _mm256_max_epi32(
            peak, _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(src + i * 4)), magnitude));
    return (uint32_t)avx2_most(peak);
}

uint32_t avx2_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n)
{
    if (dtype != TAH_FLOAT32 || n % WEIGH_BLOCK != 0)
        return kernel_scalar.entropy(dtype, src, n);
    const uint32_t peak = peak_of(src, n);
    if (peak >= FLOAT_INFINITY_BITS || peak >> 23 < AVX2_EXPONENT_LEAST)
        return kernel_scalar.entropy(dtype, src, n);
    tile_weight_t weight = {.finite = true};
    weigh(src, n, peak, &weight);
    return tile_entropy(&weight);
}

static uint32_t range_of(const uint8_t *src, unsigned n)
{
    const uint32_t peak = peak_of(src, n);
    if (peak >= FLOAT_INFINITY_BITS || peak >> 23 < AVX2_EXPONENT_LEAST)
        return tile_range(TAH_FLOAT32, src, n);
    const int unit = (int)(peak >> 23) - 126 - TILE_FIXED_BITS;
    const __m256 power = _mm256_set1_ps(float_power(-unit));
    __m256i low = _mm256_set1_epi32(INT32_MAX), high = _mm256_set1_epi32(INT32_MIN);
    for (unsigned i = 0; i < n; i += LANES) {
        const __m256i x =
            avx2_fix(_mm256_loadu_si256((const __m256i *)(src + i * 4)), power);
        low = _mm256_min_epi32(low, x);
        high = _mm256_max_epi32(high, x);
    }
    return range_key((uint32_t)(avx2_most(high) - avx2_least(low)), peak);
}

void avx2_range(tah_dtype_t dtype, const uint8_t *src, unsigned n, unsigned tiles, uint32_t *keys)
{
    if (dtype != TAH_FLOAT32 || n % LANES != 0) {
        kernel_scalar.range(dtype, src, n, tiles, keys);
        return;
    }
    for (unsigned t = 0; t < tiles; t++)
        keys[t] = range_of(src + (size_t)t * n * 4, n);
}
