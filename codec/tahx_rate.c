/* The threshold that makes a frame as long as its rule says. */
#include "codec/tahx.h"

#include <string.h>

/* Elements of the tiles in a column of tiles. */
static unsigned tile_elements(const tahx_shape_t *shape, uint64_t column)
{
    const uint64_t left = shape->row - column * shape->tile;
    return left < shape->tile ? (unsigned)left : shape->tile;
}

/* How often each byte occurs. Four counters in turn, as equal bytes come one after another. */
static void bytes_count(const uint8_t *bytes, uint64_t n, uint64_t count[256])
{
    uint64_t part[4][256] = {{0}}, i = 0;
    for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            part[k][bytes[i + (unsigned)k]]++;
    for (; i < n; i++)
        part[0][bytes[i]]++;
    for (int byte = 0; byte < 256; byte++)
        count[byte] = part[0][byte] + part[1][byte] + part[2][byte] + part[3][byte];
}

/* Bytes a bit of width, summed over all tiles of a byte and above; tiles without codes left out. */
static void weigh(const tahx_shape_t *shape, const uint8_t *bytes, uint64_t weight[257])
{
    const uint64_t tail = shape->row_tiles - 1;
    const unsigned whole = shape->tile / 8, last = (tile_elements(shape, tail) + 7) / 8;
    bytes_count(bytes, shape->tiles, weight);
    weight[256] = 0;
    for (int byte = 0; byte < 256; byte++)
        weight[byte] *= whole;
    for (uint64_t row = 0; row < shape->rows && last < whole; row++)
        weight[bytes[row * shape->row_tiles + tail]] -= whole - last;
    for (int byte = TAHX_FINEST; byte >= TAHX_COARSEST; byte--)
        weight[byte] += weight[byte + 1];
}

/* Bytes of all codes where the threshold is at the start of a sixteenth of an octave. */
static uint64_t bytes_at(const tahx_shape_t *shape, int threshold, const uint64_t weight[257])
{
    uint64_t sum = shape->least * weight[TAHX_COARSEST];
    for (int width = shape->least; width < TAHX_WIDTH_MAX; width++) {
        const int first = threshold + shape->book->threshold[width];
        sum += weight[first < TAHX_COARSEST ? TAHX_COARSEST : first > TAHX_FINEST ? 256 : first];
    }
    return sum;
}

/* What each rank adds to the bytes where the threshold is one lower: see tahx_width. */
static void weigh_ranks(const tahx_shape_t *shape, const uint8_t *bytes, uint64_t weight[256])
{
    tahx_widths_t widths;
    uint32_t own[256] = {0};
    uint8_t more[256];
    const uint64_t tail = shape->row_tiles - 1;
    const unsigned whole = shape->tile / 8, last = (tile_elements(shape, tail) + 7) / 8;
    tahx_widths_plan(shape, &widths);
    for (int byte = 0; byte < 256; byte++)
        more[byte] = (uint8_t)(widths.width[1][byte] - widths.width[0][byte]);
    for (uint64_t first = 0; first < shape->tiles; first += 256) {
        const uint64_t left = shape->tiles - first;
#pragma GCC unroll 4
        for (unsigned i = 0; i < (left < 256 ? left : 256); i++)
            own[i] += more[bytes[first + i]];
    }
    for (unsigned i = 0; i < 256; i++)
        weight[tahx_rank(i)] = (uint64_t)own[i] * whole;
    for (uint64_t row = 0; row < shape->rows && last < whole; row++) {
        const uint64_t tile = row * shape->row_tiles + tail;
        weight[tahx_rank(tile)] -= (uint64_t)more[bytes[tile]] * (whole - last);
    }
}

void tahx_rate_fit(tahx_shape_t *shape, const uint8_t *bytes, uint64_t room)
{
    uint64_t weight[257];
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
    shape->threshold = low * 256;
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
