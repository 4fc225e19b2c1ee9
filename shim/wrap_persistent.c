/*
 * Persistent requests. The program's handle never changes. Where a start sends a frame, or finds
 * its message in the stash, an inner request does the work and the program's own stays inactive;
 * the wait and test families put the inner one in its place.
 */
#include "config.h"

#include <stdlib.h>

#include "shim/comms.h"
#include "shim/errors.h"
#include "shim/stash.h"
#include "shim/wrap.h"

static unsigned long persistent_comm_serial(MPI_Comm comm)
{
    comm_t *known = comms_find(comm);
    return known != NULL ? known->serial : 0;
}

static int persistent_enter(int rc, pending_t *pending, MPI_Request *request)
{
    if (pending == NULL)
        return rc;
    if (rc == MPI_SUCCESS)
        requests_enter(pending, *request);
    else
        pending_free(pending);
    return rc;
}

static int persistent_send(isend_fn *real, isend_fn *isend, bool synchronous, bool large,
                           const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                           int tag, MPI_Comm comm, MPI_Request *request)
{
    pending_t *pending = dest == MPI_PROC_NULL ? NULL : pending_new(PENDING_PERSISTENT_SEND);
    int rc = real(large, buf, count, datatype, dest, tag, comm, request);
    if (pending != NULL)
        pending->persistent = (persistent_t){
            .buf = buf, .count = count, .datatype = datatype, .peer = dest, .tag = tag,
            .comm = comm, .comm_serial = persistent_comm_serial(comm), .large = large,
            .synchronous = synchronous, .isend = isend};
    return persistent_enter(rc, pending, request);
}

int wrap_send_init(isend_fn *real, bool large, const void *buf, MPI_Count count,
                   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent_send(real, call_MPI_Isend, false, large, buf, count, datatype, dest, tag,
                           comm, request);
}

int wrap_bsend_init(isend_fn *real, bool large, const void *buf, MPI_Count count,
                    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent_send(real, call_MPI_Ibsend, false, large, buf, count, datatype, dest, tag,
                           comm, request);
}

int wrap_ssend_init(isend_fn *real, bool large, const void *buf, MPI_Count count,
                    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent_send(real, call_MPI_Issend, true, large, buf, count, datatype, dest, tag,
                           comm, request);
}

int wrap_rsend_init(isend_fn *real, bool large, const void *buf, MPI_Count count,
                    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return persistent_send(real, call_MPI_Irsend, false, large, buf, count, datatype, dest, tag,
                           comm, request);
}

int wrap_recv_init(irecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
                   int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    pending_t *pending = source == MPI_PROC_NULL ? NULL : pending_new(PENDING_PERSISTENT_RECV);
    int rc = real(large, buf, count, datatype, source, tag, comm, request);
    if (pending != NULL) {
        pending->in = (incoming_t){.buf = buf, .count = count, .datatype = datatype, .comm = comm};
        pending->persistent =
            (persistent_t){.peer = source, .tag = tag, .comm = comm, .large = large};
        if (rc == MPI_SUCCESS) {
            pending->in.type = types_hold_valid(datatype);
            /* Of one that was not learned, too, a probe may have put the message into the stash. */
            comm_t *known = comms_find_or_add(comm);
            pending->persistent.comm_serial = known != NULL ? known->serial : 0;
        }
    }
    return persistent_enter(rc, pending, request);
}

/* The communicator's handle may have been freed and be another one's by now. */
static bool persistent_comm_known(const persistent_t *p)
{
    return p->comm_serial != 0 && persistent_comm_serial(p->comm) == p->comm_serial;
}

static void persistent_set_inner(pending_t *pending, MPI_Request inner)
{
    pending->inner = inner;
    atomic_fetch_add(&requests_inner, 1);
}

/* True: an inner send is under way, or has failed with *rc. */
static bool persistent_start_send(pending_t *pending, int *rc)
{
    const persistent_t *p = &pending->persistent;
    outgoing_t out;
    MPI_Request inner;
    if (!persistent_comm_known(p) || !message_encode(p->buf, p->count, p->datatype, p->peer, p->tag,
                                                     p->comm, p->large, p->synchronous, &out))
        return false;
    *rc = p->isend(p->large, out.buffer->data, out.count, out.type, p->peer, p->tag, p->comm,
                   &inner);
    if (*rc == MPI_SUCCESS) {
        pending->buffer = out.buffer;
        persistent_set_inner(pending, inner);
    } else {
        buffers_give(out.buffer);
    }
    return true;
}

/* The receive's message is in the stash, or its buffer is in use by another receive. */
static bool persistent_start_recv(pending_t *pending, int *rc)
{
    const persistent_t *p = &pending->persistent;
    incoming_t *in = &pending->in;
    MPI_Request inner;
    if (!persistent_comm_known(p))
        return false;
    stash_entry_t *entry = stash_match(p->comm, p->peer, p->tag);
    if (entry != NULL) {
        bool tracked;
        *rc = stash_ireceive(entry, pending, &inner, &tracked);
        if (*rc == MPI_SUCCESS)
            persistent_set_inner(pending, inner);
        return true;
    }
    if (requests_reserve(pending))
        return false;
    pending->buffer = buffers_take(incoming_capacity(in));
    if (pending->buffer == NULL)
        return false;
    *rc = call_MPI_Irecv(p->large, pending->buffer->data, in->count, in->datatype, p->peer, p->tag,
                         p->comm, &inner);
    if (*rc == MPI_SUCCESS)
        persistent_set_inner(pending, inner);
    return true;
}

/* True: the request needs no start by MPI; *rc is the result. */
static bool persistent_start(pending_t *pending, int *rc)
{
    if (pending->kind == PENDING_PERSISTENT_SEND)
        return persistent_start_send(pending, rc);
    return pending->kind == PENDING_PERSISTENT_RECV && persistent_start_recv(pending, rc);
}

int wrap_start(MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    pending_t *pending = request == NULL ? NULL : requests_find(*request);
    if (UNLIKELY(shim.trace) && pending != NULL)
        pending->in.posted = report_clock();
    if (pending == NULL || !persistent_start(pending, &rc))
        rc = next.MPI_Start(request);
    if (pending != NULL && rc == MPI_SUCCESS)
        pending->active = true;
    stash_unannounce();
    return rc;
}

/*
 * The standard lets the requests be started in any order. Receives that MPI starts are announced
 * one at a time, so under threads each is started before the next is looked up.
 */
int wrap_startall(int count, MPI_Request array_of_requests[])
{
    bool ours = false;
    for (int i = 0; i < count && array_of_requests != NULL; i++)
        ours = ours || requests_find(array_of_requests[i]) != NULL;
    if (!ours)
        return next.MPI_Startall(count, array_of_requests);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = wrap_start(&array_of_requests[i]);
    return rc;
}
