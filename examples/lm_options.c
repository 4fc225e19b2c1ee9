#include "lm_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { WHOLE, REAL, SCHEDULE, PATH, FLAG };

/* One row an option: what it is called, where its value goes, what is allowed. */
struct option_row {
    const char *name, *argument, *help;
    enum kind kind;
    size_t offset;
    double least, most; /* of numbers */
};

#define AT(member) offsetof(struct lm_options, member)

static const struct option_row rows[] = {
    {"layers", "N", "transformer blocks in the whole model, at least one a rank", WHOLE, AT(layers),
     1, 4096},
    {"width", "N", "channels, a multiple of the heads", WHOLE, AT(width), 1, 65536},
    {"heads", "N", "attention heads", WHOLE, AT(heads), 1, 4096},
    {"context", "N", "tokens a sequence", WHOLE, AT(context), 1, 65536},
    {"micro-batches", "N", "micro-batches a step", WHOLE, AT(micro_batches), 1, 65536},
    {"micro-batch-size", "N", "sequences a micro-batch", WHOLE, AT(micro_batch_size), 1, 65536},
    {"steps", "N", "optimiser steps", WHOLE, AT(steps), 1, INT_MAX},
    {"seed", "N", "seed of parameters and of the order of the text", WHOLE, AT(seed), 0, INT_MAX},
    {"schedule", "NAME", "gpipe (all forward, then all backward) or 1f1b", SCHEDULE, AT(schedule),
     0, 0},
    {"lr", "X", "highest learning rate", REAL, AT(rate), 1e-12, 1e3},
    {"warm-up", "N", "steps over which the learning rate rises", WHOLE, AT(warm_up), 0, INT_MAX},
    {"clip", "X", "largest norm of the whole model's gradient", REAL, AT(clip), 1e-12, 1e12},
    {"text", "FILE", "what to learn, one token a byte", PATH, AT(text), 0, 0},
    {"csv", "FILE", "write step,loss,step seconds,comm seconds", PATH, AT(csv), 0, 0},
    {"report-every", "N", "steps to a progress line", WHOLE, AT(report_every), 1, INT_MAX},
    {"quiet", NULL, "no progress lines, only the summary", FLAG, AT(quiet), 0, 0},
    {"help", NULL, "this text", FLAG, AT(help), 0, 0},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static const struct lm_options defaults = {
    .layers = 4,
    .width = 128,
    .heads = 4,
    .context = 64,
    .micro_batches = 4,
    .micro_batch_size = 2,
    .steps = 300,
    .seed = 1,
    .warm_up = 50,
    .report_every = 10,
    .rate = 3e-3,
    .clip = 1,
    .schedule = LM_GPIPE,
    .text = "/usr/share/common-licenses/GPL-3",
};

static const char *const schedule_names[] = {[LM_GPIPE] = "gpipe", [LM_1F1B] = "1f1b"};

const char *lm_schedule_name(enum lm_schedule schedule)
{
    return schedule_names[schedule];
}

void lm_options_help(FILE *out)
{
    fputs(
        "usage: mpiexec -n RANKS pipeline_lm [OPTION]...\n"
        "Trains a byte-level transformer language model by pipeline parallelism: each rank holds\n"
        "some of the layers, activations go forward as MPI_FLOAT with tags 100-199, gradients\n"
        "backward with tags 200-299, a message is (size x context) x width floats.\n\n",
        out);
    for (int i = 0; i < ROWS; i++) {
        const char *value = (const char *)&defaults + rows[i].offset;
        int used =
            fprintf(out, "  --%s %s", rows[i].name, rows[i].argument ? rows[i].argument : "");

        fprintf(out, "%*s%s", used < 26 ? 26 - used : 1, "", rows[i].help);
        if (rows[i].kind == WHOLE)
            fprintf(out, " [%d]", *(const int *)value);
        else if (rows[i].kind == REAL)
            fprintf(out, " [%g]", *(const double *)value);
        else if (rows[i].kind == SCHEDULE)
            fprintf(out, " [%s]", schedule_names[*(const enum lm_schedule *)value]);
        else if (rows[i].kind == PATH && *(const char *const *)value)
            fprintf(out, " [%s]", *(const char *const *)value);
        fputc('\n', out);
    }
    fputs("\nexample: mpiexec -n 2 pipeline_lm --steps 50 --schedule 1f1b --csv loss.csv\n", out);
}

static bool parse_number(const struct option_row *row, const char *text, void *to)
{
    char *end;
    double value;

    errno = 0;
    value = row->kind == WHOLE ? (double)strtol(text, &end, 10) : strtod(text, &end);
    if (errno || end == text || *end || !(value >= row->least && value <= row->most))
        return false;
    if (row->kind == WHOLE)
        *(int *)to = (int)value;
    else
        *(double *)to = value;
    return true;
}

static bool parse_value(const struct option_row *row, const char *text, struct lm_options *options,
                        char *message, size_t message_size)
{
    void *to = (char *)options + row->offset;

    switch (row->kind) {
    case WHOLE:
    case REAL:
        if (parse_number(row, text, to))
            return true;
        snprintf(message, message_size, "--%s %s: must be a%s number from %.12g to %.12g",
                 row->name, text, row->kind == WHOLE ? " whole" : "", row->least, row->most);
        return false;
    case SCHEDULE:
        for (enum lm_schedule i = LM_GPIPE; i <= LM_1F1B; i++) {
            if (strcmp(text, schedule_names[i]) == 0) {
                *(enum lm_schedule *)to = i;
                return true;
            }
        }
        snprintf(message, message_size, "--%s %s: must be gpipe or 1f1b", row->name, text);
        return false;
    case PATH:
        *(const char **)to = text;
        return true;
    default:
        *(bool *)to = true;
        return true;
    }
}

/* What no single option can tell. */
static bool check_together(const struct lm_options *options, char *message, size_t message_size)
{
    double elements = (double)options->micro_batch_size * options->context * options->width * 4;

    if (options->width % options->heads) {
        snprintf(message, message_size, "--width %d: must be a multiple of --heads %d",
                 options->width, options->heads);
        return false;
    }
    if (elements > INT_MAX) {
        snprintf(message, message_size,
                 "4 x micro-batch-size x context x width is %.0f: must be at most %d", elements,
                 INT_MAX);
        return false;
    }
    return true;
}

bool lm_options_parse(struct lm_options *options, int argc, char **argv, char *message,
                      size_t message_size)
{
    struct option list[ROWS + 1] = {{0}};
    int found, index;

    for (int i = 0; i < ROWS; i++)
        list[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                  NULL, 0};
    *options = defaults;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":", list, &index)) != -1) {
        if (found == ':') {
            snprintf(message, message_size, "%s needs a value; see --help", argv[optind - 1]);
            return false;
        }
        if (found != 0) {
            snprintf(message, message_size, "no such option: %s; see --help", argv[optind - 1]);
            return false;
        }
        if (!parse_value(&rows[index], optarg, options, message, message_size))
            return false;
    }
    if (optind < argc) {
        snprintf(message, message_size, "unexpected argument: %s; see --help", argv[optind]);
        return false;
    }
    return check_together(options, message, message_size);
}
