/* The codebooks of tahx: what a width means (doc/tahx-format.md, "Levels"). */
#ifndef TAH_TAHX_TABLES_H
#define TAH_TAHX_TABLES_H

#include <stdint.h>

#define TAHX_WIDTH_MAX 8
#define TAHX_EDGED 5       /* widest codes of which the cells have edges of their own */
#define TAHX_WIDE 5        /* narrowest codes with the second compander */
#define TAHX_LEVEL_BITS 14 /* a level of 2^14 would be the scale of the tile */

/* Two lines, of which the lesser counts: where a magnitude lies among the cells. See tahx_cell. */
typedef struct tahx_compander {
    uint16_t first, second, start, back;
} tahx_compander_t;

typedef struct tahx_book {
    tahx_compander_t compander[2]; /* of widths below TAHX_WIDE, of others */
    /* The upper edges of the cells of widths 1 to TAHX_EDGED, in the order of levels. */
    uint16_t edge[(1 << TAHX_EDGED) - 1];
    /* Entry b: how many sixteenths of an octave above the tiles of the least scale that get a
     * code of 1 bit those lie that get b + 1. Ascending. */
    uint8_t threshold[TAHX_WIDTH_MAX];
    /* Mean squared error of a Gaussian tile at each width, of its scale squared, times 2^32. */
    uint32_t error[TAHX_WIDTH_MAX + 1];
    /* Magnitudes: 1 for width 1, 2 for width 2, 4 for width 3, ... ascending. */
    uint16_t level[(1 << TAHX_WIDTH_MAX) - 1];
} tahx_book_t;

extern const tahx_book_t tahx_book_small; /* tiles of 16 and 32 */
extern const tahx_book_t tahx_book_large; /* of 64 and more */

/* The levels of a width, 1..TAHX_WIDTH_MAX: 2^(width - 1) of them. */
static inline const uint16_t *tahx_levels(const tahx_book_t *book, unsigned width)
{
    return book->level + (1u << (width - 1)) - 1;
}

#endif
