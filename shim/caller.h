/*
 * Who makes a PMPI_ call. MPI has every call by two names, and much of what stands above MPI uses
 * the second: the Fortran bindings (all of Open MPI's, and with MPICH the parts of mpi_f08 that
 * pass no buffers), profilers, and programs that step around them. A process that is seen to send
 * but not to receive would be given frames for data, so a PMPI_ call is taken like the MPI_ call,
 * unless it comes from beneath: from MPI itself, or from a profiler that we have called.
 */
#ifndef SHIM_CALLER_H
#define SHIM_CALLER_H

#include <stdbool.h>

/*
 * Whether the code at that address, the return address of a PMPI_ call, belongs to MPI or to a
 * profiler below us. Any thread; calls_resolve must have run.
 */
bool caller_is_beneath(const void *code);

#endif
