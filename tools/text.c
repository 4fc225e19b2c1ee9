/* Command lines in, columns of text out. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/tahmpi.h"

enum { LABEL_COLUMNS = 12, TEXT_COLUMNS = 99 - LABEL_COLUMNS };

void tahmpi_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = TAHMPI_USAGE;
    argp_parse(argp, argc, argv, 0, NULL, input);
}

long tahmpi_parse_number(struct argp_state *state, const char *what, const char *text, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text || value < 1 || value > most)
        argp_error(state, "%s %s: must be a whole number from 1 to %ld", what, text, most);
    return value;
}

uint64_t tahmpi_parse_size(struct argp_state *state, const char *what, const char *text,
                           uint64_t least, uint64_t most)
{
    static const char units[] = "KMG";
    char *end, low[32], high[32];
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    end += unit != NULL;
    if (unit != NULL && strcasecmp(end, "iB") == 0)
        end += 2;
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || value > most >> shift ||
        value << shift < least)
        argp_error(state, "%s %s: must be from %s to %s", what, text,
                   tahmpi_size_text(least, low, sizeof low),
                   tahmpi_size_text(most, high, sizeof high));
    return (uint64_t)value << shift;
}

void tahmpi_print_field(const char *label, const char *text)
{
    do {
        size_t length = strlen(text), next;
        if (length > TEXT_COLUMNS) {
            length = TEXT_COLUMNS;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0) /* a long word, such as a path, stays whole */
                length = strcspn(text, " ");
        }
        next = length + strspn(text + length, " ");
        printf("%-*s%.*s\n", LABEL_COLUMNS, label, (int)length, text);
        text += next;
        label = "";
    } while (*text);
}

void tahmpi_print_fieldf(const char *label, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        fprintf(stderr, "tahmpi: out of memory\n");
        exit(TAHMPI_BAD);
    }
    tahmpi_print_field(label, text);
    free(text);
}

policy_t *tahmpi_load_policy(const char *path)
{
    policy_errors_t errors;
    policy_t *policy = NULL;
    size_t bytes = 0;
    char *text = policy_read(path, &bytes, &errors);

    if (text)
        policy = policy_parse(text, bytes, path, &errors);
    free(text);
    if (!policy)
        fputs(errors.text, stderr);
    return policy;
}

const char *tahmpi_size_text(uint64_t bytes, char *text, size_t text_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes;
    size_t unit = 0;

    while (number >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        number /= 1024;
        unit++;
    }
    snprintf(text, text_bytes, "%.*f %s", number == (double)(uint64_t)number ? 0 : 1, number,
             units[unit]);
    return text;
}
