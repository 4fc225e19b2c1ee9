/* Coding of one tile: the reference that every kernel has to match bit for bit. */
#include "codec/tile.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/tile_math.h"

#define SEARCH_CUTS 5 /* narrower grids that a range search tries */

/* --- tiles without codes ---------------------------------------------------------------------- */

static bool elements_equal(const uint8_t *src, unsigned n, unsigned element)
{
    return memcmp(src, src + element, (size_t)(n - 1) * element) == 0;
}

static bool element_zero(const uint8_t *src, unsigned element)
{
    static const uint8_t zero[8];
    return memcmp(src, zero, element) == 0;
}

/* Whether every element is +0 or -0. */
static bool elements_zero(const uint8_t *src, unsigned n, unsigned element)
{
    for (unsigned i = 0; i < n; i++, src += element) {
        uint8_t bits = src[element - 1] & 0x7f;
        for (unsigned k = 0; k + 1 < element; k++)
            bits |= src[k];
        if (bits)
            return false;
    }
    return true;
}

bool tile_special(const uint8_t *src, unsigned n, unsigned element, tile_kind_t *kind)
{
    if (elements_equal(src, n, element))
        *kind = element_zero(src, element) ? TILE_ZERO : TILE_CONSTANT;
    else if (elements_zero(src, n, element))
        *kind = TILE_SIGNS;
    else
        return false;
    return true;
}

size_t tile_special_bytes(tile_kind_t kind, unsigned n, unsigned element)
{
    return kind == TILE_ZERO       ? 0
           : kind == TILE_CONSTANT ? element
           : kind == TILE_SIGNS    ? tile_code_bytes(n, 1)
                                   : (size_t)n * element;
}

size_t tile_special_encode(tile_kind_t kind, const uint8_t *src, unsigned n, unsigned element,
                           uint8_t *out, size_t room)
{
    const size_t bytes = tile_special_bytes(kind, n, element);
    if (room < bytes)
        return SIZE_MAX;
    if (kind != TILE_SIGNS) {
        memcpy(out, src, bytes);
        return bytes;
    }
    memset(out, 0, bytes);
    for (unsigned i = 0; i < n; i++)
        out[i / 8] |= (uint8_t)(src[(i + 1) * element - 1] >> 7 << i % 8);
    return bytes;
}

size_t tile_special_decode(uint32_t kind, const uint8_t *in, size_t room, unsigned n,
                           unsigned element, uint8_t *dst)
{
    if (kind >= TILE_KIND_COUNT)
        return SIZE_MAX;
    const size_t bytes = tile_special_bytes((tile_kind_t)kind, n, element);
    if (room < bytes)
        return SIZE_MAX;
    switch ((tile_kind_t)kind) {
    case TILE_CONSTANT:
        for (unsigned i = 0; i < n; i++)
            memcpy(dst + (size_t)i * element, in, element);
        break;
    case TILE_SIGNS:
        if (n % 8 && in[n / 8] >> n % 8)
            return SIZE_MAX;
        memset(dst, 0, (size_t)n * element);
        for (unsigned i = 0; i < n; i++)
            dst[(i + 1) * element - 1] = (uint8_t)((in[i / 8] >> i % 8 & 1) << 7);
        break;
    case TILE_EXACT:
        memcpy(dst, in, bytes);
        break;
    case TILE_ZERO:
    case TILE_KIND_COUNT:
        memset(dst, 0, (size_t)n * element);
        break;
    }
    return bytes;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* The lowest bits of eight bytes, the first one lowest; the reverse. */
static uint8_t bits_gather(uint64_t bytes)
{
    return (uint8_t)((bytes & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56);
}

static uint64_t bits_spread(uint8_t bits)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    const uint64_t own = bits * each & UINT64_C(0x8040201008040201);
    return ((own + 0x7f * each) | own) >> 7 & each;
}

void tile_codes_pack(const uint8_t *codes, unsigned n, unsigned bits, uint8_t *out)
{
    for (unsigned first = 0; first < n; first += 64) {
        const unsigned count = n - first < 64 ? n - first : 64, bytes = (count + 7) / 8;
        for (unsigned i = 0; i < bytes; i++) {
            uint64_t eight = 0;
            memcpy(&eight, codes + first + 8 * i, count - 8 * i < 8 ? count - 8 * i : 8);
            for (unsigned bit = 0; bit < bits; bit++)
                out[bit * bytes + i] = bits_gather(eight >> bit);
        }
        out += bits * bytes;
    }
}

bool tile_codes_unpack(const uint8_t *in, unsigned n, unsigned bits, uint8_t *codes)
{
    for (unsigned first = 0; first < n; first += 64) {
        const unsigned count = n - first < 64 ? n - first : 64, bytes = (count + 7) / 8;
        for (unsigned i = 0; i < bytes; i++) {
            const unsigned own = count - 8 * i < 8 ? count - 8 * i : 8;
            uint64_t eight = 0;
            unsigned all = 0;
            for (unsigned bit = 0; bit < bits; bit++) {
                all |= in[bit * bytes + i];
                eight |= bits_spread(in[bit * bytes + i]) << bit;
            }
            if (all >> own)
                return false;
            memcpy(codes + first + 8 * i, &eight, own);
        }
        in += bits * bytes;
    }
    return true;
}

/* --- whole tiles ------------------------------------------------------------------------------ */

/* The values of a tile as they are coded: times 2^scale, transformed or not. */
typedef struct tile_coded {
    float w[TILE_MAX];
    unsigned n; /* values */
    int scale;
    unsigned order; /* log2 of n where rotated, else 0 */
    unsigned pivot;
    float low, high; /* extremes of w */
} tile_coded_t;

/* Transforms a tile if its job and its values ask for it. */
static bool coded_rotate(const tile_job_t *job, tile_coded_t *tile)
{
    const float largest = -tile->low > tile->high ? -tile->low : tile->high;
    unsigned pivot;
    tile_coded_t turned;
    if (job->hadamard == TAH_HADAMARD_OFF || tile->n < 2 ||
        !tile_pivot(tile->w, tile->n, largest, &pivot))
        return false;
    turned.order = tile_log2(tile->n);
    turned.n = 1u << turned.order;
    turned.scale = tile->scale;
    turned.pivot = pivot;
    tile_swap_pad(tile->w, tile->n, turned.n, pivot, turned.w);
    tile_hadamard(turned.w, turned.order);
    tile_extent(turned.w, turned.n, &turned.low, &turned.high);
    if (job->hadamard == TAH_HADAMARD_BEST &&
        !rotation_shortens(tile->low, tile->high, turned.low, turned.high, turned.order))
        return false;
    *tile = turned;
    return true;
}

/* The nearest code of a place: a sum of this size has no bits below an integer. */
static inline uint8_t code_nearest(float place, float last)
{
    place = place > 0 ? place : 0;
    place = place < last ? place : last;
    return (uint8_t)float_bits(place + 0x1p+23f);
}

/* An odd number of 2^-16: half on average, and an integer plus it is below the next. */
static inline uint8_t code_stochastic(float place, float last, uint32_t number)
{
    place += (float)(number >> 16 | 1) * 0x1p-16f;
    place = place > 0 ? place : 0;
    return (uint8_t)(place < last ? place : last);
}

/* Codes of a tile on a grid; random is NULL to round to nearest, else where its numbers start. */
static void codes_quantise(const tile_coded_t *tile, const grid_fit_t *fit, unsigned last,
                           const uint32_t *random, uint8_t *restrict codes)
{
    const float inverse = 1.0f / fit->step, zero = fit->zero, most = (float)last;
    const float *w = tile->w;
    unsigned i = 0;
    for (; !random && i + CONVERT_LANES <= tile->n; i += CONVERT_LANES)
        for (unsigned k = 0; k < CONVERT_LANES; k++)
            codes[i + k] = code_nearest((w[i + k] - zero) * inverse, most);
    for (; i < tile->n; i++) {
        const float place = (w[i] - zero) * inverse;
        codes[i] = random ? code_stochastic(place, most, random_number(*random, i))
                          : code_nearest(place, most);
    }
}

/* Sum of the squared errors of codes. */
static double codes_error(const tile_coded_t *tile, const grid_fit_t *fit, const uint8_t *codes)
{
    double sum = 0;
    for (unsigned i = 0; i < tile->n; i++) {
        const double error = tile->w[i] - (double)(codes[i] * fit->step + fit->zero);
        sum += error * error;
    }
    return sum;
}

/* Codes of a tile and its record; false where no grid of the format holds it. */
static bool coded_quantise(const tile_job_t *job, uint64_t number, const tile_coded_t *tile,
                           unsigned bits, uint32_t *record, uint8_t *codes)
{
    const bool stochastic = job->rounding == TAH_ROUND_STOCHASTIC;
    const grid_width_t width = grid_width(bits, job->rounding);
    /* The exponent of a record is not below 1. */
    const int lowest = 1 - GRID_RECORD_EXPONENT + (int)tile->order + tile->scale;
    const float least = lowest > 0 ? float_power(lowest - 127) : 0;
    grid_fit_t fit = grid_fit(tile->low, tile->high, &width, least);
    if (!grid_record(&fit, bits, tile->scale, tile->order, record))
        return false;
    const uint32_t random = random_start(job->random, number);
    codes_quantise(tile, &fit, width.last, stochastic ? &random : NULL, codes);
    if (!job->search)
        return true;
    /*
     * Narrower grids, by sixteenths of the range: what is clipped may cost less than a wide step.
     */
    double smallest = codes_error(tile, &fit, codes);
    for (int cut = 1; cut <= SEARCH_CUTS; cut++) {
        uint8_t other[TILE_MAX];
        uint32_t narrow;
        const float edge = (tile->high - tile->low) * ((float)cut / 32);
        fit = grid_fit(tile->low + edge, tile->high - edge, &width, least);
        if (!grid_record(&fit, bits, tile->scale, tile->order, &narrow))
            continue;
        codes_quantise(tile, &fit, width.last, NULL, other);
        const double error = codes_error(tile, &fit, other);
        if (error < smallest) {
            smallest = error;
            *record = narrow;
            memcpy(codes, other, tile->n);
        }
    }
    return true;
}

static size_t encode_special(tile_kind_t kind, const tile_job_t *job, const uint8_t *src,
                             unsigned n, uint8_t *record, uint8_t *out, size_t room)
{
    store_u32(record, kind);
    return tile_special_encode(kind, src, n, job->element, out, room);
}

size_t tile_encode(const tile_job_t *job, uint64_t number, const uint8_t *src, unsigned n,
                   unsigned bits, uint8_t *record, uint8_t *out, size_t room, tile_counts_t *counts)
{
    uint32_t patterns[TILE_MAX], peak, packed;
    uint8_t codes[TILE_MAX];
    tile_coded_t tile;
    tile_kind_t kind;

    tile.n = n;
    tile.order = tile.pivot = 0;
    counts->exact++;
    if (tile_special(src, n, job->element, &kind))
        return encode_special(kind, job, src, n, record, out, room);
    if (!convert_load(job->dtype, src, n, patterns, &peak) ||
        (job->dtype == TAH_FLOAT64 && peak < FLOAT_NORMAL_BITS))
        return encode_special(TILE_EXACT, job, src, n, record, out, room);
    tile.scale = tile_scale(peak);
    tile_values(patterns, n, tile.scale, tile.w);
    tile_extent(tile.w, n, &tile.low, &tile.high);
    const bool rotated = coded_rotate(job, &tile);
    if (!coded_quantise(job, number, &tile, bits, &packed, codes))
        return encode_special(TILE_EXACT, job, src, n, record, out, room);
    counts->exact--;
    counts->rotated += rotated;

    const size_t bytes = rotated + tile_code_bytes(tile.n, bits);
    if (room < bytes)
        return SIZE_MAX;
    store_u32(record, packed);
    if (rotated)
        *out++ = (uint8_t)tile.pivot;
    tile_codes_pack(codes, tile.n, bits, out);
    return bytes;
}

size_t tile_stream_bytes(uint32_t record, unsigned n, unsigned bits, unsigned element)
{
    if (!record_coded(record))
        return record < TILE_KIND_COUNT ? tile_special_bytes((tile_kind_t)record, n, element)
                                        : SIZE_MAX;
    const bool rotated = record_rotated(record);
    return rotated + tile_code_bytes(rotated ? 1u << tile_log2(n) : n, bits);
}

size_t tile_decode(const tile_job_t *job, uint32_t record, const uint8_t *in, size_t room,
                   unsigned n, unsigned bits, uint8_t *dst)
{
    uint8_t codes[TILE_MAX];
    int32_t y[TILE_MAX];
    tile_grid_t grid;
    bool rotated;

    if (!record_coded(record))
        return tile_special_decode(record, in, room, n, job->element, dst);
    if (!record_unpack(record, &grid, &rotated))
        return SIZE_MAX;
    const unsigned order = tile_log2(n), coded = rotated ? 1u << order : n;
    const size_t bytes = tile_stream_bytes(record, n, bits, job->element);
    if (room < bytes || (rotated && (job->hadamard == TAH_HADAMARD_OFF || n < 2 || *in >= n)))
        return SIZE_MAX;
    if (!grid_bounded(&grid, bits, rotated ? order : 0))
        return SIZE_MAX;
    const unsigned pivot = rotated ? *in++ : 0;
    if (!tile_codes_unpack(in, coded, bits, codes))
        return SIZE_MAX;
    for (unsigned i = 0; i < coded; i++)
        y[i] = codes[i] * grid.step + grid.zero;
    int exponent = grid.exponent - TILE_SCALE_BIAS;
    if (rotated) {
        tile_hadamard_codes(y, order);
        exponent += (int)tile_settle(y, order);
        const int32_t first = y[0];
        y[0] = y[pivot];
        y[pivot] = first;
    }
    convert_store(job->dtype, y, exponent, n, dst);
    return bytes;
}
