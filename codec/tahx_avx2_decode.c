/* The AVX2 kernel of tahx: from codes to elements. */
#include "codec/tahx_avx2.h"

#include "codec/bytes.h"
#include "codec/tahx_vector_decode.h"

/* --- planes ---------------------------------------------------------------------------------- */

/* Transposes the 8 x 8 bits of each eight bytes: bit i of byte j becomes bit j of byte i. */
INLINE __m256i bits_transpose(__m256i x)
{
#define SWAP(shift, mask)                                                                          \
    do {                                                                                           \
        const __m256i other = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, shift)),   \
                                               _mm256_set1_epi64x(mask));                          \
        x = _mm256_xor_si256(_mm256_xor_si256(x, other), _mm256_slli_epi64(other, shift));         \
    } while (0)
    SWAP(7, 0x00aa00aa00aa00aa);
    SWAP(14, 0x0000cccc0000cccc);
    SWAP(28, 0x00000000f0f0f0f0);
#undef SWAP
    return x;
}

/* The codes of a block, a byte each, from 32 bits of each of eight planes, of which width count. */
INLINE __m256i codes_of(__m256i planes, unsigned width)
{
    const __m256i by_byte = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
                                             0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i by_eight = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i there = _mm256_and_si256(planes, lanes_of((int)width));
    return bits_transpose(
        _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(there, by_byte), by_eight));
}

/* 32 bytes from a stream of which left follow; 0 behind its end. */
INLINE __m256i stream_load(const uint8_t *in, size_t left)
{
    uint8_t last[32] = {0};
    if (left < sizeof last)
        in = memcpy(last, in, left);
    return _mm256_loadu_si256((const __m256i *)(const void *)in);
}

/*
 * The planes of the codes from first of a tile on; of a whole block of 32 in tiles of 32 and 64.
 * The lower or upper half of planes of 64 bits: of the first four and the last four, two of each
 * in either half of the vector.
 */
INLINE __m256i planes_load(const uint8_t *in, size_t left, unsigned first, unsigned n)
{
    if (n == BLOCK)
        return stream_load(in, left);
    const __m256 low = _mm256_castsi256_ps(stream_load(in, left));
    const __m256 high =
        _mm256_castsi256_ps(left > 32 ? stream_load(in + 32, left - 32) : _mm256_setzero_si256());
    const __m256 half =
        first ? _mm256_shuffle_ps(low, high, 0xdd) : _mm256_shuffle_ps(low, high, 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(half), 0xd8);
}

/* The planes of up to 32 codes; false: a bit beyond the last is set. */
INLINE bool planes_read(const uint8_t *in, unsigned first, unsigned n, unsigned width,
                        __m256i *planes)
{
    const unsigned block = first / 64 * 64, count = n - block < 64 ? n - block : 64;
    const unsigned bytes = (count + 7) / 8, skip = (first - block) / 8;
    const unsigned own = count - 8 * skip < BLOCK ? count - 8 * skip : BLOCK;
    uint32_t plane[8] = {0};
    in += width * (block / 8) + skip;
    for (unsigned bit = 0; bit < width; bit++, in += bytes) {
        memcpy(&plane[bit], in, (own + 7) / 8);
        if (own < BLOCK && plane[bit] >> own)
            return false;
    }
    *planes = _mm256_loadu_si256((const __m256i *)(const void *)plane);
    return true;
}

/* --- levels ---------------------------------------------------------------------------------- */

/*
 * Levels of a block of codes of up to 5 bits, with their signs, as 16-bit integers: those of codes
 * 0..7 and 16..23, and of 8..15 and 24..31. What has 5 bits has its sign beyond the table.
 */
INLINE void levels_narrow(const tahx_widths_t *widths, __m256i codes, unsigned width,
                          __m256i level[2])
{
    const __m128i *bytes = (const __m128i *)(const void *)widths->level_bytes[width];
    const __m256i index = _mm256_and_si256(codes, _mm256_set1_epi8(15));
    const __m256i sign = _mm256_slli_epi16(codes, 3), plus = _mm256_set1_epi8(1);
    const __m256i lower =
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(bytes)), index);
    const __m256i upper =
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(bytes + 1)), index);
    level[0] = _mm256_sign_epi16(_mm256_unpacklo_epi8(lower, upper),
                                 _mm256_unpacklo_epi8(plus, sign));
    level[1] = _mm256_sign_epi16(_mm256_unpackhi_epi8(lower, upper),
                                 _mm256_unpackhi_epi8(plus, sign));
}

/* Levels of eight wider codes: the level before the wanted one and that, which is kept. */
INLINE __m256 levels_wide(const tahx_book_t *book, __m256i codes, unsigned width)
{
    const __m256i index = _mm256_and_si256(codes, _mm256_set1_epi32((1 << (width - 1)) - 1));
    const __m256i pair = _mm256_i32gather_epi32(
        (const int *)(const void *)(tahx_levels(book, width) - 1), index, 2);
    const __m256i sign = _mm256_sll_epi32(codes, _mm_cvtsi32_si128(32 - (int)width));
    return _mm256_or_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(pair, 16)),
                        _mm256_and_ps(_mm256_castsi256_ps(sign), _mm256_set1_ps(-0.0f)));
}

/* --- elements -------------------------------------------------------------------------------- */

/* The first n of eight elements. */
INLINE void store_elements(tah_dtype_t dtype, uint8_t *dst, __m256 x, int n)
{
    __m128i half;
    if (dtype == TAH_FLOAT32) {
        if (n >= LANES)
            _mm256_storeu_ps((float *)(void *)dst, x);
        else
            _mm256_maskstore_ps((float *)(void *)dst, lanes_of(n), x);
        return;
    }
    if (dtype == TAH_BFLOAT16) {
        /* To nearest, halves to even; see tahx_run_plain: nothing gets as large as infinity. */
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i rounded = _mm256_srli_epi32(
            _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7fff)), 16);
        half =
            _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
    } else {
        const __m256 kept =
            _mm256_max_ps(_mm256_min_ps(x, _mm256_set1_ps(65504)), _mm256_set1_ps(-65504));
        half = _mm256_cvtps_ph(kept, _MM_FROUND_TO_NEAREST_INT);
    }
    if (n >= LANES)
        _mm_storeu_si128((__m128i *)(void *)dst, half);
    else
        memcpy(dst, &half, (size_t)n * 2);
}

/* Elements from what eight codes stand for: number at of the run and those behind it. */
INLINE void elements_make(const setup_t *setup, __m256 x, unsigned at, int n, uint8_t *dst,
                          tah_dtype_t dtype)
{
    if (setup->vectors)
        x = _mm256_add_ps(_mm256_mul_ps(x, load_floats(setup->scale + at, n)),
                          load_floats(setup->mean + at, n));
    if (setup->scaled)
        x = _mm256_mul_ps(x, _mm256_set1_ps(setup->unit));
    store_elements(dtype, dst, x, n);
}

/* A block of up to 32 elements, number at of the run and those behind it. */
INLINE void block_make(const setup_t *setup, __m256i codes, unsigned width, __m256 scale,
                       unsigned at, unsigned n, uint8_t *dst, tah_dtype_t dtype, unsigned element)
{
    __m256i level[2];
    if (width <= TAHX_EDGED)
        levels_narrow(setup->widths, codes, width, level);
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i += LANES) {
        const __m256i sixteen = width <= TAHX_EDGED ? level[i / LANES % 2] : codes;
        const __m128i half =
            i < BLOCK / 2 ? _mm256_castsi256_si128(sixteen) : _mm256_extracti128_si256(sixteen, 1);
        const __m256 x =
            width <= TAHX_EDGED
                ? _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(half))
                : levels_wide(
                      setup->book,
                      _mm256_cvtepu8_epi32(i / LANES % 2 ? _mm_srli_si128(half, 8) : half), width);
        elements_make(setup, _mm256_mul_ps(x, scale), at + i, (int)(n - i),
                      dst + (size_t)i * element, dtype);
    }
}

INLINE bool tile_make(const setup_t *setup, unsigned byte, const uint8_t *in, size_t left,
                      unsigned width, unsigned at, unsigned n, uint8_t *dst, tah_dtype_t dtype,
                      unsigned element)
{
    const __m256 scale = _mm256_set1_ps(setup->widths->level[byte]);
    for (unsigned first = 0; first < n; first += BLOCK) {
        const unsigned count = n - first < BLOCK ? n - first : BLOCK;
        uint8_t *own = dst + (size_t)first * element;
        __m256i planes;
        if (n == BLOCK || n == 2 * BLOCK)
            planes = planes_load(in, left, first, n);
        else if (!planes_read(in, first, n, width, &planes))
            return false;
        const __m256i codes = codes_of(planes, width);
        /* Twice, so that neither asks for each vector which of the two it is. */
        if (width <= TAHX_EDGED)
            block_make(setup, codes, width, scale, at + first, count, own, dtype, element);
        else
            block_make(setup, codes, width, scale, at + first, count, own, dtype, element);
    }
    return true;
}

size_t tahx_avx2_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in, size_t room,
                        uint8_t *dst)
{
    return decode_any(run, bytes, in, room, dst);
}
