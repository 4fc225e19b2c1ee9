/* The threshold that makes a frame as long as its rule says. */
#include "codec/tahx.h"

#include <string.h>

/* Elements of the tiles in a column of tiles. */
static unsigned tile_elements(const tahx_shape_t *shape, uint64_t column)
{
    const uint64_t left = shape->row - column * shape->tile;
    return left < shape->tile ? (unsigned)left : shape->tile;
}

/* Bytes a bit of width, summed over all tiles of each byte; specials left out. */
static void weigh(const tahx_shape_t *shape, const uint8_t *bytes, uint64_t weight[256])
{
    memset(weight, 0, 256 * sizeof *weight);
    for (uint64_t row = 0; row < shape->rows; row++, bytes += shape->row_tiles)
        for (uint64_t column = 0; column < shape->row_tiles; column++)
            weight[bytes[column]] += tile_code_bytes(tile_elements(shape, column), 1);
    memset(weight, 0, TAHX_COARSEST * sizeof *weight);
}

/* Bytes of all codes where the threshold is at the start of a sixteenth of an octave. */
static uint64_t bytes_at(tahx_shape_t *shape, int threshold, const uint64_t weight[256])
{
    tahx_widths_t widths;
    uint64_t sum = 0;
    shape->threshold = threshold * 256;
    tahx_widths_init(shape, &widths);
    for (unsigned byte = TAHX_COARSEST; byte <= TAHX_FINEST; byte++)
        sum += weight[byte] * widths.above[byte];
    return sum;
}

/* What each rank adds to the bytes where the threshold is one lower: see tahx_width. */
static void weigh_ranks(const tahx_shape_t *shape, const uint8_t *bytes, uint64_t weight[256])
{
    tahx_widths_t widths;
    uint64_t tile = 0;
    tahx_widths_init(shape, &widths);
    memset(weight, 0, 256 * sizeof *weight);
    for (uint64_t row = 0; row < shape->rows; row++) {
        for (uint64_t column = 0; column < shape->row_tiles; column++, tile++) {
            const uint8_t byte = bytes[tile];
            const unsigned more = widths.above[byte] - widths.below[byte];
            if (more)
                weight[tahx_rank(tile)] += more * tile_code_bytes(tile_elements(shape, column), 1);
        }
    }
}

void tahx_rate_fit(tahx_shape_t *shape, const uint8_t *bytes, uint64_t room)
{
    uint64_t weight[256];
    int low = -(int)shape->book->threshold[TAHX_WIDTH_MAX - 1], high = TAHX_FINEST + 1;
    weigh(shape, bytes, weight);
    while (shape->least > 0 && bytes_at(shape, high, weight) > room)
        shape->least--;
    /* The least threshold that fits; at high nothing is above it. */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (bytes_at(shape, middle, weight) <= room)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t used = bytes_at(shape, low, weight);
    if (used > room || low == -(int)shape->book->threshold[TAHX_WIDTH_MAX - 1])
        return;
    /* Of the tiles that one less would widen, as many as fit: those of the highest ranks. */
    shape->threshold = (low - 1) * 256;
    weigh_ranks(shape, bytes, weight);
    int rank = 256;
    while (rank > 0 && used + weight[rank - 1] <= room)
        used += weight[--rank];
    shape->threshold += rank;
}
