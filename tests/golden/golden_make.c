/*
 * Writes the golden files: golden_make DIR puts them in DIR/golden and DIR/golden-bad, which exist.
 * To be run when the format changes or a case is added, never to make a failing test pass.
 */
#include "tests/golden/golden.h"

#include <stdio.h>
#include <stdlib.h>

static bool file_write(const char *dir, const char *name, const char *kind, const void *data,
                       size_t bytes)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s%s", dir, name, kind) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool written = fwrite(data, 1, bytes, file) == bytes;
    return fclose(file) == 0 && written;
}

static bool good_write(const char *dir)
{
    for (size_t i = 0; i < golden_count(); i++) {
        uint8_t *frame, *tensor;
        size_t frame_bytes, tensor_bytes;
        if (!golden_make(i, &frame, &frame_bytes, &tensor, &tensor_bytes))
            return false;
        const bool written =
            file_write(dir, golden_name(i), ".frame", frame, frame_bytes) &&
            file_write(dir, golden_name(i), ".tensor", tensor, tensor_bytes);
        free(frame);
        free(tensor);
        if (!written)
            return false;
    }
    return true;
}

static bool bad_write(const char *dir)
{
    char expected[8192];
    size_t at = 0;
    for (size_t i = 0; i < golden_bad_count(); i++) {
        size_t bytes;
        uint8_t *frame = golden_bad_make(i, &bytes);
        const bool written =
            frame && file_write(dir, golden_bad_name(i), ".frame", frame, bytes);
        free(frame);
        if (!written)
            return false;
        at += (size_t)snprintf(expected + at, sizeof expected - at, "%s %s\n", golden_bad_name(i),
                               golden_status_name(golden_bad_status(i)));
        if (at >= sizeof expected)
            return false;
    }
    return file_write(dir, "expected.txt", "", expected, at);
}

int main(int argc, char **argv)
{
    char good[4096], bad[4096];
    if (argc != 2) {
        fprintf(stderr, "usage: golden_make DIR   (DIR/golden and DIR/golden-bad exist)\n");
        return 2;
    }
    if (snprintf(good, sizeof good, "%s/golden", argv[1]) >= (int)sizeof good ||
        snprintf(bad, sizeof bad, "%s/golden-bad", argv[1]) >= (int)sizeof bad ||
        !good_write(good) || !bad_write(bad)) {
        fprintf(stderr, "golden_make: cannot write the files below %s\n", argv[1]);
        return 1;
    }
    return 0;
}
