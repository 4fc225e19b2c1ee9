/* A comparison as JSON, CSV and pictures. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ab.h"
#include "tools/output.h"
#include "tools/plot.h"

#define AB_SCHEMA 1

static cJSON *json_rows(const run_report_t *report)
{
    cJSON *rows = cJSON_CreateArray();
    for (int i = 0; i < report->row_count; i++) {
        const run_row_t *row = &report->rows[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "rule", row->rule);
        cJSON_AddStringToObject(item, "direction", row->up ? "up" : "down");
        cJSON_AddNumberToObject(item, "messages", row->messages);
        cJSON_AddNumberToObject(item, "tensor_bytes", row->tensor_bytes);
        cJSON_AddNumberToObject(item, "wire_bytes", row->wire_bytes);
        cJSON_AddNumberToObject(item, "encode_seconds", row->encode_seconds);
        if (isnan(row->sqnr))
            cJSON_AddNullToObject(item, "sqnr_db");
        else
            cJSON_AddNumberToObject(item, "sqnr_db", row->sqnr);
        cJSON_AddNumberToObject(item, "raw_messages", row->raw_messages);
        cJSON_AddNumberToObject(item, "raw_bytes", row->raw_bytes);
        cJSON_AddItemToArray(rows, item);
    }
    return rows;
}

/* A run that we ended has no status of its own. */
static bool has_status(const ab_sample_t *sample)
{
    return !sample->job.timed_out && !sample->job.interrupted;
}

static cJSON *json_sample(const ab_t *ab, int link, int variant, int run)
{
    const ab_sample_t *sample = ab_sample(ab, link, variant, run);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "link", ab_link_name(ab, link));
    cJSON_AddStringToObject(item, "variant", ab_variant_name(ab, variant));
    cJSON_AddNumberToObject(item, "run", run + 1);
    cJSON_AddBoolToObject(item, "succeeded", sample->done);
    if (has_status(sample))
        cJSON_AddNumberToObject(item, "status", sample->job.status);
    else
        cJSON_AddNullToObject(item, "status");
    cJSON_AddNumberToObject(item, "seconds", sample->job.seconds);
    cJSON_AddNumberToObject(item, "peak_kib", (double)sample->job.peak_kib);
    cJSON *metrics = cJSON_AddObjectToObject(item, "metrics");
    for (int m = 0; m < ab->metric_count; m++) {
        const ab_curve_t *curve = &sample->curves[m];
        /* Without values, cJSON makes no array of them, not even one of none. */
        cJSON_AddItemToObject(metrics, ab->metrics[m].text,
                              curve->count > 0
                                  ? cJSON_CreateDoubleArray(curve->values, (int)curve->count)
                                  : cJSON_CreateArray());
    }
    if (sample->report != NULL) {
        cJSON_AddNumberToObject(item, "encode_seconds", sample->report->encode_seconds);
        cJSON_AddNumberToObject(item, "decode_seconds", sample->report->decode_seconds);
        cJSON_AddNumberToObject(item, "memory_peak_bytes",
                                (double)sample->report->memory_peak_bytes);
        cJSON_AddItemToObject(item, "rules", json_rows(sample->report));
    }
    return item;
}

/* Of too few runs there is no interval. */
static void json_bound(cJSON *item, const char *name, double value)
{
    if (isnan(value))
        cJSON_AddNullToObject(item, name);
    else
        cJSON_AddNumberToObject(item, name, value);
}

static cJSON *json_summary(const ab_t *ab, int link, int variant)
{
    double values[AB_RUNS_MOST];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "link", ab_link_name(ab, link));
    cJSON_AddStringToObject(item, "variant", ab_variant_name(ab, variant));
    size_t count = ab_seconds(ab, link, variant, values);
    if (count > 0)
        cJSON_AddNumberToObject(item, "seconds_median", statistics_spread(values, count).median);
    count = variant > 0 ? ab_speedups(ab, link, variant, values) : 0;
    if (count > 0) {
        interval_t interval = statistics_geometric(values, count);
        cJSON_AddNumberToObject(item, "speedup", interval.mean);
        json_bound(item, "speedup_low", interval.low);
        json_bound(item, "speedup_high", interval.high);
    }
    return item;
}

bool ab_write_json(const ab_t *ab)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "schema", AB_SCHEMA);
    cJSON_AddStringToObject(root, "version", PACKAGE_VERSION);
    cJSON_AddNumberToObject(root, "ranks", ab->setup.ranks);
    cJSON_AddNumberToObject(root, "runs", ab->runs);
    cJSON_AddBoolToObject(root, "complete", !ab->failed);
    cJSON *summaries = cJSON_AddArrayToObject(root, "summary");
    cJSON *samples = cJSON_AddArrayToObject(root, "samples");
    for (int link = 0; link < ab->link_count; link++) {
        for (int variant = 0; variant < ab->variant_count; variant++) {
            cJSON_AddItemToArray(summaries, json_summary(ab, link, variant));
            for (int run = 0; run < ab->runs; run++)
                if (ab_sample(ab, link, variant, run)->made)
                    cJSON_AddItemToArray(samples, json_sample(ab, link, variant, run));
        }
    }
    return output_json("tahmpi ab", root, ab->json);
}

static void csv_sample(FILE *out, const ab_t *ab, int link, int variant, int run)
{
    const ab_sample_t *sample = ab_sample(ab, link, variant, run);
    output_csv_text(out, ab_link_name(ab, link));
    fputc(',', out);
    output_csv_text(out, ab_variant_name(ab, variant));
    double tensors = 0, wire = 0;
    for (int i = 0; sample->report != NULL && i < sample->report->row_count; i++) {
        tensors += sample->report->rows[i].tensor_bytes;
        wire += sample->report->rows[i].wire_bytes;
    }
    fprintf(out, ",%d,%d,", run + 1, sample->done);
    if (has_status(sample))
        fprintf(out, "%d", sample->job.status);
    fprintf(out, ",%.6f,%ld,%.0f,%.0f", sample->job.seconds, sample->job.peak_kib, tensors, wire);
    for (int m = 0; m < ab->metric_count; m++) {
        const ab_curve_t *curve = &sample->curves[m];
        if (curve->count > 0)
            fprintf(out, ",%.9g", curve->values[curve->count - 1]);
        else
            fputc(',', out);
    }
    fputs("\r\n", out);
}

bool ab_write_csv(const ab_t *ab)
{
    FILE *out = output_open("tahmpi ab", ab->csv);
    if (out == NULL)
        return false;
    fputs("link,variant,run,succeeded,status,seconds,peak_kib,tensor_bytes,wire_bytes", out);
    for (int m = 0; m < ab->metric_count; m++) {
        fputc(',', out);
        output_csv_text(out, ab->metrics[m].text);
    }
    fputs("\r\n", out);
    for (int link = 0; link < ab->link_count; link++)
        for (int variant = 0; variant < ab->variant_count; variant++)
            for (int run = 0; run < ab->runs; run++)
                if (ab_sample(ab, link, variant, run)->made)
                    csv_sample(out, ab, link, variant, run);
    return output_close("tahmpi ab", out, ab->csv);
}

static void plot_speedups(const ab_t *ab, plot_t *plot)
{
    plot_axes(plot, "link rate", "speed-up over the plain program");
    for (int link = 0; link < ab->link_count; link++)
        plot_tick(plot, link, ab_link_name(ab, link));
    for (int variant = 1; variant < ab->variant_count; variant++) {
        plot_series(plot, ab_variant_name(ab, variant));
        for (int link = 0; link < ab->link_count; link++) {
            double ups[AB_RUNS_MOST];
            size_t pairs = ab_speedups(ab, link, variant, ups);
            if (pairs == 0)
                continue;
            interval_t interval = statistics_geometric(ups, pairs);
            plot_point(plot, link, interval.mean, interval.low, interval.high);
        }
    }
}

static void plot_metric(const ab_t *ab, plot_t *plot, int metric)
{
    plot_axes(plot, "match in the output", ab->metrics[metric].text);
    for (int variant = 0; variant < ab->variant_count; variant++) {
        const ab_sample_t *latest = ab_latest(ab, ab->link_count - 1, variant);
        plot_series(plot, ab_variant_name(ab, variant));
        for (size_t i = 0; latest != NULL && i < latest->curves[metric].count; i++) {
            double value = latest->curves[metric].values[i];
            plot_point(plot, (double)(i + 1), value, value, value);
        }
    }
}

bool ab_write_plot(const ab_t *ab)
{
    plot_t *plot = plot_open(ab->plot, 1 + ab->metric_count);
    if (plot == NULL)
        return false;
    plot_speedups(ab, plot);
    for (int m = 0; m < ab->metric_count; m++)
        plot_metric(ab, plot, m);
    return plot_close(plot);
}
