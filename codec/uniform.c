/* uniform: group-wise asymmetric quantisation with one width. */
#include "codec/tiled.h"

static const char *uniform_check(const tah_params_t *params)
{
    return tiled_check(params);
}

static bool uniform_bound(const tah_params_t *params, uint64_t count, uint64_t *payload)
{
    return tiled_bound(params, false, TAH_HADAMARD_OFF, count, payload);
}

static tah_status_t uniform_encode(const tah_params_t *params, const tah_message_t *message,
                                   const uint8_t *src, codec_sink_t *sink)
{
    return tiled_encode(params, false, TAH_HADAMARD_OFF, message, src, sink);
}

static bool uniform_improve(tah_params_t *params)
{
    if (params->bits_high == 8)
        return false;
    params->bits_high++;
    return true;
}

static tah_status_t uniform_header(const frame_header_t *header)
{
    tiled_shape_t shape;
    if (header->dtype == TAH_BYTES || header->small[3] != TILED_MAP_NONE)
        return TAH_ERR_HEADER;
    return tiled_shape_read(header, &shape);
}

static tah_status_t uniform_decode(const frame_header_t *header, const uint8_t *payload,
                                   tah_pool_t *pool, uint8_t *dst)
{
    return tiled_decode(header, false, payload, pool, dst);
}

const codec_ops_t codec_uniform = {
    .check = uniform_check,
    .bound = uniform_bound,
    .encode = uniform_encode,
    .improve = uniform_improve,
    .header = uniform_header,
    .decode = uniform_decode,
};
