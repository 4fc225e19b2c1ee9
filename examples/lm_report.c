#include "lm_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool lm_report_start(struct lm_report *report, const struct lm_options *options, int ranks,
                     char *message, size_t message_size)
{
    *report = (struct lm_report){.options = options, .ranks = ranks};
    report->losses = calloc(options->steps, sizeof(*report->losses));
    if (!report->losses) {
        snprintf(message, message_size, "not enough memory for the losses of %d steps",
                 options->steps);
        return false;
    }
    if (options->csv) {
        report->csv = fopen(options->csv, "w");
        if (!report->csv) {
            snprintf(message, message_size, "--csv: cannot write %s: %s", options->csv,
                     strerror(errno));
            free(report->losses);
            *report = (struct lm_report){0};
            return false;
        }
        fputs("step,loss,step_seconds,comm_seconds\n", report->csv);
    }
    return true;
}

static double tokens_a_step(const struct lm_options *options)
{
    return (double)options->micro_batches * options->micro_batch_size * options->context;
}

void lm_report_step(struct lm_report *report, double loss, double seconds, double comm_seconds)
{
    const struct lm_options *options = report->options;

    report->losses[report->done++] = loss;
    report->loss += loss;
    report->seconds += seconds;
    report->comm_seconds += comm_seconds;
    report->all_seconds += seconds;
    report->all_comm_seconds += comm_seconds;
    /* 17 digits tell any two doubles apart. */
    if (report->csv)
        fprintf(report->csv, "%d,%.17g,%.6f,%.6f\n", report->done, loss, seconds, comm_seconds);

    int steps = (report->done - 1) % options->report_every + 1;

    if (steps < options->report_every && report->done < options->steps)
        return;
    if (!options->quiet) {
        printf("step %*d/%d  loss %.4f  %.0f tokens/s  step %.2f ms  communicating %.1f%%\n",
               snprintf(NULL, 0, "%d", options->steps), report->done, options->steps,
               report->loss / steps, steps * tokens_a_step(options) / report->seconds,
               1e3 * report->seconds / steps, 100 * report->comm_seconds / report->seconds);
        fflush(stdout);
    }
    report->seconds = report->comm_seconds = report->loss = 0;
}

static void print_summary(const struct lm_report *report)
{
    const struct lm_options *options = report->options;
    int last = report->done < 20 ? report->done : 20;
    double sum = 0;

    for (int i = report->done - last; i < report->done; i++)
        sum += report->losses[i];
    puts("==== summary ====");
    printf("ranks: %d\n", report->ranks);
    printf("schedule: %s\n", lm_schedule_name(options->schedule));
    printf("steps: %d\n", report->done);
    printf("message_bytes: %zu\n",
           sizeof(float) * options->micro_batch_size * options->context * options->width);
    printf("step_seconds: %.6f\n", report->all_seconds / report->done);
    printf("comm_share: %.4f\n", report->all_comm_seconds / report->all_seconds);
    printf("tokens_per_second: %.1f\n",
           report->done * tokens_a_step(options) / report->all_seconds);
    printf("loss_last_20: %.9g\n", sum / last);
    puts("=================");
    fflush(stdout);
}

bool lm_report_end(struct lm_report *report, char *message, size_t message_size)
{
    bool written = true;

    if (report->done > 0)
        print_summary(report);
    if (report->csv) {
        written = !ferror(report->csv);
        written = fclose(report->csv) == 0 && written;
        if (!written)
            snprintf(message, message_size, "--csv: could not write all of %s",
                     report->options->csv);
    }
    free(report->losses);
    *report = (struct lm_report){0};
    return written;
}
