/*
 * Tiles on their way from elements to codes in a vector kernel of tahx: a few are taken through one
 * stage after another, each a loop in which no tile waits for another. Included where errors_t is
 * defined, what a kernel keeps of a tile's errors between the first two stages.
 */
#ifndef TAH_TAHX_VECTOR_BATCH_H
#define TAH_TAHX_VECTOR_BATCH_H

#include "codec/simd.h"
#include "codec/tahx.h"

#define BATCH 2048 /* most elements of tiles that are taken through the stages together */
#define UNIT 32    /* elements that kernels handle at once; a tile starts with a unit of its own */

typedef struct batch {
    _Alignas(64) int16_t fixed[BATCH]; /* values, in the kernel's order within a unit */
    errors_t errors[TAHX_RUN];
    _Alignas(16) float squares[TAHX_RUN][TAHX_STEPS]; /* of the scales that are tried */
    uint8_t tried[TAHX_RUN];                          /* a bit for each that is */
    uint8_t widths[TAHX_RUN];
    uint16_t ratios[TAHX_RUN]; /* of the best: what values are multiplied by, of 2^16 */
    uint64_t number; /* of the first tile */
    unsigned tiles, last; /* the last has so many elements */
} batch_t;

/* What stays the same in a run: copies, as pointers to bytes might point at the run itself. */
typedef struct setup {
    const tahx_widths_t *widths;
    const tahx_book_t *book;
    const float *inverse, *offset;
    const int8_t *weight;
    float unit;
    bool scaled;  /* unit is not 1 */
    bool vectors; /* there are inverse, offset and weight */
} setup_t;

/*
 * Asks for the elements that are 4 KiB behind those at src: where others keep the memory busy, the
 * processor does not do so early enough.
 */
INLINE void prefetch_ahead(const uint8_t *src, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i += 64)
        __builtin_prefetch(src + 4096 + i);
}

/* The elements of tile t. */
INLINE unsigned batch_elements(const batch_t *batch, unsigned t, unsigned tile)
{
    return t + 1 < batch->tiles ? tile : batch->last;
}

/* The values of tile t. */
INLINE int16_t *batch_fixed(batch_t *batch, unsigned t, unsigned tile)
{
    return batch->fixed + t * ((tile + UNIT - 1) / UNIT * UNIT);
}

/* Where the squared errors of a tile's places are; without a search, any will do. */
INLINE const uint8_t *batch_square(const setup_t *setup, const batch_t *batch, unsigned t)
{
    const unsigned row = batch->widths[t] - 1u;
    return setup->book->square[row < TAHX_EDGED ? row : 0];
}

#endif
