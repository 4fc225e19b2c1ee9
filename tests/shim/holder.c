/*
 * An MPI whose MPI_Wait may take its time between completing a request, after which the handle is
 * anybody's, and returning. Preloaded after the library, so that it is the library's MPI_Wait.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tests/shim/holder.h"

static _Atomic(holder_call_t *) asked;

void holder_ask(holder_call_t *call)
{
    atomic_store(&asked, call);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int code = PMPI_Wait(request, status);
    holder_call_t *call = atomic_exchange(&asked, NULL);
    if (call != NULL)
        call();
    return code;
}
