/*
 * lossless: any bytes, exactly. The bytes of elements are sorted by their place (all first bytes,
 * then all second bytes, ...), which puts the exponents together, and compressed with zstd, in
 * blocks so that no scratch grows with the message.
 */
#include "codec/codec.h"

#include "codec/bytes.h"

#include <stdlib.h>
#include <zstd.h>

#define BLOCK_BYTES (1u << 17) /* of the tensor; a multiple of every element size */
#define LENGTH_BYTES 4         /* of an entry of the table of lengths */

static uint64_t block_count(uint64_t tensor)
{
    return tensor / BLOCK_BYTES + (tensor % BLOCK_BYTES != 0);
}

static const char *lossless_check(const tah_params_t *params)
{
    return params->level < 1 || params->level > 19 ? "level must be from 1 to 19" : NULL;
}

static bool lossless_bound(const tah_params_t *params, uint64_t count, uint64_t *payload)
{
    /* Longer ones are not worth sending: see lossless_encode. */
    return checked_mul(count, tah_dtype_bytes(params->dtype), payload);
}

static void shuffle(const uint8_t *src, size_t bytes, unsigned element, uint8_t *dst)
{
    const size_t n = bytes / element;
    for (unsigned place = 0; place < element; place++)
        for (size_t i = 0; i < n; i++)
            dst[place * n + i] = src[i * element + place];
}

static void unshuffle(const uint8_t *src, size_t bytes, unsigned element, uint8_t *dst)
{
    const size_t n = bytes / element;
    for (unsigned place = 0; place < element; place++)
        for (size_t i = 0; i < n; i++)
            dst[i * element + place] = src[place * n + i];
}

/*
 * Compresses a sorted block to one zstd frame; 0 where that does not fit in room bytes. Each plane
 * ends a block of zstd's, so that planes that are noise do not spoil the statistics of the others.
 */
static size_t planes_compress(ZSTD_CCtx *context, const uint8_t *sorted, size_t bytes,
                              unsigned element, uint8_t *out, size_t room)
{
    ZSTD_outBuffer to = {out, room, 0};
    ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(context, bytes);
    for (unsigned place = 0; place < element; place++) {
        const ZSTD_EndDirective end = place + 1 == element ? ZSTD_e_end : ZSTD_e_flush;
        ZSTD_inBuffer from = {sorted + place * (bytes / element), bytes / element, 0};
        if (ZSTD_compressStream2(context, &to, &from, end) != 0)
            return 0;
    }
    return to.pos;
}

/* Compresses one block; its length, or 0 where it does not fit in room bytes. */
static size_t block_encode(ZSTD_CCtx *context, const uint8_t *src, size_t bytes, unsigned element,
                           uint8_t *scratch, uint8_t *out, size_t room)
{
    const uint8_t *sorted = src;
    if (element > 1) {
        shuffle(src, bytes, element, scratch);
        sorted = scratch;
    }
    const size_t length = planes_compress(context, sorted, bytes, element, out, room);
    if (length > 0 && length < bytes)
        return length;
    if (room < bytes)
        return 0;
    memcpy(out, src, bytes); /* as it is: a length equal to the block's says so */
    return bytes;
}

static tah_status_t blocks_encode(ZSTD_CCtx *context, const uint8_t *src, uint64_t tensor,
                                  unsigned element, uint8_t *scratch, codec_sink_t *sink)
{
    uint64_t at = block_count(tensor) * LENGTH_BYTES;
    /* A payload as long as the tensor saves nothing. */
    const uint64_t room = sink->room < tensor ? sink->room : tensor;
    for (uint64_t block = 0; block * BLOCK_BYTES < tensor; block++) {
        const uint64_t left = tensor - block * BLOCK_BYTES;
        const size_t bytes = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        const size_t length =
            at < room ? block_encode(context, src + block * BLOCK_BYTES, bytes, element, scratch,
                                     sink->payload + at, room - at)
                      : 0;
        if (length == 0)
            return TAH_ERR_SPACE;
        store_u32(sink->payload + block * LENGTH_BYTES, (uint32_t)length);
        at += length;
    }
    sink->header->payload = at;
    return TAH_OK;
}

static tah_status_t lossless_encode(const tah_params_t *params, const tah_message_t *message,
                                    const uint8_t *src, codec_sink_t *sink)
{
    const unsigned element = (unsigned)tah_dtype_bytes(params->dtype);
    tah_status_t status = TAH_ERR_MEMORY;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    uint8_t *scratch = malloc(BLOCK_BYTES);
    if (context && scratch) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, params->level);
        status = blocks_encode(context, src, sink->header->count * element, element, scratch, sink);
    }
    free(scratch);
    ZSTD_freeCCtx(context);
    return status;
}

static tah_status_t lossless_header(const frame_header_t *header)
{
    for (size_t i = 0; i < sizeof header->small; i++)
        if (header->small[i] != 0)
            return TAH_ERR_HEADER;
    for (size_t i = 0; i < FRAME_PARAMS_BYTES; i++)
        if (header->params[i] != 0)
            return TAH_ERR_HEADER;
    const uint64_t tensor = header->count * tah_dtype_bytes((tah_dtype_t)header->dtype);
    return block_count(tensor) > header->payload / LENGTH_BYTES ? TAH_ERR_HEADER : TAH_OK;
}

static bool block_decode(ZSTD_DCtx *context, const uint8_t *in, size_t length, unsigned element,
                         uint8_t *scratch, uint8_t *dst, size_t bytes)
{
    if (length == bytes) {
        memcpy(dst, in, bytes);
        return true;
    }
    uint8_t *sorted = element > 1 ? scratch : dst;
    if (ZSTD_decompressDCtx(context, sorted, bytes, in, length) != bytes)
        return false;
    if (element > 1)
        unshuffle(sorted, bytes, element, dst);
    return true;
}

static bool blocks_decode(ZSTD_DCtx *context, const frame_header_t *header, const uint8_t *payload,
                          uint8_t *scratch, uint8_t *dst)
{
    const unsigned element = (unsigned)tah_dtype_bytes((tah_dtype_t)header->dtype);
    const uint64_t tensor = header->count * element;
    uint64_t at = block_count(tensor) * LENGTH_BYTES;
    for (uint64_t block = 0; block * BLOCK_BYTES < tensor; block++) {
        const uint64_t left = tensor - block * BLOCK_BYTES;
        const size_t bytes = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        const size_t length = load_u32(payload + block * LENGTH_BYTES);
        if (length > bytes || length > header->payload - at ||
            !block_decode(context, payload + at, length, element, scratch,
                          dst + block * BLOCK_BYTES, bytes))
            return false;
        at += length;
    }
    return at == header->payload;
}

static tah_status_t lossless_decode(const frame_header_t *header, const uint8_t *payload,
                                    tah_pool_t *pool, uint8_t *dst)
{
    tah_status_t status = TAH_ERR_MEMORY;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    uint8_t *scratch = malloc(BLOCK_BYTES);
    if (context && scratch)
        status = blocks_decode(context, header, payload, scratch, dst) ? TAH_OK : TAH_ERR_PAYLOAD;
    free(scratch);
    ZSTD_freeDCtx(context);
    return status;
}

const codec_ops_t codec_lossless = {
    .check = lossless_check,
    .bound = lossless_bound,
    .encode = lossless_encode,
    .header = lossless_header,
    .decode = lossless_decode,
};
