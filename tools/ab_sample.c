/* What a run leaves: numbers in the program's output, and the library's report. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tools/ab.h"

ab_sample_t *ab_sample(const ab_t *ab, int link, int variant, int run)
{
    return &ab->samples[(link * ab->variant_count + variant) * ab->runs + run];
}

const char *ab_link_name(const ab_t *ab, int link)
{
    return ab->links[link] != NULL ? ab->links[link] : "own network";
}

const char *ab_variant_name(const ab_t *ab, int variant)
{
    const char *path = ab->policies[variant];
    if (path == NULL)
        return "plain";
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
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

static void read_metrics(const ab_t *ab, ab_sample_t *sample)
{
    FILE *output = fopen(sample->job.output, "re");
    char *line = NULL;
    size_t bytes = 0;
    while (output != NULL && getline(&line, &bytes, output) > 0) {
        for (int m = 0; m < ab->metric_count; m++) {
            regmatch_t found[2];
            char *end;
            if (regexec(&ab->metrics[m].pattern, line, 2, found, 0) != 0 || found[1].rm_so < 0)
                continue;
            double value = strtod(line + found[1].rm_so, &end);
            if (end != line + found[1].rm_so)
                curve_add(&sample->curves[m], value);
        }
    }
    free(line);
    if (output != NULL)
        fclose(output);
}

void ab_sample_read(const ab_t *ab, ab_sample_t *sample, bool has_report)
{
    read_metrics(ab, sample);
    if (has_report)
        sample->report = run_report_read("tahmpi ab", sample->job.report, false);
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
