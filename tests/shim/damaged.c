/*
 * Messages that the network damages (damager.c): every way of receiving one gets an error by name,
 * no byte past the buffer is written, nothing encoded stays in it, and the next message is as good
 * as ever. Notes what was wrong, and how many damaged messages there were. Two ranks.
 *
 * With the argument "fatal": one damaged message to a communicator whose errors are fatal.
 */
#include "tests/lib/mt_p2p.h"

#include <stdio.h>
#include <string.h>

#include "tests/shim/damager.h"

/* Elements of a message, and how many bytes of its frame's beginning and end are damaged in turn.
   The key, the first 16, is what makes it a frame. */
enum { COUNT = 6000, KEY = 16, HEADER = 160, END = 32, GOOD = 7, BATCH = 3 };

static int damaged_count;

/* Whether all bytes are zeros or as mt_alloc left them: no part of the frame or of its tensor. */
static bool damaged_is_empty(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != 0 && data[i] != 0xA5)
            return false;
    return true;
}

static void damaged_judge(const char *label, int code, const void *data)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    damaged_count++;
    MPI_Error_string(code, text, &length);
    if (code == MPI_SUCCESS || strstr(text, "tahmpi: a compressed message") == NULL)
        mt_say("BAD %s: code %d: %s", label, code, text);
    if (!damaged_is_empty(data, COUNT * sizeof(float)))
        mt_say("BAD %s: there is something in the buffer", label);
}

static void send_one(int tag)
{
    float *data = mt_alloc_sealed(COUNT, MT_FLOAT, 1);
    MPI_Send(data, COUNT, MPI_FLOAT, 1, tag, MPI_COMM_WORLD);
    mt_free(data);
}

static void good_one(void)
{
    if (mt_rank == 0) {
        send_one(GOOD);
        return;
    }
    float *data = mt_alloc(COUNT * sizeof *data);
    MPI_Recv(data, COUNT, MPI_FLOAT, 0, GOOD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("good", data, COUNT, MT_FLOAT, 1);
    mt_free(data);
}

static void one(const mt_mode_t *receive, int tag)
{
    if (mt_rank == 0) {
        send_one(tag);
        return;
    }
    char label[64];
    float *data = mt_alloc(COUNT * sizeof *data);
    MPI_Status status;
    mt_message_t m = {.data = data,
                      .count = COUNT,
                      .type = MPI_FLOAT,
                      .peer = 0,
                      .tag = tag,
                      .comm = MPI_COMM_WORLD,
                      .status = &status};
    snprintf(label, sizeof label, "%s, tag %d", receive->name, tag);
    damaged_judge(label, receive->transfer(&m), data);
    mt_free(data);
}

/* The second of three is damaged: it alone has an error, in its status. */
static void batch(int tag)
{
    const int tags[BATCH] = {GOOD, tag, GOOD};
    if (mt_rank == 0) {
        for (int i = 0; i < BATCH; i++)
            send_one(tags[i]);
        return;
    }
    float *data[BATCH];
    MPI_Request requests[BATCH];
    MPI_Status statuses[BATCH];
    for (int i = 0; i < BATCH; i++) {
        data[i] = mt_alloc(COUNT * sizeof **data);
        MPI_Irecv(data[i], COUNT, MPI_FLOAT, 0, tags[i], MPI_COMM_WORLD, &requests[i]);
    }
    mt_result("waitall", MPI_Waitall(BATCH, requests, statuses));
    damaged_judge("waitall", statuses[1].MPI_ERROR, data[1]);
    /* A request that was not done when Waitall gave up is still to be waited for. */
    for (int i = 0; i < BATCH; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < BATCH; i++) {
        if (i != 1)
            mt_check("beside a damaged one", data[i], COUNT, MT_FLOAT, 1);
        mt_free(data[i]);
    }
}

static void body(void)
{
    const mt_mode_t *receive = mt_receive_mode("Recv");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int n = KEY; n < HEADER; n++)
        one(receive, DAMAGER_FLIP + n);
    for (int n = 0; n < END; n++)
        one(receive, DAMAGER_LAST + n);
    for (int n = 1; n < 5; n++) {
        one(receive, DAMAGER_SHORTER + n);
        one(receive, DAMAGER_LONGER + n);
    }
    good_one();
    for (int r = 0; r < mt_receive_count; r++) {
        one(&mt_receives[r], DAMAGER_FLIP + HEADER);
        one(&mt_receives[r], DAMAGER_SHORTER + 1);
        one(&mt_receives[r], DAMAGER_LONGER + 1);
        good_one();
    }
    batch(DAMAGER_LAST);
    batch(DAMAGER_SHORTER + 1);
    good_one();
    if (mt_rank == 1)
        mt_say("%s damaged messages", damaged_count > 200 ? "all" : "too few");
}

static void body_fatal(void)
{
    one(mt_receive_mode("Recv"), DAMAGER_FLIP + HEADER);
}

int main(int argc, char **argv)
{
    bool fatal = argc > 1 && strcmp(argv[1], "fatal") == 0;
    return mt_main(argc, argv, "damaged", fatal ? body_fatal : body);
}
