/* What tahmpi bw measured: as a table for people, as JSON and CSV. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/bw.h"
#include "tools/output.h"
#include "tools/tahmpi.h"

static const char *const direction_names[2] = {"down", "up"};

static bool encoded(const bw_row_t *row)
{
    return row->wire_bytes < row->bytes;
}

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

uint64_t bw_break_even(const bw_direction_t *direction, bool stream)
{
    uint64_t size = 0;

    for (int i = direction->row_count - 1; i >= 0; i--) {
        const bw_row_t *row = &direction->rows[i];
        if (!encoded(row) || gain(stream ? &row->stream : &row->one) <= 1)
            break;
        size = row->bytes;
    }
    return size;
}

/* Whether any message of that direction was encoded. */
static bool any_encoded(const bw_direction_t *direction)
{
    for (int i = 0; i < direction->row_count; i++) {
        if (encoded(&direction->rows[i]))
            return true;
    }
    return false;
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
    const bw_row_t *last = &direction->rows[direction->row_count - 1];
    const bw_time_t *time = stream ? &last->stream : &last->one;
    uint64_t size = bw_break_even(direction, stream);
    char text[32];

    if (!last->stream.plain)
        return;
    if (size)
        printf("  %s: pays for messages of %s and more (of the sizes above)\n", what,
               tahmpi_size_text(size, text, sizeof text));
    else
        printf("  %s: does not pay on this link: %s takes %.1f%% longer encoded\n", what,
               tahmpi_size_text(last->bytes, text, sizeof text), 100 * (1 / gain(time) - 1));
}

static void print_direction(const bw_t *bw, int up)
{
    const bw_direction_t *direction = &bw->directions[up];

    printf("\n%s, rank %d to %d%s%s\n", up ? "Up" : "Down", up ? 0 : 1, up ? 1 : 0,
           direction->rule ? ", rule " : ": no rule matches",
           direction->rule ? direction->rule : "");
    printf("%10s %21s %31s %7s %18s\n", "", "plain -------------- ",
           "encoded ---------------------", "wire", "plain / encoded");
    printf("%10s %11s %9s %11s %9s %9s %7s %9s %9s\n", "Size", "latency us", "MB/s", "latency us",
           "MB/s", "effective", "ratio", "latency", "stream");
    for (int i = 0; i < direction->row_count; i++)
        print_row(&direction->rows[i]);
    if (any_encoded(direction)) {
        print_verdict(direction, false);
        print_verdict(direction, true);
    } else if (direction->rule && !bw->remote) {
        printf(
            "  nothing was encoded: both ranks are on one node, and the rule's scope is remote\n");
    } else {
        printf("  nothing was encoded\n");
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
