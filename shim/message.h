/*
 * The one path of a message: decide, encode, send; receive, recognise, decode. Every wrapper of a
 * send asks message_encode what to put on the wire, and every wrapper that learns of a received
 * message hands it to message_restore.
 */
#ifndef SHIM_MESSAGE_H
#define SHIM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "shim/buffers.h"
#include "shim/mpi_header.h"
#include "shim/report.h"
#include "shim/shim.h"
#include "shim/types.h"

/* A message as it goes on the wire in place of the program's: whole elements of its basic type. */
typedef struct outgoing {
    buffer_t *buffer; /* the frame; to be given back when the send has completed */
    MPI_Count count;  /* elements of type */
    MPI_Datatype type;
} outgoing_t;

/*
 * Encodes a message if a rule says so and it is worth it. True: out is filled, the caller sends
 * out->buffer->data instead and later gives the buffer back. False: the message goes as it is, out
 * is untouched. The arguments are the program's, unchecked: whatever MPI will refuse goes as it
 * is. large: the count need not fit an int. synchronous: sent in a synchronous mode. The send
 * buffer is only read.
 */
bool message_encode(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, bool large, bool synchronous, outgoing_t *out);

/*
 * Whether a message is too small for any rule, by a look at what is known of its type. False also
 * where nothing is known.
 */
static inline bool message_is_small(MPI_Count count, MPI_Datatype datatype)
{
    const type_t *type = types_recent(datatype);
    return type != NULL && (uint64_t)count < UINT32_MAX &&
           (uint64_t)count * type->bytes < shim.least_bytes;
}

/* The same of a receive: whether its buffer is too small for a frame. */
static inline bool message_fits_no_frame(MPI_Count count, MPI_Datatype datatype)
{
    const type_t *type = types_recent(datatype);
    return type != NULL && (uint64_t)count < UINT32_MAX &&
           (uint64_t)count * type->bytes < TAH_FRAME_MIN;
}

/* Where a receive puts its message, and which error handler it answers to. */
typedef struct incoming {
    void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    type_t *type; /* held, see incoming_open */
    MPI_Comm comm;
    uint64_t posted; /* report_clock, if messages are traced; else 0 */
} incoming_t;

/* A receive about to be posted; its type is to be looked up. */
static inline incoming_t incoming_of(void *buf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Comm comm)
{
    return (incoming_t){.buf = buf, .count = count, .datatype = datatype, .comm = comm,
                        .posted = UNLIKELY(shim.trace) ? report_clock() : 0};
}

/* The most bytes the receive can take; type must have been looked up. */
size_t incoming_capacity(const incoming_t *in);

/*
 * Looks at a message that has been received into its buffer, of the length that status says, and
 * if it is a frame puts the tensor in its place and the logical length into status. from: a buffer
 * of the library's that holds the received bytes instead (a probe took them, or a bounce buffer),
 * or NULL; it stays the caller's. The datatype must be alive.
 * Returns MPI_SUCCESS, MPI_ERR_TRUNCATE (the buffer holds as much of the message as fits), or
 * errors_bad_frame (no encoded byte is left in the buffer); not raised.
 */
int message_restore(const incoming_t *in, const buffer_t *from, MPI_Status *status);

/*
 * The same where no status says how much was received: a frame that starts the memory says its
 * length. Makes no MPI call for dense types. Call only where no older key can lie in the buffer.
 */
int message_restore_unseen(const incoming_t *in);

/* Before a receive is posted of which no status will tell: wipes an older key out of its buffer. */
void message_wipe_key(const incoming_t *in);

/* Whether a received message can be a frame at all: the filter that spares all others a look. */
static inline bool message_maybe_frame(const MPI_Status *status)
{
    return UNLIKELY(tah_frame_length(status_bytes(status)));
}

/*
 * Length of the message that starts with these bytes, as the program must see it: the tensor's for
 * a frame, bytes itself for ordinary data.
 */
uint64_t message_logical_bytes(const void *data, uint64_t bytes);

#endif
