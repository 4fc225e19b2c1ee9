/* Sends: the frame, if there is one, takes the message's place. */
#include "config.h"

#include "shim/wrap.h"

static int wrap_send_mode(send_fn *real, bool large, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          bool synchronous)
{
    outgoing_t out;
    if (LIKELY(!message_encode(buf, count, datatype, dest, tag, comm, large, synchronous, &out)))
        return wrap_done(real(large, buf, count, datatype, dest, tag, comm));
    int rc = real(large, out.buffer->data, out.count, out.type, dest, tag, comm);
    buffers_give(out.buffer);
    return wrap_done(rc);
}

int wrap_send_blocking(send_fn *real, bool large, const void *buf, MPI_Count count,
                       MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return wrap_send_mode(real, large, buf, count, datatype, dest, tag, comm, false);
}

int wrap_send_synchronous(send_fn *real, bool large, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return wrap_send_mode(real, large, buf, count, datatype, dest, tag, comm, true);
}

bool wrap_is_complete(MPI_Request request)
{
    int done = 0;
    return pmpi.Request_get_status(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

int wrap_isend_frame(isend_fn *real, bool large, const outgoing_t *out, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    int rc = real(large, out->buffer->data, out->count, out->type, dest, tag, comm, request);
    /*
     * Asked at once: MPICH gives one shared handle to all sends that complete on the spot, and
     * that one must never be taken for ours.
     */
    if (rc != MPI_SUCCESS || wrap_is_complete(*request)) {
        buffers_give(out->buffer);
        return rc;
    }
    pending_t *pending = pending_new(PENDING_SEND);
    if (pending == NULL) {
        /* No memory to remember the frame by: it must have gone before it can be given back. */
        rc = pmpi.Wait(request, MPI_STATUS_IGNORE);
        buffers_give(out->buffer);
        return rc;
    }
    pending->buffer = out->buffer;
    requests_enter(pending, *request);
    return rc;
}

static int wrap_isend_mode(isend_fn *real, bool large, const void *buf, MPI_Count count,
                           MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           bool synchronous, MPI_Request *request)
{
    outgoing_t out;
    if (LIKELY(!message_encode(buf, count, datatype, dest, tag, comm, large, synchronous, &out)))
        return real(large, buf, count, datatype, dest, tag, comm, request);
    return wrap_isend_frame(real, large, &out, dest, tag, comm, request);
}

int wrap_isend(isend_fn *real, bool large, const void *buf, MPI_Count count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return wrap_isend_mode(real, large, buf, count, datatype, dest, tag, comm, false, request);
}

int wrap_isend_synchronous(isend_fn *real, bool large, const void *buf, MPI_Count count,
                           MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request)
{
    return wrap_isend_mode(real, large, buf, count, datatype, dest, tag, comm, true, request);
}
