/* The tahmpi command: what its subcommands share. The command is not linked to MPI. */
#ifndef TAHMPI_H
#define TAHMPI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* Exit status of the command and of every subcommand. */
enum tahmpi_exit {
    TAHMPI_GOOD = 0,
    TAHMPI_BAD = 1,   /* what was asked about is not all right */
    TAHMPI_USAGE = 2, /* a wrong command line */
};

/*
 * The subcommands: each parses its arguments (argv[0] is "tahmpi NAME"), prints to standard
 * output, complaints to standard error, and returns an exit status.
 */
int tahmpi_ab(int argc, char **argv);
int tahmpi_bw(int argc, char **argv);
int tahmpi_check(int argc, char **argv);
int tahmpi_info(int argc, char **argv);
int tahmpi_suggest(int argc, char **argv);
int tahmpi_try(int argc, char **argv);

/* Parses options with argp; wrong ones end the process with one sentence and TAHMPI_USAGE. */
void tahmpi_parse(const struct argp *argp, int argc, char **argv, void *input);

/*
 * An option's argument that must be a whole number from 1 to most; others end the process. what:
 * the option, for the complaint.
 */
long tahmpi_parse_number(struct argp_state *state, const char *what, const char *text, long most);

/* The same of a size in bytes, from least to most, that may end in K, M or G (or KiB ...). */
uint64_t tahmpi_parse_size(struct argp_state *state, const char *what, const char *text,
                           uint64_t least, uint64_t most);

/*
 * Prints "label  text" with the text broken between words, its lines starting in one column and
 * ending before column 100.
 */
void tahmpi_print_field(const char *label, const char *text);

/* The same with the text made as by printf. */
__attribute__((format(printf, 2, 3))) void tahmpi_print_fieldf(const char *label,
                                                               const char *format, ...);

/*
 * The policy in a file, which the caller frees with policy_free; NULL: it has mistakes, which have
 * been printed on standard error.
 */
policy_t *tahmpi_load_policy(const char *path);

/*
 * Writes a number of bytes for people, "64 KiB", "1.5 MiB" or "512 B", into text (16 always do) and
 * returns it.
 */
const char *tahmpi_size_text(uint64_t bytes, char *text, size_t text_bytes);

#endif
