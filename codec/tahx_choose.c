/* Means and scales of channels, and whether a message is better with them. */
#include "codec/tahx_vectors.h"

#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE_ROWS 256        /* means are made of so many rows at least, if there are, and */
#define SAMPLE_LEAST (1 << 18) /* of so many elements; */
#define SAMPLE_SHARE 2         /* deviations of one in so many of them */
#define SHORT_ROWS 256         /* most rows for which coarser and shorter means are tried */
#define TRIAL_ROWS 64          /* most rows of the sample on which the choices are compared, */
#define TRIAL_LEAST 16         /* but no more than so many */
#define TRIAL_TILES 512        /* if they have so many tiles */

typedef struct sample {
    tahx_shape_t *shape;
    tah_dtype_t dtype;
    unsigned element;
    const uint8_t *src, *rows;
    uint64_t count; /* rows */
    uint64_t trial; /* of them, for trial_error */
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

/* The mean of each channel or of its distance from about, by one row of the sample in step. */
static void sample_mean(const sample_t *sample, const float *about, uint64_t step, float *mean)
{
    const uint32_t channels = sample->shape->channels;
    uint64_t count = 0;
    memset(mean, 0, channels * sizeof *mean);
    for (uint64_t number = 0; number < sample->count; number += step, count++) {
        const uint64_t row = sample_row(sample, number);
        const int exponent =
            sample->rows ? sample->rows[row] - TAHX_SHIFT : sample->shape->exponent;
        kernel_get()->tahx->sum(sample->dtype, sample->src + row * channels * sample->element,
                                channels, float_power(-exponent), about, mean);
    }
    const float share = 1 / (float)count;
    for (uint32_t c = 0; c < channels; c++)
        mean[c] *= share;
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

/* What the squares of the channels' scales in each column of tiles add up to. */
static void columns_weigh(const tahx_shape_t *shape, const float *scale, double *weight)
{
    for (uint64_t c = 0; c < shape->channels; c++) {
        if (c % shape->tile == 0)
            weight[c / shape->tile] = 0;
        weight[c / shape->tile] += (double)scale[c] * scale[c];
    }
}

/* Memory of a choice. */
typedef struct trial {
    float *mean, *deviation;
    double *weight; /* of columns of tiles */
    uint16_t *peaks;
    uint8_t *bytes;
} trial_t;

/* The error that rows of the sample would have with these vectors and room for all rows. */
static double trial_error(const sample_t *sample, const tahx_shape_t *wanted,
                          const tahx_vectors_t *vectors, uint64_t room, const trial_t *trial)
{
    tahx_shape_t shape = *wanted;
    const double share = (double)sample->trial / (double)shape.rows;
    if (!tahx_shape_init(&shape) || shape.stream_start > room)
        return INFINITY;
    const uint64_t stream = (uint64_t)((double)(room - shape.stream_start) * share);
    uint64_t tiles = 0;
    int top = 0;
    for (uint64_t number = 0; number < sample->trial; number++) {
        const uint64_t row = sample_row(sample, sample->count * number / sample->trial);
        tahx_cursor_t cursor = tahx_start(&shape, sample->dtype, row * shape.row_tiles,
                                          (row + 1) * shape.row_tiles);
        while (tahx_next(&cursor, vectors, sample->rows)) {
            kernel_get()->tahx->peaks(&cursor.run, sample->src + cursor.start * sample->element,
                                      trial->peaks + tiles);
            tiles += tahx_run_tiles(&cursor.run);
        }
    }
    for (uint64_t tile = 0; tile < tiles; tile++)
        if (trial->peaks[tile] < TAHX_SPECIAL && trial->peaks[tile] > top)
            top = trial->peaks[tile];
    shape.rows = sample->trial;
    shape.count = shape.rows * shape.row;
    shape.tiles = tiles;
    tahx_bytes_of(&shape, trial->peaks, tiles, top, trial->bytes);
    tahx_rate_fit(&shape, trial->bytes, stream);

    tahx_widths_t widths;
    tahx_widths_init(&shape, &widths);
    columns_weigh(&shape, vectors->scale, trial->weight);
    double error = 0;
    for (uint64_t tile = 0, column = 0; tile < tiles; tile++, column++) {
        const uint8_t byte = trial->bytes[tile];
        column = column < shape.row_tiles ? column : 0;
        if (byte < TAHX_COARSEST)
            continue;
        const double scale = (double)tahx_scale_mantissa(byte) *
                             float_power(byte / 16 + shape.tile_exponent);
        error += scale * scale * shape.book->error[tahx_width(&widths, byte, tile)] *
                 trial->weight[column];
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
    const int count = sample->shape->rows <= SHORT_ROWS ? CHOICES : CHOICES_LONG;
    tahx_shape_t shape;
    int best = 0;
    double least = INFINITY;
    sample_mean(sample, NULL, 1, trial->mean);
    sample_mean(sample, trial->mean, sample->count >= SAMPLE_ROWS ? SAMPLE_SHARE : 1,
                trial->deviation);
    for (int i = 0; i < count; i++) {
        choice_make(sample, &choices[i], trial, &shape, fields, vectors);
        if (i > 0 && choices[i].scaled && !shape.scaled)
            continue;
        const double error = trial_error(sample, &shape, vectors, room, trial);
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
    };
    const uint64_t least = SAMPLE_LEAST / shape->channels + 1;
    sample.count = least > SAMPLE_ROWS ? least : SAMPLE_ROWS;
    sample.count = sample.count < shape->rows ? sample.count : shape->rows;
    sample.trial = TRIAL_TILES / shape->row_tiles;
    sample.trial = sample.trial > TRIAL_LEAST ? sample.trial : TRIAL_LEAST;
    sample.trial = sample.trial < TRIAL_ROWS ? sample.trial : TRIAL_ROWS;
    sample.trial = sample.trial < sample.count ? sample.trial : sample.count;
    tahx_fields_t fields;
    const size_t channels = shape->channels, tiles = sample.trial * shape->row_tiles;
    trial_t trial = {
        .mean = malloc(channels * sizeof(float)),
        .deviation = malloc(channels * sizeof(float)),
        .weight = malloc(shape->row_tiles * sizeof(double)),
        .peaks = malloc(tiles * sizeof(uint16_t)),
        .bytes = malloc(tiles),
    };
    bool enough = trial.mean && trial.deviation && trial.weight && trial.peaks && trial.bytes &&
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
    free(trial.weight);
    free(trial.peaks);
    free(trial.bytes);
    return enough;
}
