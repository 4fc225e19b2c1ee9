/* Every way to send and to receive one message. */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/mt_internal.h"

/* Every mode: the blocking call, the one that starts, the one that makes a persistent request. */
#define SEND_MODE(BLOCKING, STARTING, PERSISTENT)                                         \
    static int send_##BLOCKING(const mt_message_t *m)                                     \
    {                                                                                     \
        return MPI_##BLOCKING(m->data, m->count, m->type, m->peer, m->tag, m->comm);      \
    }                                                                                     \
    static int send_##STARTING(const mt_message_t *m)                                     \
    {                                                                                     \
        MPI_Request request;                                                              \
        MPI_##STARTING(m->data, m->count, m->type, m->peer, m->tag, m->comm, &request);   \
        return MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
    }                                                                                     \
    static int send_##PERSISTENT(const mt_message_t *m)                                   \
    {                                                                                     \
        MPI_Request request;                                                              \
        MPI_##PERSISTENT(m->data, m->count, m->type, m->peer, m->tag, m->comm, &request); \
        MPI_Start(&request);                                                              \
        int code = MPI_Wait(&request, MPI_STATUS_IGNORE);                                 \
        MPI_Request_free(&request);                                                       \
        return code;                                                                      \
    }
SEND_MODE(Send, Isend, Send_init)
SEND_MODE(Ssend, Issend, Ssend_init)
SEND_MODE(Bsend, Ibsend, Bsend_init)
SEND_MODE(Rsend, Irsend, Rsend_init)
#if MPI_VERSION >= 4
SEND_MODE(Send_c, Isend_c, Send_init_c)
SEND_MODE(Ssend_c, Issend_c, Ssend_init_c)
SEND_MODE(Bsend_c, Ibsend_c, Bsend_init_c)
SEND_MODE(Rsend_c, Irsend_c, Rsend_init_c)
#endif

static int send_Sendrecv(const mt_message_t *m)
{
    return MPI_Sendrecv(m->data, m->count, m->type, m->peer, m->tag, NULL, 0, MPI_BYTE,
                        MPI_PROC_NULL, 0, m->comm, MPI_STATUS_IGNORE);
}

#define MODES(BLOCKING, STARTING, PERSISTENT, READY, BUFFERED) \
    {#BLOCKING, send_##BLOCKING, READY, false, BUFFERED},      \
        {#STARTING, send_##STARTING, READY, false, BUFFERED},  \
    {                                                          \
#PERSISTENT, send_##PERSISTENT, READY, false, BUFFERED \
    }

const mt_mode_t mt_sends[] = {
    MODES(Send, Isend, Send_init, false, false),
    MODES(Ssend, Issend, Ssend_init, false, false),
    MODES(Bsend, Ibsend, Bsend_init, false, true),
    MODES(Rsend, Irsend, Rsend_init, true, false),
    {"Sendrecv", send_Sendrecv, false, false, false},
#if MPI_VERSION >= 4
    MODES(Send_c, Isend_c, Send_init_c, false, false),
    MODES(Ssend_c, Issend_c, Ssend_init_c, false, false),
    MODES(Bsend_c, Ibsend_c, Bsend_init_c, false, true),
    MODES(Rsend_c, Irsend_c, Rsend_init_c, true, false),
#endif
};
const int mt_send_count = sizeof mt_sends / sizeof *mt_sends;

static void go(const mt_message_t *m)
{
    if (m->go)
        MPI_Send(NULL, 0, MPI_BYTE, m->go_peer, MT_GO, m->comm);
}

#define RECEIVE_MODE(RECV, IRECV, MRECV, IMRECV, RECV_INIT)                                 \
    static int receive_##RECV(const mt_message_t *m)                                        \
    {                                                                                       \
        return MPI_##RECV(m->data, m->count, m->type, m->peer, m->tag, m->comm, m->status); \
    }                                                                                       \
    static int receive_##IRECV(const mt_message_t *m)                                       \
    {                                                                                       \
        MPI_Request request;                                                                \
        MPI_##IRECV(m->data, m->count, m->type, m->peer, m->tag, m->comm, &request);        \
        go(m);                                                                              \
        return MPI_Wait(&request, m->status);                                               \
    }                                                                                       \
    static int receive_##MRECV(const mt_message_t *m)                                       \
    {                                                                                       \
        MPI_Message message;                                                                \
        MPI_Mprobe(m->peer, m->tag, m->comm, &message, MPI_STATUS_IGNORE);                  \
        return MPI_##MRECV(m->data, m->count, m->type, &message, m->status);                \
    }                                                                                       \
    static int receive_##IMRECV(const mt_message_t *m)                                      \
    {                                                                                       \
        MPI_Message message;                                                                \
        MPI_Request request;                                                                \
        int found = 0;                                                                      \
        while (!found)                                                                      \
            MPI_Improbe(m->peer, m->tag, m->comm, &found, &message, MPI_STATUS_IGNORE);     \
        MPI_##IMRECV(m->data, m->count, m->type, &message, &request);                       \
        return MPI_Wait(&request, m->status);                                               \
    }                                                                                       \
    static int receive_##RECV_INIT(const mt_message_t *m)                                   \
    {                                                                                       \
        MPI_Request request;                                                                \
        MPI_##RECV_INIT(m->data, m->count, m->type, m->peer, m->tag, m->comm, &request);    \
        MPI_Start(&request);                                                                \
        go(m);                                                                              \
        int code = MPI_Wait(&request, m->status);                                           \
        MPI_Request_free(&request);                                                         \
        return code;                                                                        \
    }
RECEIVE_MODE(Recv, Irecv, Mrecv, Imrecv, Recv_init)
#if MPI_VERSION >= 4
RECEIVE_MODE(Recv_c, Irecv_c, Mrecv_c, Imrecv_c, Recv_init_c)
#endif

static int receive_Test(const mt_message_t *m)
{
    MPI_Request request;
    int done = 0, code = MPI_SUCCESS;
    MPI_Irecv(m->data, m->count, m->type, m->peer, m->tag, m->comm, &request);
    go(m);
    while (!done && code == MPI_SUCCESS)
        code = MPI_Test(&request, &done, m->status);
    return code;
}

static int receive_Probe(const mt_message_t *m)
{
    MPI_Status found;
    MPI_Probe(m->peer, m->tag, m->comm, &found);
    return MPI_Recv(m->data, m->count, m->type, found.MPI_SOURCE, found.MPI_TAG, m->comm,
                    m->status);
}

static int receive_Iprobe(const mt_message_t *m)
{
    MPI_Request request;
    MPI_Status found;
    int flag = 0;
    while (!flag)
        MPI_Iprobe(m->peer, m->tag, m->comm, &flag, &found);
    MPI_Irecv(m->data, m->count, m->type, found.MPI_SOURCE, found.MPI_TAG, m->comm, &request);
    return MPI_Wait(&request, m->status);
}

static int receive_Sendrecv(const mt_message_t *m)
{
    return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, m->data, m->count, m->type, m->peer,
                        m->tag, m->comm, m->status);
}

const mt_mode_t mt_receives[] = {
    {"Recv", receive_Recv, false, false, false},
    {"Irecv", receive_Irecv, false, true, false},
    {"Test", receive_Test, false, true, false},
    {"Probe", receive_Probe, false, false, false},
    {"Iprobe", receive_Iprobe, false, false, false},
    {"Mrecv", receive_Mrecv, false, false, false},
    {"Imrecv", receive_Imrecv, false, false, false},
    {"Recv_init", receive_Recv_init, false, true, false},
    {"Sendrecv", receive_Sendrecv, false, false, false},
#if MPI_VERSION >= 4
    {"Recv_c", receive_Recv_c, false, false, false},
    {"Irecv_c", receive_Irecv_c, false, true, false},
    {"Mrecv_c", receive_Mrecv_c, false, false, false},
    {"Imrecv_c", receive_Imrecv_c, false, false, false},
    {"Recv_init_c", receive_Recv_init_c, false, true, false},
#endif
};
const int mt_receive_count = sizeof mt_receives / sizeof *mt_receives;

static const mt_mode_t *mode_find(const mt_mode_t *modes, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    mt_die("no such way to send or receive");
}

const mt_mode_t *mt_send_mode(const char *name)
{
    return mode_find(mt_sends, mt_send_count, name);
}

const mt_mode_t *mt_receive_mode(const char *name)
{
    return mode_find(mt_receives, mt_receive_count, name);
}

void mt_buffer_attach(size_t bytes)
{
    int room = (int)bytes + 64 * MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)room);
    if (!buffer)
        mt_die("no memory for buffered sends");
    MPI_Buffer_attach(buffer, room);
}

void mt_buffer_detach(void)
{
    void *buffer;
    int room;
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
}

static void exchange_send(const char *label, const mt_exchange_t *x, unsigned seed)
{
    void *data = mt_alloc_sealed((size_t)x->count, x->kind, seed);
    mt_message_t m = {.data = data,
                      .count = x->count,
                      .type = mt_kind_type(x->kind),
                      .peer = x->destination,
                      .tag = x->tag,
                      .comm = x->comm};
    if (x->send->buffered)
        mt_buffer_attach((size_t)x->count * mt_kind_bytes(x->kind));
    if (x->send->ready)
        MPI_Recv(NULL, 0, MPI_BYTE, x->destination, MT_GO, x->comm, MPI_STATUS_IGNORE);
    mt_result(label, x->send->transfer(&m));
    if (x->send->buffered)
        mt_buffer_detach();
    mt_free(data);
}

static void exchange_receive(const char *label, const mt_exchange_t *x, unsigned seed)
{
    size_t element = mt_kind_bytes(x->kind);
    size_t room = (size_t)(x->count + x->spare) * element;
    void *data = mt_alloc(room);
    MPI_Status status;
    mt_status_clear(&status);
    mt_message_t m = {.data = data,
                      .count = x->count + x->spare,
                      .type = mt_kind_type(x->kind),
                      .peer = x->wild ? MPI_ANY_SOURCE : x->source,
                      .tag = x->wild ? MPI_ANY_TAG : x->tag,
                      .comm = x->comm,
                      .status = &status,
                      .go = x->send->ready,
                      .go_peer = x->source};
    mt_result(label, x->receive->transfer(&m));
    mt_status(label, &status, mt_kind_type(x->kind));
    mt_check(label, data, (size_t)x->count, x->kind, seed);
    mt_untouched(label, data, (size_t)x->count * element, room);
    mt_free(data);
}

void mt_exchange(const char *label, const mt_exchange_t *x)
{
    int rank;
    MPI_Comm_rank(x->comm, &rank);
    if (x->send->ready && !x->receive->posted)
        return;
    char text[128];
    snprintf(text, sizeof text, "%s %s/%s %s %d", label, x->send->name, x->receive->name,
             mt_kind_name(x->kind), x->count);
    unsigned seed = (unsigned)(x->source * 1000 + x->destination * 100 + x->tag);
    /* A wildcard must not catch what belongs to another exchange. */
    if (x->wild)
        MPI_Barrier(x->comm);
    if (rank == x->source)
        exchange_send(text, x, seed);
    if (rank == x->destination)
        exchange_receive(text, x, seed);
    if (x->wild)
        MPI_Barrier(x->comm);
}
