#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "shim/shim.h"
#include "shim/thread.h"

static _Atomic(thread_slot_t *) thread_slots;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
SHIM_THREAD thread_slot_t *thread_own;

static void thread_ends(void *data)
{
    thread_slot_t *slot = data;
    atomic_store(&slot->announced, false);
    atomic_store(&slot->call, 0);
    atomic_store(&slot->used, false);
}

static void thread_make_key(void)
{
    pthread_key_create(&thread_key, thread_ends);
}

static thread_slot_t *thread_find(void)
{
    for (thread_slot_t *slot = atomic_load(&thread_slots); slot != NULL; slot = slot->next) {
        bool used = false;
        if (atomic_compare_exchange_strong(&slot->used, &used, true))
            return slot;
    }
    thread_slot_t *slot = calloc(1, sizeof *slot);
    if (slot == NULL)
        abort(); /* a hundred bytes: without them no receive could keep its order */
    atomic_store(&slot->used, true);
    slot->next = atomic_load(&thread_slots);
    while (!atomic_compare_exchange_weak(&thread_slots, &slot->next, slot))
        ;
    return slot;
}

thread_slot_t *thread_slot(void)
{
    if (UNLIKELY(thread_own == NULL)) {
        pthread_once(&thread_once, thread_make_key);
        thread_own = thread_find();
        pthread_setspecific(thread_key, thread_own);
    }
    return thread_own;
}

thread_slot_t *thread_first(void)
{
    return atomic_load(&thread_slots);
}
