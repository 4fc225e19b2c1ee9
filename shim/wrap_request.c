/* Calls on one request that do not complete it. */
#include "config.h"

#include "shim/errors.h"
#include "shim/wrap.h"

/* Persistent: the program's handle is freed as MPI does; what runs inside goes on. */
static int wrap_free_persistent(pending_t *pending, MPI_Request *request)
{
    requests_remove(pending);
    if (pending->inner != MPI_REQUEST_NULL) {
        MPI_Request inner = pending->inner;
        atomic_fetch_sub(&requests_inner, 1);
        pending->kind =
            pending->kind == PENDING_PERSISTENT_SEND ? PENDING_SEND : PENDING_RECV;
        requests_abandon(pending, inner);
        return next.MPI_Request_free(request);
    }
    if (pending->kind == PENDING_PERSISTENT_SEND) {
        pending_free(pending);
        return next.MPI_Request_free(request);
    }
    /* It may be active, with a frame to come: it is freed once it is not. */
    requests_abandon(pending, *request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int wrap_request_free(MPI_Request *request)
{
    pending_t *pending = request == NULL ? NULL : requests_find(*request);
    if (LIKELY(pending == NULL))
        return next.MPI_Request_free(request);
    int rc = MPI_SUCCESS;
    if (pending_is_persistent(pending)) {
        rc = wrap_free_persistent(pending, request);
    } else {
        requests_remove(pending);
        requests_abandon(pending, *request);
        *request = MPI_REQUEST_NULL;
    }
    return wrap_done(rc);
}

static pthread_mutex_t wrap_settle_mutex = PTHREAD_MUTEX_INITIALIZER;

int wrap_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    pending_t *pending = requests_find(request);
    if (LIKELY(pending == NULL))
        return wrap_done(next.MPI_Request_get_status(request, flag, status));
    MPI_Status own;
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request real = pending->inner != MPI_REQUEST_NULL ? pending->inner : request;
    int rc = next.MPI_Request_get_status(real, flag, got);
    if (rc == MPI_SUCCESS && *flag) {
        shim_lock(&wrap_settle_mutex); /* several threads may look at one request */
        requests_settle(pending, got);
        shim_unlock(&wrap_settle_mutex);
    }
    /* Open MPI leaves errors to the call that completes the request. */
    if (!SHIM_WAIT_ERRORS_TO_COMM && rc == MPI_SUCCESS && *flag && pending->settled &&
        pending->settled_error != MPI_SUCCESS)
        rc = errors_raise_request(pending->in.comm, pending->settled_error);
    return wrap_done(rc);
}

int wrap_cancel(MPI_Request *request)
{
    pending_t *pending = request == NULL ? NULL : requests_find(*request);
    if (pending != NULL && pending->inner != MPI_REQUEST_NULL)
        return next.MPI_Cancel(&pending->inner);
    return next.MPI_Cancel(request);
}
