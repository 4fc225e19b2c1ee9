/*
 * The payload of the codecs that work tile by tile (doc/frame-format.md, "Tiled payload"): rows,
 * tiles, sections, and the allocation of widths.
 */
#ifndef TAH_TILED_H
#define TAH_TILED_H

#include "codec/codec.h"

/* Which bits of the payload's map say which width; the value of byte 31 of the header. */
typedef enum tiled_map {
    TILED_MAP_NONE = 0,  /* one width, bits_high */
    TILED_MAP_ROWS = 1,  /* a bit per row */
    TILED_MAP_TILES = 2, /* a bit per tile */
} tiled_map_t;

/* How count elements are divided, and what that takes in the payload. */
typedef struct tiled_shape {
    uint64_t count;
    uint64_t row;    /* elements: channels, or all of them */
    uint64_t rows;
    unsigned tile;   /* elements of a whole tile */
    unsigned tail;   /* elements of the last tile of a row where it is shorter; else 0 */
    uint64_t row_tiles;
    uint64_t tiles;
    uint8_t bits_high, bits_low;
    tiled_map_t map;
    uint64_t map_bits;  /* rows or tiles that the map has a bit for */
    uint64_t map_start; /* offsets in the payload, bytes; the records start at 0 */
    uint64_t stream_start;
} tiled_shape_t;

/* The fields of a shape from the header's. TAH_ERR_HEADER where they are not valid. */
tah_status_t tiled_shape_read(const frame_header_t *header, tiled_shape_t *shape);

/* Derives everything from count, row, tile, the widths and the map; false where it overflows. */
bool tiled_shape_init(tiled_shape_t *shape);

/* A run of tiles of equal size, consecutive in the tensor; the next one follows by tiled_next. */
typedef struct tiled_cursor {
    uint64_t end;     /* number of the tile that the last run ends before */
    uint64_t tile;    /* number of the run's first tile */
    uint64_t element; /* number of that tile's first element */
    unsigned n;       /* elements a tile */
    unsigned tiles;   /* 0: before the first run */
} tiled_cursor_t;

/* Before the first run of the tiles first to end - 1; end is at most shape->tiles. */
tiled_cursor_t tiled_start(const tiled_shape_t *shape, uint64_t first, uint64_t end);

/* Moves to the next run; false behind the last. */
bool tiled_next(const tiled_shape_t *shape, tiled_cursor_t *cursor);

/* The parts that threads do a message's tiles in; and the tiles of one of them. */
uint64_t tiled_parts(const tiled_shape_t *shape, unsigned element);
tiled_cursor_t tiled_part(const tiled_shape_t *shape, unsigned element, uint64_t part);

/* The widths of a run's tiles; map is that of the payload, not read without one. */
void tiled_widths(const tiled_shape_t *shape, const uint8_t *map, const tiled_cursor_t *cursor,
                  uint8_t *widths);

/* Why tile, bits or channels of params cannot be used; NULL where they can. */
const char *tiled_check(const tah_params_t *params);

/*
 * As codec_ops_t.bound and .encode; two_widths says whether bits_low, high_fraction and allocate
 * count, hadamard which transform is used.
 */
bool tiled_bound(const tah_params_t *params, bool two_widths, tah_hadamard_t hadamard,
                 uint64_t count, uint64_t *payload);
tah_status_t tiled_encode(const tah_params_t *params, bool two_widths, tah_hadamard_t hadamard,
                          const tah_message_t *message, const uint8_t *src, codec_sink_t *sink);

/* Decodes a payload; rotated says whether the codec has rotated tiles. */
tah_status_t tiled_decode(const frame_header_t *header, bool rotated, const uint8_t *payload,
                          tah_pool_t *pool, uint8_t *dst);

#endif
