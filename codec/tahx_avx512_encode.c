/* The AVX-512 kernel of tahx: from elements to codes. Needs GFNI, VBMI and VNNI. */
#include "codec/tahx_avx512.h"

#include "codec/bytes.h"

#include <math.h>

/* --- the search for a scale ------------------------------------------------------------------ */

/*
 * Weighted squared errors of 32 values of fixed point at the scales that are tried, two scales a
 * vector: of each 128 bits the lower half belongs to the first.
 */
INLINE void errors_add(__m512i fixed, const tahx_steps_t *steps, __m512i square, __m512i weight,
                       __m512i sums[2])
{
    const __m512i magnitude = _mm512_abs_epi16(fixed);
    for (int i = 0; i < 2; i++) {
        const __m512i one =
            _mm512_mulhi_epu16(magnitude, _mm512_set1_epi16((short)steps->place[2 * i]));
        const __m512i two =
            _mm512_mulhi_epu16(magnitude, _mm512_set1_epi16((short)steps->place[2 * i + 1]));
        const __m512i error = _mm512_permutexvar_epi8(_mm512_packus_epi16(one, two), square);
        sums[i] = _mm512_dpbusd_epi32(sums[i], error, weight);
    }
}

/* The first of the scales with the least error. */
INLINE unsigned least_error(const __m512i sums[2], const tahx_steps_t *steps, unsigned tried)
{
    /* Scales 0, 2, 1, 3 in each 128 bits. */
    const __m512i first = _mm512_add_epi32(sums[0], _mm512_shuffle_epi32(sums[0], 0xb1));
    const __m512i second = _mm512_add_epi32(sums[1], _mm512_shuffle_epi32(sums[1], 0xb1));
    const __m512i both = _mm512_mask_blend_epi32(0xaaaa, first, second);
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(both), _mm512_extracti64x4_epi64(both, 1));
    const __m128i sum = _mm_shuffle_epi32(
        _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)), 0xd8);
    const __m128 error = _mm_mask_mul_ps(_mm_set1_ps(INFINITY), (__mmask8)tried,
                                         _mm_cvtepi32_ps(sum), _mm_loadu_ps(steps->square));
    __m128 least = _mm_min_ps(error, _mm_shuffle_ps(error, error, 0x4e));
    least = _mm_min_ps(least, _mm_shuffle_ps(least, least, 0xb1));
    return (unsigned)__builtin_ctz(_mm_cmp_ps_mask(error, least, _CMP_EQ_OQ));
}

/* --- codes ----------------------------------------------------------------------------------- */

/* What a width needs. */
typedef struct cells {
    __m512i first, second, start, back, edges;
    __m128i shift;
    bool edged;
} cells_t;

INLINE cells_t cells_of(const tahx_book_t *book, unsigned width)
{
    const tahx_compander_t *lines = &book->compander[width >= TAHX_WIDE];
    const bool edged = width <= TAHX_EDGED;
    const unsigned count = edged ? 1u << (width - 1) : 0;
    return (cells_t){
        .first = _mm512_set1_epi16((short)lines->first),
        .second = _mm512_set1_epi16((short)lines->second),
        .start = _mm512_set1_epi16((short)lines->start),
        .back = _mm512_set1_epi16(edged ? (short)lines->back : 0),
        .edges = _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(
            (__mmask16)((1u << count) - 1), book->edge + (edged ? count - 1 : 0))),
        .shift = _mm_cvtsi32_si128(TAHX_LEVEL_BITS + 1 - (int)width),
        .edged = edged,
    };
}

/* The codes of 32 values of fixed point, as 16-bit numbers. */
INLINE __m512i codes_of(__m512i fixed, __m512i ratio, const cells_t *cells, unsigned width)
{
    const __m512i value = _mm512_mulhi_epu16(_mm512_abs_epi16(fixed), ratio);
    const __m512i u = _mm512_add_epi16(value, value);
    const __m512i one = _mm512_mulhi_epu16(u, cells->first);
    const __m512i two = _mm512_add_epi16(_mm512_mulhi_epu16(u, cells->second), cells->start);
    __m512i cell =
        _mm512_min_epu16(_mm512_min_epu16(one, two), _mm512_set1_epi16((1 << TAHX_LEVEL_BITS) - 1));
    cell = _mm512_srl_epi16(_mm512_subs_epu16(cell, cells->back), cells->shift);
    if (cells->edged) {
        const __m512i edge = _mm512_permutexvar_epi16(cell, cells->edges);
        const __mmask32 beyond = _mm512_cmpge_epi16_mask(value, edge);
        cell = _mm512_mask_add_epi16(cell, beyond, cell, _mm512_set1_epi16(1));
    }
    return _mm512_mask_add_epi16(cell, _mm512_movepi16_mask(fixed), cell,
                                 _mm512_set1_epi16((short)(1 << (width - 1))));
}

/*
 * Fixed point comes out of packing with the values of two vectors in turn, four of each; codes of
 * two such vectors are packed once more. Here is where code i then is, but for each eight of them
 * from the last to the first, which is what the transposition of their bits wants.
 */
static const uint8_t code_order[64] = {
    19, 18, 17, 16, 3,  2,  1,  0,  51, 50, 49, 48, 35, 34, 33, 32, 23, 22, 21, 20, 7,  6,
    5,  4,  55, 54, 53, 52, 39, 38, 37, 36, 27, 26, 25, 24, 11, 10, 9,  8,  59, 58, 57, 56,
    43, 42, 41, 40, 31, 30, 29, 28, 15, 14, 13, 12, 63, 62, 61, 60, 47, 46, 45, 44,
};

/*
 * Byte j of plane b comes from byte b of the j-th eight: for planes of 8 bytes, and for two times
 * eight planes of 4.
 */
static const uint8_t plane_order_64[64] = {
    0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
    50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
    37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63,
};
static const uint8_t plane_order_32[64] = {
    0,  8,  16, 24, 1,  9,  17, 25, 2,  10, 18, 26, 3,  11, 19, 27, 4,  12, 20, 28, 5,  13,
    21, 29, 6,  14, 22, 30, 7,  15, 23, 31, 32, 40, 48, 56, 33, 41, 49, 57, 34, 42, 50, 58,
    35, 43, 51, 59, 36, 44, 52, 60, 37, 45, 53, 61, 38, 46, 54, 62, 39, 47, 55, 63,
};

/* Where the weights of 32 values have to be for errors_add. */
static const uint8_t weight_order[64] = {
    0,  1,  2,  3,  16, 17, 18, 19, 0,  1,  2,  3,  16, 17, 18, 19, 4,  5,  6,  7,  20, 21,
    22, 23, 4,  5,  6,  7,  20, 21, 22, 23, 8,  9,  10, 11, 24, 25, 26, 27, 8,  9,  10, 11,
    24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31, 12, 13, 14, 15, 28, 29, 30, 31,
};

/* Writes the first bytes of a vector; more than that, if there is room. */
INLINE void store_first(uint8_t *out, size_t bytes, size_t room, __m512i data)
{
    if (room >= 64)
        _mm512_storeu_si512(out, data);
    else
        _mm512_mask_storeu_epi8(out, first_bits((unsigned)bytes), data);
}

/* The planes of 64 codes, which are in the order of packing. */
INLINE __m512i planes_of(__m512i packed, const uint8_t order[64])
{
    const __m512i identity = _mm512_set1_epi64((long long)0x8040201008040201);
    const __m512i codes = _mm512_permutexvar_epi8(_mm512_loadu_si512(code_order), packed);
    return _mm512_permutexvar_epi8(_mm512_loadu_si512(order),
                                   _mm512_gf2p8affine_epi64_epi8(identity, codes, 0));
}

/* Writes the planes of a block of n codes. */
INLINE void planes_store(__m512i packed, unsigned n, unsigned width, uint8_t *out, size_t room)
{
    if (n == 64) {
        store_first(out, 8 * width, room, planes_of(packed, plane_order_64));
    } else if (n == 32) {
        store_first(out, 4 * width, room, planes_of(packed, plane_order_32));
    } else {
        const unsigned bytes = (n + 7) / 8;
        uint64_t planes[8];
        _mm512_storeu_si512(planes, planes_of(packed, plane_order_64));
        for (unsigned bit = 0; bit < width; bit++)
            memcpy(out + bit * bytes, &planes[bit], bytes);
    }
}

/* What a run needs, and the cells of the widths that its tiles have so far. */
typedef struct encoder {
    const tahx_run_t *run;
    __m512 unit;
    unsigned filled; /* a bit for each width */
    cells_t cells[TAHX_WIDTH_MAX + 1];
} encoder_t;

INLINE const cells_t *encoder_cells(encoder_t *encoder, unsigned width)
{
    if (!(encoder->filled >> width & 1)) {
        encoder->cells[width] = cells_of(encoder->run->shape->book, width);
        encoder->filled |= 1u << width;
    }
    return &encoder->cells[width];
}

/*
 * The codes of a tile of n elements from number at of the run on, a vector for 32 of them; *byte
 * becomes that of the best scale. width is at least 1.
 */
INLINE void tile_codes(encoder_t *encoder, const uint8_t *src, unsigned at, unsigned n,
                       uint8_t *byte, unsigned tried, unsigned width, tah_dtype_t dtype,
                       unsigned element, __m512i codes[TILE_MAX / 32])
{
    const tahx_run_t *run = encoder->run;
    const tahx_steps_t *steps = &tahx_steps[(*byte - 1u) % 16];
    const __m512 inverse = _mm512_set1_ps(tahx_scale_inverse(run->shape, *byte - 1u));
    const bool scaled = run->exponent != 0;
    __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    unsigned step = 1;
    for (unsigned i = 0; i < n; i += 32) {
        const uint8_t *own = src + (size_t)i * element;
        const __m512 low =
            load_coded(run, dtype, scaled, encoder->unit, own, at + i, lanes_of(i, n));
        const __m512 high =
            load_coded(run, dtype, scaled, encoder->unit, own + (size_t)LANES * element,
                       at + i + LANES, lanes_of(i + LANES, n));
        codes[i / 32] = _mm512_packs_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(low, inverse)),
                                           _mm512_cvttps_epi32(_mm512_mul_ps(high, inverse)));
    }
    if (width <= TAHX_EDGED) {
        const __m512i square = _mm512_loadu_si512(run->shape->book->square[width - 1]);
        for (unsigned i = 0; i < n; i += 32) {
            const __mmask32 mask = (__mmask32)first_bits(n - i < 32 ? n - i : 32);
            const __m256i own = run->weight ? _mm256_maskz_loadu_epi8(mask, run->weight + at + i)
                                            : _mm256_maskz_set1_epi8(mask, 1);
            const __m512i weight = _mm512_permutexvar_epi8(_mm512_loadu_si512(weight_order),
                                                           _mm512_castsi256_si512(own));
            errors_add(codes[i / 32], steps, square, weight, sums);
        }
        step = least_error(sums, steps, tried);
    }
    *byte = (uint8_t)(*byte - 1 + step);
    const __m512i ratio = _mm512_set1_epi16((short)steps->ratio[step]);
    const cells_t *cells = encoder_cells(encoder, width);
    for (unsigned i = 0; i < n; i += 32)
        codes[i / 32] = codes_of(codes[i / 32], ratio, cells, width);
}

/* Writes the planes of a tile. */
INLINE void tile_store(const __m512i *codes, unsigned n, unsigned width, uint8_t *out, size_t room)
{
    for (unsigned i = 0; i < n; i += BLOCK) {
        const unsigned count = n - i < BLOCK ? n - i : BLOCK;
        const size_t before = (size_t)i / 8 * width;
        planes_store(_mm512_packus_epi16(codes[i / 32], codes[i / 32 + (count > 32)]), count, width,
                     out + before, room - before);
    }
}

/* Writes the planes of two tiles of 32; there is room for 32 bytes from the start of each. */
INLINE void pair_store(__m512i first, __m512i second, unsigned first_width, uint8_t *out)
{
    const __m512i planes = planes_of(_mm512_packus_epi16(first, second), plane_order_32);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_castsi512_si256(planes));
    _mm256_storeu_si256((__m256i *)(void *)(out + 4 * first_width),
                        _mm512_extracti64x4_epi64(planes, 1));
}

/* Where an encoding run is. */
typedef struct position {
    unsigned at;
    size_t used;
    uint64_t number;
    uint8_t *byte;
} position_t;

/* Encodes the next tile; false: no room. */
INLINE bool encode_tile(encoder_t *encoder, const uint8_t *src, position_t *position, uint8_t *out,
                        size_t room, tah_dtype_t dtype, unsigned element, unsigned n)
{
    const tahx_run_t *run = encoder->run;
    const uint8_t *own = src + (size_t)position->at * element;
    __m512i codes[TILE_MAX / 32];
    size_t taken;
    if (*position->byte < TAHX_COARSEST) {
        taken = tahx_tile_encode(run, own, position->at, n, position->byte, out + position->used,
                                 room - position->used);
        if (taken == SIZE_MAX)
            return false;
    } else {
        const unsigned width = tahx_width(run->widths, *position->byte, position->number);
        const unsigned tried = tahx_tried(run->widths, *position->byte, position->number);
        taken = tile_code_bytes(n, width);
        if (room - position->used < taken)
            return false;
        if (width > 0) {
            tile_codes(encoder, own, position->at, n, position->byte, tried, width, dtype, element,
                       codes);
            tile_store(codes, n, width, out + position->used, room - position->used);
        }
    }
    position->used += taken;
    position->at += n;
    position->number++;
    position->byte++;
    return true;
}

/* Encodes the next two tiles of 32, if both have codes and there is room. */
INLINE bool encode_pair(encoder_t *encoder, const uint8_t *src, position_t *position, uint8_t *out,
                        size_t room, tah_dtype_t dtype, unsigned element)
{
    const tahx_run_t *run = encoder->run;
    __m512i codes[2][TILE_MAX / 32];
    unsigned width[2];
    for (unsigned i = 0; i < 2; i++)
        width[i] = tahx_width(run->widths, position->byte[i], position->number + i);
    if (width[0] == 0 || width[1] == 0 || room - position->used < 4 * width[0] + 32)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned at = position->at + 32 * i;
        const unsigned tried = tahx_tried(run->widths, position->byte[i], position->number + i);
        tile_codes(encoder, src + (size_t)at * element, at, 32, &position->byte[i], tried, width[i],
                   dtype, element, codes[i]);
    }
    pair_store(codes[0][0], codes[1][0], width[0], out + position->used);
    position->used += 4 * (width[0] + width[1]);
    position->at += 64;
    position->number += 2;
    position->byte += 2;
    return true;
}

INLINE size_t encode_run(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                         size_t room, tah_dtype_t dtype, unsigned element, unsigned tile)
{
    encoder_t encoder; /* its cells are filled as they are needed */
    encoder.run = run;
    encoder.unit = _mm512_set1_ps(float_power(-run->exponent));
    encoder.filled = 0;
    position_t position = {.number = run->first, .byte = bytes};
    while (position.at < run->n) {
        const unsigned left = run->n - position.at;
        bool encoded;
        if (tile == 32 && left >= 64 &&
            encode_pair(&encoder, src, &position, out, room, dtype, element))
            continue;
        if (left >= tile)
            encoded = encode_tile(&encoder, src, &position, out, room, dtype, element, tile);
        else
            encoded = encode_tile(&encoder, src, &position, out, room, dtype, element, left);
        if (!encoded)
            return SIZE_MAX;
    }
    return position.used;
}

/* Of the tile sizes, the common ones have code of their own. */
INLINE size_t encode_type(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room, tah_dtype_t dtype, unsigned element)
{
    if (run->shape->tile == 32)
        return encode_run(run, src, bytes, out, room, dtype, element, 32);
    if (run->shape->tile == 64)
        return encode_run(run, src, bytes, out, room, dtype, element, 64);
    return encode_run(run, src, bytes, out, room, dtype, element, run->shape->tile);
}

size_t tahx_avx512_encode(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room)
{
    switch (run->dtype) {
    case TAH_FLOAT32:
        return encode_type(run, src, bytes, out, room, TAH_FLOAT32, 4);
    case TAH_BFLOAT16:
        return encode_type(run, src, bytes, out, room, TAH_BFLOAT16, 2);
    case TAH_FLOAT16:
        return encode_type(run, src, bytes, out, room, TAH_FLOAT16, 2);
    default:
        return tahx_kernel_scalar.encode(run, src, bytes, out, room);
    }
}
