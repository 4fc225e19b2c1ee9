/* The AVX-512 kernel of tahx: from codes to elements. */
#include "codec/tahx_avx512.h"

#include "codec/bytes.h"

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

/* The codes of a block of n, a byte each; false: a bit beyond the last is set. */
INLINE bool codes_load(const uint8_t *in, unsigned n, unsigned width, __m512i *codes)
{
    __m512i planes, order = _mm512_loadu_si512(plane_order_64);
    if (n == 64) {
        planes = _mm512_maskz_loadu_epi64((__mmask8)((1u << width) - 1), in);
    } else if (n == 32) {
        planes = _mm512_maskz_loadu_epi32((__mmask16)((1u << width) - 1), in);
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
    const __m512i identity = _mm512_set1_epi64((long long)0x8040201008040201);
    *codes = _mm512_gf2p8affine_epi64_epi8(identity, _mm512_permutexvar_epi8(order, planes), 0);
    return true;
}

/* --- levels ---------------------------------------------------------------------------------- */

/* Signed levels of codes of up to TAHX_EDGED bits, as floats. */
typedef struct levels {
    __m512 low, high;
} levels_t;

INLINE levels_t levels_of(const tahx_book_t *book, unsigned width)
{
    const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const unsigned count = 1u << (width - 1);
    const __m512 level = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(
        _mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), tahx_levels(book, width))));
    const __m512 minus = _mm512_sub_ps(_mm512_setzero_ps(), level);
    /* From count on, codes are minus. */
    const __m512 low =
        _mm512_mask_permutexvar_ps(level, (__mmask16)(0xffffu << count),
                                   _mm512_sub_epi32(number, _mm512_set1_epi32((int)count)), minus);
    return (levels_t){low, minus};
}

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

INLINE bool tile_load(const tahx_run_t *run, __m512 unit, const levels_t *levels, unsigned byte,
                      const uint8_t *in, unsigned width, unsigned at, unsigned n, uint8_t *dst,
                      tah_dtype_t dtype, unsigned element)
{
    const __m512 scale = _mm512_set1_ps(run->widths->level[byte]);
    for (unsigned first = 0; first < n; first += BLOCK, in += BLOCK / 8 * width) {
        const unsigned count = n - first < BLOCK ? n - first : BLOCK;
        __m512i codes;
        if (!codes_load(in, count, width, &codes))
            return false;
        for (unsigned i = 0; i < count; i += LANES) {
            const __mmask16 mask = lanes_of(i, count);
            const __m512i own = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(codes));
            __m512 x = width <= TAHX_EDGED ? _mm512_permutex2var_ps(levels->low, own, levels->high)
                                           : levels_gather(run->shape->book, own, width);
            codes = _mm512_shuffle_i64x2(codes, codes, 0x39);
            x = _mm512_mul_ps(x, scale);
            if (run->scale)
                x = _mm512_add_ps(
                    _mm512_mul_ps(x, _mm512_maskz_loadu_ps(mask, run->scale + at + first + i)),
                    _mm512_maskz_loadu_ps(mask, run->mean + at + first + i));
            if (run->exponent)
                x = _mm512_mul_ps(x, unit);
            store_elements(dtype, dst + (size_t)(first + i) * element, x, mask);
        }
    }
    return true;
}

INLINE size_t decode_run(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                         size_t room, uint8_t *dst, tah_dtype_t dtype, unsigned element,
                         unsigned tile)
{
    const __m512 unit = _mm512_set1_ps(float_power(run->exponent));
    levels_t levels[TAHX_WIDTH_MAX + 1];
    unsigned filled = ~((2u << TAHX_EDGED) - 1); /* a bit for each width; wide ones need none */
    uint64_t number = run->first;
    size_t used = 0;
    for (unsigned at = 0; at < run->n; at += tile, bytes++, number++) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        uint8_t *own = dst + (size_t)at * element;
        size_t taken;
        if (*bytes < TAHX_COARSEST) {
            taken = tahx_tile_decode(run, *bytes, in + used, room - used, at, n, own);
            if (taken == SIZE_MAX)
                return SIZE_MAX;
        } else {
            const unsigned width = tahx_width(run->widths, *bytes, number);
            taken = tile_code_bytes(n, width);
            if (!(filled >> width & 1)) {
                if (width == 0)
                    levels[0] = (levels_t){_mm512_setzero_ps(), _mm512_setzero_ps()};
                else
                    levels[width] = levels_of(run->shape->book, width);
                filled |= 1u << width;
            }
            if (room - used < taken)
                return SIZE_MAX;
            const bool valid = n == tile ? tile_load(run, unit, &levels[width], *bytes, in + used,
                                                     width, at, tile, own, dtype, element)
                                         : tile_load(run, unit, &levels[width], *bytes, in + used,
                                                     width, at, n, own, dtype, element);
            if (!valid)
                return SIZE_MAX;
        }
        used += taken;
    }
    return used;
}

#include "codec/tahx_vector_decode.h"

size_t tahx_avx512_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                          size_t room, uint8_t *dst)
{
    return decode_any(run, bytes, in, room, dst);
}
