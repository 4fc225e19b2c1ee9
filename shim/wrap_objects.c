/* Communicators, datatypes and files: what the library learns of them, and forgets. */
#include "config.h"

#include "shim/comms.h"
#include "shim/stash.h"
#include "shim/types.h"
#include "shim/wrap.h"

/*
 * MPI-IO makes a communicator for its own use by the very calls we see, and exchanges file data on
 * it: those messages are not the program's to change. Communicators made inside are not learned,
 * so nothing is ever framed on them.
 */
SHIM_THREAD int wrap_inside;

void wrap_learn_comm(MPI_Comm comm)
{
    if (wrap_inside == 0)
        comms_learn(comm);
}

int wrap_file_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    wrap_inside++;
    int rc = next.MPI_File_open(comm, filename, amode, info, fh);
    wrap_inside--;
    return wrap_done(rc);
}

/*
 * Forgotten before MPI frees it, since another thread may be given the same handle at once; but not
 * with messages in its stash, which callbacks of the program may still receive, or refuse to let go.
 */
static int wrap_release_comm(int (*real)(MPI_Comm *), MPI_Comm *comm)
{
    if (comm == NULL)
        return real(comm);
    MPI_Comm handle = *comm;
    comm_t *known = comms_find(handle);
    if (known != NULL && stash_holds(known)) {
        int rc = real(comm);
        if (*comm != handle) {
            stash_drop(known);
            comms_forget(handle);
        }
        return wrap_done(rc);
    }
    comms_forget(handle);
    int rc = real(comm);
    if (rc != MPI_SUCCESS && known != NULL && *comm == handle)
        comms_learn(handle); /* a callback refused: it lives on */
    return wrap_done(rc);
}

int wrap_comm_free(MPI_Comm *comm)
{
    return wrap_release_comm(next.MPI_Comm_free, comm);
}

int wrap_comm_disconnect(MPI_Comm *comm)
{
    return wrap_release_comm(next.MPI_Comm_disconnect, comm);
}

int wrap_type_free(MPI_Datatype *datatype)
{
    if (datatype == NULL)
        return next.MPI_Type_free(datatype);
    MPI_Datatype handle = *datatype;
    types_forget(handle);
    int rc = next.MPI_Type_free(datatype);
    if (rc != MPI_SUCCESS && *datatype == handle)
        types_learn(handle);
    return rc;
}
