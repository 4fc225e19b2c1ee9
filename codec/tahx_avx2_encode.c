/* The AVX2 kernel of tahx: from elements to codes. */
#include "codec/tahx_avx2.h"

#include "codec/bytes.h"

#include <math.h>

#define VECTOR_BYTES 32
typedef __m128i errors_t; /* of the four scales */
#include "codec/tahx_vector_batch.h"

/* Widths, and scales that are tried. */
INLINE void batch_plan(const setup_t *setup, const uint8_t *bytes, batch_t *batch)
{
    for (unsigned t = 0; t < batch->tiles; t++) {
        batch->widths[t] = (uint8_t)tahx_width(setup->widths, bytes[t], batch->number + t);
        batch->tried[t] = (uint8_t)tahx_tried(setup->widths, bytes[t], batch->number + t);
    }
}

/* A vector of coded values: elements from number at of a run on, of n that count. */
INLINE __m256 values_load(const setup_t *setup, const uint8_t *src, unsigned at, int n,
                          tah_dtype_t dtype)
{
    if (n <= 0)
        return _mm256_setzero_ps();
    __m256 x = load_elements(dtype, src, n);
    if (setup->scaled)
        x = _mm256_mul_ps(x, _mm256_set1_ps(setup->unit));
    if (setup->vectors)
        x = _mm256_sub_ps(_mm256_mul_ps(x, load_floats(setup->inverse + at, n)),
                          load_floats(setup->offset + at, n));
    return x;
}

/* --- the search for a scale ------------------------------------------------------------------ */

/*
 * A table of 64 bytes in quarters, each but the first by what it differs from the one before. As a
 * look-up of 16 bytes gives 0 for a negative index, all quarters up to that of an index make up its
 * byte.
 */
INLINE void table_split(const uint8_t table[TAHX_PLACES], __m256i quarters[4])
{
    const __m128i *quarter = (const __m128i *)(const void *)table;
    __m128i before = _mm_setzero_si128();
    UNROLLED
    for (int i = 0; i < 4; i++) {
        const __m128i own = _mm_loadu_si128(quarter + i);
        quarters[i] = _mm256_broadcastsi128_si256(_mm_xor_si128(own, before));
        before = own;
    }
}

INLINE __m256i look_up(const __m256i quarters[4], __m256i place)
{
    __m256i found = _mm256_shuffle_epi8(quarters[0], place);
    UNROLLED
    for (int i = 1; i < 4; i++)
        found = _mm256_xor_si256(
            found, _mm256_shuffle_epi8(quarters[i], _mm256_sub_epi8(place, _mm256_set1_epi8(
                                                                               (char)(16 * i)))));
    return found;
}

/* Weighted squared errors of 32 values of fixed point at the scales that are tried. */
INLINE void errors_add(const __m256i fixed[2], const tahx_steps_t *steps, const __m256i square[4],
                       __m256i weight, __m256i sums[TAHX_STEPS])
{
    const __m256i low = _mm256_abs_epi16(fixed[0]), high = _mm256_abs_epi16(fixed[1]);
    UNROLLED
    for (int i = 0; i < TAHX_STEPS; i++) {
        const __m256i factor = _mm256_set1_epi16((short)steps->place[i]);
        const __m256i place =
            _mm256_packus_epi16(_mm256_mulhi_epu16(low, factor), _mm256_mulhi_epu16(high, factor));
        /* Two of 255 * 64 fit in 16 bits with a sign. */
        const __m256i error = _mm256_maddubs_epi16(look_up(square, place), weight);
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(error, _mm256_set1_epi16(1)));
    }
}

/* The weights of 32 values of which n count, where errors_add wants them. */
INLINE __m256i weights_load(const setup_t *setup, unsigned at, unsigned n)
{
    int8_t part[UNIT] = {0};
    __m256i own = _mm256_set1_epi8(1);
    if (setup->vectors && n >= UNIT)
        own = _mm256_loadu_si256((const __m256i *)(const void *)(setup->weight + at));
    if (n < UNIT) {
        if (setup->vectors)
            memcpy(part, setup->weight + at, n);
        else
            memset(part, 1, n);
        own = _mm256_loadu_si256((const __m256i *)(const void *)part);
    }
    return _mm256_permutevar8x32_epi32(own, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

/* The first stage, for tile t of a batch: n elements from number at of the run on. */
INLINE void tile_errors(const setup_t *setup, batch_t *batch, unsigned t, const uint8_t *src,
                        unsigned at, unsigned n, uint8_t byte, tah_dtype_t dtype, unsigned element,
                        unsigned tile)
{
    const tahx_steps_t *steps = &tahx_steps[byte % 16];
    __m256i square[4];
    table_split(batch_square(setup, batch, t), square);
    const __m256 inverse = _mm256_set1_ps(setup->widths->inverse[byte]);
    __m256i sums[TAHX_STEPS] = {_mm256_setzero_si256()};
    int16_t *fixed = batch_fixed(batch, t, tile);
    for (unsigned first = 0; first < n; first += UNIT) {
        __m256i whole[VECTORS], own[2];
        prefetch_ahead(src + (size_t)(at + first) * element, UNIT * element);
        UNROLLED
        for (unsigned v = 0; v < VECTORS; v++) {
            const unsigned i = first + v * LANES;
            const __m256 y = values_load(setup, src + (size_t)(at + i) * element, at + i,
                                         n - first >= UNIT ? LANES : (int)n - (int)i, dtype);
            whole[v] = _mm256_cvttps_epi32(_mm256_mul_ps(y, inverse));
        }
        UNROLLED
        for (int half = 0; half < 2; half++) {
            own[half] = _mm256_packs_epi32(whole[2 * half], whole[2 * half + 1]);
            _mm256_store_si256((__m256i *)(void *)(fixed + first) + half, own[half]);
        }
        errors_add(own, steps, square, weights_load(setup, at + first, n - first), sums);
    }
    const __m256i halves =
        _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    batch->errors[t] =
        _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    _mm_store_ps(batch->squares[t], _mm_loadu_ps(steps->square));
}

/* The second stage: the scales with the least errors, which become those of the tiles. */
INLINE void batch_search(batch_t *batch, uint8_t *bytes)
{
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
    for (unsigned t = 0; t < batch->tiles; t++) {
        const __m128i tried = _mm_set1_epi32(batch->tried[t]);
        const __m128i valid = _mm_cmpeq_epi32(_mm_and_si128(tried, bit), bit);
        const __m128 error = _mm_blendv_ps(
            _mm_set1_ps(INFINITY),
            _mm_mul_ps(_mm_cvtepi32_ps(batch->errors[t]), _mm_load_ps(batch->squares[t])),
            _mm_castsi128_ps(valid));
        __m128 least = _mm_min_ps(error, _mm_shuffle_ps(error, error, 0x4e));
        least = _mm_min_ps(least, _mm_shuffle_ps(least, least, 0xb1));
        const unsigned best = (unsigned)_mm_movemask_ps(_mm_cmpeq_ps(error, least));
        const unsigned step = (unsigned)__builtin_ctz(best | 1u << TAHX_STEPS) % TAHX_STEPS;
        batch->ratios[t] = tahx_ratios[bytes[t] % 16][step];
        if (bytes[t] >= TAHX_COARSEST)
            bytes[t] = (uint8_t)(bytes[t] - 1 + step);
    }
}

/* --- codes ----------------------------------------------------------------------------------- */

/* The high bytes of 16-bit numbers: in each 128 bits, eight of the first, eight of the second. */
INLINE __m256i high_bytes(__m256i first, __m256i second)
{
    return _mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8));
}

/* What a width needs. Lifts are looked up byte by byte, in tables that are split as above. */
typedef struct cells {
    unsigned width;
    __m256i first, second, start, low[2], high[2];
} cells_t;

INLINE cells_t cells_of(const tahx_book_t *book, unsigned width)
{
    const unsigned row = width <= TAHX_EDGED ? width - 1 : 0;
    const __m256i *lift = (const __m256i *)(const void *)book->lift[row];
    const __m256i first = _mm256_loadu_si256(lift), second = _mm256_loadu_si256(lift + 1);
    const __m256i byte = _mm256_set1_epi16(0xff);
    const __m256i low = _mm256_permute4x64_epi64(
        _mm256_packus_epi16(_mm256_and_si256(first, byte), _mm256_and_si256(second, byte)), 0xd8);
    const __m256i high = _mm256_permute4x64_epi64(high_bytes(first, second), 0xd8);
    const __m256i low_first = _mm256_permute2x128_si256(low, low, 0);
    const __m256i high_first = _mm256_permute2x128_si256(high, high, 0);
    return (cells_t){
        .width = width,
        .first = _mm256_set1_epi16((short)book->first),
        .second = _mm256_set1_epi16((short)book->second),
        .start = _mm256_set1_epi16((short)book->start),
        .low = {low_first, _mm256_xor_si256(low_first, _mm256_permute2x128_si256(low, low, 0x11))},
        .high = {high_first,
                 _mm256_xor_si256(high_first, _mm256_permute2x128_si256(high, high, 0x11))},
    };
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
    UNROLLED
    for (int i = 0; i < 2; i++)
        v[i] = _mm256_mulhi_epu16(_mm256_abs_epi16(fixed[i]), ratio);
    if (cells->width <= TAHX_EDGED) {
        const __m256i last = _mm256_set1_epi16((1 << TAHX_LEVEL_BITS) - 1);
        UNROLLED
        for (int i = 0; i < 2; i++)
            v[i] = _mm256_min_epu16(v[i], last);
        const __m256i bin = _mm256_packus_epi16(_mm256_srli_epi16(v[0], TAHX_BIN_BITS),
                                                _mm256_srli_epi16(v[1], TAHX_BIN_BITS));
        const __m256i upper = _mm256_sub_epi8(bin, _mm256_set1_epi8(16));
        const __m256i low = _mm256_xor_si256(_mm256_shuffle_epi8(cells->low[0], bin),
                                             _mm256_shuffle_epi8(cells->low[1], upper));
        const __m256i high = _mm256_xor_si256(_mm256_shuffle_epi8(cells->high[0], bin),
                                              _mm256_shuffle_epi8(cells->high[1], upper));
        cell[0] = _mm256_add_epi16(v[0], _mm256_unpacklo_epi8(low, high));
        cell[1] = _mm256_add_epi16(v[1], _mm256_unpackhi_epi8(low, high));
    } else {
        UNROLLED
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

/* Writes the planes of a block of n codes, up to 64. */
INLINE void block_store(const __m256i *codes, unsigned n, unsigned width, uint8_t *out)
{
    const unsigned bytes = (n + 7) / 8;
    uint32_t planes[2][TAHX_WIDTH_MAX] = {{0}};
    for (unsigned part = 0; part < (n > BLOCK ? 2 : 1); part++)
        planes_of(codes[part], width, planes[part]);
    for (unsigned bit = 0; bit < width; bit++, out += bytes) {
        const uint64_t plane = planes[0][bit] | (uint64_t)planes[1][bit] << 32;
        memcpy(out, &plane, bytes);
    }
}

/* One bit of the codes of a block of 32 or 64. */
INLINE uint64_t plane_of(const __m256i *codes, unsigned n, int bit)
{
    uint64_t plane = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(codes[0], 7 - bit));
    if (n > BLOCK)
        plane |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(codes[1], 7 - bit))
                 << 32;
    return plane;
}

/*
 * Likewise of 32 or 64 narrow codes, without a branch by their width: as many planes as there can
 * be, of which those beyond the codes are overwritten by what follows, then the one of signs.
 */
INLINE void block_store_narrow(const __m256i *codes, unsigned n, unsigned width, uint8_t *out)
{
    UNROLLED
    for (unsigned bit = 0; bit < TAHX_EDGED - 1; bit++) {
        const uint64_t plane = plane_of(codes, n, (int)bit + 1);
        memcpy(out + bit * (n / 8), &plane, n / 8);
    }
    const uint64_t signs = plane_of(codes, n, 7);
    memcpy(out + (width - 1) * (n / 8), &signs, n / 8);
}

/* Writes the planes of a tile of n codes; there is room for a vector behind them. */
INLINE void planes_store(const __m256i *codes, unsigned n, unsigned width, uint8_t *out)
{
    for (unsigned first = 0; first < n; first += 64, codes += 2, out += 8 * width) {
        const unsigned count = n - first < 64 ? n - first : 64;
        if (width <= TAHX_EDGED && count == 32)
            block_store_narrow(codes, 32, width, out);
        else if (width <= TAHX_EDGED && count == 64)
            block_store_narrow(codes, 64, width, out);
        else
            block_store(codes, count, width, out);
    }
}

/* Writes the codes of a tile of n values. */
INLINE void tile_store(const cells_t *cells, const int16_t *fixed, unsigned n, uint16_t ratio,
                       uint8_t *out)
{
    const __m256i *values = (const __m256i *)(const void *)fixed;
    const __m256i factor = _mm256_set1_epi16((short)ratio);
    __m256i codes[TILE_MAX / UNIT];
    for (unsigned i = 0; i < n; i += UNIT)
        codes[i / UNIT] = codes_of(cells, values + i / 16, factor);
    planes_store(codes, n, cells->width, out);
}

/* The third stage; returns the bytes written. */
INLINE size_t batch_store(const setup_t *setup, batch_t *batch, const uint8_t *src,
                          const uint8_t *bytes, uint8_t *out, unsigned element, unsigned tile)
{
    uint8_t *const start = out;
    cells_t cells[TAHX_WIDTH_MAX + 1];
    unsigned filled = 0; /* a bit for each width */
    for (unsigned t = 0; t < batch->tiles; t++) {
        const unsigned n = batch_elements(batch, t, tile), width = batch->widths[t];
        const int16_t *fixed = batch_fixed(batch, t, tile);
        if (bytes[t] < TAHX_COARSEST) {
            out += tile_special_encode((tile_kind_t)bytes[t], src + (size_t)t * tile * element, n,
                                       element, out, SIZE_MAX);
            continue;
        }
        if (width == 0)
            continue;
        if (!(filled >> width & 1))
            cells[width] = cells_of(setup->book, width);
        filled |= 1u << width;
        /* Twice, so that the usual one is of a constant size. */
        if (n == tile)
            tile_store(&cells[width], fixed, tile, batch->ratios[t], out);
        else
            tile_store(&cells[width], fixed, n, batch->ratios[t], out);
        out += tile_code_bytes(n, width);
    }
    return (size_t)(out - start);
}

#include "codec/tahx_vector_encode.h"

size_t tahx_avx2_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                        size_t room)
{
    return encode_any(run, src, bytes, out, room);
}
