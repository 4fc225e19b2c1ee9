/*
 * tah: the method of arXiv 2506.01352. Two widths, given by entropy (section on token-level
 * allocation; per tile in its second version) or by range, and a Hadamard transform of the tiles
 * that one large element would spoil.
 */
#include "codec/tiled.h"

static const char *tah_check(const tah_params_t *params)
{
    const char *why = tiled_check(params);
    if (why)
        return why;
    if (params->bits_low < 2 || params->bits_low > params->bits_high)
        return "the low width must be from 2 to the high width";
    if (!(params->high_fraction >= 0 && params->high_fraction <= 1))
        return "high-fraction must be from 0 to 1";
    if ((unsigned)params->allocate > TAH_ALLOCATE_RANGE)
        return "allocate must be token, tile or range";
    if ((unsigned)params->hadamard > TAH_HADAMARD_OFF)
        return "hadamard must be published, best or off";
    return NULL;
}

static bool tah_bound(const tah_params_t *params, uint64_t count, uint64_t *payload)
{
    return tiled_bound(params, true, params->hadamard, count, payload);
}

static tah_status_t tah_encode_payload(const tah_params_t *params, const tah_message_t *message,
                                       const uint8_t *src, codec_sink_t *sink)
{
    return tiled_encode(params, true, params->hadamard, message, src, sink);
}

static bool tah_improve(tah_params_t *params)
{
    if (params->bits_low == 8)
        return false;
    /* Both widths grow, so that the share of the low one still saves something. */
    params->bits_low++;
    params->bits_high += params->bits_high < 8;
    return true;
}

static tah_status_t tah_header(const frame_header_t *header)
{
    tiled_shape_t shape;
    if (header->dtype == TAH_BYTES)
        return TAH_ERR_HEADER;
    return tiled_shape_read(header, &shape);
}

static tah_status_t tah_decode_payload(const frame_header_t *header, const uint8_t *payload,
                                       tah_pool_t *pool, uint8_t *dst)
{
    return tiled_decode(header, true, payload, pool, dst);
}

const codec_ops_t codec_tah = {
    .check = tah_check,
    .bound = tah_bound,
    .encode = tah_encode_payload,
    .improve = tah_improve,
    .header = tah_header,
    .decode = tah_decode_payload,
};
