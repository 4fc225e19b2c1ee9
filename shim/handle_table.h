/*
 * Hash tables keyed by an MPI handle: uthash with a hash that suits one word, and without its
 * habit of ending the process when memory runs out (an element is then simply not entered; its
 * hh.tbl stays NULL).
 */
#ifndef SHIM_HANDLE_TABLE_H
#define SHIM_HANDLE_TABLE_H

#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, length, hash)                                                           \
    do {                                                                                           \
        (void)(length);                                                                            \
        (hash) = (unsigned)((*(const uintptr_t *)(key) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);     \
    } while (0)
#include <uthash.h>

#endif
