/* tahmpi try: options, the settings to try, and which of them to suggest. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/policy.h"
#include "tools/plot.h"
#include "tools/tahmpi.h"
#include "tools/try.h"

enum try_key {
    TRY_CODEC = 'c',
    TRY_POLICY = 'p',
    TRY_SQNR = 's',
    TRY_JSON = 256,
    TRY_CSV,
    TRY_PLOT,
};

enum { SETTINGS_MOST = 256 };

static const struct argp_option options[] = {
    {"codec", TRY_CODEC, "'NAME KEY=VALUE...'", 0,
     "a codec and its settings as in a policy, such as 'tah bits=4/3 tile=64'; may be repeated", 0},
    {"policy", TRY_POLICY, "FILE", 0, "the codecs of this policy's rules; may be repeated", 0},
    {"sqnr", TRY_SQNR, "DB", 0,
     "suggest the setting with the fewest bits that reaches this signal-to-noise ratio", 0},
    {"json", TRY_JSON, "FILE", 0, "write all figures", 1},
    {"csv", TRY_CSV, "FILE", 0, "write one line for each file and setting", 1},
    {"plot", TRY_PLOT, "FILE", 0, "draw SQNR against bits a value (.svg or .png)", 1},
    {0},
};

/* What is tried if nothing is named: the published settings first. */
static const char *const ladder[] = {
    "tah bits=4/3",
    "tah bits=3/2",
    "tah bits=5/4",
    "tah bits=6/5",
    "tah bits=8/7",
    "tah bits=3/2 allocate=range hadamard=best",
    "tah bits=4/3 allocate=range hadamard=best",
    "tah bits=5/4 allocate=range hadamard=best",
    "tah bits=6/5 allocate=range hadamard=best",
    "tah bits=8/7 allocate=range hadamard=best",
    "uniform bits=2",
    "uniform bits=3",
    "uniform bits=4",
    "uniform bits=5",
    "uniform bits=6",
    "uniform bits=8",
    "tahx rate=2",
    "tahx rate=2.5",
    "tahx rate=3",
    "tahx rate=3.5",
    "tahx rate=4",
    "tahx rate=4.5",
    "tahx rate=5",
    "tahx rate=6",
    "tahx rate=8",
#ifdef HAVE_ZSTD
    "lossless",
#endif
};

/* The setting's name without what moves it along its curve. */
static void name_family(try_setting_t *setting)
{
    char *to = setting->family;

    for (const char *word = setting->name; *word;) {
        size_t length = strcspn(word, " ");
        if (strncmp(word, "bits=", 5) != 0 && strncmp(word, "rate=", 5) != 0) {
            if (to != setting->family)
                *to++ = ' ';
            memcpy(to, word, length);
            to += length;
        }
        word += length + strspn(word + length, " ");
    }
    *to = '\0';
}

/*
 * Adds the codecs of a policy's rules, by the rules' names or by name; what is wrong with them, or
 * NULL.
 */
static const char *add_rules(try_t *try, const policy_t *policy, const char *name)
{
    int before = try->setting_count;

    for (int i = 0; i < policy_rule_count(policy); i++) {
        const policy_rule_t *rule = policy_rule(policy, i);
        try_setting_t *setting = &try->settings[try->setting_count];
        if (rule->params.codec == TAH_CODEC_NONE)
            continue;
        if (try->setting_count == SETTINGS_MOST)
            return "there are more than 256 settings to try: name fewer";
        snprintf(setting->name, sizeof setting->name, "%s", name ? name : rule->name);
        setting->params = rule->params;
        setting->rule = !name;
        setting->own_channels = true; /* a rule without channels knows none */
        name_family(setting);
        try->setting_count++;
    }
    return try->setting_count > before ? NULL : "encodes nothing";
}

/* A codec as on the command line; what is wrong with it, or NULL. The text is static. */
static const char *add_codec(try_t *try, const char *spec)
{
    static policy_errors_t errors;
    const char *head = "[rule codec]\ncodec = ", *why;
    char text[512], name[TRY_NAME_BYTES];
    size_t length;
    bool own_channels;
    policy_t *policy;

    spec += strspn(spec, " \t");
    for (length = strlen(spec); length > 0 && strchr(" \t", spec[length - 1]); length--)
        ;
    if (length >= TRY_NAME_BYTES || strcspn(spec, "\n[;#") < length)
        return "must be a codec's name and settings, at most 63 characters";
    snprintf(name, sizeof name, "%.*s", (int)length, spec);
    for (char *c = name; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    own_channels = strstr(name, " channels=") != NULL;
    snprintf(text, sizeof text, "%s%s\n", head, name);
    for (char *c = text + strlen(head); *c; c++)
        *c = *c == ' ' ? '\n' : *c;
    /* Which channels will be seen by the tensor; some codecs must have a number meanwhile. */
    if (!own_channels && strncmp(name, "lossless", 8) != 0 && strcmp(name, "none") != 0)
        strcat(text, "channels = 1\n");
    policy = policy_parse(text, strlen(text), name, &errors);
    if (!policy) {
        /* One rule on one line: its line numbers mean nothing to the user. */
        char *first = errors.text + strlen(name);
        first += strspn(first, ":0123456789 ");
        first[strcspn(first, "\n")] = '\0';
        return first;
    }
    why = add_rules(try, policy, name);
    if (!why)
        try->settings[try->setting_count - 1].own_channels = own_channels;
    policy_free(policy);
    return why;
}

static void add_policy(struct argp_state *state, try_t *try, const char *path)
{
    policy_t *policy = tahmpi_load_policy(path);
    const char *why;

    if (!policy)
        exit(TAHMPI_BAD);
    why = add_rules(try, policy, NULL);
    if (why)
        argp_error(state, "--policy %s: %s", path, why);
    policy_free(policy);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    try_t *try = state->input;
    const char *why;
    char *end;

    switch (key) {
    case TRY_CODEC:
        why = add_codec(try, argument);
        if (why)
            argp_error(state, "--codec '%s': %s", argument, why);
        return 0;
    case TRY_POLICY:
        add_policy(state, try, argument);
        return 0;
    case TRY_SQNR:
        try->sqnr = strtod(argument, &end);
        if (end == argument || (*end && strcasecmp(end + strspn(end, " "), "dB") != 0) ||
            !(try->sqnr >= -100 && try->sqnr <= 300))
            argp_error(state, "--sqnr %s: must be a number of dB, such as 20", argument);
        return 0;
    case TRY_JSON:
        try->json = argument;
        return 0;
    case TRY_CSV:
        try->csv = argument;
        return 0;
    case TRY_PLOT:
        try->plot = argument;
        return 0;
    case ARGP_KEY_ARG:
        try->paths = state->argv + state->next - 1;
        try->path_count = state->argc - state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the .npy files are missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

try_outcome_t *try_outcome(const try_t *try, int path, int setting)
{
    size_t row = path == try->path_count ? 0 : (size_t)path + 1;

    return &try->outcomes[row * (size_t)try->setting_count + (size_t)setting];
}

int try_suggest(const try_t *try)
{
    int best = -1;

    for (int i = 0; i < try->setting_count; i++) {
        const try_outcome_t *all = try_outcome(try, try->path_count, i);
        bool reaches = !all->fault;
        for (int path = 0; reaches && path < try->path_count; path++)
            reaches = try_sqnr(try_outcome(try, path, i)) >= try->sqnr;
        if (reaches &&
            (best < 0 || all->frame_bytes < try_outcome(try, try->path_count, best)->frame_bytes))
            best = i;
    }
    return best;
}

/* Tries all settings on one file; false: it cannot be used, which has been said. */
static bool try_file(try_t *try, int path)
{
    char why[512];
    npy_t tensor;
    bool good = npy_read(try->paths[path], &tensor, why, sizeof why);

    if (!good) {
        fprintf(stderr, "tahmpi try: %s\n", why);
        return false;
    }
    if (tensor.count == 0) {
        fprintf(stderr, "tahmpi try: %s: it has no elements\n", try->paths[path]);
        good = false;
    }
    for (int i = 0; good && i < try->setting_count; i++) {
        good = try_measure(&try->settings[i], &tensor, try_outcome(try, path, i));
        if (!good)
            fprintf(stderr, "tahmpi try: %s: out of memory\n", try->paths[path]);
    }
    for (int i = 0; good && i < try->setting_count; i++)
        try_add(try_outcome(try, try->path_count, i), try_outcome(try, path, i));
    npy_free(&tensor);
    return good;
}

/* Tries all files; those that cannot be used leave the list. False: there are such. */
static bool try_files(try_t *try)
{
    bool good = true;

    for (int path = 0; path < try->path_count;) {
        if (try_file(try, path)) {
            path++;
            continue;
        }
        good = false;
        try->path_count--;
        memmove(&try->paths[path], &try->paths[path + 1],
                (size_t)(try->path_count - path) * sizeof *try->paths);
    }
    return good;
}

static bool run(try_t *try)
{
    size_t steps = try->setting_count == 0 ? sizeof ladder / sizeof *ladder : 0;
    bool good;

    for (size_t i = 0; i < steps; i++)
        add_codec(try, ladder[i]);
    try->outcomes =
        calloc((size_t)(try->path_count + 1) * (size_t)try->setting_count, sizeof *try->outcomes);
    if (!try->outcomes) {
        fprintf(stderr, "tahmpi try: out of memory\n");
        return false;
    }
    for (int i = 0; i < try->setting_count; i++)
        try_outcome(try, try->path_count, i)->worst_tile = INFINITY;
    good = try_files(try);
    if (try->path_count == 0)
        return false;
    try_print(try);
    fflush(stdout);
    good = (isnan(try->sqnr) || try_suggest(try) >= 0) && good;
    good = (!try->json || try_write_json(try)) && good;
    good = (!try->csv || try_write_csv(try)) && good;
    return (!try->plot || try_write_plot(try)) && good;
}

int tahmpi_try(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "FILE.npy...",
        .doc = "Tries codecs and settings on tensors: how many bits a value they take, and what is "
               "lost. Without --codec and --policy, all codecs over a range of bits."
               "\vA message's tensors are had by running its program with TAHMPI_DUMP=FOLDER. The "
               "last dimension of a tensor is taken for its channels, unless the setting says "
               "them; a policy's rules are taken as they are. Exit status 1 if a file cannot be "
               "read (the others are tried), or nothing reaches --sqnr. Example:\n"
               "  tahmpi try --sqnr 20 --plot rate.svg FOLDER/forward-*.npy",
    };
    try_t try = {.sqnr = NAN};
    bool good;

    try.settings = calloc(SETTINGS_MOST, sizeof *try.settings);
    if (!try.settings)
        return TAHMPI_BAD;
    tahmpi_parse(&argp, argc, argv, &try);
    if (try.plot && !plot_possible(try.plot))
        return TAHMPI_USAGE;
    good = run(&try);
    free(try.outcomes);
    free(try.settings);
    return good ? TAHMPI_GOOD : TAHMPI_BAD;
}
