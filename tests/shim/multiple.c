/*
 * MPI_THREAD_MULTIPLE: threads that all send, receive, probe and complete at once, on one
 * communicator, each with tags of its own. What a thread observes does not depend on the others.
 */
#include "tests/lib/mt.h"

#define THREADS 16
#define ROUNDS 16
#define COUNT_MOST 9000

/* One message out and one in. */
typedef struct round {
    int tag, count;
    float *out, *in;
    MPI_Status status;
} round_t;

static void by_recv(round_t *r)
{
    MPI_Request request;
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &request);
    MPI_Recv(r->in, COUNT_MOST, MPI_FLOAT, mt_left, r->tag, MPI_COMM_WORLD, &r->status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_waitall(round_t *r)
{
    MPI_Request requests[2];
    MPI_Status statuses[2] = {r->status, r->status};
    MPI_Irecv(r->in, COUNT_MOST, MPI_FLOAT, MPI_ANY_SOURCE, r->tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    r->status = statuses[0];
}

static void by_test(round_t *r)
{
    MPI_Request send, receive;
    int done = 0;
    MPI_Irecv(r->in, COUNT_MOST, MPI_FLOAT, mt_left, r->tag, MPI_COMM_WORLD, &receive);
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &send);
    while (!done)
        MPI_Test(&receive, &done, &r->status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void by_testany(round_t *r)
{
    MPI_Request requests[2];
    MPI_Status status = r->status;
    MPI_Irecv(r->in, COUNT_MOST, MPI_FLOAT, mt_left, r->tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &requests[1]);
    for (int left = 2; left > 0;) {
        int which, done;
        MPI_Testany(2, requests, &which, &done, &status);
        if (done && which == 0)
            r->status = status;
        left -= done != 0;
    }
}

static void by_probe(round_t *r)
{
    MPI_Request request;
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, r->tag, MPI_COMM_WORLD, &r->status);
    mt_status("probe", &r->status, MPI_FLOAT);
    MPI_Recv(r->in, COUNT_MOST, MPI_FLOAT, r->status.MPI_SOURCE, r->tag, MPI_COMM_WORLD,
             &r->status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_iprobe(round_t *r)
{
    MPI_Request request;
    int found = 0;
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &request);
    while (!found)
        MPI_Iprobe(mt_left, r->tag, MPI_COMM_WORLD, &found, &r->status);
    MPI_Recv(r->in, COUNT_MOST, MPI_FLOAT, mt_left, r->tag, MPI_COMM_WORLD, &r->status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_mprobe(round_t *r)
{
    MPI_Request send, receive;
    MPI_Message message;
    MPI_Isend(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &send);
    MPI_Mprobe(MPI_ANY_SOURCE, r->tag, MPI_COMM_WORLD, &message, &r->status);
    mt_status("mprobe", &r->status, MPI_FLOAT);
    MPI_Imrecv(r->in, COUNT_MOST, MPI_FLOAT, &message, &receive);
    MPI_Wait(&receive, &r->status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void by_sendrecv(round_t *r)
{
    MPI_Sendrecv(r->out, r->count, MPI_FLOAT, mt_right, r->tag, r->in, COUNT_MOST, MPI_FLOAT,
                 mt_left, r->tag, MPI_COMM_WORLD, &r->status);
}

static void by_persistent(round_t *r)
{
    MPI_Request requests[2];
    MPI_Status statuses[2] = {r->status, r->status};
    MPI_Recv_init(r->in, COUNT_MOST, MPI_FLOAT, mt_left, r->tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(r->out, r->count, MPI_FLOAT, mt_right, r->tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    r->status = statuses[0];
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void work(mt_thread_t *worker)
{
    static void (*const ways[])(round_t *) = {by_recv,   by_waitall, by_test,
                                              by_testany, by_probe,  by_iprobe,
                                              by_mprobe, by_sendrecv, by_persistent};
    const int count = sizeof ways / sizeof ways[0];
    for (int i = 0; i < ROUNDS; i++) {
        unsigned seed = (unsigned)(worker->number * ROUNDS + i);
        round_t r = {.tag = worker->number,
                     .count = i % 4 == 0 ? 100 + i : COUNT_MOST - 700 * i / 2,
                     .out = worker->out,
                     .in = worker->in};
        mt_status_clear(&r.status);
        mt_fill(r.out, (size_t)r.count, MT_FLOAT, seed + 1000 * (unsigned)mt_rank);
        mt_wipe(r.in);
        ways[(i + worker->number) % count](&r);
        mt_status_brief("received", &r.status);
        mt_check("received", r.in, (size_t)r.count, MT_FLOAT, seed + 1000 * (unsigned)mt_left);
        mt_untouched("received", r.in, (size_t)r.count * sizeof(float),
                     COUNT_MOST * sizeof(float));
    }
}

int main(int argc, char **argv)
{
    return mt_threads_main(argc, argv, "multiple", THREADS, COUNT_MOST * sizeof(float), work);
}
