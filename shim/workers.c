#include "config.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "shim/calls.h"
#include "shim/log.h"
#include "shim/shim.h"
#include "shim/workers.h"

#define WORKERS_LEAST_BYTES (1u << 20) /* as what the codec takes to be worth its threads */

static cpu_set_t workers_processors; /* that MPI_Init was called on */
static unsigned workers_sharers = 1; /* ranks of this node with the same ones, this one included */
static pthread_once_t workers_once = PTHREAD_ONCE_INIT;
static hwloc_topology_t workers_topology;
static hwloc_cpuset_t workers_place;
static tah_pool_t *workers;

static uint64_t workers_digest(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bits */
    for (size_t i = 0; i < sizeof workers_processors; i++)
        hash = (hash ^ ((const uint8_t *)&workers_processors)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void workers_start(void)
{
    CPU_ZERO(&workers_processors);
    sched_getaffinity(0, sizeof workers_processors, &workers_processors);
    uint64_t own = workers_digest(), *all = calloc((size_t)shim.size, sizeof *all);
    if (all == NULL) {
        log_error("out of memory for a table of %d ranks", shim.size);
        log_drain();
        pmpi.Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    pmpi.Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, shim.comm);
    workers_sharers = 0;
    for (int rank = 0; rank < shim.size; rank++)
        workers_sharers += shim.node_of[rank] == shim.node_of[shim.rank] && all[rank] == own;
    free(all);
}

/* Cores with a processor in workers_place. */
static unsigned workers_cores(void)
{
    unsigned cores = 0;
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(workers_topology, HWLOC_OBJ_CORE, core)) != NULL)
        cores += hwloc_bitmap_intersects(core->cpuset, workers_place) != 0;
    return cores;
}

static bool workers_look(void)
{
    if (hwloc_topology_init(&workers_topology) != 0) {
        workers_topology = NULL;
        return false;
    }
    /* All that is asked is cores: devices and the like take time to look at. */
    hwloc_topology_set_all_types_filter(workers_topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(workers_topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    workers_place = hwloc_bitmap_alloc();
    return workers_place != NULL && hwloc_topology_load(workers_topology) == 0 &&
           hwloc_cpuset_from_glibc_sched_affinity(workers_topology, workers_place,
                                                  &workers_processors,
                                                  sizeof workers_processors) == 0;
}

/* A thread may be started by one that the program has bound to a core of its own. */
static void workers_enter(void *context, unsigned thread)
{
    hwloc_set_cpubind(workers_topology, workers_place, HWLOC_CPUBIND_THREAD);
}

static void workers_make(void)
{
    unsigned threads = shim.settings.threads;
    if (threads == 1)
        return;
    if (!workers_look()) {
        log_warn("hwloc cannot look at this machine: messages are encoded by one thread");
        return;
    }
    const unsigned cores = workers_cores();
    if (threads == 0)
        threads = cores / workers_sharers;
    if (threads > 1)
        workers = tah_pool_create(threads, workers_enter, NULL);
    log_info("codec threads: %u, on %u cores that %u ranks share", threads > 1 ? threads : 1, cores,
             workers_sharers);
}

tah_pool_t *workers_pool(uint64_t bytes)
{
    if (bytes < WORKERS_LEAST_BYTES)
        return NULL;
    pthread_once(&workers_once, workers_make);
    return workers;
}

void workers_end(void)
{
    tah_pool_destroy(workers);
    workers = NULL;
    if (workers_topology != NULL)
        hwloc_topology_destroy(workers_topology);
    workers_topology = NULL;
    hwloc_bitmap_free(workers_place);
    workers_place = NULL;
}
