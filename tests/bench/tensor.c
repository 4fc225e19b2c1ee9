/* Tensors to encode: generated ones, each with a kind of outliers, and those of .npy files. */
#include "tests/bench/bench.h"

#include "codec/convert.h"
#include "codec/measure.h"
#include "tools/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where an element of a generated tensor is. */
typedef struct place {
    uint64_t seed, index, token;
    uint32_t channel, channels;
} place_t;

/* A number for each seed and index, all bits of it good: the finaliser of splitmix64. */
static uint64_t hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd6e8feb86659fd93) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Gaussian, deviation 1 (Box and Muller). */
static double normal(const place_t *at)
{
    const uint64_t random = hash(at->seed, at->index);
    const double radius = sqrt(-2 * log(((double)(random >> 32) + 0.5) * 0x1p-32));
    return radius * cos((double)(uint32_t)random * (0x1p-32 * 6.283185307179586));
}

static double gaussian(const place_t *at)
{
    return normal(at);
}

/* One channel in a hundred is 20 times as large. */
static double massive_channels(const place_t *at)
{
    return normal(at) * (at->channel % 100 == 7 ? 20 : 1);
}

/* Four channels are nearly constant and 100 times as large: what trained transformers have. */
static double huge_channels(const place_t *at)
{
    const uint32_t apart = at->channels / 4;
    return normal(at) + (apart && at->channel % apart == apart / 2 ? 100 : 0);
}

/* One token in a hundred is 1000 times as large. */
static double massive_tokens(const place_t *at)
{
    return normal(at) * (at->token % 100 == 7 ? 1000 : 1);
}

/* One element in a thousand is 30 times as large. */
static double scattered(const place_t *at)
{
    return normal(at) * (hash(at->seed + 1, at->index) % 1000 == 0 ? 30 : 1);
}

/* 38 of 100 tiles of 64 have one element of a size that tah transforms them for. */
static double pivots(const place_t *at)
{
    const uint64_t tile = hash(at->seed + 1, at->index / 64);
    if (tile % 100 >= 38 || at->index % 64 != tile / 128 % 64)
        return normal(at);
    return copysign(16 + fabs(normal(at)), normal(at));
}

static const struct generator {
    const char *name;
    double (*value)(const place_t *at);
} generators[] = {
    {"gaussian", gaussian},           {"massive-channels", massive_channels},
    {"huge-channels", huge_channels}, {"massive-tokens", massive_tokens},
    {"scattered", scattered},         {"pivots", pivots},
};
enum { GENERATORS = sizeof generators / sizeof *generators };

const char *tensor_generated(size_t index)
{
    return index < GENERATORS ? generators[index].name : NULL;
}

static bool generate(const struct generator *generator, const tensor_wish_t *wish, tensor_t *tensor,
                     char *why, size_t why_bytes)
{
    const size_t element = tah_dtype_bytes(wish->dtype);
    tensor->channels = wish->channels ? wish->channels : 1024;
    tensor->dtype = wish->dtype;
    tensor->count = wish->bytes / element / tensor->channels * tensor->channels;
    tensor->bytes = tensor->count * element;
    tensor->data = malloc(tensor->bytes + 1);
    if (!tensor->data || !tensor->count) {
        snprintf(why, why_bytes, "%s: %s", generator->name,
                 tensor->data ? "--size is less than one token" : "out of memory");
        return false;
    }
    for (size_t i = 0; i < tensor->count; i++) {
        const place_t at = {
            .seed = wish->seed,
            .index = i,
            .token = i / tensor->channels,
            .channel = (uint32_t)(i % tensor->channels),
            .channels = tensor->channels,
        };
        const float value = (float)generator->value(&at);
        convert_scale(tensor->dtype, &value, 0, 1, tensor->data + i * element);
    }
    return true;
}

static bool load(const char *path, const tensor_wish_t *wish, tensor_t *tensor, char *why,
                 size_t why_bytes)
{
    npy_t npy;
    if (!npy_read(path, &npy, why, why_bytes))
        return false;
    uint64_t channels = npy.dimensions > 1 ? npy.shape[npy.dimensions - 1] : npy.count;
    channels = wish->channels ? wish->channels : channels;
    tensor->dtype = npy.dtype;
    tensor->count = npy.count;
    tensor->bytes = npy.bytes;
    tensor->data = npy.data;
    tensor->channels = (uint32_t)channels;
    if (npy.count > 0 && channels <= UINT32_MAX && npy.count % channels == 0)
        return true;
    if (npy.count == 0)
        snprintf(why, why_bytes, "%s: it has no elements", path);
    else
        snprintf(why, why_bytes, "%s: %llu channels do not divide its %zu elements", path,
                 (unsigned long long)channels, npy.count);
    return false;
}

bool tensor_open(const char *name, const tensor_wish_t *wish, tensor_t *tensor, char *why,
                 size_t why_bytes)
{
    const char *slash = strrchr(name, '/');
    *tensor = (tensor_t){0};
    snprintf(tensor->name, sizeof tensor->name, "%s", slash ? slash + 1 : name);
    bool good = false;
    size_t index = 0;
    while (index < GENERATORS && strcmp(name, generators[index].name) != 0)
        index++;
    if (index < GENERATORS)
        good = generate(&generators[index], wish, tensor, why, why_bytes);
    else
        good = load(name, wish, tensor, why, why_bytes);
    if (!good)
        tensor_free(tensor);
    return good;
}

void tensor_free(tensor_t *tensor)
{
    free(tensor->data);
    *tensor = (tensor_t){0};
}

void tensor_error(const tensor_t *tensor, const uint8_t *decoded, double *absolute, double *token)
{
    const size_t element = tah_dtype_bytes(tensor->dtype);
    double signal = 0, noise = 0, ratios = 0;
    size_t tokens = 0;
    for (size_t first = 0; first < tensor->count; first += tensor->channels) {
        tah_encoded_t sums = {0};
        for (size_t at = first; at < first + tensor->channels; at += TILE_MAX) {
            const size_t left = first + tensor->channels - at;
            measure_add(tensor->dtype, tensor->data + at * element, decoded + at * element,
                        left < TILE_MAX ? (unsigned)left : TILE_MAX, &sums);
        }
        signal += sums.signal;
        noise += sums.noise;
        if (sums.signal > 0) {
            ratios += sums.noise / sums.signal;
            tokens++;
        }
    }
    *absolute = noise > 0 ? 10 * log10(noise / signal) : -INFINITY;
    *token = ratios > 0 ? 10 * log10(ratios / (double)tokens) : -INFINITY;
}
