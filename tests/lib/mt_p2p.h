/*
 * Every way to send one message and every way to receive one, as tables, so that programs can go
 * through them all. A sending function returns when its buffer may be used again.
 */
#ifndef MT_P2P_H
#define MT_P2P_H

#include "tests/lib/mt.h"

typedef struct mt_message {
    void *data; /* only read when sending */
    int count;
    MPI_Datatype type;
    int peer; /* may be MPI_ANY_SOURCE when receiving */
    int tag;  /* may be MPI_ANY_TAG when receiving */
    MPI_Comm comm;
    MPI_Status *status; /* receiving; may be MPI_STATUS_IGNORE */
    /* Receiving: tell go_peer, by an empty message of tag MT_GO on comm, once the receive is
     * posted. */
    bool go;
    int go_peer;
} mt_message_t;

enum { MT_GO = 9999 };

typedef int mt_transfer_t(const mt_message_t *message);

typedef struct mt_mode {
    const char *name;
    mt_transfer_t *transfer;
    bool ready;    /* sending: a ready mode, needs the receive to be posted */
    bool posted;   /* receiving: posts before it waits, so it can tell the sender to go */
    bool buffered; /* sending: needs an attached buffer */
} mt_mode_t;

extern const mt_mode_t mt_sends[], mt_receives[];
extern const int mt_send_count, mt_receive_count;

/* The entry of that name; ends the program with 99 if there is none. */
const mt_mode_t *mt_send_mode(const char *name);
const mt_mode_t *mt_receive_mode(const char *name);

/*
 * Attaches a buffer for buffered sends of up to bytes in all; mt_buffer_detach waits for them and
 * frees it.
 */
void mt_buffer_attach(size_t bytes);
void mt_buffer_detach(void);

/*
 * One message of count elements of kind from rank source to rank destination of comm, by those
 * modes; notes its status and data under label. Collective over comm; ranks that are neither return
 * at once, unless wild: received with MPI_ANY_SOURCE and MPI_ANY_TAG, between two barriers.
 * Combinations that MPI does not allow (a ready send to a receive that cannot be posted first) are
 * left out, the same on all ranks.
 */
typedef struct mt_exchange {
    const mt_mode_t *send, *receive;
    int source, destination, tag;
    MPI_Comm comm;
    mt_kind_t kind;
    int count;
    int spare; /* elements that the receive has room for beyond count */
    bool wild;
} mt_exchange_t;

void mt_exchange(const char *label, const mt_exchange_t *exchange);

#endif
