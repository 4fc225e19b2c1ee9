/*
 * A profiler as they are usually written: takes MPI calls by name, counts them, passes them on to
 * PMPI. Writes its counts to $PROFILER_OUT/RANK, where the variable is set.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int inits, sends, receives, isends, ireceives, waits, waitalls, probes, sendrecvs;

int MPI_Init(int *argc, char ***argv)
{
    inits++;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    receives++;
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    isends++;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    ireceives++;
    return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    waitalls++;
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    probes++;
    return PMPI_Probe(source, tag, comm, status);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    sendrecvs++;
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                         source, recvtag, comm, status);
}

static void write_counts(void)
{
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", getenv("PROFILER_OUT"), rank);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return;
    fprintf(out, "%d %d %d %d %d %d %d %d %d\n", inits, sends, receives, isends, ireceives, waits,
            waitalls, probes, sendrecvs);
    fclose(out);
}

int MPI_Finalize(void)
{
    if (getenv("PROFILER_OUT") != NULL)
        write_counts();
    return PMPI_Finalize();
}
