/*
 * What each thread of the process is doing inside MPI, for the other threads to see. Used under
 * MPI_THREAD_MULTIPLE only.
 *
 * A slot is never freed, only used again when its thread has ended, so others may look at it at
 * any time.
 */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct thread_slot {
    atomic_bool used;
    /* The receive that this thread is about to post, or is blocked in (announce.h). */
    atomic_bool announced;
    atomic_uintptr_t comm;
    atomic_int source, tag;
    /* The completion call that this thread is in, by number; 0: none (requests.h). */
    atomic_ulong call;
    struct thread_slot *next;
} thread_slot_t;

/* The calling thread's slot, all its own. */
thread_slot_t *thread_slot(void);

/* All slots ever made. */
thread_slot_t *thread_first(void);

#endif
