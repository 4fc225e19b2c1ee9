/* Decide, encode; recognise, decode. "Why was this message sent raw?" is answered here. */
#include "config.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/comms.h"
#include "shim/device.h"
#include "shim/errors.h"
#include "shim/log.h"
#include "shim/message.h"
#include "shim/report.h"
#include "shim/trace.h"
#include "shim/warmup.h"
#include "shim/workers.h"
#include "shim/watch.h"

/* Messages so far: with the rank, it gives each message random numbers of its own. */
static atomic_uint_least64_t message_serial;

/* A message that a rule names, on its way through the decision. */
typedef struct candidate {
    const void *buf;
    MPI_Count count;
    const type_t *type;
    policy_message_t message;
    int peer; /* world rank */
    int rule;
    tah_params_t params;
    size_t elements; /* of params.dtype */
} candidate_t;

/* Raw before anything else is asked: what MPI may refuse, and what no rule can name by its size. */
static bool message_considered(candidate_t *c, MPI_Datatype datatype, int dest, int tag)
{
    if (c->buf == MPI_BOTTOM || c->buf == MPI_IN_PLACE || c->count <= 0 || dest < 0 || tag < 0)
        return false;
    c->type = types_find(datatype);
    if (c->type == NULL || !c->type->sendable)
        return false;
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)c->count, (uint64_t)c->type->bytes, &bytes))
        return false;
    c->message.bytes = bytes;
    return bytes >= shim.least_bytes;
}

static bool message_matched(candidate_t *c, int dest, int tag, MPI_Comm handle, bool synchronous)
{
    comm_t *comm = comms_find(handle);
    if (comm == NULL || !comms_peer(comm, dest, &c->message, &c->peer)) {
        if (comm == NULL || !comm->framed)
            report_sent_unknown_peer(c->message.bytes);
        return false;
    }
    c->message.tag = tag;
    c->message.carrier = c->type->carrier;
    c->message.synchronous = synchronous;
    c->rule = policy_match(shim.policy, &c->message);
    if (c->rule < 0)
        return false;
    c->params = policy_rule(shim.policy, c->rule)->params;
    return c->params.codec != TAH_CODEC_NONE;
}

/* The serialised objects of Python, protocols 2 to 5: whatever a rule says, they must be exact. */
static bool message_is_pickle(const candidate_t *c)
{
    const unsigned char *data = c->buf;
    return c->type->carrier == POLICY_CARRIER_BYTES && c->type->dense && data[0] == 0x80 &&
           data[1] >= 2 && data[1] <= 5 && data[c->message.bytes - 1] == '.';
}

/* Whether the message, as it is, suits its rule; REPORT_RAW_COUNT: yes. */
static report_raw_t message_refused(candidate_t *c)
{
    c->params.dtype = policy_rule_dtype(shim.policy, c->rule, c->type->carrier);
    size_t element = tah_dtype_bytes(c->params.dtype);
    c->elements = c->message.bytes / element;
    if (c->message.bytes % element != 0 || tah_params_fit(&c->params, c->elements) != TAH_OK)
        return REPORT_RAW_FIT;
    if (device_memory(c->buf))
        return REPORT_RAW_DEVICE;
    if (c->params.codec != TAH_CODEC_LOSSLESS && message_is_pickle(c))
        return REPORT_RAW_OBJECT;
    if (warmup_applies(c->rule, c->peer))
        return REPORT_RAW_WARMUP;
    return REPORT_RAW_COUNT;
}

static report_raw_t message_raw_reason(tah_status_t status)
{
    switch (status) {
    case TAH_ERR_SPACE:
        return REPORT_RAW_SPACE;
    case TAH_ERR_SQNR:
        return REPORT_RAW_SQNR;
    case TAH_ERR_MEMORY:
        return REPORT_RAW_MEMORY;
    default:
        return REPORT_RAW_FIT;
    }
}

/*
 * Encodes into a buffer of the size that a frame normally has, and only where exact tiles make it
 * longer into one of the message's own size. NULL with the reason in status.
 */
static buffer_t *message_encode_elements(const candidate_t *c, const void *src,
                                         tah_encoded_t *encoded, tah_status_t *status)
{
    tah_message_t message = {.rule = (uint8_t)c->rule,
                             .serial = atomic_fetch_add(&message_serial, 1) << 16 ^
                                       (uint64_t)shim.rank,
                             .measure = report_samples(c->rule, c->message.direction),
                             .pool = workers_pool(c->message.bytes)};
    memcpy(message.key, shim.key, sizeof message.key);
    size_t most = c->message.bytes;
    size_t capacity = tah_frame_bound(&c->params, c->elements);
    for (size_t room = capacity < most ? capacity : most;; room = most) {
        buffer_t *buffer = buffers_take(room);
        if (buffer == NULL) {
            *status = TAH_ERR_MEMORY;
            return NULL;
        }
        *status = tah_encode(&c->params, &message, src, c->elements, buffer->data, room, encoded);
        if (*status == TAH_OK)
            return buffers_shrink(buffer, encoded->frame_bytes);
        buffers_give(buffer);
        if (*status != TAH_ERR_SPACE || room == most)
            return NULL;
    }
}

/* Data with gaps is gathered first, as MPI itself would on the way out. */
static buffer_t *message_encode_any(const candidate_t *c, tah_encoded_t *encoded,
                                    tah_status_t *status)
{
    if (c->type->dense)
        return message_encode_elements(c, c->buf, encoded, status);
    buffer_t *packed = buffers_take(c->message.bytes);
    *status = TAH_ERR_MEMORY;
    if (packed == NULL)
        return NULL;
    buffer_t *frame = NULL;
    if (types_pack(c->buf, c->type->handle, c->type->bytes, c->message.bytes, packed->data) ==
        MPI_SUCCESS)
        frame = message_encode_elements(c, packed->data, encoded, status);
    buffers_give(packed);
    return frame;
}

bool message_encode(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, bool large, bool synchronous, outgoing_t *out)
{
    candidate_t c = {.buf = buf, .count = count};
    if (UNLIKELY(shim.watch) && watch_send(buf, count, datatype, dest, tag, comm, synchronous))
        return false;
    if (LIKELY(!message_considered(&c, datatype, dest, tag)) ||
        !message_matched(&c, dest, tag, comm, synchronous))
        return false;
    report_raw_t refused = message_refused(&c);
    if (refused != REPORT_RAW_COUNT) {
        report_sent_raw(c.rule, c.message.direction, c.message.bytes, refused);
        return false;
    }
    tah_encoded_t encoded;
    tah_status_t status;
    uint64_t before = report_clock();
    buffer_t *frame = message_encode_any(&c, &encoded, &status);
    if (frame != NULL && !large && encoded.frame_bytes / c.type->base_bytes > INT_MAX) {
        buffers_give(frame);
        frame = NULL;
        status = TAH_ERR_SPACE;
    }
    if (frame == NULL) {
        report_sent_raw(c.rule, c.message.direction, c.message.bytes, message_raw_reason(status));
        return false;
    }
    report_sent(c.rule, c.message.direction, c.message.bytes, report_clock() - before, &encoded);
    if (UNLIKELY(shim.trace))
        frame->flight = trace_encoded(
            before, &(traced_t){c.rule, dest, tag, c.message.bytes, encoded.frame_bytes});
    out->buffer = frame;
    out->count = (MPI_Count)(encoded.frame_bytes / c.type->base_bytes);
    out->type = c.type->base;
    return true;
}
