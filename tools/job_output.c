/* The end of what a job printed, for a terminal: no control bytes, no banner, no endless lines. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/job.h"

#define TAIL_BYTES 16384
#define TAIL_LINES 12
#define TAIL_COLUMNS 300
#define BANNER "=   BAD TERMINATION" /* MPICH's, which says no more than the status */

/* The last bytes of a file, which the caller frees; NULL: it cannot be read, or is empty. */
static char *tail_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(TAIL_BYTES);
    long length = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    *bytes = 0;
    if (length > 0 && text != NULL) {
        fseek(file, length > TAIL_BYTES ? length - TAIL_BYTES : 0, SEEK_SET);
        *bytes = fread(text, 1, TAIL_BYTES, file);
    }
    if (file != NULL)
        fclose(file);
    if (*bytes > 0)
        return text;
    free(text);
    return NULL;
}

/* The bytes of the character of UTF-8 at text; 0: it is none, or one that controls a terminal. */
static size_t tail_character(const unsigned char *text, size_t bytes)
{
    size_t more = text[0] >= 0xf0 ? 3 : text[0] >= 0xe0 ? 2 : 1;
    if (text[0] < 0x80)
        return text[0] == '\t' || (text[0] >= ' ' && text[0] != 0x7f);
    if (text[0] < 0xc2 || text[0] > 0xf4 || more >= bytes || (text[0] == 0xc2 && text[1] < 0xa0))
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return more + 1;
}

static void tail_line(FILE *out, const char *line, size_t bytes)
{
    fputs("  | ", out);
    for (size_t at = 0, column = 0; at < bytes; column++) {
        size_t one = tail_character((const unsigned char *)line + at, bytes - at);
        if (column == TAIL_COLUMNS) {
            fputs("...", out);
            break;
        }
        if (one > 0)
            fwrite(line + at, 1, one, out);
        else
            fputc('?', out);
        at += one > 0 ? one : 1;
    }
    fputc('\n', out);
}

/* Where the line before the one at from starts; its length, without its end, in bytes. */
static size_t tail_line_before(const char *text, size_t from, size_t *bytes)
{
    size_t end = from, start;
    if (end > 0 && text[end - 1] == '\n')
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n';)
        start--;
    while (end > start && text[end - 1] == '\r')
        end--;
    *bytes = end - start;
    return start;
}

static bool tail_skips(const char *line, size_t bytes, bool banner)
{
    static const char *const starts[] = {"====", "=   ", "This typically refers to a problem with",
                                         "Please see the FAQ page for debugging"};
    for (size_t i = 0; banner && i < sizeof starts / sizeof *starts; i++)
        if (bytes >= strlen(starts[i]) && memcmp(line, starts[i], strlen(starts[i])) == 0)
            return true;
    return bytes == 0;
}

char *job_output_tail(const char *path)
{
    size_t bytes, line_bytes, starts[TAIL_LINES], lengths[TAIL_LINES];
    char *text = tail_read(path, &bytes), *tail = NULL;
    int count = 0;
    if (text == NULL)
        return NULL;
    bool banner = memmem(text, bytes, BANNER, strlen(BANNER)) != NULL;
    for (size_t at = bytes; at > 0 && count < TAIL_LINES;) {
        at = tail_line_before(text, at, &line_bytes);
        if (tail_skips(text + at, line_bytes, banner))
            continue;
        starts[count] = at;
        lengths[count++] = line_bytes;
    }
    FILE *out = count > 0 ? open_memstream(&tail, &bytes) : NULL;
    while (out != NULL && count-- > 0)
        tail_line(out, text + starts[count], lengths[count]);
    if (out != NULL)
        fclose(out);
    free(text);
    return tail;
}
