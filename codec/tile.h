/*
 * One tile: the reference arithmetic of the codecs tah and uniform (doc/frame-format.md).
 *
 * Its order and roundings are fixed (codec/tile_math.h), so that a kernel can be checked bit for
 * bit.
 */
#ifndef TAH_TILE_H
#define TAH_TILE_H

#include "codec/tah.h"

#define TILE_MIN 16
#define TILE_MAX 256     /* elements */
#define TILE_RECORD 4    /* bytes of side information a tile */
#define TILE_ZERO_BITS 11  /* significant bits of a stored zero point */
#define TILE_ZERO_SHIFT 11 /* largest shift of a stored zero point */
#define TILE_SCALE_BIAS 142 /* the unit of a tile is 2^(exponent - bias) */

/* Tiles whose exponent byte is 0 have no codes; the mantissa byte says what they have instead. */
typedef enum tile_kind {
    TILE_ZERO = 0,     /* every element is +0 */
    TILE_CONSTANT = 1, /* one element, the value of all */
    TILE_SIGNS = 2,    /* every element is +0 or -0: a bit each */
    TILE_EXACT = 3,    /* the elements themselves */
    TILE_KIND_COUNT
} tile_kind_t;

/* What a message asks of every tile. */
typedef struct tile_job {
    tah_dtype_t dtype;
    unsigned element; /* bytes */
    tah_hadamard_t hadamard;
    tah_rounding_t rounding;
    bool search;     /* try narrower grids */
    uint64_t random; /* stochastic rounding: what the message's random numbers start from */
} tile_job_t;

/*
 * How a tile's values are coded, in units of 2^(exponent - TILE_SCALE_BIAS):
 * value = code * step + zero.
 */
typedef struct tile_grid {
    uint8_t exponent; /* 1..255 */
    uint16_t step;    /* 256..511 */
    int32_t zero;     /* TILE_ZERO_BITS significant bits, shifted by at most TILE_ZERO_SHIFT */
} tile_grid_t;

/* What was done to the tiles of a message, for tah_encoded_t. */
typedef struct tile_counts {
    size_t rotated;
    size_t exact; /* constant ones included */
} tile_counts_t;

/* Bytes of the codes of n elements at a width of bits: each bit plane is padded to whole bytes. */
static inline size_t tile_code_bytes(unsigned n, unsigned bits)
{
    return (size_t)bits * ((n + 7) / 8);
}

/* Smallest power of two that is at least n, as its logarithm; n >= 1. */
static inline unsigned tile_log2(unsigned n)
{
    return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0;
}

/*
 * Encodes n elements of job->dtype at src, tile number of its message, at a width of bits: writes
 * the tile's record (TILE_RECORD bytes) and its part of the stream at out, of which room bytes may
 * be written. Returns the bytes of the stream used; SIZE_MAX, with nothing said about record and
 * out, where room is too small.
 */
size_t tile_encode(const tile_job_t *job, uint64_t number, const uint8_t *src, unsigned n,
                   unsigned bits, uint8_t *record, uint8_t *out, size_t room,
                   tile_counts_t *counts);

/*
 * Bytes of the stream that the tile of this record takes; SIZE_MAX where the record's kind is not
 * valid. The rest of the record is not checked.
 */
size_t tile_stream_bytes(uint32_t record, unsigned n, unsigned bits, unsigned element);

/*
 * Decodes the tile of this record from at most room bytes at in to n elements at dst.
 * Returns the bytes of the stream used; SIZE_MAX where the record is not valid or in ends too
 * soon, with dst undefined.
 */
size_t tile_decode(const tile_job_t *job, uint32_t record, const uint8_t *in, size_t room,
                   unsigned n, unsigned bits, uint8_t *dst);

/* Whether the elements of a tile are all equal or all zeros, and of which kind it then is. */
bool tile_special(const uint8_t *src, unsigned n, unsigned element, tile_kind_t *kind);

/* Bytes of the stream that a tile without codes takes. */
size_t tile_special_bytes(tile_kind_t kind, unsigned n, unsigned element);

/* Encodes and decodes a tile without codes as tile_encode and tile_decode do; any kind. */
size_t tile_special_encode(tile_kind_t kind, const uint8_t *src, unsigned n, unsigned element,
                           uint8_t *out, size_t room);
size_t tile_special_decode(uint32_t kind, const uint8_t *in, size_t room, unsigned n,
                           unsigned element, uint8_t *dst);

/*
 * Writes n codes as bit planes, lowest bit first, in blocks of 64 elements: bit i of a plane of a
 * block is that bit of the code of its element i. tile_code_bytes(n, bits) bytes.
 */
void tile_codes_pack(const uint8_t *codes, unsigned n, unsigned bits, uint8_t *out);

/* The reverse; false: a bit of the padding of a plane is set. */
bool tile_codes_unpack(const uint8_t *in, unsigned n, unsigned bits, uint8_t *codes);

/*
 * Keys that sort like the entropy of the distribution |x| / sum |x| of any number of elements, and
 * like the range (max - min) of n <= TILE_MAX; UINT32_MAX where an element is not finite. Under the
 * environment of encoders.
 */
uint32_t tile_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n);
uint32_t tile_range(tah_dtype_t dtype, const uint8_t *src, unsigned n);

#endif
