/*
 * .npy files, by NumPy's description of the format (numpy.lib.format): a magic number, a version,
 * the length of the header, the header (a Python dictionary of three keys), the elements.
 */
#include "tools/npy.h"

#include "codec/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define HEADER_MOST (1u << 20) /* far longer than any dictionary of these keys */

/* The text of a header that has not been read yet. */
typedef struct cursor {
    const char *at;
} cursor_t;

/* Whether the next token is this character, which is then skipped. */
static bool skip(cursor_t *cursor, char expected)
{
    cursor->at += strspn(cursor->at, " \t\r\n");
    if (*cursor->at != expected)
        return false;
    cursor->at++;
    return true;
}

/* A Python string without escapes; false: none is there, or it does not fit. */
static bool take_string(cursor_t *cursor, char *text, size_t text_bytes)
{
    const char quote = skip(cursor, '\'') ? '\'' : '"';
    if (quote == '"' && !skip(cursor, '"'))
        return false;
    const char *end = strchr(cursor->at, quote);
    if (!end || (size_t)(end - cursor->at) >= text_bytes)
        return false;
    memcpy(text, cursor->at, (size_t)(end - cursor->at));
    text[end - cursor->at] = '\0';
    cursor->at = end + 1;
    return true;
}

/* True or False. */
static bool take_bool(cursor_t *cursor, bool *value)
{
    cursor->at += strspn(cursor->at, " ");
    *value = strncmp(cursor->at, "True", 4) == 0;
    if (!*value && strncmp(cursor->at, "False", 5) != 0)
        return false;
    cursor->at += *value ? 4 : 5;
    return true;
}

/* A tuple of whole numbers: (), (3,), (3, 4). */
static bool take_shape(cursor_t *cursor, npy_t *npy)
{
    npy->dimensions = 0;
    if (!skip(cursor, '('))
        return false;
    while (!skip(cursor, ')')) {
        char *end;
        if (npy->dimensions == NPY_DIMENSIONS || *cursor->at < '0' || *cursor->at > '9')
            return false;
        errno = 0;
        npy->shape[npy->dimensions++] = strtoull(cursor->at, &end, 10);
        if (errno != 0)
            return false;
        cursor->at = end;
        if (!skip(cursor, ','))
            return skip(cursor, ')');
    }
    return true;
}

/* The element type that a descr stands for; TAH_BYTES for one that is not taken. */
static tah_dtype_t dtype_of(const char *descr)
{
    static const struct {
        const char *descr;
        tah_dtype_t dtype;
    } known[] = {
        {"<f4", TAH_FLOAT32},  {"<f2", TAH_FLOAT16},  {"<f8", TAH_FLOAT64},
        {"<u2", TAH_BFLOAT16}, {"<V2", TAH_BFLOAT16}, {"|V2", TAH_BFLOAT16},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(descr, known[i].descr) == 0)
            return known[i].dtype;
    return TAH_BYTES;
}

/* Fills in all of *npy but the data. NULL, or what is wrong. */
static const char *header_parse(const char *text, npy_t *npy)
{
    cursor_t cursor = {text};
    char key[16], descr[16] = "";
    bool column_major = false, shaped = false, ordered = false;
    if (!skip(&cursor, '{'))
        return "its header is not a dictionary";
    while (!skip(&cursor, '}')) {
        if (!take_string(&cursor, key, sizeof key) || !skip(&cursor, ':'))
            return "its header is not a dictionary of descr, fortran_order and shape";
        if (strcmp(key, "descr") == 0) {
            if (!take_string(&cursor, descr, sizeof descr))
                return "its elements are records; only floating-point ones are taken";
        } else if (strcmp(key, "fortran_order") == 0) {
            if (!(ordered = take_bool(&cursor, &column_major)))
                return "its fortran_order is neither True nor False";
        } else if (strcmp(key, "shape") == 0) {
            if (!(shaped = take_shape(&cursor, npy)))
                return "its shape is not a tuple of at most 32 whole numbers";
        } else {
            return "its header has a key besides descr, fortran_order and shape";
        }
        if (!skip(&cursor, ',') && *cursor.at != '}')
            return "its header is not a dictionary";
    }
    if (!descr[0] || !ordered || !shaped)
        return "its header lacks one of descr, fortran_order and shape";
    npy->dtype = dtype_of(descr);
    if (npy->dtype == TAH_BYTES)
        return "its elements must be <f4, <f8, <f2 or, for bfloat16, <u2";
    if (column_major && npy->dimensions > 1)
        return "it is in column-major order; numpy.ascontiguousarray changes that";
    uint64_t bytes = tah_dtype_bytes(npy->dtype);
    for (unsigned i = 0; i < npy->dimensions; i++)
        if (!checked_mul(bytes, npy->shape[i], &bytes))
            return "its shape is beyond 64 bits";
    npy->bytes = bytes;
    npy->count = bytes / tah_dtype_bytes(npy->dtype);
    return NULL;
}

/* Reads the header's text, followed by a NUL; the caller frees it. NULL: *why says why. */
static char *header_read(FILE *file, const char **why)
{
    uint8_t start[MAGIC_BYTES + 2], length[4] = {0};
    const size_t got = fread(start, 1, sizeof start, file);
    *why = ferror(file) ? strerror(errno) : "it is not a .npy file";
    if (got != sizeof start || memcmp(start, MAGIC, MAGIC_BYTES) != 0)
        return NULL;
    *why = "it is a .npy file of a version that is not known";
    const unsigned major = start[MAGIC_BYTES];
    if (major < 1 || major > 3)
        return NULL;
    *why = "its header is cut off";
    const size_t length_bytes = major == 1 ? 2 : 4;
    if (fread(length, 1, length_bytes, file) != length_bytes || load_u32(length) > HEADER_MOST)
        return NULL;
    const size_t bytes = load_u32(length);
    char *text = calloc(bytes + 1, 1);
    if (!text) {
        *why = "out of memory";
    } else if (fread(text, 1, bytes, file) != bytes) {
        free(text);
        text = NULL;
    } else if (memchr(text, '\0', bytes)) {
        *why = "its header has a NUL byte, which no text has";
        free(text);
        text = NULL;
    }
    return text;
}

/* Reads the elements, up to the end of the file. NULL, or what is wrong. */
static const char *data_read(FILE *file, npy_t *npy)
{
    struct stat status;
    /* a shape that the file cannot have must not cost its memory; a pipe's length is not known */
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size < npy->bytes)
        return "it is shorter than its shape says";
    npy->data = malloc(npy->bytes ? npy->bytes : 1);
    if (!npy->data)
        return "out of memory";
    if (fread(npy->data, 1, npy->bytes, file) != npy->bytes)
        return ferror(file) ? strerror(errno) : "it is shorter than its shape says";
    return fgetc(file) == EOF ? NULL : "it is longer than its shape says";
}

bool npy_read(const char *path, npy_t *npy, char *why, size_t why_bytes)
{
    const char *fault;
    *npy = (npy_t){0};
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(why, why_bytes, "%s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    char *header = header_read(file, &fault);
    if (header)
        fault = header_parse(header, npy);
    free(header);
    if (!fault)
        fault = data_read(file, npy);
    fclose(file);
    if (!fault)
        return true;
    snprintf(why, why_bytes, "%s: cannot be used: %s", path, fault);
    npy_free(npy);
    return false;
}

void npy_free(npy_t *npy)
{
    free(npy->data);
    *npy = (npy_t){0};
}
