#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codec/tah.h"
#include "shim/buffers.h"
#include "shim/shim.h"
#include "shim/trace.h"

#define BUFFERS_GRAIN 4096        /* capacities are multiples of this, bytes */
#define BUFFERS_SHRINK_LEAST 65536 /* less than this is not worth giving back */

static pthread_mutex_t buffers_mutex = PTHREAD_MUTEX_INITIALIZER;
static buffer_t *buffers_kept; /* latest first */
static size_t buffers_kept_bytes;
static uint64_t buffers_held; /* taken and kept together */
static uint64_t buffers_most;

static void buffers_account(size_t more, size_t less)
{
    buffers_held += more;
    buffers_held -= less;
    if (buffers_held > buffers_most)
        buffers_most = buffers_held;
}

/* The kept buffer that fits best without wasting more than it uses; unlinked. */
static buffer_t *buffers_find(size_t bytes)
{
    buffer_t **best = NULL;
    for (buffer_t **link = &buffers_kept; *link != NULL; link = &(*link)->older) {
        size_t capacity = (*link)->bytes;
        if (capacity >= bytes && capacity / 2 <= bytes && (best == NULL || capacity < (*best)->bytes))
            best = link;
    }
    if (best == NULL)
        return NULL;
    buffer_t *found = *best;
    *best = found->older;
    buffers_kept_bytes -= found->bytes;
    return found;
}

buffer_t *buffers_take(size_t bytes)
{
    size_t capacity = (bytes + BUFFERS_GRAIN) / BUFFERS_GRAIN * BUFFERS_GRAIN;
    shim_lock(&buffers_mutex);
    buffer_t *buffer = buffers_find(capacity);
    shim_unlock(&buffers_mutex);
    if (buffer != NULL) {
        buffer->flight = 0;
        return buffer;
    }
    buffer = malloc(sizeof *buffer + capacity);
    if (buffer == NULL)
        return NULL;
    buffer->bytes = capacity;
    buffer->flight = 0;
    shim_lock(&buffers_mutex);
    buffers_account(capacity, 0);
    shim_unlock(&buffers_mutex);
    return buffer;
}

/* Unlinks the oldest kept buffers until bytes more fit; returns them as a list to be freed. */
static buffer_t *buffers_make_room(size_t bytes)
{
    buffer_t **link = &buffers_kept;
    size_t kept = 0;
    while (*link != NULL && kept + (*link)->bytes + bytes <= BUFFERS_KEPT_BYTES) {
        kept += (*link)->bytes;
        link = &(*link)->older;
    }
    buffer_t *surplus = *link;
    *link = NULL;
    buffers_account(0, buffers_kept_bytes - kept);
    buffers_kept_bytes = kept;
    return surplus;
}

void buffers_give(buffer_t *buffer)
{
    if (buffer == NULL)
        return;
    if (UNLIKELY(buffer->flight != 0))
        trace_arrived(buffer->flight);
    memset(buffer->data, 0, TAH_KEY_BYTES);
    buffer->older = NULL;
    shim_lock(&buffers_mutex);
    buffer_t *surplus = buffer;
    if (buffer->bytes <= BUFFERS_KEPT_BYTES) {
        surplus = buffers_make_room(buffer->bytes);
        buffer->older = buffers_kept;
        buffers_kept = buffer;
        buffers_kept_bytes += buffer->bytes;
    } else {
        buffers_account(0, buffer->bytes);
    }
    shim_unlock(&buffers_mutex);
    while (surplus != NULL) {
        buffer_t *older = surplus->older;
        free(surplus);
        surplus = older;
    }
}

buffer_t *buffers_shrink(buffer_t *buffer, size_t bytes)
{
    size_t capacity = (bytes + BUFFERS_GRAIN) / BUFFERS_GRAIN * BUFFERS_GRAIN;
    if (buffer->bytes < capacity + BUFFERS_SHRINK_LEAST || buffer->bytes / 8 * 7 < capacity)
        return buffer;
    size_t before = buffer->bytes;
    buffer_t *smaller = realloc(buffer, sizeof *buffer + capacity);
    if (smaller == NULL)
        return buffer;
    smaller->bytes = capacity;
    shim_lock(&buffers_mutex);
    buffers_account(0, before - capacity);
    shim_unlock(&buffers_mutex);
    return smaller;
}

uint64_t buffers_peak(void)
{
    return buffers_most;
}

void buffers_drop(void)
{
    shim_lock(&buffers_mutex);
    buffer_t *surplus = buffers_kept;
    buffers_account(0, buffers_kept_bytes);
    buffers_kept = NULL;
    buffers_kept_bytes = 0;
    shim_unlock(&buffers_mutex);
    while (surplus != NULL) {
        buffer_t *older = surplus->older;
        free(surplus);
        surplus = older;
    }
}
