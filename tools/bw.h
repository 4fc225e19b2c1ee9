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
    bw_time_t one;       /* alone, until the receiver has it back in full */
    bw_time_t stream;    /* one of many on their way */
} bw_row_t;

typedef struct bw_direction {
    int tag;          /* of messages to be encoded */
    const char *rule; /* that matches the largest message; NULL: none does */
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

/* Takes what the ranks have printed into that file; lines that are not theirs are passed over. */
void bw_read(bw_t *bw, const char *path);

/* Shows the latest of their lines on a terminal. */
void bw_show_progress(const char *path);

/* Prints what is there, also of a sweep that was cut short. */
void bw_print(const bw_t *bw);

/* Write the files that were asked for; false with a complaint. */
bool bw_write_json(const bw_t *bw);
bool bw_write_csv(const bw_t *bw);

/*
 * The smallest measured size from which on encoded messages are faster at every larger one; 0: the
 * largest is not.
 */
uint64_t bw_break_even(const bw_direction_t *direction, bool stream);

#endif
