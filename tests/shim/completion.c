/*
 * The wait and test families: batches of large and small messages completed in every way, beside
 * null and inactive requests; what the calls say when there is nothing to complete.
 */
#include "tests/lib/mt.h"

#include <stdio.h>
#include <string.h>

enum {
    MESSAGES = 9,
    EXTRA = 2,                       /* a null and an inactive persistent request */
    REQUESTS = 2 * MESSAGES + EXTRA, /* receives, extras, sends */
    SENDS = MESSAGES + EXTRA,        /* index of the first send */
};

typedef struct batch {
    void *received[MESSAGES], *sent[MESSAGES];
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    bool ignore; /* the finisher is to pass MPI_STATUS(ES)_IGNORE */
    int done[REQUESTS];
} batch_t;

static int count_of(int message)
{
    static const int counts[] = {3000, 3, 20476, 284, 1024, 1000, 1, 60000, 2000};
    return counts[message];
}

/* Notes how often each request was reported, and what each receive got. */
static void batch_note(const char *label, batch_t *b)
{
    char text[REQUESTS + 1] = "";
    for (int i = 0; i < REQUESTS; i++)
        text[i] = (char)('0' + b->done[i]);
    mt_say("%s: completions %s", label, text);
    for (int i = 0; i < REQUESTS; i++)
        if (b->requests[i] != MPI_REQUEST_NULL)
            mt_say("%s: request %d kept", label, i);
    for (int i = 0; i < MESSAGES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s message %d", label, i);
        if (!b->ignore)
            mt_status(name, &b->statuses[i], MPI_FLOAT);
        mt_check(name, b->received[i], (size_t)count_of(i), MT_FLOAT, (unsigned)i);
    }
}

static void batch_run(const char *label, void (*finish)(batch_t *), bool ignore)
{
    batch_t b = {.ignore = ignore};
    for (int i = 0; i < REQUESTS; i++)
        mt_status_clear(&b.statuses[i]);
    for (int i = 0; i < MESSAGES; i++) {
        b.received[i] = mt_alloc((size_t)count_of(i) * sizeof(float) + 100);
        MPI_Irecv(b.received[i], count_of(i) + 25, MPI_FLOAT, mt_left, i % 3, MPI_COMM_WORLD,
                  &b.requests[i]);
    }
    b.requests[MESSAGES] = MPI_REQUEST_NULL;
    MPI_Recv_init(b.received[0], 1, MPI_FLOAT, mt_left, 77, MPI_COMM_WORLD,
                  &b.requests[MESSAGES + 1]);
    MPI_Request inactive = b.requests[MESSAGES + 1];
    for (int i = 0; i < MESSAGES; i++) {
        b.sent[i] = mt_alloc_sealed((size_t)count_of(i), MT_FLOAT, (unsigned)i);
        MPI_Isend(b.sent[i], count_of(i), MPI_FLOAT, mt_right, i % 3, MPI_COMM_WORLD,
                  &b.requests[SENDS + i]);
    }
    finish(&b);
    mt_say("%s: inactive request %s", label,
           b.requests[MESSAGES + 1] == inactive ? "unchanged" : "changed");
    MPI_Request_free(&inactive);
    b.requests[MESSAGES + 1] = MPI_REQUEST_NULL;
    batch_note(label, &b);
    for (int i = 0; i < MESSAGES; i++) {
        mt_untouched(label, b.received[i], (size_t)count_of(i) * sizeof(float),
                     (size_t)count_of(i) * sizeof(float) + 100);
        mt_free(b.received[i]);
        mt_free(b.sent[i]);
    }
}

static MPI_Status *one_status(batch_t *b, int index)
{
    return b->ignore ? MPI_STATUS_IGNORE : &b->statuses[index];
}

static void finish_wait(batch_t *b)
{
    for (int i = 0; i < REQUESTS; i++) {
        int index = (i * 7 + 3) % REQUESTS; /* 7 does not divide REQUESTS: all, out of order */
        if (MPI_Wait(&b->requests[index], one_status(b, index)) == MPI_SUCCESS)
            b->done[index]++;
    }
}

static void finish_test(batch_t *b)
{
    int unfinished = REQUESTS;
    for (int i = 0; unfinished > 0; i = (i + 7) % REQUESTS) {
        int flag;
        if (b->done[i])
            continue;
        MPI_Test(&b->requests[i], &flag, one_status(b, i));
        b->done[i] = flag;
        unfinished -= flag;
    }
}

static void finish_waitall(batch_t *b)
{
    int code = MPI_Waitall(REQUESTS, b->requests, b->ignore ? MPI_STATUSES_IGNORE : b->statuses);
    mt_result("Waitall", code);
}

static void finish_testall(batch_t *b)
{
    int flag = 0;
    while (!flag)
        MPI_Testall(REQUESTS, b->requests, &flag, b->ignore ? MPI_STATUSES_IGNORE : b->statuses);
}

static void finish_waitany(batch_t *b)
{
    for (;;) {
        MPI_Status status;
        int index;
        mt_status_clear(&status);
        MPI_Waitany(REQUESTS, b->requests, &index, b->ignore ? MPI_STATUS_IGNORE : &status);
        if (index == MPI_UNDEFINED) {
            if (!b->ignore)
                mt_status("Waitany without any", &status, MPI_FLOAT);
            return;
        }
        b->done[index]++;
        b->statuses[index] = status;
    }
}

static void finish_testany(batch_t *b)
{
    for (;;) {
        MPI_Status status;
        int index, flag = 0;
        mt_status_clear(&status);
        MPI_Testany(REQUESTS, b->requests, &index, &flag, b->ignore ? MPI_STATUS_IGNORE : &status);
        if (!flag)
            continue;
        if (index == MPI_UNDEFINED) {
            if (!b->ignore)
                mt_status("Testany without any", &status, MPI_FLOAT);
            return;
        }
        b->done[index]++;
        b->statuses[index] = status;
    }
}

static void finish_some(batch_t *b, bool wait)
{
    for (;;) {
        MPI_Status statuses[REQUESTS];
        int indices[REQUESTS], count;
        for (int i = 0; i < REQUESTS; i++)
            mt_status_clear(&statuses[i]);
        MPI_Status *out = b->ignore ? MPI_STATUSES_IGNORE : statuses;
        if (wait)
            MPI_Waitsome(REQUESTS, b->requests, &count, indices, out);
        else
            MPI_Testsome(REQUESTS, b->requests, &count, indices, out);
        if (count == MPI_UNDEFINED)
            return;
        for (int i = 0; i < count; i++) {
            b->done[indices[i]]++;
            b->statuses[indices[i]] = statuses[i];
        }
    }
}

static void finish_waitsome(batch_t *b)
{
    finish_some(b, true);
}

static void finish_testsome(batch_t *b)
{
    finish_some(b, false);
}

/* All six calls over arrays in which nothing is active. */
static void nothing_active(const char *label, int count, MPI_Request *requests)
{
    MPI_Status status, statuses[4];
    int index = -5, flag = -5, indices[4];
    char name[64];
#define NAMED(CALL) (snprintf(name, sizeof name, "%s %s", label, CALL), name)
    for (int i = 0; i < 4; i++)
        mt_status_clear(&statuses[i]);
    mt_result(NAMED("Waitall"), MPI_Waitall(count, requests, statuses));
    for (int i = 0; i < count; i++)
        mt_status(name, &statuses[i], MPI_FLOAT);
    mt_result(NAMED("Testall"), MPI_Testall(count, requests, &flag, statuses));
    mt_say("%s flag %d", name, flag);
    mt_status_clear(&status);
    mt_result(NAMED("Waitany"), MPI_Waitany(count, requests, &index, &status));
    mt_say("%s undefined %d", name, index == MPI_UNDEFINED);
    mt_status(name, &status, MPI_FLOAT);
    mt_status_clear(&status);
    mt_result(NAMED("Testany"), MPI_Testany(count, requests, &index, &flag, &status));
    mt_say("%s undefined %d flag %d", name, index == MPI_UNDEFINED, flag);
    mt_status(name, &status, MPI_FLOAT);
    mt_result(NAMED("Waitsome"), MPI_Waitsome(count, requests, &index, indices, statuses));
    mt_say("%s undefined %d", name, index == MPI_UNDEFINED);
    mt_result(NAMED("Testsome"),
              MPI_Testsome(count, requests, &index, indices, MPI_STATUSES_IGNORE));
    mt_say("%s undefined %d", name, index == MPI_UNDEFINED);
    for (int i = 0; i < count; i++) {
        mt_status_clear(&status);
        mt_result(NAMED("Wait"), MPI_Wait(&requests[i], &status));
        mt_status(name, &status, MPI_FLOAT);
        mt_status_clear(&status);
        mt_result(NAMED("Test"), MPI_Test(&requests[i], &flag, &status));
        mt_status(name, &status, MPI_FLOAT);
        mt_say("%s flag %d", name, flag);
    }
}

static void nothing(void)
{
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL};
    static float buffer[4096];
    nothing_active("count 0", 0, requests);
    nothing_active("all null", 4, requests);
    MPI_Recv_init(buffer, 4096, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(buffer, 4096, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &requests[3]);
    nothing_active("inactive and null", 4, requests);
    MPI_Ssend_init(buffer, 4096, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend_init(buffer, 4096, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &requests[2]);
    nothing_active("all inactive", 4, requests);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
}

/* Tests of receives whose messages are sent only after the barrier: nothing may be reported. */
static void too_early(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int flag, index, count, indices[3];
    float *received = mt_alloc(8000), *sent = mt_alloc_sealed(2000, MT_FLOAT, 5);
    for (int i = 0; i < 3; i++)
        mt_status_clear(&statuses[i]);
    MPI_Irecv(received, 2000, MPI_FLOAT, mt_left, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Test(&requests[1], &flag, &statuses[0]);
    mt_say("early Test flag %d", flag);
    MPI_Testall(3, requests, &flag, statuses);
    mt_say("early Testall flag %d", flag);
    MPI_Testany(3, requests, &index, &flag, &statuses[0]);
    mt_say("early Testany flag %d undefined %d", flag, index == MPI_UNDEFINED);
    MPI_Testsome(3, requests, &count, indices, statuses);
    mt_say("early Testsome count %d", count);
    MPI_Request_get_status(requests[1], &flag, &statuses[0]);
    mt_say("early get_status flag %d", flag);
    mt_untouched("early", received, 0, 8000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(sent, 2000, MPI_FLOAT, mt_right, 1, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, statuses);
    mt_status("late", &statuses[1], MPI_FLOAT);
    mt_status("late, null", &statuses[0], MPI_FLOAT);
    mt_check("late", received, 2000, MT_FLOAT, 5);
    mt_free(received);
    mt_free(sent);
}

static void body(void)
{
    static const struct {
        const char *name;
        void (*finish)(batch_t *);
    } ways[] = {
        {"Wait", finish_wait},         {"Test", finish_test},         {"Waitall", finish_waitall},
        {"Testall", finish_testall},   {"Waitany", finish_waitany},   {"Testany", finish_testany},
        {"Waitsome", finish_waitsome}, {"Testsome", finish_testsome},
    };
    nothing();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char label[32];
        batch_run(ways[i].name, ways[i].finish, false);
        snprintf(label, sizeof label, "%s ignore", ways[i].name);
        batch_run(label, ways[i].finish, true);
    }
    too_early();
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "completion", body);
}
