/* What runs leave: numbers in the program's output, and figures over several runs. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "tools/ab.h"

ab_sample_t *ab_sample(const ab_t *ab, int link, int variant, int run)
{
    return &ab->samples[(link * ab->variant_count + variant) * ab->runs + run];
}

const char *ab_link_name(const ab_t *ab, int link)
{
    return ab->links[link] != NULL ? ab->links[link] : "own network";
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *ab_variant_name(const ab_t *ab, int variant)
{
    static const char plain[] = "plain";
    if (variant == 0)
        return plain;
    const char *given = ab->given[variant], *name = file_name(given);
    bool alone = strcmp(name, plain) != 0;
    for (int other = 1; other < ab->variant_count; other++)
        if (other != variant && strcmp(file_name(ab->given[other]), name) == 0)
            alone = false;
    if (alone)
        return name;
    return strcmp(given, plain) == 0 ? ab->policies[variant] : given;
}

static void curve_add(ab_curve_t *curve, double value)
{
    double *values = curve->values;
    if ((curve->count & (curve->count - 1)) == 0) /* grows at powers of two */
        values = realloc(values, (curve->count == 0 ? 1 : 2 * curve->count) * sizeof *values);
    if (values == NULL)
        return;
    curve->values = values;
    curve->values[curve->count++] = value;
}

/* The number that a group of the pattern matched, which may be the start of a longer one. */
static void add_number(ab_curve_t *curve, const char *text, size_t bytes)
{
    char number[64], *end;
    if (bytes >= sizeof number)
        return;
    memcpy(number, text, bytes);
    number[bytes] = '\0';
    double value = strtod(number, &end);
    if (end != number)
        curve_add(curve, value);
}

/* Every match in a line; behind the first, its start is not the line's. */
static void read_line(const ab_metric_t *metric, ab_curve_t *curve, const char *line)
{
    regmatch_t found[2];
    int flags = 0;
    while (regexec(&metric->pattern, line, 2, found, flags) == 0) {
        if (found[1].rm_so >= 0)
            add_number(curve, line + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so));
        if (line[found[0].rm_eo] == '\0')
            return;
        line +=
            found[0].rm_eo + (found[0].rm_eo == found[0].rm_so); /* an empty match: one further */
        flags = REG_NOTBOL;
    }
}

/* Lines end in carriage returns too, as those of progress bars do, and in zeros. */
void ab_sample_read(const ab_t *ab, ab_sample_t *sample)
{
    FILE *output = fopen(sample->job.output, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t bytes;
    while (output != NULL && (bytes = getline(&text, &room, output)) > 0) {
        for (ssize_t i = 0; i < bytes; i++)
            if (text[i] == '\r' || text[i] == '\n')
                text[i] = '\0';
        for (const char *line = text; line < text + bytes; line += strlen(line) + 1)
            for (int m = 0; m < ab->metric_count; m++)
                read_line(&ab->metrics[m], &sample->curves[m], line);
    }
    free(text);
    if (output != NULL)
        fclose(output);
}

void ab_sample_free(ab_sample_t *sample)
{
    for (int m = 0; m < AB_METRICS_MOST; m++)
        free(sample->curves[m].values);
    run_report_free(sample->report);
}

size_t ab_seconds(const ab_t *ab, int link, int variant, double *values)
{
    size_t count = 0;
    for (int run = 0; run < ab->runs; run++) {
        const ab_sample_t *sample = ab_sample(ab, link, variant, run);
        if (sample->done)
            values[count++] = sample->job.seconds;
    }
    return count;
}

size_t ab_speedups(const ab_t *ab, int link, int variant, double *values)
{
    size_t count = 0;
    for (int run = 0; run < ab->runs; run++) {
        const ab_sample_t *plain = ab_sample(ab, link, 0, run);
        const ab_sample_t *sample = ab_sample(ab, link, variant, run);
        if (plain->done && sample->done)
            values[count++] = plain->job.seconds / sample->job.seconds;
    }
    return count;
}

size_t ab_last_values(const ab_t *ab, int link, int variant, int metric, double *values)
{
    size_t count = 0;
    for (int run = 0; run < ab->runs; run++) {
        const ab_sample_t *sample = ab_sample(ab, link, variant, run);
        const ab_curve_t *curve = &sample->curves[metric];
        if (sample->done && curve->count > 0)
            values[count++] = curve->values[curve->count - 1];
    }
    return count;
}

const ab_sample_t *ab_latest(const ab_t *ab, int link, int variant)
{
    for (int run = ab->runs - 1; run >= 0; run--)
        if (ab_sample(ab, link, variant, run)->done)
            return ab_sample(ab, link, variant, run);
    return NULL;
}
