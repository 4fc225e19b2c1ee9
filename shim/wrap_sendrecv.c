/* Combined calls. */
#include "config.h"

#include "shim/comms.h"
#include "shim/errors.h"
#include "shim/stash.h"
#include "shim/wrap.h"

/* The send half of a combined call, as it goes on the wire. */
typedef struct half {
    const void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    int dest, tag;
    outgoing_t out; /* buffer is NULL where the message goes as it is */
} half_t;

static half_t half_open(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm, bool large)
{
    half_t half = {.buf = buf, .count = count, .datatype = datatype, .dest = dest, .tag = tag};
    if (!message_encode(buf, count, datatype, dest, tag, comm, large, false, &half.out)) {
        half.out.buffer = NULL;
        return half;
    }
    half.buf = half.out.buffer->data;
    half.count = half.out.count;
    half.datatype = half.out.type;
    return half;
}

/*
 * For a call that is done in two: the data must not stay in a buffer that the receive will write
 * to, or that the program may write to while the send goes on.
 */
static int half_detach(half_t *half)
{
    if (half->out.buffer != NULL || half->count <= 0 || half->dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    type_t *type = types_find(half->datatype);
    size_t each = types_bytes(half->datatype, type);
    size_t bytes = each * (size_t)half->count;
    buffer_t *copy = buffers_take(bytes);
    if (copy == NULL)
        return MPI_ERR_NO_MEM;
    int rc = each == 0 ? MPI_SUCCESS
                       : types_pack(half->buf, half->datatype, each, bytes, copy->data);
    half->out.buffer = copy;
    half->buf = copy->data;
    half->count = (MPI_Count)bytes;
    half->datatype = MPI_PACKED;
    return rc;
}

static int half_isend(const half_t *half, MPI_Comm comm, MPI_Request *request)
{
#if MPI_VERSION >= 4
    return pmpi.Isend_c(half->buf, half->count, half->datatype, half->dest, half->tag, comm,
                        request);
#else
    plain_t plain;
    int rc = types_plain(half->count, half->datatype, &plain);
    if (rc == MPI_SUCCESS)
        rc = pmpi.Isend(half->buf, plain.count, plain.type, half->dest, half->tag, comm, request);
    types_plain_free(&plain);
    return rc;
#endif
}

/*
 * Send and receive as two calls: where the message to be received is in the stash already, and
 * under threads, where the receive must be announced for no longer than it takes.
 */
static int wrap_sendrecv_apart(bool large, const half_t *half, const incoming_t *in, int source,
                               int tag, MPI_Status *status)
{
    MPI_Request request;
    int rc = half_isend(half, in->comm, &request);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = wrap_recv(call_MPI_Recv, large, in->buf, in->count, in->datatype, source, tag, in->comm,
                   status);
    int sent = pmpi.Wait(&request, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent;
}

static bool wrap_must_part(void)
{
    return shim.threads || atomic_load_explicit(&stash_entries, memory_order_relaxed) != 0;
}

/* What a blocking combined call received. */
static int wrap_sendrecv_received(const incoming_t *in, int source, int rc, MPI_Status *got)
{
    if (rc != MPI_SUCCESS || source == MPI_PROC_NULL || !message_maybe_frame(got))
        return rc;
    rc = message_restore(in, NULL, got);
    return rc == MPI_SUCCESS ? rc : errors_raise(in->comm, rc);
}

int wrap_sendrecv(sendrecv_fn *real, bool large, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Status *status)
{
    half_t half = half_open(sendbuf, sendcount, sendtype, dest, sendtag, comm, large);
    incoming_t in = incoming_of(recvbuf, recvcount, recvtype, comm);
    int rc;
    if (UNLIKELY(wrap_must_part())) {
        rc = wrap_sendrecv_apart(large, &half, &in, source, recvtag, status);
    } else {
        MPI_Status own;
        MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
        rc = real(large, half.buf, half.count, half.datatype, dest, sendtag, recvbuf, recvcount,
                  recvtype, source, recvtag, comm, got);
        in.type = types_find(recvtype);
        rc = wrap_sendrecv_received(&in, source, rc, got);
    }
    buffers_give(half.out.buffer);
    return wrap_done(rc);
}

int wrap_sendrecv_replace(sendrecv_replace_fn *real, bool large, void *buf, MPI_Count count,
                          MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status)
{
    half_t half = half_open(buf, count, datatype, dest, sendtag, comm, large);
    incoming_t in = incoming_of(buf, count, datatype, comm);
    MPI_Status own;
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int rc;
    if (UNLIKELY(wrap_must_part()) && half_detach(&half) == MPI_SUCCESS) {
        rc = wrap_sendrecv_apart(large, &half, &in, source, recvtag, got);
        status_replaced(got, rc);
    } else if (half.out.buffer != NULL) {
        rc = call_MPI_Sendrecv(large, half.buf, half.count, half.datatype, dest, sendtag, buf,
                               count, datatype, source, recvtag, comm, got);
        in.type = types_find(datatype);
        rc = wrap_sendrecv_received(&in, source, rc, got);
        status_replaced(got, rc);
    } else {
        rc = real(large, buf, count, datatype, dest, sendtag, source, recvtag, comm, got);
        in.type = types_find(datatype);
        rc = wrap_sendrecv_received(&in, source, rc, got);
    }
    buffers_give(half.out.buffer);
    return wrap_done(rc);
}

#if MPI_VERSION >= 4
/* Tracks a combined request; wipes a key that its buffer still holds from an earlier message. */
static pending_t *wrap_isendrecv_track(void *buf, MPI_Count count, MPI_Datatype datatype,
                                       int source, MPI_Comm comm, buffer_t *frame)
{
    pending_t *pending = pending_new(PENDING_SENDRECV);
    if (pending == NULL)
        return NULL;
    pending->buffer = frame;
    pending->in.comm = comm;
    if (source == MPI_PROC_NULL || count <= 0)
        return pending;
    pending->in = (incoming_t){.buf = buf, .count = count, .datatype = datatype,
                               .type = types_hold(datatype), .comm = comm};
    message_wipe_key(&pending->in);
    return pending;
}

/*
 * The message to be received is in the stash: the program's request is that of its receive, and
 * the send goes its own way from memory of ours.
 */
static int wrap_isendrecv_stashed(stash_entry_t *entry, half_t *half, const incoming_t *in,
                                  MPI_Request *request)
{
    pending_t *send = pending_new(PENDING_SEND), *recv = pending_new(PENDING_RECV);
    MPI_Request sending;
    bool tracked;
    int rc = send == NULL || recv == NULL ? MPI_ERR_NO_MEM : half_detach(half);
    if (rc == MPI_SUCCESS)
        rc = half_isend(half, in->comm, &sending);
    if (rc != MPI_SUCCESS)
        return errors_raise(in->comm, rc);
    send->buffer = half->out.buffer;
    requests_abandon(send, sending);
    recv->in = *in;
    recv->in.type = types_hold(in->datatype);
    rc = stash_ireceive(entry, recv, request, &tracked);
    if (tracked && rc == MPI_SUCCESS)
        requests_enter(recv, *request);
    else
        pending_free(recv);
    return rc;
}

static int wrap_isendrecv_posted(int rc, pending_t *pending, MPI_Request *request)
{
    stash_unannounce();
    if (rc == MPI_SUCCESS && (pending->buffer != NULL || pending->in.count > 0))
        requests_enter(pending, *request);
    else
        pending_free(pending);
    return rc;
}

int wrap_isendrecv(__typeof__(call_MPI_Isendrecv) *real, bool large, const void *sendbuf,
                   MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request *request)
{
    half_t half = half_open(sendbuf, sendcount, sendtype, dest, sendtag, comm, large);
    incoming_t in = incoming_of(recvbuf, recvcount, recvtype, comm);
    stash_entry_t *entry = source == MPI_PROC_NULL ? NULL : stash_match(comm, source, recvtag);
    if (UNLIKELY(entry != NULL))
        return wrap_isendrecv_stashed(entry, &half, &in, request);
    pending_t *pending =
        wrap_isendrecv_track(recvbuf, recvcount, recvtype, source, comm, half.out.buffer);
    if (pending == NULL)
        return errors_raise(comm, MPI_ERR_NO_MEM);
    int rc = real(large, half.buf, half.count, half.datatype, dest, sendtag, recvbuf, recvcount,
                  recvtype, source, recvtag, comm, request);
    return wrap_isendrecv_posted(rc, pending, request);
}

int wrap_isendrecv_replace(__typeof__(call_MPI_Isendrecv_replace) *real, bool large, void *buf,
                           MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    half_t half = half_open(buf, count, datatype, dest, sendtag, comm, large);
    incoming_t in = incoming_of(buf, count, datatype, comm);
    stash_entry_t *entry = source == MPI_PROC_NULL ? NULL : stash_match(comm, source, recvtag);
    if (UNLIKELY(entry != NULL))
        return wrap_isendrecv_stashed(entry, &half, &in, request);
    pending_t *pending = wrap_isendrecv_track(buf, count, datatype, source, comm, half.out.buffer);
    if (pending == NULL)
        return errors_raise(comm, MPI_ERR_NO_MEM);
    int rc = half.out.buffer != NULL
                 ? call_MPI_Isendrecv(large, half.buf, half.count, half.datatype, dest, sendtag,
                                      buf, count, datatype, source, recvtag, comm, request)
                 : real(large, buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    return wrap_isendrecv_posted(rc, pending, request);
}
#endif
