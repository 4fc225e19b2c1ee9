#include "tests/codec/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint8_t support_key[TAH_KEY_BYTES] = {0xd1, 0x5e, 0xa5, 0xe0, 0x01, 0x23, 0x45, 0x67,
                                            0x89, 0xab, 0xcd, 0xef, 0x10, 0x32, 0x54, 0x76};

uint64_t rng_next(rng_t *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double rng_uniform(rng_t *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(rng_t *rng)
{
    const double radius = sqrt(-2 * log(1 - rng_uniform(rng)));
    return radius * cos(6.283185307179586 * rng_uniform(rng));
}

tah_message_t support_message(void)
{
    tah_message_t message = {.rule = 7};
    memcpy(message.key, support_key, sizeof message.key);
    return message;
}

void *support_alloc(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

uint8_t *support_encode(const tah_params_t *params, const void *src, size_t count,
                        tah_encoded_t *result)
{
    const size_t bound = tah_frame_bound(params, count);
    const tah_message_t message = support_message();
    uint8_t *frame = support_alloc(bound);
    const tah_status_t status = tah_encode(params, &message, src, count, frame, bound, result);
    ck_assert_msg(status == TAH_OK, "encoding %zu elements: %s", count,
                  tah_status_string(status));
    ck_assert_uint_le(result->frame_bytes, bound);
    ck_assert(tah_frame_length(result->frame_bytes));

    tah_frame_t info;
    ck_assert_int_eq(tah_frame_read(frame, result->frame_bytes, support_key, &info), TAH_OK);
    ck_assert_int_eq(info.codec, params->codec);
    ck_assert_int_eq(info.dtype, params->dtype);
    ck_assert_uint_eq(info.rule, 7);
    ck_assert_uint_eq(info.count, count);
    ck_assert_uint_eq(info.tensor_bytes, count * tah_dtype_bytes(params->dtype));
    return frame;
}

void support_decode(const uint8_t *frame, size_t bytes, void *dst, size_t capacity)
{
    tah_frame_t info;
    ck_assert_int_eq(tah_frame_read(frame, bytes, support_key, &info), TAH_OK);
    const tah_status_t status = tah_decode(frame, bytes, &info, NULL, dst, capacity);
    ck_assert_msg(status == TAH_OK, "decoding: %s", tah_status_string(status));
}
