/*
 * fresh DIR: writes random tensors through random parameters as NN.frame and NN.tensor (what the
 * library decodes the frame to), for a decoder that is not ours. The same ones every time.
 */
#include "codec/tah.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 90, COUNT_MAX = 1200 };

static uint64_t state = 20260101;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % below);
}

/* Any bits at all now and then, else a number whose size drifts from element to element. */
static void element_draw(tah_dtype_t dtype, int exponent, uint8_t *at)
{
    uint8_t bits[8];
    for (int i = 0; i < 8; i++)
        bits[i] = (uint8_t)draw(256);
    if (draw(400) == 0) {
        memcpy(at, bits, tah_dtype_bytes(dtype));
        return;
    }
    double wide = ((double)draw(1 << 20) - (1 << 19)) * 0x1p-19;
    for (int i = 0; i < abs(exponent); i++)
        wide *= exponent < 0 ? 0.5 : 2;
    const float single = (float)wide;
    uint32_t pattern;
    memcpy(&pattern, &single, sizeof pattern);
    const uint16_t brain = (uint16_t)(pattern >> 16);
    const uint16_t half = (uint16_t)(draw(2) << 15 | (15 + exponent % 12) << 10 | draw(1024));
    switch (dtype) {
    case TAH_FLOAT64:
        memcpy(at, &wide, sizeof wide);
        break;
    case TAH_BFLOAT16:
        memcpy(at, &brain, sizeof brain);
        break;
    case TAH_FLOAT16:
        memcpy(at, &half, sizeof half);
        break;
    default:
        memcpy(at, &single, sizeof single);
    }
}

static void tensor_draw(const tah_params_t *params, size_t count, uint8_t *tensor)
{
    const size_t element = tah_dtype_bytes(params->dtype);
    const int exponent = (int)draw(230) - 135;
    for (size_t i = 0; i < count; i++)
        element_draw(params->dtype, exponent + (draw(40) ? 0 : (int)draw(8)), tensor + i * element);
    if (draw(3) == 0) /* a piece of zeros, whose signs may differ */
        for (size_t i = count / 3; i < count / 2; i++) {
            memset(tensor + i * element, 0, element);
            tensor[(i + 1) * element - 1] = (uint8_t)(draw(9) == 0) << 7;
        }
}

static size_t params_draw(tah_params_t *params)
{
    size_t count = 1 + draw(COUNT_MAX);
    static const tah_codec_t codecs[] = {TAH_CODEC_TAH, TAH_CODEC_TAH, TAH_CODEC_UNIFORM,
                                         TAH_CODEC_TAHX, TAH_CODEC_TAHX};
    tah_params_init(params, codecs[draw(5)]);
    params->dtype = (tah_dtype_t)(TAH_FLOAT32 + draw(4));
    params->tile = (uint16_t)(16 << draw(5));
    params->bits_high = (uint8_t)(2 + draw(7));
    params->bits_low = (uint8_t)(2 + draw(params->bits_high - 1u));
    params->high_fraction = (float)draw(11) / 10;
    params->allocate = (tah_allocate_t)draw(3);
    params->hadamard = (tah_hadamard_t)draw(3);
    params->rate = (float)(4 + draw(33)) / 4;
    params->min_bits = (uint8_t)draw((uint32_t)params->rate);
    if (params->min_bits == params->rate)
        params->min_bits--;
    if (draw(2)) {
        params->error = (tah_error_t)draw(2);
        params->channels = 1 + draw(300);
        count = (count / params->channels + 1) * params->channels;
    }
    return count;
}

static bool file_write(const char *dir, int number, const char *kind, const void *data, size_t n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fresh-%02d.%s", dir, number, kind);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool written = fwrite(data, 1, n, file) == n;
    return fclose(file) == 0 && written;
}

int main(int argc, char **argv)
{
    static uint8_t tensor[16 * COUNT_MAX], frame[24 * COUNT_MAX];
    tah_message_t message = {.rule = 1};
    memcpy(message.key, "tahmpi golden k1", sizeof message.key);
    if (argc != 2) {
        fprintf(stderr, "usage: fresh DIR\n");
        return 2;
    }
    for (int number = 0; number < CASES; number++) {
        tah_params_t params;
        tah_encoded_t result;
        tah_frame_t info;
        const size_t count = params_draw(&params);
        tensor_draw(&params, count, tensor);
        if (tah_encode(&params, &message, tensor, count, frame, sizeof frame, &result) != TAH_OK ||
            tah_frame_read(frame, result.frame_bytes, message.key, &info) != TAH_OK ||
            tah_decode(frame, result.frame_bytes, &info, NULL, tensor, sizeof tensor) != TAH_OK ||
            !file_write(argv[1], number, "frame", frame, result.frame_bytes) ||
            !file_write(argv[1], number, "tensor", tensor, info.tensor_bytes)) {
            fprintf(stderr, "fresh: case %d failed\n", number);
            return 1;
        }
    }
    return 0;
}
