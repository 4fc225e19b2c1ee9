/*
 * The state that all wrappers share, fixed from the end of MPI_Init to the end of MPI_Finalize,
 * and the few places where MPI implementations differ.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/tah.h"
#include "policy/policy.h"
#include "shim/mpi_header.h"
#include "shim/settings.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Thread-local data of a preloaded library can live in the static block: one instruction away. */
#define SHIM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))
#define SHIM_THREAD static SHIM_THREAD_LOCAL

struct shim {
    bool active;  /* frames may travel: the start-up agreement was reached and has rules */
    bool watch;   /* somebody looks at what is sent: watch.h */
    bool trace;   /* events are noted: trace.h */
    bool threads; /* MPI_THREAD_MULTIPLE: several threads may be inside MPI */
    int rank;     /* in the world of this job, like everything below */
    int size;
    const int *node_of; /* node of each rank, [size] */
    uint8_t key[TAH_KEY_BYTES];
    policy_t *policy;
    uint64_t least_bytes; /* the smallest message that a rule can match, or that is watched */
    settings_t settings;  /* as agreed: rank 0's */
    MPI_Group world_group;
    MPI_Comm comm; /* of our own, over the world's group */
};
extern struct shim shim;

/* Locks cost nothing where MPI promises that one thread at a time calls it. */
static inline void shim_lock(pthread_mutex_t *mutex)
{
    if (UNLIKELY(shim.threads))
        pthread_mutex_lock(mutex);
}

static inline void shim_unlock(pthread_mutex_t *mutex)
{
    if (UNLIKELY(shim.threads))
        pthread_mutex_unlock(mutex);
}

/*
 * The length of the message that a status describes, bytes. Both fields are part of what these
 * MPIs promise to keep from version to version, and reading them costs a nanosecond where
 * MPI_Get_count costs ten.
 */
static inline uint64_t status_bytes(const MPI_Status *status)
{
#ifdef OPEN_MPI
    return status->_ucount;
#else
    return (uint64_t)(uint32_t)status->count_lo |
           (uint64_t)(uint32_t)(status->count_hi_and_cancelled >> 1) << 32;
#endif
}

/* Sets that length, and nothing else of the status: MPI_ERROR and the cancelled flag stay. */
static inline void status_set_bytes(MPI_Status *status, uint64_t bytes)
{
#ifdef OPEN_MPI
    status->_ucount = bytes;
#else
    status->count_lo = (int)(uint32_t)bytes;
    status->count_hi_and_cancelled =
        (int)((uint32_t)(bytes >> 32) << 1 | ((uint32_t)status->count_hi_and_cancelled & 1));
#endif
}

/* Sets the length that a message too long for its receive is said to have: the standard leaves it
 * open. */
static inline void status_set_truncated(MPI_Status *status, uint64_t bytes, uint64_t capacity)
{
#ifdef OPEN_MPI
    status_set_bytes(status, bytes);
#else
    status_set_bytes(status, bytes < capacity ? bytes : capacity);
#endif
}

/*
 * MPICH's probes set MPI_ERROR, other calls with one status leave it alone. What a call of ours
 * leaves alone stays this value, and status_give then leaves the program's alone too.
 */
#define STATUS_UNTOUCHED (-0x7a0001)

/* Gives a status to the program, which may not want one. */
static inline void status_give(MPI_Status *status, const MPI_Status *got)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    int error = got->MPI_ERROR == STATUS_UNTOUCHED ? status->MPI_ERROR : got->MPI_ERROR;
    *status = *got;
    status->MPI_ERROR = error;
}

/* MPICH's MPI_Sendrecv_replace sets MPI_ERROR, where MPI_Sendrecv leaves it alone. */
static inline void status_replaced(MPI_Status *status, int rc)
{
#ifndef OPEN_MPI
    status->MPI_ERROR = rc;
#endif
}

/*
 * Whether errors of the wait and test families, and of receives of matched messages, go to the
 * handler of the communicator (Open MPI) or to that of MPI_COMM_WORLD (MPICH); and whether such an
 * error frees a persistent request.
 */
#ifdef OPEN_MPI
#define SHIM_WAIT_ERRORS_TO_COMM 1
#define SHIM_ERRORS_FREE_PERSISTENT 1
#else
#define SHIM_WAIT_ERRORS_TO_COMM 0
#define SHIM_ERRORS_FREE_PERSISTENT 0
#endif

/* A handle as a key: an int in one MPI, a pointer in the other. */
#define HANDLE_KEY(handle) ((uintptr_t)(handle))

#endif
