/*
 * The report: what became of the messages that a rule named, summed over ranks.
 */
#ifndef SHIM_REPORT_H
#define SHIM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/tah.h"
#include "policy/policy.h"

/* Why a message that a rule matched went raw. */
typedef enum report_raw {
    REPORT_RAW_WARMUP,     /* the rule's first messages to this peer */
    REPORT_RAW_FIT,        /* channels or element size do not divide it */
    REPORT_RAW_SPACE,      /* a frame would have been longer */
    REPORT_RAW_SQNR,       /* min-sqnr is not reached */
    REPORT_RAW_OBJECT,     /* bytes that are a pickled object */
    REPORT_RAW_DEVICE,     /* device memory */
    REPORT_RAW_MEMORY,     /* no memory for the frame */
    REPORT_RAW_COUNT
} report_raw_t;

/* Counts a framed message; thread-safe, like everything here. */
void report_sent(int rule, policy_direction_t direction, uint64_t message_bytes,
                 uint64_t encode_ns, const tah_encoded_t *encoded);

void report_sent_raw(int rule, policy_direction_t direction, uint64_t message_bytes,
                     report_raw_t reason);

/* Counts a decoded frame, under the rule it names. */
void report_received(unsigned rule, uint64_t message_bytes, uint64_t decode_ns);

/* Counts a message to a communicator with processes that are not known to have the library. */
void report_sent_unknown_peer(uint64_t message_bytes);

/* Whether the error of the next message of that rule and direction is to be measured. */
bool report_samples(int rule, policy_direction_t direction);

/* Nanoseconds on a clock that only goes forward. */
uint64_t report_clock(void);

/* Starts the wall clock of the report. */
void report_start(void);

/*
 * Sums all ranks' figures on rank 0; collective over shim.comm, before MPI is finalised. Makes no
 * other MPI call.
 */
void report_gather(void);

/* Writes what was asked for, on rank 0; makes no MPI call. */
void report_write(void);

/*
 * For a process that ends without MPI_Finalize: writes this rank's own figures, to
 * FILE.rankN for JSON. Makes no MPI call.
 */
void report_write_own(void);

#endif
