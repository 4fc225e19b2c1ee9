/* What channels have in common: from their fields and back. */
#include "codec/tahx_vectors.h"

#include "codec/bytes.h"
#include "codec/convert.h"

#include <math.h>
#include <stdlib.h>

bool tahx_vectors_alloc(tahx_vectors_t *vectors, uint32_t channels)
{
    float *memory = calloc(5 * (size_t)channels + 1, sizeof *memory);
    vectors->scale = memory;
    vectors->mean = memory + channels;
    vectors->inverse = memory + 2 * (size_t)channels;
    vectors->offset = memory + 3 * (size_t)channels;
    vectors->weight = (int8_t *)(memory + 4 * (size_t)channels);
    return memory != NULL;
}

void tahx_vectors_free(tahx_vectors_t *vectors)
{
    free(vectors->scale);
}

/* What a squared error counts for in the search for a tile's scale. */
static int8_t weight_of(float share)
{
    const int8_t weight = (int8_t)(share * share * 64);
    return weight > 1 ? weight : 1;
}

void tahx_vectors_fill(const tahx_shape_t *shape, const tahx_fields_t *fields,
                       tahx_vectors_t *vectors)
{
    const float unit = float_power(shape->mean_exponent);
    for (uint32_t c = 0; c < shape->channels; c++) {
        vectors->scale[c] = shape->scaled ? (float)tahx_channel_scale(fields->scale[c]) : 1;
        vectors->mean[c] = shape->mean_bits ? (float)fields->mean[c] * unit : 0;
    }
}

void tahx_vectors_invert(const tahx_shape_t *shape, tahx_vectors_t *vectors)
{
    for (uint32_t c = 0; c < shape->channels; c++) {
        vectors->inverse[c] = 1 / vectors->scale[c];
        vectors->offset[c] = vectors->mean[c] * vectors->inverse[c];
    }
}

void tahx_vectors_weigh(const tahx_shape_t *shape, tahx_vectors_t *vectors)
{
    for (uint32_t first = 0; first < shape->channels; first += shape->tile) {
        const uint32_t left = shape->channels - first;
        const uint32_t n = left < shape->tile ? left : shape->tile;
        float largest = 1;
        for (uint32_t i = 0; i < n; i++) {
            const float scale = vectors->scale[first + i];
            largest = scale > largest ? scale : largest;
        }
        for (uint32_t i = 0; i < n; i++)
            vectors->weight[first + i] = weight_of(vectors->scale[first + i] / largest);
    }
}

void tahx_fields_write(const tahx_shape_t *shape, const tahx_fields_t *fields, uint8_t *payload)
{
    const unsigned mean_bits = shape->mean_bits;
    const unsigned bits = mean_bits + (shape->scaled ? TAHX_SCALE_BITS : 0);
    uint8_t *const end = payload + shape->rows_start;
    uint64_t held = 0;
    unsigned count = 0;
    for (uint32_t c = 0; c < shape->channels; c++) {
        const uint32_t mean = mean_bits ? (uint32_t)fields->mean[c] & ((1u << mean_bits) - 1) : 0;
        const uint32_t field = mean | (shape->scaled ? (uint32_t)fields->scale[c] << mean_bits : 0);
        held |= (uint64_t)field << count;
        for (count += bits; count >= 8; count -= 8, held >>= 8)
            *payload++ = (uint8_t)held;
    }
    if (payload < end)
        *payload = (uint8_t)held;
}

static bool fields_read(const tahx_shape_t *shape, const uint8_t *payload, tahx_fields_t *fields)
{
    const unsigned mean_bits = shape->mean_bits;
    const unsigned bits = mean_bits + (shape->scaled ? TAHX_SCALE_BITS : 0);
    uint64_t held = 0;
    unsigned count = 0;
    for (uint32_t c = 0; c < shape->channels; c++) {
        for (; count < bits; count += 8)
            held |= (uint64_t)*payload++ << count;
        const uint32_t field = (uint32_t)(held & ((1u << bits) - 1));
        if (mean_bits)
            fields->mean[c] = (int16_t)((int32_t)(field << (32 - mean_bits)) >> (32 - mean_bits));
        fields->scale[c] = (uint8_t)(field >> mean_bits);
        held >>= bits;
        count -= bits;
    }
    return held == 0;
}

bool tahx_fields_alloc(tahx_fields_t *fields, uint32_t channels)
{
    fields->mean = calloc(channels + 1, sizeof *fields->mean);
    fields->scale = calloc(channels + 1, sizeof *fields->scale);
    if (fields->mean && fields->scale)
        return true;
    free(fields->mean);
    free(fields->scale);
    return false;
}

void tahx_fields_free(tahx_fields_t *fields)
{
    free(fields->mean);
    free(fields->scale);
}

bool tahx_vectors_read(const tahx_shape_t *shape, const uint8_t *payload, tahx_vectors_t *vectors)
{
    tahx_fields_t fields;
    if (!shape->mean_bits && !shape->scaled)
        return true;
    if (!tahx_fields_alloc(&fields, shape->channels))
        return false;
    const bool valid = fields_read(shape, payload, &fields);
    if (valid)
        tahx_vectors_fill(shape, &fields, vectors);
    tahx_fields_free(&fields);
    return valid;
}
