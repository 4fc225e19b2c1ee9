/* Parts of a stream, one after another. */
#include "codec/stream.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

uint8_t *stream_out_begin(const stream_out_t *stream, const pool_part_t *part, size_t *room)
{
    *room = 0;
    if (atomic_load(&stream->full))
        return NULL;
    *room = part->scratch ? POOL_SCRATCH : stream->sink->room - stream->at;
    return part->scratch ? part->scratch : stream->sink->payload + stream->at;
}

void stream_out_finish(stream_out_t *stream, const pool_part_t *part)
{
    codec_sink_t *sink = stream->sink;
    tah_encoded_t *sum = sink->result;
    if (atomic_load(&stream->full) || part->bytes > sink->room - stream->at) {
        atomic_store(&stream->full, true);
        return;
    }
    if (part->scratch)
        memcpy(sink->payload + stream->at, part->scratch, part->bytes);
    stream->at += part->bytes;
    sum->tiles_high += part->sums.tiles_high;
    sum->tiles_rotated += part->sums.tiles_rotated;
    sum->tiles_exact += part->sums.tiles_exact;
    sum->signal += part->sums.signal;
    sum->noise += part->sums.noise;
}

/* A decoding in which parts need not come in their order: starts has their places. */
typedef struct reading {
    const stream_in_t *stream;
    size_t *starts; /* offsets in the stream, and its end; at first each part's length at + 1 */
    atomic_bool invalid;
} reading_t;

/* Stores past the caches come before what tells other threads of them: see kernel_t.copy_past. */
static void past_settle(void)
{
#ifdef __SSE__
    _mm_sfence();
#endif
}

static void part_measure(void *job, pool_part_t *part)
{
    const reading_t *reading = job;
    reading->starts[part->number + 1] =
        reading->stream->measure(reading->stream->job, part->number);
}

static void part_decode(void *job, pool_part_t *part)
{
    reading_t *reading = job;
    const stream_in_t *stream = reading->stream;
    const size_t start = reading->starts[part->number];
    if (!atomic_load_explicit(&reading->invalid, memory_order_relaxed) &&
        stream->decode(stream->job, part->number, stream->start + start, stream->end) !=
            reading->starts[part->number + 1] - start)
        atomic_store(&reading->invalid, true);
    past_settle();
}

/* From lengths to starts; false where they are not valid or do not make up the stream. */
static bool starts_find(const stream_in_t *stream, uint64_t parts, size_t *starts)
{
    const size_t bytes = (size_t)(stream->end - stream->start);
    starts[0] = 0;
    for (uint64_t part = 0; part < parts; part++) {
        if (starts[part + 1] > bytes - starts[part])
            return false;
        starts[part + 1] += starts[part];
    }
    return starts[parts] == bytes;
}

static tah_status_t decode_alone(const stream_in_t *stream, uint64_t parts)
{
    const uint8_t *in = stream->start;
    for (uint64_t part = 0; part < parts; part++) {
        const size_t bytes = stream->decode(stream->job, part, in, stream->end);
        if (bytes == SIZE_MAX)
            return TAH_ERR_PAYLOAD;
        in += bytes;
    }
    past_settle();
    return in == stream->end ? TAH_OK : TAH_ERR_PAYLOAD;
}

tah_status_t stream_decode(const stream_in_t *stream, tah_pool_t *pool, uint64_t parts)
{
    reading_t reading = {.stream = stream};
    if (pool_suits(pool, parts))
        reading.starts = malloc((parts + 1) * sizeof *reading.starts);
    if (!reading.starts)
        return decode_alone(stream, parts);
    pool_run(pool, parts, part_measure, NULL, &reading);
    bool valid = starts_find(stream, parts, reading.starts);
    if (valid) {
        pool_run(pool, parts, part_decode, NULL, &reading);
        valid = !atomic_load(&reading.invalid);
    }
    free(reading.starts);
    return valid ? TAH_OK : TAH_ERR_PAYLOAD;
}
