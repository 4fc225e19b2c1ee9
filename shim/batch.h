/*
 * The requests of one call of the wait and test families: claims before, completion after.
 */
#ifndef SHIM_BATCH_H
#define SHIM_BATCH_H

#include <stdbool.h>

#include "shim/mpi_header.h"
#include "shim/requests.h"

#define BATCH_INLINE 64 /* requests that need no memory from the heap */

typedef struct batch {
    int count;
    MPI_Request *program;  /* the program's array */
    MPI_Status *statuses;  /* where MPI is to put its statuses: the program's, or our own */
    unsigned long outer;   /* what ends the claims */
    MPI_Request *handles;  /* what MPI is to be given: a copy, with inner requests in their places */
    pending_t **claims;    /* what was found in the table */
    void *heap;
    MPI_Comm failed_comm;  /* of the last message that could not be restored */
    bool failed_persistent;
    MPI_Request inline_handles[BATCH_INLINE];
    pending_t *inline_claims[BATCH_INLINE];
    MPI_Status inline_statuses[BATCH_INLINE];
} batch_t;

/*
 * Prepares a call for count requests. statuses is the program's, NULL for MPI_STATUS(ES)_IGNORE,
 * and holds status_count of them. False: the library has nothing to do with these requests; the
 * call is to be made as it is, and the batch is not open.
 */
bool batch_open(batch_t *batch, int count, MPI_Request *requests, MPI_Status *statuses,
                int status_count);

/*
 * Before a call that waits for all of them: decodes what has arrived while the rest is on its way,
 * and returns when nothing is left to decode, or an error is for the call itself to find. All
 * requests are still to be completed.
 */
void batch_decode_early(batch_t *batch);

/*
 * Request i has completed with this status: does what is to be done. failed: MPI says there was an
 * error. Returns MPI_SUCCESS or an error code, not raised.
 */
int batch_completed(batch_t *batch, int i, MPI_Status *status, bool failed);

/* Whether MPI has freed or finished request i in spite of an error. */
bool batch_is_gone(const batch_t *batch, int i);

/* Ends the batch: claims of requests that have not completed are given back. */
void batch_close(batch_t *batch);

#endif
