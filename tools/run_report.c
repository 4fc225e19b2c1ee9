#include "config.h"

#include "tools/run_report.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, REPORT_MOST_BYTES = 64 << 20 };

static const char *const direction_names[] = {"none", "up", "down"};
static const char *const peer_names[RUN_PEER_COUNT] = {"remote", "node", "self", "unknown"};

const char *run_direction_name(policy_direction_t direction)
{
    return direction_names[direction];
}

const char *run_peer_name(run_peer_t peer)
{
    return peer_names[peer];
}

const char *run_carrier_name(policy_carrier_t carrier)
{
    return carrier == POLICY_CARRIER_COUNT ? "unsupported" : policy_carrier_name(carrier);
}

/* The file's text, which the caller frees; NULL with errno. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(REPORT_MOST_BYTES + 1);
    size_t bytes = 0;
    bool failed = true;

    if (file && text) {
        bytes = fread(text, 1, REPORT_MOST_BYTES + 1, file);
        failed = ferror(file) != 0;
        if (!failed && bytes > REPORT_MOST_BYTES) {
            errno = EFBIG;
            failed = true;
        }
    }
    if (file)
        fclose(file);
    if (failed) {
        int error = errno;
        free(text);
        errno = error;
        return NULL;
    }
    text[bytes] = '\0';
    return text;
}

/* A whole number from 0 to most; false: the member is missing or is something else. */
static bool get_number(const cJSON *object, const char *name, double most, uint64_t *number)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > most ||
        item->valuedouble != (double)(uint64_t)item->valuedouble)
        return false;
    *number = (uint64_t)item->valuedouble;
    return true;
}

static bool get_int(const cJSON *object, const char *name, int *number)
{
    uint64_t value;

    if (!get_number(object, name, INT_MAX, &value))
        return false;
    *number = (int)value;
    return true;
}

/* JSON numbers are exact up to 2^53; a report's counts stay below that. */
static bool get_count(const cJSON *object, const char *name, uint64_t *number)
{
    return get_number(object, name, 9007199254740992.0, number);
}

/* The index of a member's text among names, or -1. */
static int get_choice(const cJSON *object, const char *name, const char *const *names, int count)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    for (int i = 0; text && i < count; i++) {
        if (strcmp(text, names[i]) == 0)
            return i;
    }
    return -1;
}

static bool get_kind(const cJSON *object, run_kind_t *kind)
{
    const char *carriers[POLICY_CARRIER_COUNT + 1];
    const cJSON *synchronous = cJSON_GetObjectItemCaseSensitive(object, "synchronous");
    int direction = get_choice(object, "direction", direction_names, 3);
    int peer = get_choice(object, "peer", peer_names, RUN_PEER_COUNT), carrier;

    for (int i = 0; i <= POLICY_CARRIER_COUNT; i++)
        carriers[i] = run_carrier_name((policy_carrier_t)i);
    carrier = get_choice(object, "type", carriers, POLICY_CARRIER_COUNT + 1);
    if (direction < 0 || peer < 0 || carrier < 0 || !cJSON_IsBool(synchronous))
        return false;
    kind->direction = (policy_direction_t)direction;
    kind->peer = (run_peer_t)peer;
    kind->carrier = (policy_carrier_t)carrier;
    kind->synchronous = cJSON_IsTrue(synchronous);
    return get_int(object, "tag_first", &kind->tag_first) &&
           get_int(object, "tag_last", &kind->tag_last) &&
           get_int(object, "comm_size", &kind->comm_size) &&
           get_count(object, "least_bytes", &kind->least_bytes) &&
           get_count(object, "most_bytes", &kind->most_bytes) &&
           get_count(object, "messages", &kind->messages) &&
           get_count(object, "bytes", &kind->bytes) && kind->tag_first <= kind->tag_last &&
           kind->least_bytes <= kind->most_bytes;
}

/* Fills report from "traffic"; what is wrong with it, or NULL. */
static const char *get_traffic(const cJSON *traffic, run_report_t *report)
{
    const cJSON *kinds = cJSON_GetObjectItemCaseSensitive(traffic, "kinds"), *kind;
    const cJSON *others = cJSON_GetObjectItemCaseSensitive(traffic, "others");

    if (!cJSON_IsArray(kinds) || !get_count(others, "messages", &report->others_messages) ||
        !get_count(others, "bytes", &report->others_bytes))
        return "its member \"traffic\" is not as a report has it";
    report->messages = report->others_messages;
    report->bytes = report->others_bytes;
    report->kinds = calloc((size_t)cJSON_GetArraySize(kinds) + 1, sizeof *report->kinds);
    if (!report->kinds)
        return "out of memory";
    cJSON_ArrayForEach(kind, kinds)
    {
        run_kind_t *to = &report->kinds[report->kind_count++];
        if (!get_kind(kind, to))
            return "its member \"traffic\" is not as a report has it";
        report->messages += to->messages;
        report->bytes += to->bytes;
    }
    return NULL;
}

static void get_reasons(const cJSON *raw, char *text, size_t bytes)
{
    const cJSON *reason;
    size_t used = 0;

    text[0] = '\0';
    cJSON_ArrayForEach(reason, raw)
    {
        if (cJSON_IsNumber(reason) && reason->valuedouble > 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s %.0f", used > 0 ? ", " : "",
                                     reason->string, reason->valuedouble);
    }
}

/* A number; 0 where the member is missing or is something else. */
static double get_figure(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* Adds a row if the rule matched messages in that direction. */
static void get_row(const cJSON *rule, bool up, run_report_t *report)
{
    const cJSON *side = cJSON_GetObjectItemCaseSensitive(rule, up ? "up" : "down");
    const cJSON *sqnr = cJSON_GetObjectItemCaseSensitive(side, "sqnr_db");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rule, "name"));
    run_row_t *row = &report->rows[report->row_count];

    row->up = up;
    row->messages = get_figure(side, "messages");
    row->tensor_bytes = get_figure(side, "tensor_bytes");
    row->wire_bytes = get_figure(side, "wire_bytes");
    row->encode_seconds = get_figure(side, "encode_seconds");
    row->sqnr = cJSON_IsNumber(sqnr) ? sqnr->valuedouble : NAN;
    row->raw_messages = get_figure(side, "raw_messages");
    row->raw_bytes = get_figure(side, "raw_bytes");
    snprintf(row->rule, sizeof row->rule, "%s", name ? name : "?");
    get_reasons(cJSON_GetObjectItemCaseSensitive(side, "raw"), row->raw, sizeof row->raw);
    report->encode_seconds += row->encode_seconds;
    report->row_count += row->messages + row->raw_messages > 0;
}

/* Fills report from "rules"; what is wrong with them, or NULL. */
static const char *get_rules(const cJSON *json, run_report_t *report)
{
    const cJSON *rules = cJSON_GetObjectItemCaseSensitive(json, "rules"), *rule;

    if (!cJSON_IsArray(rules))
        return "its member \"rules\" is not as a report has it";
    report->seconds = get_figure(json, "seconds");
    if (cJSON_HasObjectItem(json, "memory_peak_bytes") &&
        !get_count(json, "memory_peak_bytes", &report->memory_peak_bytes))
        return "its member \"memory_peak_bytes\" is no number of bytes";
    report->rows = calloc(2 * (size_t)cJSON_GetArraySize(rules) + 1, sizeof *report->rows);
    if (!report->rows)
        return "out of memory";
    cJSON_ArrayForEach(rule, rules)
    {
        report->decode_seconds += get_figure(rule, "decode_seconds");
        get_row(rule, true, report);
        get_row(rule, false, report);
    }
    return NULL;
}

static const char *get_report(const cJSON *json, bool need_traffic, run_report_t *report)
{
    const cJSON *traffic = cJSON_GetObjectItemCaseSensitive(json, "traffic");
    const char *why;
    int schema;

    if (!cJSON_IsObject(json) || !get_int(json, "schema", &schema))
        return "it is no report of tahmpi, which has a member \"schema\"";
    if (schema != SCHEMA)
        return "its schema is not the one that this version reads; write it again with the "
               "library of this version";
    if (!get_int(json, "ranks", &report->ranks) || !get_int(json, "nodes", &report->nodes))
        return "it does not say how many ranks and nodes there were";
    if (!get_int(json, "rank", &report->rank))
        report->rank = -1;
    why = get_rules(json, report);
    if (why || (!need_traffic && cJSON_IsNull(traffic)))
        return why;
    if (cJSON_IsNull(traffic))
        return "it counts no messages: run the program with TAHMPI_OBSERVE=1 or with a policy";
    return get_traffic(traffic, report);
}

/* The line of a place in a text, from 1. */
static int line_of(const char *text, const char *place)
{
    int line = 1;

    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

run_report_t *run_report_read(const char *command, const char *path, bool traffic)
{
    char *text = read_text(path);
    run_report_t *report = calloc(1, sizeof *report);
    const char *why = NULL, *end = NULL;
    cJSON *json;

    if (!text || !report) {
        fprintf(stderr, "%s: %s: %s\n", command, path, strerror(errno));
        free(text);
        free(report);
        return NULL;
    }
    json = cJSON_ParseWithOpts(text, &end, true);
    if (json)
        why = get_report(json, traffic, report);
    if (!json)
        fprintf(stderr, "%s: %s:%d: this is not JSON\n", command, path, line_of(text, end));
    else if (why)
        fprintf(stderr, "%s: %s: %s\n", command, path, why);
    if (!json || why) {
        run_report_free(report);
        report = NULL;
    }
    cJSON_Delete(json);
    free(text);
    return report;
}

void run_report_free(run_report_t *report)
{
    if (!report)
        return;
    free(report->kinds);
    free(report->rows);
    free(report);
}
