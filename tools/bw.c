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

/* The rule that a message to be encoded falls under, or -1. */
static int match(const bw_t *bw, int up, int tag, uint64_t bytes, bool remote)
{
    policy_message_t message = {
        .tag = tag,
        .comm_size = 2,
        .direction = up ? POLICY_UP : POLICY_DOWN,
        .carrier = POLICY_CARRIER_FLOAT32,
        .bytes = bytes,
        .remote = remote,
    };
    int rule = policy_match(bw->parsed, &message);

    return rule >= 0 && policy_rule(bw->parsed, rule)->params.codec == TAH_CODEC_NONE ? -1 : rule;
}

/* A tag with which messages of that direction are encoded: the first, if there is one. */
static void choose_tag(bw_t *bw, int up)
{
    bw_direction_t *direction = &bw->directions[up];

    for (int tag = 0; tag < BW_TAG_PLAIN; tag++) {
        int rule = match(bw, up, tag, bw->to, true);
        if (rule >= 0) {
            direction->tag = tag;
            direction->rule = policy_rule(bw->parsed, rule)->name;
            return;
        }
    }
}

/*
 * The policy for the ranks, in a file: a rule for the plain messages, then the user's or the
 * published ones. Returns its path, static, or NULL with a complaint.
 */
static const char *write_policy(bw_t *bw)
{
    static char path[JOB_PATH_BYTES];
    policy_errors_t errors;
    size_t bytes = 0, rules_bytes = 0;
    char *rules = NULL, *text = NULL;
    FILE *file;
    bool written;

    if (bw->policy) {
        policy_free(tahmpi_load_policy(bw->policy)); /* complains by the lines of the user's file */
        rules = policy_read(bw->policy, &rules_bytes, &errors);
    } else if (asprintf(&rules,
                        "[tahmpi]\nscope = %s\n"
                        "[rule forward]\ndirection = up\ntag = 100\nmin-bytes = 1 KiB\n"
                        "codec = tah\nbits = 4/3\nhigh-fraction = 0.8\ntile = 64\n"
                        "[rule backward]\ndirection = down\ntag = 200\nmin-bytes = 1 KiB\n"
                        "codec = uniform\nbits = 6\ntile = 32\n",
                        bw->scope ? bw->scope : "remote") < 0) {
        rules = NULL;
    }
    if (!rules || asprintf(&text, "[rule plain-of-tahmpi-bw]\ntag = %d\ncodec = none\n%s",
                           BW_TAG_PLAIN, rules) < 0)
        text = NULL;
    free(rules);
    if (!text)
        return NULL;
    bytes = strlen(text);
    bw->parsed = policy_parse(text, bytes, "policy", &errors);
    snprintf(path, sizeof path, "%s/policy.ini", bw->setup.folder);
    file = bw->parsed ? fopen(path, "we") : NULL;
    written = file && fwrite(text, 1, bytes, file) == bytes;
    written = file && fclose(file) == 0 && written;
    free(text);
    if (!written && bw->parsed)
        fprintf(stderr, "tahmpi bw: %s: %s\n", path, strerror(errno));
    return written ? path : NULL;
}

/* The length of the frame that the ranks' tensor of that size makes; bytes itself: it goes raw. */
static uint64_t frame_bytes(const bw_t *bw, int up, uint64_t bytes, const float *values)
{
    int rule = match(bw, up, bw->directions[up].tag, bytes, bw->remote);
    tah_message_t message = {.key = {1}};
    tah_encoded_t encoded = {0};
    tah_params_t params;
    tah_status_t status;
    uint64_t result = bytes;
    void *frame;

    if (rule < 0)
        return bytes;
    params = policy_rule(bw->parsed, rule)->params;
    params.dtype = policy_rule_dtype(bw->parsed, rule, POLICY_CARRIER_FLOAT32);
    frame = malloc(bytes);
    status = frame ? tah_encode(&params, &message, values, bytes / tah_dtype_bytes(params.dtype),
                                frame, bytes, &encoded)
                   : TAH_ERR_MEMORY;
    if (status == TAH_OK)
        result = encoded.frame_bytes;
    free(frame);
    return result;
}

static bool fill_wire_bytes(bw_t *bw)
{
    float *values = malloc(bw->to);

    if (!values) {
        fprintf(stderr, "tahmpi bw: out of memory\n");
        return false;
    }
    bw_fill(values, bw->to / sizeof *values);
    for (int up = 0; up < 2; up++) {
        bw_direction_t *direction = &bw->directions[up];
        for (int i = 0; i < direction->row_count; i++)
            direction->rows[i].wire_bytes = frame_bytes(bw, up, direction->rows[i].bytes, values);
    }
    free(values);
    return true;
}

/* Whether the library counted on the wire what the sizes of frames add up to. */
static bool agrees(const bw_t *bw, const run_report_t *report)
{
    double counted[2] = {0, 0};
    bool good = true;

    for (int i = 0; i < report->row_count; i++)
        counted[report->rows[i].up] += report->rows[i].wire_bytes + report->rows[i].raw_bytes;
    for (int up = 0; up < 2; up++) {
        const bw_direction_t *direction = &bw->directions[up];
        double expected = 0;
        for (int i = 0; i < direction->row_count; i++) {
            if (match(bw, up, direction->tag, direction->rows[i].bytes, bw->remote) >= 0)
                expected += (double)(direction->rows[i].messages * direction->rows[i].wire_bytes);
        }
        if (fabs(expected - counted[up]) > 0.001 * expected) {
            fprintf(stderr,
                    "tahmpi bw: %s, the library counted %.0f bytes on the wire, not %.0f: the wire "
                    "ratios below are not those of all messages (a warm-up, perhaps)\n",
                    up ? "up" : "down", counted[up], expected);
            good = false;
        }
    }
    return good;
}

/* What a failed run said. */
static void complain(const job_result_t *result)
{
    FILE *output = fopen(result->output, "re");
    char *line = NULL;
    size_t room = 0;

    fprintf(stderr, "tahmpi bw: the run failed (exit status %d):\n", result->status);
    while (output && getline(&line, &room, output) > 0)
        fprintf(stderr, "  | %s", line);
    free(line);
    if (output)
        fclose(output);
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
    good = fill_wire_bytes(bw) && good;
    if (report)
        agrees(bw, report);
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
    policy = bw.setup.folder ? write_policy(&bw) : NULL;
    if (!policy)
        return TAHMPI_BAD;
    choose_tag(&bw, 0);
    choose_tag(&bw, 1);
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
