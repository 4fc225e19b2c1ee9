/*
 * The policy: an INI text to rules, and a message to the rule it falls under. No MPI calls, no
 * printing. A policy_t is immutable once parsed, so any number of threads may match against it.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/tah.h"

#define POLICY_MAX_RULES 64
#define POLICY_NAME_BYTES 32
#define POLICY_MAX_BYTES (256 * 1024) /* longest policy text */

typedef enum policy_scope {
    POLICY_SCOPE_REMOTE = 0, /* peers on other nodes only (default) */
    POLICY_SCOPE_ALL = 1,
} policy_scope_t;

typedef enum policy_direction {
    POLICY_ANY_DIRECTION = 0, /* of a message: to the sender itself, which is neither */
    POLICY_UP = 1,            /* the receiver's rank in the communicator is above the sender's */
    POLICY_DOWN = 2,          /* below it */
} policy_direction_t;

/* How MPI declares the elements of a message, as far as rules can tell them apart. */
typedef enum policy_carrier {
    POLICY_CARRIER_BYTES = 0,   /* MPI_BYTE and the 8-bit characters and integers */
    POLICY_CARRIER_INT16 = 1,   /* 16-bit integers */
    POLICY_CARRIER_OTHER = 2,   /* other types that a frame can travel as: integers, pairs ... */
    POLICY_CARRIER_FLOAT32 = 3, /* also the parts of a single-precision complex */
    POLICY_CARRIER_FLOAT64 = 4,
    POLICY_CARRIER_BFLOAT16 = 5, /* extension types */
    POLICY_CARRIER_FLOAT16 = 6,
    POLICY_CARRIER_COUNT
} policy_carrier_t;

/* What is known of a message when it is sent. */
typedef struct policy_message {
    int tag;
    int comm_size; /* processes in the communicator (the remote group of an intercommunicator) */
    policy_direction_t direction;
    policy_carrier_t carrier;
    uint64_t bytes;
    bool remote;      /* the receiver is on another node */
    bool synchronous; /* sent by a synchronous mode (MPI_Ssend ...) */
} policy_message_t;

/* One rule, ready for use. */
typedef struct policy_rule {
    char name[POLICY_NAME_BYTES]; /* "forward" of [rule forward] */
    int line;                     /* where the rule starts in the file, from 1 */
    tah_params_t params;          /* params.codec is TAH_CODEC_NONE for "codec = none";
                                   * params.dtype is to be set by policy_rule_dtype */
    uint64_t warmup;              /* messages to each peer that go raw first */
} policy_rule_t;

typedef struct policy policy_t;

/* Mistakes in a policy, in the order of its lines. */
typedef struct policy_errors {
    int count;       /* all of them */
    char text[8192]; /* one line a mistake, "FILE:LINE: what is wrong: what is allowed", each ended
                      * by a newline; if not all fit, the last line says how many were left out */
} policy_errors_t;

/*
 * Reads a policy file whole. Returns its text, which the caller frees, and its length; the text is
 * followed by a NUL that bytes does not count. NULL with one mistake in errors: the file cannot be
 * read (the text says why), is longer than POLICY_MAX_BYTES, or there is no memory; *bytes is then
 * unchanged. errors->count is 0 on success.
 */
char *policy_read(const char *path, size_t *bytes, policy_errors_t *errors);

/*
 * Parses bytes of INI text (need not end in NUL; file is its name for messages). Returns a policy
 * that the caller frees with policy_free, or NULL with every mistake in errors, in the order of the
 * lines. errors->count is 0 on success. NULL with count 0 is never returned; lack of memory is
 * reported as a mistake too. An empty text is a policy without rules. The result depends on nothing
 * but the text: not on the locale, and not on the machine.
 */
policy_t *policy_parse(const char *text, size_t bytes, const char *file, policy_errors_t *errors);

/* Frees a policy; NULL is allowed. */
void policy_free(policy_t *policy);

/* Number of rules, 0..POLICY_MAX_RULES. */
int policy_rule_count(const policy_t *policy);

/* The rule of that index, 0..policy_rule_count - 1; valid as long as the policy. */
const policy_rule_t *policy_rule(const policy_t *policy, int index);

/*
 * Index of the first rule that matches, or -1. Matching a rule with codec = none stops the search:
 * its index is returned. Nanoseconds; no locks, no memory.
 */
int policy_match(const policy_t *policy, const policy_message_t *message);

/*
 * The smallest message, in bytes, that any rule with a codec can match (UINT64_MAX if there is
 * none): what a caller compares first. Rules with codec = none do not count.
 */
uint64_t policy_least_bytes(const policy_t *policy);

/*
 * The element type the rule's encoder is to be given for a message of this carrier: the rule's
 * dtype where it names one, else the carrier's own; TAH_BYTES for carriers that are not floating
 * point (only lossless rules match those unnamed).
 */
tah_dtype_t policy_rule_dtype(const policy_t *policy, int index, policy_carrier_t carrier);

/* The element type that a carrier declares; TAH_BYTES for those that are not floating point. */
tah_dtype_t policy_carrier_dtype(policy_carrier_t carrier);

/* "bytes", "int16", "other", "float32" ...; NULL for a value that is no carrier. Static storage. */
const char *policy_carrier_name(policy_carrier_t carrier);

/* The sizes of the messages that a rule matches, bytes, both included. */
void policy_rule_bytes(const policy_t *policy, int index, uint64_t *least, uint64_t *most);

/*
 * The tags that a rule matches, as ranges in ascending order, both ends included; number counts
 * them from 0. False: there is no such range.
 */
bool policy_rule_tags(const policy_t *policy, int index, int number, int *first, int *last);

/*
 * Says in words which messages a rule matches, as the end of a sentence that starts with "matches":
 * "single and double precision, of at least 4 KiB, with tag 100-199, to another node". What does
 * not fit in bytes is cut off; 2048 always do.
 */
void policy_rule_describe(const policy_t *policy, int index, char *text, size_t bytes);

/*
 * The rule's codec and all its settings, defaults included, in the form of the policy file: lines
 * "key = value", each ended by a newline. What does not fit in bytes is cut off; 1024 always do.
 */
void policy_rule_settings(const policy_t *policy, int index, char *text, size_t bytes);

#endif
