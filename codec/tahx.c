/* tahx: a given number of bits a value in all, spent where they lower the error most. */
#include "codec/tahx.h"

#define RATE_MOST 9.0f /* bits a value */
#define RATE_MORE 0.5f /* what one step to a better quality adds: 3 dB */

static const char *check(const tah_params_t *params)
{
    if (params->tile < TILE_MIN || params->tile > TILE_MAX || params->tile & (params->tile - 1))
        return "tile must be 16, 32, 64, 128 or 256";
    if (!(params->rate >= 1 && params->rate <= RATE_MOST))
        return "rate must be from 1 to 9 bits a value";
    if (params->min_bits > 7)
        return "min-bits must be from 0 to 7";
    if ((float)params->min_bits + 8 / (float)params->tile > params->rate)
        return "min-bits must leave room for the scales below rate: 8 bits a tile";
    if ((unsigned)params->error > TAH_ERROR_TOKEN)
        return "error must be absolute or token";
    if (params->error == TAH_ERROR_TOKEN && params->channels == 0)
        return "error = token needs channels, the elements of a token";
    return NULL;
}

static bool bound(const tah_params_t *params, uint64_t count, uint64_t *payload)
{
    /* What the rate says, or what tiles of width 0 and constant ones take, as scales do not. */
    const uint64_t channels = params->channels ? params->channels : count;
    const uint64_t tiles =
        channels ? count / channels * (channels / params->tile + (channels % params->tile != 0))
                 : 0;
    const uint64_t rows = params->channels ? count / channels : 0;
    const uint64_t least = tiles * (1 + tah_dtype_bytes(params->dtype)) + rows;
    const uint64_t budget = tahx_budget(params, count);
    *payload = budget > least ? budget : least;
    return count < UINT64_C(1) << 56;
}

static bool improve(tah_params_t *params)
{
    if (params->rate >= RATE_MOST)
        return false;
    params->rate = params->rate + RATE_MORE < RATE_MOST ? params->rate + RATE_MORE : RATE_MOST;
    return true;
}

static tah_status_t header(const frame_header_t *given)
{
    tahx_shape_t shape;
    return tahx_shape_read(given, &shape);
}

const codec_ops_t codec_tahx = {
    .check = check,
    .bound = bound,
    .encode = tahx_encode,
    .improve = improve,
    .header = header,
    .decode = tahx_decode,
};
