/* What a run leaves: numbers in the program's output, and the library's report. */
#include "config.h"

#include <cjson/cJSON.h>
#include <math.h>
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

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void read_reasons(const cJSON *raw, char *text, size_t bytes)
{
    const cJSON *reason;
    size_t used = 0;
    text[0] = '\0';
    cJSON_ArrayForEach(reason, raw)
    {
        if (cJSON_IsNumber(reason) && reason->valuedouble > 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s %.0f", used > 0 ? ", " : "",
                                     reason->string, reason->valuedouble);
    }
}

static void read_row(const cJSON *rule, bool up, ab_report_t *report)
{
    const cJSON *side = cJSON_GetObjectItemCaseSensitive(rule, up ? "up" : "down");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(rule, "name");
    const cJSON *sqnr = cJSON_GetObjectItemCaseSensitive(side, "sqnr_db");
    if (report->row_count == AB_ROWS_MOST ||
        number(side, "messages") + number(side, "raw_messages") == 0)
        return;
    ab_row_t *row = &report->rows[report->row_count++];
    snprintf(row->rule, sizeof row->rule, "%s",
             cJSON_IsString(name) ? name->valuestring : "?");
    row->up = up;
    row->messages = number(side, "messages");
    row->tensor_bytes = number(side, "tensor_bytes");
    row->wire_bytes = number(side, "wire_bytes");
    row->encode_seconds = number(side, "encode_seconds");
    row->sqnr = cJSON_IsNumber(sqnr) ? sqnr->valuedouble : NAN;
    row->raw_messages = number(side, "raw_messages");
    row->raw_bytes = number(side, "raw_bytes");
    read_reasons(cJSON_GetObjectItemCaseSensitive(side, "raw"), row->raw, sizeof row->raw);
    report->encode_seconds += row->encode_seconds;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t bytes = 0;
    ssize_t got = file != NULL ? getdelim(&text, &bytes, '\0', file) : -1;
    if (file != NULL)
        fclose(file);
    if (got >= 0)
        return text;
    free(text);
    return NULL;
}

static void read_report(ab_sample_t *sample)
{
    ab_report_t *report = &sample->report;
    char *text = read_file(sample->job.report);
    cJSON *json = text != NULL ? cJSON_Parse(text) : NULL;
    free(text);
    if (json == NULL)
        return;
    const cJSON *rule;
    report->present = true;
    report->ranks = (int)number(json, "ranks");
    report->nodes = (int)number(json, "nodes");
    report->seconds = number(json, "seconds");
    report->memory_peak_bytes = number(json, "memory_peak_bytes");
    cJSON_ArrayForEach(rule, cJSON_GetObjectItemCaseSensitive(json, "rules"))
    {
        report->decode_seconds += number(rule, "decode_seconds");
        read_row(rule, true, report);
        read_row(rule, false, report);
    }
    cJSON_Delete(json);
}

void ab_sample_read(const ab_t *ab, ab_sample_t *sample, bool has_report)
{
    read_metrics(ab, sample);
    if (has_report)
        read_report(sample);
}

void ab_sample_free(ab_sample_t *sample)
{
    for (int m = 0; m < AB_METRICS_MOST; m++)
        free(sample->curves[m].values);
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
