/* The report's two forms: a table for people, JSON for programs (doc/report.md). */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/file.h"
#include "shim/report_figures.h"
#include "shim/shim.h"

#define REPORT_SCHEMA 1

const char *report_raw_name(report_raw_t reason)
{
    static const char *const names[REPORT_RAW_COUNT] = {
        [REPORT_RAW_WARMUP] = "warmup", [REPORT_RAW_FIT] = "shape",
        [REPORT_RAW_SPACE] = "no-gain", [REPORT_RAW_SQNR] = "min-sqnr",
        [REPORT_RAW_OBJECT] = "object", [REPORT_RAW_DEVICE] = "device",
        [REPORT_RAW_MEMORY] = "memory",
    };
    return names[reason];
}

bool report_sqnr(const figures_t *figures, int rule, int up, double *sqnr)
{
    double signal = figures->power[rule][up][0], noise = figures->power[rule][up][1];
    if (signal <= 0)
        return false;
    *sqnr = noise > 0 ? 10 * log10(signal / noise) : INFINITY;
    return true;
}

uint64_t report_raw_messages(const figures_t *figures, int rule, int up)
{
    uint64_t messages = 0;
    for (int reason = 0; reason < REPORT_RAW_COUNT; reason++)
        messages += figures->counts[rule][up][FIGURE_RAW + reason];
    return messages;
}

static double report_ratio(const uint64_t *c)
{
    return c[FIGURE_WIRE_BYTES] > 0 ? (double)c[FIGURE_TENSOR_BYTES] / (double)c[FIGURE_WIRE_BYTES]
                                    : 1;
}

static double report_rate(uint64_t bytes, uint64_t ns)
{
    return ns > 0 ? (double)bytes / (double)ns : 0; /* bytes a nanosecond: GB/s */
}

/* Encoding without measuring: as fast in the messages that were measured as in the others. */
static uint64_t report_encode_ns(const uint64_t *c)
{
    if (c[FIGURE_ENCODE_BYTES] == 0)
        return c[FIGURE_SAMPLE_NS];
    return (uint64_t)((double)c[FIGURE_ENCODE_NS] * (double)c[FIGURE_TENSOR_BYTES] /
                      (double)c[FIGURE_ENCODE_BYTES]);
}

static void report_table_row(FILE *out, const figures_t *f, int rule, int up)
{
    const uint64_t *c = f->counts[rule][up], *r = f->counts[rule][0];
    char sqnr[16] = "-", decode[16] = "";
    double db;
    if (report_sqnr(f, rule, up, &db))
        snprintf(sqnr, sizeof sqnr, "%.1f", db);
    if (r[FIGURE_RECEIVED] > 0)
        snprintf(decode, sizeof decode, "%.2f",
                 report_rate(r[FIGURE_RECEIVED_BYTES], r[FIGURE_DECODE_NS]));
    fprintf(out, "%-16.16s %-4s %9" PRIu64 " %7" PRIu64 " %10.2f %9.2f %6.2f %7.2f %7s %8s\n",
            policy_rule(shim.policy, rule)->name, up ? "up" : "down", c[FIGURE_MESSAGES],
            report_raw_messages(f, rule, up), (double)c[FIGURE_TENSOR_BYTES] / 1e6,
            (double)c[FIGURE_WIRE_BYTES] / 1e6, report_ratio(c),
            report_rate(c[FIGURE_TENSOR_BYTES], report_encode_ns(c)), decode, sqnr);
}

static void report_table_raw(FILE *out, const figures_t *f, int rule, int up)
{
    if (report_raw_messages(f, rule, up) == 0)
        return;
    fprintf(out, "  raw in %s %s:", policy_rule(shim.policy, rule)->name, up ? "up" : "down");
    for (int reason = 0; reason < REPORT_RAW_COUNT; reason++)
        if (f->counts[rule][up][FIGURE_RAW + reason] > 0)
            fprintf(out, " %s %" PRIu64, report_raw_name((report_raw_t)reason),
                    f->counts[rule][up][FIGURE_RAW + reason]);
    fputc('\n', out);
}

static bool report_used(const figures_t *f, int rule, int up)
{
    return f->counts[rule][up][FIGURE_MESSAGES] > 0 || report_raw_messages(f, rule, up) > 0;
}

static void report_table_rules(FILE *out, const figures_t *f)
{
    int rules = policy_rule_count(shim.policy);
    fprintf(out, "%-16s %-4s %9s %7s %10s %9s %6s %7s %7s %8s\n", "rule", "to", "messages", "raw",
            "tensors MB", "wire MB", "ratio", "encode", "decode", "SQNR dB");
    for (int rule = 0; rule < rules; rule++)
        for (int up = 1; up >= 0; up--)
            if (report_used(f, rule, up))
                report_table_row(out, f, rule, up);
    for (int rule = 0; rule < rules; rule++)
        for (int up = 1; up >= 0; up--)
            report_table_raw(out, f, rule, up);
    for (int rule = 0; rule < rules; rule++)
        if (!report_used(f, rule, 0) && !report_used(f, rule, 1))
            fprintf(out, "  rule %s matched no message\n", policy_rule(shim.policy, rule)->name);
}

void report_print_table(const figures_t *f)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return;
    fprintf(out, "tahmpi " PACKAGE_VERSION ": %d rank%s on %d node%s, kernel %s, %.2f s", f->ranks,
            f->ranks == 1 ? "" : "s", f->nodes, f->nodes == 1 ? "" : "s", tah_kernel_name(),
            f->seconds);
    if (f->partial)
        fprintf(out, "; rank %d alone, which ended without MPI_Finalize", shim.rank);
    fprintf(out, "\n");
    if (policy_rule_count(shim.policy) > 0)
        report_table_rules(out, f);
    else if (!shim.settings.observe)
        fprintf(out, "  no policy: nothing was compressed (TAHMPI_POLICY names the file)\n");
    if (shim.settings.observe)
        fprintf(out, "  observed only (TAHMPI_OBSERVE): nothing was compressed\n");
    if (f->traffic != NULL)
        traffic_write_table(f->traffic, out);
    if (f->unknown_messages > 0)
        fprintf(out, "  raw to processes without a common key: %" PRIu64 " messages, %.2f MB\n",
                f->unknown_messages, (double)f->unknown_bytes / 1e6);
    fprintf(out, "  encode and decode in GB/s of tensors; the library's own memory: %.2f MiB at "
                 "most in a rank\n",
            (double)f->memory_peak / (1 << 20));
    fclose(out);
    ssize_t written = write(STDERR_FILENO, text, bytes);
    (void)written;
    free(text);
}

void report_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void json_direction(FILE *out, const figures_t *f, int rule, int up)
{
    const uint64_t *c = f->counts[rule][up];
    double db;
    fprintf(out,
            "{\"messages\": %" PRIu64 ", \"tensor_bytes\": %" PRIu64 ", \"wire_bytes\": %" PRIu64
            ", \"encode_seconds\": %.9f, \"tiles\": %" PRIu64 ", \"tiles_rotated\": %" PRIu64
            ", \"tiles_exact\": %" PRIu64 ", \"retries\": %" PRIu64 ", \"sqnr_db\": ",
            c[FIGURE_MESSAGES], c[FIGURE_TENSOR_BYTES], c[FIGURE_WIRE_BYTES],
            (double)report_encode_ns(c) / 1e9, c[FIGURE_TILES], c[FIGURE_TILES_ROTATED],
            c[FIGURE_TILES_EXACT], c[FIGURE_RETRIES]);
    if (report_sqnr(f, rule, up, &db) && isfinite(db))
        fprintf(out, "%.3f", db);
    else
        fputs("null", out);
    fprintf(out, ", \"raw_messages\": %" PRIu64 ", \"raw_bytes\": %" PRIu64 ", \"raw\": {",
            report_raw_messages(f, rule, up), c[FIGURE_RAW_BYTES]);
    for (int reason = 0; reason < REPORT_RAW_COUNT; reason++)
        fprintf(out, "%s\"%s\": %" PRIu64, reason == 0 ? "" : ", ",
                report_raw_name((report_raw_t)reason), c[FIGURE_RAW + reason]);
    fputs("}}", out);
}

static void json_rule(FILE *out, const figures_t *f, int rule)
{
    const policy_rule_t *r = policy_rule(shim.policy, rule);
    const uint64_t *received = f->counts[rule][0];
    fputs("    {\"name\": ", out);
    report_json_string(out, r->name);
    fprintf(out,
            ", \"line\": %d, \"codec\": \"%s\", \"received_messages\": %" PRIu64
            ", \"received_bytes\": %" PRIu64 ", \"decode_seconds\": %.9f,\n     \"up\": ",
            r->line, tah_codec_name(r->params.codec), received[FIGURE_RECEIVED],
            received[FIGURE_RECEIVED_BYTES], (double)received[FIGURE_DECODE_NS] / 1e9);
    json_direction(out, f, rule, 1);
    fputs(",\n     \"down\": ", out);
    json_direction(out, f, rule, 0);
    fputc('}', out);
}

static void json_report(FILE *out, const figures_t *f)
{
    fprintf(out,
            "{\n  \"schema\": %d,\n  \"version\": \"" PACKAGE_VERSION "\",\n  \"mpi\": \"%s\",\n"
            "  \"ranks\": %d,\n  \"nodes\": %d,\n  \"rank\": ",
            REPORT_SCHEMA, TAH_MPI_NAME, f->ranks, f->nodes);
    if (f->partial)
        fprintf(out, "%d", shim.rank);
    else
        fputs("null", out);
    fprintf(out, ",\n  \"seconds\": %.6f,\n  \"kernel\": \"%s\",\n  \"policy\": ", f->seconds,
            tah_kernel_name());
    report_json_string(out, shim.settings.policy);
    fprintf(out, ",\n  \"observed\": %s", shim.settings.observe ? "true" : "false");
    fprintf(out,
            ",\n  \"memory_peak_bytes\": %" PRIu64
            ",\n  \"unknown_peers\": {\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
            "},\n  \"rules\": [",
            f->memory_peak, f->unknown_messages, f->unknown_bytes);
    for (int rule = 0; rule < policy_rule_count(shim.policy); rule++) {
        fputs(rule == 0 ? "\n" : ",\n", out);
        json_rule(out, f, rule);
    }
    fputs("\n  ],\n  \"traffic\": ", out);
    if (f->traffic != NULL)
        traffic_write_json(f->traffic, out);
    else
        fputs("null", out);
    fputs("\n}\n", out);
}

void report_write_json(const figures_t *figures, const char *path)
{
    file_t file;
    if (!file_open(&file, "TAHMPI_REPORT", path))
        return;
    json_report(file.out, figures);
    file_close(&file);
}
