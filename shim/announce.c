#include "config.h"

#include "shim/announce.h"
#include "shim/shim.h"
#include "shim/thread.h"

void announce_begin(MPI_Comm comm, int source, int tag)
{
    thread_slot_t *slot = thread_slot();
    atomic_store_explicit(&slot->comm, HANDLE_KEY(comm), memory_order_relaxed);
    atomic_store_explicit(&slot->source, source, memory_order_relaxed);
    atomic_store_explicit(&slot->tag, tag, memory_order_relaxed);
    /* Sequentially consistent, and so a fence: what this thread reads next is read after. */
    atomic_store(&slot->announced, true);
}

void announce_end(void)
{
    atomic_store_explicit(&thread_slot()->announced, false, memory_order_release);
}

bool announce_matches(MPI_Comm comm, int source, int tag)
{
    for (thread_slot_t *slot = thread_first(); slot != NULL; slot = slot->next) {
        if (!atomic_load(&slot->announced) || atomic_load(&slot->comm) != HANDLE_KEY(comm))
            continue;
        int from = atomic_load(&slot->source), what = atomic_load(&slot->tag);
        if ((from == MPI_ANY_SOURCE || from == source) && (what == MPI_ANY_TAG || what == tag))
            return true;
    }
    return false;
}
