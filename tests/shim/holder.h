/* How a test program has holder.c hold up one of its threads. */
#ifndef HOLDER_H
#define HOLDER_H

/* What the next MPI_Wait to have completed its request calls before it returns, once. */
typedef void holder_call_t(void);

/* Preloaded; look it up by name, it may not be there. Asks for the call above. */
typedef void holder_ask_t(holder_call_t *call);
holder_ask_t holder_ask;

#endif
