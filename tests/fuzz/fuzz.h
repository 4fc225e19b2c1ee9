/* What the fuzz targets share. Each is a LLVMFuzzerTestOneInput, for libFuzzer or for replay.c. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where a promise is broken, which is what a fuzzer calls a finding. */
#define FUZZ_REQUIRE(condition)                                                              \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A buffer of exactly this many bytes, so that a sanitizer sees what goes beyond. */
static inline uint8_t *fuzz_alloc(size_t bytes)
{
    uint8_t *buffer = malloc(bytes);
    FUZZ_REQUIRE(buffer != NULL || bytes == 0);
    return buffer;
}

static inline uint8_t *fuzz_copy(const void *data, size_t bytes)
{
    uint8_t *copy = fuzz_alloc(bytes);
    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

/* Names for tah_kernel_select; the first is the reference for the others. */
static const char *const fuzz_kernels[] = {"scalar", "avx2", "avx512"};
enum { FUZZ_KERNELS = sizeof fuzz_kernels / sizeof *fuzz_kernels };

#endif
