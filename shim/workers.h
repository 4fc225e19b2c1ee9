/* The threads that help with large messages: how many this rank may have, and where they run. */
#ifndef SHIM_WORKERS_H
#define SHIM_WORKERS_H

#include "codec/tah.h"

/*
 * Notes which processors this rank may use and how many ranks of its node may use the same.
 * Collective over shim.comm.
 */
void workers_start(void);

/*
 * The pool for a message of this many bytes; NULL: it is small, or this rank has one core. The
 * first large message makes the pool. Thread-safe.
 */
tah_pool_t *workers_pool(uint64_t bytes);

/* Ends the threads. Only when no other thread is inside the library. */
void workers_end(void);

#endif
