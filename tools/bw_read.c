/* What the ranks of tahmpi bw print, one line for each measurement: see bw_ranks.c. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bw.h"
#include "tools/tahmpi.h"

typedef struct line {
    int up;
    bool stream;
    uint64_t bytes, messages;
    bw_time_t time;
} line_t;

/* False: the line is none of theirs, or not whole yet. */
static bool parse(const char *text, line_t *line)
{
    char way[8], mode[8];

    if (sscanf(text, "%7s %7s %" SCNu64 " %" SCNu64 " %lf %lf", way, mode, &line->bytes,
               &line->messages, &line->time.plain, &line->time.encoded) != 6)
        return false;
    line->up = strcmp(way, "up") == 0;
    line->stream = strcmp(mode, "stream") == 0;
    return (line->up || strcmp(way, "down") == 0) && (line->stream || strcmp(mode, "one") == 0);
}

static void take(bw_t *bw, const line_t *line)
{
    bw_direction_t *direction = &bw->directions[line->up];
    bw_row_t *row = &direction->rows[direction->row_count];

    if (direction->row_count && row[-1].bytes == line->bytes)
        row--;
    else if (direction->row_count++ == BW_SIZES_MOST)
        return;
    row->bytes = line->bytes;
    row->messages += line->messages;
    *(line->stream ? &row->stream : &row->one) = line->time;
}

void bw_read(bw_t *bw, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    line_t line;

    while (file && getline(&text, &room, file) > 0) {
        if (parse(text, &line))
            take(bw, &line);
    }
    free(text);
    if (file)
        fclose(file);
}

void bw_show_progress(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[256], size[32];
    line_t line = {.bytes = 0}, next;

    while (file && fgets(text, sizeof text, file)) {
        if (parse(text, &next))
            line = next;
    }
    if (file)
        fclose(file);
    if (line.bytes)
        fprintf(stderr, "\r\033[Kmeasured: %s, %s, %s",
                tahmpi_size_text(line.bytes, size, sizeof size), line.up ? "up" : "down",
                line.stream ? "in a stream" : "alone");
}
