/* Encoder of tahx: exponents, what channels have in common, scales, threshold, codes. */
#include "codec/environment.h"
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"
#include "codec/measure.h"
#include "codec/stream.h"

#include <math.h>
#include <stdlib.h>

/* Exponents of a message of ordinary, tiny and huge values: see exponent_of. */
#define EXPONENT_TINY (-100)
#define EXPONENT_HUGE 64
#define PEAK_TINY ((127 - 40) * 16)
#define PEAK_HUGE ((127 + 60) * 16)

/* An encoding in progress. */
typedef struct encoding {
    tahx_shape_t *shape;
    tah_dtype_t dtype;
    const uint8_t *src;
    tahx_vectors_t *vectors;
    uint8_t *rows;      /* exponents; NULL: one for all */
    uint64_t part_rows; /* of a part in which they are found */
    uint16_t *peaks;    /* of tiles */
    atomic_int top;     /* the largest of those that will be coded */
    atomic_uint_least64_t exact, exact_bytes; /* the others; what they take of the stream */
    uint8_t *bytes;     /* of tiles, in the payload */
    tahx_widths_t widths;
    stream_out_t stream;
} encoding_t;

uint64_t tahx_budget(const tah_params_t *params, uint64_t count)
{
    /* A rate has at most 24 bits, a count that is worth a message less than 2^60. */
    const double bits = floor((double)params->rate * 65536);
    const unsigned __int128 total = (unsigned __int128)count * (uint64_t)bits / 65536 / 8;
    const uint64_t bytes = total < UINT64_MAX / 2 ? (uint64_t)total : UINT64_MAX / 2;
    if (bytes < TAH_FRAME_MIN)
        return TAH_FRAME_MIN - TAH_HEADER_BYTES;
    return (bytes - TAH_FRAME_RESIDUE) / TAH_FRAME_ALIGN * TAH_FRAME_ALIGN + TAH_FRAME_RESIDUE -
           TAH_HEADER_BYTES;
}

/* The shape of a message but for what is chosen by its values. */
static bool shape_start(const tah_params_t *params, uint64_t count, tahx_shape_t *shape)
{
    const uint64_t channels = params->channels;
    const uint64_t row_tiles = (channels + params->tile - 1) / params->tile;
    *shape = (tahx_shape_t){
        .count = count,
        .tile = params->tile,
        .least = params->min_bits,
        .by_row = params->error == TAH_ERROR_TOKEN && channels != 0,
    };
    /* Where whole tiles hardly fit a row, tiles cross rows. */
    if (shape->by_row || 2 * row_tiles * params->tile <= 3 * channels)
        shape->channels = params->channels;
    return tahx_shape_init(shape);
}

/*
 * The exponent of a row: that of its root mean square, of what is finite in it, so that all rows
 * are of about the same norm. Integer sums, so that there is no order of summation.
 */
static uint8_t row_exponent(tah_dtype_t dtype, const uint8_t *src, uint64_t n)
{
    uint32_t peak;
    const unsigned __int128 sum = kernel_get()->tahx->squares(dtype, src, n, &peak);
    if (sum == 0)
        return 0;
    /* Mean of squares in units of 2^-16 of that of a: a has 12 bits where it is the peak. */
    const uint64_t mean = (uint64_t)((sum << 16) / n);
    const int exponent = ((int)bit_length(mean) - 17) / 2 + (int)(peak >> 23) - 127 - 11;
    return (uint8_t)(exponent < -TAHX_SHIFT  ? 0
                     : exponent > TAHX_SHIFT ? 2 * TAHX_SHIFT
                                             : exponent + TAHX_SHIFT);
}

/* Whether all magnitudes that are finite are below 2^-40, with something other than 0 among them.
 */
static bool all_tiny(tah_dtype_t dtype, const uint8_t *src, uint64_t count)
{
    const size_t element = tah_dtype_bytes(dtype);
    float values[TILE_MAX], peak = 0;
    for (uint64_t at = 0; at < count; at += TILE_MAX) {
        const unsigned n = count - at < TILE_MAX ? (unsigned)(count - at) : TILE_MAX;
        convert_finite(dtype, src + at * element, n, values);
        for (unsigned i = 0; i < n; i++) {
            const float magnitude = float_magnitude(values[i]);
            peak = magnitude > peak ? magnitude : peak;
        }
        if (peak >= float_power(-40))
            return false;
    }
    return peak > 0;
}

/*
 * The byte of a peak, where that of base would have 0; the lowest bits of TAHX_SPECIAL + kind are
 * the kind. All of 16 bits, so that a vector holds many.
 */
static inline uint8_t byte_of(uint16_t peak, int16_t base)
{
    const int16_t byte = (int16_t)(peak - base);
    const int16_t scale = byte > TAHX_COARSEST ? byte : TAHX_COARSEST;
    const int16_t special = (int16_t)peak;
    return (uint8_t)(special < 0 ? special : scale);
}

void tahx_bytes_of(tahx_shape_t *shape, const uint16_t *restrict peaks, uint64_t tiles, int top,
                   uint8_t *restrict bytes)
{
    enum { BLOCK = 64 };
    int octave = (top >> 4) - 15;
    const int least = 127 + 4 - TAHX_EXPONENT;
    octave = octave > least ? octave : least;
    shape->tile_exponent = octave - 127 - 4;
    const int16_t base = (int16_t)(16 * octave);
    for (; tiles >= BLOCK; tiles -= BLOCK, peaks += BLOCK, bytes += BLOCK)
        for (int i = 0; i < BLOCK; i++)
            bytes[i] = byte_of(peaks[i], base);
    for (uint64_t i = 0; i < tiles; i++)
        bytes[i] = byte_of(peaks[i], base);
}

/*
 * Cheap to see of most tiles that they need codes: of others the first and the last element are the
 * same but for their highest byte.
 */
static inline bool maybe_special(const uint8_t *first, const uint8_t *last, unsigned element)
{
    switch (element) {
    case 2:
        return *first == *last;
    case 4:
        return ((load_u32(first) ^ load_u32(last)) & 0xffffff) == 0;
    default:
        return (load_u64(first) ^ load_u64(last)) << 8 == 0;
    }
}

/* Whether any of so many whole tiles may need no codes. */
static inline bool any_special(const uint8_t *src, unsigned tiles, size_t bytes, unsigned element)
{
    bool any = false;
    for (unsigned t = 0; t < tiles; t++, src += bytes)
        any |= maybe_special(src, src + bytes - element, element);
    return any;
}

/* What is found along with the peaks of a part. */
typedef struct found {
    int top;              /* the largest peak of tiles with codes */
    uint64_t exact, exact_bytes; /* tiles without codes; what they take of the stream */
} found_t;

/* As a rule: all tiles are whole and need codes. false: they have to be looked at one by one. */
static bool peaks_usual(const tahx_cursor_t *cursor, const uint8_t *src, const uint16_t *peaks,
                        found_t *found)
{
    const tahx_run_t *run = &cursor->run;
    const unsigned tiles = tahx_run_tiles(run), element = run->element;
    const size_t bytes = (size_t)run->shape->tile * element;
    int top = found->top;
    for (unsigned t = 0; t < tiles; t++)
        top = peaks[t] > top ? peaks[t] : top;
    if (top >= (int)TAHX_SPECIAL || run->n % run->shape->tile ||
        (element == 4   ? any_special(src, tiles, bytes, 4)
         : element == 2 ? any_special(src, tiles, bytes, 2)
                        : any_special(src, tiles, bytes, 8)))
        return false;
    found->top = top;
    return true;
}

/* Tiles without codes get TAHX_SPECIAL + kind as their peaks. */
static void peaks_special(const tahx_cursor_t *cursor, const uint8_t *src, uint16_t *peaks,
                          found_t *found)
{
    const tahx_run_t *run = &cursor->run;
    const unsigned tile = run->shape->tile, element = run->element;
    for (unsigned at = 0; at < run->n; at += tile, src += (size_t)tile * element, peaks++) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        tile_kind_t kind = TILE_EXACT;
        const uint8_t *last = src + (size_t)(n - 1) * element;
        if (*peaks == TAHX_NOT_FINITE || maybe_special(src, last, element)) {
            const bool special =
                tile_special(src, n, element, &kind) && (n > 1 || kind != TILE_CONSTANT);
            if (special || *peaks == TAHX_NOT_FINITE) {
                kind = special ? kind : TILE_EXACT;
                *peaks = (uint16_t)(TAHX_SPECIAL + kind);
                found->exact++;
                found->exact_bytes += tile_special_bytes(kind, n, element);
                continue;
            }
        }
        found->top = *peaks > found->top ? *peaks : found->top;
    }
}

static void part_peaks(void *job, pool_part_t *part)
{
    encoding_t *encoding = job;
    const tahx_kernel_t *kernel = kernel_get()->tahx;
    found_t found = {0};
    int before = 0;
    tahx_cursor_t cursor = tahx_part(encoding->shape, encoding->dtype, part->number);
    while (tahx_next(&cursor, encoding->vectors, encoding->rows)) {
        const uint8_t *first = encoding->src + cursor.start * cursor.run.element;
        uint16_t *own = encoding->peaks + cursor.run.first;
        kernel->peaks(&cursor.run, first, own);
        if (!peaks_usual(&cursor, first, own, &found))
            peaks_special(&cursor, first, own, &found);
    }
    atomic_fetch_add(&encoding->exact, found.exact);
    atomic_fetch_add(&encoding->exact_bytes, found.exact_bytes);
    while (found.top > before &&
           !atomic_compare_exchange_weak(&encoding->top, &before, found.top))
        ;
}

static void measure(const tahx_run_t *run, const uint8_t *src, const uint8_t *bytes,
                    const uint8_t *in, size_t room, tah_encoded_t *result)
{
    const unsigned tile = run->shape->tile;
    uint8_t decoded[TILE_MAX * sizeof(double)];
    for (unsigned at = 0; at < run->n; at += tile, src += (size_t)tile * run->element) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        const size_t used = tahx_tile_decode(run, *bytes++, in, room, at, n, decoded);
        measure_add(run->dtype, src, decoded, n, result);
        in += used;
        room -= used;
    }
}

static void part_encode(void *job, pool_part_t *part)
{
    const encoding_t *encoding = job;
    const tahx_kernel_t *kernel = kernel_get()->tahx;
    const bool measured = encoding->stream.sink->result->measured;
    size_t room, used = 0;
    uint8_t *out = stream_out_begin(&encoding->stream, part, &room);
    tahx_cursor_t cursor = tahx_part(encoding->shape, encoding->dtype, part->number);
    cursor.run.widths = &encoding->widths;
    part->sums = (tah_encoded_t){0};
    part->bytes = SIZE_MAX;
    while (out && tahx_next(&cursor, encoding->vectors, encoding->rows)) {
        const uint8_t *first = encoding->src + cursor.start * cursor.run.element;
        uint8_t *bytes = encoding->bytes + cursor.run.first;
        const size_t length = kernel->encode(&cursor.run, first, bytes, out + used, room - used);
        if (length == SIZE_MAX)
            return;
        if (measured)
            measure(&cursor.run, first, bytes, out + used, length, &part->sums);
        used += length;
    }
    part->bytes = out ? used : SIZE_MAX;
}

static void part_finish(void *job, pool_part_t *part)
{
    encoding_t *encoding = job;
    stream_out_finish(&encoding->stream, part);
}

static void part_exponents(void *job, pool_part_t *part)
{
    encoding_t *encoding = job;
    const tahx_shape_t *shape = encoding->shape;
    const uint64_t row_bytes = shape->row * tah_dtype_bytes(encoding->dtype);
    const uint64_t first = part->number * encoding->part_rows;
    for (uint64_t row = first; row < shape->rows && row < first + encoding->part_rows; row++)
        encoding->rows[row] =
            row_exponent(encoding->dtype, encoding->src + row * row_bytes, shape->row);
}

/* The exponents of rows, or of all: what is done before anything is known of channels. */
static void exponents_find(encoding_t *encoding, tah_pool_t *pool)
{
    tahx_shape_t *shape = encoding->shape;
    if (encoding->rows && shape->rows > 0) {
        const uint64_t bytes = shape->row * tah_dtype_bytes(encoding->dtype);
        encoding->part_rows = POOL_PART_BYTES / bytes + 1;
        pool_run(pool, (shape->rows - 1) / encoding->part_rows + 1, part_exponents, NULL, encoding);
    } else if (!encoding->rows && all_tiny(encoding->dtype, encoding->src, shape->count)) {
        shape->exponent = EXPONENT_TINY;
    }
}

/* Encodes with all scratch there is. */
static tah_status_t encode_with(encoding_t *encoding, const tah_params_t *params, tah_pool_t *pool)
{
    tahx_shape_t *shape = encoding->shape;
    codec_sink_t *sink = encoding->stream.sink;
    const uint64_t budget = tahx_budget(params, shape->count);
    exponents_find(encoding, pool);
    const tahx_shape_t start = *shape;
    for (;;) {
        if (shape->channels && shape->rows > 1 &&
            !tahx_vectors_choose(shape, encoding->dtype, encoding->src, encoding->rows, budget,
                                 encoding->vectors, sink->payload, sink->room))
            return TAH_ERR_MEMORY;
        if (shape->stream_start > sink->room)
            return TAH_ERR_SPACE;
        atomic_store(&encoding->top, 0);
        atomic_store(&encoding->exact, 0);
        atomic_store(&encoding->exact_bytes, 0);
        pool_run(pool, tahx_parts(shape, encoding->dtype), part_peaks, NULL, encoding);
        if (encoding->rows || shape->exponent != 0 || atomic_load(&encoding->top) < PEAK_HUGE)
            break;
        *shape = start;
        shape->exponent = EXPONENT_HUGE;
    }
    uint8_t *const bytes = encoding->bytes = sink->payload + shape->bytes_start;
    tahx_bytes_of(shape, encoding->peaks, shape->tiles, atomic_load(&encoding->top), bytes);
    if (encoding->rows)
        memcpy(sink->payload + shape->rows_start, encoding->rows, shape->rows);
    const uint64_t taken = shape->stream_start + atomic_load(&encoding->exact_bytes);
    tahx_rate_fit(shape, bytes, budget > taken ? budget - taken : 0);
    tahx_widths_init(shape, &encoding->widths);
    encoding->stream.at = shape->stream_start;
    pool_run(pool, tahx_parts(shape, encoding->dtype), part_encode, part_finish, encoding);
    if (atomic_load(&encoding->stream.full))
        return TAH_ERR_SPACE;
    tahx_shape_write(shape, sink->header);
    sink->header->payload = encoding->stream.at;
    sink->result->tiles = shape->tiles;
    sink->result->tiles_exact += atomic_load(&encoding->exact);
    return TAH_OK;
}

tah_status_t tahx_encode(const tah_params_t *params, const tah_message_t *message,
                         const uint8_t *src, codec_sink_t *sink)
{
    tahx_shape_t shape;
    tahx_vectors_t vectors = {0};
    environment_t environment;
    if (!shape_start(params, sink->header->count, &shape) || shape.stream_start > sink->room)
        return TAH_ERR_SPACE;
    encoding_t encoding = {
        .shape = &shape,
        .dtype = params->dtype,
        .src = src,
        .vectors = &vectors,
        .peaks = malloc((shape.tiles + 1) * sizeof *encoding.peaks),
        .rows = shape.by_row ? malloc(shape.rows + 1) : NULL,
        .stream = {.sink = sink},
    };
    tah_status_t status = TAH_ERR_MEMORY;
    if (encoding.peaks && (encoding.rows || !shape.by_row) &&
        tahx_vectors_alloc(&vectors, shape.channels)) {
        environment_enter(&environment);
        status = encode_with(&encoding, params, message->pool);
        environment_leave(&environment);
    }
    tahx_vectors_free(&vectors);
    free(encoding.rows);
    free(encoding.peaks);
    return status;
}
