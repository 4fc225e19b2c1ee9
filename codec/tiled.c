/* Shape of a tiled payload, and its decoder. */
#include "codec/tiled.h"

#include "codec/bytes.h"
#include "codec/environment.h"
#include "codec/kernels.h"
#include "codec/stream.h"

bool tiled_shape_init(tiled_shape_t *shape)
{
    uint64_t records;
    shape->rows = shape->count ? shape->count / shape->row : 0;
    shape->tail = (unsigned)(shape->row % shape->tile);
    shape->row_tiles = shape->row / shape->tile + (shape->tail != 0);
    if (!checked_mul(shape->rows, shape->row_tiles, &shape->tiles) ||
        !checked_mul(shape->tiles, TILE_RECORD, &records))
        return false;
    shape->map_bits = shape->map == TILED_MAP_ROWS    ? shape->rows
                      : shape->map == TILED_MAP_TILES ? shape->tiles
                                                      : 0;
    shape->map_start = records;
    const uint64_t map_bytes = shape->map_bits / 8 + (shape->map_bits % 8 != 0);
    return checked_add(records, map_bytes, &shape->stream_start);
}

tah_status_t tiled_shape_read(const frame_header_t *header, tiled_shape_t *shape)
{
    const unsigned high = header->small[0], low = header->small[1], order = header->small[2];
    const uint32_t channels = load_u32(header->params);
    if (low < 2 || high > 8 || low > high || order < 4 || order > 8 ||
        header->small[3] > TILED_MAP_TILES)
        return TAH_ERR_HEADER;
    for (unsigned i = 4; i < FRAME_PARAMS_BYTES; i++)
        if (header->params[i] != 0)
            return TAH_ERR_HEADER;
    *shape = (tiled_shape_t){
        .count = header->count,
        .row = channels ? channels : header->count,
        .tile = 1u << order,
        .bits_high = (uint8_t)high,
        .bits_low = (uint8_t)low,
        .map = (tiled_map_t)header->small[3],
    };
    /* One width and a map, or two widths and none, would say the same thing in two ways. */
    if ((shape->map == TILED_MAP_NONE) != (high == low))
        return TAH_ERR_HEADER;
    if (channels ? header->count % channels != 0 : shape->map == TILED_MAP_ROWS)
        return TAH_ERR_HEADER;
    if (!tiled_shape_init(shape) || shape->stream_start > header->payload)
        return TAH_ERR_HEADER;
    return TAH_OK;
}

tiled_cursor_t tiled_start(const tiled_shape_t *shape, uint64_t first, uint64_t end)
{
    const uint64_t row = shape->row_tiles ? first / shape->row_tiles : 0;
    return (tiled_cursor_t){
        .end = end,
        .tile = first,
        .element = row * shape->row + (first - row * shape->row_tiles) * shape->tile,
    };
}

bool tiled_next(const tiled_shape_t *shape, tiled_cursor_t *cursor)
{
    cursor->tile += cursor->tiles;
    cursor->element += (uint64_t)cursor->tiles * cursor->n;
    if (cursor->tile == cursor->end)
        return false;
    /* Without a tail the tiles of one row follow those of the row before. */
    uint64_t left = cursor->end - cursor->tile;
    cursor->n = shape->tile;
    if (shape->tail) {
        const uint64_t whole = shape->row_tiles - 1 - cursor->tile % shape->row_tiles;
        if (whole == 0) {
            left = 1;
            cursor->n = shape->tail;
        } else if (whole < left) {
            left = whole;
        }
    }
    cursor->tiles = left < KERNEL_RUN ? (unsigned)left : KERNEL_RUN;
    return true;
}

static uint64_t part_tiles(const tiled_shape_t *shape, unsigned element)
{
    return POOL_PART_BYTES / (shape->tile * element);
}

uint64_t tiled_parts(const tiled_shape_t *shape, unsigned element)
{
    const uint64_t tiles = part_tiles(shape, element);
    return shape->tiles / tiles + (shape->tiles % tiles != 0);
}

tiled_cursor_t tiled_part(const tiled_shape_t *shape, unsigned element, uint64_t part)
{
    const uint64_t tiles = part_tiles(shape, element), first = part * tiles;
    const uint64_t left = shape->tiles - first;
    return tiled_start(shape, first, first + (left < tiles ? left : tiles));
}

void tiled_widths(const tiled_shape_t *shape, const uint8_t *map, const tiled_cursor_t *cursor,
                  uint8_t *widths)
{
    if (shape->map == TILED_MAP_NONE) {
        memset(widths, shape->bits_high, cursor->tiles);
        return;
    }
    const uint8_t low = shape->bits_low, step = (uint8_t)(shape->bits_high - low);
    if (shape->map == TILED_MAP_ROWS) {
        uint64_t row = cursor->tile / shape->row_tiles, column = cursor->tile % shape->row_tiles;
        for (unsigned t = 0, tiles; t < cursor->tiles; t += tiles, row++, column = 0) {
            const uint64_t left = shape->row_tiles - column;
            tiles = left < cursor->tiles - t ? (unsigned)left : cursor->tiles - t;
            memset(widths + t, low + (map[row / 8] >> row % 8 & 1) * step, tiles);
        }
        return;
    }
    unsigned t = 0;
    for (; cursor->tile % 8 == 0 && t + 8 <= cursor->tiles; t += 8) {
        /* Eight bits to eight bytes of 0 or 1. */
        const uint64_t each = UINT64_C(0x0101010101010101);
        const uint64_t bits = map[(cursor->tile + t) / 8] * each & UINT64_C(0x8040201008040201);
        const uint64_t ones = ((bits + 0x7f * each) | bits) >> 7 & each;
        store_u64(widths + t, low * each + ones * step);
    }
    for (; t < cursor->tiles; t++) {
        const uint64_t bit = cursor->tile + t;
        widths[t] = (uint8_t)(low + (map[bit / 8] >> bit % 8 & 1) * step);
    }
}

/* --- decoding -------------------------------------------------------------------------------- */

typedef struct decoding {
    const tiled_shape_t *shape;
    const tile_job_t *job;
    const uint8_t *records, *map;
    uint8_t *dst;
    bool past; /* the tensor is to go past the caches */
} decoding_t;

static size_t part_bytes(const void *opaque, uint64_t part)
{
    const decoding_t *decoding = opaque;
    const unsigned element = decoding->job->element;
    uint8_t widths[KERNEL_RUN];
    size_t sum = 0;
    tiled_cursor_t cursor = tiled_part(decoding->shape, element, part);
    while (tiled_next(decoding->shape, &cursor)) {
        tiled_widths(decoding->shape, decoding->map, &cursor, widths);
        for (unsigned t = 0; t < cursor.tiles; t++) {
            const uint8_t *record = decoding->records + (cursor.tile + t) * TILE_RECORD;
            const size_t bytes = tile_stream_bytes(load_u32(record), cursor.n, widths[t], element);
            if (bytes == SIZE_MAX)
                return SIZE_MAX;
            sum += bytes;
        }
    }
    return sum;
}

static size_t part_decode(const void *opaque, uint64_t part, const uint8_t *in, const uint8_t *end)
{
    const decoding_t *decoding = opaque;
    const kernel_t *kernel = kernel_get();
    const tile_job_t *job = decoding->job;
    uint8_t widths[KERNEL_RUN];
    _Alignas(64) uint8_t near[STREAM_NEAR];
    size_t used = 0;
    tiled_cursor_t cursor = tiled_part(decoding->shape, job->element, part);
    while (tiled_next(decoding->shape, &cursor)) {
        tiled_widths(decoding->shape, decoding->map, &cursor, widths);
        const tile_run_t run = {job, cursor.n, cursor.tiles, widths, cursor.tile};
        const size_t tensor_bytes = (size_t)cursor.n * cursor.tiles * job->element;
        const bool past = decoding->past && tensor_bytes <= sizeof near;
        uint8_t *const dst = decoding->dst + cursor.element * job->element;
        const size_t bytes =
            kernel->decode(&run, decoding->records + cursor.tile * TILE_RECORD, in + used,
                           (size_t)(end - in) - used, past ? near : dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        if (past)
            kernel->copy_past(dst, near, tensor_bytes);
        used += bytes;
    }
    return used;
}

tah_status_t tiled_decode(const frame_header_t *header, bool rotated, const uint8_t *payload,
                          tah_pool_t *pool, uint8_t *dst)
{
    tiled_shape_t shape;
    const tah_status_t status = tiled_shape_read(header, &shape);
    if (status != TAH_OK)
        return status;
    const tile_job_t job = {
        .dtype = (tah_dtype_t)header->dtype,
        .element = (unsigned)tah_dtype_bytes((tah_dtype_t)header->dtype),
        .hadamard = rotated ? TAH_HADAMARD_PUBLISHED : TAH_HADAMARD_OFF,
    };
    decoding_t decoding = {
        .shape = &shape,
        .job = &job,
        .records = payload,
        .map = payload + shape.map_start,
        .dst = dst,
        .past = header->count * job.element >= STREAM_PAST,
    };
    const stream_in_t stream = {
        .start = payload + shape.stream_start,
        .end = payload + header->payload,
        .job = &decoding,
        .measure = part_bytes,
        .decode = part_decode,
    };
    if (shape.map_bits % 8 && stream.start[-1] >> shape.map_bits % 8)
        return TAH_ERR_PAYLOAD;
    /* Sums of vectors are exact, but the sign of a zero depends on the rounding mode. */
    environment_t own;
    environment_enter(&own);
    const tah_status_t decoded = stream_decode(&stream, pool, tiled_parts(&shape, job.element));
    environment_leave(&own);
    return decoded;
}
