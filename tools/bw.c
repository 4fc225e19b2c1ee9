/* tahmpi bw: runs tahmpi-bw-ranks under a policy and sets what it measured beside what was sent. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bw.h"
#include "tools/run_report.h"
#include "tools/tahmpi.h"

enum bw_key {
    BW_LINK = 'l',
    BW_POLICY = 'p',
    BW_SCOPE = 's',
    BW_FROM = 256,
    BW_TO,
    BW_SECONDS,
    BW_JSON,
    BW_CSV,
    BW_MPIEXEC,
    BW_LIBRARY,
    BW_SLOWNET,
};

static const struct argp_option options[] = {
    {"link", BW_LINK, "RATE", 0,
     "run on two hosts with links of this rate (100mbit, 1gbit, none: not shaped), made by "
     "slownet; "
     "without it, on this machine's own network",
     0},
    {"policy", BW_POLICY, "FILE", 0,
     "a policy [the published settings: tah 4/3 bits up, uniform 6 bits down]", 0},
    {"scope", BW_SCOPE, "remote|all", 0,
     "whether the published settings apply to ranks of one node too [remote]", 0},
    {"from", BW_FROM, "SIZE", 0, "smallest message [1K]", 1},
    {"to", BW_TO, "SIZE", 0, "largest message; sizes double from one to the next [64M]", 1},
    {"seconds", BW_SECONDS, "S", 0, "time for each measurement, if one round is not longer [0.3]",
     1},
    {"json", BW_JSON, "FILE", 0, "write all figures", 2},
    {"csv", BW_CSV, "FILE", 0, "write one line for each direction and size", 2},
    {"mpiexec", BW_MPIEXEC, "COMMAND", 0, "launcher, with options [$MPIEXEC or " TAH_MPIEXEC "]",
     3},
    {"library", BW_LIBRARY, "FILE", 0, "libtahmpi.so [the one that belongs to this command]", 3},
    {"slownet", BW_SLOWNET, "FILE", 0, "slownet [the one that belongs to this command]", 3},
    {0},
};

static void check_options(struct argp_state *state, const bw_t *bw)
{
    if (bw->policy && bw->scope)
        argp_error(state, "--scope is for the published settings; a policy says its own");
    if (bw->from > bw->to)
        argp_error(state, "--from: must be at most --to");
    if (bw->from & (bw->from - 1))
        argp_error(state, "--from: must be a power of two");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    bw_t *bw = state->input;
    char *end;

    switch (key) {
    case BW_LINK:
        bw->link = argument;
        return 0;
    case BW_POLICY:
        bw->policy = argument;
        return 0;
    case BW_SCOPE:
        if (strcmp(argument, "remote") != 0 && strcmp(argument, "all") != 0)
            argp_error(state, "--scope %s: must be remote or all", argument);
        bw->scope = argument;
        return 0;
    case BW_FROM:
        bw->from = tahmpi_parse_size(state, "--from", argument, BW_LEAST_BYTES, BW_MOST_BYTES);
        return 0;
    case BW_TO:
        bw->to = tahmpi_parse_size(state, "--to", argument, BW_LEAST_BYTES, BW_MOST_BYTES);
        return 0;
    case BW_SECONDS:
        bw->seconds = strtod(argument, &end);
        if (*end || end == argument || !(bw->seconds > 0 && bw->seconds <= 1000))
            argp_error(state, "--seconds %s: must be a number up to 1000", argument);
        return 0;
    case BW_JSON:
        bw->json = argument;
        return 0;
    case BW_CSV:
        bw->csv = argument;
        return 0;
    case BW_MPIEXEC:
        bw->setup.mpiexec = argument;
        return 0;
    case BW_LIBRARY:
        bw->setup.library = realpath(argument, NULL);
        if (!bw->setup.library)
            argp_error(state, "--library %s: %s", argument, strerror(errno));
        return 0;
    case BW_SLOWNET:
        bw->setup.slownet = argument;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "there is no argument \"%s\": bw brings its own program", argument);
        return 0;
    case ARGP_KEY_END:
        check_options(state, bw);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/*
 * What the rows of a direction add up to on the wire. The first messages under a rule with a
 * warm-up go raw: *warm counts them.
 */
static double expected_bytes(const bw_t *bw, int up, uint64_t *warm)
{
    const bw_direction_t *direction = &bw->directions[up];
    uint64_t seen[POLICY_MAX_RULES] = {0};
    double bytes = 0;

    *warm = 0;
    for (int i = 0; i < direction->row_count; i++) {
        const bw_row_t *row = &direction->rows[i];
        const policy_rule_t *rule = row->rule < 0 ? NULL : policy_rule(bw->parsed, row->rule);
        uint64_t raw = 0;
        if (!rule || rule->params.codec == TAH_CODEC_NONE)
            continue;
        if (seen[row->rule] < rule->warmup)
            raw = rule->warmup - seen[row->rule];
        if (raw > row->messages)
            raw = row->messages;
        seen[row->rule] += row->messages;
        *warm += raw;
        bytes += (double)(raw * row->bytes + (row->messages - raw) * row->wire_bytes);
    }
    return bytes;
}

/* Whether the library counted on the wire what the sizes of frames add up to; complains if not. */
static bool agrees(const bw_t *bw, const run_report_t *report)
{
    double counted[2] = {0, 0};
    bool good = true;

    for (int i = 0; i < report->row_count; i++)
        counted[report->rows[i].up] += report->rows[i].wire_bytes + report->rows[i].raw_bytes;
    for (int up = 1; up >= 0; up--) {
        uint64_t warm;
        double expected = expected_bytes(bw, up, &warm);
        if (fabs(expected - counted[up]) > 0.001 * expected) {
            fprintf(stderr,
                    "tahmpi bw: %s, the library counted %.0f bytes on the wire, not %.0f: the wire "
                    "ratios below are not those of all messages\n",
                    up ? "up" : "down", counted[up], expected);
            good = false;
        } else if (warm) {
            fprintf(stderr,
                    "tahmpi bw: %s, %" PRIu64 " messages went as they are, for a rule's warm-up: "
                    "some times below may be theirs\n",
                    up ? "up" : "down", warm);
        }
    }
    return good;
}

/* What a failed run printed last, so that the user sees why. */
static void complain(const job_result_t *result)
{
    char *tail = job_output_tail(result->output);
    fprintf(stderr, "tahmpi bw: the run failed (exit status %d); %s\n", result->status,
            tail != NULL ? "its last lines:" : "it printed nothing");
    if (tail != NULL)
        fputs(tail, stderr);
    free(tail);
}

static bool run(bw_t *bw, const char *policy)
{
    bool terminal = isatty(STDERR_FILENO);
    job_t job = {.link = bw->link, .policy = policy, .watch = terminal ? bw_show_progress : NULL};
    job_result_t result;
    run_report_t *report = NULL;
    bool good;

    good = job_run(&bw->setup, &job, &result);
    if (terminal)
        fputs("\r\033[K", stderr);
    if (!good)
        return false;
    bw_read(bw, result.output);
    good = result.status == 0 && !job_interrupted();
    if (job_interrupted())
        fprintf(stderr, "tahmpi bw: interrupted: what follows is what there is so far\n");
    else if (!good)
        complain(&result);
    if (good)
        report = run_report_read("tahmpi bw", result.report, false);
    good = good && report;
    bw->remote = report ? report->nodes > 1 : bw->link != NULL;
    good = bw_fill_rows(bw) && good;
    if (report)
        good = agrees(bw, report) && good;
    run_report_free(report);
    return good;
}

/* The words of the program that the ranks run; static. NULL with a complaint. */
static char **ranks_program(const bw_t *bw)
{
    static char from[32], to[32], tags[2][16], seconds[32];
    static char *words[7];

    words[0] = (char *)job_find(TAH_PKGLIBEXECDIR "/tahmpi-bw-ranks", "tools/tahmpi-bw-ranks");
    if (!words[0]) {
        fprintf(stderr, "tahmpi bw: tahmpi-bw-ranks is not found: is tahmpi installed whole?\n");
        return NULL;
    }
    snprintf(from, sizeof from, "%" PRIu64, bw->from);
    snprintf(to, sizeof to, "%" PRIu64, bw->to);
    snprintf(tags[0], sizeof tags[0], "%d", bw->directions[0].tag);
    snprintf(tags[1], sizeof tags[1], "%d", bw->directions[1].tag);
    snprintf(seconds, sizeof seconds, "%g", bw->seconds);
    words[1] = from;
    words[2] = to;
    words[3] = tags[1];
    words[4] = tags[0];
    words[5] = seconds;
    return words;
}

int tahmpi_bw(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Measures latency and bandwidth of MPI between two ranks, by message size and "
               "direction, plain and encoded in turn in one run, and says from which size on it "
               "pays to encode on this link."
               "\vMB/s is what the wire carries, \"effective\" what the program gets. Latency is "
               "the time until the receiver has a message back in full; bandwidth is that of a "
               "stream of messages. Exit status 0 if all was measured. Example:\n"
               "  tahmpi bw --link 100mbit --to 8M",
    };
    bw_t bw = {.setup = {.ranks = 2}, .from = BW_LEAST_BYTES, .to = 64 << 20, .seconds = 0.3};
    const char *policy;
    bool good;

    tahmpi_parse(&argp, argc, argv, &bw);
    if (!job_setup_complete(&bw.setup, bw.link != NULL))
        return TAHMPI_USAGE;
    bw.setup.folder = job_folder_make();
    policy = bw.setup.folder ? bw_write_policy(&bw) : NULL;
    if (!policy)
        return TAHMPI_BAD;
    bw_choose_tags(&bw);
    bw.setup.program = ranks_program(&bw);
    good = bw.setup.program && run(&bw, policy);
    if (bw.directions[1].row_count) {
        bw_print(&bw);
        fflush(stdout);
        good = (!bw.json || bw_write_json(&bw)) && good;
        good = (!bw.csv || bw_write_csv(&bw)) && good;
    }
    policy_free(bw.parsed);
    return good ? TAHMPI_GOOD : TAHMPI_BAD;
}
