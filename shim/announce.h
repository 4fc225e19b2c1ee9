/*
 * What the threads of this process are about to receive, or are receiving, in MPI. Used under
 * MPI_THREAD_MULTIPLE only.
 */
#ifndef SHIM_ANNOUNCE_H
#define SHIM_ANNOUNCE_H

#include <stdbool.h>

#include "shim/mpi_header.h"

/* Announces this thread's receive; the announcement is visible to all threads on return. */
void announce_begin(MPI_Comm comm, int source, int tag);

/* Ends it; also one that is left from a call that an error handler never returned from. */
void announce_end(void);

/* Whether an announced receive would match a message from source with tag. */
bool announce_matches(MPI_Comm comm, int source, int tag);

#endif
