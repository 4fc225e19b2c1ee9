/*
 * A profiler that is slow to match: between what the library knows of a message and the call that
 * takes it, other threads have time to get in.
 */
#include <mpi.h>
#include <unistd.h>

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    usleep(500);
    return PMPI_Improbe(source, tag, comm, flag, message, status);
}
