/* Reads the library's JSON report (doc/report.md): what a run sent. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "policy/policy.h"

/* Where messages went. */
typedef enum run_peer {
    RUN_PEER_REMOTE,  /* to another node */
    RUN_PEER_NODE,    /* within the node */
    RUN_PEER_SELF,    /* to the sender itself */
    RUN_PEER_UNKNOWN, /* to processes that are not known to have the library */
    RUN_PEER_COUNT
} run_peer_t;

/* Messages that the report counts together. */
typedef struct run_kind {
    int tag_first, tag_last;
    int comm_size;
    policy_direction_t direction;
    policy_carrier_t carrier; /* POLICY_CARRIER_COUNT: a type that no rule can match */
    run_peer_t peer;
    bool synchronous;
    uint64_t least_bytes, most_bytes; /* of one message */
    uint64_t messages, bytes;
} run_kind_t;

/* One rule and direction. */
typedef struct run_row {
    char rule[POLICY_NAME_BYTES];
    bool up;
    double messages, tensor_bytes, wire_bytes, encode_seconds, sqnr; /* sqnr: dB, NAN if unknown */
    double raw_messages, raw_bytes;
    char raw[96]; /* why, in words */
} run_row_t;

typedef struct run_report {
    int ranks, nodes;
    int rank; /* whose figures alone these are, of a process without MPI_Finalize; -1: of all ranks
               */
    double seconds, encode_seconds, decode_seconds; /* encoding and decoding: over all ranks */
    uint64_t memory_peak_bytes;
    int row_count;
    run_row_t *rows; /* of rules that matched messages */
    int kind_count;
    run_kind_t *kinds;                      /* most bytes first */
    uint64_t others_messages, others_bytes; /* sent, but not told apart */
    uint64_t messages, bytes;               /* all */
} run_report_t;

/*
 * Reads the report in a file. NULL: it is none, which has been said on standard error in one
 * sentence that starts with the command's name. traffic: a report that counts no kinds of messages
 * is not good enough either. The caller frees it with run_report_free.
 */
run_report_t *run_report_read(const char *command, const char *path, bool traffic);

void run_report_free(run_report_t *report);

/* "up", "down" or "none". */
const char *run_direction_name(policy_direction_t direction);

/* "remote", "node" ... */
const char *run_peer_name(run_peer_t peer);

/* "float32" ...; "unsupported". */
const char *run_carrier_name(policy_carrier_t carrier);

#endif
