/*
 * Hash tables keyed by an MPI handle: uthash with a hash that suits one word, and without its
 * habit of ending the process when memory runs out (an element is then simply not entered; its
 * hh.tbl stays NULL).
 */
#ifndef SHIM_HANDLE_TABLE_H
#define SHIM_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, length, hash)                                                           \
    do {                                                                                           \
        (void)(length);                                                                            \
        (hash) = (unsigned)((*(const uintptr_t *)(key) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);     \
    } while (0)
#include <uthash.h>

/*
 * What a thread found last, by handle: a few entries, each good as long as its table's epoch, which
 * counts the table's changes, is the same. Saves the lock and the search of most look-ups.
 */
#define HANDLE_CACHE_BITS 3
#define HANDLE_CACHE_ENTRIES (1 << HANDLE_CACHE_BITS)

typedef struct handle_cached {
    uintptr_t key;
    unsigned epoch;
    void *found;
} handle_cached_t;

static inline handle_cached_t *handle_cache_entry(handle_cached_t *cache, uintptr_t key)
{
    return &cache[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - HANDLE_CACHE_BITS)];
}

static inline void *handle_cache_find(handle_cached_t *cache, uintptr_t key,
                                      const atomic_uint *epoch)
{
    handle_cached_t *entry = handle_cache_entry(cache, key);
    bool good = entry->key == key &&
                entry->epoch == atomic_load_explicit(epoch, memory_order_acquire);
    return good ? entry->found : NULL;
}

#endif
