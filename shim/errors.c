#include "config.h"

#include "shim/calls.h"
#include "shim/errors.h"
#include "shim/shim.h"

#define ERRORS_TEXT                                                                                \
    "tahmpi: a compressed message cannot be restored; the line before this one says why"

static pthread_mutex_t errors_mutex = PTHREAD_MUTEX_INITIALIZER;

int errors_bad_frame(void)
{
    static int code = MPI_SUCCESS;
    shim_lock(&errors_mutex);
    int class;
    if (code == MPI_SUCCESS) {
        bool made = pmpi.Add_error_class(&class) == MPI_SUCCESS &&
                    pmpi.Add_error_code(class, &code) == MPI_SUCCESS &&
                    pmpi.Add_error_string(code, ERRORS_TEXT) == MPI_SUCCESS;
        if (!made)
            code = MPI_ERR_OTHER;
    }
    shim_unlock(&errors_mutex);
    return code;
}

int errors_raise(MPI_Comm comm, int code)
{
    pmpi.Comm_call_errhandler(comm, code);
    return code;
}

int errors_raise_request(MPI_Comm comm, int code)
{
    return errors_raise(SHIM_WAIT_ERRORS_TO_COMM ? comm : MPI_COMM_WORLD, code);
}

int errors_raise_in_status(MPI_Comm comm, int code)
{
    errors_raise_request(comm, SHIM_WAIT_ERRORS_TO_COMM ? code : MPI_ERR_IN_STATUS);
    return MPI_ERR_IN_STATUS;
}
