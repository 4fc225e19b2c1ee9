/*
 * Requests that do not end in a wait: freed while active, asked for their status, cancelled (won
 * and lost).
 */
#include "tests/lib/mt.h"

#include <stdio.h>

enum { COUNT = 6000, BYTES = COUNT * (int)sizeof(float), TAG = 3, ACK = 4 };

/* Send requests freed at once; the buffer is used again only after the receiver's word. */
static void freed_sends(void)
{
    float *sent = mt_alloc(BYTES), *received = mt_alloc(BYTES);
    for (unsigned round = 0; round < 4; round++) {
        MPI_Request request, receive;
        MPI_Status status;
        mt_status_clear(&status);
        mt_fill(sent, COUNT, MT_FLOAT, round);
        MPI_Irecv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &receive);
        if (round % 2) {
            MPI_Send_init(sent, COUNT, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
        } else {
            MPI_Isend(sent, COUNT, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &request);
        }
        mt_result("free send", MPI_Request_free(&request));
        mt_request("freed send", request);
        MPI_Wait(&receive, &status);
        mt_status("freed send", &status, MPI_FLOAT);
        mt_check("freed send", received, COUNT, MT_FLOAT, round);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, mt_left, ACK, NULL, 0, MPI_BYTE, mt_right, ACK,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mt_check("freed send's buffer", sent, COUNT, MT_FLOAT, round);
    }
    mt_free(sent);
    mt_free(received);
}

/* How the receiver of a freed receive may learn that the message is there. */
typedef enum learn {
    BY_BARRIER,
    BY_MESSAGE,
    BY_ALLREDUCE,
    BY_PROBE,
    BY_TEST,
    BY_SENDRECV,
    LEARN_COUNT
} learn_t;

static void learn(learn_t how)
{
    MPI_Request request;
    int value = 1, sum, flag = 0;
    switch (how) {
    case BY_MESSAGE:
        MPI_Isend(&value, 1, MPI_INT, mt_right, ACK, MPI_COMM_WORLD, &request);
        MPI_Recv(&sum, 1, MPI_INT, mt_left, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case BY_ALLREDUCE:
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BY_PROBE:
        MPI_Isend(&value, 1, MPI_INT, mt_right, ACK, MPI_COMM_WORLD, &request);
        MPI_Probe(mt_left, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case BY_TEST:
        MPI_Irecv(&sum, 1, MPI_INT, mt_left, ACK, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, mt_right, ACK, MPI_COMM_WORLD);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        break;
    case BY_SENDRECV:
        MPI_Sendrecv(&value, 1, MPI_INT, mt_right, ACK, &sum, 1, MPI_INT, mt_left, ACK,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (how != BY_PROBE)
        return;
    MPI_Recv(&sum, 1, MPI_INT, mt_left, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void freed_receives(void)
{
    static const int counts[] = {1500, 6000};
    for (unsigned how = 0; how < 2 * LEARN_COUNT; how++) {
        int count = counts[how / LEARN_COUNT];
        float *received = mt_alloc(BYTES), *sent = mt_alloc_sealed((size_t)count, MT_FLOAT, how);
        MPI_Request request;
        if (how % 2) {
            MPI_Irecv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &request);
        } else {
            MPI_Recv_init(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
        }
        MPI_Request_free(&request);
        mt_request("freed receive", request);
        MPI_Barrier(
            MPI_COMM_WORLD); /* the receive is there: a synchronous send ends when it is done */
        MPI_Ssend(sent, count, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD);
        learn(how % LEARN_COUNT);
        char label[32];
        snprintf(label, sizeof label, "freed receive %u", how);
        mt_check(label, received, (size_t)count, MT_FLOAT, how);
        mt_untouched(label, received, (size_t)count * sizeof(float), BYTES);
        mt_free(received);
        mt_free(sent);
    }
}

static void note_get_status(const char *label, MPI_Request request)
{
    MPI_Status status;
    int flag = -1;
    mt_status_clear(&status);
    mt_result(label, MPI_Request_get_status(request, &flag, &status));
    mt_say("%s flag %d", label, flag);
    if (flag == 1)
        mt_status(label, &status, MPI_FLOAT);
}

static void get_status(void)
{
    float *received = mt_alloc(BYTES), *sent = mt_alloc_sealed(1500, MT_FLOAT, 6);
    MPI_Request receive, send = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;
    note_get_status("get_status null", MPI_REQUEST_NULL);
    MPI_Recv_init(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &receive);
    note_get_status("get_status inactive", receive);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&receive);
        note_get_status("get_status early", receive);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(sent, 1500, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &send);
        for (flag = 0; !flag;)
            MPI_Request_get_status(receive, &flag, round ? MPI_STATUS_IGNORE : &status);
        note_get_status("get_status done", receive);
        note_get_status("get_status done again", receive);
        mt_check("get_status", received, 1500, MT_FLOAT, 6);
        mt_status_clear(&status);
        MPI_Wait(&receive, &status);
        mt_status("Wait after get_status", &status, MPI_FLOAT);
        mt_check("Wait after get_status", received, 1500, MT_FLOAT, 6);
        note_get_status("get_status inactive again", receive);
        for (flag = 0; !flag;)
            MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        note_get_status("get_status of a finished send", send);
        mt_wipe(received);
    }
    MPI_Request_free(&receive);
    mt_free(received);
    mt_free(sent);
}

/* Cancels a receive; notes whether that was done, and completes it in one of three ways. */
static void cancel_note(const char *label, MPI_Request *request, int way)
{
    MPI_Status status;
    int flag = 0, index, cancelled;
    mt_status_clear(&status);
    mt_result(label, MPI_Cancel(request));
    if (way == 0)
        mt_result(label, MPI_Wait(request, &status));
    while (way == 1 && !flag)
        MPI_Test(request, &flag, &status);
    if (way == 2)
        mt_result(label, MPI_Waitany(1, request, &index, &status));
    MPI_Test_cancelled(&status, &cancelled);
    mt_say("%s cancelled %d", label, cancelled);
    if (!cancelled)
        mt_status(label, &status, MPI_FLOAT);
}

static void cancel(int way)
{
    float *received = mt_alloc(BYTES), *sent = mt_alloc_sealed(1500, MT_FLOAT, 7);
    MPI_Request receive, persistent, send;
    int flag;
    MPI_Irecv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &receive);
    cancel_note("cancel won", &receive, way);
    MPI_Recv_init(received, COUNT, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &persistent);
    MPI_Start(&persistent);
    cancel_note("cancel persistent won", &persistent, way);
    mt_untouched("cancelled", received, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 2; round++) {
        if (round)
            MPI_Start(&persistent);
        else
            MPI_Irecv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &receive);
        MPI_Request *lost = round ? &persistent : &receive;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(sent, 1500, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &send);
        for (flag = 0; !flag;)
            MPI_Request_get_status(*lost, &flag, MPI_STATUS_IGNORE);
        cancel_note("cancel lost", lost, way);
        mt_check("cancel lost", received, 1500, MT_FLOAT, 7);
        mt_request("cancel lost", *lost);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        mt_wipe(received);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&persistent);
    mt_free(received);
    mt_free(sent);
}

/*
 * A send that has been received cannot be cancelled any more, nor can it be said to have been.
 * (Before that, whether it can is up to the MPI and the length of the message.)
 */
static void cancel_sent(int way)
{
    float *received = mt_alloc(BYTES), *sent = mt_alloc_sealed(1500, MT_FLOAT, 9);
    MPI_Request send, persistent;
    MPI_Status status;
    int cancelled, index, flag;
    MPI_Send_init(sent, 1500, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &persistent);
    for (int round = 0; round < 3; round++) {
        MPI_Request *own = round ? &persistent : &send;
        if (round)
            MPI_Start(&persistent);
        else
            MPI_Isend(sent, 1500, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &send);
        MPI_Recv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        mt_result("cancel sent", MPI_Cancel(own));
        if (way == 0)
            mt_result("cancel sent", MPI_Wait(own, &status));
        for (flag = way != 1; !flag;)
            MPI_Test(own, &flag, &status);
        if (way == 2)
            mt_result("cancel sent", MPI_Waitany(1, own, &index, &status));
        MPI_Test_cancelled(&status, &cancelled);
        mt_say("cancel sent cancelled %d", cancelled);
        mt_request("cancel sent", *own);
        mt_check("cancel sent", received, 1500, MT_FLOAT, 9);
        mt_wipe(received);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&persistent);
    mt_free(received);
    mt_free(sent);
}

/* What was probed is there: no cancel can win any more. */
static void cancel_probed(int way)
{
    float *received = mt_alloc(BYTES), *sent = mt_alloc_sealed(1500, MT_FLOAT, 8);
    MPI_Request receive, send;
    MPI_Isend(sent, 1500, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &send);
    MPI_Probe(mt_left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(received, COUNT, MPI_FLOAT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &receive);
    cancel_note("cancel probed", &receive, way);
    mt_check("cancel probed", received, 1500, MT_FLOAT, 8);
    mt_request("cancel probed", receive);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    mt_free(received);
    mt_free(sent);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void body(void)
{
    freed_sends();
    freed_receives();
    get_status();
    for (int way = 0; way < 3; way++) {
        cancel(way);
        cancel_probed(way);
        cancel_sent(way);
    }
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "freed", body);
}
