/*
 * A fixed number of calls of each kind that profiler.c counts, on data that shrinks, received into
 * buffers that are checked.
 */
#include "tests/lib/mt.h"

#define COUNT 6000

static void profiled_blocking(const void *out, void *in)
{
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < 3; i++) {
        mt_wipe(in);
        mt_status_clear(&status);
        MPI_Isend(out, COUNT, MPI_FLOAT, mt_right, i, MPI_COMM_WORLD, &request);
        if (i == 2)
            MPI_Probe(mt_left, i, MPI_COMM_WORLD, &status);
        MPI_Recv(in, COUNT, MPI_FLOAT, mt_left, i, MPI_COMM_WORLD, &status);
        mt_status("recv", &status, MPI_FLOAT);
        mt_check("recv", in, COUNT, MT_FLOAT, (unsigned)mt_left);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mt_wipe(in);
    MPI_Sendrecv(out, COUNT, MPI_FLOAT, mt_right, 5, in, COUNT, MPI_FLOAT, mt_left, 5,
                 MPI_COMM_WORLD, &status);
    mt_check("sendrecv", in, COUNT, MT_FLOAT, (unsigned)mt_left);
}

static void profiled_nonblocking(const void *out, void *in)
{
    MPI_Request requests[2];
    mt_wipe(in);
    MPI_Irecv(in, COUNT, MPI_FLOAT, mt_left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, COUNT, MPI_FLOAT, mt_right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    mt_check("waitall", in, COUNT, MT_FLOAT, (unsigned)mt_left);
    mt_wipe(in);
    MPI_Irecv(in, COUNT, MPI_FLOAT, mt_left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(out, COUNT, MPI_FLOAT, mt_right, 2, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    mt_check("wait", in, COUNT, MT_FLOAT, (unsigned)mt_left);
}

/* What a program does that steps round profilers: here the library must still be in the way. */
static void profiled_by_pmpi(const void *out, void *in)
{
    MPI_Request request;
    mt_wipe(in);
    PMPI_Irecv(in, COUNT, MPI_FLOAT, mt_left, 3, MPI_COMM_WORLD, &request);
    MPI_Send(out, COUNT, MPI_FLOAT, mt_right, 3, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_check("pmpi", in, COUNT, MT_FLOAT, (unsigned)mt_left);
}

static void profiled_run(void)
{
    void *out = mt_alloc_sealed(COUNT, MT_FLOAT, (unsigned)mt_rank);
    void *in = mt_alloc(COUNT * sizeof(float));
    profiled_blocking(out, in);
    profiled_nonblocking(out, in);
    profiled_by_pmpi(out, in);
    mt_free(in);
    mt_free(out);
}

int main(int argc, char **argv)
{
    return mt_main(argc, argv, "profiled", profiled_run);
}
