/* The AVX2 kernel of tahx. */
#include "codec/simd_avx2.h"

#include "codec/tahx_vector_scan.h"
#include "codec/tahx_avx2.h"

const tahx_kernel_t tahx_kernel_avx2 = {
    .peaks = vector_peaks,
    .sum = vector_sum,
    .squares = vector_squares,
    .encode = tahx_avx2_encode,
    .decode = tahx_avx2_decode,
};
