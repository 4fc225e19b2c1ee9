/* Decoder of tahx. */
#include "codec/tahx.h"

#include "codec/bytes.h"
#include "codec/kernels.h"

#include <fenv.h>

static tah_status_t stream_decode(const tahx_shape_t *shape, const frame_header_t *header,
                                  const tahx_vectors_t *vectors, const uint8_t *payload,
                                  uint8_t *dst)
{
    const uint8_t *rows = shape->by_row ? payload + shape->rows_start : NULL;
    const uint8_t *in = payload + shape->stream_start, *const end = payload + header->payload;
    const tahx_kernel_t *kernel = kernel_get()->tahx;
    tahx_widths_t widths;
    tahx_cursor_t cursor = {.run = {
                                .shape = shape,
                                .dtype = (tah_dtype_t)header->dtype,
                                .element = (unsigned)tah_dtype_bytes((tah_dtype_t)header->dtype),
                                .widths = &widths,
                            }};
    tahx_widths_init(shape, &widths);
    for (uint64_t row = 0; rows && row < shape->rows; row++)
        if (rows[row] > 2 * TAHX_SHIFT)
            return TAH_ERR_PAYLOAD;
    while (tahx_next(&cursor, vectors, rows)) {
        const size_t used =
            kernel->decode(&cursor.run, payload + shape->bytes_start + cursor.run.first, in,
                           (size_t)(end - in), dst + cursor.start * cursor.run.element);
        if (used == SIZE_MAX)
            return TAH_ERR_PAYLOAD;
        in += used;
    }
    return in == end ? TAH_OK : TAH_ERR_PAYLOAD;
}

tah_status_t tahx_decode(const frame_header_t *header, const uint8_t *payload, tah_pool_t *pool,
                         uint8_t *dst)
{
    tahx_shape_t shape;
    tahx_vectors_t vectors;
    fenv_t environment;
    tah_status_t status = tahx_shape_read(header, &shape);
    if (status != TAH_OK)
        return status;
    if (!tahx_vectors_alloc(&vectors, shape.mean_bits || shape.scaled ? shape.channels : 0))
        return TAH_ERR_MEMORY;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    status = tahx_vectors_read(&shape, payload, &vectors)
                 ? stream_decode(&shape, header, &vectors, payload, dst)
                 : TAH_ERR_PAYLOAD;
    fesetenv(&environment);
    tahx_vectors_free(&vectors);
    return status;
}
