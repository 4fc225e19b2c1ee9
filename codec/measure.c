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

void measure_run(const tile_run_t *run, const uint8_t *src, const uint8_t *records,
                 const uint8_t *stream, size_t bytes, tah_encoded_t *result)
{
    const kernel_t *kernel = kernel_get();
    const size_t tile_bytes = (size_t)run->n * run->job->element;
    uint8_t decoded[TILE_MAX * sizeof(double)];
    double before[TILE_MAX], after[TILE_MAX];
    for (unsigned t = 0; t < run->tiles; t++) {
        const tile_run_t one = {run->job, run->n, 1, run->widths + t};
        const size_t used = kernel->decode(&one, records + t * TILE_RECORD, stream, bytes, decoded);
        to_double(run->job->dtype, src + t * tile_bytes, run->n, before);
        to_double(run->job->dtype, decoded, run->n, after);
        double signal = 0, noise = 0;
        for (unsigned i = 0; i < run->n; i++) {
            if (!isfinite(before[i]))
                continue;
            const double error = before[i] - after[i];
            signal += before[i] * before[i];
            noise += error * error;
        }
        result->signal += signal;
        result->noise += noise;
        stream += used;
        bytes -= used;
    }
}
