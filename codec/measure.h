/* What an encoding loses, found by decoding it again. */
#ifndef TAH_MEASURE_H
#define TAH_MEASURE_H

#include "codec/kernels.h"

/*
 * Adds to result->signal and ->noise what this run of tiles at src contributes, which has just been
 * encoded to these records and this many bytes at stream. Elements that are not finite, which are
 * always exact, count in neither.
 */
void measure_run(const tile_run_t *run, const uint8_t *src, const uint8_t *records,
                 const uint8_t *stream, size_t bytes, tah_encoded_t *result);

/* Adds what n <= TILE_MAX elements at src contribute that come back as those at decoded. */
void measure_add(tah_dtype_t dtype, const uint8_t *src, const uint8_t *decoded, unsigned n,
                 tah_encoded_t *result);

#endif
