/*
 * What the library knows of communicators.
 *
 * A communicator is learned where the program makes it, since asking MPI about a handle that may
 * be stale ends in the world's error handler; what it is like is asked when it is first used. One
 * that was not learned, or with a member outside this job's world, has no framed sends.
 */
#ifndef SHIM_COMMS_H
#define SHIM_COMMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"
#include "shim/handle_table.h"
#include "shim/mpi_header.h"

struct stash_entry;

typedef struct comm {
    uintptr_t key;
    MPI_Comm handle;
    unsigned long serial; /* no two communicators have the same, though handles are reused */
    atomic_bool asked; /* the fields up to world are filled */
    bool framed;       /* every peer is known to have the library and the key */
    bool inter;
    int size; /* of the group that is sent to */
    int rank; /* own, in that group; -1 in an intercommunicator */
    int *world; /* world rank of each peer, [size]; NULL where framed is false */
    /* The stash (stash.h): messages that probes had to take, in the order in which they came. */
    pthread_mutex_t mutex;
    struct stash_entry *stash;
    struct comm *retired; /* next in the queue of freed ones */
    UT_hash_handle hh;
} comm_t;

/* Learns a communicator the program has just been given; MPI_COMM_NULL is ignored. */
void comms_learn(MPI_Comm handle);

/* Forgets a communicator; call before MPI frees it, since its handle may be reused at once. */
void comms_forget(MPI_Comm handle);

/* What was learned of a communicator, or NULL. Valid until it is freed and some time after. */
comm_t *comms_find(MPI_Comm handle);

/* The same, but an unknown one is entered, as one without framed sends: it can have a stash. */
comm_t *comms_find_or_add(MPI_Comm handle);

/*
 * Whether frames may be sent to dest, and what rules ask about that peer: fills comm_size,
 * direction and remote of message and the peer's world rank. False for oneself, for ranks out of
 * range and where comm->framed is false.
 */
bool comms_peer(comm_t *comm, int dest, policy_message_t *message, int *world_rank);

/* Forgets all of them. Only when no other thread is inside the library. */
void comms_drop(void);

#endif
