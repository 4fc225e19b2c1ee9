#include "config.h"

#include "shim/comms.h"
#include "shim/dump.h"
#include "shim/shim.h"
#include "shim/traffic.h"
#include "shim/watch.h"

static bool watch_traffic, watch_dump;

void watch_start(void)
{
    watch_traffic = traffic_wanted();
    watch_dump = dump_start();
    shim.watch = watch_traffic || watch_dump || shim.settings.observe;
    if (shim.watch)
        shim.least_bytes = 0; /* small messages are looked at too */
}

static void watch_see_peer(watched_t *seen, int dest, MPI_Comm handle)
{
    comm_t *comm = comms_find(handle);
    int world_rank;
    seen->peer = WATCH_PEER_UNKNOWN;
    if (comm == NULL)
        return;
    if (comms_peer(comm, dest, &seen->message, &world_rank))
        seen->peer = seen->message.remote ? WATCH_PEER_REMOTE : WATCH_PEER_NODE;
    else if (comm->framed)
        seen->peer = WATCH_PEER_SELF;
    seen->message.comm_size = comm->size;
}

static void watch_see_type(watched_t *seen, MPI_Count count, MPI_Datatype datatype)
{
    seen->type = types_find(datatype);
    uint64_t each = seen->type != NULL ? seen->type->bytes : 0;
    if (__builtin_mul_overflow((uint64_t)count, each, &seen->message.bytes))
        seen->message.bytes = UINT64_MAX;
    seen->carrier_known = seen->type != NULL && seen->type->sendable;
    if (seen->carrier_known)
        seen->message.carrier = seen->type->carrier;
}

bool watch_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm, bool synchronous)
{
    watched_t seen = {.buf = buf, .rule = -1};
    if (count < 0 || dest < 0 || tag < 0) /* to nobody, or for MPI to refuse */
        return shim.settings.observe;
    seen.message.tag = tag;
    seen.message.synchronous = synchronous;
    watch_see_peer(&seen, dest, comm);
    watch_see_type(&seen, count, datatype);
    if (seen.carrier_known && seen.peer <= WATCH_PEER_NODE)
        seen.rule = policy_match(shim.policy, &seen.message);
    if (watch_traffic)
        traffic_count(&seen);
    if (watch_dump)
        dump_message(&seen);
    return shim.settings.observe;
}
