/* Receives: from the stash if the message is there, else from MPI; then what came is looked at. */
#include "config.h"

#include "shim/errors.h"
#include "shim/stash.h"
#include "shim/wrap.h"

int wrap_recv(recv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
              int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    stash_entry_t *entry = source == MPI_PROC_NULL ? NULL : stash_match(comm, source, tag);
    incoming_t in = incoming_of(buf, count, datatype, comm);
    if (UNLIKELY(entry != NULL)) {
        in.type = types_find(datatype);
        return wrap_done(stash_receive(entry, &in, status, errors_raise));
    }
    MPI_Status own;
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = real(large, buf, count, datatype, source, tag, comm, got);
    stash_unannounce();
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL && message_maybe_frame(got)) {
        in.type = types_find(datatype);
        rc = message_restore(&in, NULL, got);
        if (rc != MPI_SUCCESS)
            errors_raise(comm, rc);
    }
    return wrap_done(rc);
}

/* Whether a frame could come to lie in the receive's buffer. Unknown types: asked of MPI later. */
static bool wrap_can_hold_frame(const incoming_t *in)
{
    return in->count > 0 && (in->type == NULL || incoming_capacity(in) >= TAH_FRAME_MIN);
}

/*
 * Posts the receive, through a buffer of ours where the program's is in use by another one, and
 * enters it.
 */
static int wrap_post_receive(irecv_fn *real, bool large, pending_t *pending, int source, int tag,
                             MPI_Request *request)
{
    incoming_t *in = &pending->in;
    void *buf = in->buf;
    if (!requests_reserve(pending)) {
        pending->buffer = buffers_take(incoming_capacity(in));
        if (pending->buffer != NULL)
            buf = pending->buffer->data;
    }
    int rc = real(large, buf, in->count, in->datatype, source, tag, in->comm, request);
    if (rc == MPI_SUCCESS) {
        if (in->type == NULL)
            in->type = types_hold_valid(in->datatype);
        requests_enter(pending, *request);
    } else {
        pending_free(pending);
    }
    return rc;
}

int wrap_irecv(irecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
               int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (source == MPI_PROC_NULL)
        return real(large, buf, count, datatype, source, tag, comm, request);
    incoming_t in = incoming_of(buf, count, datatype, comm);
    in.type = types_hold(datatype);
    stash_entry_t *entry = stash_match(comm, source, tag);
    pending_t *pending = NULL;
    int rc;
    if (UNLIKELY(entry != NULL) || wrap_can_hold_frame(&in))
        pending = pending_new(PENDING_RECV);
    if (pending != NULL)
        pending->in = in;
    if (UNLIKELY(entry != NULL)) {
        bool tracked = false;
        rc = pending == NULL ? errors_raise(comm, MPI_ERR_NO_MEM)
                             : stash_ireceive(entry, pending, request, &tracked);
        if (tracked && rc == MPI_SUCCESS)
            requests_enter(pending, *request);
        else if (pending != NULL)
            pending_free(pending);
        return rc;
    }
    if (pending != NULL) {
        rc = wrap_post_receive(real, large, pending, source, tag, request);
    } else {
        rc = real(large, buf, count, datatype, source, tag, comm, request);
        types_release(in.type);
    }
    stash_unannounce();
    return rc;
}

int wrap_mrecv(mrecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
               MPI_Message *message, MPI_Status *status)
{
    stash_entry_t *entry = stash_message_take(*message);
    if (LIKELY(entry == NULL))
        return wrap_done(real(large, buf, count, datatype, message, status));
    incoming_t in = incoming_of(buf, count, datatype, entry->comm);
    in.type = types_find(datatype);
    *message = MPI_MESSAGE_NULL;
    return wrap_done(stash_receive(entry, &in, status, errors_raise_request));
}

int wrap_imrecv(imrecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
                MPI_Message *message, MPI_Request *request)
{
    stash_entry_t *entry = stash_message_take(*message);
    if (LIKELY(entry == NULL))
        return real(large, buf, count, datatype, message, request);
    pending_t *pending = pending_new(PENDING_RECV);
    if (pending == NULL)
        return errors_raise_request(entry->comm, MPI_ERR_NO_MEM);
    pending->in = incoming_of(buf, count, datatype, entry->comm);
    pending->in.type = types_hold(datatype);
    *message = MPI_MESSAGE_NULL;
    bool tracked;
    int rc = stash_ireceive(entry, pending, request, &tracked);
    if (tracked && rc == MPI_SUCCESS)
        requests_enter(pending, *request);
    else
        pending_free(pending);
    return rc;
}
