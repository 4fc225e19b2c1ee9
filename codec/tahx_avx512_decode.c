/* The AVX-512 kernel of tahx: from codes to elements. */
#include "codec/tahx_avx512.h"

#include "codec/bytes.h"
#include "codec/tahx_vector_decode.h"

/* --- planes ---------------------------------------------------------------------------------- */

/*
 * The transposition of bits takes, for each eight codes, their byte of the highest plane first: of
 * planes of 8 and of 4 bytes.
 */
static const uint8_t plane_order_64[64] = {
    56, 48, 40, 32, 24, 16, 8,  0,  57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
    10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
    29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7,
};
static const uint8_t plane_order_32[64] = {
    28, 24, 20, 16, 12, 8,  4,  0,  29, 25, 21, 17, 13, 9,  5,  1,  30, 26, 22, 18, 14, 10,
    6,  2,  31, 27, 23, 19, 15, 11, 7,  3,  32, 28, 24, 20, 16, 12, 8,  4,  33, 29, 25, 21,
    17, 13, 9,  5,  34, 30, 26, 22, 18, 14, 10, 6,  35, 31, 27, 23, 19, 15, 11, 7,
};

/* A vector from a stream of which left bytes follow; 0 behind its end. */
INLINE __m512i stream_load(const uint8_t *in, size_t left)
{
    return left >= sizeof(__m512i)
               ? _mm512_loadu_si512(in)
               : _mm512_maskz_loadu_epi8(first_bits((unsigned)left), in);
}

/*
 * The codes of a block of n, a byte each, from planes of which left bytes follow; false: a bit
 * beyond the last code is set.
 */
INLINE bool codes_load(const uint8_t *in, size_t left, unsigned n, unsigned width, __m512i *codes)
{
    const __m512i identity = _mm512_set1_epi64((long long)0x8040201008040201);
    /* For each eight codes, the bytes of the planes that there are. */
    const __mmask64 there = UINT64_C(0x0101010101010101) * (uint8_t)(0xff00 >> width);
    __m512i planes, order = _mm512_loadu_si512(plane_order_64);
    if (n == 64 || n == 32) {
        planes = stream_load(in, left);
        if (n == 32)
            order = _mm512_loadu_si512(plane_order_32);
    } else {
        const unsigned bytes = (n + 7) / 8;
        uint64_t plane[8] = {0};
        for (unsigned bit = 0; bit < width; bit++) {
            memcpy(&plane[bit], in + bit * bytes, bytes);
            if (plane[bit] & ~first_bits(n))
                return false;
        }
        planes = _mm512_loadu_si512(plane);
    }
    *codes = _mm512_gf2p8affine_epi64_epi8(
        identity, _mm512_maskz_permutexvar_epi8(there, order, planes), 0);
    return true;
}

/* --- levels ---------------------------------------------------------------------------------- */

/* Levels of 16 wide codes: two 16-bit numbers at once, of which the second is wanted. */
INLINE __m512 levels_gather(const tahx_book_t *book, __m512i codes, unsigned width)
{
    const __m512i index = _mm512_and_si512(codes, _mm512_set1_epi32((1 << (width - 1)) - 1));
    const __m512i pair = _mm512_i32gather_epi32(index, tahx_levels(book, width) - 1, 2);
    const __m512 level = _mm512_cvtepi32_ps(_mm512_srli_epi32(pair, 16));
    const __m512i sign = _mm512_sll_epi32(codes, _mm_cvtsi32_si128(32 - (int)width));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(level), sign, _mm512_set1_epi32((int)0x80000000u), 0xf8));
}

/* --- elements -------------------------------------------------------------------------------- */

INLINE void store_elements(tah_dtype_t dtype, uint8_t *dst, __m512 x, __mmask16 mask)
{
    if (dtype == TAH_FLOAT32) {
        _mm512_mask_storeu_ps(dst, mask, x);
    } else if (dtype == TAH_BFLOAT16) {
        /* To nearest, halves to even; see tahx_run_plain: nothing gets as large as infinity. */
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i rounded =
            _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
        _mm256_mask_storeu_epi16(dst, mask, _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
    } else {
        const __m512 most = _mm512_set1_ps(65504);
        const __m512 kept =
            _mm512_max_ps(_mm512_min_ps(x, most), _mm512_sub_ps(_mm512_setzero_ps(), most));
        _mm256_mask_storeu_epi16(dst, mask, _mm512_cvtps_ph(kept, _MM_FROUND_TO_NEAREST_INT));
    }
}

/* Elements from what 16 codes stand for: number at of the run and those behind it. */
INLINE void elements_make(const setup_t *setup, __m512 x, unsigned at, __mmask16 mask, uint8_t *dst,
                          tah_dtype_t dtype)
{
    if (setup->vectors)
        x = _mm512_add_ps(_mm512_mul_ps(x, _mm512_maskz_loadu_ps(mask, setup->scale + at)),
                          _mm512_maskz_loadu_ps(mask, setup->mean + at));
    if (setup->scaled)
        x = _mm512_mul_ps(x, _mm512_set1_ps(setup->unit));
    store_elements(dtype, dst, x, mask);
}

/* A block of up to 64 elements, number at of the run and those behind it. */
INLINE void block_make(const setup_t *setup, __m512i codes, unsigned width, __m512 scale,
                       unsigned at, unsigned n, uint8_t *dst, tah_dtype_t dtype, unsigned element)
{
    const float *levels = setup->widths->signed_level[width <= TAHX_EDGED ? width : 0];
    const __m512 low = _mm512_mul_ps(_mm512_loadu_ps(levels), scale);
    const __m512 high = _mm512_mul_ps(_mm512_loadu_ps(levels + LANES), scale);
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i += LANES) {
        const __m512i own = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(codes));
        const __m512 x = width <= TAHX_EDGED
                             ? _mm512_permutex2var_ps(low, own, high)
                             : _mm512_mul_ps(levels_gather(setup->book, own, width), scale);
        elements_make(setup, x, at + i, lanes_of(i, n), dst + (size_t)i * element, dtype);
        codes = _mm512_shuffle_i64x2(codes, codes, 0x39);
    }
}

INLINE bool tile_make(const setup_t *setup, unsigned byte, const uint8_t *in, size_t left,
                      unsigned width, unsigned at, unsigned n, uint8_t *dst, tah_dtype_t dtype,
                      unsigned element)
{
    const __m512 scale = _mm512_set1_ps(setup->widths->level[byte]);
    for (unsigned first = 0; first < n; first += BLOCK) {
        const unsigned count = n - first < BLOCK ? n - first : BLOCK;
        const size_t before = (size_t)first / 8 * width;
        uint8_t *own = dst + (size_t)first * element;
        __m512i codes;
        if (!codes_load(in + before, left - before, count, width, &codes))
            return false;
        /* Twice, so that neither asks for each vector which of the two it is. */
        if (width <= TAHX_EDGED)
            block_make(setup, codes, width, scale, at + first, count, own, dtype, element);
        else
            block_make(setup, codes, width, scale, at + first, count, own, dtype, element);
    }
    return true;
}

size_t tahx_avx512_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                          size_t room, uint8_t *dst)
{
    return decode_any(run, bytes, in, room, dst);
}
