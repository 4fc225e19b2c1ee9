/* The bad golden frames: good ones with one fault each. */
#include "tests/golden/golden.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct bad {
    const char *name, *base;
    tah_status_t status;
    bool stale; /* the checksum stays that of the good frame */
    struct edit {
        uint16_t at;
        uint8_t bytes[8], count;
    } edits[2];
} bad_t;

#define SET1(at, a) {at, {a}, 1}
#define SET4(at, a, b, c, d) {at, {a, b, c, d}, 4}
#define SET8(at, a, b, c, d, e, f, g, h) {at, {a, b, c, d, e, f, g, h}, 8}
#define RECORD(n) (64 + 4 * (n))

#define HEADER TAH_ERR_HEADER
#define PAYLOAD TAH_ERR_PAYLOAD

/*
 * uniform-ramp has 20 elements in tiles of 16 and 4, its stream starts at 72; tah-published has 20
 * tiles in 10 rows, map at 144; uniform-special has 11 tiles: zeros, mixed zeros from 108 on, a
 * constant, exact ones, and a tail of 25; tah-one-pivot has one tile of 16 with its pivot at 68;
 * tah-one-element-tails has 10 tiles in 5 rows. tahx-ramp has tiles of 32 and 8, bytes at 64,
 * planes at 66; tahx-channels the means of 100 channels in 300 bits and tails of 4; tahx-tokens its
 * rows at 189.
 */
static const bad_t bads[] = {
    {"key", "uniform-ramp", TAH_NOT_A_FRAME, true, {SET1(0, 0)}},
    {"version-0", "uniform-ramp", TAH_ERR_VERSION, false, {SET1(24, 0)}},
    {"version-2", "uniform-ramp", TAH_ERR_VERSION, false, {SET1(24, 2)}},
    {"checksum", "uniform-ramp", TAH_ERR_CHECKSUM, true, {SET1(16, 0)}},
    {"damaged-header", "uniform-ramp", TAH_ERR_CHECKSUM, true, {SET1(32, 19)}},
    {"damaged-payload", "tah-published", TAH_ERR_CHECKSUM, true, {SET1(200, 0x5a)}},
    {"damaged-padding", "uniform-ramp", TAH_ERR_CHECKSUM, true, {SET1(111, 1)}},
    {"codec-0", "uniform-ramp", HEADER, false, {SET1(25, 0)}},
    {"codec-5", "uniform-ramp", HEADER, false, {SET1(25, 5)}},
    {"type-5", "uniform-ramp", HEADER, false, {SET1(26, 5)}},
    {"type-bytes-uniform", "uniform-ramp", HEADER, false, {SET1(26, 0)}},
    {"type-bytes-tah", "tah-published", HEADER, false, {SET1(26, 0)}},
    {"high-9", "uniform-ramp", HEADER, false, {SET1(28, 9), SET1(29, 9)}},
    {"low-1", "uniform-ramp", HEADER, false, {SET1(28, 1), SET1(29, 1)}},
    {"low-above-high", "tah-published", HEADER, false, {SET1(28, 3), SET1(29, 4)}},
    {"tile-8", "uniform-ramp", HEADER, false, {SET1(30, 3)}},
    {"tile-512", "uniform-ramp", HEADER, false, {SET1(30, 9)}},
    {"map-3", "tah-published", HEADER, false, {SET1(31, 3)}},
    {"map-with-one-width", "tah-published", HEADER, false, {SET1(29, 4)}},
    {"two-widths-without-map", "tah-published", HEADER, false, {SET1(31, 0)}},
    {"map-of-rows-without-channels", "tah-by-tile", HEADER, false, {SET1(31, 1)}},
    {"map-in-uniform", "tah-published", HEADER, false, {SET1(25, 2)}},
    {"count-overflows", "uniform-ramp", HEADER, false, {SET8(32, 0, 0, 0, 0, 0, 0, 0, 0x80)}},
    {"count-beyond-payload", "uniform-ramp", HEADER, false, {SET8(32, 0, 0, 1, 0, 0, 0, 0, 0)}},
    {"payload-beyond-frame", "uniform-ramp", HEADER, false, {SET1(40, 64)}},
    {"payload-overflows", "uniform-ramp", HEADER, false,
     {SET8(40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}},
    {"payload-without-records", "uniform-ramp", HEADER, false, {SET1(40, 7)}},
    {"channels-do-not-divide", "uniform-ramp", HEADER, false, {SET1(48, 3)}},
    {"reserved-52", "uniform-ramp", HEADER, false, {SET1(52, 1)}},
    {"reserved-63", "uniform-ramp", HEADER, false, {SET1(63, 1)}},
    {"padding", "uniform-ramp", HEADER, false, {SET1(111, 1)}},
    {"stream-too-short", "uniform-ramp", PAYLOAD, false, {SET1(40, 19), SET1(83, 0)}},
    {"stream-too-long", "uniform-ramp", PAYLOAD, false, {SET1(40, 21)}},
    {"kind-4", "uniform-ramp", PAYLOAD, false, {SET4(RECORD(0), 4, 0, 0, 0)}},
    {"kind-with-zero-point", "uniform-ramp", PAYLOAD, false, {SET4(RECORD(0), 0, 0, 1, 0)}},
    {"exact-without-elements", "uniform-ramp", PAYLOAD, false, {SET4(RECORD(1), 3, 0, 0, 0)}},
    {"zeros-with-codes", "uniform-ramp", PAYLOAD, false, {SET4(RECORD(1), 0, 0, 0, 0)}},
    {"zero-point-13", "uniform-ramp", PAYLOAD, false, {SET1(RECORD(0) + 3, 13 << 2)}},
    {"zero-point-15", "tah-published", PAYLOAD, false, {SET1(RECORD(5) + 3, 15 << 2)}},
    {"rotated-in-uniform", "uniform-ramp", PAYLOAD, false, {SET1(RECORD(0) + 3, 0x40)}},
    {"rotated-one-element", "tah-one-element-tails", PAYLOAD, false,
     {SET4(RECORD(1), 0, 0x80, 0, 0x40)}},
    {"pivot-16", "tah-one-pivot", PAYLOAD, false, {SET1(68, 16)}},
    {"bound", "uniform-ramp", PAYLOAD, false, {SET4(RECORD(0), 0, 0xff, 0xff, 0x33)}},
    {"bound-rotated", "tah-one-pivot", PAYLOAD, false, {SET1(RECORD(0) + 1, 254)}},
    {"plane-padding", "uniform-ramp", PAYLOAD, false, {SET1(83, 0xf0)}},
    {"map-padding", "tah-published", PAYLOAD, false, {SET1(145, 0xff)}},
    {"sign-padding", "uniform-special", PAYLOAD, false, {SET4(RECORD(10), 2, 0, 0, 0)}},
    {"tahx-type-bytes", "tahx-ramp", HEADER, false, {SET1(26, 0)}},
    {"tahx-tile-8", "tahx-ramp", HEADER, false, {SET1(28, 3)}},
    {"tahx-tile-512", "tahx-ramp", HEADER, false, {SET1(28, 9)}},
    {"tahx-least-9", "tahx-ramp", HEADER, false, {SET1(29, 9)}},
    {"tahx-mean-bits-17", "tahx-channels", HEADER, false, {SET1(30, 17)}},
    {"tahx-mean-bits-without-channels", "tahx-ramp", HEADER, false, {SET1(30, 1)}},
    {"tahx-flag-4", "tahx-channels", HEADER, false, {SET1(31, 4)}},
    {"tahx-flags-without-channels", "tahx-ramp", HEADER, false, {SET1(31, 2)}},
    {"tahx-channels-do-not-divide", "tahx-channels", HEADER, false, {SET1(48, 99)}},
    {"tahx-threshold-131073", "tahx-ramp", HEADER, false, {SET4(52, 1, 0, 2, 0)}},
    {"tahx-threshold-least", "tahx-ramp", HEADER, false, {SET4(52, 0, 0, 0, 0x80)}},
    {"tahx-exponent-121", "tahx-ramp", HEADER, false, {SET1(56, 121)}},
    {"tahx-exponent-with-rows", "tahx-tokens", HEADER, false, {SET1(56, 1)}},
    {"tahx-tile-exponent-91", "tahx-ramp", HEADER, false, {SET1(57, 91)}},
    {"tahx-mean-exponent-91", "tahx-channels", HEADER, false, {SET1(58, 0xa5)}},
    {"tahx-mean-exponent-without-means", "tahx-ramp", HEADER, false, {SET1(58, 1)}},
    {"tahx-reserved-59", "tahx-ramp", HEADER, false, {SET1(59, 1)}},
    {"tahx-reserved-63", "tahx-ramp", HEADER, false, {SET1(63, 1)}},
    {"tahx-payload-without-tiles", "tahx-ramp", HEADER, false, {SET1(40, 1)}},
    {"tahx-channel-padding", "tahx-channels", PAYLOAD, false, {SET1(101, 0xff)}},
    {"tahx-row-241", "tahx-tokens", PAYLOAD, false, {SET1(189, 241)}},
    {"tahx-stream-too-short", "tahx-ramp", PAYLOAD, false, {SET1(40, 41), SET1(105, 0)}},
    {"tahx-stream-too-long", "tahx-ramp", PAYLOAD, false, {SET1(40, 43)}},
    {"tahx-zeros-with-codes", "tahx-ramp", PAYLOAD, false, {SET1(65, 0)}},
    {"tahx-exact-without-elements", "tahx-ramp", PAYLOAD, false, {SET1(64, 3)}},
    {"tahx-plane-padding", "tahx-channels", PAYLOAD, false, {SET1(3311, 0xff)}},
};

size_t golden_bad_count(void)
{
    return sizeof bads / sizeof *bads;
}

const char *golden_bad_name(size_t index)
{
    return bads[index].name;
}

tah_status_t golden_bad_status(size_t index)
{
    return bads[index].status;
}

const char *golden_status_name(tah_status_t status)
{
    switch (status) {
    case TAH_NOT_A_FRAME:
        return "NOT_A_FRAME";
    case TAH_ERR_VERSION:
        return "VERSION";
    case TAH_ERR_CHECKSUM:
        return "CHECKSUM";
    case TAH_ERR_HEADER:
        return "HEADER";
    case TAH_ERR_PAYLOAD:
        return "PAYLOAD";
    default:
        return NULL;
    }
}

uint8_t *golden_bad_make(size_t index, size_t *bytes)
{
    const bad_t *bad = &bads[index];
    uint8_t *frame = NULL, *tensor = NULL;
    size_t tensor_bytes, base = 0;
    while (base < golden_count() && strcmp(golden_name(base), bad->base) != 0)
        base++;
    if (base == golden_count() || !golden_make(base, &frame, bytes, &tensor, &tensor_bytes))
        return NULL;
    free(tensor);
    for (size_t e = 0; e < sizeof bad->edits / sizeof *bad->edits; e++)
        memcpy(frame + bad->edits[e].at, bad->edits[e].bytes, bad->edits[e].count);
    if (!bad->stale) {
        const uint64_t sum = XXH3_64bits(frame + 24, *bytes - 24);
        memcpy(frame + 16, &sum, sizeof sum);
    }
    return frame;
}
