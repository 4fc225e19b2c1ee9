/* Signal and noise of an encoding. */
#include "codec/measure.h"

#include "codec/bytes.h"
#include "codec/convert.h"

#include <math.h>

enum { LANES = 8 }; /* partial sums: a compiler can keep them in one or two vectors */

/* An element of 16 bits, converted by itself, so that others that are not finite do not matter. */
static float one_float(tah_dtype_t dtype, const uint8_t *src)
{
    uint32_t bits, peak;
    float value = NAN;
    if (convert_load(dtype, src, 1, &bits, &peak))
        memcpy(&value, &bits, sizeof value);
    return value;
}

/* Elements of a float type as doubles, and zeros up to a whole number of LANES. */
static void to_double(tah_dtype_t dtype, const uint8_t *src, unsigned n, double *values)
{
    float floats[TILE_MAX];
    if (dtype == TAH_FLOAT64) {
        memcpy(values, src, n * sizeof *values);
    } else {
        if (dtype == TAH_FLOAT32)
            memcpy(floats, src, n * sizeof *floats);
        for (unsigned i = 0; dtype != TAH_FLOAT32 && i < n; i++)
            floats[i] = one_float(dtype, src + i * tah_dtype_bytes(dtype));
        for (unsigned i = 0; i < n; i++)
            values[i] = floats[i];
    }
    for (; n % LANES; n++)
        values[n] = 0;
}

void measure_add(tah_dtype_t dtype, const uint8_t *src, const uint8_t *decoded, unsigned n,
                 tah_encoded_t *result)
{
    double before[TILE_MAX], after[TILE_MAX], signal[LANES] = {0}, noise[LANES] = {0};
    to_double(dtype, src, n, before);
    to_double(dtype, decoded, n, after);
    for (unsigned first = 0; first < n; first += LANES)
        for (unsigned lane = 0; lane < LANES; lane++) {
            const double value = before[first + lane];
            const bool finite = value - value == 0;
            const double error = finite ? value - after[first + lane] : 0;
            signal[lane] += finite ? value * value : 0;
            noise[lane] += error * error;
        }
    for (unsigned lane = 0; lane < LANES; lane++) {
        result->signal += signal[lane];
        result->noise += noise[lane];
    }
}

void measure_run(const tile_run_t *run, const uint8_t *src, const uint8_t *records,
                 const uint8_t *stream, size_t bytes, tah_encoded_t *result)
{
    const kernel_t *kernel = kernel_get();
    const size_t tile_bytes = (size_t)run->n * run->job->element;
    uint8_t decoded[TILE_MAX * sizeof(double)];
    for (unsigned t = 0; t < run->tiles; t++) {
        const tile_run_t one = {run->job, run->n, 1, run->widths + t, run->first + t};
        const size_t used = kernel->decode(&one, records + t * TILE_RECORD, stream, bytes, decoded);
        measure_add(run->job->dtype, src + t * tile_bytes, decoded, run->n, result);
        stream += used;
        bytes -= used;
    }
}
