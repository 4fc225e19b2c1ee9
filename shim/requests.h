/*
 * Requests that the library has something to do for when they complete.
 *
 * The key is the handle that the program holds. Handles are neither unique nor stable: MPICH gives
 * one shared handle to all sends that complete at once (those are never entered), and reuses a
 * handle as soon as it has completed. So under threads a completion call first claims the entries
 * of its handles, before MPI can free one of them. Nobody else's completion call touches a claimed
 * entry. A claim is the number of a call and holds while its thread is in that call, so that
 * polling the same requests again and again claims and unclaims them all by one store each.
 */
#ifndef SHIM_REQUESTS_H
#define SHIM_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/buffers.h"
#include "shim/handle_table.h"
#include "shim/message.h"
#include "shim/mpi_header.h"

typedef enum pending_kind {
    PENDING_SEND,
    PENDING_RECV,
    PENDING_SENDRECV,        /* Isendrecv: MPI gives no status for it; the buffer must tell */
    PENDING_PERSISTENT_SEND, /* these two stay until the program frees the request */
    PENDING_PERSISTENT_RECV,
} pending_kind_t;

/* What a persistent request starts each time. */
typedef struct persistent {
    const void *buf; /* of a send; a receive has it in incoming_t */
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag;
    MPI_Comm comm;
    unsigned long comm_serial; /* of what is known of comm; 0: nothing was */
    bool large, synchronous;
    int (*isend)(bool large, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                 int tag, MPI_Comm comm, MPI_Request *request);
} persistent_t;

typedef struct pending {
    uintptr_t key;
    MPI_Request request; /* what the program holds */
    pending_kind_t kind;
    struct thread_slot *owner; /* of the latest claim, */
    unsigned long call;        /* which holds while the owner is in this call */
    bool active;         /* of persistent ones: started and not completed; always, of others */
    bool settled;        /* restored already, for MPI_Request_get_status: with what follows */
    int settled_error;
    MPI_Status settled_status;
    bool reserved;       /* its receive buffer is entered as in use */
    buffer_t *buffer;    /* send: the frame; receive: where the bytes arrive instead, or NULL */
    incoming_t in;       /* of receives */
    MPI_Request inner;   /* of persistent ones: what really runs, or MPI_REQUEST_NULL */
    persistent_t persistent;
    struct pending *next; /* among the freed ones */
    UT_hash_handle hh;
} pending_t;

extern atomic_int requests_entered; /* entries in the table */
extern atomic_int requests_inner;   /* of them, persistent ones with an inner request */
extern atomic_int requests_freed;   /* receives and sends that the program freed while active */

static inline bool pending_is_persistent(const pending_t *pending)
{
    return pending->kind == PENDING_PERSISTENT_SEND || pending->kind == PENDING_PERSISTENT_RECV;
}

/* A blank entry, not yet in the table; NULL without memory. */
pending_t *pending_new(pending_kind_t kind);

/* Gives back all that an entry holds, and the entry. It must not be in the table. */
void pending_free(pending_t *pending);

/* Enters a pending request under the handle that MPI has just given. */
void requests_enter(pending_t *pending, MPI_Request request);

/*
 * Begins a completion call: claims the entries of count handles and puts them into claims, NULL
 * where there is none or another thread's call has claimed it. Returns what requests_release ends
 * it with, which gives back the claims of entries that are still in the table.
 */
unsigned long requests_claim(const MPI_Request *handles, int count, pending_t **claims);

void requests_release(unsigned long outer);

/*
 * The entry of a handle, for a call that does not complete it; NULL if there is none. One that
 * another thread has claimed is none, for the handle may be this thread's by now; but that of a
 * persistent request is, for its handle stays.
 */
pending_t *requests_find(MPI_Request request);

/*
 * What an entry's completion asks for: decodes, gives memory back, corrects status. Removes
 * and frees the entry, or makes it inactive if it is persistent. failed: MPI has reported an error
 * for it in this very status, so there is nothing to decode.
 * Returns MPI_SUCCESS or an error code, not raised.
 */
int requests_complete(pending_t *pending, MPI_Status *status, bool failed);

/* Whether it is a receive under way, whose bytes have not been looked at. */
bool requests_decodes(const pending_t *pending);

/*
 * Decodes, but leaves the entry for the call that will really complete the request. By one thread
 * at a time: the one whose call has claimed the entry, or under a lock of the caller's.
 */
void requests_settle(pending_t *pending, MPI_Status *status);

/* Takes an entry out of the table, without freeing it. */
void requests_remove(pending_t *pending);

/*
 * Takes over a request that the program frees while it may be active: it completes when
 * requests_poll finds that it has. The entry is in no table. request: what to test; a persistent
 * one is freed then.
 */
void requests_abandon(pending_t *pending, MPI_Request request);

/*
 * Completes those abandoned requests that have completed. To be called before any call returns
 * from which the program could conclude that they have; see requests_freed.
 */
void requests_poll(void);

/* Before MPI_Finalize: lets MPI complete what is abandoned. After it: decodes what has arrived. */
void requests_finalize(void);
void requests_finalized(void);

/*
 * Enters the buffer of a receive as in use. False where it overlaps one that is: the receive must
 * then take its bytes into a buffer of its own, since two frames decoded in one place would
 * corrupt each other (programs that post many receives into one buffer are wrong, but work).
 */
bool requests_reserve(pending_t *pending);

#endif
