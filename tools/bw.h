/* tahmpi bw: bandwidth and latency between two ranks, plain and encoded; what its parts share. */
#ifndef BW_H
#define BW_H

#include "policy/policy.h"
#include "tools/bw_data.h"
#include "tools/job.h"

#define BW_SIZES_MOST 24 /* powers of two from BW_LEAST_BYTES to BW_MOST_BYTES */

/* Seconds a message; 0: not measured. */
typedef struct bw_time {
    double plain, encoded;
} bw_time_t;

/* One direction and size. */
typedef struct bw_row {
    uint64_t bytes;      /* of a message */
    uint64_t wire_bytes; /* of its frame; bytes, where the policy leaves it as it is */
    uint64_t messages;   /* sent to be encoded */
    int rule;            /* that they fall under; -1: none */
    const char *raw;     /* why they went as they are, in a clause; NULL: encoded */
    bw_time_t one;       /* alone, until the receiver has it back in full */
    bw_time_t stream;    /* one of many on their way */
} bw_row_t;

typedef struct bw_direction {
    int tag; /* of messages to be encoded */
    int row_count;
    bw_row_t rows[BW_SIZES_MOST];
} bw_direction_t;

typedef struct bw {
    job_setup_t setup;
    const char *link;   /* NULL: this machine's own network */
    const char *policy; /* the user's file, or NULL: the published settings */
    const char *scope;  /* of those: "remote" or "all" */
    uint64_t from, to;
    double seconds; /* for each measurement */
    const char *json, *csv;
    policy_t *parsed;             /* what the ranks are given */
    bool remote;                  /* the two ranks are on two nodes */
    bw_direction_t directions[2]; /* down, up */
} bw_t;

/*
 * Writes the policy for the ranks, a rule for the plain messages before the user's or the published
 * ones, and parses it. Returns its path, static, or NULL with a complaint.
 */
const char *bw_write_policy(bw_t *bw);

/* The rule that a message to be encoded falls under, -1: none; one with codec = none is a rule. */
int bw_match(const bw_t *bw, int up, int tag, uint64_t bytes, bool remote);

/* Chooses the tags with which messages of the most sizes are encoded. */
void bw_choose_tags(bw_t *bw);

/* Finds out what frames take, and why what goes raw does; false with a complaint. */
bool bw_fill_rows(bw_t *bw);

/* Takes what the ranks have printed into that file; lines that are not theirs are passed over. */
void bw_read(bw_t *bw, const char *path);

/* Shows the latest of their lines on a terminal. */
void bw_show_progress(const char *path);

/* Prints what is there, also of a sweep that was cut short. */
void bw_print(const bw_t *bw);

/* Write the files that were asked for; false with a complaint. */
bool bw_write_json(const bw_t *bw);
bool bw_write_csv(const bw_t *bw);

/* The row of the largest size that was encoded; NULL: none was. */
const bw_row_t *bw_largest(const bw_direction_t *direction);

/*
 * The smallest measured size from which on messages are encoded and faster up to the largest size
 * that is encoded; 0: that one is not faster.
 */
uint64_t bw_break_even(const bw_direction_t *direction, bool stream);

#endif
