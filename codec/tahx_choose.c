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
#define PLAIN_SHARE 0.99       /* no vectors save so much time that they may cost 0.04 dB */

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
 * The exponent of the power of two nearest deviation * sqrt(12 / rows), where the bits that a finer
 * unit of means takes and the error of a coarser one balance. false: there can be no means.
 */
static bool mean_unit(const float *mean, const float *deviation, const tahx_shape_t *shape,
                      int *unit)
{
    int typical_deviation;
    float largest = 0;
    for (uint32_t c = 0; c < shape->channels; c++) {
        const float magnitude = float_magnitude(mean[c]);
        largest = magnitude > largest ? magnitude : largest;
    }
    if (largest < float_power(-TAHX_EXPONENT) || largest >= float_power(TAHX_EXPONENT))
        return false;
    if (!typical(deviation, shape->channels, &typical_deviation))
        typical_deviation = sixteenths(largest) - 16 * TAHX_MEAN_BITS;
    /* 34 is sixteen times log2(sqrt(12) * 1.25), the last factor from mean distance to deviation.
     */
    const int wanted = (typical_deviation + 34 - sixteenths((float)shape->rows) / 2 + 8) >> 4;
    const int least = (sixteenths(largest) >> 4) + 2 - TAHX_MEAN_BITS;
    *unit = wanted > least ? wanted : least;
    return true;
}

/* Means in units of 2^unit, cut off to fewer bits than the largest needs by shorter. */
static void fields_mean(const float *mean, uint32_t channels, int unit, unsigned shorter,
                        tahx_fields_t *fields)
{
    fields->mean_bits = 0;
    fields->mean_exponent = 0;
    unit = unit > -TAHX_EXPONENT ? unit : -TAHX_EXPONENT;
    if (unit > TAHX_EXPONENT)
        return;
    const float inverse = float_power(-unit);
    int most = 0, limit = (1 << (TAHX_MEAN_BITS - 1)) - 1;
    for (uint32_t c = 0; c < channels; c++) {
        const float units = mean[c] * inverse;
        const int rounded = (int)(units + (units < 0 ? -0.5f : 0.5f));
        fields->mean[c] = (int16_t)(rounded > limit ? limit : rounded < -limit ? -limit : rounded);
        most = abs(fields->mean[c]) > most ? abs(fields->mean[c]) : most;
    }
    if (bit_length((uint64_t)most) <= shorter)
        return;
    fields->mean_bits = bit_length((uint64_t)most) + 1 - shorter;
    fields->mean_exponent = unit;
    limit = (1 << (fields->mean_bits - 1)) - 1;
    for (uint32_t c = 0; shorter && c < channels; c++) {
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
    for (uint64_t first = 0; first < shape->channels; first += shape->tile) {
        const uint64_t left = shape->channels - first;
        double sum = 0;
        for (uint64_t c = first; c < first + (left < shape->tile ? left : shape->tile); c++)
            sum += (double)scale[c] * scale[c];
        *weight++ = sum;
    }
}

/* Memory of a choice. */
typedef struct trial {
    float *mean, *deviation;
    int unit;       /* of means; see mean_unit */
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
    tahx_widths_plan(&shape, &widths);
    double error = 0;
    for (uint64_t tile = 0, column = 0; tile < tiles; tile++, column++) {
        const uint8_t byte = trial->bytes[tile];
        column = column < shape.row_tiles ? column : 0;
        if (byte < TAHX_COARSEST)
            continue;
        const double scale = (double)((uint32_t)tahx_scale_mantissa(byte) << byte / 16);
        error += scale * scale * shape.book->error[tahx_width(&widths, byte, tile)] *
                 trial->weight[column];
    }
    const double unit = float_power(shape.tile_exponent);
    return error * unit * unit;
}

/*
 * What means there may be: none, those of the usual unit, and for messages of few rows also of a
 * coarser one or of fewer bits.
 */
static const struct {
    bool any;
    uint8_t coarser, shorter;
} means[] = {{false, 0, 0}, {true, 0, 0}, {true, 1, 0}, {true, 0, 1}};
enum { MEANS = sizeof means / sizeof *means, MEANS_LONG = 2 };

/* Makes vectors without or with scales and with these means; false: the same as without means. */
static bool choice_make(const sample_t *sample, bool scaled, int kind, const trial_t *trial,
                        tahx_shape_t *shape, tahx_fields_t *fields, tahx_vectors_t *vectors)
{
    *shape = *sample->shape;
    shape->scaled = scaled;
    if (means[kind].any) {
        fields_mean(trial->mean, shape->channels, trial->unit + means[kind].coarser,
                    means[kind].shorter, fields);
        shape->mean_bits = (uint8_t)fields->mean_bits;
        shape->mean_exponent = fields->mean_exponent;
    }
    tahx_vectors_fill(shape, fields, vectors);
    tahx_vectors_invert(shape, vectors);
    return shape->mean_bits > 0 || !means[kind].any;
}

static void choose(const sample_t *sample, uint64_t room, trial_t *trial, tahx_fields_t *fields,
                   tahx_vectors_t *vectors)
{
    tahx_shape_t shape;
    int best = 0, count = sample->shape->rows <= SHORT_ROWS ? MEANS : MEANS_LONG;
    bool best_scaled = false;
    double least = INFINITY;
    sample_mean(sample, NULL, 1, trial->mean);
    sample_mean(sample, trial->mean, sample->count >= SAMPLE_ROWS ? SAMPLE_SHARE : 1,
                trial->deviation);
    fields_scale(trial->deviation, sample->shape->channels, fields);
    if (!mean_unit(trial->mean, trial->deviation, sample->shape, &trial->unit))
        count = 1;
    for (int scaled = 0; scaled <= fields->scaled; scaled++) {
        for (int kind = 0; kind < count; kind++) {
            if (!choice_make(sample, scaled, kind, trial, &shape, fields, vectors))
                continue;
            if (kind == 0)
                columns_weigh(&shape, vectors->scale, trial->weight);
            double error = trial_error(sample, &shape, vectors, room, trial);
            error *= scaled || kind > 0 ? 1 : PLAIN_SHARE;
            if (error < least) {
                least = error;
                best = kind;
                best_scaled = scaled;
            }
        }
    }
    choice_make(sample, best_scaled, best, trial, &shape, fields, vectors);
    tahx_vectors_weigh(&shape, vectors);
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
