/*
 * Looking at what a program sends, for reports and samples, beside the path of messages: nothing
 * here changes a message or is needed to send one.
 */
#ifndef SHIM_WATCH_H
#define SHIM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"
#include "shim/mpi_header.h"
#include "shim/types.h"

typedef enum watch_peer {
    WATCH_PEER_REMOTE = 0, /* on another node */
    WATCH_PEER_NODE = 1,   /* on this node */
    WATCH_PEER_SELF = 2,
    WATCH_PEER_UNKNOWN = 3, /* not known to have the library: never sent a frame */
    WATCH_PEER_COUNT
} watch_peer_t;

/* One message as it is sent. */
typedef struct watched {
    const void *buf;
    const type_t *type; /* NULL: not known */
    policy_message_t message;
    bool carrier_known; /* the type can carry frames; if not, message.carrier means nothing */
    watch_peer_t peer;
    int rule; /* that matches it; -1: none */
} watched_t;

/*
 * Starts what the settings ask for (TAHMPI_OBSERVE, TAHMPI_REPORT, TAHMPI_DUMP) and sets
 * shim.watch; before shim.active is set.
 */
void watch_start(void);

/*
 * Looks at a message about to be sent; the arguments are the program's, unchecked. Call only where
 * shim.watch is set. True: it must go as it is, since the program is only observed.
 */
bool watch_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm, bool synchronous);

#endif
