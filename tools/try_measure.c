/* What a codec makes of a tensor. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "codec/convert.h"
#include "tools/clock.h"
#include "tools/try.h"

enum { TURNS_LEAST = 3, TURNS_MOST = 50, BLOCK = 256 };

#define TURNS_SECONDS 0.05 /* after which no further turn is taken */

/* A tensor on its way through a codec. */
typedef struct trial {
    tah_params_t params;
    const npy_t *tensor;
    uint8_t *frame, *back; /* the frame, what it decodes to: as long as the tensor, each */
    tah_encoded_t encoded;
} trial_t;

/* dB; infinite if there is no noise, minus infinite if there is nothing else. */
static double decibels(double signal, double noise)
{
    if (noise == 0)
        return INFINITY;
    return signal > 0 ? 10 * log10(signal / noise) : -INFINITY;
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
    sqnr = decibels(signal, noise);
    if (sqnr < outcome->worst_tile)
        outcome->worst_tile = sqnr;
}

/* Compares by the codec's tiles, which begin anew in every row where it goes by rows. */
static void compare(const trial_t *trial, try_outcome_t *outcome)
{
    const npy_t *tensor = trial->tensor;
    const uint8_t *sent = tensor->data;
    size_t element = tah_dtype_bytes(tensor->dtype), row = tensor->count;
    size_t tile = trial->params.tile && trial->params.tile <= BLOCK ? trial->params.tile : 64;
    size_t channels = trial->params.channels;

    /* a codec may leave short rows aside: the number of its tiles tells */
    if (channels && trial->encoded.tiles == row / channels * ((channels + tile - 1) / tile))
        row = channels;
    for (size_t from = 0; from < tensor->count; from += row) {
        for (size_t at = from; at < from + row; at += tile) {
            size_t n = from + row - at < tile ? from + row - at : tile;
            compare_tile(tensor->dtype, sent + at * element, trial->back + at * element,
                         (unsigned)n, outcome);
        }
    }
}

static tah_status_t encode(trial_t *trial)
{
    tah_message_t message = {.key = "tahmpi try"};

    return tah_encode(&trial->params, &message, trial->tensor->data, trial->tensor->count,
                      trial->frame, trial->tensor->bytes, &trial->encoded);
}

static tah_status_t decode(trial_t *trial)
{
    static const uint8_t key[TAH_KEY_BYTES] = "tahmpi try";
    size_t bytes = trial->encoded.frame_bytes;
    tah_frame_t info;
    tah_status_t status = tah_frame_read(trial->frame, bytes, key, &info);

    if (status == TAH_OK)
        status = tah_decode(trial->frame, bytes, &info, NULL, trial->back, trial->tensor->bytes);
    return status;
}

/* Does it until its least time is known. */
static tah_status_t repeat(tah_status_t (*once)(trial_t *trial), trial_t *trial, double *least)
{
    tah_status_t status = TAH_OK;
    double first = clock_seconds();

    for (int turn = 0; turn < TURNS_MOST && status == TAH_OK; turn++) {
        double start = clock_seconds(), seconds;
        status = once(trial);
        seconds = clock_seconds() - start;
        if (turn == 0 || seconds < *least)
            *least = seconds;
        if (turn >= TURNS_LEAST && clock_seconds() - first > TURNS_SECONDS)
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
    trial_t trial = {.params = setting->params, .tensor = tensor};
    tah_status_t status;
    char why[256];

    *outcome = (try_outcome_t){.worst_tile = INFINITY};
    trial.frame = malloc(tensor->bytes);
    trial.back = malloc(tensor->bytes);
    if (!trial.frame || !trial.back) {
        free(trial.frame);
        free(trial.back);
        return false;
    }
    trial.params.dtype = tensor->dtype;
    if (!setting->own_channels)
        trial.params.channels = last_dimension(tensor);
    status = tah_params_check(&trial.params, why, sizeof why);
    if (status == TAH_OK)
        status = tah_params_fit(&trial.params, tensor->count);
    if (status == TAH_OK)
        status = repeat(encode, &trial, &outcome->encode_seconds);
    if (status == TAH_OK)
        status = repeat(decode, &trial, &outcome->decode_seconds);
    outcome->values = tensor->count;
    outcome->tensor_bytes = tensor->bytes;
    outcome->channels = trial.params.channels;
    if (status == TAH_OK) {
        outcome->frame_bytes = trial.encoded.frame_bytes;
        outcome->tiles = trial.encoded.tiles;
        outcome->tiles_rotated = trial.encoded.tiles_rotated;
        compare(&trial, outcome);
    } else {
        outcome->fault = fault_of(status);
    }
    free(trial.frame);
    free(trial.back);
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
    return decibels(outcome->signal, outcome->noise);
}

double try_cosine(const try_outcome_t *outcome)
{
    double length = sqrt(outcome->signal) * sqrt(outcome->power);

    return length > 0 ? outcome->product / length : 1;
}
