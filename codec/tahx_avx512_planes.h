/* From codes to planes in AVX-512: the part of the encoder that knows the order of bits. */
#ifndef TAH_TAHX_AVX512_PLANES_H
#define TAH_TAHX_AVX512_PLANES_H

#include "codec/table_64.h"
#include "codec/tahx_avx512.h"

#define BYTES_64_WIDTHS(AT)                                                                        \
    {                                                                                              \
        BYTES_64(AT, 0), BYTES_64(AT, 1), BYTES_64(AT, 2), BYTES_64(AT, 3), BYTES_64(AT, 4),       \
            BYTES_64(AT, 5), BYTES_64(AT, 6), BYTES_64(AT, 7), BYTES_64(AT, 8)                     \
    }

/*
 * Where two vectors of codes have code c, and for each eight the last first, which is what the
 * transposition of their bits wants.
 */
#define CODE_AT(c) ((c) / 32 * 64 + (c) % 16 / 4 * 16 + (c) / 16 % 2 * 8 + (c) % 4 * 2 + 1)
#define CODE_TURNED(w, k) CODE_AT((k) / 8 * 8 + 7 - (k) % 8)
static const uint8_t code_order[64] = BYTES_64(CODE_TURNED, 0);

/*
 * Byte k of the planes of a block of 64 or of 32 codes: byte 8 q + p of all planes has bit p of the
 * q-th eight. Those of a width are the bits of its cells, then the sign.
 */
#define PLANE(w, i) ((i) + 1 >= (w) ? 7 : (w) <= TAHX_EDGED ? (i) + 1 : 8 - (w) + (i))
#define PLANES_64(w, k) ((k) % 8 * 8 + PLANE(w, (k) / 8))
#define PLANES_32(w, k) ((k) % 4 * 8 + PLANE(w, (k) / 4))
static const uint8_t order_64[TAHX_WIDTH_MAX + 1][64] = BYTES_64_WIDTHS(PLANES_64);
static const uint8_t order_32[TAHX_WIDTH_MAX + 1][64] = BYTES_64_WIDTHS(PLANES_32);

/* The eight bits of each eight of 64 codes. */
INLINE __m512i planes_of(__m512i first, __m512i second)
{
    const __m512i identity = _mm512_set1_epi64((long long)0x8040201008040201);
    const __m512i codes = _mm512_permutex2var_epi8(first, _mm512_loadu_si512(code_order), second);
    return _mm512_gf2p8affine_epi64_epi8(identity, codes, 0);
}

/* Writes the planes of 32 codes, and what is in a vector behind them. */
INLINE void planes_store(__m256i planes, unsigned width, uint8_t *out)
{
    const __m256i order = _mm256_loadu_si256((const __m256i *)(const void *)order_32[width]);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permutexvar_epi8(order, planes));
}

/* Writes the planes of a tile of n codes, and up to a vector behind them. */
INLINE void tile_store(const __m512i *codes, unsigned n, unsigned width, uint8_t *out)
{
    for (unsigned i = 0; i < n; i += BLOCK, codes += 2, out += BLOCK / 8 * width) {
        const unsigned count = n - i < BLOCK ? n - i : BLOCK, bytes = (count + 7) / 8;
        const __m512i all = planes_of(codes[0], codes[count > 32]);
        if (count == 32) {
            planes_store(_mm512_castsi512_si256(all), width, out);
            continue;
        }
        const __m512i planes = _mm512_permutexvar_epi8(_mm512_loadu_si512(order_64[width]), all);
        if (count == 64) {
            _mm512_storeu_si512(out, planes);
            continue;
        }
        uint64_t plane[8];
        _mm512_storeu_si512(plane, planes);
        for (unsigned bit = 0; bit < width; bit++)
            memcpy(out + bit * bytes, &plane[bit], bytes);
    }
}

#endif
