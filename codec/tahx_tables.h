/* The codebooks of tahx: what a width means (doc/tahx-format.md, "Levels"). */
#ifndef TAH_TAHX_TABLES_H
#define TAH_TAHX_TABLES_H

#include <stdint.h>

#define TAHX_WIDTH_MAX 8
#define TAHX_EDGED 5       /* widest codes of which the cells have edges of their own */
#define TAHX_BINS 32       /* of magnitudes up to the scale; in none are two of a width's edges */
#define TAHX_BIN_BITS 9    /* of a magnitude within its bin */
#define TAHX_PLACES 64     /* of a magnitude in the search for a scale, 60 of them up to it */
#define TAHX_STEPS 4       /* scales tried: from the one before that of the largest magnitude on */
#define TAHX_LEVEL_BITS 14 /* a level of 2^14 would be the scale of the tile */

typedef struct tahx_book {
    /* Two lines, of which the lesser counts: where a magnitude is among the cells of wide codes. */
    uint16_t first, second, start;
    /* By width and bin, what is added to magnitudes so that the bits above a bin's are the cell. */
    uint16_t lift[TAHX_EDGED][TAHX_BINS];
    /* Squared errors by width and place, the largest of each width as 255. */
    uint8_t square[TAHX_EDGED][TAHX_PLACES];
    /* Entry b: how many sixteenths of an octave above the tiles of the least scale that get a
     * code of 1 bit those lie that get b + 1. Ascending. */
    uint8_t threshold[TAHX_WIDTH_MAX];
    /* Mean squared error of a Gaussian tile at each width, of its scale squared, times 2^32. */
    uint32_t error[TAHX_WIDTH_MAX + 1];
    /* Magnitudes: 1 for width 1, 2 for width 2, 4 for width 3, ... ascending. */
    uint16_t level[(1 << TAHX_WIDTH_MAX) - 1];
} tahx_book_t;

/* The scales that are tried for a tile, by the lowest bits of its byte: from the one before on. */
typedef struct tahx_steps {
    float inverse;              /* 2^14 / mantissa of the first */
    uint16_t place[TAHX_STEPS]; /* ratio of the first to each, from units of 2^-14 to places */
    float square[TAHX_STEPS];   /* of each, in units of a sixteenth of the first's octave */
} tahx_steps_t;

extern const tahx_steps_t tahx_steps[16];
extern const uint16_t tahx_ratios[16][TAHX_STEPS]; /* the first to each, of 2^16 */
extern const tahx_book_t tahx_book_small; /* tiles of 16 and 32 */
extern const tahx_book_t tahx_book_large; /* of 64 and more */

/* The levels of a width, 1..TAHX_WIDTH_MAX: 2^(width - 1) of them. */
static inline const uint16_t *tahx_levels(const tahx_book_t *book, unsigned width)
{
    return book->level + (1u << (width - 1)) - 1;
}

#endif
