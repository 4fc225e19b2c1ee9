/*
 * What a call costs that no rule covers: 8-byte messages between two ranks, and polls. Prints one
 * line a measurement, "name nanoseconds", the least of several rounds. An ordinary MPI program;
 * calls.sh runs it plain and preloaded in turn and compares.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 9
#define REPEATS 20000
#define REQUESTS 64

static int rank;
static char small[8];

static void ping_pong(void)
{
    for (int i = 0; i < REPEATS; i++) {
        if (rank == 0) {
            MPI_Send(small, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(small, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(small, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(small, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static void message_rate(void)
{
    static char in[REQUESTS][8];
    MPI_Request requests[REQUESTS];
    for (int i = 0; i < REPEATS / REQUESTS; i++) {
        for (int j = 0; j < REQUESTS; j++) {
            if (rank == 0)
                MPI_Isend(small, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[j]);
            else
                MPI_Irecv(in[j], 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[j]);
        }
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(small, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(small, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void iprobe_miss(void)
{
    int flag;
    for (int i = 0; i < REPEATS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Receives that could hold a frame, none of which completes. */
static MPI_Request polled[REQUESTS];
static float polled_into[REQUESTS][2048];

static void testany(void)
{
    int index, flag;
    for (int i = 0; i < REPEATS / 8; i++)
        MPI_Testany(REQUESTS, polled, &index, &flag, MPI_STATUS_IGNORE);
}

static void measure(const char *name, void (*work)(void), int operations)
{
    double least = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        work();
        double each = (MPI_Wtime() - start) / operations * 1e9;
        least = round == 0 || each < least ? each : least;
    }
    if (rank == 0)
        printf("%s %.2f\n", name, least);
}

int main(int argc, char **argv)
{
    int provided, threads = argc > 1 && strcmp(argv[1], "multiple") == 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure("ping-pong", ping_pong, 2 * REPEATS);
    measure("message-rate", message_rate, REPEATS / REQUESTS * REQUESTS);
    measure("iprobe-miss", iprobe_miss, REPEATS);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(polled_into[i], 2048, MPI_FLOAT, MPI_ANY_SOURCE, 100 + i, MPI_COMM_WORLD,
                  &polled[i]);
    measure("testany-64", testany, REPEATS / 8);
    for (int i = 0; i < REQUESTS; i++) {
        MPI_Cancel(&polled[i]);
        MPI_Wait(&polled[i], MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
