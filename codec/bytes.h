/*
 * Reading and writing fields at any alignment, and 64-bit arithmetic that cannot overflow unseen.
 * The only byte-order code: configure refuses big-endian machines, so memory order is wire order.
 */
#ifndef TAH_BYTES_H
#define TAH_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t load_u32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t load_u64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void store_u32(void *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void store_u64(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Both: false where the result does not fit in 64 bits; *result is then undefined. */
static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

/* Smallest n with 2^n > value: 0 for 0. */
static inline unsigned bit_length(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

#endif
