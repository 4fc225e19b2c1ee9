/* The public functions: parameters, encode, decode; each codec behind its row of the table. */
#include "config.h"

#include "codec/codec.h"

#include "codec/bytes.h"

#include <math.h>
#include <stdio.h>

static const codec_ops_t *const codecs[TAH_CODEC_COUNT] = {
    [TAH_CODEC_TAH] = &codec_tah,
    [TAH_CODEC_UNIFORM] = &codec_uniform,
    [TAH_CODEC_TAHX] = &codec_tahx,
#ifdef HAVE_ZSTD
    [TAH_CODEC_LOSSLESS] = &codec_lossless,
#endif
};

static const codec_ops_t *codec_find(unsigned codec)
{
    return codec < TAH_CODEC_COUNT ? codecs[codec] : NULL;
}

void tah_params_init(tah_params_t *params, tah_codec_t codec)
{
    *params = (tah_params_t){
        .codec = codec,
        .dtype = TAH_FLOAT32,
        .tile = codec == TAH_CODEC_UNIFORM || codec == TAH_CODEC_TAHX ? 32 : 64,
        .bits_high = codec == TAH_CODEC_UNIFORM ? 6 : 4,
        .bits_low = 3,
        .high_fraction = 0.8f,
        .rate = 4.3f,
        .min_sqnr = -INFINITY,
        .level = 1,
    };
}

/* NULL, or why params are refused; *status says which kind of fault it is. */
static const char *params_fault(const tah_params_t *params, tah_status_t *status)
{
    *status = TAH_ERR_PARAM;
    if (params->codec <= TAH_CODEC_NONE || params->codec >= TAH_CODEC_COUNT)
        return "codec must be tah, uniform, tahx or lossless";
    const codec_ops_t *ops = codec_find(params->codec);
    if (!ops)
        return "this codec is not in this build";
    if (tah_dtype_bytes(params->dtype) == 0)
        return "dtype must be bytes, float32, bfloat16, float16 or float64";
    if (params->dtype == TAH_BYTES && params->codec != TAH_CODEC_LOSSLESS) {
        *status = TAH_ERR_DTYPE;
        return "dtype bytes suits only the lossless codec; say which float type the bytes hold";
    }
    if (isnan(params->min_sqnr))
        return "min-sqnr must be a number of dB";
    const char *why = ops->check(params);
    if (!why)
        *status = TAH_OK;
    return why;
}

tah_status_t tah_params_check(const tah_params_t *params, char *why, size_t why_bytes)
{
    tah_status_t status;
    const char *fault = params_fault(params, &status);
    snprintf(why, why_bytes, "%s", fault ? fault : "");
    return status;
}

tah_status_t tah_params_fit(const tah_params_t *params, size_t count)
{
    return params->channels && count % params->channels ? TAH_ERR_PARAM : TAH_OK;
}

size_t tah_frame_bound(const tah_params_t *params, size_t count)
{
    uint64_t payload, length;
    const codec_ops_t *ops = codec_find(params->codec);
    if (!ops || !ops->bound(params, count, &payload) || !frame_length(payload, &length))
        return SIZE_MAX;
    return length;
}

bool tah_frame_has_key(const void *bytes, const uint8_t key[TAH_KEY_BYTES])
{
    return memcmp(bytes, key, TAH_KEY_BYTES) == 0;
}

/* One frame by these parameters, which are known to be right. */
static tah_status_t encode_frame(const tah_params_t *params, const tah_message_t *message,
                                 const void *src, size_t count, uint8_t *frame, size_t capacity,
                                 tah_encoded_t *result)
{
    uint64_t length;
    if (capacity < TAH_FRAME_MIN)
        return TAH_ERR_SPACE;
    /* The longest frame that fits ends at 112 modulo 128. */
    const size_t usable =
        (capacity - TAH_FRAME_RESIDUE) / TAH_FRAME_ALIGN * TAH_FRAME_ALIGN + TAH_FRAME_RESIDUE;
    frame_header_t header = {
        .codec = (uint8_t)params->codec,
        .dtype = (uint8_t)params->dtype,
        .rule = message->rule,
        .count = count,
    };
    codec_sink_t sink = {
        .payload = frame + TAH_HEADER_BYTES,
        .room = usable - TAH_HEADER_BYTES,
        .header = &header,
        .result = result,
    };
    const tah_status_t status = codec_find(params->codec)->encode(params, message, src, &sink);
    if (status != TAH_OK)
        return status;
    if (!frame_length(header.payload, &length) || length > capacity)
        return TAH_ERR_SPACE;
    frame_finish(&header, message->key, frame);
    result->frame_bytes = length;
    return TAH_OK;
}

/* Whether an encoding is as good as its rule wants it. */
static bool sqnr_reached(const tah_params_t *params, const tah_encoded_t *result)
{
    return result->noise == 0 ||
           result->signal >= result->noise * pow(10, (double)params->min_sqnr / 10);
}

/* Encodes with more and more bits until min_sqnr is reached. */
static tah_status_t encode_good(const tah_params_t *wanted, const tah_message_t *message,
                                const void *src, size_t count, uint8_t *frame, size_t capacity,
                                tah_encoded_t *result)
{
    const codec_ops_t *ops = codec_find(wanted->codec);
    const bool floored = ops->improve && wanted->min_sqnr > -INFINITY;
    tah_params_t params = *wanted;
    for (unsigned retries = 0;; retries++) {
        *result = (tah_encoded_t){.retries = retries, .measured = message->measure || floored};
        const tah_status_t status =
            encode_frame(&params, message, src, count, frame, capacity, result);
        if (status != TAH_OK || !floored || sqnr_reached(&params, result))
            return status;
        if (!ops->improve(&params))
            return TAH_ERR_SQNR;
    }
}

tah_status_t tah_encode(const tah_params_t *params, const tah_message_t *message, const void *src,
                        size_t count, void *frame, size_t capacity, tah_encoded_t *result)
{
    tah_status_t status;
    uint64_t tensor;
    if (params_fault(params, &status) == NULL)
        status = tah_params_fit(params, count) != TAH_OK ||
                         !checked_mul(count, tah_dtype_bytes(params->dtype), &tensor)
                     ? TAH_ERR_PARAM
                     : encode_good(params, message, src, count, frame, capacity, result);
    if (status != TAH_OK) {
        *result = (tah_encoded_t){0};
        if (capacity >= TAH_KEY_BYTES)
            memset(frame, 0, TAH_KEY_BYTES);
    }
    return status;
}

/* A header that is right in all its fields. */
static tah_status_t header_read(const void *data, size_t bytes, frame_header_t *header)
{
    const tah_status_t status = frame_parse(data, bytes, header);
    if (status != TAH_OK)
        return status;
    const codec_ops_t *ops = codec_find(header->codec);
    return ops ? ops->header(header) : TAH_ERR_UNSUPPORTED;
}

tah_status_t tah_frame_read(const void *data, size_t bytes, const uint8_t key[TAH_KEY_BYTES],
                            tah_frame_t *info)
{
    frame_header_t header;
    if (!tah_frame_length(bytes) || !tah_frame_has_key(data, key))
        return TAH_NOT_A_FRAME;
    /* A frame of another version has its checksum elsewhere; of ours, damage is named first. */
    tah_status_t status = frame_parse(data, bytes, &header);
    if (status == TAH_ERR_VERSION)
        return status;
    if (frame_verify(data, bytes) != TAH_OK)
        return TAH_ERR_CHECKSUM;
    status = header_read(data, bytes, &header);
    if (status != TAH_OK)
        return status;
    *info = (tah_frame_t){
        .codec = (tah_codec_t)header.codec,
        .dtype = (tah_dtype_t)header.dtype,
        .rule = header.rule,
        .count = header.count,
        .tensor_bytes = header.count * tah_dtype_bytes((tah_dtype_t)header.dtype),
        .payload_bytes = header.payload,
    };
    return TAH_OK;
}

tah_status_t tah_decode(const void *frame, size_t bytes, const tah_frame_t *info, tah_pool_t *pool,
                        void *dst, size_t capacity)
{
    frame_header_t header;
    if (capacity < info->tensor_bytes)
        return TAH_ERR_TRUNCATE;
    /* The frame may have been moved since it was read; only its own header is trusted. */
    const tah_status_t status = header_read(frame, bytes, &header);
    if (status != TAH_OK)
        return status;
    if (header.codec != info->codec || header.dtype != info->dtype || header.count != info->count)
        return TAH_ERR_HEADER;
    return codec_find(header.codec)->decode(&header, (const uint8_t *)frame + TAH_HEADER_BYTES,
                                            pool, dst);
}
