#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "shim/announce.h"
#include "shim/calls.h"
#include "shim/errors.h"
#include "shim/log.h"
#include "shim/stash.h"

atomic_int stash_entries, stash_pullers;

static bool stash_fits(const stash_entry_t *entry, int source, int tag)
{
    return (source == MPI_ANY_SOURCE || source == entry->status.MPI_SOURCE) &&
           (tag == MPI_ANY_TAG || tag == entry->status.MPI_TAG);
}

/* The link to the first entry that matches, or to the end of the list. */
static stash_entry_t **stash_find(comm_t *comm, int source, int tag)
{
    stash_entry_t **link = &comm->stash;
    while (*link != NULL && !stash_fits(*link, source, tag))
        link = &(*link)->next;
    return link;
}

static stash_entry_t *stash_unlink(stash_entry_t **link)
{
    stash_entry_t *entry = *link;
    if (entry != NULL) {
        *link = entry->next;
        entry->next = NULL;
        atomic_fetch_sub(&stash_entries, 1);
    }
    return entry;
}

void stash_free(stash_entry_t *entry)
{
    buffers_give(entry->buffer);
    free(entry);
}

static stash_entry_t *stash_match_slowly(MPI_Comm handle, int source, int tag)
{
    comm_t *comm = comms_find_or_add(handle);
    if (comm == NULL)
        return NULL;
    shim_lock(&comm->mutex);
    stash_entry_t *entry = stash_unlink(stash_find(comm, source, tag));
    /* Announced with the lock held: no probe is at work, and the next one will see it. */
    if (entry == NULL && shim.threads)
        announce_begin(handle, source, tag);
    shim_unlock(&comm->mutex);
    return entry;
}

stash_entry_t *stash_match(MPI_Comm handle, int source, int tag)
{
    if (LIKELY(stash_is_idle()))
        return NULL;
    if (!shim.threads)
        return stash_match_slowly(handle, source, tag);
    /*
     * Either this thread sees that a probe is at work or something is in a stash, or a probe that
     * starts later sees the announcement: both sides write first and then read, in one order.
     */
    announce_begin(handle, source, tag);
    if (LIKELY(atomic_load(&stash_entries) == 0 && atomic_load(&stash_pullers) == 0))
        return NULL;
    announce_end();
    return stash_match_slowly(handle, source, tag);
}

void stash_unannounce(void)
{
    if (UNLIKELY(shim.threads))
        announce_end();
}

int stash_start(stash_entry_t *entry)
{
    if (entry->message == MPI_MESSAGE_NULL)
        return MPI_SUCCESS;
    uint64_t bytes = status_bytes(&entry->status);
    entry->buffer = buffers_take(bytes);
    if (entry->buffer == NULL) {
        log_error("out of memory: %llu bytes for a message that was probed for",
                  (unsigned long long)bytes);
        return MPI_ERR_NO_MEM;
    }
#if MPI_VERSION >= 4
    return pmpi.Imrecv_c(entry->buffer->data, (MPI_Count)bytes, MPI_PACKED, &entry->message,
                         &entry->request);
#else
    plain_t plain;
    int rc = types_plain((MPI_Count)bytes, MPI_PACKED, &plain);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Imrecv(entry->buffer->data, plain.count, plain.type, &entry->message,
                         &entry->request);
    types_plain_free(&plain);
    return rc;
#endif
}

bool stash_arrived(stash_entry_t *entry, bool wait)
{
    if (stash_start(entry) != MPI_SUCCESS)
        return false;
    while (!entry->arrived) {
        int done = 0;
        MPI_Status status;
        /* Not a test: the request stays, to be what the program's receive gets. */
        pmpi.Request_get_status(entry->request, &done, &status);
        entry->arrived = done != 0;
        if (!done && !wait)
            return false;
        if (!done)
            sched_yield();
    }
    return true;
}

void stash_logical_status(const stash_entry_t *entry, bool matched, MPI_Status *status)
{
    MPI_Status got = entry->status;
    if (!matched)
        got.MPI_ERROR = entry->probe_error;
    status_give(status, &got);
    if (entry->buffer != NULL && status != MPI_STATUS_IGNORE)
        status_set_bytes(status, message_logical_bytes(entry->buffer->data,
                                                       status_bytes(&entry->status)));
}

/* Whether a message must be looked into before its length can be told. */
bool stash_must_look(const stash_entry_t *entry)
{
    return message_maybe_frame(&entry->status);
}

bool stash_has(comm_t *comm, int source, int tag)
{
    return *stash_find(comm, source, tag) != NULL;
}

static bool stash_ready(stash_entry_t *entry)
{
    return entry != NULL && (!stash_must_look(entry) || stash_arrived(entry, false));
}

bool stash_peek(comm_t *comm, int source, int tag, MPI_Status *status)
{
    stash_entry_t *entry = *stash_find(comm, source, tag);
    if (!stash_ready(entry))
        return false;
    stash_logical_status(entry, false, status);
    return true;
}

bool stash_take(comm_t *comm, int source, int tag, MPI_Status *status, stash_entry_t **taken)
{
    stash_entry_t **link = stash_find(comm, source, tag);
    if (!stash_ready(*link))
        return false;
    *taken = stash_unlink(link);
    stash_logical_status(*taken, true, status);
    return true;
}

stash_entry_t *stash_new(MPI_Comm comm, MPI_Message message, const MPI_Status *status)
{
    stash_entry_t *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        log_error("out of memory: a message that was probed for is lost");
        return NULL;
    }
    entry->comm = comm;
    entry->message = message;
    entry->request = MPI_REQUEST_NULL;
    entry->status = *status;
    entry->probe_error = STATUS_UNTOUCHED;
    return entry;
}

/* The next message of that source, matched by tag so that no receive's message is taken. */
static stash_entry_t *stash_pull_one(comm_t *comm, int source)
{
    MPI_Status head = {.MPI_ERROR = STATUS_UNTOUCHED}, got = head;
    MPI_Message message;
    int found = 0;
    pmpi.Iprobe(source, MPI_ANY_TAG, comm->handle, &found, &head);
    if (!found || (shim.threads && announce_matches(comm->handle, source, head.MPI_TAG)))
        return NULL;
    pmpi.Improbe(source, head.MPI_TAG, comm->handle, &found, &message, &got);
    stash_entry_t *entry = found ? stash_new(comm->handle, message, &got) : NULL;
    if (entry != NULL)
        entry->probe_error = head.MPI_ERROR;
    return entry;
}

void stash_pull(comm_t *comm, int source, int tag)
{
    stash_entry_t **end = &comm->stash;
    stash_entry_t *entry;
    while (*end != NULL)
        end = &(*end)->next;
    do {
        entry = stash_pull_one(comm, source);
        if (entry == NULL)
            return;
        *end = entry;
        end = &entry->next;
        atomic_fetch_add(&stash_entries, 1);
    } while (entry->status.MPI_TAG != tag);
}

bool stash_holds(comm_t *comm)
{
    shim_lock(&comm->mutex);
    bool holds = comm->stash != NULL;
    shim_unlock(&comm->mutex);
    return holds;
}

void stash_drop(comm_t *comm)
{
    shim_lock(&comm->mutex);
    while (comm->stash != NULL) {
        stash_entry_t *entry = stash_unlink(&comm->stash);
        if (entry->request != MPI_REQUEST_NULL && entry->arrived)
            pmpi.Request_free(&entry->request);
        if (entry->request == MPI_REQUEST_NULL)
            stash_free(entry); /* else MPI may still write into its buffer: it is left */
    }
    shim_unlock(&comm->mutex);
}
