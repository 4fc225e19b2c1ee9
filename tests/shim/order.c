/*
 * Non-overtaking: one sender, one receiver, messages of few tags, large and small mixed; the
 * receiver takes them by a random sequence of receives, probes and matched probes, some receives
 * posted long before they are waited for. The standard fixes what each call gets; a list of what
 * was sent and not yet taken says what that is.
 */
#include "tests/lib/mt.h"

#include <stdio.h>

enum { MESSAGES = 48, TAGS = 3, ROOM = 24000, PENDING = 6, ROUNDS = 3 };

/* The same random numbers on every rank. */
static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

typedef struct plan {
    int tag[MESSAGES];
    mt_kind_t kind[MESSAGES];
    int count[MESSAGES];
    bool taken[MESSAGES];
    unsigned seed;
} plan_t;

static void plan_make(plan_t *plan, unsigned seed)
{
    unsigned state = seed * 77 + 1;
    plan->seed = seed * MESSAGES;
    for (int i = 0; i < MESSAGES; i++) {
        unsigned what = next_random(&state) % 5;
        plan->tag[i] = (int)(next_random(&state) % TAGS);
        plan->taken[i] = false;
        plan->kind[i] = what == 0 ? MT_NOISE : MT_FLOAT;
        plan->count[i] = what == 0   ? (int)mt_odd_count(1200, MT_NOISE)
                         : what == 1 ? (int)mt_odd_count(700, MT_FLOAT)
                         : what == 2 ? (int)(next_random(&state) % 40)
                                     : 1000 + (int)(next_random(&state) % 5000);
    }
}

/* The message that the next call for that tag gets; -1 if none is left. */
static int plan_take(plan_t *plan, int tag, bool take)
{
    for (int i = 0; i < MESSAGES; i++) {
        if (plan->taken[i] || (tag != MPI_ANY_TAG && tag != plan->tag[i]))
            continue;
        plan->taken[i] = take;
        return i;
    }
    return -1;
}

static void plan_check(const plan_t *plan, const char *label, const MPI_Status *status,
                       void *received, int message)
{
    char name[64];
    size_t bytes = (size_t)plan->count[message] * mt_kind_bytes(plan->kind[message]);
    snprintf(name, sizeof name, "%s %d", label, message);
    mt_status(name, status, MPI_FLOAT);
    mt_check(name, received, (size_t)plan->count[message], plan->kind[message],
             plan->seed + (unsigned)message);
    mt_untouched(name, received, bytes, ROOM);
}

/* Receives that were posted and not yet waited for. */
typedef struct pending {
    MPI_Request request;
    void *received;
    int message;
} pending_t;

static void pending_wait(const plan_t *plan, pending_t *slot)
{
    MPI_Status status;
    if (!slot->received)
        return;
    mt_status_clear(&status);
    MPI_Wait(&slot->request, &status);
    plan_check(plan, "posted", &status, slot->received, slot->message);
    mt_free(slot->received);
    slot->received = NULL;
}

static void take_by_receive(plan_t *plan, int source, int tag)
{
    void *received = mt_alloc(ROOM);
    MPI_Status status;
    mt_status_clear(&status);
    int message = plan_take(plan, tag, true);
    MPI_Recv(received, ROOM / 4, MPI_FLOAT, source, tag, MPI_COMM_WORLD, &status);
    plan_check(plan, "received", &status, received, message);
    mt_free(received);
}

static void take_by_mprobe(plan_t *plan, int source, int tag)
{
    void *received = mt_alloc(ROOM);
    MPI_Message handle;
    MPI_Status status;
    int message = plan_take(plan, tag, true);
    MPI_Mprobe(source, tag, MPI_COMM_WORLD, &handle, &status);
    mt_status_clear(&status);
    MPI_Mrecv(received, ROOM / 4, MPI_FLOAT, &handle, &status);
    plan_check(plan, "matched", &status, received, message);
    mt_free(received);
}

static void only_probe(plan_t *plan, int source, int tag)
{
    MPI_Status status;
    int flag = 0;
    mt_status_clear(&status);
    if (plan_take(plan, tag, false) < 0) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status);
        mt_say("nothing left of tag %d: flag %d", tag, flag);
        return;
    }
    while (!flag)
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status);
    mt_status("probed", &status, MPI_FLOAT);
}

/* The random sequence; at least one message is taken in each of at most 4 * MESSAGES steps. */
static void take_all(plan_t *plan, unsigned seed)
{
    pending_t pending[PENDING] = {{0}};
    unsigned state = seed;
    while (plan_take(plan, MPI_ANY_TAG, false) >= 0) {
        int tag = next_random(&state) % 2 ? MPI_ANY_TAG : (int)(next_random(&state) % TAGS);
        int source = next_random(&state) % 2 ? MPI_ANY_SOURCE : mt_left;
        unsigned act = next_random(&state) % 6;
        pending_t *slot = &pending[next_random(&state) % PENDING];
        if (act == 5 || plan_take(plan, tag, false) < 0) {
            only_probe(plan, source, tag);
        } else if (act < 2) {
            take_by_receive(plan, source, tag);
        } else if (act == 2) {
            take_by_mprobe(plan, source, tag);
        } else {
            pending_wait(plan, slot);
            slot->received = mt_alloc(ROOM);
            slot->message = plan_take(plan, tag, true);
            MPI_Irecv(slot->received, ROOM / 4, MPI_FLOAT, source, tag, MPI_COMM_WORLD,
                      &slot->request);
        }
    }
    for (int i = 0; i < PENDING; i++)
        pending_wait(plan, &pending[i]);
}

static void random_round(unsigned round)
{
    plan_t plan;
    MPI_Request requests[MESSAGES];
    void *sent[MESSAGES];
    plan_make(&plan, round);
    for (int i = 0; i < MESSAGES; i++) {
        sent[i] = mt_alloc_sealed((size_t)plan.count[i], plan.kind[i], plan.seed + (unsigned)i);
        MPI_Isend(sent[i], plan.count[i], mt_kind_type(plan.kind[i]), mt_right, plan.tag[i],
                  MPI_COMM_WORLD, &requests[i]);
    }
    take_all(&plan, round * 31 + 7);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        mt_free(sent[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Wildcard receives fill in the order they were posted, whether posted before or after. */
static void posting_order(bool before)
{
    enum { COUNT = 8 };
    MPI_Request sends[COUNT], receives[COUNT];
    float *sent[COUNT], *received[COUNT];
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < COUNT && (step == 0) == before; i++) {
            received[i] = mt_alloc(ROOM);
            MPI_Irecv(received[i], ROOM / 4, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &receives[i]);
        }
        for (int i = 0; i < COUNT && (step == 1) == before; i++) {
            size_t count = i % 2 ? 10 : 5000;
            sent[i] = mt_alloc_sealed(count, MT_FLOAT, (unsigned)i);
            MPI_Isend(sent[i], (int)count, MPI_FLOAT, mt_right, 5, MPI_COMM_WORLD, &sends[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        MPI_Status status;
        mt_status_clear(&status);
        MPI_Wait(&receives[i], &status);
        mt_status("posting order", &status, MPI_FLOAT);
        mt_check("posting order", received[i], i % 2 ? 10 : 5000, MT_FLOAT, (unsigned)i);
        mt_free(received[i]);
    }
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++)
        mt_free(sent[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void body(void)
{
    posting_order(true);
    posting_order(false);
    for (unsigned round = 0; round < ROUNDS; round++)
        random_round(round);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "order", body);
}
