/* Notes: what a test program writes down, one file a rank. */
#include "tests/lib/mt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/mt_internal.h"

int mt_rank, mt_size, mt_left, mt_right;

static FILE *mt_notes;

/* The notes of one thread between mt_capture and mt_release. */
static __thread FILE *mt_captured;
static __thread char *mt_captured_text;
static __thread size_t mt_captured_bytes;

void mt_die(const char *what)
{
    fprintf(stderr, "test program, rank %d: %s\n", mt_rank, what);
    exit(99);
}

void mt_begin(const char *name)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt_size);
    mt_left = (mt_rank + mt_size - 1) % mt_size;
    mt_right = (mt_rank + 1) % mt_size;
    const char *folder = getenv("MT_OUT");
    if (!folder) {
        mt_notes = stdout;
        return;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, mt_rank);
    mt_notes = fopen(path, "a");
    if (!mt_notes)
        mt_die("cannot open the notes in MT_OUT");
    setvbuf(mt_notes, NULL, _IOLBF, 1 << 16);
}

void mt_end(void)
{
    mt_buffers_end();
    mt_say("end");
    if (fflush(mt_notes) != 0)
        mt_die("cannot write the notes");
}

int mt_main(int argc, char **argv, const char *name, void (*body)(void))
{
    MPI_Init(&argc, &argv);
    mt_begin(name);
    body();
    mt_end();
    MPI_Finalize();
    return 0;
}

void mt_say(const char *format, ...)
{
    FILE *out = mt_captured ? mt_captured : mt_notes;
    va_list args;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fputc('\n', out);
}

void mt_capture(void)
{
    mt_captured = open_memstream(&mt_captured_text, &mt_captured_bytes);
    if (!mt_captured)
        mt_die("no memory for notes");
}

char *mt_release(void)
{
    fclose(mt_captured);
    mt_captured = NULL;
    return mt_captured_text;
}

void mt_write(const char *notes)
{
    fputs(notes, mt_captured ? mt_captured : mt_notes);
}
