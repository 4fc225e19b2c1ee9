/* The figures of a report, and their two forms. Private to report*.c. */
#ifndef SHIM_REPORT_FIGURES_H
#define SHIM_REPORT_FIGURES_H

#include <stdio.h>

#include "shim/report.h"
#include "shim/traffic.h"

typedef enum figure {
    FIGURE_MESSAGES, /* framed */
    FIGURE_TENSOR_BYTES,
    FIGURE_WIRE_BYTES,
    FIGURE_ENCODE_NS,    /* encoding, of messages whose error was not measured, */
    FIGURE_ENCODE_BYTES, /* which were of so many bytes; */
    FIGURE_SAMPLE_NS,    /* encoding and measuring the others */
    FIGURE_TILES,
    FIGURE_TILES_ROTATED,
    FIGURE_TILES_EXACT,
    FIGURE_RETRIES,
    FIGURE_RAW_BYTES,
    FIGURE_RAW, /* messages, one for each reason */
    FIGURE_RECEIVED = FIGURE_RAW + REPORT_RAW_COUNT, /* from here on of a rule, in direction 0 */
    FIGURE_RECEIVED_BYTES,
    FIGURE_DECODE_NS,
    FIGURE_COUNT
} figure_t;

typedef struct figures {
    int ranks, nodes;
    bool partial;   /* of one rank, which ended without MPI_Finalize */
    double seconds; /* from the end of MPI_Init to the beginning of MPI_Finalize, the longest */
    uint64_t memory_peak; /* of the rank with the most, bytes */
    uint64_t counts[POLICY_MAX_RULES][2][FIGURE_COUNT]; /* [rule][0: down, 1: up] */
    double power[POLICY_MAX_RULES][2][2];               /* signal, noise of sampled messages */
    uint64_t unknown_messages, unknown_bytes; /* to processes not known to have the library */
    const traffic_t *traffic; /* NULL: not counted */
} figures_t;

/* "warmup" ... */
const char *report_raw_name(report_raw_t reason);

/* dB; false where nothing was sampled. Infinite for exact codecs. */
bool report_sqnr(const figures_t *figures, int rule, int up, double *sqnr);

/* Messages of a rule and direction that went raw. */
uint64_t report_raw_messages(const figures_t *figures, int rule, int up);

/* Writes text as a JSON string, with its quotes. */
void report_json_string(FILE *out, const char *text);

/* Prints the table on stderr in one piece. */
void report_print_table(const figures_t *figures);

/* Writes the JSON file, all of it or nothing; errors go to the log. */
void report_write_json(const figures_t *figures, const char *path);

#endif
