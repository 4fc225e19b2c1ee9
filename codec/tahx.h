/*
 * tahx: tiles coded by width, where the width of each follows from its scale and one threshold, so
 * that the frame has exactly the size asked for (doc/tahx-format.md).
 *
 * Floating point is used, under the default environment that tahx_encode and tahx_decode set and
 * undo; everything is either exact or one rounding, so that kernels agree bit for bit.
 */
#ifndef TAH_TAHX_H
#define TAH_TAHX_H

#include "codec/codec.h"
#include "codec/convert.h"
#include "codec/tahx_tables.h"
#include "codec/tile.h"

#define TAHX_COARSEST 4 /* tile bytes below this are kinds, from it on scales */
#define TAHX_FINEST 255
#define TAHX_SCALE_BITS 6        /* of a channel's scale */
#define TAHX_MEAN_BITS 16        /* most bits of a channel's mean */
#define TAHX_EXPONENT 90         /* limit of the exponents of tiles and means */
#define TAHX_SHIFT 120           /* limit of the exponents of a message or row */
#define TAHX_RUN 64              /* most tiles of a run */
#define TAHX_THRESHOLD (1 << 17) /* limit of a threshold: beyond it nothing changes */
#define TAHX_NOT_FINITE 0xffffu  /* the peak of a tile with such an element */
#define TAHX_SPECIAL 0xff00u     /* plus kind: the peak of a tile without codes */

/* The header's fields and what follows from them. */
typedef struct tahx_shape {
    uint64_t count;
    uint32_t channels; /* 0: not known, or of no use */
    unsigned tile;     /* elements */
    uint8_t least;     /* width */
    uint8_t mean_bits; /* of a channel; 0: no means */
    bool scaled;       /* channels have a scale */
    bool by_row;       /* rows have an exponent */
    int32_t threshold; /* 1/256 of a sixteenth of an octave */
    int exponent;      /* all elements are multiplied by 2^exponent at last */
    int tile_exponent, mean_exponent;

    uint64_t row, rows, row_tiles, tiles;           /* elements, -, tiles, - */
    uint64_t rows_start, bytes_start, stream_start; /* offsets in the payload, bytes */
    const tahx_book_t *book;
} tahx_shape_t;

/* Derives the second half of a shape; false where it does not fit in 64 bits. */
bool tahx_shape_init(tahx_shape_t *shape);

/* TAH_ERR_HEADER where a field is not valid or the payload is too short. */
tah_status_t tahx_shape_read(const frame_header_t *header, tahx_shape_t *shape);

void tahx_shape_write(const tahx_shape_t *shape, frame_header_t *header);

/*
 * What tile bytes stand for; a byte's two widths differ only where the threshold splits it: for
 * tiles of a rank from the threshold's lowest bits on, and below.
 */
typedef struct tahx_widths {
    uint8_t above[256 + TAHX_RUN]; /* by the lowest bits of a tile's number: whether its rank is;
                                    * of the last, by those of a run from there on */
    uint8_t width[2][256];  /* below and above; 0 for kinds */
    uint8_t tried[2][256];  /* scales that are tried: bit i for that of byte - 1 + i */
    float inverse[256];     /* what values are multiplied by for 2^-14 of the first of these */
    float level[256];       /* what levels are multiplied by */
    float signed_level[TAHX_EDGED + 1][1 << TAHX_EDGED]; /* what codes stand for, by width */
    uint8_t level_bytes[TAHX_EDGED + 1][2][16]; /* lower and upper of the first 16 of these */
} tahx_widths_t;
void tahx_widths_init(const tahx_shape_t *shape, tahx_widths_t *widths);

/* The first three fields alone: what a shape's threshold decides. */
void tahx_widths_plan(const tahx_shape_t *shape, tahx_widths_t *widths);

/* Spreads what one byte shares evenly over the tensor: bits of a tile's number in reverse order. */
static inline unsigned tahx_rank(uint64_t tile)
{
    const uint32_t b = tile & 255;
    return (uint32_t)((b * UINT64_C(0x80200802) & UINT64_C(0x0884422110)) *
                          UINT64_C(0x0101010101) >>
                      32) &
           255;
}

static inline unsigned tahx_width(const tahx_widths_t *widths, uint8_t byte, uint64_t tile)
{
    return widths->width[widths->above[tile & 255]][byte];
}

static inline unsigned tahx_tried(const tahx_widths_t *widths, uint8_t byte, uint64_t tile)
{
    return widths->tried[widths->above[tile & 255]][byte];
}

/* The scale that a tile byte stands for, in units of 2^(tile exponent): 5 bits, any shift. */
static inline unsigned tahx_scale_mantissa(unsigned byte)
{
    return 16 + byte % 16;
}

/* The scale of a channel from its 6 bits: eighths of an octave, 4 significant bits. */
static inline unsigned tahx_channel_scale(unsigned field)
{
    return (8 + field % 8) << field / 8;
}

/* The cell of a magnitude, in units of 2^-14 of the tile's scale, at a width of 1..8. */
static inline unsigned tahx_cell(const tahx_book_t *book, uint32_t magnitude, unsigned width)
{
    const uint32_t last = (1u << TAHX_LEVEL_BITS) - 1;
    if (width <= TAHX_EDGED) {
        const uint32_t v = magnitude < last ? magnitude : last;
        return (uint16_t)(v + book->lift[width - 1][v >> TAHX_BIN_BITS]) >> TAHX_BIN_BITS;
    }
    const uint32_t u = 2 * magnitude;
    const uint32_t one = u * book->first >> 16, two = (u * book->second >> 16) + book->start;
    const uint32_t least = one < two ? one : two;
    return (least < last ? least : last) >> (TAHX_LEVEL_BITS + 1 - width);
}

/*
 * Tiles that lie one after another in one row, whole ones but for the last. Vectors start at the
 * channel of the first element; NULL where there are none.
 */
typedef struct tahx_run {
    const tahx_shape_t *shape;
    tah_dtype_t dtype;
    unsigned element;              /* bytes */
    unsigned n;                    /* elements */
    int exponent;                  /* of the row: elements are values times 2^exponent */
    uint64_t first;                /* number of the first tile */
    const float *scale, *mean;     /* value = coded * scale + mean */
    const float *inverse, *offset; /* coded = value * inverse - offset */
    const int8_t *weight;          /* of a squared error, 1..64 */
    const tahx_widths_t *widths;
} tahx_run_t;

static inline unsigned tahx_run_tiles(const tahx_run_t *run)
{
    return (run->n + run->shape->tile - 1) / run->shape->tile;
}

/* Whether no value of the run can be subnormal or beyond the largest finite number. */
static inline bool tahx_run_plain(const tahx_run_t *run)
{
    const tahx_shape_t *shape = run->shape;
    const int unit = shape->tile_exponent - TAHX_LEVEL_BITS;
    const int low = unit < shape->mean_exponent ? unit : shape->mean_exponent;
    const int coded = shape->tile_exponent + 15 + 5 + 11, mean = shape->mean_exponent + 15;
    const int high = (coded > mean ? coded : mean) + 1;
    return low + run->exponent >= -126 && high + run->exponent < 127;
}

/* A run from a tensor; the next by tahx_next. */
typedef struct tahx_cursor {
    tahx_run_t run;
    uint64_t start; /* number of the run's first element */
    uint64_t end;   /* that of the element which the last run ends before */
    uint64_t row;
} tahx_cursor_t;

/* Before the first run of the tiles first to end - 1; end is at most shape->tiles. */
tahx_cursor_t tahx_start(const tahx_shape_t *shape, tah_dtype_t dtype, uint64_t first,
                         uint64_t end);

/* The parts that threads do a message's tiles in; and the tiles of one of them. */
uint64_t tahx_parts(const tahx_shape_t *shape, tah_dtype_t dtype);
tahx_cursor_t tahx_part(const tahx_shape_t *shape, tah_dtype_t dtype, uint64_t part);

/* What channels have, allocated in one piece. */
typedef struct tahx_vectors {
    float *scale, *mean, *inverse, *offset;
    int8_t *weight;
} tahx_vectors_t;

/* false: out of memory. The caller frees them by tahx_vectors_free. */
bool tahx_vectors_alloc(tahx_vectors_t *vectors, uint32_t channels);
void tahx_vectors_free(tahx_vectors_t *vectors);

/* Moves to the next run; false behind the last; one never crosses rows. rows: the exponents of
 * rows, or NULL. */
bool tahx_next(tahx_cursor_t *cursor, const tahx_vectors_t *vectors, const uint8_t *rows);

/* What is done to the tiles of a run, once per instruction set; the contract is in kernels.h. */
typedef struct tahx_kernel {
    /*
     * The peak of each tile: the smallest 16-bit prefix p of a float32 pattern (p << 19) that is
     * not below its largest coded magnitude. TAHX_NOT_FINITE: no such prefix.
     */
    void (*peaks)(const tahx_run_t *run, const uint8_t *src, uint16_t *peaks);

    /*
     * Adds n elements times unit to sum or, where about is not NULL, their distances from it.
     * Elements that are not finite are left out: they count as 0.
     */
    void (*sum)(tah_dtype_t dtype, const uint8_t *src, unsigned n, float unit, const float *about,
                float *sum);

    /*
     * *peak: the largest finite magnitude's pattern. Returns the sum of the squares of all finite
     * normal magnitudes' 24-bit significands, shifted so that that of the peak has 12 bits, cut
     * off.
     */
    uint64_t (*squares)(tah_dtype_t dtype, const uint8_t *src, uint64_t n, uint32_t *peak);

    /*
     * Encodes a run: bytes are the tile bytes, of which scales may become neighbouring ones of the
     * same width. Returns the bytes written to out, or SIZE_MAX where room is too small.
     */
    size_t (*encode)(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                     size_t room);

    /* Decodes a run; returns the bytes read at in, or SIZE_MAX where they are not valid. */
    size_t (*decode)(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in, size_t room,
                     uint8_t *dst);
} tahx_kernel_t;

extern const tahx_kernel_t tahx_kernel_scalar;
extern const tahx_kernel_t tahx_kernel_avx2;
extern const tahx_kernel_t tahx_kernel_avx512;

/* One tile of a run as the reference does it; at is the number of its first element in the run. */
size_t tahx_tile_encode(const tahx_run_t *run, const uint8_t *src, unsigned at, unsigned n,
                        uint8_t *byte, uint8_t *out, size_t room);
size_t tahx_tile_decode(const tahx_run_t *run, uint8_t byte, const uint8_t *in, size_t room,
                        unsigned at, unsigned n, uint8_t *dst);

/*
 * Tile bytes from peaks, and the shape's tile exponent, so that the largest scale has a byte near
 * TAHX_FINEST; top is the largest peak below TAHX_SPECIAL, 0 if there is none.
 */
void tahx_bytes_of(tahx_shape_t *shape, const uint16_t *restrict peaks, uint64_t tiles, int top,
                   uint8_t *restrict bytes);

/*
 * Chooses the threshold, and lowers least where it must, so that the codes of the tiles take as
 * many bytes as possible but not more than room. Tile bytes below TAHX_COARSEST have no codes.
 */
void tahx_rate_fit(tahx_shape_t *shape, const uint8_t *bytes, uint64_t room);

/*
 * Chooses what channels get (means, scales, both, nothing) by the error that a sample of rows would
 * have in room bytes of payload; fills the shape's fields and the vectors, of shape->channels
 * elements, and writes the channels' section to payload if it has no more than capacity bytes. rows
 * as in tahx_next.
 * false: out of memory.
 */
bool tahx_vectors_choose(tahx_shape_t *shape, tah_dtype_t dtype, const uint8_t *src,
                         const uint8_t *rows, uint64_t room, tahx_vectors_t *vectors,
                         uint8_t *payload, uint64_t capacity);

/* Reads the channels' section; false where it is not valid. */
bool tahx_vectors_read(const tahx_shape_t *shape, const uint8_t *payload, tahx_vectors_t *vectors);

/* As codec_ops_t.encode and .decode. */
tah_status_t tahx_encode(const tah_params_t *params, const tah_message_t *message,
                         const uint8_t *src, codec_sink_t *sink);
tah_status_t tahx_decode(const frame_header_t *header, const uint8_t *payload, tah_pool_t *pool,
                         uint8_t *dst);

/* Bytes of payload that a message of count elements may take by its rate. */
uint64_t tahx_budget(const tah_params_t *params, uint64_t count);

#endif
