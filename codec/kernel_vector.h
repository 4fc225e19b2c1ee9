/*
 * The vector kernels: the body of every kernel but the scalar one, in this file and the
 * kernel_vector_*.h after it, included behind one of the simd_*.h. Same operations in the same
 * order as in tile.c and tile_math.c, but for sixteen tiles at once where there is one result a
 * tile.
 */
#include "codec/bytes.h"
#include "codec/convert.h"
#include "codec/kernels.h"
#include "codec/tile_math.h"

#define BATCH SIMD_LANES
#define TILE_VECTORS (TILE_MAX / SIMD_LANES)

/* tah_dtype_bytes of a float type: a call would have all vectors leave their registers. */
SIMD unsigned element_bytes(tah_dtype_t dtype)
{
    return dtype == TAH_FLOAT64 ? 8 : dtype == TAH_FLOAT32 ? 4 : 2;
}

/* A tile as floats in whole vectors, what is behind it filled with its first one. */
static void tile_widen(tah_dtype_t dtype, const uint8_t *src, unsigned n, unsigned vectors,
                       float *values)
{
    const unsigned whole = n / SIMD_LANES * SIMD_LANES;
    uint8_t rest[SIMD_LANES * 4] = {0};
    uint32_t bits[TILE_MAX], peak;
    switch (dtype) {
    case TAH_BFLOAT16:
    case TAH_FLOAT16: {
        const bool brain = dtype == TAH_BFLOAT16;
        memcpy(rest, src + 2 * whole, 2 * (n - whole));
        for (unsigned i = 0; i < vectors; i++) {
            const uint8_t *at = i * SIMD_LANES < whole ? src + 2 * i * SIMD_LANES : rest;
            vf_store(values + i * SIMD_LANES, brain ? vf_load_bfloat16(at) : vf_load_float16(at));
        }
        break;
    }
    case TAH_FLOAT32:
        memcpy(values, src, 4 * n);
        break;
    default:
        if (convert_load(dtype, src, n, bits, &peak))
            memcpy(values, bits, n * sizeof *values);
        else
            values[0] = bits_float(FLOAT_INFINITY_BITS);
    }
    for (unsigned i = n; i < vectors * SIMD_LANES; i++)
        values[i] = values[0];
}

/*
 * The extremes of the lanes of a tile. A sum that ends up as zero where all elements are finite, as
 * NaN where they are not.
 */
SIMD vf tile_scan(const uint8_t *data, unsigned vectors, vf *low, vf *high)
{
    vf x = vf_load(data);
    const vf zero = vf_set1(0);
    vf least = x, most = x, sum = vf_mul(x, zero);
    UNROLLED
    for (unsigned i = 1; i < vectors; i++) {
        x = vf_load(data + i * 64);
        least = vf_min(least, x);
        most = vf_max(most, x);
        sum = vf_fused(x, zero, sum);
    }
    *low = least;
    *high = most;
    return sum;
}

/* Asks for what will be read soon: in a program it is often in no cache. */
SIMD void next_prefetch(const uint8_t *at, unsigned vectors)
{
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        __builtin_prefetch(at + i * 64);
}

/* Whether all elements of a sum of tile_scan are zero. */
SIMD bool scan_finite(vf sum)
{
    return vm_bits(vf_above(vf_set1(1), vf_abs(sum))) == 0xffff;
}

/* The stages of a transform that are between so many vectors, by sums and differences. */
#define BETWEEN_VECTORS(type, x, vectors, add, sub)                                                \
    UNROLLED                                                                                       \
    for (unsigned half = 1; half < (vectors); half *= 2) {                                         \
        UNROLLED                                                                                   \
        for (unsigned i = 0; i < (vectors) / 2; i++) {                                             \
            const unsigned k = i / half * 2 * half + i % half;                                     \
            const type a = (x)[k], b = (x)[k + half];                                              \
            (x)[k] = add(a, b);                                                                    \
            (x)[k + half] = sub(a, b);                                                             \
        }                                                                                          \
    }
