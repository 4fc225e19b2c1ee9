/* What codecs made of tensors: as a table for people, as JSON, CSV and a picture. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/output.h"
#include "tools/plot.h"
#include "tools/try.h"

/* "23.4"; "exact" where nothing is lost; "-inf" where there are losses and nothing else. */
static const char *decibels(double value, char *text, size_t bytes)
{
    if (isfinite(value))
        snprintf(text, bytes, "%.2f", value);
    else
        snprintf(text, bytes, "%s", value > 0 ? "exact" : "-inf");
    return text;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_row(const try_setting_t *setting, const try_outcome_t *o)
{
    char sqnr[16], worst[16];

    if (o->fault) {
        printf("%-42.42s %s\n", setting->name, o->fault);
        return;
    }
    printf("%-42.42s %6.3f %6.2f %7s %7s %8.6f %5.1f%% %5.2f %5.2f\n", setting->name, try_bits(o),
           share(o->tensor_bytes, o->frame_bytes), decibels(try_sqnr(o), sqnr, sizeof sqnr),
           decibels(o->worst_tile, worst, sizeof worst), try_cosine(o),
           100 * share(o->tiles_rotated, o->tiles),
           (double)o->tensor_bytes / o->encode_seconds / 1e9,
           (double)o->tensor_bytes / o->decode_seconds / 1e9);
}

static void print_block(const try_t *try, int path, const char *title)
{
    const try_outcome_t *first = try_outcome(try, path, 0);

    printf("%s%s: %" PRIu64 " values, %.2f MB\n", path > 0 ? "\n" : "", title, first->values,
           (double)first->tensor_bytes / 1e6);
    printf("%-42s %6s %6s %7s %7s %8s %6s %5s %5s\n", "codec", "bits", "ratio", "SQNR", "worst",
           "cosine", "rotat-", "enc", "dec");
    printf("%-42s %6s %6s %7s %7s %8s %6s %5s %5s\n", "", "/value", "", "dB", "tile", "", "ed",
           "GB/s", "GB/s");
    for (int i = 0; i < try->setting_count; i++)
        print_row(&try->settings[i], try_outcome(try, path, i));
}

/* The channels that a setting was tried with in all files; false: they differ. */
static bool same_channels(const try_t *try, int setting, uint32_t *channels)
{
    *channels = try_outcome(try, 0, setting)->channels;
    for (int path = 1; path < try->path_count; path++) {
        if (try_outcome(try, path, setting)->channels != *channels)
            return false;
    }
    return true;
}

/* A setting of the command line, or of the ladder, as a policy has it. */
static void print_rule_lines(const try_t *try, int best)
{
    const try_setting_t *setting = &try->settings[best];
    bool tokens = !setting->own_channels && setting->params.codec != TAH_CODEC_LOSSLESS;
    uint32_t channels;
    bool same = same_channels(try, best, &channels);

    printf("As lines of a rule:\n  codec = ");
    for (const char *rest = setting->name; *rest; rest++) {
        if (*rest == ' ')
            printf("\n  ");
        else if (*rest == '=')
            printf(" = ");
        else
            putchar(*rest);
    }
    putchar('\n');
    if (tokens && same && channels)
        printf("  channels = %" PRIu32 "\n", channels);
    else if (tokens && !same)
        printf(
            "  ; and channels = N, the last dimension, which is not the same in all files: a rule "
            "for\n  ; each\n");
}

static void print_suggestion(const try_t *try)
{
    int best = try_suggest(try);

    if (best < 0) {
        printf("\nNo setting that was tried reaches %g dB in every file.\n", try->sqnr);
        return;
    }
    printf("\nFewest bits of those that reach %g dB in every file: %s, %.3f bits a value\n",
           try->sqnr, try->settings[best].name, try_bits(try_outcome(try, try->path_count, best)));
    if (!try->settings[best].rule)
        print_rule_lines(try, best);
}

void try_print(const try_t *try)
{
    char title[64];

    for (int path = 0; path < try->path_count; path++)
        print_block(try, path, try->paths[path]);
    if (try->path_count > 1) {
        snprintf(title, sizeof title, "All %d files", try->path_count);
        print_block(try, try->path_count, title);
    }
    if (!isnan(try->sqnr))
        print_suggestion(try);
}

static void json_decibels(cJSON *item, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(item, name, value);
    else if (value > 0)
        cJSON_AddNullToObject(item, name);
    else
        cJSON_AddStringToObject(item, name, "-inf"); /* null is that nothing is lost */
}

static cJSON *json_row(const try_t *try, int path, int setting)
{
    const try_outcome_t *o = try_outcome(try, path, setting);
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "file", try->paths[path]);
    cJSON_AddStringToObject(item, "codec", try->settings[setting].name);
    cJSON_AddNumberToObject(item, "channels", o->channels);
    cJSON_AddNumberToObject(item, "values", (double)o->values);
    cJSON_AddNumberToObject(item, "tensor_bytes", (double)o->tensor_bytes);
    if (o->fault) {
        cJSON_AddStringToObject(item, "raw", o->fault);
        return item;
    }
    cJSON_AddNumberToObject(item, "frame_bytes", (double)o->frame_bytes);
    cJSON_AddNumberToObject(item, "bits_per_value", try_bits(o));
    json_decibels(item, "sqnr_db", try_sqnr(o));
    json_decibels(item, "worst_tile_db", o->worst_tile);
    cJSON_AddNumberToObject(item, "cosine", try_cosine(o));
    cJSON_AddNumberToObject(item, "rotated", share(o->tiles_rotated, o->tiles));
    cJSON_AddNumberToObject(item, "encode_seconds", o->encode_seconds);
    cJSON_AddNumberToObject(item, "decode_seconds", o->decode_seconds);
    return item;
}

bool try_write_json(const try_t *try)
{
    cJSON *root = cJSON_CreateObject(), *rows;
    int best = isnan(try->sqnr) ? -1 : try_suggest(try);

    cJSON_AddNumberToObject(root, "schema", 1);
    cJSON_AddStringToObject(root, "version", PACKAGE_VERSION);
    cJSON_AddStringToObject(root, "kernel", tah_kernel_name());
    if (best >= 0)
        cJSON_AddStringToObject(root, "suggested", try->settings[best].name);
    rows = cJSON_AddArrayToObject(root, "outcomes");
    for (int path = 0; path < try->path_count; path++) {
        for (int i = 0; i < try->setting_count; i++)
            cJSON_AddItemToArray(rows, json_row(try, path, i));
    }
    return output_json("tahmpi try", root, try->json);
}

bool try_write_csv(const try_t *try)
{
    FILE *out = output_open("tahmpi try", try->csv);

    if (!out)
        return false;
    fputs("file,codec,values,tensor_bytes,frame_bytes,sqnr_db,worst_tile_db,cosine,rotated,"
          "encode_seconds,decode_seconds\r\n",
          out);
    for (int path = 0; path < try->path_count; path++) {
        for (int i = 0; i < try->setting_count; i++) {
            const try_outcome_t *o = try_outcome(try, path, i);
            output_csv_text(out, try->paths[path]);
            fputc(',', out);
            output_csv_text(out, try->settings[i].name);
            fprintf(out, ",%" PRIu64 ",%" PRIu64, o->values, o->tensor_bytes);
            if (o->fault)
                fputs(",,,,,,,\r\n", out);
            else
                fprintf(out, ",%" PRIu64 ",%.4f,%.4f,%.8f,%.6f,%.9f,%.9f\r\n", o->frame_bytes,
                        try_sqnr(o), o->worst_tile, try_cosine(o),
                        share(o->tiles_rotated, o->tiles), o->encode_seconds, o->decode_seconds);
        }
    }
    return output_close("tahmpi try", out, try->csv);
}

/* Draws the settings of one family, in the order of their bits. */
static void plot_family(const try_t *try, plot_t *plot, int first)
{
    const char *family = try->settings[first].family;
    double drawn = 0;

    plot_series(plot, family);
    for (;;) {
        const try_outcome_t *next = NULL;
        for (int i = first; i < try->setting_count; i++) {
            const try_outcome_t *o = try_outcome(try, try->path_count, i);
            if (strcmp(try->settings[i].family, family) == 0 && !o->fault &&
                isfinite(try_sqnr(o)) && try_bits(o) > drawn &&
                (!next || try_bits(o) < try_bits(next)))
                next = o;
        }
        if (!next)
            return;
        drawn = try_bits(next);
        plot_point(plot, drawn, try_sqnr(next), try_sqnr(next), try_sqnr(next));
    }
}

bool try_write_plot(const try_t *try)
{
    plot_t *plot = plot_open(try->plot, 1);

    if (!plot)
        return false;
    plot_axes(plot, "bits a value, all that a frame has included", "SQNR, dB");
    for (int i = 0; i < try->setting_count; i++) {
        const try_outcome_t *all = try_outcome(try, try->path_count, i);
        bool known = all->fault || !isfinite(try_sqnr(all));
        for (int j = 0; j < i; j++)
            known = known || strcmp(try->settings[j].family, try->settings[i].family) == 0;
        if (!known)
            plot_family(try, plot, i);
    }
    return plot_close(plot);
}
