/*
 * Vectors of 16 elements in AVX2, as two of 8: what the vector kernels are written in (codec/simd.h
 * says what each function does).
 */
#ifndef TAH_SIMD_AVX2_H
#define TAH_SIMD_AVX2_H

#include <immintrin.h>

#include "codec/bytes.h"
#include "codec/simd.h"

typedef struct vf {
    __m256 a, b;
} vf;
typedef struct vi {
    __m256i a, b;
} vi;
typedef vf vm; /* all bits of a lane */
typedef vi vb; /* codes 0..31, 32..63 */

#define TAH_ONE(result, name, type, op)                                                            \
    SIMD result name(type x)                                                                       \
    {                                                                                              \
        return (result){op(x.a), op(x.b)};                                                         \
    }
#define TAH_TWO(result, name, type, op)                                                            \
    SIMD result name(type x, type y)                                                               \
    {                                                                                              \
        return (result){op(x.a, y.a), op(x.b, y.b)};                                               \
    }
#define TAH_SHIFT(name, op)                                                                        \
    SIMD vi name(vi x, unsigned n)                                                                 \
    {                                                                                              \
        return (vi){op(x.a, (int)n), op(x.b, (int)n)};                                             \
    }
#define TAH_FLOOR(x) _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define TAH_LARGER(x, y)                                                                           \
    _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(x), _mm256_castps_si256(y)))
#define TAH_ABOVE(x, y) _mm256_cmp_ps(x, y, _CMP_GT_OQ)
#define TAH_ABOVE_INT(x, y) _mm256_castsi256_ps(_mm256_cmpgt_epi32(x, y))

TAH_TWO(vf, vf_add, vf, _mm256_add_ps)
TAH_TWO(vf, vf_sub, vf, _mm256_sub_ps)
TAH_TWO(vf, vf_mul, vf, _mm256_mul_ps)
TAH_TWO(vf, vf_div, vf, _mm256_div_ps)
TAH_TWO(vf, vf_min, vf, _mm256_min_ps)
TAH_TWO(vf, vf_max, vf, _mm256_max_ps)
TAH_TWO(vf, vf_larger, vf, TAH_LARGER)
TAH_ONE(vf, vf_floor, vf, TAH_FLOOR)
TAH_ONE(vi, vf_bits, vf, _mm256_castps_si256)
TAH_ONE(vf, vi_bits, vi, _mm256_castsi256_ps)
TAH_ONE(vi, vf_nearest, vf, _mm256_cvtps_epi32)
TAH_ONE(vf, vf_of, vi, _mm256_cvtepi32_ps)
TAH_TWO(vi, vi_add, vi, _mm256_add_epi32)
TAH_TWO(vi, vi_sub, vi, _mm256_sub_epi32)
TAH_TWO(vi, vi_and, vi, _mm256_and_si256)
TAH_TWO(vi, vi_or, vi, _mm256_or_si256)
TAH_TWO(vi, vi_xor, vi, _mm256_xor_si256)
TAH_TWO(vi, vi_add16, vi, _mm256_add_epi16)
TAH_TWO(vi, vi_sub16, vi, _mm256_sub_epi16)
TAH_TWO(vi, vi_dot16, vi, _mm256_madd_epi16)
TAH_TWO(vi, vi_down_each, vi, _mm256_srlv_epi32)
TAH_TWO(vm, vf_above, vf, TAH_ABOVE)
TAH_TWO(vm, vi_above, vi, TAH_ABOVE_INT)
TAH_TWO(vm, vm_and, vm, _mm256_and_ps)
TAH_SHIFT(vi_up, _mm256_slli_epi32)
TAH_SHIFT(vi_down, _mm256_srli_epi32)
TAH_SHIFT(vi_down_signed, _mm256_srai_epi32)

SIMD vf vf_load(const void *at)
{
    const float *const values = at;
    return (vf){_mm256_loadu_ps(values), _mm256_loadu_ps(values + 8)};
}

SIMD vi vi_load(const void *at)
{
    const __m256i *const half = at;
    return (vi){_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1)};
}

SIMD void vi_store(void *at, vi x)
{
    _mm256_storeu_si256(at, x.a);
    _mm256_storeu_si256((__m256i *)at + 1, x.b);
}
SIMD void vi_store_past(void *at, vi x)
{
    _mm256_stream_si256(at, x.a);
    _mm256_stream_si256((__m256i *)at + 1, x.b);
}

SIMD void vf_store(void *at, vf x) { vi_store(at, vf_bits(x)); }
SIMD vf vf_set1(float x) { return (vf){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
SIMD vi vi_set1(uint32_t x)
{
    return (vi){_mm256_set1_epi32((int32_t)x), _mm256_set1_epi32((int32_t)x)};
}
SIMD vf vf_abs(vf x) { return vi_bits(vi_and(vf_bits(x), vi_set1(0x7fffffff))); }
SIMD vf vf_fused(vf x, vf y, vf z)
{
    return (vf){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}

SIMD unsigned vm_bits(vm m)
{
    return (unsigned)_mm256_movemask_ps(m.a) | (unsigned)_mm256_movemask_ps(m.b) << 8;
}

SIMD vm vm_from(unsigned bits)
{
    const __m256i lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i low = _mm256_set1_epi32((int)bits), high = _mm256_set1_epi32((int)(bits >> 8));
    return (vm){_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(low, lanes), lanes)),
                _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(high, lanes), lanes))};
}

SIMD vf vf_choose(vm m, vf x, vf y)
{
    return (vf){_mm256_blendv_ps(y.a, x.a, m.a), _mm256_blendv_ps(y.b, x.b, m.b)};
}

SIMD vi vi_choose(vm m, vi x, vi y) { return vf_bits(vf_choose(m, vi_bits(x), vi_bits(y))); }

SIMD vi eight_bytes(__m128i bytes)
{
    return (vi){_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}

SIMD vi vi_bytes(const uint8_t *at) { return eight_bytes(_mm_loadu_si128((const __m128i *)at)); }

SIMD vf vf_look_up(const float *table, vi index)
{
    const __m256 all = _mm256_loadu_ps(table);
    return (vf){_mm256_permutevar8x32_ps(all, index.a), _mm256_permutevar8x32_ps(all, index.b)};
}

/* --- 16-bit types ----------------------------------------------------------------------------- */

SIMD vf vf_load_bfloat16(const void *at)
{
    const __m128i *const half = at;
    const vi wide = {_mm256_cvtepu16_epi32(_mm_loadu_si128(half)),
                     _mm256_cvtepu16_epi32(_mm_loadu_si128(half + 1))};
    return vi_bits(vi_up(wide, 16));
}

SIMD vf vf_load_float16(const void *at)
{
    const __m128i *const half = at;
    return (vf){_mm256_cvtph_ps(_mm_loadu_si128(half)), _mm256_cvtph_ps(_mm_loadu_si128(half + 1))};
}

SIMD void vi_store16(void *at, vi x)
{
    _mm256_storeu_si256(at, _mm256_permute4x64_epi64(_mm256_packus_epi32(x.a, x.b), 0xd8));
}

SIMD void vf_store_float16(void *at, vf x)
{
    __m128i *const half = at;
    _mm_storeu_si128(half, _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128(half + 1, _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

SIMD void four_float64(uint8_t *at, __m128 x)
{
    _mm256_storeu_pd((double *)(void *)at, _mm256_cvtps_pd(x));
}

SIMD void vf_store_float64(uint8_t *at, vf x)
{
    four_float64(at, _mm256_castps256_ps128(x.a));
    four_float64(at + 32, _mm256_extractf128_ps(x.a, 1));
    four_float64(at + 64, _mm256_castps256_ps128(x.b));
    four_float64(at + 96, _mm256_extractf128_ps(x.b, 1));
}

/* --- between lanes ---------------------------------------------------------------------------- */

#define TAH_MERGE(name, op)                                                                        \
    SIMD __m256 name##_half(vf x)                                                                  \
    {                                                                                              \
        return op(x.a, x.b);                                                                       \
    }                                                                                              \
    SIMD __m256 name##_four(const vf *x)                                                           \
    {                                                                                              \
        const __m256 p = name##_half(x[0]), q = name##_half(x[4]);                                 \
        return op(_mm256_permute2f128_ps(p, q, 0x20), _mm256_permute2f128_ps(p, q, 0x31));         \
    }                                                                                              \
    SIMD __m256 name##_eight(const vf *x)                                                          \
    {                                                                                              \
        const __m256 p = name##_four(x), q = name##_four(x + 1), r = name##_four(x + 2),           \
                     s = name##_four(x + 3);                                                       \
        const __m256 t = op(_mm256_shuffle_ps(p, q, 0x44), _mm256_shuffle_ps(p, q, 0xee));         \
        const __m256 u = op(_mm256_shuffle_ps(r, s, 0x44), _mm256_shuffle_ps(r, s, 0xee));         \
        return op(_mm256_shuffle_ps(t, u, 0x88), _mm256_shuffle_ps(t, u, 0xdd));                   \
    }                                                                                              \
    SIMD vf name##_across(const vf *x)                                                             \
    {                                                                                              \
        return (vf){name##_eight(x), name##_eight(x + 8)};                                         \
    }                                                                                              \
    SIMD float name##_one(vf x)                                                                    \
    {                                                                                              \
        __m256 p = name##_half(x);                                                                 \
        p = op(p, _mm256_permute2f128_ps(p, p, 1));                                                \
        p = op(p, _mm256_permute_ps(p, 0x4e));                                                     \
        p = op(p, _mm256_permute_ps(p, 0xb1));                                                     \
        return _mm256_cvtss_f32(p);                                                                \
    }
TAH_MERGE(vf_min, _mm256_min_ps)
TAH_MERGE(vf_max, _mm256_max_ps)
TAH_MERGE(vf_add, _mm256_add_ps)
TAH_MERGE(vf_larger, TAH_LARGER)

SIMD float vf_least(vf x) { return vf_min_one(x); }
SIMD float vf_most(vf x) { return vf_max_one(x); }

#define TAH_BUTTERFLY(half, float_moved, int_moved, ...)                                           \
    SIMD __m256 float_butterfly##half(__m256 x)                                                    \
    {                                                                                              \
        const __m256 odd = _mm256_setr_ps(__VA_ARGS__);                                            \
        return _mm256_add_ps(float_moved, _mm256_xor_ps(x, odd));                                  \
    }                                                                                              \
    SIMD __m256i int_butterfly##half(__m256i x)                                                    \
    {                                                                                              \
        /* Odd lanes get -x as ~x + 1. */                                                          \
        const __m256i odd =                                                                        \
            _mm256_srai_epi32(_mm256_castps_si256(_mm256_setr_ps(__VA_ARGS__)), 31);               \
        const __m256i turned = _mm256_sub_epi16(_mm256_xor_si256(x, odd), odd);                    \
        return _mm256_add_epi16(int_moved, turned);                                                \
    }                                                                                              \
    TAH_ONE(vf, vf_butterfly##half, vf, float_butterfly##half)                                     \
    TAH_ONE(vi, vi_butterfly##half, vi, int_butterfly##half)

TAH_BUTTERFLY(1, _mm256_permute_ps(x, 0xb1), _mm256_shuffle_epi32(x, 0xb1), 0.0f, -0.0f, 0.0f,
              -0.0f, 0.0f, -0.0f, 0.0f, -0.0f)
TAH_BUTTERFLY(2, _mm256_permute_ps(x, 0x4e), _mm256_shuffle_epi32(x, 0x4e), 0.0f, 0.0f, -0.0f,
              -0.0f, 0.0f, 0.0f, -0.0f, -0.0f)
TAH_BUTTERFLY(4, _mm256_permute2f128_ps(x, x, 1), _mm256_permute2x128_si256(x, x, 1), 0.0f, 0.0f,
              0.0f, 0.0f, -0.0f, -0.0f, -0.0f, -0.0f)

SIMD vf vf_butterfly8(vf x) { return (vf){_mm256_add_ps(x.a, x.b), _mm256_sub_ps(x.a, x.b)}; }

SIMD vi vi_butterfly8(vi x)
{
    return (vi){_mm256_add_epi16(x.a, x.b), _mm256_sub_epi16(x.a, x.b)};
}

/* --- codes and planes ------------------------------------------------------------------------- */

SIMD __m256i pack_two(vi c0, vi c1)
{
    const __m256i mixed = _mm256_packus_epi16(_mm256_packus_epi32(c0.a, c0.b),
                                              _mm256_packus_epi32(c1.a, c1.b));
    return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

SIMD vb vb_pack(vi c0, vi c1, vi c2, vi c3)
{
    return (vb){pack_two(c0, c1), pack_two(c2, c3)};
}

SIMD vb vb_limit(vb codes, unsigned last)
{
    const __m256i most = _mm256_set1_epi8((char)last);
    return (vb){_mm256_min_epu8(codes.a, most), _mm256_min_epu8(codes.b, most)};
}

SIMD void vb_planes(vb codes, unsigned bits, unsigned w, uint8_t *out)
{
    /* Upward, so that a plane covers what the one before wrote beyond its own end. */
    for (unsigned bit = 0; bit < bits; bit++) {
        const __m128i up = _mm_cvtsi32_si128((int)(7 - bit));
        const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(codes.a, up));
        const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(codes.b, up));
        store_u64(out + bit * w, low | (uint64_t)high << 32);
    }
}

/* 32 bits, the first codes' first, to 32 bytes: value where the bit is set. */
SIMD __m256i spread_bits(const uint8_t *plane, unsigned value)
{
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202,
                                            0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)load_u32(plane)), byte);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
    return _mm256_and_si256(set, _mm256_set1_epi8((char)value));
}

SIMD vb vb_unplanes(const uint8_t *in, unsigned bits, unsigned w)
{
    vb codes = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (unsigned bit = 0; bit < bits; bit++, in += w) {
        codes.a = _mm256_or_si256(codes.a, spread_bits(in, 1u << bit));
        if (w > 4)
            codes.b = _mm256_or_si256(codes.b, spread_bits(in + 4, 1u << bit));
    }
    return codes;
}

SIMD vi vb_codes0(vb codes) { return eight_bytes(_mm256_castsi256_si128(codes.a)); }
SIMD vi vb_codes1(vb codes) { return eight_bytes(_mm256_extracti128_si256(codes.a, 1)); }
SIMD vi vb_codes2(vb codes) { return eight_bytes(_mm256_castsi256_si128(codes.b)); }
SIMD vi vb_codes3(vb codes) { return eight_bytes(_mm256_extracti128_si256(codes.b, 1)); }

SIMD void planes_values(const uint8_t *in, unsigned bits, unsigned w, float step, float zero, vf *x)
{
    const vf steps = vf_set1(step), zeros = vf_set1(zero);
    const vb codes = vb_unplanes(in, bits, w);
    x[0] = vf_fused(vf_of(vb_codes0(codes)), steps, zeros);
    x[1] = vf_fused(vf_of(vb_codes1(codes)), steps, zeros);
    x[2] = vf_fused(vf_of(vb_codes2(codes)), steps, zeros);
    x[3] = vf_fused(vf_of(vb_codes3(codes)), steps, zeros);
}

#endif
