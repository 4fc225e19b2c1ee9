/*
 * slownet_finalize.so: preloaded into the ranks that slownet starts under MPICH, so that they end.
 *
 * In MPI_Finalize, MPICH (4.0 to 4.1, ch4:ucx) flushes its connections one peer at a time and then
 * waits, deaf to its network, until all ranks have done so. Over UCX's TCP transport a flush
 * needs an answer from the peer. A rank that is ahead gets its answers from ranks that are still
 * busy in MPI, goes deaf, and never answers theirs: with three ranks and more, about every second
 * job hangs there. It cannot happen if no rank answers before all have sent their flush: so hold
 * every rank, outside MPI, until all have arrived in MPI_Finalize.
 *
 * All ranks share this machine: they count one another in a file of slownet's own file system.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

/* Adds one to the count that is the length of the file at path, waits until it is ranks. */
static void wait_for_all(const char *path, int ranks)
{
    struct stat file;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd < 0 || write(fd, "", 1) != 1)
        return;
    while (!fstat(fd, &file) && file.st_size < ranks)
        usleep(1000);
    close(fd);
    unlink(path);
}

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    void *mpi = dlopen(TAH_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    int (*finalize)(void) = dlsym(RTLD_NEXT, "MPI_Finalize");
    int (*comm_rank)(MPI_Comm, int *);
    int (*comm_size)(MPI_Comm, int *);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*barrier)(MPI_Comm);
    char path[] = SLOWNET_DIRECTORY "/finalize.XXXXXX";
    int rank, ranks, fd;

    if (!finalize && mpi) /* the MPI library is loaded where only its user sees it */
        finalize = dlsym(mpi, "MPI_Finalize");
    if (!mpi) /* another MPI's program */
        return finalize();
    comm_rank = dlsym(mpi, "PMPI_Comm_rank");
    comm_size = dlsym(mpi, "PMPI_Comm_size");
    bcast = dlsym(mpi, "PMPI_Bcast");
    barrier = dlsym(mpi, "PMPI_Barrier");
    comm_rank(MPI_COMM_WORLD, &rank);
    comm_size(MPI_COMM_WORLD, &ranks);
    if (!rank && (fd = mkstemp(path)) >= 0)
        close(fd);
    bcast(path, sizeof(path), MPI_BYTE, 0, MPI_COMM_WORLD);
    barrier(MPI_COMM_WORLD); /* all ranks are here, so all messages are where they belong */
    wait_for_all(path, ranks);
    return finalize();
}
