/* The AVX2 kernel of tahx: from elements to codes. */
#include "codec/tahx_avx2.h"

#include "codec/bytes.h"

#include <math.h>

/* A vector of coded values: elements from number at of a run on, of n that count. */
INLINE __m256 load_coded(const tahx_run_t *run, tah_dtype_t dtype, __m256 unit, const uint8_t *src,
                         unsigned at, int n)
{
    if (n <= 0)
        return _mm256_setzero_ps();
    __m256 x = load_elements(dtype, src, n);
    if (run->exponent)
        x = _mm256_mul_ps(x, unit);
    if (run->inverse)
        x = _mm256_sub_ps(_mm256_mul_ps(x, load_floats(run->inverse + at, n)),
                          load_floats(run->offset + at, n));
    return x;
}

/* --- the search for a scale ------------------------------------------------------------------ */

/* Squared errors at places, by bytes. */
INLINE __m256i look_up(const uint8_t square[TAHX_PLACES], __m256i place)
{
    __m256i part[4];
    for (int i = 0; i < 4; i++)
        part[i] = _mm256_shuffle_epi8(
            _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)square + i)), place);
    const __m256i bit4 = _mm256_slli_epi16(place, 3), bit5 = _mm256_slli_epi16(place, 2);
    return _mm256_blendv_epi8(_mm256_blendv_epi8(part[0], part[1], bit4),
                              _mm256_blendv_epi8(part[2], part[3], bit4), bit5);
}

/* Weighted squared errors of 32 values of fixed point at the scales that are tried. */
INLINE void errors_add(const __m256i fixed[2], const tahx_steps_t *steps, const uint8_t *square,
                       __m256i weight, __m256i sums[TAHX_STEPS])
{
    const __m256i low = _mm256_abs_epi16(fixed[0]), high = _mm256_abs_epi16(fixed[1]);
    for (int i = 0; i < TAHX_STEPS; i++) {
        const __m256i factor = _mm256_set1_epi16((short)steps->place[i]);
        const __m256i place =
            _mm256_packus_epi16(_mm256_mulhi_epu16(low, factor), _mm256_mulhi_epu16(high, factor));
        /* Two of 255 * 64 fit in 16 bits with a sign. */
        const __m256i error = _mm256_maddubs_epi16(look_up(square, place), weight);
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(error, _mm256_set1_epi16(1)));
    }
}

/* The first of the scales with the least error. */
INLINE unsigned least_error(const __m256i sums[TAHX_STEPS], const tahx_steps_t *steps,
                            unsigned tried)
{
    const __m256i halves =
        _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    const __m128i sum =
        _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
    const __m128i valid = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)tried), bit), bit);
    const __m128 error = _mm_blendv_ps(
        _mm_set1_ps(INFINITY), _mm_mul_ps(_mm_cvtepi32_ps(sum), _mm_loadu_ps(steps->square)),
        _mm_castsi128_ps(valid));
    __m128 least = _mm_min_ps(error, _mm_shuffle_ps(error, error, 0x4e));
    least = _mm_min_ps(least, _mm_shuffle_ps(least, least, 0xb1));
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_ps(_mm_cmpeq_ps(error, least)));
}

/* The weights of 32 values of which n count, where errors_add wants them. */
INLINE __m256i weights_load(const int8_t *weight, unsigned n)
{
    int8_t part[BLOCK] = {0};
    __m256i own;
    if (weight && n >= BLOCK) {
        own = _mm256_loadu_si256((const __m256i *)(const void *)weight);
    } else if (n >= BLOCK) {
        own = _mm256_set1_epi8(1);
    } else {
        if (weight)
            memcpy(part, weight, n);
        else
            memset(part, 1, n);
        own = _mm256_loadu_si256((const __m256i *)(const void *)part);
    }
    return _mm256_permutevar8x32_epi32(own, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

/* --- codes ----------------------------------------------------------------------------------- */

/* What a width needs. Lifts are looked up byte by byte: of the first 16 bins and of the others. */
typedef struct cells {
    unsigned width;
    __m256i first, second, start, low[2], high[2];
} cells_t;

static cells_t cells_of(const tahx_book_t *book, unsigned width)
{
    uint8_t low[TAHX_BINS] = {0}, high[TAHX_BINS] = {0};
    for (unsigned i = 0; width <= TAHX_EDGED && i < TAHX_BINS; i++) {
        low[i] = (uint8_t)book->lift[width - 1][i];
        high[i] = (uint8_t)(book->lift[width - 1][i] >> 8);
    }
    cells_t cells = {
        .width = width,
        .first = _mm256_set1_epi16((short)book->first),
        .second = _mm256_set1_epi16((short)book->second),
        .start = _mm256_set1_epi16((short)book->start),
    };
    for (int i = 0; i < 2; i++) {
        cells.low[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)low + i));
        cells.high[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)high + i));
    }
    return cells;
}

/* The high bytes of 16-bit numbers: of each 128 bits, eight of the first and eight of the second. */
INLINE __m256i high_bytes(__m256i first, __m256i second)
{
    return _mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8));
}

/* The cells of 16 magnitudes of wide codes, in the bits below the highest. */
INLINE __m256i cells_wide(const cells_t *cells, __m256i v)
{
    const __m256i u = _mm256_add_epi16(v, v);
    const __m256i one = _mm256_mulhi_epu16(u, cells->first);
    const __m256i two = _mm256_add_epi16(_mm256_mulhi_epu16(u, cells->second), cells->start);
    const __m256i least =
        _mm256_min_epu16(_mm256_min_epu16(one, two), _mm256_set1_epi16((1 << TAHX_LEVEL_BITS) - 1));
    return _mm256_add_epi16(least, least);
}

/*
 * The codes of a block, in the order of elements: the sign in the highest bit, the cell in those
 * from bit 1 on or, of wide codes, in those below the sign.
 */
INLINE __m256i codes_of(const cells_t *cells, const __m256i fixed[2], __m256i ratio)
{
    __m256i v[2], cell[2];
    for (int i = 0; i < 2; i++)
        v[i] = _mm256_mulhi_epu16(_mm256_abs_epi16(fixed[i]), ratio);
    if (cells->width <= TAHX_EDGED) {
        const __m256i last = _mm256_set1_epi16((1 << TAHX_LEVEL_BITS) - 1);
        for (int i = 0; i < 2; i++)
            v[i] = _mm256_min_epu16(v[i], last);
        const __m256i bin = _mm256_packus_epi16(_mm256_srli_epi16(v[0], TAHX_BIN_BITS),
                                                _mm256_srli_epi16(v[1], TAHX_BIN_BITS));
        const __m256i upper = _mm256_slli_epi16(bin, 3);
        const __m256i low = _mm256_blendv_epi8(_mm256_shuffle_epi8(cells->low[0], bin),
                                               _mm256_shuffle_epi8(cells->low[1], bin), upper);
        const __m256i high = _mm256_blendv_epi8(_mm256_shuffle_epi8(cells->high[0], bin),
                                                _mm256_shuffle_epi8(cells->high[1], bin), upper);
        cell[0] = _mm256_add_epi16(v[0], _mm256_unpacklo_epi8(low, high));
        cell[1] = _mm256_add_epi16(v[1], _mm256_unpackhi_epi8(low, high));
    } else {
        for (int i = 0; i < 2; i++)
            cell[i] = cells_wide(cells, v[i]);
    }
    const __m256i sign = _mm256_and_si256(_mm256_packs_epi16(fixed[0], fixed[1]),
                                          _mm256_set1_epi8((char)0x80));
    return _mm256_permutevar8x32_epi32(_mm256_or_si256(sign, high_bytes(cell[0], cell[1])),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* The planes of a block of codes: of each, what is in its highest bit after so many shifts. */
INLINE void planes_of(__m256i codes, unsigned width, uint32_t planes[TAHX_WIDTH_MAX])
{
    planes[width - 1] = (uint32_t)_mm256_movemask_epi8(codes);
    codes = _mm256_sll_epi16(codes, _mm_cvtsi32_si128(width <= TAHX_EDGED ? 8 - (int)width : 1));
    for (unsigned bit = width - 1; bit-- > 0; codes = _mm256_add_epi8(codes, codes))
        planes[bit] = (uint32_t)_mm256_movemask_epi8(codes);
}

/* Writes the planes of a tile of n codes. */
INLINE void planes_store(const __m256i *codes, unsigned n, unsigned width, uint8_t *out)
{
    for (unsigned first = 0; first < n; first += 64, codes += 2) {
        const unsigned count = n - first < 64 ? n - first : 64, bytes = (count + 7) / 8;
        uint32_t planes[2][TAHX_WIDTH_MAX] = {{0}};
        for (unsigned part = 0; part < (count > BLOCK ? 2 : 1); part++)
            planes_of(codes[part], width, planes[part]);
        for (unsigned bit = 0; bit < width; bit++, out += bytes) {
            const uint64_t plane = planes[0][bit] | (uint64_t)planes[1][bit] << 32;
            if (bytes == 8)
                store_u64(out, plane);
            else if (bytes == 4)
                store_u32(out, (uint32_t)plane);
            else
                memcpy(out, &plane, bytes);
        }
    }
}

/* Encodes a tile of n elements with codes of at least 1 bit, from number at of the run on. */
INLINE void tile_store(const tahx_run_t *run, const uint8_t *src, unsigned at, unsigned n,
                       uint8_t *byte, unsigned tried, const cells_t *cells, uint8_t *out,
                       tah_dtype_t dtype, unsigned element)
{
    const tahx_steps_t *steps = &tahx_steps[*byte % 16];
    const __m256 inverse = _mm256_set1_ps(run->widths->inverse[*byte]);
    const __m256 unit = _mm256_set1_ps(float_power(-run->exponent));
    __m256i fixed[TILE_MAX / 16], codes[TILE_MAX / BLOCK], sums[TAHX_STEPS] = {_mm256_setzero_si256()};
    const bool search = cells->width <= TAHX_EDGED;
    for (unsigned first = 0; first < n; first += BLOCK) {
        __m256i whole[VECTORS], *own = fixed + first / 16;
        for (unsigned v = 0; v < VECTORS; v++) {
            const unsigned i = first + v * LANES;
            const __m256 y =
                load_coded(run, dtype, unit, src + (size_t)i * element, at + i, (int)n - (int)i);
            whole[v] = _mm256_cvttps_epi32(_mm256_mul_ps(y, inverse));
        }
        for (int half = 0; half < 2; half++)
            own[half] = _mm256_packs_epi32(whole[2 * half], whole[2 * half + 1]);
        if (search)
            errors_add(own, steps, run->shape->book->square[cells->width - 1],
                       weights_load(run->weight ? run->weight + at + first : NULL, n - first),
                       sums);
    }
    const unsigned step = search ? least_error(sums, steps, tried) : 1;
    const __m256i ratio = _mm256_set1_epi16((short)steps->ratio[step]);
    *byte = (uint8_t)(*byte - 1 + step);
    for (unsigned i = 0; i < (n + BLOCK - 1) / BLOCK; i++)
        codes[i] = codes_of(cells, fixed + 2 * i, ratio);
    planes_store(codes, n, cells->width, out);
}

INLINE size_t encode_run(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                         size_t room, tah_dtype_t dtype, unsigned element, unsigned tile)
{
    cells_t cells[TAHX_WIDTH_MAX + 1];
    unsigned filled = 0; /* a bit for each width */
    uint64_t number = run->first;
    size_t used = 0;
    for (unsigned at = 0; at < run->n; at += tile, bytes++, number++) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        const uint8_t *own = src + (size_t)at * element;
        if (*bytes < TAHX_COARSEST) {
            const size_t taken = tahx_tile_encode(run, own, at, n, bytes, out + used, room - used);
            if (taken == SIZE_MAX)
                return SIZE_MAX;
            used += taken;
            continue;
        }
        const unsigned width = tahx_width(run->widths, *bytes, number);
        const unsigned tried = tahx_tried(run->widths, *bytes, number);
        if (room - used < tile_code_bytes(n, width))
            return SIZE_MAX;
        if (width == 0)
            continue;
        if (!(filled >> width & 1))
            cells[width] = cells_of(run->shape->book, width);
        filled |= 1u << width;
        if (n == tile)
            tile_store(run, own, at, tile, bytes, tried, &cells[width], out + used, dtype, element);
        else
            tile_store(run, own, at, n, bytes, tried, &cells[width], out + used, dtype, element);
        used += tile_code_bytes(n, width);
    }
    return used;
}

/* Of the tile sizes, the common ones have code of their own. */
INLINE size_t encode_type(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room, tah_dtype_t dtype, unsigned element)
{
    if (run->shape->tile == 32)
        return encode_run(run, src, bytes, out, room, dtype, element, 32);
    return encode_run(run, src, bytes, out, room, dtype, element, run->shape->tile);
}

size_t tahx_avx2_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                        size_t room)
{
    if (run->dtype == TAH_FLOAT32)
        return encode_type(run, src, bytes, out, room, TAH_FLOAT32, 4);
    if (run->dtype == TAH_BFLOAT16)
        return encode_type(run, src, bytes, out, room, TAH_BFLOAT16, 2);
    if (run->dtype == TAH_FLOAT16)
        return encode_type(run, src, bytes, out, room, TAH_FLOAT16, 2);
    return tahx_kernel_scalar.encode(run, src, bytes, out, room);
}
