/* The AVX2 kernel of tahx: peaks, sums, codes. */
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

/* --- peaks and sums -------------------------------------------------------------------------- */

INLINE void peaks_of(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks, tah_dtype_t dtype,
                     unsigned element)
{
    const unsigned tile = run->shape->tile;
    const __m256 unit = _mm256_set1_ps(float_power(-run->exponent));
    for (unsigned first = 0; first < run->n; first += tile) {
        const unsigned end = run->n - first < tile ? run->n : first + tile;
        __m256i most = _mm256_setzero_si256();
        for (unsigned at = first; at < end; at += LANES) {
            const __m256 y =
                load_coded(run, dtype, unit, src + (size_t)at * element, at, (int)(end - at));
            most = _mm256_max_epi32(most, _mm256_castps_si256(magnitude_of(y)));
        }
        __m128i m = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
        const uint32_t largest = (uint32_t)_mm_cvtsi128_si32(m);
        *peaks++ = largest >= FLOAT_INFINITY_BITS ? TAHX_NOT_FINITE
                                                  : (uint16_t)((largest + 0x7ffff) >> 19);
    }
}

static void avx2_peaks(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks)
{
    if (run->dtype == TAH_FLOAT32)
        peaks_of(run, src, peaks, TAH_FLOAT32, 4);
    else if (run->dtype == TAH_BFLOAT16)
        peaks_of(run, src, peaks, TAH_BFLOAT16, 2);
    else if (run->dtype == TAH_FLOAT16)
        peaks_of(run, src, peaks, TAH_FLOAT16, 2);
    else
        tahx_kernel_scalar.peaks(run, src, peaks);
}

static void avx2_sum(tah_dtype_t dtype, const uint8_t *src, unsigned n, float unit,
                     const float *about, float *sum)
{
    const size_t element = tah_dtype_bytes(dtype);
    unsigned at = 0;
    for (; at + LANES <= n && dtype != TAH_FLOAT64; at += LANES) {
        __m256 x = load_elements(dtype, src + at * element, LANES);
        const __m256 finite = _mm256_cmp_ps(magnitude_of(x), _mm256_set1_ps(INFINITY), _CMP_LT_OQ);
        x = _mm256_mul_ps(_mm256_and_ps(x, finite), _mm256_set1_ps(unit));
        if (about)
            x = magnitude_of(_mm256_sub_ps(x, _mm256_loadu_ps(about + at)));
        _mm256_storeu_ps(sum + at, _mm256_add_ps(_mm256_loadu_ps(sum + at), x));
    }
    if (at < n)
        tahx_kernel_scalar.sum(dtype, src + at * element, n - at, unit, about ? about + at : NULL,
                               sum + at);
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
    return _mm256_permute4x64_epi64(own, 0xd8);
}

/* --- codes ----------------------------------------------------------------------------------- */

/* What a width needs. Edges, by the low four bits of 16-bit lanes, are looked up byte by byte. */
typedef struct cells {
    unsigned width;
    __m256i first, second, start, back, edge_low, edge_high;
    __m128i shift;
} cells_t;

static cells_t cells_of(const tahx_book_t *book, unsigned width)
{
    const tahx_compander_t *lines = &book->compander[width >= TAHX_WIDE];
    const bool edged = width <= TAHX_EDGED;
    const unsigned count = edged ? 1u << (width - 1) : 0;
    uint8_t low[16] = {0}, high[16] = {0};
    for (unsigned i = 0; i < count; i++) {
        const unsigned edge = book->edge[count - 1 + i] - 1u;
        low[i] = (uint8_t)edge;
        high[i] = (uint8_t)(edge >> 8);
    }
    return (cells_t){
        .width = width,
        .first = _mm256_set1_epi16((short)lines->first),
        .second = _mm256_set1_epi16((short)lines->second),
        .start = _mm256_set1_epi16((short)lines->start),
        .back = _mm256_set1_epi16(edged ? (short)lines->back : 0),
        .edge_low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)low)),
        .edge_high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)high)),
        .shift = _mm_cvtsi32_si128(TAHX_LEVEL_BITS + 1 - (int)width),
    };
}

/* The codes of 16 values of fixed point, as 16-bit numbers. */
INLINE __m256i codes_of(__m256i fixed, __m256i ratio, const cells_t *cells)
{
    const __m256i value = _mm256_mulhi_epu16(_mm256_abs_epi16(fixed), ratio);
    const __m256i u = _mm256_add_epi16(value, value);
    const __m256i one = _mm256_mulhi_epu16(u, cells->first);
    const __m256i two = _mm256_add_epi16(_mm256_mulhi_epu16(u, cells->second), cells->start);
    __m256i cell =
        _mm256_min_epu16(_mm256_min_epu16(one, two), _mm256_set1_epi16((1 << TAHX_LEVEL_BITS) - 1));
    cell = _mm256_srl_epi16(_mm256_subs_epu16(cell, cells->back), cells->shift);
    if (cells->width <= TAHX_EDGED) {
        /* An index byte with its highest bit set gives 0. */
        const __m256i low = _mm256_shuffle_epi8(
            cells->edge_low, _mm256_or_si256(cell, _mm256_set1_epi16((short)0x8000)));
        const __m256i high = _mm256_shuffle_epi8(
            cells->edge_high, _mm256_or_si256(_mm256_slli_epi16(cell, 8), _mm256_set1_epi16(0x80)));
        cell = _mm256_sub_epi16(cell, _mm256_cmpgt_epi16(value, _mm256_or_si256(low, high)));
    }
    const __m256i sign = _mm256_set1_epi16((short)(1 << (cells->width - 1)));
    return _mm256_or_si256(cell, _mm256_and_si256(_mm256_srai_epi16(fixed, 15), sign));
}

/* Writes the planes of a tile of n codes, a vector for 16 of them. */
INLINE void planes_store(const __m256i *codes, unsigned n, unsigned width, uint8_t *out)
{
    for (unsigned first = 0; first < n; first += 64) {
        const unsigned count = n - first < 64 ? n - first : 64, bytes = (count + 7) / 8;
        __m256i block[2];
        for (unsigned part = 0; part < (count > BLOCK ? 2 : 1); part++) {
            const __m256i *own = codes + first / 16 + 2 * part;
            block[part] = _mm256_permute4x64_epi64(_mm256_packus_epi16(own[0], own[1]), 0xd8);
        }
        for (unsigned bit = 0; bit < width; bit++, out += bytes) {
            const __m128i up = _mm_cvtsi32_si128(7 - (int)bit);
            uint64_t plane = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(block[0], up));
            if (count > BLOCK)
                plane |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(block[1], up))
                         << 32;
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
    const tahx_steps_t *steps = &tahx_steps[(*byte - 1u) % 16];
    const __m256 inverse = _mm256_set1_ps(tahx_scale_inverse(run->shape, *byte - 1u));
    const __m256 unit = _mm256_set1_ps(float_power(-run->exponent));
    __m256i fixed[TILE_MAX / 16], sums[TAHX_STEPS] = {_mm256_setzero_si256()};
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
            own[half] = _mm256_permute4x64_epi64(
                _mm256_packs_epi32(whole[2 * half], whole[2 * half + 1]), 0xd8);
        if (search)
            errors_add(own, steps, run->shape->book->square[cells->width - 1],
                       weights_load(run->weight ? run->weight + at + first : NULL, n - first),
                       sums);
    }
    const unsigned step = search ? least_error(sums, steps, tried) : 1;
    const __m256i ratio = _mm256_set1_epi16((short)steps->ratio[step]);
    *byte = (uint8_t)(*byte - 1 + step);
    for (unsigned i = 0; i < (n + BLOCK - 1) / BLOCK * 2; i++)
        fixed[i] = codes_of(fixed[i], ratio, cells);
    planes_store(fixed, n, cells->width, out);
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

static size_t avx2_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
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

const tahx_kernel_t tahx_kernel_avx2 = {
    .peaks = avx2_peaks,
    .sum = avx2_sum,
    .encode = avx2_encode,
    .decode = tahx_avx2_decode,
};
