/*
 * Children as data loaders make them: forked before the first message, between messages and while
 * one is under way. They fill a buffer, hand it over by a pipe, and end with exit, so that what was
 * registered for the end of the process runs in them too; the parent communicates as before.
 */
#include "tests/lib/mt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOADED = 4096,
    SMALL = 5000,
    LARGE = 1 << 20, /* floats: several codec threads, where there are cores for them */
    TAG = 3
};

typedef struct child {
    pid_t process;
    int out;
} child_t;

/* exit, not _exit: Python's multiprocessing is rare in stepping round what runs at the end. */
static void child_run(int to, unsigned seed)
{
    unsigned char loaded[LOADED];
    mt_fill(loaded, LOADED, MT_BYTES, seed);
    exit(write(to, loaded, LOADED) == LOADED ? 7 : 1);
}

static child_t child_start(unsigned seed)
{
    int ends[2];
    if (pipe(ends) != 0)
        MPI_Abort(MPI_COMM_WORLD, 99);
    child_t child = {.process = fork(), .out = ends[0]};
    if (child.process == 0) {
        close(ends[0]);
        child_run(ends[1], seed);
    }
    close(ends[1]);
    return child;
}

static void child_join(const char *label, child_t child, unsigned seed)
{
    unsigned char loaded[LOADED];
    size_t have = 0;
    ssize_t got = 0;
    int status = -1;
    while (have < LOADED && (got = read(child.out, loaded + have, LOADED - have)) > 0)
        have += (size_t)got;
    close(child.out);
    waitpid(child.process, &status, 0);
    mt_say("%s: child ended by itself %d with %d", label, WIFEXITED(status),
           WEXITSTATUS(status));
    if (have == LOADED)
        mt_check(label, loaded, LOADED, MT_BYTES, seed);
}

/* Floats round the ring; a child is alive meanwhile if it is to be. */
static void exchange(const char *label, int count, bool with_child)
{
    float *sent = mt_alloc_sealed((size_t)count, MT_FLOAT, (unsigned)mt_rank);
    float *received = mt_alloc((size_t)count * sizeof(float));
    MPI_Request requests[2];
    child_t child = {0};
    MPI_Irecv(received, count, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, count, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &requests[1]);
    if (with_child)
        child = child_start(4);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    mt_check(label, received, (size_t)count, MT_FLOAT, (unsigned)mt_left);
    if (with_child)
        child_join(label, child, 4);
    mt_free(sent);
    mt_free(received);
}

static void body(void)
{
    child_join("before any message", child_start(1), 1);
    exchange("small", SMALL, false);
    child_t beside = child_start(2);
    exchange("beside a child", SMALL, false);
    child_join("after a message", beside, 2);
    exchange("large", LARGE, false);
    child_join("after a large message", child_start(3), 3);
    exchange("small, a child forked under way", SMALL, true);
    exchange("large, a child forked under way", LARGE, true);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "forks", body);
}
