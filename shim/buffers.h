/*
 * Memory of the library's own: frames on their way, what a probe had to take in, and scratch.
 *
 * A buffer is taken for one message and given back. A few are kept for the next one, since fresh
 * memory from the system costs more than encoding into it; what is kept never exceeds
 * BUFFERS_KEPT_BYTES in all. Thread-safe.
 */
#ifndef SHIM_BUFFERS_H
#define SHIM_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define BUFFERS_KEPT_BYTES ((size_t)4 << 20)

typedef struct buffer {
    size_t bytes;         /* capacity */
    union {
        struct buffer *older; /* while it is kept: the next in the list */
        uint64_t flight;      /* while it is taken: of a frame on its way, see trace.h; or 0 */
    };
    unsigned char data[]; /* aligned to 16 bytes */
} buffer_t;

/* A buffer of at least bytes bytes with undefined content; NULL where there is no memory. */
buffer_t *buffers_take(size_t bytes);

/*
 * Gives a buffer back; NULL is allowed. Its first bytes are wiped: memory that held a frame must
 * not be taken for one when it is next sent raw by whoever gets it.
 */
void buffers_give(buffer_t *buffer);

/*
 * Gives back to the system what lies beyond the first bytes bytes of a buffer, when that is worth
 * it. The buffer may move: use the one returned. Never fails.
 */
buffer_t *buffers_shrink(buffer_t *buffer, size_t bytes);

/* The largest number of bytes ever taken and kept at one time. */
uint64_t buffers_peak(void);

/* Frees what is kept. */
void buffers_drop(void);

#endif
