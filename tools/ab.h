/* tahmpi ab: a program plain and under policies, on links; what its parts share. */
#ifndef AB_H
#define AB_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/job.h"
#include "tools/run_report.h"
#include "tools/statistics.h"

#define AB_LINKS_MOST 16
#define AB_POLICIES_MOST 8
#define AB_VARIANTS_MOST (AB_POLICIES_MOST + 1) /* the first is the plain program */
#define AB_METRICS_MOST 8
#define AB_RUNS_MOST 100

/* A number that is read from the program's output wherever the pattern matches. */
typedef struct ab_metric {
    const char *text; /* the pattern as given */
    regex_t pattern;  /* with one group at least: the number */
} ab_metric_t;

typedef struct ab_curve {
    double *values;
    size_t count;
} ab_curve_t;

typedef struct ab_sample {
    bool made; /* the run was begun */
    bool done; /* the program ended with status 0, under the library where that was asked for */
    job_result_t job;
    ab_curve_t curves[AB_METRICS_MOST];
    run_report_t *report; /* the library's; NULL: none */
} ab_sample_t;

/* The whole comparison. */
typedef struct ab {
    job_setup_t setup;
    const char *links[AB_LINKS_MOST]; /* NULL: this machine's own network */
    int link_count;
    const char *policies[AB_VARIANTS_MOST]; /* [0] is NULL: plain */
    const char *given[AB_VARIANTS_MOST];    /* the same paths as on the command line */
    int variant_count;
    ab_metric_t metrics[AB_METRICS_MOST];
    int metric_count;
    int runs;
    const char *json, *csv, *plot;
    bool failed; /* a run did not succeed, or was never made */
    ab_sample_t *samples; /* [link][variant][run] */
} ab_t;

ab_sample_t *ab_sample(const ab_t *ab, int link, int variant, int run);

/* "10mbit", "own network" */
const char *ab_link_name(const ab_t *ab, int link);

/* "plain", or the policy's file name: without its folders, unless another one has that name too */
const char *ab_variant_name(const ab_t *ab, int variant);

/* Reads metrics from what a job printed. */
void ab_sample_read(const ab_t *ab, ab_sample_t *sample);

void ab_sample_free(ab_sample_t *sample);

/* Makes all runs; false: some of them were not made. */
bool ab_run(ab_t *ab);

/* Wall times of the runs that succeeded; returns how many. values: room for ab->runs. */
size_t ab_seconds(const ab_t *ab, int link, int variant, double *values);

/* Speed-ups over the plain runs of the same turn; returns how many. */
size_t ab_speedups(const ab_t *ab, int link, int variant, double *values);

/* Last values of a metric; returns how many. */
size_t ab_last_values(const ab_t *ab, int link, int variant, int metric, double *values);

/* The last run that succeeded, or NULL. */
const ab_sample_t *ab_latest(const ab_t *ab, int link, int variant);

/* Prints what is there, also of a comparison that was cut short. */
void ab_print(const ab_t *ab);

/* Write the files that were asked for; false with a complaint. */
bool ab_write_json(const ab_t *ab);
bool ab_write_csv(const ab_t *ab);
bool ab_write_plot(const ab_t *ab);

#endif
