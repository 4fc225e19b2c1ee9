/*
 * What the vector kernels of tahx find out of a tensor before they code it: peaks, sums, norms of
 * rows. Included behind one of the simd_*.h, it is the same for all of them; float64 goes to the
 * reference.
 */
#include "codec/tahx.h"

#include <math.h>

#define SCAN_TILES SIMD_LANES
#define SCAN_SQUARES 64 /* vectors of squares below 2^24 that 32 bits can hold the sum of */

/* A vector of elements as floats. */
SIMD vf elements_load(tah_dtype_t dtype, const uint8_t *at)
{
    return dtype == TAH_FLOAT32    ? vf_load(at)
           : dtype == TAH_BFLOAT16 ? vf_load_bfloat16(at)
                                   : vf_load_float16(at);
}

/* The same of n elements, fewer than that, and zeros. */
SIMD vf elements_load_part(tah_dtype_t dtype, const uint8_t *at, unsigned n)
{
    uint8_t part[SIMD_LANES * sizeof(float)] = {0};
    memcpy(part, at, n * (dtype == TAH_FLOAT32 ? 4 : 2));
    return elements_load(dtype, part);
}

/* Magnitudes of what is finite, else 0. */
SIMD vf magnitudes_finite(vf x)
{
    const vf magnitude = vf_abs(x);
    return vf_choose(vf_above(vf_set1(INFINITY), magnitude), magnitude, vf_set1(0));
}

/* --- peaks ----------------------------------------------------------------------------------- */

/* How values are coded: copies of what a run has, as a pointer to bytes might point at it. */
typedef struct coding {
    const float *inverse, *offset;
    vf unit;
    bool vectors; /* there are inverse and offset */
} coding_t;

/* The largest magnitudes in the lanes of some vectors, from element at of a run on. */
SIMD vf largest_of(const coding_t *coding, const uint8_t *src, unsigned at, unsigned vectors,
                   tah_dtype_t dtype, unsigned element)
{
    vf largest = vf_set1(0);
#pragma GCC unroll 4
    for (unsigned i = 0; i < vectors * SIMD_LANES; i += SIMD_LANES) {
        __builtin_prefetch(src + (size_t)(at + i) * element + 4096);
        vf x = vf_mul(elements_load(dtype, src + (size_t)(at + i) * element), coding->unit);
        if (coding->vectors)
            x = vf_sub(vf_mul(x, vf_load(coding->inverse + at + i)),
                       vf_load(coding->offset + at + i));
        largest = vf_larger(largest, vf_abs(x));
    }
    return largest;
}

/* The same for a tile of n elements that are not whole vectors: with zeros behind them. */
SIMD vf largest_of_part(const coding_t *coding, const uint8_t *src, unsigned at, unsigned n,
                        tah_dtype_t dtype, unsigned element)
{
    uint8_t elements[TILE_MAX * sizeof(float)] = {0};
    float inverse[TILE_MAX] = {0}, offset[TILE_MAX] = {0};
    coding_t own = *coding;
    memcpy(elements, src + (size_t)at * element, (size_t)n * element);
    if (coding->vectors) {
        own.inverse = memcpy(inverse, coding->inverse + at, n * sizeof *inverse);
        own.offset = memcpy(offset, coding->offset + at, n * sizeof *offset);
    }
    return largest_of(&own, elements, 0, (n + SIMD_LANES - 1) / SIMD_LANES, dtype, element);
}

SIMD void peaks_of(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks, tah_dtype_t dtype,
                   unsigned element, unsigned tile, bool vectors)
{
    const coding_t coding = {
        .inverse = run->inverse,
        .offset = run->offset,
        .unit = vf_set1(float_power(-run->exponent)),
        .vectors = vectors,
    };
    const unsigned n = run->n, tiles = tahx_run_tiles(run), rest = n % tile;
    for (unsigned first = 0; first < tiles; first += SCAN_TILES) {
        const unsigned count = tiles - first < SCAN_TILES ? tiles - first : SCAN_TILES;
        uint16_t found[SCAN_TILES];
        vf most[SCAN_TILES];
        for (unsigned t = 0; t < SCAN_TILES; t++) {
            const unsigned at = (first + t) * tile;
            if (at + tile <= n)
                most[t] = largest_of(&coding, src, at, tile / SIMD_LANES, dtype, element);
            else
                most[t] = at < n ? largest_of_part(&coding, src, at, rest, dtype, element)
                                 : vf_set1(0);
        }
        const vf largest = vf_larger_across(most);
        const vi prefix = vi_down(vi_add(vf_bits(largest), vi_set1(0x7ffff)), 19);
        vi_store16(found, vi_choose(vf_above(vf_set1(INFINITY), largest), prefix,
                                    vi_set1(TAHX_NOT_FINITE)));
        memcpy(peaks + first, found, count * sizeof *peaks);
    }
}

/* Of the tile sizes, the common ones have code of their own. */
SIMD void peaks_type(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks, tah_dtype_t dtype,
                     unsigned element)
{
    const bool vectors = run->inverse != NULL;
    if (run->shape->tile == 32 && vectors)
        peaks_of(run, src, peaks, dtype, element, 32, true);
    else if (run->shape->tile == 32)
        peaks_of(run, src, peaks, dtype, element, 32, false);
    else if (run->shape->tile == 64)
        peaks_of(run, src, peaks, dtype, element, 64, vectors);
    else
        peaks_of(run, src, peaks, dtype, element, run->shape->tile, vectors);
}

static void vector_peaks(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks)
{
    if (run->dtype == TAH_FLOAT32)
        peaks_type(run, src, peaks, TAH_FLOAT32, 4);
    else if (run->dtype == TAH_BFLOAT16)
        peaks_type(run, src, peaks, TAH_BFLOAT16, 2);
    else if (run->dtype == TAH_FLOAT16)
        peaks_type(run, src, peaks, TAH_FLOAT16, 2);
    else
        tahx_kernel_scalar.peaks(run, src, peaks);
}

/* --- sums ------------------------------------------------------------------------------------ */

static void vector_sum(tah_dtype_t dtype, const uint8_t *src, unsigned n, float unit,
                       const float *about, float *sum)
{
    const size_t element = tah_dtype_bytes(dtype);
    unsigned at = 0;
    for (; at + SIMD_LANES <= n && dtype != TAH_FLOAT64; at += SIMD_LANES) {
        const vf y = elements_load(dtype, src + at * element);
        const vm finite = vf_above(vf_set1(INFINITY), vf_abs(y));
        vf x = vf_mul(vf_choose(finite, y, vf_set1(0)), vf_set1(unit));
        if (about)
            x = vf_abs(vf_sub(x, vf_load(about + at)));
        vf_store(sum + at, vf_add(vf_load(sum + at), x));
    }
    if (at < n)
        tahx_kernel_scalar.sum(dtype, src + at * element, n - at, unit, about ? about + at : NULL,
                               sum + at);
}

/* --- norms ----------------------------------------------------------------------------------- */

/* Squares of magnitudes shifted so that peak has 12 bits: see tahx_kernel_t.squares. */
SIMD vi squares_of(vf x, vi shift)
{
    const vi bits = vf_bits(magnitudes_finite(x));
    const vi significand = vi_or(vi_and(bits, vi_set1(0x7fffff)), vi_set1(0x800000));
    const vm normal = vi_above(bits, vi_set1(FLOAT_NORMAL_BITS - 1));
    const vi a = vi_down_each(significand, vi_sub(shift, vi_down(bits, 23)));
    const vi kept = vi_choose(normal, a, vi_set1(0));
    return vi_dot16(kept, kept);
}

SIMD uint32_t peak_type(tah_dtype_t dtype, const uint8_t *src, uint64_t n, unsigned element)
{
    vf most = vf_set1(0);
    uint64_t at = 0;
    for (; at + SIMD_LANES <= n; at += SIMD_LANES)
        most = vf_max(most, magnitudes_finite(elements_load(dtype, src + at * element)));
    if (at < n)
        most = vf_max(most, magnitudes_finite(elements_load_part(dtype, src + at * element,
                                                                 (unsigned)(n - at))));
    return float_bits(vf_most(most));
}

SIMD uint64_t squares_type(tah_dtype_t dtype, const uint8_t *src, uint64_t n, unsigned element,
                           uint32_t peak)
{
    const vi shift = vi_set1(12 + (peak >> 23));
    uint64_t total = 0, at = 0;
    while (at < n) {
        uint32_t parts[SIMD_LANES];
        vi sum = vi_set1(0);
        for (unsigned i = 0; i < SCAN_SQUARES && at < n; i++, at += SIMD_LANES) {
            const uint8_t *own = src + at * element;
            const vf x = n - at < SIMD_LANES ? elements_load_part(dtype, own, (unsigned)(n - at))
                                             : elements_load(dtype, own);
            sum = vi_add(sum, squares_of(x, shift));
        }
        vi_store(parts, sum);
        for (unsigned i = 0; i < SIMD_LANES; i++)
            total += parts[i];
    }
    return total;
}

static uint64_t vector_squares(tah_dtype_t dtype, const uint8_t *src, uint64_t n, uint32_t *peak)
{
    switch (dtype) {
    case TAH_FLOAT32:
        *peak = peak_type(TAH_FLOAT32, src, n, 4);
        return squares_type(TAH_FLOAT32, src, n, 4, *peak);
    case TAH_BFLOAT16:
        *peak = peak_type(TAH_BFLOAT16, src, n, 2);
        return squares_type(TAH_BFLOAT16, src, n, 2, *peak);
    case TAH_FLOAT16:
        *peak = peak_type(TAH_FLOAT16, src, n, 2);
        return squares_type(TAH_FLOAT16, src, n, 2, *peak);
    default:
        return tahx_kernel_scalar.squares(dtype, src, n, peak);
    }
}
