/* The table of a comparison, for people. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/ab.h"

enum { NAME_LEAST = 22, NAME_MOST = 50, RULE_LEAST = 20 }; /* columns; with all others, below 100 */

/* A policy's name in its column: where it is too long, its end, which tells more than its start. */
static void print_name(const ab_t *ab, int variant)
{
    int columns = NAME_LEAST;
    for (int v = 0; v < ab->variant_count; v++) {
        int length = (int)strlen(ab_variant_name(ab, v));
        columns = length > columns ? length : columns;
    }
    columns = columns > NAME_MOST ? NAME_MOST : columns;
    const char *name = variant >= 0 ? ab_variant_name(ab, variant) : "";
    size_t length = strlen(name), most = (size_t)columns;
    if (length > most)
        printf("...%s ", name + length - (most - 3));
    else
        printf("%-*s ", columns, name);
}

/* The last value of a metric, of each variant, and its difference from the plain one. */
static void print_metric(const ab_t *ab, int link, int metric)
{
    double plain[AB_RUNS_MOST], values[AB_RUNS_MOST];
    size_t plain_count = ab_last_values(ab, link, 0, metric, plain);
    double base = plain_count > 0 ? statistics_spread(plain, plain_count).median : 0;
    printf("\n%s, last value\n", ab->metrics[metric].text);
    for (int variant = 0; variant < ab->variant_count; variant++) {
        size_t count = ab_last_values(ab, link, variant, metric, values);
        fputs("  ", stdout);
        print_name(ab, variant);
        if (count == 0) {
            puts("never seen");
            continue;
        }
        double median = statistics_spread(values, count).median;
        printf("%.5g", median);
        if (variant > 0 && base != 0)
            printf(" (%+.2f%%)", 100 * (median - base) / fabs(base));
        putchar('\n');
    }
}

static void print_variant(const ab_t *ab, int link, int variant)
{
    double seconds[AB_RUNS_MOST], ups[AB_RUNS_MOST];
    size_t count = ab_seconds(ab, link, variant, seconds);
    size_t pairs = variant > 0 ? ab_speedups(ab, link, variant, ups) : 0;
    char wall[48] = "no run succeeded", speed[48] = "";
    if (count > 0) {
        spread_t spread = statistics_spread(seconds, count);
        snprintf(wall, sizeof wall, "%.2f (%.2f-%.2f)", spread.median, spread.least, spread.most);
    }
    if (pairs > 0) {
        interval_t interval = statistics_geometric(ups, pairs);
        snprintf(speed, sizeof speed, isnan(interval.low) ? "%.2fx" : "%.2fx (%.2f-%.2f)",
                 interval.mean, interval.low, interval.high);
    }
    const ab_sample_t *latest = ab_latest(ab, link, variant);
    print_name(ab, variant);
    printf("%-20s %-19s", wall, speed);
    if (latest != NULL)
        printf(" %8.0f", (double)latest->job.peak_kib / 1024);
    else
        printf(" %8s", "-");
    putchar('\n');
}

static int rule_columns(const run_report_t *report)
{
    int columns = RULE_LEAST;
    for (int i = 0; i < report->row_count; i++) {
        int length = (int)strlen(report->rows[i].rule);
        columns = length > columns ? length : columns;
    }
    return columns;
}

static void print_row(const run_report_t *report, const run_row_t *row)
{
    char sqnr[16] = "-";
    if (!isnan(row->sqnr))
        snprintf(sqnr, sizeof sqnr, "%.1f", row->sqnr);
    double ratio = row->wire_bytes > 0 ? row->tensor_bytes / row->wire_bytes : 1;
    printf("  %-*s %-4s %9.0f %11.2f %10.2f %7.2f %8.2f%% %8s", rule_columns(report), row->rule,
           row->up ? "up" : "down", row->messages, row->tensor_bytes / 1e6, row->wire_bytes / 1e6,
           ratio, 100 * row->encode_seconds / (report->seconds * report->ranks), sqnr);
    putchar('\n');
    if (row->raw_messages > 0)
        printf("    raw: %.2f MB in messages: %s\n", row->raw_bytes / 1e6, row->raw);
}

static void print_report(const ab_t *ab, int link, int variant)
{
    const ab_sample_t *latest = ab_latest(ab, link, variant);
    if (latest == NULL || latest->report == NULL)
        return;
    const run_report_t *report = latest->report;
    printf("\n%s: decoding %.2f%% of the run, the library's memory %.2f MiB\n",
           ab_variant_name(ab, variant),
           100 * report->decode_seconds / (report->seconds * report->ranks),
           (double)report->memory_peak_bytes / (1 << 20));
    if (report->row_count == 0) {
        printf("  no message matched a rule%s\n",
               report->nodes == 1 && report->ranks > 1
                   ? ": all ranks are on one node, where only rules with scope = all apply"
                   : "");
        return;
    }
    printf("  %-*s %-4s %9s %11s %10s %7s %9s %8s\n", rule_columns(report), "rule", "to",
           "messages", "tensors MB", "wire MB", "ratio", "encode", "SQNR dB");
    for (int i = 0; i < report->row_count; i++)
        print_row(report, &report->rows[i]);
}

/* A user who asked whether it pays is told when it does not, and when that cannot be said. */
static void print_verdict(const ab_t *ab, int link, int variant)
{
    double ups[AB_RUNS_MOST];
    size_t pairs = ab_speedups(ab, link, variant, ups);
    if (pairs == 0)
        return;
    interval_t interval = statistics_geometric(ups, pairs);
    const ab_sample_t *latest = ab_latest(ab, link, variant);
    const char *name = ab_variant_name(ab, variant);
    if (latest->report != NULL && latest->report->row_count == 0)
        printf("%s changes nothing here: no message matched a rule\n", name);
    else if (isnan(interval.low))
        printf("%s: %zu pair%s of runs cannot show whether it pays: --runs %d at least\n", name,
               pairs, pairs == 1 ? "" : "s", STATISTICS_INTERVAL_LEAST);
    else if (interval.high < 1)
        printf("%s does not pay here: the program takes %.1f%% longer\n", name,
               100 * (1 / interval.mean - 1));
    else if (interval.low <= 1)
        printf("%s makes no difference here that %zu pairs of runs could show (%.2fx, "
               "%.2f-%.2f)\n",
               name, pairs, interval.mean, interval.low, interval.high);
}

void ab_print(const ab_t *ab)
{
    for (int link = 0; link < ab->link_count; link++) {
        printf("%s== %s, %d ranks, %d run%s each ==\n", link > 0 ? "\n" : "",
               ab_link_name(ab, link), ab->setup.ranks, ab->runs, ab->runs == 1 ? "" : "s");
        print_name(ab, -1);
        printf("%-20s %-19s %8s\n", "wall s (range)", "speed-up (95%)", "peak MiB");
        for (int variant = 0; variant < ab->variant_count; variant++)
            print_variant(ab, link, variant);
        for (int variant = 1; variant < ab->variant_count; variant++)
            print_verdict(ab, link, variant);
        for (int m = 0; m < ab->metric_count; m++)
            print_metric(ab, link, m);
        for (int variant = 1; variant < ab->variant_count; variant++)
            print_report(ab, link, variant);
    }
}
