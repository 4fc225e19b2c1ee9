/* The AVX-512 kernel of tahx. */
#include "codec/simd_avx512.h"

#include "codec/tahx_vector_scan.h"
#include "codec/tahx_avx512.h"

const tahx_kernel_t tahx_kernel_avx512 = {
    .peaks = vector_peaks,
    .sum = vector_sum,
    .squares = vector_squares,
    .encode = tahx_avx512_encode,
    .decode = tahx_avx512_decode,
};
