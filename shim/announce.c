#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shim/announce.h"
#include "shim/shim.h"

/* One for each thread that ever received; used again when its thread has ended. */
typedef struct slot {
    atomic_bool used;
    atomic_bool active;
    atomic_uintptr_t comm;
    atomic_int source, tag;
    struct slot *next;
} slot_t;

static _Atomic(slot_t *) announce_slots;
static pthread_key_t announce_key;
static pthread_once_t announce_once = PTHREAD_ONCE_INIT;
SHIM_THREAD slot_t *announce_own;

static void announce_thread_ends(void *slot)
{
    atomic_store(&((slot_t *)slot)->active, false);
    atomic_store(&((slot_t *)slot)->used, false);
}

static void announce_make_key(void)
{
    pthread_key_create(&announce_key, announce_thread_ends);
}

static slot_t *announce_find_slot(void)
{
    for (slot_t *slot = atomic_load(&announce_slots); slot != NULL; slot = slot->next) {
        bool used = false;
        if (atomic_compare_exchange_strong(&slot->used, &used, true))
            return slot;
    }
    slot_t *slot = calloc(1, sizeof *slot);
    if (slot == NULL)
        abort();
    atomic_store(&slot->used, true);
    slot->next = atomic_load(&announce_slots);
    while (!atomic_compare_exchange_weak(&announce_slots, &slot->next, slot))
        ;
    return slot;
}

static slot_t *announce_slot(void)
{
    if (UNLIKELY(announce_own == NULL)) {
        pthread_once(&announce_once, announce_make_key);
        announce_own = announce_find_slot();
        pthread_setspecific(announce_key, announce_own);
    }
    return announce_own;
}

void announce_begin(MPI_Comm comm, int source, int tag)
{
    slot_t *slot = announce_slot();
    atomic_store_explicit(&slot->comm, HANDLE_KEY(comm), memory_order_relaxed);
    atomic_store_explicit(&slot->source, source, memory_order_relaxed);
    atomic_store_explicit(&slot->tag, tag, memory_order_relaxed);
    /* Sequentially consistent, and so a fence: what this thread reads next is read after. */
    atomic_store(&slot->active, true);
}

void announce_end(void)
{
    if (announce_own != NULL)
        atomic_store_explicit(&announce_own->active, false, memory_order_release);
}

bool announce_matches(MPI_Comm comm, int source, int tag)
{
    for (slot_t *slot = atomic_load(&announce_slots); slot != NULL; slot = slot->next) {
        if (!atomic_load(&slot->active) || atomic_load(&slot->comm) != HANDLE_KEY(comm))
            continue;
        int from = atomic_load(&slot->source), what = atomic_load(&slot->tag);
        if ((from == MPI_ANY_SOURCE || from == source) && (what == MPI_ANY_TAG || what == tag))
            return true;
    }
    return false;
}
