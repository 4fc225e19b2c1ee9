/* What tahmpi bw measured: as a table for people, as JSON and CSV. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/bw.h"
#include "tools/output.h"
#include "tools/tahmpi.h"

static const char *const direction_names[2] = {"down", "up"};

/* Megabytes a second; 0 where nothing was measured. */
static double rate(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes / seconds / 1e6 : 0;
}

static double gain(const bw_time_t *time)
{
    return time->encoded > 0 ? time->plain / time->encoded : 0;
}

static double ratio(const bw_row_t *row)
{
    return (double)row->bytes / (double)row->wire_bytes;
}

const bw_row_t *bw_largest(const bw_direction_t *direction)
{
    for (int i = direction->row_count - 1; i >= 0; i--) {
        if (!direction->rows[i].raw)
            return &direction->rows[i];
    }
    return NULL;
}

uint64_t bw_break_even(const bw_direction_t *direction, bool stream)
{
    const bw_row_t *row = bw_largest(direction);
    uint64_t size = 0;

    for (; row && row >= direction->rows; row--) {
        if (row->raw || gain(stream ? &row->stream : &row->one) <= 1)
            break;
        size = row->bytes;
    }
    return size;
}

static void print_row(const bw_row_t *row)
{
    printf("%10" PRIu64 " %11.1f %9.2f %11.1f %9.2f %9.2f %7.2f %8.2fx %8.2fx\n", row->bytes,
           row->one.plain * 1e6, rate(row->bytes, row->stream.plain), row->one.encoded * 1e6,
           rate(row->wire_bytes, row->stream.encoded), rate(row->bytes, row->stream.encoded),
           ratio(row), gain(&row->one), gain(&row->stream));
}

/* From which size on encoding pays, or by how much it does not. */
static void print_verdict(const bw_direction_t *direction, bool stream)
{
    const char *what = stream ? "in a stream" : "alone";
    const bw_row_t *largest = bw_largest(direction);
    const bw_time_t *time = stream ? &largest->stream : &largest->one;
    uint64_t size = bw_break_even(direction, stream);
    char text[32], most[32];

    if (!time->encoded)
        return;
    tahmpi_size_text(largest->bytes, most, sizeof most);
    if (size && largest < &direction->rows[direction->row_count - 1])
        printf("  %s: pays for messages of %s to %s, the largest that are encoded\n", what,
               tahmpi_size_text(size, text, sizeof text), most);
    else if (size)
        printf("  %s: pays for messages of %s and more (of the sizes above)\n", what,
               tahmpi_size_text(size, text, sizeof text));
    else
        printf("  %s: does not pay on this link: %s takes %.1f%% longer encoded\n", what, most,
               100 * (1 / gain(time) - 1));
}

/* The sizes that went as they are, those of one reason together. */
static void print_raw(const bw_direction_t *direction)
{
    int count = direction->row_count, last;
    char from[32], to[32];

    for (int first = 0; first < count; first = last + 1) {
        const bw_row_t *row = &direction->rows[first];
        last = first;
        while (last + 1 < count && row->raw && direction->rows[last + 1].raw &&
               strcmp(direction->rows[last + 1].raw, row->raw) == 0)
            last++;
        if (!row->raw)
            continue;
        tahmpi_size_text(row->bytes, from, sizeof from);
        tahmpi_size_text(direction->rows[last].bytes, to, sizeof to);
        if (first == 0 && last == count - 1)
            printf("  nothing was encoded: %s\n", row->raw);
        else
            printf("  %s%s%s: not encoded: %s\n", from, last > first ? " to " : "",
                   last > first ? to : "", row->raw);
    }
}

/* The names of the rules that the messages fall under. */
static void print_rules(const bw_t *bw, const bw_direction_t *direction)
{
    bool seen[POLICY_MAX_RULES] = {false};
    int named = 0;

    for (int i = 0; i < direction->row_count; i++) {
        int rule = direction->rows[i].rule;
        if (rule < 0 || seen[rule])
            continue;
        seen[rule] = true;
        printf("%s%s", named++ ? " and " : ", rule ", policy_rule(bw->parsed, rule)->name);
    }
}

static void print_direction(const bw_t *bw, int up)
{
    const bw_direction_t *direction = &bw->directions[up];

    printf("\n%s, rank %d to %d", up ? "Up" : "Down", up ? 0 : 1, up ? 1 : 0);
    print_rules(bw, direction);
    printf("\n%10s %21s %31s %7s %18s\n", "", "plain -------------- ",
           "encoded ---------------------", "wire", "plain / encoded");
    printf("%10s %11s %9s %11s %9s %9s %7s %9s %9s\n", "Size", "latency us", "MB/s", "latency us",
           "MB/s", "effective", "ratio", "latency", "stream");
    for (int i = 0; i < direction->row_count; i++)
        print_row(&direction->rows[i]);
    print_raw(direction);
    if (bw_largest(direction)) {
        print_verdict(direction, false);
        print_verdict(direction, true);
    }
}

void bw_print(const bw_t *bw)
{
    printf("tahmpi bw: 2 ranks on %s, %s, %s\n", bw->link ? bw->link : "own network",
           bw->remote ? "two nodes" : "one node", bw->policy ? bw->policy : "published settings");
    print_direction(bw, 1);
    print_direction(bw, 0);
}

static cJSON *json_row(const bw_row_t *row)
{
    cJSON *item = cJSON_CreateObject();

    cJSON_AddNumberToObject(item, "bytes", (double)row->bytes);
    cJSON_AddNumberToObject(item, "wire_bytes", (double)row->wire_bytes);
    cJSON_AddNumberToObject(item, "messages", (double)row->messages);
    cJSON_AddNumberToObject(item, "latency_plain_seconds", row->one.plain);
    cJSON_AddNumberToObject(item, "latency_encoded_seconds", row->one.encoded);
    cJSON_AddNumberToObject(item, "stream_plain_seconds", row->stream.plain);
    cJSON_AddNumberToObject(item, "stream_encoded_seconds", row->stream.encoded);
    return item;
}

static void json_break_even(cJSON *item, const char *name, uint64_t bytes)
{
    if (bytes)
        cJSON_AddNumberToObject(item, name, (double)bytes);
    else
        cJSON_AddNullToObject(item, name);
}

bool bw_write_json(const bw_t *bw)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddNumberToObject(root, "schema", 1);
    cJSON_AddStringToObject(root, "version", PACKAGE_VERSION);
    cJSON_AddStringToObject(root, "link", bw->link ? bw->link : "own network");
    cJSON_AddNumberToObject(root, "nodes", bw->remote ? 2 : 1);
    for (int up = 1; up >= 0; up--) {
        const bw_direction_t *direction = &bw->directions[up];
        cJSON *item = cJSON_AddObjectToObject(root, direction_names[up]), *rows;
        json_break_even(item, "break_even_latency_bytes", bw_break_even(direction, false));
        json_break_even(item, "break_even_stream_bytes", bw_break_even(direction, true));
        rows = cJSON_AddArrayToObject(item, "sizes");
        for (int i = 0; i < direction->row_count; i++)
            cJSON_AddItemToArray(rows, json_row(&direction->rows[i]));
    }
    return output_json("tahmpi bw", root, bw->json);
}

bool bw_write_csv(const bw_t *bw)
{
    FILE *out = output_open("tahmpi bw", bw->csv);

    if (!out)
        return false;
    fputs("direction,bytes,wire_bytes,messages,latency_plain_seconds,latency_encoded_seconds,"
          "stream_plain_seconds,stream_encoded_seconds\r\n",
          out);
    for (int up = 1; up >= 0; up--) {
        for (int i = 0; i < bw->directions[up].row_count; i++) {
            const bw_row_t *row = &bw->directions[up].rows[i];
            fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g,%.9g\r\n",
                    direction_names[up], row->bytes, row->wire_bytes, row->messages, row->one.plain,
                    row->one.encoded, row->stream.plain, row->stream.encoded);
        }
    }
    return output_close("tahmpi bw", out, bw->csv);
}
