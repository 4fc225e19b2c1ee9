/* tahmpi ab: makes the runs, and says what is wrong with one that is not as it was asked to be. */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/ab.h"

/* A line on the terminal that the next one replaces; whole lines elsewhere. */
static void progress(const ab_t *ab, int made, int link, int variant, int run)
{
    bool terminal = isatty(STDERR_FILENO);
    fprintf(stderr, "%s%d of %d: %s on %s, run %d%s", terminal ? "\r\033[K" : "", made + 1,
            ab->link_count * ab->variant_count * ab->runs, ab_variant_name(ab, variant),
            ab_link_name(ab, link), run + 1, terminal ? "" : "\n");
}

/* "tahmpi ab: plain on 10mbit, run 2: " and what was wrong with that run. */
static __attribute__((format(printf, 5, 6))) void say(const ab_t *ab, int link, int variant,
                                                      int run, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%stahmpi ab: %s on %s, run %d: ", isatty(STDERR_FILENO) ? "\r\033[K" : "",
            ab_variant_name(ab, variant), ab_link_name(ab, link), run + 1);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* What a failed run printed last, so that the user sees why. */
static void complain(const ab_t *ab, int link, int variant, int run, const job_result_t *job)
{
    char *tail = job_output_tail(job->output);
    const char *more = tail != NULL ? "its last lines:" : "it printed nothing";
    if (job->timed_out)
        say(ab, link, variant, run, "took too long (--timeout %u); %s", ab->setup.timeout, more);
    else
        say(ab, link, variant, run, "failed (exit status %d); %s", job->status, more);
    if (tail != NULL)
        fputs(tail, stderr);
    free(tail);
}

/*
 * Whether the run was under the library, and of the ranks that were asked for: without, its time
 * would be that of a plain program. False: no further run is to be made.
 */
static bool judge_report(ab_t *ab, int link, int variant, int run)
{
    ab_sample_t *sample = ab_sample(ab, link, variant, run);
    if (access(sample->job.report, F_OK) != 0) {
        say(ab, link, variant, run,
            "left no report: does the program use this MPI, and call MPI_Finalize?");
        return true;
    }
    run_report_t *report = run_report_read("tahmpi ab", sample->job.report, false);
    sample->done = report != NULL && report->ranks == ab->setup.ranks;
    if (report == NULL || sample->done) {
        sample->report = report;
        return true;
    }
    if (report->ranks == 1)
        say(ab, link, variant, run,
            "the launcher started programs of one rank: another MPI's mpiexec?");
    else
        say(ab, link, variant, run, "the program had %d ranks, not the %d of --ranks",
            report->ranks, ab->setup.ranks);
    run_report_free(report);
    return false;
}

/* Whether a run that came to its end is one to count. False: no further run is to be made. */
static bool judge(ab_t *ab, int link, int variant, int run)
{
    ab_sample_t *sample = ab_sample(ab, link, variant, run);
    const job_result_t *job = &sample->job;
    bool more = true;
    if (job->status != 0 || job->timed_out) {
        complain(ab, link, variant, run, job);
        /* Hosts cannot be made (slownet's word for it), or the launcher is not there: no other run
         * will do better. */
        more = job->timed_out || job->status != (ab->links[link] != NULL ? 125 : 127);
    } else {
        ab_sample_read(ab, sample);
        sample->done = variant == 0;
        if (variant > 0)
            more = judge_report(ab, link, variant, run);
    }
    const char *trouble = sample->done ? NULL : job_folder_trouble();
    if (trouble != NULL)
        say(ab, link, variant, run, "%s", trouble);
    return more && trouble == NULL;
}

/* False: no further run is to be made. */
static bool run_one(ab_t *ab, int link, int variant, int run)
{
    ab_sample_t *sample = ab_sample(ab, link, variant, run);
    job_t job = {.link = ab->links[link], .policy = ab->policies[variant]};
    bool more = false;
    if (!job_run(&ab->setup, &job, &sample->job))
        return false;
    sample->made = true;
    if (!sample->job.interrupted)
        more = judge(ab, link, variant, run);
    ab->failed = ab->failed || !sample->done;
    job_result_remove(&sample->job); /* outputs of many runs would fill what holds one easily */
    return more && !job_interrupted();
}

/* Turn by turn, so that what else the machine does meets all variants alike. */
bool ab_run(ab_t *ab)
{
    int made = 0;
    for (int link = 0; link < ab->link_count; link++)
        for (int run = 0; run < ab->runs; run++)
            for (int variant = 0; variant < ab->variant_count; variant++) {
                progress(ab, made++, link, variant, run);
                if (!run_one(ab, link, variant, run))
                    return false;
            }
    return true;
}
