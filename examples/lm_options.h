/* The command line of pipeline_lm. */
#ifndef LM_OPTIONS_H
#define LM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum lm_schedule { LM_GPIPE, LM_1F1B };

struct lm_options {
    int layers, width, heads, context;
    int micro_batches, micro_batch_size;
    int steps, seed, warm_up, report_every;
    double rate, clip;
    enum lm_schedule schedule;
    const char *text, *csv; /* into argv; csv may be NULL */
    bool quiet, help;
};

/* Reads argv. On a mistake returns false and `message` says which option, what was given and what
   is allowed. Prints nothing. */
bool lm_options_parse(struct lm_options *options, int argc, char **argv, char *message,
                      size_t message_size);

void lm_options_help(FILE *out);

/* "gpipe" or "1f1b". */
const char *lm_schedule_name(enum lm_schedule schedule);

#endif
