/*
 * The stash: messages that a probe had to take from MPI, in the order in which they came.
 *
 * A probe must report a message's logical length, which only its first bytes tell if its length on
 * the wire could be a frame's. So where MPI reports such a message, that source's messages are
 * taken up to that one, and every later receive and probe on the communicator looks in the stash
 * first. What is in the stash of a source is always a prefix of what arrived from it, so MPI's
 * order is kept. Only the message asked for is received; those before it are held matched.
 *
 * With threads, "look in the stash, then receive" and "take into the stash" must exclude each
 * other, but nothing may block in MPI with a lock held. So a receive announces what it is about to
 * match, for as long as it is inside MPI, and a probe leaves alone what an announced receive will
 * match. See stash_match.
 */
#ifndef SHIM_STASH_H
#define SHIM_STASH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "shim/buffers.h"
#include "shim/comms.h"
#include "shim/handle_table.h"
#include "shim/message.h"
#include "shim/mpi_header.h"
#include "shim/requests.h"

typedef struct stash_entry {
    struct stash_entry *next;
    MPI_Comm comm;
    MPI_Status status;   /* as a matched probe gave it: source, tag, length on the wire */
    int probe_error;     /* what a plain probe puts into MPI_ERROR, or STATUS_UNTOUCHED */
    MPI_Message message; /* held, not received; MPI_MESSAGE_NULL once it is being received */
    MPI_Request request; /* of the receive into buffer; never waited for before the program does */
    buffer_t *buffer;
    bool arrived;        /* the bytes are in buffer */
    uintptr_t key;       /* handle the program holds after Mprobe, see stash_message_take */
    UT_hash_handle hh;
} stash_entry_t;

extern atomic_int stash_entries; /* in all stashes */
extern atomic_int stash_pullers; /* probes at work on any stash */

/* Whether a receive need not look into the stash, nor announce itself. */
static inline bool stash_is_idle(void)
{
    return !shim.threads && atomic_load_explicit(&stash_entries, memory_order_relaxed) == 0;
}

/*
 * For a receive about to be posted: takes the first entry that matches out of the stash and
 * returns it; the caller then receives from it by stash_receive or stash_ireceive. NULL: there is
 * none, and the receive is announced; the caller makes its MPI call and then stash_unannounce.
 */
stash_entry_t *stash_match(MPI_Comm comm, int source, int tag);

/* Ends this thread's announcement. */
void stash_unannounce(void);

/*
 * Receives an entry's message as MPI_Recv would have done; raise tells where errors go, see
 * errors.h. Frees the entry. status may be MPI_STATUS_IGNORE.
 */
int stash_receive(stash_entry_t *entry, const incoming_t *in, MPI_Status *status,
                  int (*raise)(MPI_Comm comm, int code));

/*
 * The same as MPI_Irecv: gives the program a real request of MPI's. Frees the entry. pending: a
 * blank entry of kind PENDING_RECV or PENDING_PERSISTENT_RECV with its incoming_t; *tracked says
 * whether it has something to do at completion, that is, whether the caller must enter it.
 */
int stash_ireceive(stash_entry_t *entry, pending_t *pending, MPI_Request *request, bool *tracked);

/* Whether an entry matches. This and the functions down to stash_pull: with comm->mutex held. */
bool stash_has(comm_t *comm, int source, int tag);

/*
 * The first entry that matches, with its logical status; false: nothing to report yet (a message
 * may be on its way into the stash: ask again). Does not take it out.
 */
bool stash_peek(comm_t *comm, int source, int tag, MPI_Status *status);

/* The same, and takes it out: for matched probes. */
bool stash_take(comm_t *comm, int source, int tag, MPI_Status *status, stash_entry_t **entry);

/*
 * MPI has reported a message from source with tag that could be a frame: takes that source's
 * messages into the stash up to it, short of any that an announced receive will match.
 */
void stash_pull(comm_t *comm, int source, int tag);

/* An entry for a message that MPI has matched, in no stash yet; NULL without memory. */
stash_entry_t *stash_new(MPI_Comm comm, MPI_Message message, const MPI_Status *status);

/* Frees an entry, and its buffer if it still has one. */
void stash_free(stash_entry_t *entry);

/* Whether a message must be looked into before its length can be told. */
bool stash_must_look(const stash_entry_t *entry);

/* Starts receiving a held message into memory of the library's; an MPI error code. */
int stash_start(stash_entry_t *entry);

/* Whether the entry's bytes have arrived; blocks until they have if wait is true. */
bool stash_arrived(stash_entry_t *entry, bool wait);

/* The status the program must see of an arrived entry, from a matched or a plain probe. */
void stash_logical_status(const stash_entry_t *entry, bool matched, MPI_Status *status);

/*
 * Handles for matched messages that are in our hands: the program gets one of ours, or MPI's own
 * where the message was only held. stash_message_take: the entry of such a handle, out of the
 * table, or NULL for handles of MPI's.
 */
MPI_Message stash_message_give(stash_entry_t *entry);
stash_entry_t *stash_message_take(MPI_Message message);

/* Whether messages are kept for a communicator. */
bool stash_holds(comm_t *comm);

/* Drops the entries of a communicator that is being freed. */
void stash_drop(comm_t *comm);

#endif
