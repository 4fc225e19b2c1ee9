/*
 * Messages longer than the receive: the error class, the handler that is called, not a byte past
 * the buffer, and all well afterwards. The buffers are shorter than the message but longer than
 * what a compressor would make of it, and shorter than that too.
 */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>

static MPI_Comm comm;
static const struct {
    int sent, room;
} sizes[] = {{1000, 600}, {20000, 12000}, {1000, 50}, {20000, 100}, {284, 283}, {1500, 0}};
enum { SIZES = sizeof sizes / sizeof *sizes, TAG = 8 };

/*
 * The standard leaves open how long a message that is too long is said to be. Open MPI says it, and
 * the library with it if the buffer has room for the frame.
 */
static void truncated_status(const char *label, const MPI_Status *status, int sent, int room)
{
#ifdef OPEN_MPI
    if (room > sent / 2) {
        mt_status(label, status, MPI_FLOAT);
        return;
    }
#endif
    mt_status_brief(label, status);
}

/* Each rank receives too little from the rank before, by one way of receiving. */
static void single(const mt_mode_t *receive, int sent, int room)
{
    char label[64];
    float *data = mt_alloc_sealed((size_t)sent, MT_FLOAT, 1);
    float *received = mt_alloc((size_t)room * sizeof(float));
    MPI_Request request;
    MPI_Status status;
    snprintf(label, sizeof label, "%s %d into %d", receive->name, sent, room);
    MPI_Isend(data, sent, MPI_FLOAT, mt_right, TAG, comm, &request);
    mt_status_clear(&status);
    mt_message_t m = {.data = received,
                      .count = room,
                      .type = MPI_FLOAT,
                      .peer = mt_left,
                      .tag = TAG,
                      .comm = comm,
                      .status = &status};
    mt_result(label, receive->transfer(&m));
    truncated_status(label, &status, sent, room);
    mt_result(label, MPI_Wait(&request, MPI_STATUS_IGNORE));
    mt_free(received);
    mt_free(data);
}

/* A look at a request that has received too much, before the call that completes it. */
static void looked_at(int sent, int room)
{
    char label[64];
    float *data = mt_alloc_sealed((size_t)sent, MT_FLOAT, 4);
    float *received = mt_alloc((size_t)room * sizeof(float));
    MPI_Request receive, send;
    MPI_Status status;
    int flag = 0, code = MPI_SUCCESS;
    snprintf(label, sizeof label, "Request_get_status %d into %d", sent, room);
    MPI_Irecv(received, room, MPI_FLOAT, mt_left, TAG, comm, &receive);
    MPI_Isend(data, sent, MPI_FLOAT, mt_right, TAG, comm, &send);
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
    mt_result(label, code);
    mt_status_clear(&status);
    mt_result(label, MPI_Wait(&receive, &status));
    truncated_status(label, &status, sent, room);
    mt_request(label, receive);
    mt_result(label, MPI_Wait(&send, MPI_STATUS_IGNORE));
    mt_free(received);
    mt_free(data);
}

/* After an error the next message is as good as ever. */
static void next_message(void)
{
    float *data = mt_alloc_sealed(3000, MT_FLOAT, 2), *received = mt_alloc(12000);
    MPI_Status status;
    mt_status_clear(&status);
    mt_result("next", MPI_Sendrecv(data, 3000, MPI_FLOAT, mt_right, TAG, received, 3000, MPI_FLOAT,
                                   mt_left, TAG, comm, &status));
    mt_status("next", &status, MPI_FLOAT);
    mt_check("next", received, 3000, MT_FLOAT, 2);
    mt_free(data);
    mt_free(received);
}

enum { GOOD_BEFORE, BAD, GOOD_AFTER, BATCH };

typedef enum finish { WAITALL, TESTALL, WAITSOME, TESTSOME, WAITANY, TESTANY, FINISHES } finish_t;

/* Waitall or Testall. A good request may or may not be done when the call gives up: wait for it. */
static void finish_array(const char *label, MPI_Request *requests, finish_t finish, int sent,
                         int room)
{
    MPI_Status statuses[BATCH];
    int flag = 0, code = MPI_SUCCESS;
    for (int i = 0; i < BATCH; i++)
        mt_status_clear(&statuses[i]);
    if (finish == WAITALL)
        code = MPI_Waitall(BATCH, requests, statuses);
    while (finish == TESTALL && !flag && code == MPI_SUCCESS)
        code = MPI_Testall(BATCH, requests, &flag, statuses);
    mt_result(label, code);
    for (int i = 0; i < BATCH; i++) {
        if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
            MPI_Wait(&requests[i], &statuses[i]);
            statuses[i].MPI_ERROR = MPI_SUCCESS;
        }
        if (i == BAD)
            truncated_status(label, &statuses[i], sent, room);
        else
            mt_status(label, &statuses[i], MPI_FLOAT);
    }
}

/* One call of Waitsome, Testsome, Waitany or Testany; returns how many indices it gave. */
static int some_call(finish_t finish, MPI_Request *requests, int *indices, MPI_Status *statuses,
                     int *code)
{
    int count = 1, flag = 1;
    if (finish == WAITSOME)
        *code = MPI_Waitsome(BATCH, requests, &count, indices, statuses);
    else if (finish == TESTSOME)
        *code = MPI_Testsome(BATCH, requests, &count, indices, statuses);
    else if (finish == WAITANY)
        *code = MPI_Waitany(BATCH, requests, indices, statuses);
    else
        *code = MPI_Testany(BATCH, requests, indices, &flag, statuses);
    return flag ? count : 0;
}

/* Calls until all requests are done: what was said of each. */
static void finish_some(const char *label, MPI_Request *requests, finish_t finish)
{
    char notes[BATCH][160] = {"", "", ""};
    for (int left_over = BATCH; left_over > 0;) {
        MPI_Status statuses[BATCH];
        int indices[BATCH], code, class;
        for (int i = 0; i < BATCH; i++)
            mt_status_clear(&statuses[i]);
        int count = some_call(finish, requests, indices, statuses, &code);
        MPI_Error_class(code, &class);
        for (int i = 0; i < count; i++, left_over--) {
            /* A call that got to the bad request and to good ones is one with an error for all. */
            int bad = indices[i] == BAD;
            snprintf(notes[indices[i]], sizeof *notes, "source %d tag %d%s%s%s%s",
                     statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, bad ? " " : "",
                     bad ? mt_class(code) : "", bad && class == MPI_ERR_IN_STATUS ? " " : "",
                     bad && class == MPI_ERR_IN_STATUS ? mt_class(statuses[i].MPI_ERROR) : "");
        }
    }
    for (int i = 0; i < BATCH; i++) {
        mt_say("%s %d: %s", label, i, notes[i]);
        mt_request(label, requests[i]);
    }
    mt_result(label, MPI_SUCCESS);
}

static void batch(finish_t finish, int sent, int room)
{
    static const char *const names[] = {"Waitall",  "Testall", "Waitsome",
                                        "Testsome", "Waitany", "Testany"};
    char label[64];
    float *data = mt_alloc_sealed((size_t)sent, MT_FLOAT, 3), *received[BATCH];
    MPI_Request requests[BATCH], sends[BATCH];
    snprintf(label, sizeof label, "%s %d into %d", names[finish], sent, room);
    for (int i = 0; i < BATCH; i++) {
        int count = i == BAD ? room : sent;
        received[i] = mt_alloc((size_t)count * sizeof(float));
        MPI_Irecv(received[i], count, MPI_FLOAT, mt_left, TAG + i, comm, &requests[i]);
        MPI_Isend(data, sent, MPI_FLOAT, mt_right, TAG + i, comm, &sends[i]);
    }
    if (finish == WAITALL || finish == TESTALL)
        finish_array(label, requests, finish, sent, room);
    else
        finish_some(label, requests, finish);
    mt_check("good before", received[GOOD_BEFORE], (size_t)sent, MT_FLOAT, 3);
    mt_check("good after", received[GOOD_AFTER], (size_t)sent, MT_FLOAT, 3);
    MPI_Waitall(BATCH, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < BATCH; i++)
        mt_free(received[i]);
    mt_free(data);
}

static void body(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    mt_handler(MPI_COMM_WORLD, "the world's handler");
    mt_handler(MPI_COMM_SELF, "self's handler");
    mt_handler(comm, "the communicator's handler");
    for (int r = 0; r < mt_receive_count; r++) {
        for (int i = 0; i < SIZES; i++)
            single(&mt_receives[r], sizes[i].sent, sizes[i].room);
        next_message();
    }
    for (int i = 0; i < SIZES; i++)
        looked_at(sizes[i].sent, sizes[i].room);
    next_message();
    for (finish_t finish = 0; finish < FINISHES; finish++) {
        batch(finish, 1000, 600);
        batch(finish, 20000, 12000);
        batch(finish, 3000, 20);
        next_message();
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "truncate", body);
}
