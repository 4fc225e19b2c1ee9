/* Rules in words, and in the form of the policy file. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/rules.h"

/* Text that is built up piece by piece; what does not fit is cut off. */
typedef struct builder {
    char *text;
    size_t bytes, used;
} builder_t;

__attribute__((format(printf, 2, 3))) static void add(builder_t *builder, const char *format, ...)
{
    va_list arguments;

    if (builder->used + 1 >= builder->bytes)
        return;
    va_start(arguments, format);
    builder->used += (size_t)vsnprintf(builder->text + builder->used,
                                       builder->bytes - builder->used, format, arguments);
    va_end(arguments);
}

static void add_size(builder_t *builder, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    int unit = 0;

    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    add(builder, "%llu %s", (unsigned long long)bytes, units[unit]);
}

static void add_set(builder_t *builder, const policy_set_t *set)
{
    for (int i = 0; i < set->count; i++) {
        uint32_t first = set->ranges[i].first, last = set->ranges[i].last;
        add(builder, "%s%u", i ? ", " : "", first);
        if (last == INT_MAX && first != last)
            add(builder, " and up");
        else if (first != last)
            add(builder, "-%u", last);
    }
}

static bool set_is(const policy_set_t *set, uint32_t first, uint32_t last)
{
    return set->count == 1 && set->ranges[0].first == first && set->ranges[0].last == last;
}

/* The MPI types of the messages: of a rule without dtype, or of one with it. */
static void add_types(builder_t *builder, const policy_entry_t *entry)
{
    static const struct {
        policy_carrier_t carrier;
        const char *name;
    } types[POLICY_CARRIER_COUNT] = {
        {POLICY_CARRIER_FLOAT32, "float32"},   {POLICY_CARRIER_FLOAT64, "float64"},
        {POLICY_CARRIER_BFLOAT16, "bfloat16"}, {POLICY_CARRIER_FLOAT16, "float16"},
        {POLICY_CARRIER_INT16, "int16"},       {POLICY_CARRIER_BYTES, "bytes"},
        {POLICY_CARRIER_OTHER, "others"},
    };
    unsigned left = entry->match.carriers;
    bool first = true;

    if (left == (1u << POLICY_CARRIER_COUNT) - 1) {
        add(builder, "messages of any type");
        return;
    }
    add(builder, "messages of ");
    if (entry->typed && entry->rule.params.dtype != TAH_BYTES) {
        bool halves = left >> POLICY_CARRIER_INT16 & 1;
        add(builder, "%s, also as %sbytes (whole elements)",
            tah_dtype_name(entry->rule.params.dtype), halves ? "16-bit integers or " : "");
        return;
    }
    for (int i = 0; i < POLICY_CARRIER_COUNT; i++) {
        if (!(left >> types[i].carrier & 1))
            continue;
        left &= ~(1u << types[i].carrier);
        add(builder, "%s%s", first ? "" : left ? ", " : " or ", types[i].name);
        first = false;
    }
}

static void add_sizes(builder_t *builder, const policy_matcher_t *match)
{
    if (match->min_bytes == match->max_bytes) {
        add(builder, ", of ");
        add_size(builder, match->min_bytes);
    } else if (match->max_bytes != UINT64_MAX) {
        add(builder, match->min_bytes ? ", of " : ", of at most ");
        if (match->min_bytes) {
            add_size(builder, match->min_bytes);
            add(builder, " to ");
        }
        add_size(builder, match->max_bytes);
    } else if (match->min_bytes) {
        add(builder, ", of at least ");
        add_size(builder, match->min_bytes);
    } else {
        add(builder, ", of any size");
    }
}

void policy_rule_describe(const policy_t *policy, int index, char *text, size_t bytes)
{
    static const char *const directions[] = {", to any rank", ", to a higher rank",
                                             ", to a lower rank"};
    const policy_entry_t *entry = &policy->entries[index];
    const policy_matcher_t *match = &entry->match;
    builder_t builder = {text, bytes, 0};

    text[0] = '\0';
    add_types(&builder, entry);
    add_sizes(&builder, match);
    if (set_is(&match->tags, 0, INT_MAX)) {
        add(&builder, ", with any tag");
    } else {
        add(&builder, ", with tag ");
        add_set(&builder, &match->tags);
    }
    add(&builder, "%s%s", directions[match->direction],
        match->scope == POLICY_SCOPE_ALL ? " on any node" : " on another node");
    if (!set_is(&match->comm_sizes, 1, INT_MAX)) {
        add(&builder, ", in communicators of size ");
        add_set(&builder, &match->comm_sizes);
    }
    add(&builder, match->synchronous ? ", by any send mode" : ", but not by synchronous sends");
}

void policy_rule_settings(const policy_t *policy, int index, char *text, size_t bytes)
{
    const policy_entry_t *entry = &policy->entries[index];
    builder_t builder = {text, bytes, 0};
    char value[64];

    text[0] = '\0';
    for (policy_key_t key = POLICY_KEY_CODEC; key < POLICY_KEY_COUNT; key++) {
        if (!policy_key_suits(key, entry->rule.params.codec))
            continue;
        if (policy_key_print(key, entry, value, sizeof value)[0])
            add(&builder, "%s = %s\n", policy_key_name(key), value);
    }
}
