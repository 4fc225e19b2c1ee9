/*
 * Persistent requests: started again and again, one by one and all at once, completed by every
 * call, mixed with ordinary ones, freed while active, on a communicator that is freed meanwhile.
 */
#include "tests/lib/mt.h"

#include <stdio.h>

enum { KINDS = 4, ROUNDS = 6, TAG = 2 };

static const int counts[KINDS] = {4000, 28, 20476, 1000};

typedef struct set {
    float *sent[KINDS], *received[KINDS];
    MPI_Request requests[2 * KINDS]; /* receives, then sends */
    MPI_Request made[2 * KINDS];     /* the handles as they were made */
} set_t;

static void set_make(set_t *set, MPI_Comm comm)
{
    typedef int init_t(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    init_t *const inits[KINDS] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    for (int i = 0; i < KINDS; i++) {
        set->sent[i] = mt_alloc((size_t)counts[i] * sizeof(float));
        set->received[i] = mt_alloc((size_t)counts[i] * sizeof(float) + 64);
        MPI_Recv_init(set->received[i], counts[i] + 16, MPI_FLOAT, i % 2 ? MPI_ANY_SOURCE : mt_left,
                      TAG + i, comm, &set->requests[i]);
        inits[i](set->sent[i], counts[i], MPI_FLOAT, mt_right, TAG + i, comm,
                 &set->requests[KINDS + i]);
    }
    for (int i = 0; i < 2 * KINDS; i++)
        set->made[i] = set->requests[i];
}

static void set_start(set_t *set, int round, MPI_Comm comm)
{
    for (int i = 0; i < KINDS; i++) {
        mt_fill(set->sent[i], (size_t)counts[i], MT_FLOAT, (unsigned)(round * KINDS + i));
        mt_wipe(set->received[i]);
    }
    if (round % 2)
        mt_result("Startall", MPI_Startall(KINDS, set->requests));
    for (int i = 0; round % 2 == 0 && i < KINDS; i++)
        mt_result("Start", MPI_Start(&set->requests[i]));
    MPI_Barrier(comm); /* for the ready send */
    mt_result("Startall", MPI_Startall(KINDS, set->requests + KINDS));
}

static void note(set_t *set, const char *label, int i, const MPI_Status *status, int round)
{
    char name[48];
    snprintf(name, sizeof name, "%s round %d, %d", label, round, i);
    mt_status(name, status, MPI_FLOAT);
    mt_check(name, set->received[i], (size_t)counts[i], MT_FLOAT, (unsigned)(round * KINDS + i));
    mt_untouched(name, set->received[i], (size_t)counts[i] * sizeof(float),
                 (size_t)counts[i] * sizeof(float) + 64);
}

static void finish_each(set_t *set, MPI_Status *statuses, int round)
{
    for (int i = 2 * KINDS - 1; i >= 0; i--) {
        int flag = 0;
        if (round == 0)
            MPI_Wait(&set->requests[i], &statuses[i]);
        while (round != 0 && !flag)
            MPI_Test(&set->requests[i], &flag, &statuses[i]);
    }
}

static void finish_any(set_t *set, MPI_Status *statuses, int round)
{
    for (int index = 0; index != MPI_UNDEFINED;) {
        MPI_Status status;
        int flag = 1;
        mt_status_clear(&status);
        if (round == 2)
            MPI_Waitany(2 * KINDS, set->requests, &index, &status);
        else
            MPI_Testany(2 * KINDS, set->requests, &index, &flag, &status);
        if (!flag)
            index = 0;
        else if (index != MPI_UNDEFINED)
            statuses[index] = status;
    }
}

static void finish_many(set_t *set, MPI_Status *statuses, int round)
{
    if (round == 4) {
        mt_result("Waitall", MPI_Waitall(2 * KINDS, set->requests, statuses));
        return;
    }
    for (int count = 0; count != MPI_UNDEFINED;) {
        MPI_Status some[2 * KINDS];
        int indices[2 * KINDS];
        for (int i = 0; i < 2 * KINDS; i++)
            mt_status_clear(&some[i]);
        MPI_Waitsome(2 * KINDS, set->requests, &count, indices, some);
        for (int i = 0; i < count && count != MPI_UNDEFINED; i++)
            statuses[indices[i]] = some[i];
    }
}

static void rounds(MPI_Comm comm)
{
    set_t set;
    set_make(&set, comm);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status statuses[2 * KINDS];
        for (int i = 0; i < 2 * KINDS; i++)
            mt_status_clear(&statuses[i]);
        set_start(&set, round, comm);
        if (round < 2)
            finish_each(&set, statuses, round);
        else if (round < 4)
            finish_any(&set, statuses, round);
        else
            finish_many(&set, statuses, round);
        for (int i = 0; i < KINDS; i++)
            note(&set, "persistent", i, &statuses[i], round);
        for (int i = 0; i < 2 * KINDS; i++)
            if (set.requests[i] != set.made[i])
                mt_say("round %d: handle %d changed", round, i);
    }
    for (int i = 0; i < 2 * KINDS; i++) {
        mt_result("free", MPI_Request_free(&set.requests[i]));
        mt_request("free", set.requests[i]);
    }
    for (int i = 0; i < KINDS; i++) {
        mt_free(set.sent[i]);
        mt_free(set.received[i]);
    }
}

/* Many starts of one pair of requests: each brings what the buffer held at the start. */
static void many_starts(void)
{
    enum { STARTS = 60, COUNT = 3000 };
    float *sent = mt_alloc(COUNT * sizeof(float)), *received = mt_alloc(COUNT * sizeof(float));
    MPI_Request requests[2];
    int good = 0;
    MPI_Send_init(sent, COUNT, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < STARTS; i++) {
        for (int j = 0; j < COUNT; j++)
            sent[j] = (float)(i + 1);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        good += received[0] == (float)(i + 1) && received[COUNT - 1] == (float)(i + 1);
    }
    mt_say("%d of %d starts good", good, STARTS);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    mt_free(sent);
    mt_free(received);
}

/* The communicator is freed after the requests were made; they still work. */
static void communicator_freed(void)
{
    enum { COUNT = 3000 };
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, 4), *received = mt_alloc(COUNT * sizeof(float));
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(received, COUNT, MPI_FLOAT, mt_left, TAG, comm, &requests[0]);
    MPI_Send_init(sent, COUNT, MPI_FLOAT, mt_right, TAG, comm, &requests[1]);
    MPI_Comm_free(&comm);
    for (int round = 0; round < 2; round++) {
        mt_status_clear(&statuses[0]);
        mt_status_clear(&statuses[1]);
        MPI_Startall(2, requests);
        mt_result("freed communicator", MPI_Waitall(2, requests, statuses));
        mt_status("freed communicator", &statuses[0], MPI_FLOAT);
        mt_check("freed communicator", received, COUNT, MT_FLOAT, 4);
        mt_wipe(received);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    mt_free(sent);
    mt_free(received);
}

static void body(void)
{
    static char buffer[KINDS * 20476 * sizeof(float) + KINDS * MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    MPI_Comm comm;
    MPI_Buffer_attach(buffer, sizeof buffer);
    rounds(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    rounds(comm);
    MPI_Comm_free(&comm);
    many_starts();
    communicator_freed();
    MPI_Buffer_detach(&detached, &bytes);
    mt_say("detached %s", detached == buffer && bytes == sizeof buffer ? "as attached" : "other");
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "persistent", body);
}
