#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "shim/batch.h"
#include "shim/calls.h"
#include "shim/log.h"
#include "shim/shim.h"

/*
 * One block for large arrays. Without memory the process cannot go on correctly: the handles of
 * frames under way would be lost.
 */
static void batch_allocate(batch_t *batch, size_t count, size_t status_count)
{
    batch->handles = batch->inline_handles;
    batch->claims = batch->inline_claims;
    batch->statuses = batch->inline_statuses;
    batch->heap = NULL;
    if (count <= BATCH_INLINE && status_count <= BATCH_INLINE)
        return;
    size_t each = sizeof *batch->handles + sizeof *batch->claims + sizeof *batch->statuses;
    batch->heap = malloc((count > status_count ? count : status_count) * each);
    if (batch->heap == NULL) {
        log_error("out of memory in a call that completes %zu requests", count);
        abort();
    }
    size_t most = count > status_count ? count : status_count;
    batch->claims = batch->heap;
    batch->statuses = (MPI_Status *)(batch->claims + most);
    batch->handles = (MPI_Request *)((char *)batch->heap +
                                     most * (sizeof *batch->claims + sizeof *batch->statuses));
}

/*
 * Claims come before the call: what it completes may be reused at once, by another thread or by a
 * callback of the program's that MPI runs inside (an error handler, a generalised request). Inner
 * requests are swapped in.
 */
static void batch_claim(batch_t *batch)
{
    batch->outer = requests_claim(batch->program, batch->count, batch->claims);
    memcpy(batch->handles, batch->program, (size_t)batch->count * sizeof *batch->handles);
    bool inner = atomic_load_explicit(&requests_inner, memory_order_relaxed) != 0;
    for (int i = 0; inner && i < batch->count; i++) {
        pending_t *pending = batch->claims[i];
        if (pending != NULL && pending->inner != MPI_REQUEST_NULL)
            batch->handles[i] = pending->inner;
    }
}

bool batch_open(batch_t *batch, int count, MPI_Request *requests, MPI_Status *statuses,
                int status_count)
{
    if (LIKELY(atomic_load_explicit(&requests_entered, memory_order_relaxed) == 0) || count <= 0 ||
        requests == NULL)
        return false;
    batch->count = count;
    batch->program = requests;
    batch->failed_comm = MPI_COMM_WORLD;
    batch->failed_persistent = false;
    batch_allocate(batch, (size_t)count, statuses == NULL ? (size_t)status_count : 0);
    if (statuses != NULL)
        batch->statuses = statuses;
    batch_claim(batch);
    return true;
}

/*
 * In MPICH a look at a request raises the request's error, which the call that completes it raises
 * again: only a handler of the program's own can tell.
 */
static bool batch_may_look(void)
{
#ifdef OPEN_MPI
    return true;
#else
    MPI_Errhandler handler;
    if (pmpi.Comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS)
        return false;
    bool predefined = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
    pmpi.Errhandler_free(&handler);
    return predefined;
#endif
}

/* The numbers of the first receives that may have to be decoded; returns how many. */
static int batch_receives(const batch_t *batch, int *numbers)
{
    int found = 0;
    for (int i = 0; i < batch->count && found < BATCH_INLINE; i++) {
        pending_t *pending = batch->claims[i];
        if (pending != NULL && requests_decodes(pending))
            numbers[found++] = i;
    }
    return found;
}

void batch_decode_early(batch_t *batch)
{
    int numbers[BATCH_INLINE];
    int left = batch->count > 1 ? batch_receives(batch, numbers) : 0;
    if (left == 0 || !batch_may_look())
        return;
    while (left > 0) {
        int still = 0;
        for (int k = 0; k < left; k++) {
            MPI_Status status;
            int i = numbers[k], done = 0;
            if (pmpi.Request_get_status(batch->handles[i], &done, &status) != MPI_SUCCESS)
                return;
            if (done)
                requests_settle(batch->claims[i], &status);
            else
                numbers[still++] = i;
        }
        left = still;
    }
}

/*
 * After an error: Open MPI frees a persistent request too, and leaves MPI_REQUEST_NULL. Where the
 * error is ours, or MPI's in an inner request, that is left to be done.
 */
static void batch_failed_persistent(MPI_Request *request, pending_t *pending)
{
    if (!SHIM_ERRORS_FREE_PERSISTENT && *request != MPI_REQUEST_NULL)
        return;
    requests_remove(pending);
    pending_free(pending);
    if (*request != MPI_REQUEST_NULL)
        pmpi.Request_free(request);
}

int batch_completed(batch_t *batch, int i, MPI_Status *status, bool failed)
{
    pending_t *pending = batch->claims[i];
    batch->claims[i] = NULL;
    if (pending == NULL || pending->inner == MPI_REQUEST_NULL)
        batch->program[i] = batch->handles[i];
    if (pending == NULL)
        return MPI_SUCCESS;
    MPI_Comm comm = pending->in.comm;
    bool persistent = pending_is_persistent(pending);
    int error = requests_complete(pending, status, failed);
    if (error != MPI_SUCCESS) {
        batch->failed_comm = comm;
        batch->failed_persistent = persistent;
    }
    if (persistent && (failed || error != MPI_SUCCESS))
        batch_failed_persistent(&batch->program[i], pending);
    return error;
}

bool batch_is_gone(const batch_t *batch, int i)
{
    return batch->program[i] != MPI_REQUEST_NULL && batch->handles[i] == MPI_REQUEST_NULL;
}

void batch_close(batch_t *batch)
{
    requests_release(batch->outer);
    free(batch->heap);
}
