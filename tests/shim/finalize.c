/*
 * Callbacks that run inside MPI_Finalize and send messages there, as the standard allows for
 * attributes of MPI_COMM_SELF; calls that are allowed before MPI_Init and after MPI_Finalize.
 */
#include "tests/lib/mt.h"

#include <stdlib.h>

enum { COUNT = 5000, TAG = 2 };

static void exchange(const char *label, unsigned seed)
{
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, seed), *received = mt_alloc(COUNT * 4);
    MPI_Status status;
    MPI_Request request;
    mt_status_clear(&status);
    MPI_Isend(sent, COUNT, MPI_FLOAT, mt_right, TAG, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    mt_status(label, &status, MPI_FLOAT);
    MPI_Recv(received, COUNT, MPI_FLOAT, mt_left, TAG, MPI_COMM_WORLD, &status);
    mt_status(label, &status, MPI_FLOAT);
    mt_check(label, received, COUNT, MT_FLOAT, seed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_free(sent);
    mt_free(received);
}

/* Sent before MPI_Finalize, received in it: compressed when it was sent, if at all. */
static float *late;
static MPI_Request late_request;

static void late_send(void)
{
    late = mt_alloc_sealed(COUNT, MT_FLOAT, 3);
    MPI_Isend(late, COUNT, MPI_FLOAT, mt_right, TAG + 1, MPI_COMM_WORLD, &late_request);
}

static void late_receive(void)
{
    float *received = mt_alloc(COUNT * sizeof(float));
    MPI_Recv(received, COUNT, MPI_FLOAT, mt_left, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("sent before MPI_Finalize", received, COUNT, MT_FLOAT, 3);
    MPI_Wait(&late_request, MPI_STATUS_IGNORE);
    mt_free(received);
    mt_free(late);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    exchange("in MPI_Finalize", 2);
    late_receive();
    return MPI_SUCCESS;
}

/*
 * Rank 0 is in MPI_Finalize, the last rank not yet: the attributes of MPI_COMM_SELF come before all
 * else there, so the one may wait for the other.
 */
static void meet(void)
{
    float *sent = mt_alloc_sealed(COUNT, MT_FLOAT, 4), *received = mt_alloc(COUNT * 4);
    const int peer = mt_rank == 0 ? mt_size - 1 : 0;
    if (mt_rank == 0)
        MPI_Send(sent, COUNT, MPI_FLOAT, peer, TAG + 2, MPI_COMM_WORLD);
    MPI_Recv(received, COUNT, MPI_FLOAT, peer, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("one before MPI_Finalize, one in it", received, COUNT, MT_FLOAT, 4);
    if (mt_rank != 0)
        MPI_Send(sent, COUNT, MPI_FLOAT, peer, TAG + 2, MPI_COMM_WORLD);
    mt_free(sent);
    mt_free(received);
}

static int on_delete_first(MPI_Comm comm, int key, void *value, void *extra)
{
    meet();
    return MPI_SUCCESS;
}

static void note_state(const char *label)
{
    int initialized, finalized, version, subversion, bytes;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(library, &bytes);
    mt_say("%s: initialized %d finalized %d version %d.%d library %016llx", label, initialized,
           finalized, version, subversion, (unsigned long long)mt_hash(library, (size_t)bytes));
}

int main(int argc, char **argv)
{
    int key, provided;
    mt_capture();
    note_state("not yet running");
    char *before = mt_release();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    mt_begin("finalize");
    mt_write(before);
    free(before);
    mt_say("thread level %d", provided);
    note_state("running");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    exchange("before", 1);
    late_send();
    MPI_Barrier(MPI_COMM_WORLD); /* no probe of before sees what comes now */
    if (mt_rank == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete_first, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    } else if (mt_rank == mt_size - 1) {
        meet();
    }
    MPI_Finalize();
    note_state("finalized");
    mt_end();
    return 0;
}
