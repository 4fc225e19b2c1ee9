/*
 * The kernels: what is done to many tiles, once per instruction set.
 *
 * Contract: every kernel writes the bytes that the scalar one writes, for every input, whatever the
 * rounding mode and the flush-to-zero state of the thread; pointers to elements, records and
 * streams have any alignment; nothing outside the stated lengths is read or written. A kernel does
 * the common case its own way and leaves the rest to tile_encode and tile_decode.
 */
#ifndef TAH_KERNELS_H
#define TAH_KERNELS_H

#include "codec/tile.h"

/* Tiles that lie one after another in the tensor, all of n elements; at most KERNEL_RUN of them. */
#define KERNEL_RUN 64
typedef struct tile_run {
    const tile_job_t *job;
    unsigned n;            /* elements of a tile, 1..TILE_MAX */
    unsigned tiles;        /* 1..KERNEL_RUN */
    const uint8_t *widths; /* bits of a code, by tile */
    uint64_t first;        /* number of the first tile in its message */
} tile_run_t;

typedef struct kernel {
    const char *name;

    /*
     * Encodes a run from src: a record for each tile to records, their streams one after another
     * to out, of which room bytes may be written. Returns the bytes of the stream written;
     * SIZE_MAX where room is too small, with records and out undefined.
     */
    size_t (*encode)(const tile_run_t *run, const uint8_t *src, uint8_t *records, uint8_t *out,
                     size_t room, tile_counts_t *counts);

    /*
     * Decodes a run to dst from its records and at most room bytes at in. Returns the bytes of the
     * stream read; SIZE_MAX where a record or the stream is not valid, with dst undefined.
     */
    size_t (*decode)(const tile_run_t *run, const uint8_t *records, const uint8_t *in,
                     size_t room, uint8_t *dst);

    /* tile_entropy and tile_range of each of units units (rows, tiles) of n elements, at src one
     * after another; n is at most TILE_MAX for a range. */
    void (*entropy)(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units, uint32_t *keys);
    void (*range)(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units, uint32_t *keys);

    /*
     * Copies bytes to dst past the caches, where that can be done: for what is too large to still
     * be in them when it is read. Before other threads are told of it, a fence for stores has to
     * follow.
     */
    void (*copy_past)(uint8_t *dst, const uint8_t *src, size_t bytes);

    /* XXH3 with 64-bit result and seed 0. */
    uint64_t (*checksum)(const uint8_t *data, size_t bytes);

    const struct tahx_kernel *tahx; /* the tiles of tahx: codec/tahx.h */
} kernel_t;

extern const kernel_t kernel_scalar, kernel_avx2, kernel_avx512;

/* The kernel in use. */
const kernel_t *kernel_get(void);

#endif
