/*
 * Errors that the library finds after MPI has delivered a message. They go to the error handler
 * that plain MPI would have called for that very call, and come back as its return value.
 */
#ifndef SHIM_ERRORS_H
#define SHIM_ERRORS_H

#include "shim/mpi_header.h"

/*
 * The code for a frame that cannot be decoded, of a class of our own; made at first use. The
 * details go to stderr by log_error.
 */
int errors_bad_frame(void);

/* Calls the communicator's handler with code and returns code, unless the handler does not. */
int errors_raise(MPI_Comm comm, int code);

/*
 * The same for a call of the wait and test families or of matched receives: comm is that of the
 * request, which MPICH passes over for MPI_COMM_WORLD. Hold no lock: a handler may never return.
 */
int errors_raise_request(MPI_Comm comm, int code);

/*
 * The same for a call with an array of statuses: returns MPI_ERR_IN_STATUS, which MPICH's handlers
 * are called with too, while Open MPI's are called with code.
 */
int errors_raise_in_status(MPI_Comm comm, int code);

#endif
