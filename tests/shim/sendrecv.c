/* The combined calls: to neighbours, to the own rank, to nobody, with unlike sides, in place. */
#include "tests/lib/mt.h"

#include <stdio.h>
#include <string.h>

enum { TAG = 6, ROOM = 60000 };

/* The combined calls under one signature; in place where sent is NULL. */
typedef int combined_t(const void *sent, int send_count, int to, int send_tag, void *received,
                       int receive_count, int from, int receive_tag, MPI_Status *status);

static int call_sendrecv(const void *sent, int send_count, int to, int send_tag, void *received,
                         int receive_count, int from, int receive_tag, MPI_Status *status)
{
    return MPI_Sendrecv(sent, send_count, MPI_FLOAT, to, send_tag, received, receive_count,
                        MPI_FLOAT, from, receive_tag, MPI_COMM_WORLD, status);
}

static int call_replace(const void *sent, int send_count, int to, int send_tag, void *received,
                        int receive_count, int from, int receive_tag, MPI_Status *status)
{
    memmove(received, sent, (size_t)send_count * sizeof(float));
    return MPI_Sendrecv_replace(received, send_count, MPI_FLOAT, to, send_tag, from, receive_tag,
                                MPI_COMM_WORLD, status);
}

#if MPI_VERSION >= 4
static int call_sendrecv_c(const void *sent, int send_count, int to, int send_tag, void *received,
                           int receive_count, int from, int receive_tag, MPI_Status *status)
{
    return MPI_Sendrecv_c(sent, send_count, MPI_FLOAT, to, send_tag, received, receive_count,
                          MPI_FLOAT, from, receive_tag, MPI_COMM_WORLD, status);
}

static int call_replace_c(const void *sent, int send_count, int to, int send_tag, void *received,
                          int receive_count, int from, int receive_tag, MPI_Status *status)
{
    memmove(received, sent, (size_t)send_count * sizeof(float));
    return MPI_Sendrecv_replace_c(received, send_count, MPI_FLOAT, to, send_tag, from, receive_tag,
                                  MPI_COMM_WORLD, status);
}

/*
 * The nonblocking ones: MPICH 4.0 leaves their statuses without a count, so what they say there is
 * no concern of a program; the caller's status stays as it is.
 */
static int call_isendrecv(const void *sent, int send_count, int to, int send_tag, void *received,
                          int receive_count, int from, int receive_tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Isendrecv(sent, send_count, MPI_FLOAT, to, send_tag, received, receive_count, MPI_FLOAT,
                  from, receive_tag, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int call_ireplace(const void *sent, int send_count, int to, int send_tag, void *received,
                         int receive_count, int from, int receive_tag, MPI_Status *status)
{
    MPI_Request request;
    int flag = 0;
    memmove(received, sent, (size_t)send_count * sizeof(float));
    MPI_Isendrecv_replace(received, send_count, MPI_FLOAT, to, send_tag, from, receive_tag,
                          MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

static int call_isendrecv_c(const void *sent, int send_count, int to, int send_tag, void *received,
                            int receive_count, int from, int receive_tag, MPI_Status *status)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isendrecv_c(sent, send_count, MPI_FLOAT, to, send_tag, received, receive_count, MPI_FLOAT,
                    from, receive_tag, MPI_COMM_WORLD, &requests[1]);
    return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int call_ireplace_c(const void *sent, int send_count, int to, int send_tag, void *received,
                           int receive_count, int from, int receive_tag, MPI_Status *status)
{
    MPI_Request request;
    int index;
    memmove(received, sent, (size_t)send_count * sizeof(float));
    MPI_Isendrecv_replace_c(received, send_count, MPI_FLOAT, to, send_tag, from, receive_tag,
                            MPI_COMM_WORLD, &request);
    return MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
}
#endif

static const struct {
    const char *name;
    combined_t *call;
    bool status; /* gives a status */
    bool replace;
} calls[] = {
    {"Sendrecv", call_sendrecv, true, false},
    {"Sendrecv_replace", call_replace, true, true},
#if MPI_VERSION >= 4
    {"Sendrecv_c", call_sendrecv_c, true, false},
    {"Sendrecv_replace_c", call_replace_c, true, true},
    {"Isendrecv", call_isendrecv, false, false},
    {"Isendrecv_replace", call_ireplace, false, true},
    {"Isendrecv_c", call_isendrecv_c, false, false},
    {"Isendrecv_replace_c", call_ireplace_c, false, true},
#endif
};
enum { CALLS = sizeof calls / sizeof *calls };

/*
 * One combined call; count_back is what comes from there, 0 if nothing does. Each has its own tag,
 * so that a wildcard for the source cannot catch what belongs to the next.
 */
static void one(int c, int count, int to, int from, int count_back, bool ignore)
{
    char label[80];
    snprintf(label, sizeof label, "%s %d to %d from %d", calls[c].name, count, to, from);
    float *sent = mt_alloc_sealed((size_t)count, MT_FLOAT, (unsigned)(mt_rank * 10 + c));
    float *received = mt_alloc(ROOM);
    static int calls_made;
    int tag = calls_made++;
    MPI_Status status;
    mt_status_clear(&status);
    mt_result(label, calls[c].call(sent, count, to, tag, received, ROOM / (int)sizeof(float),
                                   tag % 3 == 1 && from >= 0 ? MPI_ANY_SOURCE : from,
                                   tag % 3 == 2 ? MPI_ANY_TAG : tag,
                                   ignore ? MPI_STATUS_IGNORE : &status));
    if (calls[c].status && !ignore)
        mt_status(label, &status, MPI_FLOAT);
    size_t kept = (size_t)(calls[c].replace && count > count_back ? count : count_back);
    if (from >= 0)
        mt_check(label, received, (size_t)count_back, MT_FLOAT, (unsigned)(from * 10 + c));
    else if (calls[c].replace)
        mt_check(label, received, (size_t)count, MT_FLOAT, (unsigned)(mt_rank * 10 + c));
    mt_untouched(label, received, kept * sizeof(float), ROOM);
    mt_free(sent);
    mt_free(received);
}

static void shapes(int c)
{
    static const int counts[] = {0, 1, 28, 2001, 4096, 12000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        one(c, counts[i], mt_right, mt_left, counts[i], i % 2);
        one(c, counts[i], mt_rank, mt_rank, counts[i], false);
    }
    /* Up and down between pairs: both messages are alike in everything but the direction. */
    int peer = (mt_rank ^ 1) < mt_size ? mt_rank ^ 1 : mt_rank;
    one(c, 5000, peer, peer, 5000, false);
    if (!calls[c].status)
        return; /* MPICH 4.0.2 crashes in nonblocking ones to or from nobody */
    one(c, 3000, MPI_PROC_NULL, MPI_PROC_NULL, 0, false);
    one(c, 3000, mt_rank ? MPI_PROC_NULL : mt_size - 1, mt_rank == mt_size - 1 ? 0 : MPI_PROC_NULL,
        mt_rank == mt_size - 1 ? 3000 : 0, false);
}

/* Unlike counts and types on the two sides of one call. */
static void unlike(int send_count, int back_count)
{
    int peer = mt_rank ^ 1;
    if (peer >= mt_size)
        return;
    bool floats = mt_rank % 2 == 0; /* even ranks send floats and get ints */
    void *sent = floats ? mt_alloc_sealed((size_t)send_count, MT_FLOAT, 1)
                        : mt_alloc_sealed((size_t)back_count, MT_INT, 2);
    void *received = mt_alloc(ROOM);
    MPI_Status status;
    mt_status_clear(&status);
    mt_result("unlike",
              MPI_Sendrecv(sent, floats ? send_count : back_count, floats ? MPI_FLOAT : MPI_INT,
                           peer, 2 + floats, received, ROOM / 4, floats ? MPI_INT : MPI_FLOAT,
                           MPI_ANY_SOURCE, 2 + !floats, MPI_COMM_WORLD, &status));
    mt_status("unlike", &status, floats ? MPI_INT : MPI_FLOAT);
    mt_check("unlike", received, (size_t)(floats ? back_count : send_count),
             floats ? MT_INT : MT_FLOAT, floats ? 2 : 1);
    mt_free(sent);
    mt_free(received);
}

/* A combined call meets plain sends and receives, and one posted earlier for the same message. */
static void among_others(void)
{
    float *sent[3], *received[3];
    MPI_Request requests[4];
    MPI_Status status;
    for (int i = 0; i < 3; i++) {
        sent[i] = mt_alloc_sealed(3000, MT_FLOAT, (unsigned)i);
        received[i] = mt_alloc(12000);
    }
    MPI_Irecv(received[0], 3000, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent[0], 3000, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &requests[1]);
    mt_status_clear(&status);
    MPI_Sendrecv(sent[1], 3000, MPI_FLOAT, mt_right, TAG, received[1], 3000, MPI_FLOAT,
                 MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    mt_status("among others", &status, MPI_FLOAT);
    MPI_Isend(sent[2], 3000, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(received[2], 3000, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        mt_check("among others", received[i], 3000, MT_FLOAT, (unsigned)i);
        mt_free(sent[i]);
        mt_free(received[i]);
    }
}

/*
 * One pointer for what is sent and for what is received: types that lie apart in it, with the peer
 * in single calls; and at the end of a chain, where there is only one of the two.
 */
static void one_pointer(void)
{
    enum { PART = 4096, GAP = 100 };
    const int ends[] = {0, PART + GAP};
    const int peer = mt_rank ^ 1, part = PART;
    MPI_Datatype types[2];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    if (peer >= mt_size)
        return;
    float *field = mt_alloc((2 * PART + GAP) * sizeof *field);
    for (int i = 0; i < 2; i++) {
        MPI_Type_indexed(1, &part, &ends[i], MPI_FLOAT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    mt_fill(field, PART, MT_FLOAT, (unsigned)mt_rank);
    mt_status_clear(&status);
    if (mt_rank % 2)
        MPI_Isend(field, 1, types[0], peer, TAG, MPI_COMM_WORLD, &request);
    if (mt_rank % 2)
        MPI_Recv(field, 1, types[1], peer, TAG, MPI_COMM_WORLD, &status);
    else
        MPI_Sendrecv(field, 1, types[0], peer, TAG, field, 1, types[1], peer, TAG, MPI_COMM_WORLD,
                     &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_status("one pointer, types apart", &status, MPI_FLOAT);
    mt_check("one pointer, types apart", field + ends[1], PART, MT_FLOAT, (unsigned)peer);
    mt_untouched("one pointer, types apart", field, PART * sizeof *field,
                 (PART + GAP) * sizeof *field);

    mt_status_clear(&status);
    if (mt_rank % 2)
        MPI_Send(field, PART, MPI_FLOAT, peer, TAG, MPI_COMM_WORLD);
    else
        MPI_Sendrecv(field, PART, MPI_FLOAT, MPI_PROC_NULL, TAG, field, PART, MPI_FLOAT, peer, TAG,
                     MPI_COMM_WORLD, &status);
    mt_status("one pointer, to nobody", &status, MPI_FLOAT);
    mt_check("one pointer, to nobody", field, PART, MT_FLOAT, (unsigned)(mt_rank | 1));
    for (int i = 0; i < 2; i++)
        MPI_Type_free(&types[i]);
    mt_free(field);
}

static void body(void)
{
    for (int c = 0; c < CALLS; c++)
        shapes(c);
    MPI_Barrier(MPI_COMM_WORLD);
    unlike(3000, 4000);
    unlike(12000, 28);
    unlike(1, 9000);
    MPI_Barrier(MPI_COMM_WORLD);
    among_others();
    MPI_Barrier(MPI_COMM_WORLD);
    one_pointer();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "sendrecv", body);
}
