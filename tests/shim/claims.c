/*
 * A handle that MPI gives to another thread while the thread whose request it was is still in the
 * call that completed that request. Where holder.c is preloaded, the second thread does all it does
 * meanwhile; elsewhere it does so as soon as that call has returned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "tests/lib/mt.h"
#include "tests/shim/holder.h"

enum { OWN = 5000, SEND = 400000, OTHER = 6000, MANY = 400, EACH = 300 };
enum { TAG_OWN = 1, TAG_OTHER, TAG_LAST, TAG_MANY };

static holder_ask_t *ask;
static sem_t go, done;
static void (*scene)(void); /* what the second thread is to do; NULL: end */
static MPI_Request first;   /* the handle that the first thread waits for */

/* What the second threads send round the ring of ranks. */
static void say(const void *data, int count, MPI_Datatype type, int tag)
{
    MPI_Send(data, count, type, mt_right, tag, MPI_COMM_WORLD);
}

static MPI_Request listen(void *data, int count, MPI_Datatype type, int tag)
{
    MPI_Request request;
    MPI_Irecv(data, count, type, mt_left, tag, MPI_COMM_WORLD, &request);
    if (tag == TAG_OTHER)
        mt_say("the same handle %d", request == first);
    return request;
}

/* A message that can be no frame: the library need not know of its request. */
static void small_received(void)
{
    int out = 17, in = 0;
    MPI_Request request = listen(&in, 1, MPI_INT, TAG_OTHER);
    say(&out, 1, MPI_INT, TAG_OTHER);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_say("small %d", in);
}

static void small_freed(void)
{
    int out = 18, in = 0;
    MPI_Request request = listen(&in, 1, MPI_INT, TAG_OTHER);
    MPI_Request last = listen(NULL, 0, MPI_INT, TAG_LAST);
    MPI_Request_free(&request);
    say(&out, 1, MPI_INT, TAG_OTHER);
    say(NULL, 0, MPI_INT, TAG_LAST);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    mt_say("freed %d", in);
}

static void small_looked_at(void)
{
    int out = 19, in = 0, flag = 0;
    MPI_Status status;
    MPI_Request request = listen(&in, 1, MPI_INT, TAG_OTHER);
    mt_status_clear(&status);
    say(&out, 1, MPI_INT, TAG_OTHER);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    mt_say("looked at %d", in);
    mt_status_brief("looked at", &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void small_started(void)
{
    int out = 20, in = 0;
    MPI_Request request;
    MPI_Recv_init(&in, 1, MPI_INT, mt_left, TAG_OTHER, MPI_COMM_WORLD, &request);
    mt_say("the same handle %d", request == first);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        say(&out, 1, MPI_INT, TAG_OTHER);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mt_say("started %d, a handle that stays %d", in, request != MPI_REQUEST_NULL);
    MPI_Request_free(&request);
}

/*
 * Both threads' requests are ones that the library must know, at the same time by the same handle.
 */
static void large_received(void)
{
    float *out = mt_alloc_sealed(OTHER, MT_FLOAT, 3), *in = mt_alloc(OTHER * sizeof *in);
    MPI_Status status;
    MPI_Request request = listen(in, OTHER, MPI_FLOAT, TAG_OTHER);
    mt_status_clear(&status);
    say(out, OTHER, MPI_FLOAT, TAG_OTHER);
    MPI_Wait(&request, &status);
    mt_status("large", &status, MPI_FLOAT);
    mt_check("large", in, OTHER, MT_FLOAT, 3);
    mt_free(out);
    mt_free(in);
}

/*
 * And then so many others that the table of the library grows, once, which turns round its order.
 */
static void many_received(void)
{
    float *out = mt_alloc_sealed(OTHER, MT_FLOAT, 4), *in = mt_alloc(OTHER * sizeof *in);
    float(*each)[EACH] = mt_alloc(MANY * sizeof *each);
    MPI_Request request, requests[MANY];
    request = listen(in, OTHER, MPI_FLOAT, TAG_OTHER);
    for (int i = 0; i < MANY; i++)
        requests[i] = listen(each[i], EACH, MPI_FLOAT, TAG_MANY + i);
    say(out, OTHER, MPI_FLOAT, TAG_OTHER);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_check("many", in, OTHER, MT_FLOAT, 4);
    for (int i = 0; i < MANY; i++)
        say(out, EACH, MPI_FLOAT, TAG_MANY + i);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    mt_check("last of many", each[MANY - 1], EACH, MT_FLOAT, 4);
    mt_free(out);
    mt_free(in);
    mt_free(each);
}

static void *second(void *argument)
{
    while (sem_wait(&go) == 0 && scene != NULL) {
        scene();
        sem_post(&done);
    }
    return argument;
}

/* The first thread, between having completed its request and going on. */
static void hand_over(void)
{
    sem_post(&go);
    sem_wait(&done);
}

static void wait_long(MPI_Request *request, MPI_Status *status)
{
    first = *request;
    if (ask != NULL)
        ask(hand_over);
    MPI_Wait(request, status);
    if (ask == NULL)
        hand_over();
}

static void received(void)
{
    float *out = mt_alloc_sealed(OWN, MT_FLOAT, 1), *in = mt_alloc((OWN + 9) * sizeof *in);
    MPI_Status status;
    MPI_Request request;
    mt_status_clear(&status);
    MPI_Irecv(in, OWN + 9, MPI_FLOAT, mt_left, TAG_OWN, MPI_COMM_WORLD, &request);
    MPI_Send(out, OWN, MPI_FLOAT, mt_right, TAG_OWN, MPI_COMM_WORLD);
    wait_long(&request, &status);
    mt_status("own", &status, MPI_FLOAT);
    mt_check("own", in, OWN, MT_FLOAT, 1);
    mt_untouched("own", in, OWN * sizeof *in, (OWN + 9) * sizeof *in);
    mt_free(out);
    mt_free(in);
}

static void sent(void)
{
    float *out = mt_alloc_sealed(SEND, MT_FLOAT, 2), *in = mt_alloc(SEND * sizeof *in);
    MPI_Request request;
    MPI_Isend(out, SEND, MPI_FLOAT, mt_right, TAG_OWN, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, SEND, MPI_FLOAT, mt_left, TAG_OWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_long(&request, MPI_STATUS_IGNORE);
    mt_check("other's", in, SEND, MT_FLOAT, 2);
    mt_free(out);
    mt_free(in);
}

int main(int argc, char **argv)
{
    static void (*const scenes[])(void) = {small_received, small_freed,    small_looked_at,
                                           small_started,  large_received, many_received};
    int level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mt_begin("claims");
    mt_say("level %s", level == MPI_THREAD_MULTIPLE ? "multiple" : "lower");
    *(void **)&ask = dlsym(RTLD_DEFAULT, "holder_ask");
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, second, NULL);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        scene = scenes[i];
        received();
        sent();
    }
    scene = NULL;
    sem_post(&go);
    pthread_join(thread, NULL);
    mt_end();
    MPI_Finalize();
    return 0;
}
