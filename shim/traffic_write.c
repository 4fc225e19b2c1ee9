/* What was counted of all messages, in the report's two forms. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "shim/report_figures.h"
#include "shim/shim.h"
#include "shim/traffic.h"

#define TRAFFIC_TABLE_LINES 12

static const char *traffic_type_name(unsigned type)
{
    return type == TRAFFIC_TYPE_UNSUPPORTED ? "unsupported"
                                            : policy_carrier_name((policy_carrier_t)type);
}

static const char *traffic_direction_name(unsigned direction)
{
    return direction == POLICY_UP ? "up" : direction == POLICY_DOWN ? "down" : "none";
}

static const char *traffic_peer_name(unsigned peer)
{
    static const char *const names[WATCH_PEER_COUNT] = {
        [WATCH_PEER_REMOTE] = "remote", [WATCH_PEER_NODE] = "node",
        [WATCH_PEER_SELF] = "self", [WATCH_PEER_UNKNOWN] = "unknown",
    };
    return names[peer];
}

/* Most bytes first; then by what the entries are, so that the order is always the same. */
static int traffic_compare(const void *left, const void *right)
{
    const traffic_entry_t *a = *(const traffic_entry_t *const *)left;
    const traffic_entry_t *b = *(const traffic_entry_t *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->tag_first != b->tag_first)
        return a->tag_first > b->tag_first ? 1 : -1;
    return a->messages != b->messages ? (a->messages < b->messages ? 1 : -1)
                                      : (a->key.direction > b->key.direction) -
                                            (a->key.direction < b->key.direction);
}

static int traffic_sort(const traffic_t *traffic, const traffic_entry_t **sorted)
{
    int count = 0;
    for (int i = 0; i < TRAFFIC_SLOTS; i++)
        if (traffic->slots[i].messages != 0)
            sorted[count++] = &traffic->slots[i];
    qsort(sorted, (size_t)count, sizeof *sorted, traffic_compare);
    return count;
}

static void traffic_json_entry(FILE *out, const traffic_entry_t *e)
{
    fprintf(out,
            "    {\"tag_first\": %d, \"tag_last\": %d, \"type\": \"%s\", \"direction\": \"%s\", "
            "\"comm_size\": %d, \"peer\": \"%s\", \"synchronous\": %s,\n     \"rule\": ",
            e->tag_first, e->tag_last, traffic_type_name(e->key.type),
            traffic_direction_name(e->key.direction), e->key.comm_size,
            traffic_peer_name(e->key.peer), e->key.synchronous ? "true" : "false");
    if (e->key.rule >= 0)
        report_json_string(out, policy_rule(shim.policy, e->key.rule)->name);
    else
        fputs("null", out);
    fprintf(out,
            ", \"least_bytes\": %" PRIu64 ", \"most_bytes\": %" PRIu64 ", \"messages\": %" PRIu64
            ", \"bytes\": %" PRIu64 "}",
            e->least, e->most, e->messages, e->bytes);
}

void traffic_write_json(const traffic_t *traffic, FILE *out)
{
    const traffic_entry_t *sorted[TRAFFIC_SLOTS];
    int count = traffic_sort(traffic, sorted);
    fprintf(out,
            "{\"tags_together\": %" PRIu64 ", \"others\": {\"messages\": %" PRIu64
            ", \"bytes\": %" PRIu64 "},\n   \"kinds\": [",
            UINT64_C(1) << traffic->shift, traffic->others_messages, traffic->others_bytes);
    for (int i = 0; i < count; i++) {
        fputs(i == 0 ? "\n" : ",\n", out);
        traffic_json_entry(out, sorted[i]);
    }
    fputs("\n  ]}", out);
}

static void traffic_table_entry(FILE *out, const traffic_entry_t *e)
{
    char tags[32];
    if (e->tag_first == e->tag_last)
        snprintf(tags, sizeof tags, "%d", e->tag_first);
    else
        snprintf(tags, sizeof tags, "%d-%d", e->tag_first, e->tag_last);
    fprintf(out, "  %-22s %-11s %-4s %-7s %5d %9" PRIu64 " %11.2f  %-16.16s\n", tags,
            traffic_type_name(e->key.type), traffic_direction_name(e->key.direction),
            traffic_peer_name(e->key.peer), e->key.comm_size, e->messages, (double)e->bytes / 1e6,
            e->key.rule >= 0 ? policy_rule(shim.policy, e->key.rule)->name : "-");
}

void traffic_write_table(const traffic_t *traffic, FILE *out)
{
    const traffic_entry_t *sorted[TRAFFIC_SLOTS];
    int count = traffic_sort(traffic, sorted);
    uint64_t messages = traffic->others_messages, bytes = traffic->others_bytes;
    fprintf(out, "  %-22s %-11s %-4s %-7s %5s %9s %11s  %-16s\n", "tag", "type", "to", "peer",
            "comm", "messages", "MB", "rule");
    for (int i = 0; i < count; i++) {
        if (i < TRAFFIC_TABLE_LINES) {
            traffic_table_entry(out, sorted[i]);
        } else {
            messages += sorted[i]->messages;
            bytes += sorted[i]->bytes;
        }
    }
    if (messages > 0)
        fprintf(out, "  %-22s %-11s %-4s %-7s %5s %9" PRIu64 " %11.2f\n", "all others", "", "", "",
                "", messages, (double)bytes / 1e6);
}
