/* Decoder of tahx. */
#include "codec/environment.h"
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/kernels.h"
#include "codec/stream.h"


typedef struct decoding {
    const tahx_shape_t *shape;
    tah_dtype_t dtype;
    const tahx_vectors_t *vectors;
    const tahx_widths_t *widths;
    const uint8_t *rows, *bytes; /* exponents of rows or NULL, bytes of tiles */
    uint8_t *dst;
    bool past; /* the tensor is to go past the caches */
} decoding_t;

static size_t part_bytes(const void *opaque, uint64_t part)
{
    const decoding_t *decoding = opaque;
    const unsigned tile = decoding->shape->tile;
    size_t sum = 0;
    tahx_cursor_t cursor = tahx_part(decoding->shape, decoding->dtype, part);
    while (tahx_next(&cursor, decoding->vectors, decoding->rows)) {
        uint64_t number = cursor.run.first;
        for (unsigned at = 0; at < cursor.run.n; at += tile, number++) {
            const unsigned n = cursor.run.n - at < tile ? cursor.run.n - at : tile;
            const uint8_t byte = decoding->bytes[number];
            sum += byte < TAHX_COARSEST
                       ? tile_special_bytes((tile_kind_t)byte, n, cursor.run.element)
                       : tile_code_bytes(n, tahx_width(decoding->widths, byte, number));
        }
    }
    return sum;
}

static size_t part_decode(const void *opaque, uint64_t part, const uint8_t *in, const uint8_t *end)
{
    const decoding_t *decoding = opaque;
    const kernel_t *kernel = kernel_get();
    _Alignas(64) uint8_t near[STREAM_NEAR];
    size_t used = 0;
    tahx_cursor_t cursor = tahx_part(decoding->shape, decoding->dtype, part);
    cursor.run.widths = decoding->widths;
    while (tahx_next(&cursor, decoding->vectors, decoding->rows)) {
        const size_t tensor_bytes = (size_t)cursor.run.n * cursor.run.element;
        const bool past = decoding->past && tensor_bytes <= sizeof near;
        uint8_t *const dst = decoding->dst + cursor.start * cursor.run.element;
        const size_t bytes =
            kernel->tahx->decode(&cursor.run, decoding->bytes + cursor.run.first, in + used,
                                 (size_t)(end - in) - used, past ? near : dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        if (past)
            kernel->copy_past(dst, near, tensor_bytes);
        used += bytes;
    }
    return used;
}

static tah_status_t decode_with(const tahx_shape_t *shape, const frame_header_t *header,
                                const tahx_vectors_t *vectors, const uint8_t *payload,
                                tah_pool_t *pool, uint8_t *dst)
{
    tahx_widths_t widths;
    const decoding_t decoding = {
        .shape = shape,
        .dtype = (tah_dtype_t)header->dtype,
        .vectors = vectors,
        .widths = &widths,
        .rows = shape->by_row ? payload + shape->rows_start : NULL,
        .bytes = payload + shape->bytes_start,
        .dst = dst,
        .past = shape->count * tah_dtype_bytes((tah_dtype_t)header->dtype) >= STREAM_PAST,
    };
    const stream_in_t stream = {
        .start = payload + shape->stream_start,
        .end = payload + header->payload,
        .job = &decoding,
        .measure = part_bytes,
        .decode = part_decode,
    };
    tahx_widths_init(shape, &widths);
    for (uint64_t row = 0; decoding.rows && row < shape->rows; row++)
        if (decoding.rows[row] > 2 * TAHX_SHIFT)
            return TAH_ERR_PAYLOAD;
    return stream_decode(&stream, pool, tahx_parts(shape, decoding.dtype));
}

tah_status_t tahx_decode(const frame_header_t *header, const uint8_t *payload, tah_pool_t *pool,
                         uint8_t *dst)
{
    tahx_shape_t shape;
    tahx_vectors_t vectors;
    environment_t environment;
    tah_status_t status = tahx_shape_read(header, &shape);
    if (status != TAH_OK)
        return status;
    if (!tahx_vectors_alloc(&vectors, shape.mean_bits || shape.scaled ? shape.channels : 0))
        return TAH_ERR_MEMORY;
    environment_enter(&environment);
    status = tahx_vectors_read(&shape, payload, &vectors)
                 ? decode_with(&shape, header, &vectors, payload, pool, dst)
                 : TAH_ERR_PAYLOAD;
    environment_leave(&environment);
    tahx_vectors_free(&vectors);
    return status;
}
