/* The AVX2 kernel: decoding of runs of tiles. */
#include "codec/kernel_avx2.h"

#include "codec/bytes.h"
#include "codec/convert.h"

/* 32 bits, the first codes' first, to 32 bytes: mask where the bit is set. */
static inline __m256i spread_bits(uint32_t plane, uint8_t mask)
{
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202,
                                            0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)plane), byte);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
    return _mm256_and_si256(set, _mm256_set1_epi8((char)mask));
}

/* The codes of n elements, a byte each; n is a multiple of 16. */
static inline __attribute__((always_inline)) void unpack_codes(const uint8_t *in, unsigned n,
                                                               unsigned bits, uint8_t *codes)
{
    const unsigned per_block = (n < 64 ? n : 64) / 8; /* bytes of a plane of a block */
    for (unsigned first = 0; first < n; first += per_block * 8, in += bits * per_block) {
        for (unsigned part = 0; part < per_block; part += 4) {
            const unsigned bytes = per_block - part < 4 ? per_block - part : 4;
            __m256i sum = _mm256_setzero_si256();
            for (unsigned bit = 0; bit < bits; bit++) {
                uint32_t plane = 0;
                memcpy(&plane, in + bit * per_block + part, bytes);
                sum = _mm256_or_si256(sum, spread_bits(plane, (uint8_t)(1 << bit)));
            }
            if (bytes == 4)
                _mm256_storeu_si256((__m256i *)(codes + first + part * 8), sum);
            else
                _mm_storeu_si128((__m128i *)(codes + first), _mm256_castsi256_si128(sum));
        }
    }
}

/* As the reference: transform back, round, put the pivot where it was. */
static int unrotate(__m256i *y, unsigned vectors, unsigned order, unsigned pivot)
{
    int32_t values[TILE_MAX];
    const unsigned drop = order - 1;
    const __m256i half = _mm256_set1_epi32(1 << (drop - 1));
    avx2_hadamard(y, vectors);
    for (unsigned i = 0; i < vectors; i++)
        y[i] = _mm256_sra_epi32(_mm256_add_epi32(y[i], half), _mm_cvtsi32_si128((int)drop));
    memcpy(values, y, vectors * sizeof *y);
    const int32_t first = values[0];
    values[0] = values[pivot];
    values[pivot] = first;
    memcpy(y, values, vectors * sizeof *y);
    return (int)drop;
}

/*
 * One tile. Returns the bytes of the stream used; 0 where the reference has to decode it, or has to
 * say that it cannot be.
 */
static inline __attribute__((always_inline)) size_t
decode_tile(const tile_job_t *job, uint32_t record, const uint8_t *in, size_t room,
            unsigned vectors, unsigned bits, uint8_t *dst)
{
    uint8_t codes[TILE_MAX];
    __m256i y[VECTORS_MAX];
    tile_grid_t grid;
    bool rotated;
    const unsigned n = vectors * LANES;
    if (!record_unpack(record, &grid, &rotated) || grid.exponent < TILE_EXPONENT_FAST_MIN ||
        grid.exponent > TILE_EXPONENT_FAST_MAX)
        return 0;
    const size_t bytes = rotated + tile_code_bytes(n, bits);
    if (room < bytes || (rotated && (job->hadamard == TAH_HADAMARD_OFF || *in >= n)))
        return 0;
    const unsigned pivot = rotated ? *in++ : 0;
    unpack_codes(in, n, bits, codes);
    const __m256i step = _mm256_set1_epi32(grid.step), zero = _mm256_set1_epi32(grid.zero);
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        const __m256i code =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(codes + i * LANES)));
        y[i] = _mm256_add_epi32(_mm256_madd_epi16(code, step), zero);
    }
    int exponent = grid.exponent - TILE_SCALE_BIAS;
    if (rotated)
        exponent += unrotate(y, vectors, tile_log2(n), pivot);
    if (job->dtype != TAH_FLOAT32) {
        int32_t values[TILE_MAX];
        memcpy(values, y, vectors * sizeof *y);
        convert_store(job->dtype, values, exponent, n, dst);
        return bytes;
    }
    /* Both exact: less than 2^24, and neither subnormal nor beyond the largest float. */
    const __m256 power = _mm256_set1_ps(float_power(exponent));
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        _mm256_storeu_ps((float *)(void *)(dst + i * 32),
                         _mm256_mul_ps(_mm256_cvtepi32_ps(y[i]), power));
    return bytes;
}

static inline __attribute__((always_inline)) size_t
decode_run(const tile_run_t *run, const uint8_t *records, unsigned vectors, const uint8_t *in,
           size_t room, uint8_t *dst)
{
    size_t used = 0;
    for (unsigned t = 0; t < run->tiles; t++) {
        const uint32_t record = load_u32(records + t * TILE_RECORD);
        size_t bytes = decode_tile(run->job, record, in + used, room - used, vectors,
                                   run->widths[t], dst);
        if (bytes == 0)
            bytes = tile_decode(run->job, record, in + used, room - used, run->n, run->widths[t],
                                dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
        dst += (size_t)run->n * run->job->element;
    }
    return used;
}

size_t avx2_decode(const tile_run_t *run, const uint8_t *records, const uint8_t *in, size_t room,
                   uint8_t *dst)
{
    switch (run->n) {
    case 16:
        return decode_run(run, records, 2, in, room, dst);
    case 32:
        return decode_run(run, records, 4, in, room, dst);
    case 64:
        return decode_run(run, records, 8, in, room, dst);
    case 128:
        return decode_run(run, records, 16, in, room, dst);
    case 256:
        return decode_run(run, records, 32, in, room, dst);
    default:
        return kernel_scalar.decode(run, records, in, room, dst);
    }
}
