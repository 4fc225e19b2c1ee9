/* Means and scales of channels, and whether a message is better with them. */
#include "codec/tahx_vectors.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE_SHARE 8         /* statistics are made of one row in so many, */
#define SAMPLE_LEAST (1 << 18) /* but of at least so many elements if there are, */
#define SAMPLE_MOST 4096       /* and at most so many rows */
#define SHORT_ROWS 256         /* most rows for which coarser and shorter means are tried */
#define TRIAL_ROWS 64          /* rows of the sample on which the choices are compared */

typedef struct sample {
    tahx_shape_t *shape;
    tah_dtype_t dtype;
    unsigned element;
    const uint8_t *src, *rows;
    uint64_t count; /* rows */
} sample_t;

/* --- statistics ------------------------------------------------------------------------------ */

/* Rows are drawn one from each of count equal pieces, so that no period is missed. */
static uint64_t sample_row(const sample_t *sample, uint64_t number)
{
    const uint64_t rows = sample->shape->rows;
    const uint64_t first = (uint64_t)((unsigned __int128)rows * number / sample->count);
    const uint64_t next = (uint64_t)((unsigned __int128)rows * (number + 1) / sample->count);
    const uint32_t draw = (uint32_t)(number + 1) * 0x9e3779b1u;
    return first + (draw ^ draw >> 15) % (next - first);
}

/* Adds each channel's value, or its distance from about, over the sample's rows. */
static void sample_sum(const sample_t *sample, const float *about, float *sum)
{
    const uint32_t channels = sample->shape->channels;
    memset(sum, 0, channels * sizeof *sum);
    for (uint64_t number = 0; number < sample->count; number++) {
        const uint64_t row = sample_row(sample, number);
        const int exponent =
            sample->rows ? sample->rows[row] - TAHX_SHIFT : sample->shape->exponent;
        const float unit = float_power(-exponent);
        const uint8_t *src = sample->src + row * channels * sample->element;
        for (uint32_t at = 0; at < channels; at += TILE_MAX) {
            const unsigned n = channels - at < TILE_MAX ? channels - at : TILE_MAX;
            float values[TILE_MAX];
            convert_finite(sample->dtype, src + (size_t)at * sample->element, n, values);
            if (about)
                for (unsigned i = 0; i < n; i++)
                    sum[at + i] += float_magnitude(values[i] * unit - about[at + i]);
            else
                for (unsigned i = 0; i < n; i++)
                    sum[at + i] += values[i] * unit;
        }
    }
}

/* A positive float as its logarithm in sixteenths of an octave, the mantissa taken as linear. */
static int sixteenths(float value)
{
    return (int)(float_bits(value) >> 19) - 16 * 127;
}

/* The average of the logarithms of what is positive, so that no few channels decide. */
static bool typical(const float *values, uint32_t count, int *result)
{
    int64_t sum = 0;
    uint32_t positive = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] >= float_power(-126)) {
            sum += sixteenths(values[i]);
            positive++;
        }
    }
    *result = positive ? (int)(sum / positive) : 0;
    return positive > 0;
}

/*
 * Means in units of a power of two near deviation * sqrt(12 / rows), where the bits that a finer
 * unit takes and the error of a coarser one balance; by coarser powers of two more, and cut off to
 * fewer bits than the largest needs by shorter.
 */
static void fields_mean(const float *mean, const float *deviation, const tahx_shape_t *shape,
                        int coarser, unsigned shorter, tahx_fields_t *fields)
{
    int typical_deviation;
    float largest = 0;
    fields->mean_bits = 0;
    fields->mean_exponent = 0;
    for (uint32_t c = 0; c < shape->channels; c++) {
        const float magnitude = float_magnitude(mean[c]);
        largest = magnitude > largest ? magnitude : largest;
    }
    if (largest < float_power(-TAHX_EXPONENT) || largest >= float_power(TAHX_EXPONENT))
        return;
    if (!typical(deviation, shape->channels, &typical_deviation))
        typical_deviation = sixteenths(largest) - 16 * TAHX_MEAN_BITS;
    /* 34 is sixteen times log2(sqrt(12) * 1.25), the last factor from mean distance to deviation.
     */
    int unit = (typical_deviation + 34 - sixteenths((float)shape->rows) / 2 + 8) >> 4;
    const int least = (sixteenths(largest) >> 4) + 2 - TAHX_MEAN_BITS;
    unit = (unit > least ? unit : least) + coarser;
    unit = unit > -TAHX_EXPONENT ? unit : -TAHX_EXPONENT;
    if (unit > TAHX_EXPONENT)
        return;
    int most = 0;
    for (uint32_t c = 0; c < shape->channels; c++) {
        const float units = mean[c] * float_power(-unit);
        const int rounded = (int)(units + (units < 0 ? -0.5f : 0.5f));
        fields->mean[c] = (int16_t)(rounded < 32767 ? rounded : 32767);
        most = abs(fields->mean[c]) > most ? abs(fields->mean[c]) : most;
    }
    if (bit_length((uint64_t)most) <= shorter)
        return;
    fields->mean_bits = bit_length((uint64_t)most) + 1 - shorter;
    fields->mean_exponent = unit;
    const int limit = (1 << (fields->mean_bits - 1)) - 1;
    for (uint32_t c = 0; c < shape->channels; c++) {
        const int own = fields->mean[c];
        fields->mean[c] = (int16_t)(own > limit ? limit : own < -limit ? -limit : own);
    }
}

/* Square roots of the deviations, the largest as 63, in eighths of an octave. */
static void fields_scale(const float *deviation, uint32_t channels, tahx_fields_t *fields)
{
    const int last = (1 << TAHX_SCALE_BITS) - 1;
    int top = sixteenths(0);
    fields->scaled = false;
    for (uint32_t c = 0; c < channels; c++)
        top = sixteenths(deviation[c]) > top ? sixteenths(deviation[c]) : top;
    for (uint32_t c = 0; c < channels; c++) {
        const int below = (top - sixteenths(deviation[c]) + 2) >> 2;
        fields->scale[c] = (uint8_t)(below < last ? last - below : 0);
        fields->scaled |= fields->scale[c] != last;
    }
}

/* --- choice ---------------------------------------------------------------------------------- */

/* The error that rows of the sample would have with these vectors and room for all rows. */
static double trial_error(const sample_t *sample, const tahx_shape_t *wanted,
                          const tahx_vectors_t *vectors, uint64_t room, uint16_t *peaks,
                          uint8_t *bytes)
{
    tahx_shape_t shape = *wanted;
    const uint64_t rows = sample->count < TRIAL_ROWS ? sample->count : TRIAL_ROWS;
    const double share = (double)rows / (double)shape.rows;
    if (!tahx_shape_init(&shape) || shape.stream_start > room)
        return INFINITY;
    const uint64_t stream = (uint64_t)((double)(room - shape.stream_start) * share);
    uint64_t tiles = 0;
    for (uint64_t number = 0; number < rows; number++) {
        const uint64_t row = sample_row(sample, sample->count * number / rows);
        tahx_cursor_t cursor = tahx_start(&shape, sample->dtype, row * shape.row_tiles,
                                          (row + 1) * shape.row_tiles);
        while (tahx_next(&cursor, vectors, sample->rows)) {
            kernel_get()->tahx->peaks(&cursor.run, sample->src + cursor.start * sample->element,
                                      peaks + tiles);
            tiles += tahx_run_tiles(&cursor.run);
        }
    }
    shape.rows = rows;
    shape.count = rows * shape.row;
    shape.tiles = tiles;
    tahx_bytes_of(&shape, peaks, tiles, bytes);
    tahx_rate_fit(&shape, bytes, stream);

    tahx_widths_t widths;
    tahx_widths_init(&shape, &widths);
    double error = 0;
    for (uint64_t tile = 0; tile < tiles; tile++) {
        const uint64_t first = tile % shape.row_tiles * shape.tile;
        const uint64_t end = first + shape.tile < shape.row ? first + shape.tile : shape.row;
        const unsigned width = tahx_width(&widths, bytes[tile], tile);
        const double scale = (double)tahx_scale_mantissa(bytes[tile]) *
                             float_power(bytes[tile] / 16 + shape.tile_exponent);
        double weight = 0;
        for (uint64_t c = first; c < end; c++)
            weight += (double)vectors->scale[c] * vectors->scale[c];
        if (bytes[tile] >= TAHX_COARSEST)
            error += scale * scale * shape.book->error[width] * weight;
    }
    return error;
}

/* What may be tried for a message; the first says how it goes without anything. */
typedef struct choice {
    bool scaled, with_mean;
    uint8_t coarser, shorter;
} choice_t;

static const choice_t choices[] = {
    {false, false, 0, 0},
    {true, false, 0, 0},
    {false, true, 0, 0},
    {true, true, 0, 0},
    /* for messages of few rows */
    {false, true, 1, 0},
    {true, true, 1, 0},
    {false, true, 0, 1},
    {true, true, 0, 1},
};
enum { CHOICES = sizeof choices / sizeof *choices, CHOICES_LONG = 4 };

/* Memory of a choice. */
typedef struct trial {
    float *mean, *deviation;
    uint16_t *peaks;
    uint8_t *bytes;
} trial_t;

/* Makes what a choice says of the sample's statistics. */
static void choice_make(const sample_t *sample, const choice_t *choice, const trial_t *trial,
                        tahx_shape_t *shape, tahx_fields_t *fields, tahx_vectors_t *vectors)
{
    *shape = *sample->shape;
    if (choice->with_mean) {
        fields_mean(trial->mean, trial->deviation, shape, choice->coarser, choice->shorter, fields);
        shape->mean_bits = (uint8_t)fields->mean_bits;
        shape->mean_exponent = fields->mean_exponent;
    }
    fields_scale(trial->deviation, shape->channels, fields);
    shape->scaled = choice->scaled && fields->scaled;
    tahx_vectors_fill(shape, fields, vectors);
}

static void choose(const sample_t *sample, uint64_t room, const trial_t *trial,
                   tahx_fields_t *fields, tahx_vectors_t *vectors)
{
    const uint32_t channels = sample->shape->channels;
    const float share = 1 / (float)sample->count;
    const int count = sample->shape->rows <= SHORT_ROWS ? CHOICES : CHOICES_LONG;
    tahx_shape_t shape;
    int best = 0;
    double least = INFINITY;
    sample_sum(sample, NULL, trial->mean);
    for (uint32_t c = 0; c < channels; c++)
        trial->mean[c] *= share;
    sample_sum(sample, trial->mean, trial->deviation);
    for (uint32_t c = 0; c < channels; c++)
        trial->deviation[c] *= share;
    for (int i = 0; i < count; i++) {
        choice_make(sample, &choices[i], trial, &shape, fields, vectors);
        if (i > 0 && choices[i].scaled && !shape.scaled)
            continue;
        const double error = trial_error(sample, &shape, vectors, room, trial->peaks, trial->bytes);
        if (error < least) {
            least = error;
            best = i;
        }
    }
    choice_make(sample, &choices[best], trial, &shape, fields, vectors);
    *sample->shape = shape;
}

bool tahx_vectors_choose(tahx_shape_t *shape, tah_dtype_t dtype, const uint8_t *src,
                         const uint8_t *rows, uint64_t room, tahx_vectors_t *vectors,
                         uint8_t *payload, uint64_t capacity)
{
    sample_t sample = {
        .shape = shape,
        .dtype = dtype,
        .element = (unsigned)tah_dtype_bytes(dtype),
        .src = src,
        .rows = rows,
        .count = shape->rows / SAMPLE_SHARE,
    };
    const uint64_t least = SAMPLE_LEAST / shape->channels + 1;
    sample.count = sample.count > least ? sample.count : least;
    sample.count = sample.count < SAMPLE_MOST ? sample.count : SAMPLE_MOST;
    sample.count = sample.count < shape->rows ? sample.count : shape->rows;
    tahx_fields_t fields;
    const size_t channels = shape->channels, tiles = TRIAL_ROWS * shape->row_tiles;
    trial_t trial = {
        .mean = malloc(channels * sizeof(float)),
        .deviation = malloc(channels * sizeof(float)),
        .peaks = malloc(tiles * sizeof(uint16_t)),
        .bytes = malloc(tiles),
    };
    bool enough = trial.mean && trial.deviation && trial.peaks && trial.bytes &&
                  tahx_fields_alloc(&fields, shape->channels);
    if (enough) {
        choose(&sample, room, &trial, &fields, vectors);
        tahx_shape_init(shape);
        if (shape->rows_start <= capacity)
            tahx_fields_write(shape, &fields, payload);
        tahx_fields_free(&fields);
    }
    free(trial.mean);
    free(trial.deviation);
    free(trial.peaks);
    free(trial.bytes);
    return enough;
}
