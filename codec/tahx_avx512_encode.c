/* The AVX-512 kernel of tahx: from elements to codes. Needs GFNI, VBMI and VNNI. */
#include "codec/tahx_avx512.h"

#include "codec/bytes.h"
#include "codec/tahx_avx512_planes.h"

#include <math.h>

#define VECTOR_BYTES 64
typedef __m512i errors_t; /* see tile_errors */
#include "codec/tahx_vector_batch.h"

/* --- widths ---------------------------------------------------------------------------------- */

/* The bytes of a table of 256 that have these numbers. */
INLINE __m512i look_up(const uint8_t table[256], __m512i number)
{
    const __m512i low =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(table), number, _mm512_loadu_si512(table + 64));
    const __m512i high = _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), number,
                                                  _mm512_loadu_si512(table + 192));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(number), low, high);
}

/* Widths, and scales that are tried, as tahx_width and tahx_tried have them. */
INLINE void batch_plan(const setup_t *setup, const uint8_t *bytes, batch_t *batch)
{
    const tahx_widths_t *widths = setup->widths;
    const __m512i own = _mm512_maskz_loadu_epi8(first_bits(batch->tiles), bytes);
    const __m512i ranks = _mm512_loadu_si512(widths->above + batch->number % 256);
    const __mmask64 above = _mm512_test_epi8_mask(ranks, ranks);
    _mm512_storeu_si512(batch->widths, _mm512_mask_blend_epi8(above, look_up(widths->width[0], own),
                                                              look_up(widths->width[1], own)));
    _mm512_storeu_si512(batch->tried, _mm512_mask_blend_epi8(above, look_up(widths->tried[0], own),
                                                             look_up(widths->tried[1], own)));
}

/* --- fixed point ----------------------------------------------------------------------------- */

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

/* Coded values: elements from src on, number at of the run and those behind it. */
INLINE __m512 values_load(const setup_t *setup, const uint8_t *src, unsigned at, __mmask16 mask,
                          tah_dtype_t dtype)
{
    __m512 x = load_elements(dtype, src, mask);
    if (setup->scaled)
        x = _mm512_mul_ps(x, _mm512_set1_ps(setup->unit));
    if (setup->vectors)
        x = _mm512_sub_ps(_mm512_mul_ps(x, _mm512_maskz_loadu_ps(mask, setup->inverse + at)),
                          _mm512_maskz_loadu_ps(mask, setup->offset + at));
    return x;
}

/*
 * 32 values in units of 2^-14 of the first scale that is tried, cut off; four of the first 16 and
 * four of the others in turn. Those of tiles without codes are of no use, and may be anything.
 */
INLINE __m512i values_fix(const setup_t *setup, __m512 inverse, const uint8_t *src, unsigned at,
                          unsigned n, tah_dtype_t dtype, unsigned element)
{
    const __m512 low = values_load(setup, src, at, lanes_of(0, n), dtype);
    const __m512 high =
        values_load(setup, src + LANES * element, at + LANES, lanes_of(LANES, n), dtype);
    return _mm512_packs_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(low, inverse)),
                              _mm512_cvttps_epi32(_mm512_mul_ps(high, inverse)));
}

/* --- the search for a scale ------------------------------------------------------------------ */

/* Where the weights of 32 values have to be for errors_add. */
static const uint8_t weight_order[64] = {
    0,  1,  2,  3,  16, 17, 18, 19, 0,  1,  2,  3,  16, 17, 18, 19, 4,  5,  6,  7,  20, 21,
    22, 23, 4,  5,  6,  7,  20, 21, 22, 23, 8,  9,  10, 11, 24, 25, 26, 27, 8,  9,  10, 11,
    24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31, 12, 13, 14, 15, 28, 29, 30, 31,
};

/* The weights of n values, for errors_add: 0 where there is none. */
INLINE __m512i weights_load(const setup_t *setup, unsigned at, unsigned n)
{
    const __mmask32 mask = (__mmask32)first_bits(n < 32 ? n : 32);
    const __m256i own = setup->vectors ? _mm256_maskz_loadu_epi8(mask, setup->weight + at)
                                       : _mm256_maskz_set1_epi8(mask, 1);
    return _mm512_permutexvar_epi8(_mm512_loadu_si512(weight_order), _mm512_castsi256_si512(own));
}

/*
 * Weighted squared errors of 32 values at the scales that are tried, two scales a vector: of each
 * 128 bits the lower half belongs to the first.
 */
INLINE void errors_add(__m512i fixed, const tahx_steps_t *steps, __m512i square, __m512i weight,
                       __m512i sums[2])
{
    const __m512i magnitude = _mm512_abs_epi16(fixed);
    UNROLLED
    for (int i = 0; i < 2; i++) {
        const __m512i one =
            _mm512_mulhi_epu16(magnitude, _mm512_set1_epi16((short)steps->place[2 * i]));
        const __m512i two =
            _mm512_mulhi_epu16(magnitude, _mm512_set1_epi16((short)steps->place[2 * i + 1]));
        const __m512i error = _mm512_permutexvar_epi8(_mm512_packus_epi16(one, two), square);
        sums[i] = _mm512_dpbusd_epi32(sums[i], error, weight);
    }
}

/*
 * The first stage, for tile t of a batch: n elements from number at of the run on. Errors are sums
 * for the four scales, a part of each in every 128 bits.
 */
INLINE void tile_errors(const setup_t *setup, batch_t *batch, unsigned t, const uint8_t *src,
                        unsigned at, unsigned n, uint8_t byte, tah_dtype_t dtype, unsigned element,
                        unsigned tile)
{
    const tahx_steps_t *steps = &tahx_steps[byte % 16];
    const __m512i square = _mm512_loadu_si512(batch_square(setup, batch, t));
    const __m512 inverse = _mm512_set1_ps(setup->widths->inverse[byte]);
    int16_t *fixed = batch_fixed(batch, t, tile);
    __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (unsigned i = 0; i < n; i += UNIT) {
        prefetch_ahead(src + (size_t)(at + i) * element, UNIT * element);
        const __m512i own = values_fix(setup, inverse, src + (size_t)(at + i) * element, at + i,
                                       n - i, dtype, element);
        _mm512_store_si512(fixed + i, own);
        errors_add(own, steps, square, weights_load(setup, at + i, n - i), sums);
    }
    const __m512 first = _mm512_castsi512_ps(sums[0]), second = _mm512_castsi512_ps(sums[1]);
    batch->errors[t] =
        _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(first, second, 0x88)),
                         _mm512_castps_si512(_mm512_shuffle_ps(first, second, 0xdd)));
    _mm_store_ps(batch->squares[t], _mm_loadu_ps(steps->square));
}

/* Sums of 32-bit numbers over the 128-bit parts of four vectors, in one such part each. */
INLINE __m512i add_across(const __m512i x[4])
{
    __m512i pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = _mm512_add_epi32(_mm512_shuffle_i64x2(x[2 * i], x[2 * i + 1], 0x44),
                                   _mm512_shuffle_i64x2(x[2 * i], x[2 * i + 1], 0xee));
    return _mm512_add_epi32(_mm512_shuffle_i64x2(pair[0], pair[1], 0x88),
                            _mm512_shuffle_i64x2(pair[0], pair[1], 0xdd));
}

/* Gives tiles the bytes of their best scales: of those with bits set, the lowest counts. */
INLINE void batch_settle(batch_t *batch, const uint8_t best[TAHX_RUN], uint8_t *bytes)
{
    const __m512i lowest =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0));
    const __m512i ratios[2] = {_mm512_loadu_si512(tahx_ratios[0]),
                               _mm512_loadu_si512(tahx_ratios[8])};
    const __mmask64 tiles = first_bits(batch->tiles);
    const __m512i own = _mm512_maskz_loadu_epi8(tiles, bytes);
    const __m512i step = _mm512_shuffle_epi8(lowest, _mm512_loadu_si512(best));
    const __m512i first = _mm512_and_si512(own, _mm512_set1_epi8(15));
    const __m512i number = _mm512_add_epi8(_mm512_slli_epi16(first, 2), step);
    for (int half = 0; half < 2; half++) {
        const __m256i part =
            half ? _mm512_extracti64x4_epi64(number, 1) : _mm512_castsi512_si256(number);
        _mm512_storeu_si512(
            batch->ratios + 32 * half,
            _mm512_permutex2var_epi16(ratios[0], _mm512_cvtepu8_epi16(part), ratios[1]));
    }
    const __mmask64 coded = _mm512_cmpge_epu8_mask(own, _mm512_set1_epi8(TAHX_COARSEST));
    _mm512_mask_storeu_epi8(bytes, coded & tiles,
                            _mm512_add_epi8(_mm512_sub_epi8(own, _mm512_set1_epi8(1)), step));
}

/* The second stage: the scales with the least errors, of four tiles at once. */
INLINE void batch_search(batch_t *batch, uint8_t *bytes)
{
    const uint32_t bits = 0x0f0f0f0f; /* of four tiles */
    uint8_t found[TAHX_RUN];
    for (unsigned t = 0; t < batch->tiles; t += 4) {
        const __mmask16 tried = (__mmask16)_pext_u32(load_u32(batch->tried + t), bits);
        const __m512 error = _mm512_mask_mul_ps(
            _mm512_set1_ps(INFINITY), tried, _mm512_cvtepi32_ps(add_across(batch->errors + t)),
            _mm512_loadu_ps(batch->squares[t]));
        __m512 least = _mm512_min_ps(error, _mm512_permute_ps(error, 0x4e));
        least = _mm512_min_ps(least, _mm512_permute_ps(least, 0xb1));
        const __mmask16 best = _mm512_cmp_ps_mask(error, least, _CMP_EQ_OQ);
        store_u32(found + t, _pdep_u32(best, bits));
    }
    batch_settle(batch, found, bytes);
}

/* --- codes ----------------------------------------------------------------------------------- */

/*
 * The codes of 32 values, in the high bytes of 16-bit numbers: the sign in the highest bit, the
 * cell in those from bit 1 on or, of wide codes, in those below the sign.
 */
INLINE __m512i codes_of(const tahx_book_t *book, __m512i fixed, __m512i ratio, unsigned width)
{
    const __m512i last = _mm512_set1_epi16((1 << TAHX_LEVEL_BITS) - 1);
    const __m512i value = _mm512_mulhi_epu16(_mm512_abs_epi16(fixed), ratio);
    __m512i cell;
    if (width <= TAHX_EDGED) {
        const unsigned row = width > 0 ? width - 1 : 0;
        const __m512i v = _mm512_min_epu16(value, last);
        const __m512i lift = _mm512_permutexvar_epi16(_mm512_srli_epi16(v, TAHX_BIN_BITS),
                                                      _mm512_loadu_si512(book->lift[row]));
        cell = _mm512_add_epi16(v, lift);
    } else {
        const __m512i u = _mm512_add_epi16(value, value);
        const __m512i one = _mm512_mulhi_epu16(u, _mm512_set1_epi16((short)book->first));
        const __m512i two =
            _mm512_add_epi16(_mm512_mulhi_epu16(u, _mm512_set1_epi16((short)book->second)),
                             _mm512_set1_epi16((short)book->start));
        cell = _mm512_slli_epi16(_mm512_min_epu16(_mm512_min_epu16(one, two), last), 1);
    }
    /* The first where the mask is set, else the second. */
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16((short)0x8000), fixed, cell, 0xca);
}

/* The codes of a tile, a vector for 32 of them. */
INLINE void tile_codes(const setup_t *setup, batch_t *batch, unsigned t, unsigned n, unsigned tile,
                       __m512i *codes)
{
    const int16_t *fixed = batch_fixed(batch, t, tile);
    const __m512i ratio = _mm512_set1_epi16((short)batch->ratios[t]);
    for (unsigned i = 0; i < n; i += UNIT)
        codes[i / UNIT] =
            codes_of(setup->book, _mm512_load_si512(fixed + i), ratio, batch->widths[t]);
}

/* --- stream ---------------------------------------------------------------------------------- */

/* Writes what tile t of a batch has in the stream; returns the bytes. planes: of a tile of 32. */
INLINE size_t tile_put(const batch_t *batch, unsigned t, unsigned n, const uint8_t *src,
                       uint8_t byte, const __m512i *codes, __m256i planes, uint8_t *out,
                       unsigned element, unsigned tile)
{
    const unsigned width = batch->widths[t];
    if (byte < TAHX_COARSEST)
        return tile_special_encode((tile_kind_t)byte, src, n, element, out, SIZE_MAX);
    if (tile == 32 && n == 32)
        planes_store(planes, width, out);
    else
        tile_store(codes, n, width, out);
    return tile_code_bytes(n, width);
}

/* The third stage; returns the bytes written. Two tiles of 32 are turned to planes together. */
INLINE size_t batch_store(const setup_t *setup, batch_t *batch, const uint8_t *src,
                          const uint8_t *bytes, uint8_t *out, unsigned element, unsigned tile)
{
    const unsigned together = tile == 32 ? 2 : 1;
    const size_t tile_bytes = (size_t)tile * element;
    uint8_t *const start = out;
    for (unsigned t = 0; t < batch->tiles; t += together) {
        __m512i codes[TILE_MAX / UNIT], planes = _mm512_setzero_si512();
        const bool second = together == 2 && t + 1 < batch->tiles;
        tile_codes(setup, batch, t, tile, tile, codes);
        if (second)
            tile_codes(setup, batch, t + 1, tile, tile, codes + 1);
        if (together == 2)
            planes = planes_of(codes[0], codes[second]);
        out += tile_put(batch, t, batch_elements(batch, t, tile), src + t * tile_bytes, bytes[t],
                        codes, _mm512_castsi512_si256(planes), out, element, tile);
        if (second)
            out += tile_put(batch, t + 1, batch_elements(batch, t + 1, tile),
                            src + (t + 1) * tile_bytes, bytes[t + 1], codes + 1,
                            _mm512_extracti64x4_epi64(planes, 1), out, element, tile);
    }
    return (size_t)(out - start);
}

#include "codec/tahx_vector_encode.h"

size_t tahx_avx512_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room)
{
    return encode_any(run, src, bytes, out, room);
}
