/* Any bytes as a frame: every kernel gives the same tensor or the same refusal. */
#include "codec/bytes.h"
#include "codec/frame.h"
#include "codec/kernels.h"
#include "tests/fuzz/fuzz.h"

enum { TENSOR_MOST = 1 << 20, PAYLOAD_MOST = 1 << 16 }; /* bytes */
enum { AT_CHECKSUM = 16, AT_SUMMED = 24, AT_PAYLOAD = 40 };

static const uint8_t key[TAH_KEY_BYTES] = "the key of a job";

/* What a kernel made of a frame. */
typedef struct outcome {
    tah_status_t status;
    size_t bytes; /* of the tensor; 0 where that is too long to be worth it */
    uint8_t *tensor;
} outcome_t;

static outcome_t decode(const uint8_t *frame, size_t bytes)
{
    outcome_t outcome = {0};
    tah_frame_t info = {0};
    outcome.status = tah_frame_read(frame, bytes, key, &info);
    if (outcome.status != TAH_OK)
        return outcome;
    FUZZ_REQUIRE(info.tensor_bytes == info.count * tah_dtype_bytes(info.dtype));
    FUZZ_REQUIRE(tah_frame_claimed_bytes(frame, bytes, key) == bytes);
    if (info.tensor_bytes > 0) {
        uint8_t none;
        FUZZ_REQUIRE(tah_decode(frame, bytes, &info, NULL, &none, 0) == TAH_ERR_TRUNCATE);
    }
    if (info.tensor_bytes > TENSOR_MOST)
        return outcome;
    outcome.bytes = info.tensor_bytes;
    outcome.tensor = fuzz_alloc(outcome.bytes);
    outcome.status = tah_decode(frame, bytes, &info, NULL, outcome.tensor, outcome.bytes);
    return outcome;
}

/* Takes bytes at frame, of a length that a frame can have, with the right key and checksum. */
static void all_kernels(uint8_t *frame, size_t bytes)
{
    memcpy(frame, key, sizeof key);
    store_u64(frame + AT_CHECKSUM,
              kernel_scalar.checksum(frame + AT_SUMMED, bytes - AT_SUMMED));
    outcome_t first = {0};
    for (int k = 0; k < FUZZ_KERNELS; k++) {
        if (tah_kernel_select(fuzz_kernels[k]) != TAH_OK)
            continue;
        const outcome_t outcome = decode(frame, bytes);
        if (k == 0) {
            first = outcome;
            continue;
        }
        FUZZ_REQUIRE(outcome.status == first.status && outcome.bytes == first.bytes);
        FUZZ_REQUIRE(outcome.status != TAH_OK || outcome.bytes == 0 ||
                     memcmp(outcome.tensor, first.tensor, outcome.bytes) == 0);
        free(outcome.tensor);
    }
    free(first.tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Too short for a header: refused, whatever the length. */
    if (size < TAH_HEADER_BYTES) {
        uint8_t *bytes = fuzz_copy(data, size);
        tah_frame_t info;
        FUZZ_REQUIRE(tah_frame_read(bytes, size, key, &info) == TAH_NOT_A_FRAME);
        free(bytes);
        return 0;
    }
    /* As it is, so that lengths and padding are mutated too. */
    if (tah_frame_length(size)) {
        uint8_t *frame = fuzz_copy(data, size);
        all_kernels(frame, size);
        free(frame);
    }
    /* At the length that it claims, so that mutation gets to the payload. */
    const uint64_t payload = load_u64(data + AT_PAYLOAD);
    uint64_t length;
    if (payload <= PAYLOAD_MOST && frame_length(payload, &length)) {
        const size_t end = TAH_HEADER_BYTES + payload;
        uint8_t *frame = fuzz_alloc(length);
        memset(frame, 0, length);
        memcpy(frame, data, size < end ? size : end);
        all_kernels(frame, length);
        free(frame);
    }
    return 0;
}
