/* Receiving what is in a stash, and handles of matched messages. */
#include "config.h"

#include <stdlib.h>

#include "shim/calls.h"
#include "shim/errors.h"
#include "shim/stash.h"

/* Whether MPI can put the message where the program wants it, without our looking at it. */
static bool stash_direct(const stash_entry_t *entry)
{
    return entry->message != MPI_MESSAGE_NULL && !stash_must_look(entry);
}

static int stash_mrecv(stash_entry_t *entry, const incoming_t *in, MPI_Status *status)
{
#if MPI_VERSION >= 4
    return pmpi.Mrecv_c(in->buf, in->count, in->datatype, &entry->message, status);
#else
    return pmpi.Mrecv(in->buf, (int)in->count, in->datatype, &entry->message, status);
#endif
}

static int stash_imrecv(stash_entry_t *entry, const incoming_t *in, MPI_Request *request)
{
#if MPI_VERSION >= 4
    return pmpi.Imrecv_c(in->buf, in->count, in->datatype, &entry->message, request);
#else
    return pmpi.Imrecv(in->buf, (int)in->count, in->datatype, &entry->message, request);
#endif
}

int stash_receive(stash_entry_t *entry, const incoming_t *in, MPI_Status *status,
                  int (*raise)(MPI_Comm comm, int code))
{
    MPI_Status got = entry->status;
    got.MPI_ERROR = STATUS_UNTOUCHED;
    int rc;
    /* One that is too long goes through memory of ours: MPI would raise that at another handler. */
    if (stash_direct(entry) && status_bytes(&got) <= incoming_capacity(in)) {
        rc = stash_mrecv(entry, in, &got);
    } else if (stash_arrived(entry, true)) {
        MPI_Status ignored;
        pmpi.Wait(&entry->request, &ignored);
        rc = message_restore(in, entry->buffer, &got);
    } else {
        rc = MPI_ERR_NO_MEM;
    }
    stash_free(entry);
    status_give(status, &got);
    return rc == MPI_SUCCESS ? rc : raise(in->comm, rc);
}

int stash_ireceive(stash_entry_t *entry, pending_t *pending, MPI_Request *request, bool *tracked)
{
    *tracked = !stash_direct(entry);
    int rc = *tracked ? stash_start(entry) : stash_imrecv(entry, &pending->in, request);
    if (*tracked && rc == MPI_SUCCESS) {
        pending->buffer = entry->buffer;
        entry->buffer = NULL;
        *request = entry->request;
    }
    stash_free(entry);
    return rc == MPI_SUCCESS ? rc : errors_raise(pending->in.comm, rc);
}

static pthread_mutex_t stash_messages_mutex = PTHREAD_MUTEX_INITIALIZER;
static stash_entry_t *stash_messages;

/*
 * What the program holds in place of a message that we have received. In MPICH a value that is no
 * handle of MPI's: handles of this kind do not occur, the upper bits tell kinds apart. In Open MPI
 * a handle is an address which the Fortran bindings follow, so it must be a real one: that of an
 * empty message to ourselves. Only while MPI is being finalised, when our communicator is gone,
 * is it the entry's address.
 */
#ifdef OPEN_MPI
static MPI_Message stash_handle_make(stash_entry_t *entry)
{
    MPI_Request request;
    MPI_Message message;
    int found = 0;
    if (shim.comm == MPI_COMM_NULL)
        return (MPI_Message)entry;
    pmpi.Isend(NULL, 0, MPI_BYTE, shim.rank, 0, shim.comm, &request);
    while (!found)
        pmpi.Improbe(shim.rank, 0, shim.comm, &found, &message, MPI_STATUS_IGNORE);
    pmpi.Wait(&request, MPI_STATUS_IGNORE);
    return message;
}

static void stash_handle_free(stash_entry_t *entry, MPI_Message message)
{
    if (message != (MPI_Message)entry)
        pmpi.Mrecv(NULL, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}
#else
static MPI_Message stash_handle_make(stash_entry_t *entry)
{
    static unsigned number;
    return (MPI_Message)(0x0e000000 + (number++ & 0xffffff));
}

static void stash_handle_free(stash_entry_t *entry, MPI_Message message)
{
}
#endif

MPI_Message stash_message_give(stash_entry_t *entry)
{
    if (stash_direct(entry)) {
        MPI_Message message = entry->message;
        stash_free(entry);
        return message;
    }
    shim_lock(&stash_messages_mutex);
    stash_entry_t *other;
    MPI_Message handle;
    do {
        handle = stash_handle_make(entry);
        entry->key = HANDLE_KEY(handle);
        HASH_FIND(hh, stash_messages, &entry->key, sizeof entry->key, other);
    } while (other != NULL);
    HASH_ADD(hh, stash_messages, key, sizeof entry->key, entry);
    shim_unlock(&stash_messages_mutex);
    return handle;
}

stash_entry_t *stash_message_take(MPI_Message message)
{
    uintptr_t key = HANDLE_KEY(message);
    stash_entry_t *entry;
    shim_lock(&stash_messages_mutex);
    HASH_FIND(hh, stash_messages, &key, sizeof key, entry);
    if (entry != NULL)
        HASH_DEL(stash_messages, entry);
    shim_unlock(&stash_messages_mutex);
    if (entry != NULL)
        stash_handle_free(entry, message);
    return entry;
}
