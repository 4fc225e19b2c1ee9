/*
 * The frame around every payload: header, checksum, padding (doc/frame-format.md, "The frame").
 */
#ifndef TAH_FRAME_H
#define TAH_FRAME_H

#include "codec/tah.h"

#define FRAME_PARAMS_BYTES 16

/*
 * The header's fields, in the order of the bytes; the key, version and checksum are handled here.
 */
typedef struct frame_header {
    uint8_t codec;
    uint8_t dtype;
    uint8_t rule;
    uint8_t small[4]; /* bytes 28..31, meaning given by the codec */
    uint64_t count;   /* elements */
    uint64_t payload; /* bytes */
    uint8_t params[FRAME_PARAMS_BYTES]; /* bytes 48..63, meaning given by the codec */
} frame_header_t;

/*
 * Length in bytes of a frame with this payload: the smallest that holds it and is 112 modulo 128.
 * false: the length does not fit in 64 bits.
 */
bool frame_length(uint64_t payload, uint64_t *length);

/*
 * Completes a frame whose payload already stands at byte TAH_HEADER_BYTES: writes the header and
 * the padding, then the checksum. frame has room for frame_length(header->payload) bytes.
 */
void frame_finish(const frame_header_t *header, const uint8_t key[TAH_KEY_BYTES], uint8_t *frame);

/*
 * Takes a header apart without checking the checksum or the fields that belong to a codec.
 * bytes is the length of what lies at frame.
 * TAH_OK: the length is exactly what the payload field implies, the padding is zero.
 * TAH_ERR_VERSION; TAH_ERR_HEADER for any field out of its range.
 */
tah_status_t frame_parse(const uint8_t *frame, size_t bytes, frame_header_t *header);

/* TAH_ERR_CHECKSUM where the checksum field is not that of the bytes after it. */
tah_status_t frame_verify(const uint8_t *frame, size_t bytes);

#endif
