/* Probes: what the program is told of a message is its logical length. */
#include "config.h"

#include <sched.h>

#include "shim/errors.h"
#include "shim/stash.h"
#include "shim/wrap.h"

/* Whether nothing is in a stash, or about to be. */
static bool probe_no_stash(void)
{
    return atomic_load(&stash_entries) == 0 && (!shim.threads || atomic_load(&stash_pullers) == 0);
}

typedef enum probe_result {
    PROBE_NOTHING, /* no message that matches, or one whose first bytes are on their way */
    PROBE_STASH,   /* in the stash; status is its logical one */
    PROBE_PLAIN,   /* at MPI, and cannot be a frame; status is MPI's, unless it is to be taken */
} probe_result_t;

/* What a matched probe takes: an entry of the stash, or a message of MPI's with its status. */
typedef struct matched {
    stash_entry_t *entry;
    MPI_Message message;
    MPI_Status status;
} matched_t;

static probe_result_t probe_stash(comm_t *comm, int source, int tag, MPI_Status *status,
                                  matched_t *take)
{
    bool found = take != NULL ? stash_take(comm, source, tag, status, &take->entry)
                              : stash_peek(comm, source, tag, status);
    return found ? PROBE_STASH : PROBE_NOTHING;
}

/*
 * A message that needs no look stays with MPI. It is matched with the lock still held: else another
 * thread's probe could take it into the stash, and the next one would be matched in its place.
 */
static probe_result_t probe_plain(comm_t *comm, int source, int tag, const MPI_Status *head,
                                  MPI_Status *status, matched_t *take)
{
    int found = 1;
    if (take == NULL) {
        status_give(status, head);
    } else {
        take->status.MPI_ERROR = STATUS_UNTOUCHED;
        next.MPI_Improbe(source, tag, comm->handle, &found, &take->message, &take->status);
    }
    return found ? PROBE_PLAIN : PROBE_NOTHING;
}

/* One look, with the communicator's lock held: into the stash, then at MPI, pulling if need be. */
static probe_result_t probe_look(comm_t *comm, int source, int tag, MPI_Status *status,
                                 matched_t *take)
{
    MPI_Status head = {.MPI_ERROR = STATUS_UNTOUCHED};
    int found = 0;
    if (stash_has(comm, source, tag))
        return probe_stash(comm, source, tag, status, take);
    pmpi.Iprobe(source, tag, comm->handle, &found, &head);
    if (!found)
        return PROBE_NOTHING;
    if (!message_maybe_frame(&head))
        return probe_plain(comm, source, tag, &head, status, take);
    atomic_fetch_add(&stash_pullers, 1);
    stash_pull(comm, head.MPI_SOURCE, head.MPI_TAG);
    atomic_fetch_sub(&stash_pullers, 1);
    return probe_stash(comm, source, tag, status, take);
}

static probe_result_t probe_once(MPI_Comm handle, int source, int tag, MPI_Status *status,
                                 matched_t *take)
{
    comm_t *comm = comms_find_or_add(handle);
    if (comm == NULL)
        return PROBE_NOTHING;
    shim_lock(&comm->mutex);
    probe_result_t result = probe_look(comm, source, tag, status, take);
    shim_unlock(&comm->mutex);
    return result;
}

int wrap_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    MPI_Status got = {.MPI_ERROR = STATUS_UNTOUCHED};
    bool plain = probe_no_stash();
    if (plain) {
        /* MPI checks the arguments here, before a lock of ours is held. */
        int rc = next.MPI_Iprobe(source, tag, comm, flag, &got);
        if (rc != MPI_SUCCESS || (!*flag && probe_no_stash()))
            return wrap_done(rc);
        if (source == MPI_PROC_NULL || (!message_maybe_frame(&got) && probe_no_stash())) {
            status_give(status, &got);
            return wrap_done(rc);
        }
    }
    *flag = probe_once(comm, source, tag, status, NULL) != PROBE_NOTHING;
    return wrap_done(MPI_SUCCESS);
}

/*
 * Under threads MPI must not be blocked in: another thread may take the very message into the
 * stash. So the library looks again and again, as MPI itself would.
 */
int wrap_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status got = {.MPI_ERROR = STATUS_UNTOUCHED};
    if (source == MPI_PROC_NULL)
        return next.MPI_Probe(source, tag, comm, status);
    if (!shim.threads && probe_no_stash()) {
        int rc = next.MPI_Probe(source, tag, comm, &got);
        if (rc != MPI_SUCCESS)
            return rc;
        if (!message_maybe_frame(&got)) {
            status_give(status, &got);
            return wrap_done(rc);
        }
    }
    if (shim.threads) {
        int flag;
        int rc = pmpi.Iprobe(source, tag, comm, &flag, &got);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    while (probe_once(comm, source, tag, status, NULL) == PROBE_NOTHING)
        sched_yield();
    return wrap_done(MPI_SUCCESS);
}

/*
 * Takes the message: from the stash, or from MPI where its length needs no look. False: none, or
 * another thread was faster.
 */
static bool probe_match(int source, int tag, MPI_Comm comm, MPI_Message *message,
                        MPI_Status *status)
{
    matched_t take;
    switch (probe_once(comm, source, tag, status, &take)) {
    case PROBE_NOTHING:
        return false;
    case PROBE_STASH:
        *message = stash_message_give(take.entry);
        return true;
    case PROBE_PLAIN:
        break;
    }
    if (!message_maybe_frame(&take.status)) {
        *message = take.message;
        status_give(status, &take.status);
        return true;
    }
    /* Another thread received what was looked at, and this is the next one. */
    stash_entry_t *entry = stash_new(comm, take.message, &take.status);
    if (entry == NULL || !stash_arrived(entry, true))
        return false;
    stash_logical_status(entry, true, status);
    *message = stash_message_give(entry);
    return true;
}

int wrap_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    MPI_Status got = {.MPI_ERROR = STATUS_UNTOUCHED};
    if (source == MPI_PROC_NULL)
        return next.MPI_Improbe(source, tag, comm, flag, message, status);
    if (probe_no_stash()) {
        int rc = pmpi.Iprobe(source, tag, comm, flag, &got);
        if (rc != MPI_SUCCESS || (!*flag && probe_no_stash()))
            return wrap_done(rc);
    }
    *flag = probe_match(source, tag, comm, message, status);
    return wrap_done(MPI_SUCCESS);
}

int wrap_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status got = {.MPI_ERROR = STATUS_UNTOUCHED};
    int flag;
    if (source == MPI_PROC_NULL)
        return next.MPI_Mprobe(source, tag, comm, message, status);
    int rc = pmpi.Iprobe(source, tag, comm, &flag, &got);
    if (rc != MPI_SUCCESS)
        return rc;
    while (!probe_match(source, tag, comm, message, status))
        sched_yield();
    return wrap_done(MPI_SUCCESS);
}
