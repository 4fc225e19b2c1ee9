/*
 * Memory of the library's own: frames on their way, what a probe had to take in, and scratch.
 *
 * A buffer is taken for one message and given back. It is kept for the next one, since fresh memory
 * from the system costs more than encoding into it. What is taken and kept together never exceeds
 * by more than BUFFERS_KEPT_BYTES what was taken at one time at most. Thread-safe.
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
 * The same first bytes bytes in a buffer of about that size, where that saves much, for a message
 * that may be long on its way: use the one returned. Never fails.
 */
buffer_t *buffers_shrink(buffer_t *buffer, size_t bytes);

/* The largest number of bytes ever taken and kept at one time. */
uint64_t buffers_peak(void);

/* Frees what is kept. */
void buffers_drop(void);

#endif
