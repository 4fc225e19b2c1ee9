/*
 * All messages of a run, counted by what rules can tell apart. A table of fixed size: a program
 * with more kinds of messages than it has room for has its tags counted in ranges, wider and
 * wider, so that memory stays bounded and nothing is lost.
 */
#ifndef SHIM_TRAFFIC_H
#define SHIM_TRAFFIC_H

#include <stdint.h>
#include <stdio.h>

#include "shim/watch.h"

#define TRAFFIC_SLOTS 512 /* of the hash table: a power of two */
#define TRAFFIC_MOST 384  /* of them in use */
#define TRAFFIC_TYPE_UNSUPPORTED POLICY_CARRIER_COUNT /* a type that no frame can travel as */

/* What messages that are counted together have in common. No padding: compared as bytes. */
typedef struct traffic_key {
    int32_t tag_range; /* tag >> traffic_t.shift */
    int32_t comm_size; /* 0: not known */
    int16_t rule;      /* that matched; -1: none */
    uint8_t type;      /* policy_carrier_t, or TRAFFIC_TYPE_UNSUPPORTED */
    uint8_t direction; /* policy_direction_t */
    uint8_t peer;      /* watch_peer_t */
    uint8_t size;      /* number of binary digits of the length in bytes */
    uint8_t synchronous;
    uint8_t zero;
} traffic_key_t;

typedef struct traffic_entry {
    traffic_key_t key;
    int32_t tag_first, tag_last; /* of the tags seen */
    uint64_t messages;           /* 0: the slot is free */
    uint64_t bytes;
    uint64_t least, most; /* length of the shortest and the longest message, bytes */
} traffic_entry_t;

typedef struct traffic {
    int32_t shift; /* tags that are equal but for so many of their last binary digits share a key */
    int32_t used;
    uint64_t others_messages, others_bytes; /* what found no room in spite of that */
    traffic_entry_t slots[TRAFFIC_SLOTS];
} traffic_t;

/* Whether this job counts; the same on all ranks, and fixed once the start-up has agreed. */
bool traffic_wanted(void);

/* Counts a message; thread-safe. */
void traffic_count(const watched_t *seen);

/* Adds all ranks' counts to rank 0's; collective over shim.comm. */
void traffic_gather(void);

/* This rank's counts; after traffic_gather, on rank 0, those of all. No thread may be counting. */
const traffic_t *traffic_counts(void);

/* Writes the value of the report's member "traffic". */
void traffic_write_json(const traffic_t *traffic, FILE *out);

/* Writes the heaviest kinds of messages as lines of the report's table. */
void traffic_write_table(const traffic_t *traffic, FILE *out);

#endif
