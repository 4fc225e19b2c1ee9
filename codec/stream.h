/* The stream at the end of a payload, made and read in parts by the threads of a pool. */
#ifndef TAH_STREAM_H
#define TAH_STREAM_H

#include "codec/codec.h"
#include "codec/pool.h"

/* A stream that is made. */
typedef struct stream_out {
    codec_sink_t *sink;
    uint64_t at;      /* its end so far, offset in the payload; start with that of its first byte */
    atomic_bool full; /* it did not fit */
} stream_out_t;

/*
 * In the work on a part: where it may write *room bytes, NULL where the stream is full already. The
 * work leaves in the part the bytes written (SIZE_MAX: room was too small) and its sums.
 */
uint8_t *stream_out_begin(const stream_out_t *stream, const pool_part_t *part, size_t *room);

/* The finish of a part: puts it where the one before ends, and adds its sums to sink->result. */
void stream_out_finish(stream_out_t *stream, const pool_part_t *part);

/*
 * Tensors of at least so many bytes are more than a core's share of the caches, so they are decoded
 * past them, which spares reading what is overwritten: run by run in memory nearby, of so many
 * bytes, and then copied.
 */
#define STREAM_PAST ((uint64_t)48 << 20)
#define STREAM_NEAR (1u << 14)

/* A stream that is read; job is given to both functions, which several threads may call. */
typedef struct stream_in {
    const uint8_t *start, *end;
    const void *job;
    /* Bytes that a part has in the stream; SIZE_MAX where it is not valid. */
    size_t (*measure)(const void *job, uint64_t part);
    /* Decodes a part from in up to end; the bytes read, SIZE_MAX where they are not valid. */
    size_t (*decode)(const void *job, uint64_t part, const uint8_t *in, const uint8_t *end);
} stream_in_t;

/* Decodes all parts. TAH_ERR_PAYLOAD: one is not valid, or they are not all of the stream. */
tah_status_t stream_decode(const stream_in_t *stream, tah_pool_t *pool, uint64_t parts);

#endif
