/* What every codec provides; the table of codecs is in codec.c. */
#ifndef TAH_CODEC_H
#define TAH_CODEC_H

#include "codec/frame.h"

/* Where a payload goes: behind the header of a frame. */
typedef struct codec_sink {
    uint8_t *payload;
    size_t room;            /* bytes that may be written at payload */
    frame_header_t *header; /* codec, dtype, rule and count are set; the rest is the codec's */
    tah_encoded_t *result;  /* signal and noise are summed where measured is set */
} codec_sink_t;

typedef struct codec_ops {
    /*
     * NULL where params can be encoded with, else one clause that says which field is wrong and
     * what is allowed. dtype is a float type or TAH_BYTES.
     */
    const char *(*check)(const tah_params_t *params);

    /* Bytes of payload that count elements take at most when no tile has to be stored exactly;
     * false where that does not fit in 64 bits. */
    bool (*bound)(const tah_params_t *params, uint64_t count, uint64_t *payload);

    /*
     * Writes a payload and the codec's fields of the header. TAH_ERR_SPACE where it does not fit.
     */
    tah_status_t (*encode)(const tah_params_t *params, const tah_message_t *message,
                           const uint8_t *src, codec_sink_t *sink);

    /* Changes params to the next better quality; false where there is none. NULL: always exact. */
    bool (*improve)(tah_params_t *params);

    /* TAH_ERR_HEADER where a field of the header contradicts the codec's format. */
    tah_status_t (*header)(const frame_header_t *header);

    /* Decodes the payload of a header that the function above accepted. */
    tah_status_t (*decode)(const frame_header_t *header, const uint8_t *payload, tah_pool_t *pool,
                           uint8_t *dst);
} codec_ops_t;

extern const codec_ops_t codec_tah;
extern const codec_ops_t codec_uniform;
extern const codec_ops_t codec_tahx;
#ifdef HAVE_ZSTD
extern const codec_ops_t codec_lossless;
#endif

#endif
