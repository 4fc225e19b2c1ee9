/* The header of tahx, and the walk over a tensor. */
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/pool.h"

#include <stdlib.h>

#define FLAG_SCALED 1u
#define FLAG_BY_ROW 2u

bool tahx_shape_init(tahx_shape_t *shape)
{
    uint64_t bits, bytes;
    shape->row = shape->channels ? shape->channels : shape->count;
    shape->rows = shape->count ? shape->count / shape->row : 0;
    shape->row_tiles = shape->row / shape->tile + (shape->row % shape->tile != 0);
    shape->book = shape->tile > 32 ? &tahx_book_large : &tahx_book_small;
    const unsigned field = shape->mean_bits + (shape->scaled ? TAHX_SCALE_BITS : 0);
    bits = (uint64_t)shape->channels * field;
    shape->rows_start = (bits + 7) / 8;
    bytes = shape->by_row ? shape->rows : 0;
    return checked_mul(shape->rows, shape->row_tiles, &shape->tiles) &&
           checked_add(shape->rows_start, bytes, &shape->bytes_start) &&
           checked_add(shape->bytes_start, shape->tiles, &shape->stream_start);
}

tah_status_t tahx_shape_read(const frame_header_t *header, tahx_shape_t *shape)
{
    const uint8_t *params = header->params;
    const unsigned order = header->small[0], flags = header->small[3];
    *shape = (tahx_shape_t){
        .count = header->count,
        .tile = 1u << (order & 15),
        .least = header->small[1],
        .mean_bits = header->small[2],
        .scaled = flags & FLAG_SCALED,
        .by_row = flags & FLAG_BY_ROW,
        .channels = load_u32(params),
        .threshold = (int32_t)load_u32(params + 4),
        .exponent = (int8_t)params[8],
        .tile_exponent = (int8_t)params[9],
        .mean_exponent = (int8_t)params[10],
    };
    if (header->dtype == TAH_BYTES || order < 4 || order > 8 || shape->least > TAHX_WIDTH_MAX ||
        shape->mean_bits > TAHX_MEAN_BITS || flags > (FLAG_SCALED | FLAG_BY_ROW))
        return TAH_ERR_HEADER;
    if (abs(shape->exponent) > TAHX_SHIFT || abs(shape->tile_exponent) > TAHX_EXPONENT ||
        abs(shape->mean_exponent) > TAHX_EXPONENT || shape->threshold < -TAHX_THRESHOLD ||
        shape->threshold > TAHX_THRESHOLD)
        return TAH_ERR_HEADER;
    if ((shape->by_row && shape->exponent != 0) ||
        (shape->mean_bits == 0 && shape->mean_exponent != 0) || load_u32(params + 11) != 0 ||
        params[15] != 0)
        return TAH_ERR_HEADER;
    if (shape->channels ? header->count % shape->channels != 0
                        : shape->mean_bits != 0 || flags != 0)
        return TAH_ERR_HEADER;
    if (!tahx_shape_init(shape) || shape->stream_start > header->payload)
        return TAH_ERR_HEADER;
    return TAH_OK;
}

void tahx_shape_write(const tahx_shape_t *shape, frame_header_t *header)
{
    uint8_t *params = header->params;
    header->small[0] = (uint8_t)tile_log2(shape->tile);
    header->small[1] = shape->least;
    header->small[2] = shape->mean_bits;
    header->small[3] =
        (uint8_t)((shape->scaled ? FLAG_SCALED : 0) | (shape->by_row ? FLAG_BY_ROW : 0));
    memset(params, 0, FRAME_PARAMS_BYTES);
    store_u32(params, shape->channels);
    store_u32(params + 4, (uint32_t)shape->threshold);
    params[8] = (uint8_t)shape->exponent;
    params[9] = (uint8_t)shape->tile_exponent;
    params[10] = (uint8_t)shape->mean_exponent;
}

/*
 * The bytes from first to last, none if last is below, have this width. Of those without a search
 * the scale that is not below the largest magnitude is the only one tried.
 */
static void widths_fill(uint8_t *widths, uint8_t *tried, int first, int last, unsigned width)
{
    const bool search = width > 0 && width <= TAHX_EDGED;
    if (last < first)
        return;
    memset(widths + first, (int)width, (size_t)(last - first + 1));
    memset(tried + first, search ? (1 << TAHX_STEPS) - 1 : 2, (size_t)(last - first + 1));
    tried[first] &= (uint8_t)~1u;
    tried[last] &= 3;
    if (last > first)
        tried[last - 1] &= 7;
}

/* Powers of two times few bits: exact, but for the inverses, which are rounded once. */
static void widths_scale(const tahx_shape_t *shape, tahx_widths_t *widths)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        const unsigned before = (byte - 1) % 256;
        const int exponent = (int)(byte / 16) + shape->tile_exponent;
        widths->level[byte] =
            (float)tahx_scale_mantissa(byte) * float_power(exponent - TAHX_LEVEL_BITS);
        widths->inverse[byte] = tahx_steps[byte % 16].inverse *
                                float_power(-(int)(before / 16) - shape->tile_exponent);
    }
}

static void widths_levels(const tahx_book_t *book, tahx_widths_t *widths)
{
    memset(widths->signed_level, 0, sizeof widths->signed_level);
    memset(widths->level_bytes, 0, sizeof widths->level_bytes);
    for (unsigned width = 1; width <= TAHX_EDGED; width++) {
        const unsigned minus = 1u << (width - 1);
        for (unsigned i = 0; i < minus; i++) {
            widths->signed_level[width][i] = tahx_levels(book, width)[i];
            widths->signed_level[width][minus + i] = -(float)tahx_levels(book, width)[i];
        }
        for (unsigned i = 0; i < 16; i++) {
            const int level = (int)widths->signed_level[width][i];
            widths->level_bytes[width][0][i] = (uint8_t)level;
            widths->level_bytes[width][1][i] = (uint8_t)(level >> 8);
        }
    }
}

void tahx_widths_plan(const tahx_shape_t *shape, tahx_widths_t *widths)
{
    const int threshold = shape->threshold >> 8;
    memset(widths->width, 0, sizeof widths->width);
    memset(widths->tried, 0, sizeof widths->tried);
    for (unsigned tile = 0; tile < sizeof widths->above; tile++)
        widths->above[tile] = tahx_rank(tile) >= (unsigned)(shape->threshold & 255);
    for (int above = 0; above < 2; above++) {
        int first = TAHX_COARSEST;
        for (unsigned width = shape->least; width < TAHX_WIDTH_MAX; width++) {
            const int next = threshold + 1 - above + shape->book->threshold[width];
            const int end = next <= TAHX_FINEST ? next : TAHX_FINEST + 1;
            widths_fill(widths->width[above], widths->tried[above], first, end - 1, width);
            first = end > first ? end : first;
        }
        widths_fill(widths->width[above], widths->tried[above], first, TAHX_FINEST, TAHX_WIDTH_MAX);
    }
}

void tahx_widths_init(const tahx_shape_t *shape, tahx_widths_t *widths)
{
    widths_scale(shape, widths);
    widths_levels(shape->book, widths);
    tahx_widths_plan(shape, widths);
}

/* Number of the first element of a tile; that of the tensor's end for the tile behind the last. */
static uint64_t tile_start(const tahx_shape_t *shape, uint64_t tile)
{
    const uint64_t row = shape->row_tiles ? tile / shape->row_tiles : 0;
    return row * shape->row + (tile - row * shape->row_tiles) * shape->tile;
}

tahx_cursor_t tahx_start(const tahx_shape_t *shape, tah_dtype_t dtype, uint64_t first, uint64_t end)
{
    return (tahx_cursor_t){
        .run = {.shape = shape,
                .dtype = dtype,
                .element = (unsigned)tah_dtype_bytes(dtype),
                .first = first},
        .start = tile_start(shape, first),
        .end = tile_start(shape, end),
        .row = shape->row_tiles ? first / shape->row_tiles : 0,
    };
}

static uint64_t part_tiles(const tahx_shape_t *shape, tah_dtype_t dtype)
{
    return POOL_PART_BYTES / (shape->tile * tah_dtype_bytes(dtype));
}

uint64_t tahx_parts(const tahx_shape_t *shape, tah_dtype_t dtype)
{
    const uint64_t tiles = part_tiles(shape, dtype);
    return shape->tiles / tiles + (shape->tiles % tiles != 0);
}

tahx_cursor_t tahx_part(const tahx_shape_t *shape, tah_dtype_t dtype, uint64_t part)
{
    const uint64_t tiles = part_tiles(shape, dtype), first = part * tiles;
    const uint64_t left = shape->tiles - first;
    return tahx_start(shape, dtype, first, first + (left < tiles ? left : tiles));
}

bool tahx_next(tahx_cursor_t *cursor, const tahx_vectors_t *vectors, const uint8_t *rows)
{
    tahx_run_t *run = &cursor->run;
    const tahx_shape_t *shape = run->shape;
    if (run->n)
        run->first += tahx_run_tiles(run);
    cursor->start += run->n;
    if (cursor->start == cursor->end)
        return false;
    /* A run has not gone beyond its row. */
    cursor->row += cursor->start - cursor->row * shape->row == shape->row;
    const uint64_t column = cursor->start - cursor->row * shape->row;
    const uint64_t row_left = shape->row - column, all_left = cursor->end - cursor->start;
    const uint64_t left = row_left < all_left ? row_left : all_left;
    const unsigned most = TAHX_RUN * shape->tile;
    run->n = left < most ? (unsigned)left : most;
    run->exponent = rows ? rows[cursor->row] - TAHX_SHIFT : shape->exponent;
    if (shape->mean_bits || shape->scaled) {
        run->scale = vectors->scale + column;
        run->mean = vectors->mean + column;
        run->inverse = vectors->inverse + column;
        run->offset = vectors->offset + column;
        run->weight = vectors->weight + column;
    }
    return true;
}
