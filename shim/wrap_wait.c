/*
 * The wait and test families. MPI is called as the program called it; then what has completed is
 * restored. Errors found then are raised as MPI raises those of these calls: the class in the
 * status, and MPI_ERR_IN_STATUS from the calls with an array of statuses (MPI 4.0, 3.7.5).
 */
#include "config.h"

#include "shim/batch.h"
#include "shim/errors.h"
#include "shim/wrap.h"

static MPI_Status *one_status(MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? NULL : status;
}

static MPI_Status *many_statuses(MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
}

/* After a call that completes at most one request, number i of the batch. */
static int close_one(batch_t *batch, int i, int rc, MPI_Status *status)
{
    int error = MPI_SUCCESS;
    if (i >= 0 && i < batch->count && (rc == MPI_SUCCESS || batch_is_gone(batch, i)))
        error = batch_completed(batch, i, status, rc != MPI_SUCCESS);
    MPI_Comm comm = batch->failed_comm;
    bool persistent = batch->failed_persistent;
    batch_close(batch);
    /* MPICH remembers the communicator of persistent requests alone. */
    if (error != MPI_SUCCESS)
        rc = persistent ? errors_raise(comm, error) : errors_raise_request(comm, error);
    return wrap_done(rc);
}

int wrap_wait(MPI_Request *request, MPI_Status *status)
{
    batch_t batch;
    if (!batch_open(&batch, 1, request, one_status(status), 1))
        return wrap_done(next.MPI_Wait(request, status));
    int rc = next.MPI_Wait(batch.handles, batch.statuses);
    return close_one(&batch, 0, rc, batch.statuses);
}

int wrap_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    batch_t batch;
    if (!batch_open(&batch, 1, request, one_status(status), 1))
        return wrap_done(next.MPI_Test(request, flag, status));
    int rc = next.MPI_Test(batch.handles, flag, batch.statuses);
    return close_one(&batch, rc == MPI_SUCCESS && !*flag ? -1 : 0, rc, batch.statuses);
}

int wrap_waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    batch_t batch;
    if (!batch_open(&batch, count, array_of_requests, one_status(status), 1))
        return wrap_done(next.MPI_Waitany(count, array_of_requests, indx, status));
    *indx = MPI_UNDEFINED;
    int rc = next.MPI_Waitany(count, batch.handles, indx, batch.statuses);
    return close_one(&batch, *indx, rc, batch.statuses);
}

int wrap_testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                 MPI_Status *status)
{
    batch_t batch;
    if (!batch_open(&batch, count, array_of_requests, one_status(status), 1))
        return wrap_done(next.MPI_Testany(count, array_of_requests, indx, flag, status));
    *indx = MPI_UNDEFINED;
    int rc = next.MPI_Testany(count, batch.handles, indx, flag, batch.statuses);
    return close_one(&batch, rc == MPI_SUCCESS && !*flag ? -1 : *indx, rc, batch.statuses);
}

/* An error of ours in an array of statuses that MPI left without errors: all entries count then. */
static void mark_error(MPI_Status *statuses, int count, int at, int error, bool *marked)
{
    for (int i = 0; !*marked && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    *marked = true;
    statuses[at].MPI_ERROR = error;
}

/*
 * After a call that completes several: statuses[k] is that of request indices[k] (of request k
 * where indices is NULL).
 */
static int close_many(batch_t *batch, int completed, const int *indices, int rc)
{
    int class = MPI_SUCCESS;
    bool marked;
    if (rc != MPI_SUCCESS)
        pmpi.Error_class(rc, &class);
    bool in_status = class == MPI_ERR_IN_STATUS;
    int failed = MPI_SUCCESS;
    marked = in_status;
    for (int k = 0; k < completed; k++) {
        int i = indices != NULL ? indices[k] : k;
        MPI_Status *status = &batch->statuses[k];
        bool wrong = in_status ? status->MPI_ERROR != MPI_SUCCESS : rc != MPI_SUCCESS;
        if (wrong && !batch_is_gone(batch, i))
            continue; /* not complete */
        int error = batch_completed(batch, i, status, wrong);
        if (error != MPI_SUCCESS) {
            mark_error(batch->statuses, completed, k, error, &marked);
            failed = failed == MPI_SUCCESS ? error : failed;
        }
    }
    MPI_Comm comm = batch->failed_comm;
    batch_close(batch);
    if (failed != MPI_SUCCESS && rc == MPI_SUCCESS)
        rc = errors_raise_in_status(comm, failed);
    return wrap_done(rc);
}

int wrap_waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    batch_t batch;
    if (!batch_open(&batch, count, array_of_requests, many_statuses(array_of_statuses), count))
        return wrap_done(next.MPI_Waitall(count, array_of_requests, array_of_statuses));
    batch_decode_early(&batch);
    int rc = next.MPI_Waitall(count, batch.handles, batch.statuses);
    return close_many(&batch, count, NULL, rc);
}

int wrap_testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status array_of_statuses[])
{
    batch_t batch;
    if (!batch_open(&batch, count, array_of_requests, many_statuses(array_of_statuses), count))
        return wrap_done(next.MPI_Testall(count, array_of_requests, flag, array_of_statuses));
    int rc = next.MPI_Testall(count, batch.handles, flag, batch.statuses);
    return close_many(&batch, rc == MPI_SUCCESS && !*flag ? 0 : count, NULL, rc);
}

/* The number of indices that the call has filled. */
static int some_count(const batch_t *batch, int outcount)
{
    return outcount == MPI_UNDEFINED || outcount < 0 || outcount > batch->count ? 0 : outcount;
}

int wrap_waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[])
{
    batch_t batch;
    if (!batch_open(&batch, incount, array_of_requests, many_statuses(array_of_statuses), incount))
        return wrap_done(next.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices,
                                           array_of_statuses));
    *outcount = MPI_UNDEFINED;
    int rc = next.MPI_Waitsome(incount, batch.handles, outcount, array_of_indices, batch.statuses);
    return close_many(&batch, some_count(&batch, *outcount), array_of_indices, rc);
}

int wrap_testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[])
{
    batch_t batch;
    if (!batch_open(&batch, incount, array_of_requests, many_statuses(array_of_statuses), incount))
        return wrap_done(next.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices,
                                           array_of_statuses));
    *outcount = MPI_UNDEFINED;
    int rc = next.MPI_Testsome(incount, batch.handles, outcount, array_of_indices, batch.statuses);
    return close_many(&batch, some_count(&batch, *outcount), array_of_indices, rc);
}
