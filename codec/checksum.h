/*
 * The checksum of frames, compiled into each kernel with its own instructions.
 */
#ifndef TAH_CHECKSUM_H
#define TAH_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t checksum(const uint8_t *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

#endif
