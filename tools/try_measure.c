/* What a codec makes of a tensor. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "codec/convert.h"
#include "tools/try.h"

enum { TURNS_LEAST = 3, TURNS_MOST = 50, BLOCK = 256 };

#define TURNS_SECONDS 0.05 /* after which no further turn is taken */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Adds a tile; n <= BLOCK. Elements that are not finite, which are always exact, are left out. */
static void compare_tile(tah_dtype_t dtype, const uint8_t *sent, const uint8_t *back, unsigned n,
                         try_outcome_t *outcome)
{
    float x[BLOCK], y[BLOCK];
    double signal = 0, noise = 0, sqnr;

    convert_finite(dtype, sent, n, x);
    convert_finite(dtype, back, n, y);
    for (unsigned i = 0; i < n; i++) {
        double difference = (double)x[i] - (double)y[i];
        signal += (double)x[i] * (double)x[i];
        noise += difference * difference;
        outcome->product += (double)x[i] * (double)y[i];
        outcome->power += (double)y[i] * (double)y[i];
    }
    outcome->signal += signal;
    outcome->noise += noise;
    if (noise == 0)
        return;
    sqnr = 10 * log10(signal / noise);
    if (sqnr < outcome->worst_tile)
        outcome->worst_tile = sqnr;
}

static void compare(const tah_params_t *params, const npy_t *tensor, const uint8_t *back,
                    try_outcome_t *outcome)
{
    const uint8_t *sent = tensor->data;
    size_t element = tah_dtype_bytes(tensor->dtype);
    size_t tile = params->tile && params->tile <= BLOCK ? params->tile : 64;

    for (size_t at = 0; at < tensor->count; at += tile) {
        size_t n = tensor->count - at < tile ? tensor->count - at : tile;
        compare_tile(tensor->dtype, sent + at * element, back + at * element, (unsigned)n, outcome);
    }
}

/* Encodes until the least time is known. */
static tah_status_t encode(const tah_params_t *params, const npy_t *tensor, uint8_t *frame,
                           tah_encoded_t *encoded, double *least)
{
    tah_message_t message = {.key = "tahmpi try"};
    tah_status_t status = TAH_OK;
    double first = now();

    for (int turn = 0; turn < TURNS_MOST && status == TAH_OK; turn++) {
        double start = now(), seconds;
        status = tah_encode(params, &message, tensor->data, tensor->count, frame, tensor->bytes,
                            encoded);
        seconds = now() - start;
        if (turn == 0 || seconds < *least)
            *least = seconds;
        if (turn >= TURNS_LEAST && now() - first > TURNS_SECONDS)
            break;
    }
    return status;
}

static tah_status_t decode(const uint8_t *frame, size_t bytes, const npy_t *tensor, uint8_t *back,
                           double *least)
{
    static const uint8_t key[TAH_KEY_BYTES] = "tahmpi try";
    double first = now();
    tah_frame_t info;
    tah_status_t status = tah_frame_read(frame, bytes, key, &info);

    for (int turn = 0; turn < TURNS_MOST && status == TAH_OK; turn++) {
        double start = now(), seconds;
        status = tah_frame_read(frame, bytes, key, &info);
        if (status == TAH_OK)
            status = tah_decode(frame, bytes, &info, NULL, back, tensor->bytes);
        seconds = now() - start;
        if (turn == 0 || seconds < *least)
            *least = seconds;
        if (turn >= TURNS_LEAST && now() - first > TURNS_SECONDS)
            break;
    }
    return status;
}

/* Why a tensor would go as it is. */
static const char *fault_of(tah_status_t status)
{
    switch (status) {
    case TAH_ERR_SPACE:
        return "raw: a frame would be longer";
    case TAH_ERR_SQNR:
        return "raw: min-sqnr is not reached";
    case TAH_ERR_PARAM:
        return "the channels do not suit it: channels=N says how long a token is";
    default:
        return tah_status_string(status);
    }
}

/* What is taken for the channels of a tensor; 0 where it has only one dimension. */
static uint32_t last_dimension(const npy_t *tensor)
{
    uint64_t last = tensor->dimensions > 1 ? tensor->shape[tensor->dimensions - 1] : 0;

    return last <= UINT32_MAX ? (uint32_t)last : 0;
}

bool try_measure(const try_setting_t *setting, const npy_t *tensor, try_outcome_t *outcome)
{
    tah_params_t params = setting->params;
    uint8_t *frame = malloc(tensor->bytes), *back = malloc(tensor->bytes);
    tah_encoded_t encoded = {0};
    tah_status_t status;
    char why[256];

    *outcome = (try_outcome_t){.worst_tile = INFINITY};
    if (!frame || !back) {
        free(frame);
        free(back);
        return false;
    }
    params.dtype = tensor->dtype;
    if (!setting->own_channels)
        params.channels = last_dimension(tensor);
    status = tah_params_check(&params, why, sizeof why);
    if (status == TAH_OK)
        status = tah_params_fit(&params, tensor->count);
    if (status == TAH_OK)
        status = encode(&params, tensor, frame, &encoded, &outcome->encode_seconds);
    if (status == TAH_OK)
        status = decode(frame, encoded.frame_bytes, tensor, back, &outcome->decode_seconds);
    outcome->values = tensor->count;
    outcome->tensor_bytes = tensor->bytes;
    if (status == TAH_OK) {
        outcome->frame_bytes = encoded.frame_bytes;
        outcome->tiles = encoded.tiles;
        outcome->tiles_rotated = encoded.tiles_rotated;
        compare(&params, tensor, back, outcome);
    } else {
        outcome->fault = fault_of(status);
    }
    free(frame);
    free(back);
    return true;
}

void try_add(try_outcome_t *sum, const try_outcome_t *outcome)
{
    sum->fault = sum->fault ? sum->fault : outcome->fault;
    sum->values += outcome->values;
    sum->tensor_bytes += outcome->tensor_bytes;
    sum->frame_bytes += outcome->frame_bytes;
    sum->tiles += outcome->tiles;
    sum->tiles_rotated += outcome->tiles_rotated;
    sum->signal += outcome->signal;
    sum->noise += outcome->noise;
    sum->product += outcome->product;
    sum->power += outcome->power;
    if (outcome->worst_tile < sum->worst_tile)
        sum->worst_tile = outcome->worst_tile;
    sum->encode_seconds += outcome->encode_seconds;
    sum->decode_seconds += outcome->decode_seconds;
}

double try_bits(const try_outcome_t *outcome)
{
    return 8 * (double)outcome->frame_bytes / (double)outcome->values;
}

double try_sqnr(const try_outcome_t *outcome)
{
    return outcome->noise > 0 ? 10 * log10(outcome->signal / outcome->noise) : INFINITY;
}

double try_cosine(const try_outcome_t *outcome)
{
    double length = sqrt(outcome->signal) * sqrt(outcome->power);

    return length > 0 ? outcome->product / length : 1;
}
