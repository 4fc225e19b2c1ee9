/*
 * What makes any MPI one that knows device memory: preloaded beneath the library, it gives MPI
 * addresses that can be reached for those that cannot.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

static void *reach(const void *pointer)
{
    static void *(*translate)(const void *);
    if (translate == NULL) {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (driver != NULL)
            *(void **)&translate = dlsym(driver, "standin_reach");
    }
    return translate != NULL ? translate(pointer) : (void *)pointer;
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send(reach(buf), count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Isend(reach(buf), count, datatype, dest, tag, comm, request);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    return PMPI_Recv(reach(buf), count, datatype, source, tag, comm, status);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Irecv(reach(buf), count, datatype, source, tag, comm, request);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    return PMPI_Sendrecv(reach(sendbuf), sendcount, sendtype, dest, sendtag, reach(recvbuf),
                         recvcount, recvtype, source, recvtag, comm, status);
}

#if MPI_VERSION >= 4
int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Isendrecv(reach(sendbuf), sendcount, sendtype, dest, sendtag, reach(recvbuf),
                          recvcount, recvtype, source, recvtag, comm, request);
}
#endif
