/* Recognise, decode. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/device.h"
#include "shim/errors.h"
#include "shim/log.h"
#include "shim/message.h"
#include "shim/report.h"
#include "shim/trace.h"
#include "shim/workers.h"

size_t incoming_capacity(const incoming_t *in)
{
    size_t bytes;
    size_t each = types_bytes(in->datatype, in->type);
    if (in->count <= 0 || __builtin_mul_overflow((size_t)in->count, each, &bytes))
        return in->count <= 0 ? 0 : SIZE_MAX;
    return bytes;
}

uint64_t message_logical_bytes(const void *data, uint64_t bytes)
{
    tah_frame_t frame;
    if (tah_frame_length(bytes) && tah_frame_has_key(data, shim.key) &&
        tah_frame_read(data, bytes, shim.key, &frame) == TAH_OK)
        return frame.tensor_bytes;
    return bytes;
}

/* The handle that is alive: the program's own may have been freed since the receive was posted. */
static MPI_Datatype restore_handle(const incoming_t *in)
{
    return in->type != NULL ? in->type->handle : in->datatype;
}

static bool restore_in_place(const incoming_t *in)
{
    return in->type != NULL && in->type->dense && in->buf != MPI_BOTTOM;
}

/*
 * Whether the buffer starts with the job's key. Of device memory only that much is fetched; true
 * also where it cannot be, so that the caller's own fetch fails.
 */
static bool restore_has_key(const incoming_t *in)
{
    uint8_t start[TAH_KEY_BYTES];
    if (!device_memory(in->buf))
        return tah_frame_has_key(in->buf, shim.key);
    return !device_copy(start, in->buf, sizeof start) || tah_frame_has_key(start, shim.key);
}

/*
 * The received bytes as one piece of memory. A contiguous buffer is looked at where it is; what is
 * found to be a frame is then copied out, and so is what lies in a buffer with gaps.
 */
static int restore_fetch(const incoming_t *in, size_t bytes, buffer_t **copy, bool *frame)
{
    *copy = NULL;
    *frame = false;
    if (restore_in_place(in) && !restore_has_key(in))
        return MPI_SUCCESS;
    size_t each = types_bytes(in->datatype, in->type);
    if (each == 0)
        return MPI_SUCCESS;
    /* Packing needs room for the rest of an element, which may be as large as the tensor. */
    *copy = buffers_take(restore_in_place(in) ? bytes : bytes + each);
    if (*copy == NULL) {
        log_error("out of memory: %zu bytes to look at a received message", bytes);
        return errors_bad_frame();
    }
    int rc = MPI_SUCCESS;
    if (!restore_in_place(in))
        rc = types_pack(in->buf, restore_handle(in), each, bytes, (*copy)->data);
    else if (!device_copy((*copy)->data, in->buf, bytes))
        rc = errors_bad_frame();
    *frame = rc == MPI_SUCCESS && tah_frame_has_key((*copy)->data, shim.key);
    return rc;
}

/* Puts plain data where the receive wants it, as much as fits. */
static int restore_deliver(const incoming_t *in, const void *data, size_t bytes)
{
    size_t capacity = incoming_capacity(in);
    size_t fits = bytes < capacity ? bytes : capacity;
    int rc = MPI_SUCCESS;
    if (fits == 0)
        rc = MPI_SUCCESS;
    else if (restore_in_place(in))
        rc = device_copy(in->buf, data, fits) ? MPI_SUCCESS : errors_bad_frame();
    else
        rc = types_unpack(data, fits, in->buf, restore_handle(in),
                          types_bytes(in->datatype, in->type));
    return bytes > capacity ? MPI_ERR_TRUNCATE : rc;
}

/*
 * Decodes straight into the program's buffer where it can hold the tensor, else by way of memory.
 */
static tah_status_t restore_decode(const incoming_t *in, const void *data, size_t bytes,
                                   const tah_frame_t *frame, int *rc)
{
    *rc = MPI_SUCCESS;
    size_t capacity = incoming_capacity(in);
    if (restore_in_place(in) && frame->tensor_bytes <= capacity && !device_memory(in->buf))
        return tah_decode(data, bytes, frame, workers_pool(frame->tensor_bytes), in->buf, capacity);
    buffer_t *tensor = buffers_take(frame->tensor_bytes);
    if (tensor == NULL)
        return TAH_ERR_MEMORY;
    tah_status_t status = tah_decode(data, bytes, frame, workers_pool(frame->tensor_bytes),
                                     tensor->data, frame->tensor_bytes);
    if (status == TAH_OK)
        *rc = restore_deliver(in, tensor->data, frame->tensor_bytes);
    buffers_give(tensor);
    return status;
}

/* No encoded byte may stay where the program could take it for data. */
static void restore_wipe(const incoming_t *in, size_t bytes)
{
    buffer_t *zeros = buffers_take(bytes);
    if (zeros == NULL)
        return;
    memset(zeros->data, 0, bytes);
    restore_deliver(in, zeros->data, bytes);
    buffers_give(zeros);
}

static int restore_frame(const incoming_t *in, const void *data, size_t bytes, MPI_Status *status)
{
    tah_frame_t frame;
    int rc = MPI_SUCCESS;
    uint64_t before = report_clock();
    tah_status_t found = tah_frame_read(data, bytes, shim.key, &frame);
    if (found == TAH_OK)
        found = restore_decode(in, data, bytes, &frame, &rc);
    if (found == TAH_OK) {
        report_received(frame.rule, frame.tensor_bytes, report_clock() - before);
        if (UNLIKELY(shim.trace))
            trace_decoded(in->posted, before,
                          &(traced_t){frame.rule, status->MPI_SOURCE, status->MPI_TAG,
                                      frame.tensor_bytes, bytes});
        status_set_truncated(status, frame.tensor_bytes, incoming_capacity(in));
        return rc;
    }
    log_error("the message from rank %d, tag %d (%zu bytes on the wire), cannot be restored: %s; "
              "run with TAHMPI_DISABLE=1 to send everything raw",
              status->MPI_SOURCE, status->MPI_TAG, bytes, tah_status_string(found));
    restore_wipe(in, bytes);
    return errors_bad_frame();
}

int message_restore(const incoming_t *in, const buffer_t *from, MPI_Status *status)
{
    size_t bytes = (size_t)status_bytes(status);
    if (from != NULL) {
        bool frame = tah_frame_length(bytes) && tah_frame_has_key(from->data, shim.key);
        if (frame)
            return restore_frame(in, from->data, bytes, status);
        int rc = restore_deliver(in, from->data, bytes);
        if (rc == MPI_ERR_TRUNCATE)
            status_set_truncated(status, bytes, incoming_capacity(in));
        return rc;
    }
    if (!tah_frame_length(bytes))
        return MPI_SUCCESS;
    buffer_t *copy;
    bool frame;
    int rc = restore_fetch(in, bytes, &copy, &frame);
    if (rc == MPI_SUCCESS && frame)
        rc = restore_frame(in, copy->data, bytes, status);
    buffers_give(copy);
    return rc;
}

/* The receive's whole memory as one piece; NULL where there is none. */
static buffer_t *restore_copy_all(const incoming_t *in, size_t capacity)
{
    size_t each = types_bytes(in->datatype, in->type);
    buffer_t *copy = each > 0 ? buffers_take(capacity) : NULL;
    if (copy == NULL)
        return NULL;
    bool copied = restore_in_place(in) ? device_copy(copy->data, in->buf, capacity)
                                       : types_pack(in->buf, restore_handle(in), each, capacity,
                                                    copy->data) == MPI_SUCCESS;
    if (copied)
        return copy;
    buffers_give(copy);
    return NULL;
}

int message_restore_unseen(const incoming_t *in)
{
    size_t capacity = incoming_capacity(in);
    if (capacity < TAH_FRAME_MIN || (restore_in_place(in) && !restore_has_key(in)))
        return MPI_SUCCESS;
    buffer_t *copy = restore_copy_all(in, capacity);
    if (copy == NULL)
        return MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    size_t bytes = tah_frame_claimed_bytes(copy->data, capacity, shim.key);
    if (bytes != 0) {
        MPI_Status status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
        rc = restore_frame(in, copy->data, bytes, &status);
    }
    buffers_give(copy);
    return rc;
}

void message_wipe_key(const incoming_t *in)
{
    static const uint8_t zeros[TAH_KEY_BYTES];
    if (in->type != NULL && incoming_capacity(in) >= TAH_FRAME_MIN && restore_in_place(in) &&
        restore_has_key(in))
        device_copy(in->buf, zeros, sizeof zeros);
}
