/* The tahmpi command: finds the subcommand and runs it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tahmpi.h"

static const struct subcommand {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"ab", "compare a program with itself, plain and under policies", tahmpi_ab},
    {"bw", "measure bandwidth and latency between two ranks, plain and encoded", tahmpi_bw},
    {"check", "show a policy file as tahmpi understands it, or its mistakes", tahmpi_check},
    {"info", "show version and machine, and whether a program can use tahmpi", tahmpi_info},
    {"suggest", "write a first policy from a report of an observed run", tahmpi_suggest},
    {"try", "try codecs and settings on tensors from .npy files", tahmpi_try},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

/* glibc finds it by name, so it must not be hidden. */
__attribute__((visibility("default"))) const char *argp_program_version =
    "tahmpi " PACKAGE_VERSION " for " TAH_MPI_NAME;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    const struct subcommand **chosen = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        for (int i = 0; i < SUBCOMMANDS; i++) {
            if (strcmp(argument, subcommands[i].name) == 0)
                *chosen = &subcommands[i];
        }
        if (!*chosen)
            argp_error(state, "there is no command \"%s\"", argument);
        state->next = state->argc; /* the rest is the subcommand's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a command is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Text after the options of --help: the table of subcommands. */
static char *help_filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t bytes;
    FILE *out;

    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    out = open_memstream(&help, &bytes);
    if (!out)
        return (char *)text;
    fprintf(out, "Commands:\n");
    for (int i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].about);
    fprintf(out, "\n%s", text);
    if (fclose(out) != 0) {
        free(help);
        return (char *)text;
    }
    return help;
}

/* A file that is opened later must not become one of the standard streams. */
static void open_streams(void)
{
    int file;

    do
        file = open("/dev/null", O_RDWR);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

/*
 * At exit, also the one that argp makes after --help: what was printed has arrived, or the status
 * says that it has not. Runs after whatever else is done at exit.
 */
static void close_output(void)
{
    bool failed = ferror(stdout) != 0;

    errno = 0;
    if (fclose(stdout) == 0 && !failed)
        return;
    fprintf(stderr, "tahmpi: standard output cannot be written%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    _exit(TAHMPI_BAD);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_option,
        .args_doc = "COMMAND [ARGUMENT...]",
        .doc = "Help for tahmpi, the library that makes the messages of MPI programs shorter."
               "\v`tahmpi COMMAND --help' says more about each. Example:\n"
               "  tahmpi check my-policy.ini",
        .help_filter = help_filter,
    };
    const struct subcommand *chosen = NULL;
    char name[64];
    int first = 1;

    open_streams();
    atexit(close_output);
    /* Options before the subcommand are ours, those behind it its own. */
    while (first < argc && argv[first][0] == '-')
        first++;
    tahmpi_parse(&argp, first < argc ? first + 1 : argc, argv, &chosen);
    snprintf(name, sizeof name, "tahmpi %s", chosen->name);
    argv[first] = name;
    return chosen->run(argc - first, argv + first);
}
