/* tahmpi ab: runs a program plain and under policies in turn, and says what they gain and cost. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/ab.h"
#include "tools/plot.h"
#include "tools/tahmpi.h"

enum ab_key {
    AB_LINK = 'l',
    AB_RANKS = 'n',
    AB_RUNS = 'r',
    AB_POLICY = 'p',
    AB_METRIC = 'm',
    AB_JSON = 256,
    AB_CSV,
    AB_PLOT,
    AB_TIMEOUT,
    AB_MPIEXEC,
    AB_LIBRARY,
    AB_SLOWNET,
};

static const struct argp_option options[] = {
    {"link", AB_LINK, "RATE[,RATE...]", 0,
     "run on hosts with links of this rate (10mbit, 1gbit, none: not shaped), made by slownet; "
     "without it, on this machine's own network", 0},
    {"ranks", AB_RANKS, "N", 0, "ranks [2]", 0},
    {"runs", AB_RUNS, "K", 0, "runs of each, in turn [3]", 0},
    {"policy", AB_POLICY, "FILE", 0, "a policy to compare; may be repeated", 0},
    {"metric", AB_METRIC, "REGEX", 0,
     "a number in the program's output wherever it is printed: an extended regular expression with "
     "one group, such as 'loss ([0-9.e+-]+)'; may be repeated",
     0},
    {"json", AB_JSON, "FILE", 0, "write all figures of all runs", 1},
    {"csv", AB_CSV, "FILE", 0, "write one line a run", 1},
    {"plot", AB_PLOT, "FILE", 0, "draw speed-up against link, and the metrics (.svg or .png)", 1},
    {"timeout", AB_TIMEOUT, "SECONDS", 0, "end a run that takes longer", 2},
    {"mpiexec", AB_MPIEXEC, "COMMAND", 0,
     "launcher, without --link with options too [$MPIEXEC or " TAH_MPIEXEC "]", 2},
    {"library", AB_LIBRARY, "FILE", 0, "libtahmpi.so [the one that belongs to this command]", 2},
    {"slownet", AB_SLOWNET, "FILE", 0, "slownet [the one that belongs to this command]", 2},
    {0},
};

static void add_links(struct argp_state *state, ab_t *ab, char *text)
{
    for (char *rate; (rate = strsep(&text, ",")) != NULL;) {
        if (*rate == '\0')
            argp_error(state, "--link: a rate is missing (such as 10mbit,1gbit)");
        if (!job_rate_valid(rate))
            argp_error(state,
                       "--link %s: must be none, or a number and kbit, mbit or gbit, from 8kbit to "
                       "1000gbit",
                       rate);
        if (ab->link_count == AB_LINKS_MOST)
            argp_error(state, "--link: at most %d rates", AB_LINKS_MOST);
        ab->links[ab->link_count++] = rate;
    }
}

static void add_policy(struct argp_state *state, ab_t *ab, const char *path)
{
    if (ab->variant_count == AB_VARIANTS_MOST)
        argp_error(state, "--policy: at most %d", AB_POLICIES_MOST);
    if (access(path, R_OK) != 0)
        argp_error(state, "--policy %s: %s", path, strerror(errno));
    policy_t *policy = tahmpi_load_policy(path);
    if (policy == NULL) /* it has said why, with lines */
        exit(TAHMPI_BAD);
    policy_free(policy);
    ab->given[ab->variant_count] = path;
    ab->policies[ab->variant_count++] = realpath(path, NULL);
}

static void add_metric(struct argp_state *state, ab_t *ab, const char *text)
{
    char why[128];
    if (ab->metric_count == AB_METRICS_MOST)
        argp_error(state, "--metric: at most %d", AB_METRICS_MOST);
    ab_metric_t *metric = &ab->metrics[ab->metric_count++];
    metric->text = text;
    int rc = regcomp(&metric->pattern, text, REG_EXTENDED | REG_NEWLINE);
    if (rc != 0) {
        regerror(rc, &metric->pattern, why, sizeof why);
        argp_error(state, "--metric '%s': %s", text, why);
    }
    if (metric->pattern.re_nsub == 0)
        argp_error(state, "--metric '%s': it needs a group in brackets round the number", text);
}

static void add_program(struct argp_state *state, ab_t *ab)
{
    ab->setup.program = state->argv + state->next - 1;
    state->next = state->argc;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    ab_t *ab = state->input;
    switch (key) {
    case AB_LINK:
        add_links(state, ab, argument);
        return 0;
    case AB_RANKS:
        ab->setup.ranks = (int)tahmpi_parse_number(state, "--ranks", argument, 4096);
        return 0;
    case AB_RUNS:
        ab->runs = (int)tahmpi_parse_number(state, "--runs", argument, AB_RUNS_MOST);
        return 0;
    case AB_POLICY:
        add_policy(state, ab, argument);
        return 0;
    case AB_METRIC:
        add_metric(state, ab, argument);
        return 0;
    case AB_TIMEOUT:
        ab->setup.timeout = (unsigned)tahmpi_parse_number(state, "--timeout", argument, 1000000);
        return 0;
    case AB_JSON:
        ab->json = argument;
        return 0;
    case AB_CSV:
        ab->csv = argument;
        return 0;
    case AB_PLOT:
        ab->plot = argument;
        return 0;
    case AB_MPIEXEC:
        ab->setup.mpiexec = argument;
        return 0;
    case AB_LIBRARY:
        ab->setup.library = realpath(argument, NULL);
        if (ab->setup.library == NULL)
            argp_error(state, "--library %s: %s", argument, strerror(errno));
        return 0;
    case AB_SLOWNET:
        ab->setup.slownet = argument;
        return 0;
    case ARGP_KEY_ARG:
        add_program(state, ab);
        return 0;
    case ARGP_KEY_END:
        if (ab->setup.program == NULL)
            argp_error(state, "a program is missing (after the options: -- PROGRAM [ARGUMENT...])");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool write_files(const ab_t *ab)
{
    bool good = true;
    if (ab->json != NULL)
        good = ab_write_json(ab) && good;
    if (ab->csv != NULL)
        good = ab_write_csv(ab) && good;
    if (ab->plot != NULL)
        good = ab_write_plot(ab) && good;
    return good;
}

static void free_all(ab_t *ab)
{
    for (int i = 0; i < ab->link_count * ab->variant_count * ab->runs; i++)
        ab_sample_free(&ab->samples[i]);
    for (int m = 0; m < ab->metric_count; m++)
        regfree(&ab->metrics[m].pattern);
    for (int variant = 1; variant < ab->variant_count; variant++)
        free((void *)ab->policies[variant]);
    free(ab->samples);
}

int tahmpi_ab(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse_option, "[--] PROGRAM [ARGUMENT...]",
        "Compares an MPI program with itself: plain and under each policy, in turn, on this "
        "machine's network or on shaped links."
        "\vExit status 0 if every run succeeded. A comparison that is interrupted prints what it "
        "has. Example:\n"
        "  tahmpi ab --link 5mbit,50mbit --policy published.ini \\\n"
        "            --metric 'loss ([0-9.e+-]+)' --plot gain.svg -- ./trainer",
        NULL, NULL, NULL};
    ab_t ab = {.setup = {.ranks = 2}, .runs = 3, .variant_count = 1};
    argp_err_exit_status = TAHMPI_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &ab);
    bool shaped = ab.link_count > 0;
    if (!shaped)
        ab.link_count = 1;
    if ((ab.plot != NULL && !plot_possible(ab.plot)) || !job_setup_complete(&ab.setup, shaped))
        return TAHMPI_USAGE;
    ab.setup.folder = job_folder_make();
    ab.samples = calloc((size_t)(ab.link_count * ab.variant_count * ab.runs), sizeof *ab.samples);
    if (ab.setup.folder == NULL || ab.samples == NULL)
        return TAHMPI_BAD;
    bool complete = ab_run(&ab);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (job_interrupted())
        fputs("tahmpi ab: interrupted: what follows is what there is so far\n", stderr);
    ab.failed = ab.failed || !complete;
    bool written = write_files(&ab); /* before the table: whoever reads that may go early */
    ab_print(&ab);
    bool good = written && !ab.failed;
    free_all(&ab);
    return good ? TAHMPI_GOOD : TAHMPI_BAD;
}
