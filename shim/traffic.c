#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "shim/calls.h"
#include "shim/shim.h"
#include "shim/traffic.h"

#define TRAFFIC_TAG 1 /* of messages on the library's own communicator */
#define TRAFFIC_SHIFT_MOST 31

_Static_assert(sizeof(traffic_key_t) == 16, "keys are hashed and compared as two words");

static pthread_mutex_t traffic_mutex = PTHREAD_MUTEX_INITIALIZER;
static traffic_t traffic_own;
static traffic_t traffic_received, traffic_before; /* in use only while gathering and widening */

static size_t traffic_hash(const traffic_key_t *key)
{
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    uint64_t hash = (words[0] ^ words[1] * UINT64_C(0x9e3779b97f4a7c15)) *
                    UINT64_C(0xff51afd7ed558ccd);
    return (size_t)(hash >> 40) % TRAFFIC_SLOTS;
}

/* The slot of a key, or the free one where it belongs; one is always free. */
static traffic_entry_t *traffic_slot(traffic_t *traffic, const traffic_key_t *key)
{
    size_t at = traffic_hash(key);
    while (traffic->slots[at].messages != 0 &&
           memcmp(&traffic->slots[at].key, key, sizeof *key) != 0)
        at = (at + 1) % TRAFFIC_SLOTS;
    return &traffic->slots[at];
}

static void traffic_merge(traffic_entry_t *slot, const traffic_entry_t *entry)
{
    slot->messages += entry->messages;
    slot->bytes += entry->bytes;
    slot->least = entry->least < slot->least ? entry->least : slot->least;
    slot->most = entry->most > slot->most ? entry->most : slot->most;
    slot->tag_first = entry->tag_first < slot->tag_first ? entry->tag_first : slot->tag_first;
    slot->tag_last = entry->tag_last > slot->tag_last ? entry->tag_last : slot->tag_last;
}

/* Puts an entry where its tags and the table's shift say; false: no room. */
static bool traffic_put(traffic_t *traffic, const traffic_entry_t *entry)
{
    traffic_entry_t moved = *entry;
    moved.key.tag_range = entry->tag_first >> traffic->shift;
    traffic_entry_t *slot = traffic_slot(traffic, &moved.key);
    if (slot->messages == 0 && traffic->used >= TRAFFIC_MOST)
        return false;
    if (slot->messages == 0) {
        *slot = moved;
        traffic->used++;
    } else {
        traffic_merge(slot, &moved);
    }
    return true;
}

/* Ranges of tags twice as wide, or wider; what shares a range now is counted together. */
static void traffic_widen(traffic_t *traffic, int shift)
{
    traffic_before = *traffic;
    memset(traffic->slots, 0, sizeof traffic->slots);
    traffic->used = 0;
    traffic->shift = shift;
    for (int i = 0; i < TRAFFIC_SLOTS; i++)
        if (traffic_before.slots[i].messages != 0)
            traffic_put(traffic, &traffic_before.slots[i]);
}

static void traffic_add(traffic_t *traffic, const traffic_entry_t *entry)
{
    while (!traffic_put(traffic, entry)) {
        if (traffic->shift == TRAFFIC_SHIFT_MOST) {
            traffic->others_messages += entry->messages;
            traffic->others_bytes += entry->bytes;
            return;
        }
        traffic_widen(traffic, traffic->shift + 1);
    }
}

bool traffic_wanted(void)
{
    const settings_t *s = &shim.settings;
    bool reported = s->report_table || s->report[0] != '\0';
    return reported && (s->observe || policy_rule_count(shim.policy) > 0);
}

static uint8_t traffic_digits(uint64_t bytes)
{
    return bytes == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(bytes));
}

void traffic_count(const watched_t *seen)
{
    const policy_message_t *m = &seen->message;
    traffic_entry_t entry = {
        .key = {.comm_size = m->comm_size,
                .rule = (int16_t)seen->rule,
                .type = (uint8_t)(seen->carrier_known ? (unsigned)m->carrier
                                                      : TRAFFIC_TYPE_UNSUPPORTED),
                .direction = (uint8_t)m->direction,
                .peer = (uint8_t)seen->peer,
                .size = traffic_digits(m->bytes),
                .synchronous = m->synchronous},
        .tag_first = m->tag, .tag_last = m->tag,
        .messages = 1, .bytes = m->bytes, .least = m->bytes, .most = m->bytes,
    };
    shim_lock(&traffic_mutex);
    traffic_add(&traffic_own, &entry);
    shim_unlock(&traffic_mutex);
}

static void traffic_add_all(traffic_t *traffic, const traffic_t *more)
{
    if (more->shift > traffic->shift)
        traffic_widen(traffic, more->shift);
    for (int i = 0; i < TRAFFIC_SLOTS; i++)
        if (more->slots[i].messages != 0)
            traffic_add(traffic, &more->slots[i]);
    traffic->others_messages += more->others_messages;
    traffic->others_bytes += more->others_bytes;
}

void traffic_gather(void)
{
    for (int step = 1; step < shim.size; step *= 2) {
        if (shim.rank & step) {
            pmpi.Send(&traffic_own, sizeof traffic_own, MPI_BYTE, shim.rank - step, TRAFFIC_TAG,
                      shim.comm);
            return;
        }
        if (shim.rank + step >= shim.size)
            continue;
        pmpi.Recv(&traffic_received, sizeof traffic_received, MPI_BYTE, shim.rank + step,
                  TRAFFIC_TAG, shim.comm, MPI_STATUS_IGNORE);
        traffic_add_all(&traffic_own, &traffic_received);
    }
}

const traffic_t *traffic_counts(void)
{
    return &traffic_own;
}
