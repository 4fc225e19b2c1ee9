/* Inside policy/: a rule with its matchers, the keys a rule may have, and the list of mistakes. */
#ifndef POLICY_RULES_H
#define POLICY_RULES_H

#include "policy/policy.h"

#define POLICY_MAX_LINE 198 /* bytes of a line; inih reads lines into 200 bytes */
#define POLICY_SCOPE_UNSET ((policy_scope_t)-1) /* as [tahmpi] says; only while parsing */
#define POLICY_MAX_RANGES 64                    /* entries of a list */
#define POLICY_DEFAULT_BYTES 4096               /* min-bytes of a rule with a codec */

/* The element type that a carrier declares, and bytes that every message of it is a multiple of. */
typedef struct policy_carrier_info {
    tah_dtype_t dtype; /* TAH_BYTES: not a floating type */
    uint8_t bytes;
} policy_carrier_info_t;

extern const policy_carrier_info_t policy_carriers[POLICY_CARRIER_COUNT];

/* Numbers as sorted ranges, ends included, that neither overlap nor touch. */
typedef struct policy_set {
    int count;
    struct {
        uint32_t first, last;
    } ranges[POLICY_MAX_RANGES];
} policy_set_t;

/* What a message must be to fall under a rule. The members read first come first. */
typedef struct policy_matcher {
    uint64_t min_bytes, max_bytes;
    uint8_t carriers; /* bit per policy_carrier_t */
    uint8_t element;  /* the length in bytes must be a multiple of this */
    bool synchronous; /* synchronous sends match too */
    policy_direction_t direction;
    policy_scope_t scope;
    policy_set_t tags;
    policy_set_t comm_sizes;
} policy_matcher_t;

typedef struct policy_entry {
    policy_matcher_t match;
    policy_rule_t rule;
    bool typed; /* the rule names a dtype: rule.params.dtype */
} policy_entry_t;

struct policy {
    uint64_t least_bytes;
    int count;
    policy_entry_t entries[]; /* count of them */
};

/* Mistakes while they are collected. Beyond the room here they are only counted. */
typedef struct policy_mistakes {
    int count;
    struct {
        int line; /* 0: the file as a whole */
        char text[480];
    } list[192];
} policy_mistakes_t;

/* Adds a mistake; line counts from 1, or is 0 for the file as a whole. */
__attribute__((format(printf, 3, 4))) void policy_mistake(policy_mistakes_t *mistakes, int line,
                                                          const char *format, ...);

/* Sorts the mistakes by line and writes them out for the caller of policy_parse. */
void policy_mistakes_write(policy_mistakes_t *mistakes, const char *file, policy_errors_t *errors);

/*
 * Copies text for a message: unprintable bytes become '?', and what does not fit is shortened to
 * "...". Returns quoted.
 */
const char *policy_quote(const char *text, char *quoted, size_t bytes);

/* The keys of a rule, in the order of the reference. */
typedef enum policy_key {
    POLICY_KEY_TAG,
    POLICY_KEY_DIRECTION,
    POLICY_KEY_DTYPE,
    POLICY_KEY_MIN_BYTES,
    POLICY_KEY_MAX_BYTES,
    POLICY_KEY_COMM_SIZE,
    POLICY_KEY_SCOPE,
    POLICY_KEY_SYNCHRONOUS,
    POLICY_KEY_CODEC,
    POLICY_KEY_BITS,
    POLICY_KEY_HIGH_FRACTION,
    POLICY_KEY_TILE,
    POLICY_KEY_CHANNELS,
    POLICY_KEY_ALLOCATE,
    POLICY_KEY_HADAMARD,
    POLICY_KEY_ROUNDING,
    POLICY_KEY_RANGE_SEARCH,
    POLICY_KEY_SEED,
    POLICY_KEY_RATE,
    POLICY_KEY_MIN_BITS,
    POLICY_KEY_ERROR,
    POLICY_KEY_MIN_SQNR,
    POLICY_KEY_LEVEL,
    POLICY_KEY_WARMUP,
    POLICY_KEY_COUNT
} policy_key_t;

/* Its name in the file. */
const char *policy_key_name(policy_key_t key);

/* The key of that name, or POLICY_KEY_COUNT. */
policy_key_t policy_key_find(const char *name);

/* Whether rules of that codec may have the key. */
bool policy_key_suits(policy_key_t key, tah_codec_t codec);

/* "tah", "tah or uniform" ...: the codecs that the key belongs to. Returns text. */
const char *policy_key_codecs(policy_key_t key, char *text, size_t bytes);

/*
 * Reads a value and puts it where it belongs in entry. False if the value cannot be read: why then
 * says what is allowed ("must be up or down"), and entry is unchanged. Whether a codec parameter is
 * in range is for tah_params_check to say.
 */
bool policy_key_store(policy_key_t key, const char *value, policy_entry_t *entry, char *why,
                      size_t why_bytes);

/*
 * Writes the value of a codec's key in entry, in a form that policy_key_store reads. Returns text,
 * which is empty where there is nothing to write: channels not known, no min-sqnr.
 */
const char *policy_key_print(policy_key_t key, const policy_entry_t *entry, char *text,
                             size_t bytes);

/* Why a key or section name is not known: a near name, or all of them. Returns text. */
const char *policy_suggest(const char *name, const char *const *known, int count, char *text,
                           size_t bytes);

/* The same for a key of a rule. */
const char *policy_key_suggest(const char *name, char *text, size_t bytes);

/* A whole number in decimal digits. False: it is not, or is above limit. */
bool policy_value_number(const char *value, uint64_t limit, uint64_t *number);

/* "4096", "4 KiB", "1M". False: it is not, or does not fit. */
bool policy_value_bytes(const char *value, uint64_t *number);

/* A decimal fraction, in the C locale's notation whatever the locale; finite. */
bool policy_value_real(const char *value, float *number);

/* Writes the fewest digits that policy_value_real reads as number; text has room for 16. */
void policy_value_print_real(float number, char *text, size_t bytes);

/*
 * "100-199, 300, *" within first..last. False with why: not so, a range that is empty, or more than
 * POLICY_MAX_RANGES entries; set is then unchanged.
 */
bool policy_value_set(const char *value, uint32_t first, uint32_t last, policy_set_t *set,
                      char *why, size_t why_bytes);

/* Index of value among names, or -1 with why. */
int policy_value_choice(const char *value, const char *const *names, int count, char *why,
                        size_t why_bytes);

/*
 * The settings of one rule as the file has them, and their lines. A key that is not set has
 * line 0.
 */
typedef struct policy_draft {
    char name[POLICY_NAME_BYTES];
    int line;
    int lines[POLICY_KEY_COUNT];
    char values[POLICY_KEY_COUNT][POLICY_MAX_LINE + 2]; /* "" where not set */
} policy_draft_t;

/*
 * Makes an entry of a draft, with the scope of [tahmpi] left open where the rule has none
 * (POLICY_SCOPE_UNSET). False: there are mistakes, which are added.
 */
bool policy_rule_build(const policy_draft_t *draft, policy_entry_t *entry,
                       policy_mistakes_t *mistakes);

/* Whether every message that b matches is matched by a too. */
bool policy_matcher_covers(const policy_matcher_t *a, const policy_matcher_t *b);

#endif
