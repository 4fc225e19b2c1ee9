/* Signal and noise of an encoding. */
#include "codec/measure.h"

#include "codec/bytes.h"
#include "codec/convert.h"

#include <math.h>

/* Elements of a float type as doubles. */
static void to_double(tah_dtype_t dtype, const uint8_t *src, unsigned n, double *values)
{
    if (dtype == TAH_FLOAT64) {
        memcpy(values, src, n * sizeof *values);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        uint32_t bits, peak;
        float value = NAN;
        if (convert_load(dtype, src + i * tah_dtype_bytes(dtype), 1, &bits, &peak))
            memcpy(&value, &bits, sizeof value);
        values[i] = value;
    }
}

void measure_add(tah_dtype_t dtype, const uint8_t *src, const uint8_t *decoded, unsigned n,
                 tah_encoded_t *result)
{
    double before[TILE_MAX], after[TILE_MAX], signal = 0, noise = 0;
    to_double(dtype, src, n, before);
    to_double(dtype, decoded, n, after);
    for (unsigned i = 0; i < n; i++) {
        if (!isfinite(before[i]))
            continue;
        const double error = before[i] - after[i];
        signal += before[i] * before[i];
        noise += error * error;
    }
    result->signal += signal;
    result->noise += noise;
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
