/* The reference kernel: one tile after another. */
#include "codec/kernels.h"

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/tahx.h"

static size_t scalar_encode(const tile_run_t *run, const uint8_t *src, uint8_t *records,
                            uint8_t *out, size_t room, tile_counts_t *counts)
{
    size_t used = 0;
    for (unsigned t = 0; t < run->tiles; t++) {
        const size_t bytes =
            tile_encode(run->job, run->first + t, src, run->n, run->widths[t],
                        records + t * TILE_RECORD, out + used, room - used, counts);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
        src += (size_t)run->n * run->job->element;
    }
    return used;
}

static size_t scalar_decode(const tile_run_t *run, const uint8_t *records, const uint8_t *in,
                            size_t room, uint8_t *dst)
{
    size_t used = 0;
    for (unsigned t = 0; t < run->tiles; t++) {
        const size_t bytes = tile_decode(run->job, load_u32(records + t * TILE_RECORD), in + used,
                                         room - used, run->n, run->widths[t], dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
        dst += (size_t)run->n * run->job->element;
    }
    return used;
}

static void scalar_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units,
                           uint32_t *keys)
{
    const size_t bytes = n * tah_dtype_bytes(dtype);
    for (size_t unit = 0; unit < units; unit++)
        keys[unit] = tile_entropy(dtype, src + unit * bytes, n);
}

static void scalar_range(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units,
                         uint32_t *keys)
{
    const size_t bytes = n * tah_dtype_bytes(dtype);
    for (size_t unit = 0; unit < units; unit++)
        keys[unit] = tile_range(dtype, src + unit * bytes, (unsigned)n);
}

static void scalar_copy_past(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

const kernel_t kernel_scalar = {
    .name = "scalar",
    .encode = scalar_encode,
    .decode = scalar_decode,
    .entropy = scalar_entropy,
    .range = scalar_range,
    .copy_past = scalar_copy_past,
    .checksum = checksum,
    .tahx = &tahx_kernel_scalar,
};
