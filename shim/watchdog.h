/*
 * Turns silence at start into a message. A thread that lives only as long as the start: while a
 * blocking MPI call waits for another rank, it counts the seconds.
 */
#ifndef SHIM_WATCHDOG_H
#define SHIM_WATCHDOG_H

/* Starts the thread. Without one (no memory, a limit) silence stays silence; that is logged. */
void watchdog_start(void);

/* From now on rank is waited for; after seconds the process says so and ends. */
void watchdog_watch(int rank, double seconds);

/* Nobody is waited for. */
void watchdog_rest(void);

/* Ends the thread. */
void watchdog_stop(void);

#endif
