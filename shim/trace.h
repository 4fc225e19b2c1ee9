/*
 * TAHMPI_TRACE: when every framed message was encoded, on its way, and decoded, as a file that
 * Chrome's trace viewers show (chrome://tracing, Perfetto). Each rank keeps its first events, in
 * memory of fixed size.
 */
#ifndef SHIM_TRACE_H
#define SHIM_TRACE_H

#include <stdint.h>

/* What is told of a message. */
typedef struct traced {
    int rule, peer, tag; /* peer: rank in the message's communicator */
    uint64_t tensor_bytes, wire_bytes;
} traced_t;

/*
 * Starts what the settings ask for, and sets shim.trace. Collective over shim.comm, at start: the
 * ranks' clocks are set to zero here.
 */
void trace_start(void);

/*
 * Notes that a message was encoded from begin until now, and begins its way. Returns what
 * trace_arrived ends the latter with; 0 where there is no room. This and what follows: call only
 * where shim.trace is set; thread-safe.
 */
uint64_t trace_encoded(uint64_t begin, const traced_t *message);

/* The frame's send has completed. */
void trace_arrived(uint64_t flight);

/*
 * Notes that a message whose receive was posted at that time (0: not known) was there at begin, and
 * has been decoded until now.
 */
void trace_decoded(uint64_t posted, uint64_t begin, const traced_t *message);

/* Writes the file: all ranks' events, by rank 0; collective over shim.comm, before MPI ends. */
void trace_gather(void);

/* For a process that ends without MPI_Finalize: this rank's own, to FILE.rankN. */
void trace_write_own(void);

#endif
