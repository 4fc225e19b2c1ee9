/* Messages to rules. */
#include <stdlib.h>

#include "policy/rules.h"

const policy_carrier_info_t policy_carriers[POLICY_CARRIER_COUNT] = {
    [POLICY_CARRIER_BYTES] = {TAH_BYTES, 1},     [POLICY_CARRIER_INT16] = {TAH_BYTES, 2},
    [POLICY_CARRIER_OTHER] = {TAH_BYTES, 1},     [POLICY_CARRIER_FLOAT32] = {TAH_FLOAT32, 4},
    [POLICY_CARRIER_FLOAT64] = {TAH_FLOAT64, 8}, [POLICY_CARRIER_BFLOAT16] = {TAH_BFLOAT16, 2},
    [POLICY_CARRIER_FLOAT16] = {TAH_FLOAT16, 2},
};

static bool set_contains(const policy_set_t *set, int64_t number)
{
    for (int i = 0; i < set->count; i++) {
        if (number <= set->ranges[i].last)
            return number >= set->ranges[i].first;
    }
    return false;
}

/* Whether every number of b is in a. Ranges of a do not touch, so one of them must hold each. */
static bool set_covers(const policy_set_t *a, const policy_set_t *b)
{
    int i = 0;

    for (int j = 0; j < b->count; j++) {
        while (i < a->count && a->ranges[i].last < b->ranges[j].last)
            i++;
        if (i == a->count || a->ranges[i].first > b->ranges[j].first)
            return false;
    }
    return true;
}

bool policy_matcher_covers(const policy_matcher_t *a, const policy_matcher_t *b)
{
    if (b->carriers & ~a->carriers)
        return false;
    for (policy_carrier_t carrier = 0; carrier < POLICY_CARRIER_COUNT; carrier++) {
        /* All are powers of two, so the larger one is the least common multiple. */
        unsigned natural = policy_carriers[carrier].bytes;
        unsigned multiple = b->element > natural ? b->element : natural;
        if (b->carriers >> carrier & 1 && multiple % a->element != 0)
            return false;
    }
    return a->min_bytes <= b->min_bytes && a->max_bytes >= b->max_bytes &&
           (a->direction == POLICY_ANY_DIRECTION || a->direction == b->direction) &&
           (a->scope == POLICY_SCOPE_ALL || a->scope == b->scope) &&
           (a->synchronous || !b->synchronous) && set_covers(&a->tags, &b->tags) &&
           set_covers(&a->comm_sizes, &b->comm_sizes);
}

static bool matcher_accepts(const policy_matcher_t *match, const policy_message_t *message)
{
    return message->bytes >= match->min_bytes && message->bytes <= match->max_bytes &&
           match->carriers >> message->carrier & 1 &&
           (message->bytes & (match->element - 1u)) == 0 &&
           (message->remote || match->scope == POLICY_SCOPE_ALL) &&
           (match->direction == POLICY_ANY_DIRECTION || match->direction == message->direction) &&
           (!message->synchronous || match->synchronous) &&
           set_contains(&match->tags, message->tag) &&
           set_contains(&match->comm_sizes, message->comm_size);
}

int policy_match(const policy_t *policy, const policy_message_t *message)
{
    for (int i = 0; i < policy->count; i++) {
        if (matcher_accepts(&policy->entries[i].match, message))
            return i;
    }
    return -1;
}

uint64_t policy_least_bytes(const policy_t *policy)
{
    return policy->least_bytes;
}

int policy_rule_count(const policy_t *policy)
{
    return policy->count;
}

const policy_rule_t *policy_rule(const policy_t *policy, int index)
{
    return &policy->entries[index].rule;
}

tah_dtype_t policy_rule_dtype(const policy_t *policy, int index, policy_carrier_t carrier)
{
    const policy_entry_t *entry = &policy->entries[index];

    return entry->typed ? entry->rule.params.dtype : policy_carriers[carrier].dtype;
}

tah_dtype_t policy_carrier_dtype(policy_carrier_t carrier)
{
    return policy_carriers[carrier].dtype;
}

const char *policy_carrier_name(policy_carrier_t carrier)
{
    static const char *const names[POLICY_CARRIER_COUNT] = {
        [POLICY_CARRIER_BYTES] = "bytes",       [POLICY_CARRIER_INT16] = "int16",
        [POLICY_CARRIER_OTHER] = "other",       [POLICY_CARRIER_FLOAT32] = "float32",
        [POLICY_CARRIER_FLOAT64] = "float64",   [POLICY_CARRIER_BFLOAT16] = "bfloat16",
        [POLICY_CARRIER_FLOAT16] = "float16",
    };

    return (unsigned)carrier < POLICY_CARRIER_COUNT ? names[carrier] : NULL;
}

void policy_rule_bytes(const policy_t *policy, int index, uint64_t *least, uint64_t *most)
{
    *least = policy->entries[index].match.min_bytes;
    *most = policy->entries[index].match.max_bytes;
}

bool policy_rule_tags(const policy_t *policy, int index, int number, int *first, int *last)
{
    const policy_set_t *tags = &policy->entries[index].match.tags;

    if (number >= tags->count)
        return false;
    *first = (int)tags->ranges[number].first;
    *last = (int)tags->ranges[number].last;
    return true;
}

void policy_free(policy_t *policy)
{
    free(policy);
}
