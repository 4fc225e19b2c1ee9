#include "config.h"

#include "tools/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

FILE *output_open(const char *command, const char *path)
{
    FILE *out = fopen(path, "we");

    if (!out)
        fprintf(stderr, "%s: %s: %s\n", command, path, strerror(errno));
    return out;
}

bool output_close(const char *command, FILE *out, const char *path)
{
    bool failed = ferror(out) != 0;

    if (fclose(out) == 0 && !failed)
        return true;
    fprintf(stderr, "%s: %s: %s\n", command, path, strerror(errno));
    return false;
}

bool output_json(const char *command, cJSON *root, const char *path)
{
    char *text = cJSON_Print(root);
    FILE *out = NULL;

    cJSON_Delete(root);
    if (text)
        out = output_open(command, path);
    else
        fprintf(stderr, "%s: %s: out of memory\n", command, path);
    if (out)
        fprintf(out, "%s\n", text);
    free(text);
    return out && output_close(command, out, path);
}

void output_csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
