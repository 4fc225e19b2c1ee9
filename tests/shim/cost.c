/*
 * Steps that each send a number of large messages at once, both ways between two ranks, for what
 * they cost: memory while all of them are in flight, and memory that stays from one step to the
 * next. Prints by how many bytes the heap has grown between the steps and the end.
 *
 * usage: cost BYTES MESSAGES STEPS SPACING    one value in SPACING is much larger than the others
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 100, SETTLED = 10 /* steps until buffers have found their size */ };

static int rank;

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void fill(float *data, int count, int spacing)
{
    unsigned state = 1;
    for (int i = 0; i < count; i++) {
        float sum = -4;
        for (int k = 0; k < 8; k++) {
            state = state * 1664525u + 1013904223u;
            sum += (float)(state >> 8) * 0x1p-24f;
        }
        data[i] = i % spacing == 5 ? 20 * sum : sum;
    }
}

/* The receives come after all sends have started: what does not fit in MPI's own buffers waits. */
static void step(const float *data, float *received, int count, int messages)
{
    MPI_Request requests[messages];
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(count, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < messages; i++)
        MPI_Isend(data, 1, type, 1 - rank, TAG, comm, &requests[i]);
    MPI_Barrier(comm);
    for (int i = 0; i < messages; i++)
        MPI_Recv(received, 1, type, 1 - rank, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    size_t before = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 5)
        MPI_Abort(MPI_COMM_WORLD, 99);
    int count = atoi(argv[1]) / (int)sizeof(float), messages = atoi(argv[2]), steps = atoi(argv[3]);
    float *data = malloc((size_t)count * sizeof *data);
    float *received = malloc((size_t)count * sizeof *received);
    if (data == NULL || received == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    fill(data, count, atoi(argv[4]));
    for (int i = 0; i < steps; i++) {
        if (i == SETTLED)
            before = heap_bytes();
        step(data, received, count, messages);
    }
    long grown = (long)heap_bytes() - (long)before, most;
    MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", most);
    free(data);
    free(received);
    MPI_Finalize();
    return 0;
}
