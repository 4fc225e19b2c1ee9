/* The AVX2 kernel of tahx: from codes to elements. */
#include "codec/tahx_avx2.h"

#include "codec/bytes.h"

/* The codes of a block of 32 from its planes, a bit a code. */
INLINE __m256i codes_read(const uint32_t *planes, unsigned width)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                            2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i own = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i codes = _mm256_setzero_si256();
    for (unsigned bit = 0; bit < width; bit++) {
        __m256i plane = _mm256_shuffle_epi8(_mm256_set1_epi32((int)planes[bit]), spread);
        plane = _mm256_cmpeq_epi8(_mm256_and_si256(plane, own), own);
        codes = _mm256_or_si256(codes, _mm256_and_si256(plane, _mm256_set1_epi8((char)(1 << bit))));
    }
    return codes;
}

/* Levels of eight codes, with their signs. */
INLINE __m256 levels_read(const tahx_book_t *book, __m256i codes, unsigned width, __m256 table,
                          __m256 upper)
{
    const __m128i to_sign = _mm_cvtsi32_si128(32 - (int)width);
    const __m256 sign =
        _mm256_and_ps(_mm256_castsi256_ps(_mm256_sll_epi32(codes, to_sign)), _mm256_set1_ps(-0.0f));
    __m256 level;
    if (width <= 4) {
        /* Three bits of the index count: in narrower codes the sign is among them. */
        level = _mm256_permutevar8x32_ps(table, codes);
    } else if (width == 5) {
        level = _mm256_blendv_ps(_mm256_permutevar8x32_ps(table, codes),
                                 _mm256_permutevar8x32_ps(upper, codes),
                                 _mm256_castsi256_ps(_mm256_slli_epi32(codes, 28)));
    } else {
        /* The level before the wanted one and the wanted one, of which the latter is kept. */
        const __m256i index = _mm256_and_si256(codes, _mm256_set1_epi32((1 << (width - 1)) - 1));
        const __m256i pair = _mm256_i32gather_epi32(
            (const int *)(const void *)(tahx_levels(book, width) - 1), index, 2);
        level = _mm256_cvtepi32_ps(_mm256_srli_epi32(pair, 16));
    }
    return _mm256_or_ps(level, sign);
}

/* Levels of a width as floats; those of codes of up to 3 bits twice, for both signs. */
static void tables_fill(const tahx_book_t *book, unsigned width, __m256 *table, __m256 *upper)
{
    float numbers[16] = {0};
    const unsigned count = 1u << (width - 1);
    for (unsigned i = 0; width <= 5 && i < 16; i++)
        numbers[i] = tahx_levels(book, width)[i % count];
    *table = _mm256_loadu_ps(numbers);
    *upper = _mm256_loadu_ps(numbers + 8);
}

/* The first n of eight elements. */
INLINE void store_elements(tah_dtype_t dtype, uint8_t *dst, int n, __m256 x)
{
    __m128i half;
    if (dtype == TAH_FLOAT32) {
        if (n >= LANES)
            _mm256_storeu_ps((float *)(void *)dst, x);
        else
            _mm256_maskstore_ps((float *)(void *)dst, lanes_of(n), x);
        return;
    }
    if (dtype == TAH_BFLOAT16) {
        /* To nearest, halves to even; see tahx_run_plain: nothing gets as large as infinity. */
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i rounded = _mm256_srli_epi32(
            _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7fff)), 16);
        half =
            _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
    } else {
        const __m256 kept =
            _mm256_max_ps(_mm256_min_ps(x, _mm256_set1_ps(65504)), _mm256_set1_ps(-65504));
        half = _mm256_cvtps_ph(kept, _MM_FROUND_TO_NEAREST_INT);
    }
    if (n >= LANES)
        _mm_storeu_si128((__m128i *)(void *)dst, half);
    else
        memcpy(dst, &half, (size_t)n * 2);
}

/* The planes of up to 32 codes; false: a bit beyond the last is set. */
INLINE bool planes_read(const uint8_t *in, unsigned first, unsigned n, unsigned width,
                        uint32_t *planes)
{
    const unsigned block = first / 64 * 64, count = n - block < 64 ? n - block : 64;
    const unsigned bytes = (count + 7) / 8, skip = (first - block) / 8;
    const unsigned own = count - 8 * skip < BLOCK ? count - 8 * skip : BLOCK;
    in += width * (block / 8) + skip;
    for (unsigned bit = 0; bit < width; bit++, in += bytes) {
        planes[bit] = 0;
        if (own == BLOCK)
            planes[bit] = load_u32(in);
        else
            memcpy(&planes[bit], in, (own + 7) / 8);
        if (own < BLOCK && planes[bit] >> own)
            return false;
    }
    return true;
}

INLINE bool tile_load(const tahx_run_t *run, unsigned byte, const uint8_t *in, unsigned width,
                      unsigned at, unsigned n, const __m256 table[2], uint8_t *dst,
                      tah_dtype_t dtype, unsigned element, bool vectors)
{
    const __m256 scale = _mm256_set1_ps(run->widths->level[byte]);
    const __m256 unit = _mm256_set1_ps(float_power(run->exponent));
    for (unsigned first = 0; first < n; first += BLOCK) {
        uint32_t planes[TAHX_WIDTH_MAX];
        if (!planes_read(in, first, n, width, planes))
            return false;
        const __m256i codes = codes_read(planes, width);
        const __m128i halves[2] = {_mm256_castsi256_si128(codes),
                                   _mm256_extracti128_si256(codes, 1)};
        for (unsigned v = 0; v < VECTORS; v++) {
            const unsigned i = first + v * LANES;
            const int left = (int)n - (int)i;
            if (left <= 0)
                break;
            const __m128i eight = v % 2 ? _mm_srli_si128(halves[v / 2], 8) : halves[v / 2];
            __m256 x = _mm256_setzero_ps();
            if (width)
                x = _mm256_mul_ps(levels_read(run->shape->book, _mm256_cvtepu8_epi32(eight), width,
                                              table[0], table[1]),
                                  scale);
            if (vectors)
                x = _mm256_add_ps(_mm256_mul_ps(x, load_floats(run->scale + at + i, left)),
                                  load_floats(run->mean + at + i, left));
            if (run->exponent)
                x = _mm256_mul_ps(x, unit);
            store_elements(dtype, dst + (size_t)i * element, left, x);
        }
    }
    return true;
}

INLINE size_t decode_run(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                         size_t room, uint8_t *dst, tah_dtype_t dtype, unsigned element,
                         unsigned tile, bool vectors)
{
    __m256 tables[TAHX_WIDTH_MAX + 1][2];
    unsigned filled = 1; /* a bit for each width; none is needed for 0 */
    uint64_t number = run->first;
    size_t used = 0;
    for (unsigned at = 0; at < run->n; at += tile, bytes++, number++) {
        const unsigned n = run->n - at < tile ? run->n - at : tile;
        uint8_t *own = dst + (size_t)at * element;
        size_t taken;
        if (*bytes < TAHX_COARSEST) {
            taken = tahx_tile_decode(run, *bytes, in + used, room - used, at, n, own);
            if (taken == SIZE_MAX)
                return SIZE_MAX;
        } else {
            const unsigned width = tahx_width(run->widths, *bytes, number);
            taken = tile_code_bytes(n, width);
            if (!(filled >> width & 1))
                tables_fill(run->shape->book, width, &tables[width][0], &tables[width][1]);
            filled |= 1u << width;
            if (room - used < taken)
                return SIZE_MAX;
            const bool valid = n == tile ? tile_load(run, *bytes, in + used, width, at, tile,
                                                     tables[width], own, dtype, element, vectors)
                                         : tile_load(run, *bytes, in + used, width, at, n,
                                                     tables[width], own, dtype, element, vectors);
            if (!valid)
                return SIZE_MAX;
        }
        used += taken;
    }
    return used;
}

#include "codec/tahx_vector_decode.h"

size_t tahx_avx2_decode(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in, size_t room,
                        uint8_t *dst)
{
    return decode_any(run, bytes, in, room, dst);
}
