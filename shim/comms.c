#include "config.h"

#include <stdlib.h>

#include "shim/calls.h"
#include "shim/comms.h"
#include "shim/log.h"
#include "shim/shim.h"

/*
 * A freed entry is not reused at once: a thread may still be leaving a call on that communicator
 * when another, told so by a third process, frees it.
 */
#define COMMS_RETIRED_MOST 64

static pthread_mutex_t comms_mutex = PTHREAD_MUTEX_INITIALIZER;
static comm_t *comms_table;
static comm_t *comms_retired_first, **comms_retired_last = &comms_retired_first;
static int comms_retired_count;

/* Counts changes of the table, so that a thread can keep its last find without a lock. */
static atomic_uint comms_epoch;
SHIM_THREAD handle_cached_t comms_cache[HANDLE_CACHE_ENTRIES];

static void comms_destroy(comm_t *comm)
{
    free(comm->world);
    pthread_mutex_destroy(&comm->mutex);
    free(comm);
}

static comm_t *comms_add(MPI_Comm handle)
{
    static unsigned long serial;
    comm_t *comm = calloc(1, sizeof *comm);
    if (comm == NULL)
        return NULL;
    comm->key = HANDLE_KEY(handle);
    comm->handle = handle;
    comm->serial = ++serial;
    comm->rank = -1;
    pthread_mutex_init(&comm->mutex, NULL);
    HASH_ADD(hh, comms_table, key, sizeof comm->key, comm);
    if (comm->hh.tbl != NULL)
        return comm;
    comms_destroy(comm);
    return NULL;
}

static comm_t *comms_take_out(uintptr_t key)
{
    comm_t *comm;
    HASH_FIND(hh, comms_table, &key, sizeof key, comm);
    if (comm != NULL)
        HASH_DEL(comms_table, comm);
    return comm;
}

static void comms_retire(comm_t *comm)
{
    if (comm == NULL)
        return;
    *comms_retired_last = comm;
    comms_retired_last = &comm->retired;
    if (++comms_retired_count <= COMMS_RETIRED_MOST)
        return;
    comm_t *oldest = comms_retired_first;
    comms_retired_first = oldest->retired;
    comms_retired_count--;
    comms_destroy(oldest);
}

void comms_learn(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL)
        return;
    shim_lock(&comms_mutex);
    comms_retire(comms_take_out(HANDLE_KEY(handle)));
    if (comms_add(handle) == NULL)
        log_warn("out of memory: messages on a new communicator stay raw");
    atomic_fetch_add(&comms_epoch, 1);
    shim_unlock(&comms_mutex);
}

void comms_forget(MPI_Comm handle)
{
    shim_lock(&comms_mutex);
    comms_retire(comms_take_out(HANDLE_KEY(handle)));
    atomic_fetch_add(&comms_epoch, 1);
    shim_unlock(&comms_mutex);
}

/* World ranks of all members of a group, or NULL when one is not of this job's world. */
static int *comms_translate(MPI_Group group, int size)
{
    int *ranks = malloc(2 * (size_t)(size > 0 ? size : 1) * sizeof *ranks);
    if (ranks == NULL)
        return NULL;
    int *world = ranks + size;
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    bool known = pmpi.Group_translate_ranks(group, size, ranks, shim.world_group, world) ==
                 MPI_SUCCESS;
    for (int i = 0; i < size && known; i++) {
        known = world[i] != MPI_UNDEFINED;
        ranks[i] = world[i];
    }
    if (known)
        return ranks;
    free(ranks);
    return NULL;
}

static int *comms_translate_and_free(MPI_Group group, int *size)
{
    *size = 0;
    pmpi.Group_size(group, size);
    int *world = comms_translate(group, *size);
    pmpi.Group_free(&group);
    return world;
}

/* Asks MPI what the communicator is like. The program has just passed its handle, so it is live. */
static void comms_ask(comm_t *comm)
{
    int inter = 0;
    MPI_Group group;
    pmpi.Comm_test_inter(comm->handle, &inter);
    comm->inter = inter != 0;
    pmpi.Comm_group(comm->handle, &group);
    int *world = comms_translate_and_free(group, &comm->size);
    if (comm->inter) {
        bool local_known = world != NULL;
        free(world);
        pmpi.Comm_remote_group(comm->handle, &group);
        world = comms_translate_and_free(group, &comm->size);
        if (!local_known) {
            free(world);
            world = NULL;
        }
    } else {
        pmpi.Comm_rank(comm->handle, &comm->rank);
    }
    comm->world = world;
    comm->framed = world != NULL;
}

static comm_t *comms_look_up(MPI_Comm handle, bool add)
{
    uintptr_t key = HANDLE_KEY(handle);
    comm_t *comm;
    shim_lock(&comms_mutex);
    HASH_FIND(hh, comms_table, &key, sizeof key, comm);
    if (comm == NULL && add) {
        comm = comms_add(handle);
        if (comm != NULL)
            atomic_store(&comm->asked, true);
    }
    *handle_cache_entry(comms_cache, key) =
        (handle_cached_t){.key = key, .epoch = atomic_load(&comms_epoch), .found = comm};
    shim_unlock(&comms_mutex);
    return comm;
}

comm_t *comms_find(MPI_Comm handle)
{
    comm_t *comm = handle_cache_find(comms_cache, HANDLE_KEY(handle), &comms_epoch);
    return LIKELY(comm != NULL) ? comm : comms_look_up(handle, false);
}

comm_t *comms_find_or_add(MPI_Comm handle)
{
    comm_t *comm = comms_find(handle);
    return comm != NULL ? comm : comms_look_up(handle, true);
}

bool comms_peer(comm_t *comm, int dest, policy_message_t *message, int *world_rank)
{
    if (UNLIKELY(!atomic_load_explicit(&comm->asked, memory_order_acquire))) {
        shim_lock(&comm->mutex);
        if (!atomic_load_explicit(&comm->asked, memory_order_relaxed)) {
            comms_ask(comm);
            atomic_store_explicit(&comm->asked, true, memory_order_release);
        }
        shim_unlock(&comm->mutex);
    }
    if (!comm->framed || dest < 0 || dest >= comm->size)
        return false;
    int peer = comm->world[dest];
    if (peer == shim.rank)
        return false;
    int from = comm->inter ? shim.rank : comm->rank;
    int to = comm->inter ? peer : dest;
    message->comm_size = comm->size;
    message->direction = to > from ? POLICY_UP : POLICY_DOWN;
    message->remote = shim.node_of[peer] != shim.node_of[shim.rank];
    *world_rank = peer;
    return true;
}

void comms_drop(void)
{
    comm_t *comm, *after;
    HASH_ITER(hh, comms_table, comm, after)
    {
        HASH_DEL(comms_table, comm);
        comms_destroy(comm);
    }
    while ((comm = comms_retired_first) != NULL) {
        comms_retired_first = comm->retired;
        comms_destroy(comm);
    }
    comms_retired_last = &comms_retired_first;
    comms_retired_count = 0;
    atomic_fetch_add(&comms_epoch, 1);
}
