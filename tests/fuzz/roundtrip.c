/*
 * Parameters and a tensor from the input: every kernel gives the same frame, in a buffer just large
 * enough and in none smaller, and it decodes to something near the tensor. What stands where a
 * frame has its checksum and header gives the parameters, so that frames are good inputs.
 */
#include "codec/convert.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { AT_PARAMS = TAH_KEY_BYTES, AT_DATA = TAH_HEADER_BYTES };

static tah_params_t params_from(const uint8_t *byte, size_t bytes)
{
    tah_params_t params;
    tah_params_init(&params, (tah_codec_t)(1 + byte[0] % (TAH_CODEC_COUNT - 1)));
    params.dtype = (tah_dtype_t)(byte[1] % TAH_DTYPE_COUNT);
    params.tile = (uint16_t)(16 << byte[2] % 5);
    params.bits_high = (uint8_t)(2 + byte[3] % 7);
    params.bits_low = (uint8_t)(2 + byte[4] % 7);
    params.high_fraction = (float)byte[5] / 255;
    params.allocate = (tah_allocate_t)(byte[6] % 3);
    params.hadamard = (tah_hadamard_t)(byte[7] % 3);
    params.rounding = (tah_rounding_t)(byte[8] % 2);
    params.range_search = byte[9] % 2;
    params.seed = byte[10];
    params.rate = 1 + (float)byte[11] / 32;
    params.min_bits = byte[12] % 8;
    params.error = (tah_error_t)(byte[13] % 2);
    params.min_sqnr = byte[14] % 4 ? -INFINITY : (float)byte[14] / 4;
    params.level = 1 + byte[15] % 3;
    params.channels = byte[16] % 4 ? (uint32_t)byte[17] + byte[18] % 4 * 256u : 0;
    if (params.channels > bytes / 8)
        params.channels = 0;
    return params;
}

/* Noise is at most what the coarsest grid of a tile leaves in the worst case. */
static void near(const tah_params_t *params, const uint8_t *src, const uint8_t *back, size_t count)
{
    const size_t element = tah_dtype_bytes(params->dtype);
    if (params->codec == TAH_CODEC_LOSSLESS) {
        FUZZ_REQUIRE(count == 0 || memcmp(src, back, count * element) == 0);
        return;
    }
    double largest = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits, peak;
        float x, y;
        if (!convert_load(params->dtype, src + i * element, 1, &bits, &peak)) {
            FUZZ_REQUIRE(memcmp(src + i * element, back + i * element, element) == 0);
            continue;
        }
        FUZZ_REQUIRE(convert_load(params->dtype, back + i * element, 1, &bits, &peak));
        convert_finite(params->dtype, src + i * element, 1, &x);
        convert_finite(params->dtype, back + i * element, 1, &y);
        largest = fmax(largest, fabs(x));
        noise = fmax(noise, fabs((double)x - y));
    }
    /* The transform can put the errors of a whole tile, 0.18 of its pivot each, on one element. */
    FUZZ_REQUIRE(noise <= largest * (params->codec == TAH_CODEC_UNIFORM ? 1 : params->tile));
}

/* Encodes into exactly capacity bytes. */
static uint8_t *encode(const tah_params_t *params, const uint8_t *src, size_t count,
                       size_t capacity, tah_status_t *status, tah_encoded_t *result)
{
    const tah_message_t message = {.key = "the key of a job", .rule = 7, .serial = count};
    uint8_t *frame = fuzz_alloc(capacity);
    *status = tah_encode(params, &message, src, count, frame, capacity, result);
    FUZZ_REQUIRE(*status == TAH_OK || capacity < sizeof message.key ||
                 !tah_frame_has_key(frame, message.key));
    return frame;
}

static void kernel_check(const tah_params_t *params, const uint8_t *src, size_t count,
                         const uint8_t *frame, size_t room, const tah_encoded_t *first)
{
    const uint8_t key[TAH_KEY_BYTES] = "the key of a job";
    const size_t bytes = first->frame_bytes;
    tah_status_t status;
    tah_encoded_t result;
    uint8_t *again = encode(params, src, count, room, &status, &result);
    FUZZ_REQUIRE(status == TAH_OK && result.frame_bytes == bytes);
    FUZZ_REQUIRE(memcmp(frame, again, bytes) == 0);
    free(again);
    again = encode(params, src, count, bytes, &status, &result);
    /* Fewer bits, tried first for min_sqnr, can take more bytes: at those, more tiles are exact. */
    FUZZ_REQUIRE(status == TAH_OK || (status == TAH_ERR_SPACE && first->retries > 0));
    FUZZ_REQUIRE(status != TAH_OK || memcmp(frame, again, bytes) == 0);
    free(again);
    free(encode(params, src, count, bytes - 1, &status, &result));
    FUZZ_REQUIRE(status == TAH_ERR_SPACE);
    free(encode(params, src, count, bytes / 2, &status, &result));
    FUZZ_REQUIRE(status == TAH_ERR_SPACE);

    tah_frame_t info;
    FUZZ_REQUIRE(tah_frame_read(frame, bytes, key, &info) == TAH_OK && info.count == count);
    uint8_t *back = fuzz_alloc(info.tensor_bytes);
    FUZZ_REQUIRE(tah_decode(frame, bytes, &info, NULL, back, info.tensor_bytes) == TAH_OK);
    near(params, src, back, count);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < AT_DATA)
        return 0;
    const tah_params_t params = params_from(data + AT_PARAMS, size - AT_DATA);
    char why[256];
    if (tah_params_check(&params, why, sizeof why) != TAH_OK)
        return 0;
    size_t count = (size - AT_DATA) / tah_dtype_bytes(params.dtype);
    count -= params.channels ? count % params.channels : 0;
    uint8_t *src = fuzz_copy(data + AT_DATA, count * tah_dtype_bytes(params.dtype));
    tah_status_t status;
    tah_encoded_t first;
    FUZZ_REQUIRE(tah_kernel_select("scalar") == TAH_OK);
    const size_t room = 2 * size + 1024;
    uint8_t *frame = encode(&params, src, count, room, &status, &first);
    FUZZ_REQUIRE(status == TAH_OK || status == TAH_ERR_SPACE || status == TAH_ERR_SQNR);
    for (int k = 0; status == TAH_OK && k < FUZZ_KERNELS; k++)
        if (tah_kernel_select(fuzz_kernels[k]) == TAH_OK)
            kernel_check(&params, src, count, frame, room, &first);
    free(frame);
    free(src);
    return 0;
}
