/*
 * Vectors of 16 elements in AVX-512: what the vector kernels are written in (codec/simd.h says what
 * each function does).
 */
#ifndef TAH_SIMD_AVX512_H
#define TAH_SIMD_AVX512_H

#include <immintrin.h>

#include "codec/simd.h"
#include "codec/table_64.h"

typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;
typedef __m512i vb;

SIMD vf vf_load(const void *at) { return _mm512_loadu_ps(at); }
SIMD vi vi_load(const void *at) { return _mm512_loadu_si512(at); }
SIMD void vi_store_past(void *at, vi x) { _mm512_stream_si512(at, x); }
SIMD void vf_store(void *at, vf x) { _mm512_storeu_ps(at, x); }
SIMD void vi_store(void *at, vi x) { _mm512_storeu_si512(at, x); }
SIMD vf vf_set1(float x) { return _mm512_set1_ps(x); }
SIMD vi vi_set1(uint32_t x) { return _mm512_set1_epi32((int32_t)x); }
SIMD vf vf_add(vf x, vf y) { return _mm512_add_ps(x, y); }
SIMD vf vf_sub(vf x, vf y) { return _mm512_sub_ps(x, y); }
SIMD vf vf_mul(vf x, vf y) { return _mm512_mul_ps(x, y); }
SIMD vf vf_div(vf x, vf y) { return _mm512_div_ps(x, y); }
SIMD vf vf_fused(vf x, vf y, vf z) { return _mm512_fmadd_ps(x, y, z); }
SIMD vf vf_min(vf x, vf y) { return _mm512_min_ps(x, y); }
SIMD vf vf_max(vf x, vf y) { return _mm512_max_ps(x, y); }
SIMD vf vf_floor(vf x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
SIMD vi vf_bits(vf x) { return _mm512_castps_si512(x); }
SIMD vf vi_bits(vi x) { return _mm512_castsi512_ps(x); }
SIMD vf vf_abs(vf x) { return vi_bits(_mm512_and_si512(vf_bits(x), vi_set1(0x7fffffff))); }
SIMD vf vf_larger(vf x, vf y) { return vi_bits(_mm512_max_epi32(vf_bits(x), vf_bits(y))); }
SIMD vi vf_nearest(vf x) { return _mm512_cvtps_epi32(x); }
SIMD vf vf_of(vi x) { return _mm512_cvtepi32_ps(x); }
SIMD vi vi_add(vi x, vi y) { return _mm512_add_epi32(x, y); }
SIMD vi vi_sub(vi x, vi y) { return _mm512_sub_epi32(x, y); }
SIMD vi vi_and(vi x, vi y) { return _mm512_and_si512(x, y); }
SIMD vi vi_or(vi x, vi y) { return _mm512_or_si512(x, y); }
SIMD vi vi_xor(vi x, vi y) { return _mm512_xor_si512(x, y); }
SIMD vi vi_up(vi x, unsigned n) { return _mm512_slli_epi32(x, n); }
SIMD vi vi_down(vi x, unsigned n) { return _mm512_srli_epi32(x, n); }
SIMD vi vi_down_signed(vi x, unsigned n) { return _mm512_srai_epi32(x, n); }
SIMD vi vi_add16(vi x, vi y) { return _mm512_add_epi16(x, y); }
SIMD vi vi_sub16(vi x, vi y) { return _mm512_sub_epi16(x, y); }
SIMD vi vi_dot16(vi x, vi y) { return _mm512_madd_epi16(x, y); }
SIMD vi vi_down_each(vi x, vi n) { return _mm512_srlv_epi32(x, n); }
SIMD vm vf_above(vf x, vf y) { return _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ); }
SIMD vm vi_above(vi x, vi y) { return _mm512_cmpgt_epi32_mask(x, y); }
SIMD vm vm_from(unsigned bits) { return (vm)bits; }
SIMD unsigned vm_bits(vm m) { return m; }
SIMD vm vm_and(vm x, vm y) { return x & y; }
SIMD vf vf_choose(vm m, vf x, vf y) { return _mm512_mask_blend_ps(m, y, x); }
SIMD vi vi_choose(vm m, vi x, vi y) { return _mm512_mask_blend_epi32(m, y, x); }
SIMD vi vi_bytes(const uint8_t *at) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at)); }
SIMD vf vf_look_up(const float *table, vi index)
{
    return _mm512_permutexvar_ps(index, _mm512_castps256_ps512(_mm256_loadu_ps(table)));
}

/* --- 16-bit types ----------------------------------------------------------------------------- */

SIMD vf vf_load_bfloat16(const void *at)
{
    return vi_bits(vi_up(_mm512_cvtepu16_epi32(_mm256_loadu_si256(at)), 16));
}

SIMD vf vf_load_float16(const void *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(at));
}

SIMD void vi_store16(void *at, vi x)
{
    _mm256_storeu_si256(at, _mm512_cvtepi32_epi16(x));
}

SIMD void vf_store_float16(void *at, vf x)
{
    _mm256_storeu_si256(at, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

SIMD void vf_store_float64(uint8_t *at, vf x)
{
    _mm512_storeu_pd(at, _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    _mm512_storeu_pd(at + 64, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
}

/* --- between lanes ---------------------------------------------------------------------------- */

#define TAH_MERGE(op, x, y)                                                                        \
    SIMD vf op##_halves(vf x, vf y)                                                                \
    {                                                                                              \
        return op(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));             \
    }                                                                                              \
    SIMD vf op##_quarters(vf x, vf y)                                                              \
    {                                                                                              \
        return op(_mm512_shuffle_f32x4(x, y, 0x88), _mm512_shuffle_f32x4(x, y, 0xdd));             \
    }                                                                                              \
    SIMD vf op##_pairs(vf x, vf y)                                                                 \
    {                                                                                              \
        return op(_mm512_shuffle_ps(x, y, 0x44), _mm512_shuffle_ps(x, y, 0xee));                   \
    }                                                                                              \
    SIMD vf op##_singles(vf x, vf y)                                                               \
    {                                                                                              \
        return op(_mm512_shuffle_ps(x, y, 0x88), _mm512_shuffle_ps(x, y, 0xdd));                   \
    }                                                                                              \
    SIMD vf op##_four(const vf *x)                                                                 \
    {                                                                                              \
        return op##_quarters(op##_halves(x[0], x[4]), op##_halves(x[8], x[12]));                   \
    }                                                                                              \
    SIMD vf op##_across(const vf *x)                                                               \
    {                                                                                              \
        return op##_singles(op##_pairs(op##_four(x), op##_four(x + 1)),                            \
                            op##_pairs(op##_four(x + 2), op##_four(x + 3)));                       \
    }
TAH_MERGE(vf_min, x, y)
TAH_MERGE(vf_max, x, y)
TAH_MERGE(vf_add, x, y)
TAH_MERGE(vf_larger, x, y)

SIMD float vf_least(vf x) { return _mm512_reduce_min_ps(x); }
SIMD float vf_most(vf x) { return _mm512_reduce_max_ps(x); }

/* A butterfly between lanes half apart, x beside its partners. */
#define TAH_BUTTERFLY(half, odd, odd16, moved)                                                     \
    SIMD vf vf_butterfly##half(vf x)                                                               \
    {                                                                                              \
        /* Few units add floats: the partner of an odd lane gets -x instead. */                    \
        const vi sign = _mm512_maskz_set1_epi32(odd, (int32_t)0x80000000);                         \
        return _mm512_add_ps(moved, vi_bits(_mm512_xor_si512(vf_bits(x), sign)));                  \
    }                                                                                              \
    SIMD vi vi_butterfly##half(vi bits)                                                            \
    {                                                                                              \
        const vf x = vi_bits(bits);                                                                \
        const vi y = vf_bits(moved);                                                               \
        return _mm512_mask_sub_epi16(_mm512_add_epi16(y, bits), odd16, y, bits);                   \
    }
TAH_BUTTERFLY(1, 0xaaaa, 0xcccccccc, _mm512_permute_ps(x, 0xb1))
TAH_BUTTERFLY(2, 0xcccc, 0xf0f0f0f0, _mm512_permute_ps(x, 0x4e))
TAH_BUTTERFLY(4, 0xf0f0, 0xff00ff00, _mm512_shuffle_f32x4(x, x, 0xb1))
TAH_BUTTERFLY(8, 0xff00, 0xffff0000, _mm512_shuffle_f32x4(x, x, 0x4e))

/* --- codes and planes ------------------------------------------------------------------------- */

SIMD vb vb_pack(vi c0, vi c1, vi c2, vi c3)
{
    return _mm512_packus_epi16(_mm512_packus_epi32(c0, c1), _mm512_packus_epi32(c2, c3));
}

SIMD vb vb_limit(vb codes, unsigned last)
{
    return _mm512_min_epu8(codes, _mm512_set1_epi8((char)last));
}

/* The unit matrix: a product with it turns the eight bytes of a word into its eight bits. */
#define TURN 0x8040201008040201

/* Where vb_pack has put code 8 q + 7 - r, for byte 8 q + r. */
#define PACK_AT(c) ((c) % 16 / 4 * 16 + (c) / 16 * 4 + (c) % 4)
#define PACK_TURNED(w, k) PACK_AT((k) / 8 * 8 + 7 - (k) % 8)
static const uint8_t pack_order[64] = BYTES_64(PACK_TURNED, 0);

/* Tables of 64 places for each number of planes w, where place k holds AT(w, k). */
#define PLANES_TABLE(AT)                                                                           \
    {                                                                                              \
        BYTES_64(AT, 1), BYTES_64(AT, 2), BYTES_64(AT, 3), BYTES_64(AT, 4), BYTES_64(AT, 5),       \
            BYTES_64(AT, 6), BYTES_64(AT, 7), BYTES_64(AT, 8)                                      \
    }

/*
 * Where byte i of plane p is: in a stream of planes of w bytes, and eight bytes of a plane apart.
 */
SIMD __m512i planes_out(unsigned w)
{
    /* Byte p w + i from byte 8 i + p. */
#define PLANES_OUT(w, k) (uint8_t)((k) % (w) * 8 + (k) / (w))
    static const uint8_t order[8][64] = PLANES_TABLE(PLANES_OUT);
    return _mm512_loadu_si512(order[w - 1]);
}

SIMD __m512i planes_in(unsigned w)
{
    /* Byte 8 i + 7 - p from byte p w + i. */
#define PLANES_IN(w, k) (uint8_t)((7 - (k) % 8) * (w) + (k) / 8)
    static const uint8_t order[8][64] = PLANES_TABLE(PLANES_IN);
    return _mm512_loadu_si512(order[w - 1]);
}

SIMD void vb_planes(vb codes, unsigned bits, unsigned w, uint8_t *out)
{
    const __m512i turned = _mm512_gf2p8affine_epi64_epi8(
        _mm512_set1_epi64((int64_t)TURN),
        _mm512_permutexvar_epi8(_mm512_loadu_si512(pack_order), codes), 0);
    const __m512i planes = _mm512_permutexvar_epi8(planes_out(w), turned);
    if (bits * w <= 32)
        _mm256_storeu_si256((__m256i *)out, _mm512_castsi512_si256(planes));
    else
        _mm512_storeu_si512(out, planes);
}

SIMD vb vb_unplanes(const uint8_t *in, unsigned bits, unsigned w)
{
    /* The bytes of planes that there are. */
    const uint64_t there = UINT64_C(0x0101010101010101) * (uint8_t)(0xff << (8 - bits)) &
                           UINT64_MAX >> (64 - 8 * w);
    const __m512i words =
        _mm512_maskz_permutexvar_epi8((__mmask64)there, planes_in(w), _mm512_loadu_si512(in));
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((int64_t)TURN), words, 0);
}

SIMD vi vb_codes0(vb codes) { return _mm512_cvtepu8_epi32(_mm512_castsi512_si128(codes)); }
SIMD vi vb_codes1(vb codes) { return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 1)); }
SIMD vi vb_codes2(vb codes) { return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 2)); }
SIMD vi vb_codes3(vb codes) { return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 3)); }

/* Codes of at most four bits look up a table of 16; of more, each is computed. */
SIMD void planes_values(const uint8_t *in, unsigned bits, unsigned w, float step, float zero, vf *x)
{
    const vf steps = vf_set1(step), zeros = vf_set1(zero);
    if (bits > 4) {
        const vb codes = vb_unplanes(in, bits, w);
        x[0] = vf_fused(vf_of(vb_codes0(codes)), steps, zeros);
        x[1] = vf_fused(vf_of(vb_codes1(codes)), steps, zeros);
        x[2] = vf_fused(vf_of(vb_codes2(codes)), steps, zeros);
        x[3] = vf_fused(vf_of(vb_codes3(codes)), steps, zeros);
        return;
    }
    /* A look-up takes the lowest four bits of a lane; planes that are not the code's own may be
     * among them, so the table repeats. Byte k of a lane is the code of the k-th vector. */
#define COUNT(mask)                                                                         \
    {                                                                                       \
        0, 1, 2, 3, 4 & (mask), 5 & (mask), 6 & (mask), 7 & (mask), 8 & (mask), 9 & (mask), \
            10 & (mask), 11 & (mask), 12 & (mask), 13 & (mask), 14 & (mask), 15 & (mask)    \
    }
    static const float count[3][SIMD_LANES] = {COUNT(3), COUNT(7), COUNT(15)};
#undef COUNT
#define LANE(i) (i), (i) + 16, (i) + 32, (i) + 48
    static const uint8_t lanes[64] = {
        LANE(0), LANE(1), LANE(2),  LANE(3),  LANE(4),  LANE(5),  LANE(6),  LANE(7),
        LANE(8), LANE(9), LANE(10), LANE(11), LANE(12), LANE(13), LANE(14), LANE(15),
    };
#undef LANE
    const vf table = vf_fused(vf_load(count[bits - 2]), steps, zeros);
    const vi words = _mm512_permutexvar_epi8(planes_in(w), vi_load(in));
    const vi codes = _mm512_permutexvar_epi8(
        vi_load(lanes), _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((int64_t)TURN), words, 0));
    for (unsigned k = 0; k < 4; k++)
        x[k] = _mm512_permutexvar_ps(vi_down(codes, 8 * k), table);
}

#endif
