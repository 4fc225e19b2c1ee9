/* Header, checksum and padding of a frame. */
#include "codec/frame.h"

#include "codec/bytes.h"
#include "codec/kernels.h"

enum {
    AT_CHECKSUM = 16,
    AT_VERSION = 24, /* the checksum covers everything from here to the end */
    AT_CODEC = 25,
    AT_DTYPE = 26,
    AT_RULE = 27,
    AT_SMALL = 28,
    AT_COUNT = 32,
    AT_PAYLOAD = 40,
    AT_PARAMS = 48,
};
_Static_assert(AT_PARAMS + FRAME_PARAMS_BYTES == TAH_HEADER_BYTES, "the header is 64 bytes");
_Static_assert(TAH_FRAME_MIN >= TAH_HEADER_BYTES, "the shortest frame holds a header");

bool frame_length(uint64_t payload, uint64_t *length)
{
    const uint64_t fixed = TAH_HEADER_BYTES + TAH_FRAME_ALIGN - 1 - TAH_FRAME_RESIDUE;
    uint64_t end;
    if (!checked_add(payload, fixed, &end))
        return false;
    return checked_add(end / TAH_FRAME_ALIGN * TAH_FRAME_ALIGN, TAH_FRAME_RESIDUE, length);
}

void frame_finish(const frame_header_t *header, const uint8_t key[TAH_KEY_BYTES], uint8_t *frame)
{
    uint64_t length = 0;
    frame_length(header->payload, &length);
    memcpy(frame, key, TAH_KEY_BYTES);
    frame[AT_VERSION] = TAH_WIRE_VERSION;
    frame[AT_CODEC] = header->codec;
    frame[AT_DTYPE] = header->dtype;
    frame[AT_RULE] = header->rule;
    memcpy(frame + AT_SMALL, header->small, sizeof header->small);
    store_u64(frame + AT_COUNT, header->count);
    store_u64(frame + AT_PAYLOAD, header->payload);
    memcpy(frame + AT_PARAMS, header->params, FRAME_PARAMS_BYTES);
    const uint64_t end = TAH_HEADER_BYTES + header->payload;
    memset(frame + end, 0, length - end);
    store_u64(frame + AT_CHECKSUM,
              kernel_get()->checksum(frame + AT_VERSION, length - AT_VERSION));
}

tah_status_t frame_parse(const uint8_t *frame, size_t bytes, frame_header_t *header)
{
    if (bytes < TAH_FRAME_MIN)
        return TAH_ERR_HEADER;
    if (frame[AT_VERSION] != TAH_WIRE_VERSION)
        return TAH_ERR_VERSION;
    header->codec = frame[AT_CODEC];
    header->dtype = frame[AT_DTYPE];
    header->rule = frame[AT_RULE];
    memcpy(header->small, frame + AT_SMALL, sizeof header->small);
    header->count = load_u64(frame + AT_COUNT);
    header->payload = load_u64(frame + AT_PAYLOAD);
    memcpy(header->params, frame + AT_PARAMS, FRAME_PARAMS_BYTES);

    uint64_t length, tensor;
    const size_t element = tah_dtype_bytes((tah_dtype_t)header->dtype);
    if (header->codec == TAH_CODEC_NONE || header->codec >= TAH_CODEC_COUNT || element == 0)
        return TAH_ERR_HEADER;
    if (!frame_length(header->payload, &length) || length != bytes)
        return TAH_ERR_HEADER;
    if (!checked_mul(header->count, element, &tensor))
        return TAH_ERR_HEADER;
    for (uint64_t i = TAH_HEADER_BYTES + header->payload; i < length; i++)
        if (frame[i] != 0)
            return TAH_ERR_HEADER;
    return TAH_OK;
}

tah_status_t frame_verify(const uint8_t *frame, size_t bytes)
{
    const uint64_t sum = kernel_get()->checksum(frame + AT_VERSION, bytes - AT_VERSION);
    return sum == load_u64(frame + AT_CHECKSUM) ? TAH_OK : TAH_ERR_CHECKSUM;
}

size_t tah_frame_claimed_bytes(const void *data, size_t capacity, const uint8_t key[TAH_KEY_BYTES])
{
    uint64_t length;
    if (capacity < TAH_FRAME_MIN || !tah_frame_has_key(data, key))
        return 0;
    if (!frame_length(load_u64((const uint8_t *)data + AT_PAYLOAD), &length))
        return 0;
    return length <= capacity ? length : 0;
}
