/* The AVX2 kernel: encoding of runs of tiles. */
#include "codec/kernel_avx2.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/grid_fast.h"
#include "codec/tahx.h"

/* What does not change within a run. */
typedef struct run_setup {
    const tile_job_t *job;
    grid_width_t widths[9]; /* by bits; last is 0 where not yet filled */
} run_setup_t;

/* A tile on its way. */
typedef struct tile_vectors {
    __m256i x[VECTORS_MAX];
    int unit;
    unsigned order, pivot;
    int32_t low, high;
} tile_vectors_t;

/*
 * Loads a tile as fixed point and finds its extremes. False: its elements are all equal, not all
 * finite, or so small that the reference has to deal with them.
 */
static inline __attribute__((always_inline)) bool
load_tile(const uint8_t *src, unsigned vectors, tile_vectors_t *tile, int32_t *largest)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    const __m256i first = _mm256_set1_epi32((int32_t)load_u32(src));
    __m256i peak = _mm256_setzero_si256(), differ = peak, value[VECTORS_MAX];
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        value[i] = _mm256_loadu_si256((const __m256i *)(src + i * 32));
        peak = _mm256_max_epi32(peak, _mm256_and_si256(value[i], magnitude));
        differ = _mm256_or_si256(differ, _mm256_xor_si256(value[i], first));
    }
    const int32_t most = avx2_most(peak);
    if (most >> 23 < AVX2_EXPONENT_LEAST || most >= (int32_t)FLOAT_INFINITY_BITS ||
        _mm256_testz_si256(differ, differ))
        return false;
    tile->unit = (most >> 23) - 126 - TILE_FIXED_BITS;
    tile->order = tile->pivot = 0;
    const __m256 power = _mm256_set1_ps(float_power(-tile->unit));
    __m256i low = _mm256_set1_epi32(INT32_MAX), high = _mm256_set1_epi32(INT32_MIN);
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        tile->x[i] = avx2_fix(value[i], power);
        low = _mm256_min_epi32(low, tile->x[i]);
        high = _mm256_max_epi32(high, tile->x[i]);
    }
    tile->low = avx2_least(low);
    tile->high = avx2_most(high);
    *largest = tile->high > -tile->low ? tile->high : -tile->low;
    return true;
}

/* As tile_pivot. */
static inline __attribute__((always_inline)) bool
find_pivot(const tile_vectors_t *tile, unsigned vectors, int32_t largest, unsigned *pivot)
{
    const __m256i limit = _mm256_set1_epi32(largest);
    unsigned above = 0, last = 0;
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        const __m256i size = _mm256_abs_epi32(tile->x[i]);
        const __m256i over = _mm256_cmpgt_epi32(_mm256_add_epi32(size, size), limit);
        const unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(over));
        above += (unsigned)__builtin_popcount(mask);
        last = mask ? i * LANES + (31 - (unsigned)__builtin_clz(mask)) : last;
    }
    *pivot = last;
    return above == 1;
}

/* As coded_rotate of the reference; the tile is unchanged where it says no. */
static bool rotate_tile(const tile_job_t *job, tile_vectors_t *tile, unsigned vectors,
                        unsigned pivot)
{
    tile_vectors_t turned = *tile;
    int32_t ends[VECTORS_MAX * LANES];
    memcpy(ends, tile->x, vectors * sizeof *tile->x);
    const int32_t first = ends[0];
    ends[0] = ends[pivot];
    ends[pivot] = first;
    memcpy(turned.x, ends, vectors * sizeof *tile->x);
    avx2_hadamard(turned.x, vectors);
    __m256i low = turned.x[0], high = turned.x[0];
    for (unsigned i = 1; i < vectors; i++) {
        low = _mm256_min_epi32(low, turned.x[i]);
        high = _mm256_max_epi32(high, turned.x[i]);
    }
    turned.order = tile_log2(vectors * LANES);
    turned.unit -= (int)turned.order;
    turned.pivot = pivot;
    turned.low = avx2_least(low);
    turned.high = avx2_most(high);
    if (job->hadamard == TAH_HADAMARD_BEST) {
        const uint64_t before = (uint64_t)(tile->high - (int64_t)tile->low);
        const uint64_t after = (uint64_t)(turned.high - (int64_t)turned.low);
        if (after * after >= before * before << turned.order)
            return false;
    }
    *tile = turned;
    return true;
}

/* Codes of two vectors, 16 bits each. */
static inline __m256i quantise(__m256i a, __m256i b, __m256i zero, __m128i shift, __m256i inverse,
                               __m256i offset, __m128i fraction, __m256i last)
{
    a = _mm256_sra_epi32(_mm256_sub_epi32(a, zero), shift);
    b = _mm256_sra_epi32(_mm256_sub_epi32(b, zero), shift);
    /* The packing saturates as grid_distance does, and interleaves halves. */
    const __m256i distance = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
    const __m256i product = _mm256_adds_epu16(_mm256_mulhi_epu16(distance, inverse), offset);
    return _mm256_min_epu16(_mm256_srl_epi16(product, fraction), last);
}

/*
 * Codes to bit planes: in each block of 64 codes (or all of them, where there are fewer), plane by
 * plane, eight codes a byte.
 */
static inline __attribute__((always_inline)) uint8_t *
pack_codes(const __m256i *codes, unsigned vectors, unsigned bits, uint8_t *out)
{
    const __m128i up = _mm_cvtsi32_si128((int)(8 - bits));
    if (vectors == 2) { /* 16 codes, in one vector of 16 bits each */
        __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(codes[0]),
                                         _mm256_extracti128_si256(codes[0], 1));
        bytes = _mm_sll_epi16(bytes, up);
        for (unsigned bit = bits; bit-- > 0; bytes = _mm_add_epi8(bytes, bytes)) {
            const uint16_t plane = (uint16_t)_mm_movemask_epi8(bytes);
            memcpy(out + 2 * bit, &plane, sizeof plane);
        }
        return out + 2 * bits;
    }
    const unsigned per_block = vectors < 8 ? vectors : 8; /* vectors of 8 codes */
    for (unsigned block = 0; block < vectors; block += per_block) {
        __m256i bytes[2];
        for (unsigned i = 0; i < per_block / 4; i++) {
            const __m256i pair = _mm256_packus_epi16(codes[block / 2 + 2 * i],
                                                     codes[block / 2 + 2 * i + 1]);
            bytes[i] = _mm256_sll_epi16(_mm256_permute4x64_epi64(pair, 0xd8), up);
        }
        for (unsigned bit = bits; bit-- > 0;) {
            UNROLLED
            for (unsigned i = 0; i < per_block / 4; i++) {
                const uint32_t plane = (uint32_t)_mm256_movemask_epi8(bytes[i]);
                memcpy(out + bit * per_block + 4 * i, &plane, sizeof plane);
                bytes[i] = _mm256_add_epi8(bytes[i], bytes[i]);
            }
        }
        out += bits * per_block;
    }
    return out;
}

/*
 * One tile. Returns the bytes of the stream used, 0 where the reference has to encode it (nothing
 * is then written), SIZE_MAX where room is too small.
 */
static inline __attribute__((always_inline)) size_t
encode_tile(run_setup_t *setup, const uint8_t *src, unsigned vectors, unsigned bits,
            uint8_t *record, uint8_t *out, size_t room, tile_counts_t *counts)
{
    tile_vectors_t tile;
    tile_grid_t grid;
    int32_t largest;
    unsigned pivot, shift;
    if (!load_tile(src, vectors, &tile, &largest))
        return 0;
    const bool rotated = setup->job->hadamard != TAH_HADAMARD_OFF &&
                         find_pivot(&tile, vectors, largest, &pivot) &&
                         rotate_tile(setup->job, &tile, vectors, pivot);
    if (setup->widths[bits].last == 0)
        setup->widths[bits] = grid_width(bits);
    if (!grid_fast(tile.low, tile.high, &setup->widths[bits], tile.unit, &grid, &shift))
        return 0;
    const size_t bytes = rotated + tile_code_bytes(vectors * LANES, bits);
    if (room < bytes)
        return SIZE_MAX;
    const __m256i zero = _mm256_set1_epi32((int32_t)((uint32_t)grid.zero << shift));
    const __m256i inverse = _mm256_set1_epi16((int16_t)grid_inverse(grid.step));
    const __m256i offset = _mm256_set1_epi16((int16_t)(grid_half(bits) + 1));
    const __m256i last = _mm256_set1_epi16((int16_t)((1u << bits) - 1));
    const __m128i down = _mm_cvtsi32_si128((int)(shift + bits) - 7);
    const __m128i fraction = _mm_cvtsi32_si128((int)(15 - bits));
    __m256i codes[VECTORS_MAX / 2];
    UNROLLED
    for (unsigned i = 0; i < vectors; i += 2)
        codes[i / 2] = quantise(tile.x[i], tile.x[i + 1], zero, down, inverse, offset, fraction,
                                last);
    store_u32(record, record_pack(&grid, rotated));
    if (rotated)
        *out++ = (uint8_t)tile.pivot;
    pack_codes(codes, vectors, bits, out);
    counts->rotated += rotated;
    return bytes;
}

static inline __attribute__((always_inline)) size_t
encode_run(const tile_run_t *run, const uint8_t *src, unsigned vectors, uint8_t *records,
           uint8_t *out, size_t room, tile_counts_t *counts)
{
    run_setup_t setup = {.job = run->job};
    const unsigned n = run->n, element = run->job->element;
    size_t used = 0;
    for (unsigned t = 0; t < run->tiles; t++, src += (size_t)n * element) {
        uint32_t values[TILE_MAX], peak;
        const uint8_t *patterns = src;
        const unsigned bits = run->widths[t];
        size_t bytes = 0;
        bool good = true;
        if (run->job->dtype != TAH_FLOAT32) {
            /* Elements that differ may have one pattern: equality is the reference's matter. */
            good = memcmp(src, src + element, (size_t)(n - 1) * element) != 0 &&
                   convert_load(run->job->dtype, src, n, values, &peak);
            patterns = (const uint8_t *)values;
        }
        if (good)
            bytes = encode_tile(&setup, patterns, vectors, bits, records + t * TILE_RECORD,
                                out + used, room - used, counts);
        if (bytes == 0)
            bytes = tile_encode(run->job, run->first + t, src, n, bits, records + t * TILE_RECORD,
                                out + used, room - used, counts);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
    }
    return used;
}

size_t avx2_encode(const tile_run_t *run, const uint8_t *src, uint8_t *records, uint8_t *out,
                   size_t room, tile_counts_t *counts)
{
    const tile_job_t *job = run->job;
    if (job->rounding == TAH_ROUND_NEAREST && !job->search) {
        switch (run->n) {
        case 16:
            return encode_run(run, src, 2, records, out, room, counts);
        case 32:
            return encode_run(run, src, 4, records, out, room, counts);
        case 64:
            return encode_run(run, src, 8, records, out, room, counts);
        case 128:
            return encode_run(run, src, 16, records, out, room, counts);
        case 256:
            return encode_run(run, src, 32, records, out, room, counts);
        default:
            break;
        }
    }
    return kernel_scalar.encode(run, src, records, out, room, counts);
}

const kernel_t kernel_avx2 = {
    .name = "avx2",
    .encode = avx2_encode,
    .decode = avx2_decode,
    .entropy = avx2_entropy,
    .range = avx2_range,
    .tahx = &tahx_kernel_scalar,
};
