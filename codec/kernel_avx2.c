/* The AVX2 kernel. */
#include "codec/simd_avx2.h"

#include "codec/kernel_vector.h"
#include "codec/kernel_vector_encode.h"
#include "codec/kernel_vector_decode.h"
#include "codec/kernel_vector_keys.h"
#include "codec/checksum.h"
#include "codec/tahx.h"

const kernel_t kernel_avx2 = {
    .name = "avx2",
    .encode = vector_encode,
    .decode = vector_decode,
    .entropy = vector_entropy,
    .range = vector_range,
    .copy_past = vector_copy_past,
    .checksum = checksum,
    .tahx = &tahx_kernel_avx2,
};
