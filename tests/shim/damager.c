/*
 * A network that damages messages. Preloaded after the library, so that it gets what the library
 * sends. A message sent by MPI_Send whose length can be a frame's is damaged as its tag says:
 *
 *   DAMAGER_FLIP + n     a bit of byte n is flipped
 *   DAMAGER_LAST + n     the same, n counted from the end
 *   DAMAGER_SHORTER + n  n x 128 bytes are cut off
 *   DAMAGER_LONGER + n   n x 128 bytes of zeros are appended
 *
 * $DAMAGER_HELLO=n: of what a process says of itself at start, the first MPI_Allgather of bytes,
 * byte n is different.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shim/damager.h"

enum { STEP = 128, REST = 112 }; /* the length of a frame modulo 128 */

/* Damages bytes of data, which has room for more; returns the new length. */
static size_t damage(unsigned char *data, size_t bytes, int tag)
{
    size_t n = (size_t)(tag % DAMAGER_SPAN);
    switch (tag / DAMAGER_SPAN * DAMAGER_SPAN) {
    case DAMAGER_FLIP:
        data[n] ^= 0x10;
        return bytes;
    case DAMAGER_LAST:
        data[bytes - 1 - n] ^= 0x10;
        return bytes;
    case DAMAGER_SHORTER:
        return bytes - n * STEP;
    case DAMAGER_LONGER:
        memset(data + bytes, 0, n * STEP);
        return bytes + n * STEP;
    default:
        return bytes;
    }
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    int size = 0;
    PMPI_Type_size(datatype, &size);
    size_t bytes = (size_t)count * (size_t)size;
    if (tag < DAMAGER_FLIP || tag >= DAMAGER_END || bytes % STEP != REST)
        return PMPI_Send(buf, count, datatype, dest, tag, comm);
    unsigned char *copy = malloc(bytes + DAMAGER_SPAN * STEP);
    if (copy == NULL)
        return MPI_ERR_NO_MEM;
    memcpy(copy, buf, bytes);
    size_t length = damage(copy, bytes, tag);
    int code = PMPI_Send(copy, (int)(length / (size_t)size), datatype, dest, tag, comm);
    free(copy);
    return code;
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    static int calls;
    int (*beneath)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    *(void **)&beneath = dlsym(RTLD_NEXT, "PMPI_Allgather");
    const char *at = getenv("DAMAGER_HELLO");
    if (at == NULL || sendtype != MPI_BYTE || calls++ > 0)
        return beneath(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    unsigned char *copy = malloc((size_t)sendcount);
    if (copy == NULL)
        return MPI_ERR_NO_MEM;
    memcpy(copy, sendbuf, (size_t)sendcount);
    copy[atoi(at)] ^= 0x10;
    int code = beneath(copy, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    free(copy);
    return code;
}
