/* What tahmpi bw and the ranks that it starts have in common. */
#ifndef BW_DATA_H
#define BW_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Of plain messages, answers and nothing else: the largest tag that every MPI has. */
#define BW_TAG_PLAIN 32767

#define BW_LEAST_BYTES 1024 /* of a message */
#define BW_MOST_BYTES (UINT64_C(1) << 30)

/*
 * Values as activations have them: about normal, one in 61 twenty times as large. The same on every
 * machine.
 */
static inline void bw_fill(float *values, size_t count)
{
    uint64_t state = 1;

    for (size_t i = 0; i < count; i++) {
        int32_t sum = 0;
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (int part = 0; part < 4; part++) /* of four uniform numbers: near enough to normal */
            sum += (int32_t)(state >> (16 * part) & 0xffff) - 0x8000;
        values[i] = (float)sum * (i % 61 == 7 ? 20.0f : 1.0f) / 0x8000;
    }
}

#endif
