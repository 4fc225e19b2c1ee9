/* Tensors from .npy files: NumPy's own format, versions 1 to 3, of floating-point elements. */
#ifndef TOOLS_NPY_H
#define TOOLS_NPY_H

#include "codec/tah.h"

#define NPY_DIMENSIONS 32 /* NumPy's own limit in this format */

typedef struct npy {
    tah_dtype_t dtype;
    unsigned dimensions; /* 0: a single number */
    uint64_t shape[NPY_DIMENSIONS];
    size_t count, bytes; /* of all elements */
    void *data;          /* row-major, for any element type aligned */
} npy_t;

/*
 * Reads a whole file into *npy, which the caller frees by npy_free. '<f4', '<f8' and '<f2' are
 * float32, float64 and float16. The format knows no bfloat16: 16-bit elements without a sign
 * ('<u2') or without a meaning ('<V2', as ml_dtypes writes them) are taken for it.
 * false: why has one sentence that starts with the path (cut off at why_bytes), *npy is all zero.
 * That is so for files that cannot be read, are no .npy file, are longer or shorter than their
 * shape says, or hold something else: other types, big-endian or column-major data.
 */
bool npy_read(const char *path, npy_t *npy, char *why, size_t why_bytes);

/* Frees the data; *npy is all zero then. */
void npy_free(npy_t *npy);

#endif
