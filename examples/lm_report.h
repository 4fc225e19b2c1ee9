/*
 * What rank 0 tells of a run: progress lines and the summary on standard output, the CSV file.
 *
 * Times are measured, none derived. A step lasts from the end of the one before to its own end on
 * rank 0, all included. A rank is "communicating" while it is inside an MPI call, be it moving data
 * or waiting for another rank; the figure is that of the busiest rank, the one that communicates
 * least, so the share of the other ranks is at least as large.
 */
#ifndef LM_REPORT_H
#define LM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "lm_options.h"

struct lm_report {
    const struct lm_options *options;
    int ranks, done;                    /* steps reported */
    FILE *csv;                          /* NULL without --csv */
    double seconds, comm_seconds, loss; /* sums since the last progress line */
    double all_seconds, all_comm_seconds;
    double *losses; /* [steps] */
};

/* Opens the CSV file and writes its first line. On failure returns false, nothing is held, and
   `message` says what failed. End with lm_report_end. */
bool lm_report_start(struct lm_report *report, const struct lm_options *options, int ranks,
                     char *message, size_t message_size);

/* One step: its loss in nats a token, seconds, and the busiest rank's seconds in MPI. */
void lm_report_step(struct lm_report *report, double loss, double seconds, double comm_seconds);

/* Prints the summary of the steps reported, "name: value" a line between two lines of "=", closes
   the CSV file. False, with `message`, if the file could not be written. */
bool lm_report_end(struct lm_report *report, char *message, size_t message_size);

#endif
