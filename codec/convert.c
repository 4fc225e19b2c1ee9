/* Conversions of element types, one tile at a time. */
#include "codec/convert.h"

#include "codec/bytes.h"

#include <float.h>

#define SIGN_BIT 0x80000000u

uint32_t convert_peak(const uint32_t *patterns, unsigned n)
{
    /* With a sign: not every processor compares integers without one. */
    int32_t largest[CONVERT_LANES] = {0};
    for (; n >= CONVERT_LANES; n -= CONVERT_LANES, patterns += CONVERT_LANES)
        for (unsigned k = 0; k < CONVERT_LANES; k++) {
            const int32_t magnitude = (int32_t)(patterns[k] & ~SIGN_BIT);
            largest[k] = magnitude > largest[k] ? magnitude : largest[k];
        }
    int32_t peak = 0;
    for (unsigned k = 0; k < n; k++) {
        const int32_t magnitude = (int32_t)(patterns[k] & ~SIGN_BIT);
        peak = magnitude > peak ? magnitude : peak;
    }
    for (unsigned k = 0; k < CONVERT_LANES; k++)
        peak = largest[k] > peak ? largest[k] : peak;
    return (uint32_t)peak;
}

static uint32_t float16_widen(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31)
        return sign | FLOAT_INFINITY_BITS | mantissa << 13;
    if (exponent > 0)
        return sign | (exponent + 127 - 15) << 23 | mantissa << 13;
    if (mantissa == 0)
        return sign;
    /*
     * A subnormal, mantissa * 2^-24, is a normal float32: its leading bit becomes the hidden one.
     */
    const uint32_t length = bit_length(mantissa);
    return sign | (length - 1 + 127 - 24) << 23 | (mantissa << (24 - length) & 0x7fffff);
}

/* Cut off toward zero. The magnitude is below 2^128. */
static uint32_t float64_narrow(uint64_t bits)
{
    const uint32_t sign = (uint32_t)(bits >> 63) << 31;
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    const uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent >= -126)
        return sign | (uint32_t)(exponent + 127) << 23 | (uint32_t)(mantissa >> 29);
    if (exponent < -149)
        return sign;
    return sign | (uint32_t)((mantissa | UINT64_C(1) << 52) >> (29 - 126 - exponent));
}

static bool load_float64(const uint8_t *src, unsigned n, uint32_t *values, uint32_t *peak)
{
    uint64_t largest = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t magnitude = load_u64(src + 8 * i) & ~(UINT64_C(1) << 63);
        largest = magnitude > largest ? magnitude : largest;
    }
    if (largest >> 52 > 1023 + 127)
        return false;
    for (unsigned i = 0; i < n; i++)
        values[i] = float64_narrow(load_u64(src + 8 * i));
    *peak = float64_narrow(largest);
    return true;
}

bool convert_load(tah_dtype_t dtype, const uint8_t *src, unsigned n, uint32_t *values,
                  uint32_t *peak)
{
    switch (dtype) {
    case TAH_FLOAT32:
        memcpy(values, src, n * sizeof *values);
        break;
    case TAH_BFLOAT16:
        for (unsigned i = 0; i < n; i++)
            values[i] = (uint32_t)load_u16(src + 2 * i) << 16;
        break;
    case TAH_FLOAT16:
        for (unsigned i = 0; i < n; i++)
            values[i] = float16_widen(load_u16(src + 2 * i));
        break;
    case TAH_FLOAT64:
        return load_float64(src, n, values, peak);
    case TAH_BYTES:
    case TAH_DTYPE_COUNT:
        return false;
    }
    *peak = convert_peak(values, n);
    return *peak < FLOAT_INFINITY_BITS;
}

/* value * 2^exponent as float32, exact: |value| < 2^24, exponent >= -149, result below 2^128. */
static uint32_t float32_bits(int32_t value, int exponent)
{
    const uint32_t sign = value < 0 ? SIGN_BIT : 0;
    const uint32_t magnitude = value < 0 ? -(uint32_t)value : (uint32_t)value;
    const int length = (int)bit_length(magnitude);
    if (length + exponent > -126) /* normal: the leading bit becomes the hidden one */
        return magnitude == 0 ? 0
                              : sign | (uint32_t)(length - 1 + exponent + 127) << 23 |
                                    (magnitude << (24 - length) & 0x7fffff);
    return sign | magnitude << (exponent + 149);
}

static uint16_t bfloat16_round(uint32_t bits)
{
    const uint32_t rounded = (bits & ~SIGN_BIT) + 0x7fff + (bits >> 16 & 1);
    const uint32_t magnitude = rounded >> 16 < 0x7f80 ? rounded >> 16 : 0x7f7f;
    return (uint16_t)(bits >> 31 << 15 | magnitude);
}

static uint16_t float16_round(uint32_t bits)
{
    const uint32_t sign = bits >> 31 << 15;
    const int exponent = (int)(bits >> 23 & 255) - 127;
    if (exponent < -25) /* below half of the smallest subnormal, 2^-24 */
        return (uint16_t)sign;
    if (exponent > 15)
        return (uint16_t)(sign | 0x7bff);
    const uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
    /* Bits to drop; the hidden bit carries 1 into the exponent field of a normal result. */
    const unsigned drop = exponent < -14 ? (unsigned)(-1 - exponent) : 13;
    const uint32_t base = exponent < -14 ? 0 : (uint32_t)(exponent + 14) << 10;
    const uint32_t kept = mantissa >> drop, rest = mantissa & ((1u << drop) - 1);
    const uint32_t half = 1u << (drop - 1);
    const uint32_t magnitude = base + kept + (rest > half || (rest == half && (kept & 1)));
    return (uint16_t)(sign | (magnitude < 0x7c00 ? magnitude : 0x7bff));
}

static void store_float32(const int32_t *values, int exponent, unsigned n, uint8_t *dst)
{
    if (exponent >= -126) {
        /* No result is subnormal, and every product is exact: any rounding mode gives the same. */
        const float power = float_power(exponent);
        for (unsigned i = 0; i < n; i++) {
            const float value = (float)values[i] * power;
            memcpy(dst + 4 * i, &value, 4);
        }
        return;
    }
    for (unsigned i = 0; i < n; i++)
        store_u32(dst + 4 * i, float32_bits(values[i], exponent));
}

/* 2^exponent of a normal double. */
static double double_power(int exponent)
{
    const union {
        uint64_t bits;
        double value;
    } power = {.bits = (uint64_t)(exponent + 1023) << 52};
    return power.value;
}

static void store_float64(const int32_t *values, int exponent, unsigned n, uint8_t *dst)
{
    const double power = double_power(exponent);
    for (unsigned i = 0; i < n; i++) {
        const double value = (double)values[i] * power;
        memcpy(dst + 8 * i, &value, 8);
    }
}

void convert_store(tah_dtype_t dtype, const int32_t *values, int exponent, unsigned n,
                   uint8_t *dst)
{
    switch (dtype) {
    case TAH_FLOAT32:
        store_float32(values, exponent, n, dst);
        break;
    case TAH_BFLOAT16:
    case TAH_FLOAT16:
        for (unsigned i = 0; i < n; i++) {
            const uint32_t bits = float32_bits(values[i], exponent);
            const uint16_t half =
                dtype == TAH_BFLOAT16 ? bfloat16_round(bits) : float16_round(bits);
            memcpy(dst + 2 * i, &half, 2);
        }
        break;
    case TAH_FLOAT64:
        store_float64(values, exponent, n, dst);
        break;
    case TAH_BYTES:
    case TAH_DTYPE_COUNT:
        break;
    }
}

void convert_finite(tah_dtype_t dtype, const uint8_t *src, unsigned n, float *values)
{
    const size_t element = tah_dtype_bytes(dtype);
    uint32_t bits[64], peak;
    for (unsigned first = 0; first < n; first += 64, src += 64 * element) {
        const unsigned count = n - first < 64 ? n - first : 64;
        if (!convert_load(dtype, src, count, bits, &peak))
            for (unsigned i = 0; i < count; i++)
                if (!convert_load(dtype, src + i * element, 1, bits + i, &peak))
                    bits[i] = 0;
        memcpy(values + first, bits, count * sizeof *bits);
    }
}

static float float_scale(float value, double power)
{
    const double scaled = value * power;
    return (float)(scaled > FLT_MAX ? FLT_MAX : scaled < -FLT_MAX ? -FLT_MAX : scaled);
}

static void store_floats(tah_dtype_t dtype, const float *values, unsigned n, uint8_t *dst)
{
    for (unsigned i = 0; i < n; i++) {
        const double wide = values[i];
        const uint32_t bits = float_bits(values[i]);
        if (dtype == TAH_FLOAT64) {
            memcpy(dst + 8 * i, &wide, 8);
        } else {
            const uint16_t half =
                dtype == TAH_BFLOAT16 ? bfloat16_round(bits) : float16_round(bits);
            memcpy(dst + 2 * i, &half, 2);
        }
    }
}

void convert_scale(tah_dtype_t dtype, const float *values, int exponent, unsigned n, uint8_t *dst)
{
    const double power = double_power(exponent);
    const size_t element = tah_dtype_bytes(dtype);
    float scaled[CONVERT_LANES];
    for (unsigned count; n > 0; n -= count, values += count, dst += count * element) {
        count = n < CONVERT_LANES ? n : CONVERT_LANES;
        if (count == CONVERT_LANES)
            for (unsigned k = 0; k < CONVERT_LANES; k++)
                scaled[k] = float_scale(values[k], power);
        else
            for (unsigned k = 0; k < count; k++)
                scaled[k] = float_scale(values[k], power);
        if (dtype == TAH_FLOAT32)
            memcpy(dst, scaled, count * sizeof *scaled);
        else
            store_floats(dtype, scaled, count, dst);
    }
}
