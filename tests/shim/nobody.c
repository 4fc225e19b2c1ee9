/*
 * Messages to nobody, to oneself, of nothing, and from MPI_BOTTOM; what status calls say; errors
 * in arguments.
 */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>

enum { COUNT = 3000, TAG = 11 };

/* Every way to send to and to receive from MPI_PROC_NULL. */
static void proc_null(void)
{
    float *data = mt_alloc(COUNT * sizeof(float));
    mt_buffer_attach(COUNT * sizeof(float));
    mt_message_t m = {.data = data,
                      .count = COUNT,
                      .type = MPI_FLOAT,
                      .peer = MPI_PROC_NULL,
                      .tag = TAG,
                      .comm = MPI_COMM_WORLD};
    for (int i = 0; i < mt_send_count; i++)
        mt_result(mt_sends[i].name, mt_sends[i].transfer(&m));
    for (int i = 0; i < mt_receive_count; i++) {
        MPI_Status status;
        mt_status_clear(&status);
        m.status = &status;
        mt_result(mt_receives[i].name, mt_receives[i].transfer(&m));
        mt_status(mt_receives[i].name, &status, MPI_FLOAT);
    }
    mt_buffer_detach();
    mt_untouched("PROC_NULL", data, 0, COUNT * sizeof(float));
    mt_free(data);
}

static void proc_null_probes(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = -1;
    mt_status_clear(&status);
    mt_result("Probe", MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status));
    mt_status("Probe", &status, MPI_FLOAT);
    mt_status_clear(&status);
    mt_result("Iprobe", MPI_Iprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &status));
    mt_say("Iprobe flag %d", flag);
    mt_status("Iprobe", &status, MPI_FLOAT);
    mt_status_clear(&status);
    mt_result("Mprobe", MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &message, &status));
    mt_say("message %s", message == MPI_MESSAGE_NO_PROC ? "of no process" : "other");
    mt_status("Mprobe", &status, MPI_FLOAT);
}

/* To the own rank: every way to receive, on the world and on MPI_COMM_SELF. */
static void self(MPI_Comm comm, int rank)
{
    static const int counts[] = {0, 28, COUNT, 20476};
    for (int r = 0; r < mt_receive_count; r++) {
        int count = counts[r % 4];
        float *sent = mt_alloc_sealed((size_t)count, MT_FLOAT, 3), *received = mt_alloc(82000);
        MPI_Request request;
        MPI_Status status;
        MPI_Isend(sent, count, MPI_FLOAT, rank, TAG, comm, &request);
        mt_status_clear(&status);
        mt_message_t m = {.data = received,
                          .count = 20500,
                          .type = MPI_FLOAT,
                          .comm = comm,
                          .peer = r % 2 ? MPI_ANY_SOURCE : rank,
                          .tag = r % 3 ? MPI_ANY_TAG : TAG,
                          .status = &status};
        mt_result(mt_receives[r].name, mt_receives[r].transfer(&m));
        mt_status(mt_receives[r].name, &status, MPI_FLOAT);
        mt_check(mt_receives[r].name, received, (size_t)count, MT_FLOAT, 3);
        mt_untouched("self", received, (size_t)count * sizeof(float), 82000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mt_free(sent);
        mt_free(received);
    }
}

/* Nothing at all, from a null pointer and from a real one, into room and into none. */
static void nothing(void)
{
    float *room = mt_alloc(COUNT * sizeof(float));
    for (int i = 0; i < 4; i++) {
        MPI_Status status;
        mt_status_clear(&status);
        mt_result("nothing", MPI_Sendrecv(i % 2 ? room : NULL, 0, MPI_FLOAT, mt_right, TAG,
                                          i < 2 ? room : NULL, i < 2 ? COUNT : 0, MPI_FLOAT,
                                          mt_left, TAG, MPI_COMM_WORLD, &status));
        mt_status("nothing", &status, MPI_FLOAT);
    }
    mt_untouched("nothing", room, 0, COUNT * sizeof(float));
    mt_free(room);
}

/* Absolute addresses: one type for two arrays, sent and received from MPI_BOTTOM. */
static MPI_Datatype absolute_type(float *first, float *second, int count)
{
    MPI_Aint places[2];
    int lengths[2] = {count, count};
    MPI_Datatype type;
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void bottom(void)
{
    float *sent[2], *received[2];
    MPI_Status status;
    for (unsigned i = 0; i < 2; i++) {
        sent[i] = mt_alloc_sealed(COUNT, MT_FLOAT, i);
        received[i] = mt_alloc(COUNT * sizeof(float));
    }
    MPI_Datatype from = absolute_type(sent[0], sent[1], COUNT);
    MPI_Datatype to = absolute_type(received[0], received[1], COUNT);
    mt_status_clear(&status);
    mt_result("bottom", MPI_Sendrecv(MPI_BOTTOM, 1, from, mt_right, TAG, MPI_BOTTOM, 1, to, mt_left,
                                     TAG, MPI_COMM_WORLD, &status));
    mt_status("bottom", &status, to);
    for (unsigned i = 0; i < 2; i++) {
        mt_check("bottom", received[i], COUNT, MT_FLOAT, i);
        mt_wipe(received[i]);
    }
    MPI_Request request;
    MPI_Irecv(MPI_BOTTOM, 1, to, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(MPI_BOTTOM, 1, from, mt_right, TAG, MPI_COMM_WORLD);
    mt_status_clear(&status);
    MPI_Wait(&request, &status);
    mt_status("bottom", &status, to);
    for (unsigned i = 0; i < 2; i++) {
        mt_check("bottom", received[i], COUNT, MT_FLOAT, i);
        mt_wipe(received[i]);
    }
    /* Only what comes from elsewhere can be compressed on its way to MPI_BOTTOM. */
    mt_result("to bottom", MPI_Sendrecv(sent[1], COUNT, MPI_FLOAT, mt_right, TAG, MPI_BOTTOM, 1, to,
                                        mt_left, TAG, MPI_COMM_WORLD, &status));
    mt_status("to bottom", &status, MPI_FLOAT);
    mt_check("to bottom", received[0], COUNT, MT_FLOAT, 1);
    mt_untouched("to bottom", received[1], 0, COUNT * sizeof(float));
    for (unsigned i = 0; i < 2; i++) {
        mt_free(sent[i]);
        mt_free(received[i]);
    }
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

/* All that can be asked of the status of one large message. */
static void status_calls(void)
{
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, 8), *received = mt_alloc(COUNT * sizeof(float));
    MPI_Status status, copy;
    MPI_Datatype triple;
    MPI_Count large;
    int count, cancelled;
    MPI_Type_contiguous(7, MPI_FLOAT, &triple);
    MPI_Type_commit(&triple);
    mt_status_clear(&status);
    MPI_Sendrecv(sent, COUNT, MPI_FLOAT, mt_right, TAG, received, COUNT, MPI_FLOAT, mt_left, TAG,
                 MPI_COMM_WORLD, &status);
    copy = status;
    MPI_Get_count(&copy, triple, &count);
    mt_say("Get_count of sevens %s", count == MPI_UNDEFINED ? "undefined" : "defined");
    MPI_Get_elements(&copy, triple, &count);
    mt_say("Get_elements of sevens %d", count);
    MPI_Get_elements_x(&copy, triple, &large);
    mt_say("Get_elements_x of sevens %lld", (long long)large);
    MPI_Get_count(&copy, MPI_DOUBLE, &count);
    mt_say("Get_count of doubles %d", count);
    MPI_Get_count(&copy, MPI_FLOAT_INT, &count);
    mt_say("Get_count of pairs %d", count);
    MPI_Test_cancelled(&copy, &cancelled);
    mt_say("cancelled %d", cancelled);
#if MPI_VERSION >= 4
    MPI_Get_count_c(&copy, MPI_FLOAT, &large);
    mt_say("Get_count_c %lld", (long long)large);
    MPI_Get_elements_c(&copy, triple, &large);
    mt_say("Get_elements_c %lld", (long long)large);
#endif
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint) + 1];
    MPI_Status_c2f(&copy, fortran);
    mt_status_clear(&status);
    MPI_Status_f2c(fortran, &status);
    mt_status("by way of Fortran", &status, MPI_FLOAT);
    MPI_Type_free(&triple);
    mt_free(sent);
    mt_free(received);
}

/* Mistakes in arguments: which class, which handler; nothing is sent. */
static void mistakes(void)
{
    float *data = mt_alloc(COUNT * sizeof(float));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Message none = MPI_MESSAGE_NULL;
    MPI_Comm comm;
    int flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    mt_handler(MPI_COMM_WORLD, "the world's handler");
    mt_handler(comm, "the communicator's handler");
    mt_result("count", MPI_Send(data, -1, MPI_FLOAT, mt_right, TAG, comm));
    mt_result("rank", MPI_Send(data, COUNT, MPI_FLOAT, mt_size, TAG, comm));
    mt_result("negative rank", MPI_Isend(data, COUNT, MPI_FLOAT, -17, TAG, comm, &request));
    mt_result("any source", MPI_Send(data, COUNT, MPI_FLOAT, MPI_ANY_SOURCE, TAG, comm));
    mt_result("tag", MPI_Ssend(data, COUNT, MPI_FLOAT, mt_right, -5, comm));
    mt_result("any tag", MPI_Isend(data, COUNT, MPI_FLOAT, mt_right, MPI_ANY_TAG, comm, &request));
    mt_result("type", MPI_Send(data, COUNT, MPI_DATATYPE_NULL, mt_right, TAG, comm));
    mt_result("communicator", MPI_Send(data, COUNT, MPI_FLOAT, mt_right, TAG, MPI_COMM_NULL));
    mt_result("receive rank", MPI_Recv(data, COUNT, MPI_FLOAT, mt_size, TAG, comm, &status));
    mt_result("receive count", MPI_Irecv(data, -1, MPI_FLOAT, 0, TAG, comm, &request));
    mt_result("receive type", MPI_Recv(data, 1, MPI_DATATYPE_NULL, 0, TAG, comm, &status));
    mt_result("probe rank", MPI_Probe(mt_size, TAG, comm, &status));
    mt_result("iprobe tag", MPI_Iprobe(0, -5, comm, &flag, &status));
    mt_result("mprobe rank", MPI_Mprobe(mt_size, TAG, comm, &none, &status));
    mt_result("sendrecv", MPI_Sendrecv(data, 1, MPI_FLOAT, mt_size, TAG, data + 1, 1, MPI_FLOAT, 0,
                                       TAG, comm, &status));
    mt_result("null", MPI_Send(NULL, COUNT, MPI_FLOAT, mt_right, TAG, comm));
    mt_result("null nonblocking", MPI_Isend(NULL, COUNT, MPI_FLOAT, mt_right, TAG, comm, &request));
#ifndef OPEN_MPI /* which does not look for it */
    mt_result("one buffer", MPI_Sendrecv(data, COUNT, MPI_FLOAT, mt_right, TAG, data, COUNT,
                                         MPI_FLOAT, mt_left, TAG, comm, &status));
#endif
    mt_result("persistent", MPI_Send_init(data, -1, MPI_FLOAT, 0, TAG, comm, &request));
    mt_result("start", MPI_Start(&request));
    mt_result("free", MPI_Request_free(&request));
    mt_result("cancel", MPI_Cancel(&request));
    MPI_Comm_free(&comm);
    mt_untouched("mistakes", data, 0, COUNT * sizeof(float));
    mt_free(data);
}

static void body(void)
{
    proc_null();
    proc_null_probes();
    self(MPI_COMM_WORLD, mt_rank);
    MPI_Barrier(MPI_COMM_WORLD); /* its receives from anybody are over before others send */
    self(MPI_COMM_SELF, 0);
    nothing();
    bottom();
    status_calls();
    MPI_Barrier(MPI_COMM_WORLD);
    mistakes();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "nobody", body);
}
