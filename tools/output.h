/* Files that a command was asked to write; complaints start with the command's name. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* Opens a file for writing; NULL with a complaint. */
FILE *output_open(const char *command, const char *path);

/* Closes it; false, with a complaint, if not all of it could be written. */
bool output_close(const char *command, FILE *out, const char *path);

/* Writes root, and frees it; false with a complaint. */
bool output_json(const char *command, cJSON *root, const char *path);

/* Writes a field of a CSV file, quoted (RFC 4180). */
void output_csv_text(FILE *out, const char *text);

#endif
