#include "config.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/errors.h"
#include "shim/log.h"
#include "shim/requests.h"
#include "shim/shim.h"
#include "shim/thread.h"

atomic_int requests_entered, requests_inner, requests_freed;

static pthread_mutex_t requests_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t requests_poll_mutex = PTHREAD_MUTEX_INITIALIZER;
static pending_t *requests_table;
static pending_t *requests_abandoned;
static unsigned long requests_changes; /* of the table, and of who owns what in it */
static void *requests_ranges; /* tree of receive buffers in use, no two of which overlap */

pending_t *pending_new(pending_kind_t kind)
{
    pending_t *pending = calloc(1, sizeof *pending);
    if (pending == NULL)
        return NULL;
    pending->kind = kind;
    pending->active = !pending_is_persistent(pending);
    pending->request = pending->inner = MPI_REQUEST_NULL;
    return pending;
}

/* Ranges that overlap compare as equal, so that a search finds an overlap. No range is empty. */
static int requests_compare(const void *left, const void *right)
{
    const incoming_t *a = &((const pending_t *)left)->in, *b = &((const pending_t *)right)->in;
    uintptr_t a_first = (uintptr_t)a->buf, b_first = (uintptr_t)b->buf;
    if (a_first + incoming_capacity(a) <= b_first)
        return -1;
    return b_first + incoming_capacity(b) <= a_first ? 1 : 0;
}

bool requests_reserve(pending_t *pending)
{
    if (pending->in.type == NULL || !pending->in.type->dense ||
        incoming_capacity(&pending->in) == 0)
        return true;
    shim_lock(&requests_mutex);
    pending_t **node = tsearch(pending, &requests_ranges, requests_compare);
    pending->reserved = node != NULL && *node == pending;
    shim_unlock(&requests_mutex);
    return node == NULL || pending->reserved;
}

static void requests_release_range(pending_t *pending)
{
    if (!pending->reserved)
        return;
    shim_lock(&requests_mutex);
    tdelete(pending, &requests_ranges, requests_compare);
    shim_unlock(&requests_mutex);
    pending->reserved = false;
}

void pending_free(pending_t *pending)
{
    requests_release_range(pending);
    types_release(pending->in.type);
    buffers_give(pending->buffer);
    free(pending);
}

void requests_enter(pending_t *pending, MPI_Request request)
{
    pending->request = request;
    pending->key = HANDLE_KEY(request);
    shim_lock(&requests_mutex);
    HASH_ADD(hh, requests_table, key, sizeof pending->key, pending);
    requests_changes++;
    bool entered = pending->hh.tbl != NULL;
    if (entered)
        atomic_fetch_add_explicit(&requests_entered, 1, memory_order_relaxed);
    shim_unlock(&requests_mutex);
    if (!entered)
        log_error("out of memory: a message may not be restored");
}

static pending_t *requests_get(MPI_Request request)
{
    uintptr_t key = HANDLE_KEY(request);
    pending_t *pending;
    HASH_FIND(hh, requests_table, &key, sizeof key, pending);
    return pending;
}

/*
 * Another entry by the same handle, or NULL. There are two while the thread whose request it was is
 * still in the call that completed it; uthash promises no order of them.
 */
static pending_t *requests_next(const pending_t *pending)
{
    for (UT_hash_handle *hh = pending->hh.hh_next; hh != NULL; hh = hh->hh_next) {
        pending_t *other = ELMT_FROM_HH(pending->hh.tbl, hh);
        if (other->key == pending->key)
            return other;
    }
    return NULL;
}

/* What a thread claimed last, for the next call with the same requests. */
#define REQUESTS_REMEMBERED 64

SHIM_THREAD struct {
    unsigned long call; /* 0: nothing remembered */
    unsigned long changes;
    int count;
    MPI_Request handles[REQUESTS_REMEMBERED];
    pending_t *claims[REQUESTS_REMEMBERED];
} requests_last;

static bool requests_is_claimed(const pending_t *pending, const thread_slot_t *slot)
{
    return pending->owner != NULL && pending->owner != slot &&
           atomic_load_explicit(&pending->owner->call, memory_order_acquire) == pending->call;
}

static void requests_claim_each(const MPI_Request *handles, int count, pending_t **claims,
                                thread_slot_t *slot, unsigned long call)
{
    for (int i = 0; i < count; i++) {
        pending_t *pending = handles[i] == MPI_REQUEST_NULL ? NULL : requests_get(handles[i]);
        while (pending != NULL && requests_is_claimed(pending, slot))
            pending = requests_next(pending);
        claims[i] = pending;
        if (pending == NULL)
            continue;
        requests_changes += pending->owner != slot; /* what its last owner remembers is void */
        pending->owner = slot;
        pending->call = call;
    }
}

static void requests_remember(const MPI_Request *handles, int count, pending_t **claims,
                              unsigned long call)
{
    requests_last.call = count <= REQUESTS_REMEMBERED ? call : 0;
    if (requests_last.call == 0)
        return;
    requests_last.changes = requests_changes;
    requests_last.count = count;
    memcpy(requests_last.handles, handles, (size_t)count * sizeof *handles);
    memcpy(requests_last.claims, claims, (size_t)count * sizeof *claims);
}

unsigned long requests_claim(const MPI_Request *handles, int count, pending_t **claims)
{
    static unsigned long calls;
    thread_slot_t *slot = thread_slot();
    unsigned long outer = atomic_load_explicit(&slot->call, memory_order_relaxed);
    shim_lock(&requests_mutex);
    if (requests_last.call != 0 && requests_last.changes == requests_changes &&
        requests_last.count == count &&
        memcmp(requests_last.handles, handles, (size_t)count * sizeof *handles) == 0) {
        atomic_store_explicit(&slot->call, requests_last.call, memory_order_release);
        memcpy(claims, requests_last.claims, (size_t)count * sizeof *claims);
    } else {
        unsigned long call = ++calls;
        requests_claim_each(handles, count, claims, slot, call);
        atomic_store_explicit(&slot->call, call, memory_order_release);
        requests_remember(handles, count, claims, call);
    }
    shim_unlock(&requests_mutex);
    return outer;
}

void requests_release(unsigned long outer)
{
    atomic_store_explicit(&thread_slot()->call, outer, memory_order_release);
}

pending_t *requests_find(MPI_Request request)
{
    /* Whoever has the handle knows that it was entered, if it was. */
    if (request == MPI_REQUEST_NULL ||
        LIKELY(atomic_load_explicit(&requests_entered, memory_order_relaxed) == 0))
        return NULL;
    const thread_slot_t *slot = thread_slot();
    shim_lock(&requests_mutex);
    pending_t *pending = requests_get(request);
    while (pending != NULL && !pending_is_persistent(pending) && requests_is_claimed(pending, slot))
        pending = requests_next(pending);
    shim_unlock(&requests_mutex);
    return pending;
}

void requests_remove(pending_t *pending)
{
    shim_lock(&requests_mutex);
    HASH_DEL(requests_table, pending);
    requests_changes++;
    atomic_fetch_sub_explicit(&requests_entered, 1, memory_order_relaxed);
    shim_unlock(&requests_mutex);
}

static int requests_restore(pending_t *pending, MPI_Status *status)
{
    int cancelled = 0;
    /*
     * MPI_Isendrecv has no status that says how much was received, but a frame says its length. A
     * key left in the buffer from before was wiped when the call was made.
     */
    if (pending->kind == PENDING_SENDRECV)
        return message_restore_unseen(&pending->in);
    pmpi.Test_cancelled(status, &cancelled);
    return cancelled ? MPI_SUCCESS : message_restore(&pending->in, pending->buffer, status);
}

/*
 * What a status says of a message: all of it but MPI_ERROR, which single completions leave alone.
 */
static void requests_copy_status(MPI_Status *to, const MPI_Status *from)
{
    int error = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = error;
}

static bool requests_is_send(const pending_t *pending)
{
    return pending->kind == PENDING_SEND || pending->kind == PENDING_PERSISTENT_SEND;
}

bool requests_decodes(const pending_t *pending)
{
    return !requests_is_send(pending) && pending->active && !pending->settled;
}

void requests_settle(pending_t *pending, MPI_Status *status)
{
    if (requests_is_send(pending) || !pending->active)
        return;
    /* Open MPI's word for a message too long, whose error only the completing call tells. */
    if (pending->kind != PENDING_SENDRECV && !pending->settled &&
        (uint64_t)status_bytes(status) > incoming_capacity(&pending->in))
        return;
    if (!pending->settled) {
        pending->settled_error = requests_restore(pending, status);
        pending->settled_status = *status;
        pending->settled = true;
    }
    requests_copy_status(status, &pending->settled_status);
}

int requests_complete(pending_t *pending, MPI_Status *status, bool failed)
{
    int error = MPI_SUCCESS;
    if (!pending->active)
        return error;
    if (!failed && pending->settled) {
        error = pending->settled_error;
        requests_copy_status(status, &pending->settled_status);
    } else if (!failed && !requests_is_send(pending)) {
        error = requests_restore(pending, status);
    }
    if (!pending_is_persistent(pending)) {
        requests_remove(pending);
        pending_free(pending);
        return error;
    }
    buffers_give(pending->buffer);
    pending->buffer = NULL;
    pending->settled = pending->active = false;
    requests_release_range(pending);
    if (pending->inner != MPI_REQUEST_NULL) {
        pending->inner = MPI_REQUEST_NULL;
        atomic_fetch_sub(&requests_inner, 1);
    }
    return error;
}

void requests_abandon(pending_t *pending, MPI_Request request)
{
    pending->request = request;
    shim_lock(&requests_poll_mutex);
    pending->next = requests_abandoned;
    requests_abandoned = pending;
    atomic_fetch_add(&requests_freed, 1);
    shim_unlock(&requests_poll_mutex);
}

/* Whether an abandoned request has completed; it is then decoded. */
static bool requests_finish_abandoned(pending_t *pending)
{
    MPI_Status status;
    int done = 0;
    memset(&status, 0, sizeof status);
    int rc = pmpi.Test(&pending->request, &done, &status);
    if (rc == MPI_SUCCESS && !done)
        return false;
    /* Nobody waits for this request: an error found in it has nobody to go to but the log. */
    if (rc == MPI_SUCCESS && pending->kind != PENDING_SEND && !pending->settled)
        requests_restore(pending, &status);
    if (pending->request != MPI_REQUEST_NULL)
        pmpi.Request_free(&pending->request); /* a persistent one, inactive now */
    return true;
}

void requests_poll(void)
{
    /* A callback of the program that MPI runs from the test may get here again. */
    SHIM_THREAD bool polling;
    if (polling)
        return;
    polling = true;
    /* Held throughout, so that no thread leaves its call while another is about to decode. */
    shim_lock(&requests_poll_mutex);
    pending_t **link = &requests_abandoned;
    while (*link != NULL) {
        pending_t *pending = *link;
        if (!requests_finish_abandoned(pending)) {
            link = &pending->next;
            continue;
        }
        *link = pending->next;
        atomic_fetch_sub(&requests_freed, 1);
        pending_free(pending);
    }
    shim_unlock(&requests_poll_mutex);
    polling = false;
}

void requests_finalize(void)
{
    requests_poll();
    for (pending_t *pending = requests_abandoned; pending != NULL; pending = pending->next)
        pmpi.Request_free(&pending->request);
}

void requests_finalized(void)
{
    while (requests_abandoned != NULL) {
        pending_t *pending = requests_abandoned;
        requests_abandoned = pending->next;
        atomic_fetch_sub(&requests_freed, 1);
        if (pending->kind != PENDING_SEND && pending->buffer == NULL && pending->in.type != NULL &&
            pending->in.type->dense)
            message_restore_unseen(&pending->in);
        pending->in.type = NULL; /* MPI is gone: its copy of the type with it */
        pending_free(pending);
    }
}
