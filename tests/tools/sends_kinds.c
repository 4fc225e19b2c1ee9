/*
 * Rank 0 and rank 1 send one another messages of many kinds, to be told apart by reports:
 *
 *   up:   8 of 4096 floats, tag 100; 1 synchronous, tag 101; 3 of 4096 ints, tag 100; 2 of 16 KiB
 *         of bytes, tag 7; 1 float, tag 100; with an argument N, one of 4096 floats on each of the
 *         tags 1000 to 1000 + N - 1
 *   down: 8 of 4096 floats, tag 200
 *
 * Floats are i * 37 % 101 plus the number of the message.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

enum { COUNT = 4096 };

static float floats[COUNT];
static int ints[COUNT];
static int rank;

static void send_floats(int from, int tag, int count, int number, bool synchronous)
{
    for (int i = 0; i < COUNT; i++)
        floats[i] = (float)(i * 37 % 101 + number);
    if (rank == from && synchronous)
        MPI_Ssend(floats, count, MPI_FLOAT, 1 - from, tag, MPI_COMM_WORLD);
    else if (rank == from)
        MPI_Send(floats, count, MPI_FLOAT, 1 - from, tag, MPI_COMM_WORLD);
    else if (rank == 1 - from)
        MPI_Recv(floats, count, MPI_FLOAT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_up(int tag, MPI_Datatype type, int count)
{
    if (rank == 0)
        MPI_Send(ints, count, type, 1, tag, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(ints, count, type, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; i++) {
        send_floats(0, 100, COUNT, i, false);
        send_floats(1, 200, COUNT, i, false);
    }
    send_floats(0, 101, COUNT, 0, true);
    for (int i = 0; i < 3; i++)
        send_up(100, MPI_INT, COUNT);
    for (int i = 0; i < 2; i++)
        send_up(7, MPI_BYTE, COUNT * (int)sizeof(int));
    send_floats(0, 100, 1, 0, false);
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
        send_floats(0, 1000 + i, COUNT, i, false);
    return MPI_Finalize();
}
