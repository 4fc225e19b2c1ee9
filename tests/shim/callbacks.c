/*
 * What MPI does inside a call besides what the call is for: it runs callbacks of the program, which
 * post and receive messages there, and goes on counting references to datatypes.
 */
#include "tests/lib/mt.h"

#include <stddef.h>

enum { COUNT = 8192, SHORT = 40, TAG = 1, WAYS = 3 };
#define BYTES (COUNT * sizeof(float))

static float *second;
static MPI_Request second_request = MPI_REQUEST_NULL;
static int called;

/* A receive in a callback: it may be given the handle of a request that is just being freed. */
static void post_second(void)
{
    if (second_request == MPI_REQUEST_NULL)
        MPI_Irecv(second, COUNT, MPI_FLOAT, mt_left, TAG + 1, MPI_COMM_WORLD, &second_request);
    called = 1;
}

static void send_to_right(int tag, unsigned seed, MPI_Comm comm, MPI_Request *request, float **data)
{
    *data = mt_alloc_sealed(COUNT, MT_FLOAT, seed);
    MPI_Isend(*data, COUNT, MPI_FLOAT, mt_right, tag, comm, request);
}

static void send_done(MPI_Request *request, float *data)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    mt_free(data);
}

static void second_done(const char *label)
{
    MPI_Request send;
    MPI_Status status;
    float *data;
    mt_say("%s: called %d", label, called);
    send_to_right(TAG + 1, 2, MPI_COMM_WORLD, &send, &data);
    mt_status_clear(&status);
    MPI_Wait(&second_request, &status);
    mt_status(label, &status, MPI_FLOAT);
    mt_check(label, second, COUNT, MT_FLOAT, 2);
    mt_wipe(second);
    called = 0;
    send_done(&send, data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- error handlers ------------------------------------------------------------------------------
 */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    post_second();
}

static void in_error_handler(void)
{
    MPI_Errhandler handler;
    MPI_Request request, send;
    float little[SHORT], *data;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Irecv(little, SHORT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_right(TAG, 1, MPI_COMM_WORLD, &send, &data);
    mt_say("error handler: %s", mt_class(MPI_Wait(&request, MPI_STATUS_IGNORE)));
    mt_request("error handler", request);
    second_done("error handler");
    send_done(&send, data);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* --- generalised requests ------------------------------------------------------------------------
 */

static int on_query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 42);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 77;
    return MPI_SUCCESS;
}

static int on_free(void *extra)
{
    post_second();
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
    return MPI_SUCCESS;
}

static void in_generalised_request(int way)
{
    float *received = mt_alloc(BYTES), *data;
    MPI_Request requests[2], send;
    MPI_Status statuses[2], some[2];
    int indices[2], count = 0, flag = 0;
    MPI_Irecv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &requests[1]);
    send_to_right(TAG, 3, MPI_COMM_WORLD, &send, &data);
    MPI_Grequest_complete(requests[1]);
    for (int i = 0; i < 2; i++) {
        mt_status_clear(&statuses[i]);
        mt_status_clear(&some[i]);
    }
    if (way == 0)
        MPI_Waitall(2, requests, statuses);
    while (way == 1 && !flag)
        MPI_Testall(2, requests, &flag, statuses);
    for (int done = 0; way == 2 && done < 2; done += count) {
        MPI_Waitsome(2, requests, &count, indices, some);
        for (int i = 0; i < count; i++)
            statuses[indices[i]] = some[i];
    }
    mt_status("beside a generalised request", &statuses[0], MPI_FLOAT);
    mt_status("generalised request", &statuses[1], MPI_INT);
    mt_check("beside a generalised request", received, COUNT, MT_FLOAT, 3);
    second_done("generalised request");
    send_done(&send, data);
    mt_free(received);
}

/* --- attributes ----------------------------------------------------------------------------------
 */

static void receive_on(const char *label, MPI_Comm comm)
{
    MPI_Status status;
    mt_status_clear(&status);
    MPI_Recv(second, COUNT, MPI_FLOAT, mt_left, TAG, comm, &status);
    mt_status(label, &status, MPI_FLOAT);
    mt_check(label, second, COUNT, MT_FLOAT, 4);
    mt_wipe(second);
}

/* Refuses the first time if it is told to; else receives what was probed. */
static int on_delete(MPI_Comm comm, int key, void *value, void *refuse)
{
    int *refused = refuse;
    if (*refused)
        return *refused = 0, MPI_ERR_OTHER;
    if (value != NULL)
        receive_on("in MPI_Comm_free", comm);
    return MPI_SUCCESS;
}

static void in_comm_free(int refuse)
{
    MPI_Comm comm;
    MPI_Request send;
    float *data;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, &refuse);
    MPI_Comm_set_attr(comm, key, refuse ? NULL : &key);
    send_to_right(TAG, 4, comm, &send, &data);
    MPI_Probe(mt_left, TAG, comm, MPI_STATUS_IGNORE);
    if (refuse) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        mt_say("refused: %d", MPI_Comm_free(&comm) != MPI_SUCCESS);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        receive_on("after a refusal", comm);
    }
    MPI_Comm_free(&comm);
    send_done(&send, data);
    MPI_Comm_free_keyval(&key);
}

/* --- handles that nobody told the library of -----------------------------------------------------
 */

/* A length that a frame may have, so that a probe takes the message. */
static void persistent_on_self(void)
{
    const int count = (int)mt_odd_count(1500, MT_FLOAT);
    float *data = mt_alloc_sealed((size_t)count, MT_FLOAT, 5);
    MPI_Request receive, send;
    MPI_Status status;
    int flag = 0;
    MPI_Recv_init(second, COUNT, MPI_FLOAT, 0, TAG, MPI_COMM_SELF, &receive);
    MPI_Isend(data, count, MPI_FLOAT, 0, TAG, MPI_COMM_SELF, &send);
    MPI_Probe(0, TAG, MPI_COMM_SELF, &status);
    MPI_Start(&receive);
    mt_status_clear(&status);
    while (!flag)
        MPI_Test(&receive, &flag, &status);
    mt_status("persistent on MPI_COMM_SELF", &status, MPI_FLOAT);
    mt_check("persistent on MPI_COMM_SELF", second, (size_t)count, MT_FLOAT, 5);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&receive);
    mt_wipe(second);
    mt_free(data);
}

/* Of a type and of the part that MPI says it is made of, one is freed before the receive, one in
 * it. */
static void parts_of_types(int part_is_used)
{
    MPI_Datatype half, whole, part;
    MPI_Request receive, send;
    MPI_Status status;
    float *data;
    int integer;
    MPI_Aint address;
    MPI_Type_contiguous(COUNT / 2, MPI_FLOAT, &half);
    MPI_Type_commit(&half);
    MPI_Type_contiguous(2, half, &whole);
    MPI_Type_get_contents(whole, 1, 0, 1, &integer, &address, &part);
    MPI_Type_commit(&part);
    MPI_Datatype *used = part_is_used ? &part : &half, *other = part_is_used ? &half : &part;
    MPI_Type_free(other);
    MPI_Irecv(second, 2, *used, mt_left, TAG, MPI_COMM_WORLD, &receive);
    MPI_Type_free(used);
    MPI_Type_free(&whole);
    send_to_right(TAG, 6, MPI_COMM_WORLD, &send, &data);
    mt_status_clear(&status);
    MPI_Wait(&receive, &status);
    mt_status("part of a type", &status, MPI_FLOAT);
    mt_check("part of a type", second, COUNT, MT_FLOAT, 6);
    mt_wipe(second);
    send_done(&send, data);
}

static void body(void)
{
    second = mt_alloc(BYTES);
    in_error_handler();
    for (int way = 0; way < WAYS; way++)
        in_generalised_request(way);
    in_comm_free(0);
    in_comm_free(1);
    persistent_on_self();
    parts_of_types(0);
    parts_of_types(1);
    mt_free(second);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "callbacks", body);
}
