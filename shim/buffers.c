#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codec/tah.h"
#include "shim/buffers.h"
#include "shim/shim.h"
#include "shim/trace.h"

#define BUFFERS_GRAIN 4096         /* capacities are multiples of this, bytes */
#define BUFFERS_SHRINK_LEAST 65536 /* less than this is not worth giving back */
#define BUFFERS_LOOKS 128          /* kept buffers to look at for one that fits */

static pthread_mutex_t buffers_mutex = PTHREAD_MUTEX_INITIALIZER;
static buffer_t *buffers_kept; /* latest first */
static size_t buffers_kept_bytes;
static size_t buffers_taken, buffers_taken_most; /* bytes */
static uint64_t buffers_most;                    /* of what is taken and kept together */

static size_t buffers_capacity(size_t bytes)
{
    return (bytes + BUFFERS_GRAIN) / BUFFERS_GRAIN * BUFFERS_GRAIN;
}

/*
 * Unlinks the oldest kept buffers until no more than room bytes are kept; returns them as a list.
 */
static buffer_t *buffers_trim(size_t room)
{
    buffer_t **link = &buffers_kept;
    size_t kept = 0;
    if (buffers_kept_bytes <= room)
        return NULL;
    while (*link != NULL && kept + (*link)->bytes <= room) {
        kept += (*link)->bytes;
        link = &(*link)->older;
    }
    buffer_t *surplus = *link;
    *link = NULL;
    buffers_kept_bytes = kept;
    return surplus;
}

/* Counts bytes more as taken; returns what can no longer be kept beside them, as a list. */
static buffer_t *buffers_account(size_t bytes)
{
    buffers_taken += bytes;
    if (buffers_taken > buffers_taken_most)
        buffers_taken_most = buffers_taken;
    buffer_t *surplus = buffers_trim(BUFFERS_KEPT_BYTES + buffers_taken_most - buffers_taken);
    if (buffers_taken + buffers_kept_bytes > buffers_most)
        buffers_most = buffers_taken + buffers_kept_bytes;
    return surplus;
}

static void buffers_free(buffer_t *list)
{
    while (list != NULL) {
        buffer_t *older = list->older;
        free(list);
        list = older;
    }
}

/* The kept buffer that fits best without wasting more than it uses; unlinked. */
static buffer_t *buffers_find(size_t bytes)
{
    buffer_t **best = NULL, **link = &buffers_kept;
    for (int looks = 0; *link != NULL && looks < BUFFERS_LOOKS; looks++, link = &(*link)->older) {
        size_t capacity = (*link)->bytes;
        if (capacity >= bytes && capacity / 2 <= bytes &&
            (best == NULL || capacity < (*best)->bytes))
            best = link;
        if (capacity == bytes)
            break;
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
    size_t capacity = buffers_capacity(bytes);
    shim_lock(&buffers_mutex);
    buffer_t *buffer = buffers_find(capacity);
    buffer_t *surplus = buffers_account(buffer != NULL ? buffer->bytes : capacity);
    shim_unlock(&buffers_mutex);
    buffers_free(surplus);
    if (buffer == NULL) {
        buffer = malloc(sizeof *buffer + capacity);
        if (buffer == NULL) {
            shim_lock(&buffers_mutex);
            buffers_taken -= capacity;
            shim_unlock(&buffers_mutex);
            return NULL;
        }
        buffer->bytes = capacity;
    }
    buffer->flight = 0;
    return buffer;
}

/* All of it is kept: there was room for it while it was taken. */
void buffers_give(buffer_t *buffer)
{
    if (buffer == NULL)
        return;
    if (UNLIKELY(buffer->flight != 0))
        trace_arrived(buffer->flight);
    memset(buffer->data, 0, TAH_KEY_BYTES);
    shim_lock(&buffers_mutex);
    buffers_taken -= buffer->bytes;
    buffer->older = buffers_kept;
    buffers_kept = buffer;
    buffers_kept_bytes += buffer->bytes;
    shim_unlock(&buffers_mutex);
}

buffer_t *buffers_shrink(buffer_t *buffer, size_t bytes)
{
    size_t capacity = buffers_capacity(bytes);
    if (buffer->bytes < capacity + BUFFERS_SHRINK_LEAST || buffer->bytes / 8 * 7 < capacity)
        return buffer;
    buffer_t *smaller = buffers_take(bytes);
    if (smaller == NULL)
        return buffer;
    memcpy(smaller->data, buffer->data, bytes);
    buffers_give(buffer);
    return smaller;
}

uint64_t buffers_peak(void)
{
    return buffers_most;
}

void buffers_drop(void)
{
    shim_lock(&buffers_mutex);
    buffer_t *surplus = buffers_trim(0);
    shim_unlock(&buffers_mutex);
    buffers_free(surplus);
}
