/* tahmpi check: a policy as it is understood, rule by rule, or its mistakes. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tools/against.h"
#include "tools/tahmpi.h"

/* The codec, and its settings on one line: "bits = 4/3, high-fraction = 0.8, ...". */
static void print_settings(const policy_t *policy, int index)
{
    char settings[1024], line[2048] = "";
    char *rest = settings, *setting;

    policy_rule_settings(policy, index, settings, sizeof settings);
    tahmpi_print_field("codec", strsep(&rest, "\n") + strlen("codec = "));
    while ((setting = strsep(&rest, "\n")) && *setting) {
        if (line[0])
            strcat(line, ", ");
        strcat(line, setting); /* as many separators as newlines, and half as long again at most */
    }
    if (line[0])
        tahmpi_print_field("settings", line);
}

/* A message that stands for others of its size, and its name. */
static const struct {
    uint64_t bytes;
    const char *name;
} samples[] = {{4 << 10, "4 KiB"},
               {16 << 10, "16 KiB"},
               {64 << 10, "64 KiB"},
               {1 << 20, "1 MiB"},
               {16 << 20, "16 MiB"}};

/* The bits that a value takes at most in messages of some sizes that the rule matches. */
static void print_expected(const policy_t *policy, int index)
{
    const tah_params_t *params = &policy_rule(policy, index)->params;
    const size_t element = tah_dtype_bytes(params->dtype);
    uint64_t least, most;
    char text[512] = "";

    policy_rule_bytes(policy, index, &least, &most);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint64_t count = samples[i].bytes / element;
        size_t frame, used = strlen(text);
        if (params->channels)
            count -= count % params->channels; /* whole tokens */
        if (count == 0 || samples[i].bytes < least || samples[i].bytes > most)
            continue;
        frame = tah_frame_bound(params, count);
        if (frame < count * element)
            snprintf(text + used, sizeof text - used, "%s%.2f in %s (%.2fx shorter)",
                     used ? ", " : "", 8.0 * (double)frame / (double)count, samples[i].name,
                     (double)(count * element) / (double)frame);
        else
            snprintf(text + used, sizeof text - used, "%snothing saved in %s", used ? ", " : "",
                     samples[i].name);
    }
    if (text[0])
        tahmpi_print_fieldf("expected", "bits a value instead of %zu: %s", 8 * element, text);
}

static void print_rule(const policy_t *policy, int index)
{
    const policy_rule_t *rule = policy_rule(policy, index);
    char words[2048];

    printf("\n[rule %s] line %d\n", rule->name, rule->line);
    policy_rule_describe(policy, index, words, sizeof words);
    tahmpi_print_field("matches", words);
    print_settings(policy, index);
    switch (rule->params.codec) {
    case TAH_CODEC_NONE:
        tahmpi_print_field("expected", "sent as it is, whatever later rules say");
        break;
    case TAH_CODEC_LOSSLESS:
        tahmpi_print_field("expected", "exact values; how much shorter depends on the data, and "
                                       "what would not be is sent as it is");
        break;
    default:
        print_expected(policy, index);
    }
}

/* Shows one file. False: it has mistakes, or a rule that matched nothing in the run. */
static bool check_file(const char *path, const char *report)
{
    policy_t *policy = tahmpi_load_policy(path);
    bool good = true;
    int rules;

    if (!policy)
        return false;
    rules = policy_rule_count(policy);
    if (rules)
        printf("%s: %d rule%s; the first that matches a message is used\n", path, rules,
               rules > 1 ? "s" : "");
    else
        printf("%s: no rules, so no message is touched\n", path);
    for (int i = 0; i < rules; i++)
        print_rule(policy, i);
    if (report)
        good = against_report(policy, report);
    policy_free(policy);
    return good;
}

enum { OPTION_AGAINST = 'a' };

struct arguments {
    const char *path, *report; /* report: NULL without --against */
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case OPTION_AGAINST:
        arguments->report = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->path)
            argp_error(state, "only one policy file at a time, not \"%s\" too", argument);
        arguments->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the policy file is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int tahmpi_check(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"against", OPTION_AGAINST, "REPORT", 0,
         "also say what the rules match of the messages of a run, and which messages none does; "
         "REPORT is what TAHMPI_REPORT wrote",
         0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "FILE",
        .doc = "Shows a policy file as tahmpi understands it: rule by rule, which messages it "
               "matches and how much shorter they get. With mistakes: each with its line and what "
               "is allowed, and exit status 1; also if a rule matches nothing in the run that "
               "--against names."
               "\vBits a value and ratio are for messages that have no exact tiles (tiles with "
               "infinities, say), and include all that a frame has besides its codes. Example:\n"
               "  tahmpi check my-policy.ini --against report.json",
    };
    struct arguments arguments = {NULL, NULL};

    tahmpi_parse(&argp, argc, argv, &arguments);
    return check_file(arguments.path, arguments.report) ? TAHMPI_GOOD : TAHMPI_BAD;
}
