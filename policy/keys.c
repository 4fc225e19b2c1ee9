/* The table of keys that a rule may have: names, codecs they belong to, and how they are read. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policy/rules.h"

/* How a value is read, and the type of the member it goes to. */
typedef enum kind {
    KIND_TAGS,   /* policy_set_t */
    KIND_SIZES,  /* policy_set_t */
    KIND_BYTES,  /* uint64_t */
    KIND_UINT64, /* uint64_t */
    KIND_UINT32, /* uint32_t */
    KIND_UINT16, /* uint16_t */
    KIND_UINT8,  /* uint8_t */
    KIND_INT,    /* int */
    KIND_REAL,   /* float */
    KIND_DB,     /* float */
    KIND_BITS,   /* params.bits_high and bits_low */
    KIND_CODEC,  /* tah_codec_t */
    KIND_DTYPE,  /* tah_dtype_t */
    KIND_SWITCH, /* bool */
    KIND_CHOICE, /* an enum whose values follow the order of choices */
} kind_t;

typedef struct key {
    const char *name;
    unsigned codecs; /* bit per tah_codec_t */
    kind_t kind;
    size_t offset; /* of the member in policy_entry_t */
    const char *choices[4];
    int choice_first; /* value of choices[0] */
} key_info_t;

#define ANY ((1u << TAH_CODEC_COUNT) - 1)
#define TAH (1u << TAH_CODEC_TAH)
#define UNIFORM (1u << TAH_CODEC_UNIFORM)
#define TAHX (1u << TAH_CODEC_TAHX)
#define LOSSLESS (1u << TAH_CODEC_LOSSLESS)
#define LOSSY (TAH | UNIFORM | TAHX)
#define NO_CHOICES {NULL}, 0
#define MATCH(member) offsetof(policy_entry_t, match.member)
#define RULE(member) offsetof(policy_entry_t, rule.member)

static const key_info_t keys[POLICY_KEY_COUNT] = {
    [POLICY_KEY_TAG] = {"tag", ANY, KIND_TAGS, MATCH(tags), NO_CHOICES},
    [POLICY_KEY_DIRECTION] =
        {"direction", ANY, KIND_CHOICE, MATCH(direction), {"up", "down"}, POLICY_UP},
    [POLICY_KEY_DTYPE] = {"dtype", ANY, KIND_DTYPE, RULE(params.dtype), NO_CHOICES},
    [POLICY_KEY_MIN_BYTES] = {"min-bytes", ANY, KIND_BYTES, MATCH(min_bytes), NO_CHOICES},
    [POLICY_KEY_MAX_BYTES] = {"max-bytes", ANY, KIND_BYTES, MATCH(max_bytes), NO_CHOICES},
    [POLICY_KEY_COMM_SIZE] = {"comm-size", ANY, KIND_SIZES, MATCH(comm_sizes), NO_CHOICES},
    [POLICY_KEY_SCOPE] =
        {"scope", ANY, KIND_CHOICE, MATCH(scope), {"remote", "all"}, POLICY_SCOPE_REMOTE},
    [POLICY_KEY_SYNCHRONOUS] =
        {"synchronous", LOSSY | LOSSLESS, KIND_SWITCH, MATCH(synchronous), NO_CHOICES},
    [POLICY_KEY_CODEC] = {"codec", ANY, KIND_CODEC, RULE(params.codec), NO_CHOICES},
    [POLICY_KEY_BITS] = {"bits", TAH | UNIFORM, KIND_BITS, 0, NO_CHOICES},
    [POLICY_KEY_HIGH_FRACTION] =
        {"high-fraction", TAH, KIND_REAL, RULE(params.high_fraction), NO_CHOICES},
    [POLICY_KEY_TILE] = {"tile", LOSSY, KIND_UINT16, RULE(params.tile), NO_CHOICES},
    [POLICY_KEY_CHANNELS] = {"channels", LOSSY, KIND_UINT32, RULE(params.channels), NO_CHOICES},
    [POLICY_KEY_ALLOCATE] = {"allocate",
                             TAH,
                             KIND_CHOICE,
                             RULE(params.allocate),
                             {"token", "tile", "range"},
                             TAH_ALLOCATE_TOKEN},
    [POLICY_KEY_HADAMARD] = {"hadamard",
                             TAH,
                             KIND_CHOICE,
                             RULE(params.hadamard),
                             {"published", "best", "off"},
                             TAH_HADAMARD_PUBLISHED},
    [POLICY_KEY_ROUNDING] = {"rounding",
                             TAH | UNIFORM,
                             KIND_CHOICE,
                             RULE(params.rounding),
                             {"nearest", "stochastic"},
                             TAH_ROUND_NEAREST},
    [POLICY_KEY_RANGE_SEARCH] = {"range-search", TAH | UNIFORM, KIND_SWITCH,
                                 RULE(params.range_search), NO_CHOICES},
    [POLICY_KEY_SEED] = {"seed", TAH | UNIFORM, KIND_UINT64, RULE(params.seed), NO_CHOICES},
    [POLICY_KEY_RATE] = {"rate", TAHX, KIND_REAL, RULE(params.rate), NO_CHOICES},
    [POLICY_KEY_MIN_BITS] = {"min-bits", TAHX, KIND_UINT8, RULE(params.min_bits), NO_CHOICES},
    [POLICY_KEY_ERROR] =
        {"error", TAHX, KIND_CHOICE, RULE(params.error), {"absolute", "token"}, TAH_ERROR_ABSOLUTE},
    [POLICY_KEY_MIN_SQNR] = {"min-sqnr", LOSSY, KIND_DB, RULE(params.min_sqnr), NO_CHOICES},
    [POLICY_KEY_LEVEL] = {"level", LOSSLESS, KIND_INT, RULE(params.level), NO_CHOICES},
    [POLICY_KEY_WARMUP] = {"warmup", LOSSY | LOSSLESS, KIND_UINT64, RULE(warmup), NO_CHOICES},
};

const char *policy_key_name(policy_key_t key)
{
    return keys[key].name;
}

policy_key_t policy_key_find(const char *name)
{
    policy_key_t key = 0;

    while (key < POLICY_KEY_COUNT && strcmp(keys[key].name, name) != 0)
        key++;
    return key;
}

bool policy_key_suits(policy_key_t key, tah_codec_t codec)
{
    return keys[key].codecs >> codec & 1;
}

const char *policy_key_codecs(policy_key_t key, char *text, size_t bytes)
{
    unsigned left = keys[key].codecs;
    size_t used = 0;

    text[0] = '\0';
    for (tah_codec_t codec = 0; codec < TAH_CODEC_COUNT && used < bytes; codec++) {
        if (!(left >> codec & 1))
            continue;
        left &= ~(1u << codec);
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 used == 0 ? ""
                                 : left    ? ", "
                                           : " or ",
                                 tah_codec_name(codec));
    }
    return text;
}

static uint64_t saturate(uint64_t number, uint64_t largest)
{
    return number < largest ? number : largest;
}

/*
 * Reads an unsigned number into a member of width bytes. What does not fit into one or two bytes is
 * stored as the largest value that does: no such member may have it, so that tah_params_check,
 * which knows what it may have, refuses it.
 */
static bool store_number(const char *value, void *member, size_t width, char *why, size_t why_bytes)
{
    uint64_t limit = width == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    uint64_t number;

    if (!policy_value_number(value, limit, &number)) {
        snprintf(why, why_bytes, "must be a whole number, %s",
                 width == sizeof(uint32_t) ? "0 to 4294967295" : "0 or more");
        return false;
    }
    switch (width) {
    case sizeof(uint8_t):
        *(uint8_t *)member = (uint8_t)saturate(number, UINT8_MAX);
        break;
    case sizeof(uint16_t):
        *(uint16_t *)member = (uint16_t)saturate(number, UINT16_MAX);
        break;
    case sizeof(uint32_t):
        *(uint32_t *)member = (uint32_t)number;
        break;
    default:
        *(uint64_t *)member = number;
    }
    return true;
}

static bool store_int(const char *value, int *member, char *why, size_t why_bytes)
{
    bool negative = *value == '-';
    uint64_t number;

    if (!policy_value_number(value + negative, INT_MAX, &number)) {
        snprintf(why, why_bytes, "must be a whole number");
        return false;
    }
    *member = negative ? -(int)number : (int)number;
    return true;
}

/* "18 dB", "18": a fraction with an optional unit. */
static bool store_db(const char *value, float *member, char *why, size_t why_bytes)
{
    char number[POLICY_MAX_LINE + 2];
    size_t length = strlen(value);

    if (length >= 2 && strcmp(value + length - 2, "dB") == 0) {
        length -= 2;
        while (length > 0 && strchr(" \t", value[length - 1]))
            length--;
    }
    memcpy(number, value, length);
    number[length] = '\0';
    if (policy_value_real(number, member))
        return true;
    snprintf(why, why_bytes, "must be decibels, such as 18 dB");
    return false;
}

/* "4/3" or "4" for tah; "6" for uniform, which has one width. */
static bool store_bits(const char *value, tah_params_t *params, char *why, size_t why_bytes)
{
    bool one_width = params->codec == TAH_CODEC_UNIFORM;
    char number[POLICY_MAX_LINE + 2];
    size_t high = strcspn(value, "/"), end = high;
    uint64_t widths[2];
    bool good;

    while (end > 0 && strchr(" \t", value[end - 1]))
        end--;
    memcpy(number, value, end);
    number[end] = '\0';
    good = policy_value_number(number, UINT64_MAX, &widths[0]);
    widths[1] = widths[0];
    if (good && value[high] == '/')
        good = !one_width && policy_value_number(value + high + 1 + strspn(value + high + 1, " \t"),
                                                 UINT64_MAX, &widths[1]);
    if (!good) {
        snprintf(why, why_bytes, "must be %s",
                 one_width ? "one width in bits, such as 6"
                           : "the high and the low width in bits, such as 4/3, or one for both");
        return false;
    }
    params->bits_high = (uint8_t)saturate(widths[0], UINT8_MAX);
    if (!one_width)
        params->bits_low = (uint8_t)saturate(widths[1], UINT8_MAX);
    return true;
}

/* A word out of the names that name(0), name(1) ... give. */
static bool store_name(const char *value, int count, const char *(*name)(int), int *choice,
                       char *why, size_t why_bytes)
{
    const char *names[8];

    for (int i = 0; i < count; i++)
        names[i] = name(i);
    *choice = policy_value_choice(value, names, count, why, why_bytes);
    return *choice >= 0;
}

static const char *codec_name(int codec)
{
    return tah_codec_name((tah_codec_t)codec);
}

static const char *dtype_name(int dtype)
{
    return tah_dtype_name((tah_dtype_t)dtype);
}

_Static_assert(TAH_CODEC_COUNT <= 8 && TAH_DTYPE_COUNT <= 8, "store_name has room for all");
_Static_assert(sizeof(policy_direction_t) == sizeof(int) && sizeof(policy_scope_t) == sizeof(int) &&
                   sizeof(tah_allocate_t) == sizeof(int) && sizeof(tah_hadamard_t) == sizeof(int) &&
                   sizeof(tah_rounding_t) == sizeof(int) && sizeof(tah_error_t) == sizeof(int),
               "choices are stored as int");

static bool store_word(const key_info_t *key, const char *value, void *member, char *why,
                       size_t why_bytes)
{
    static const char *const no_yes[] = {"no", "yes"};
    int count = 0, choice;

    switch (key->kind) {
    case KIND_CODEC:
        if (!store_name(value, TAH_CODEC_COUNT, codec_name, &choice, why, why_bytes))
            return false;
        *(tah_codec_t *)member = (tah_codec_t)choice;
        return true;
    case KIND_DTYPE:
        if (!store_name(value, TAH_DTYPE_COUNT, dtype_name, &choice, why, why_bytes))
            return false;
        *(tah_dtype_t *)member = (tah_dtype_t)choice;
        return true;
    case KIND_SWITCH:
        choice = policy_value_choice(value, no_yes, 2, why, why_bytes);
        if (choice >= 0)
            *(bool *)member = choice;
        return choice >= 0;
    default:
        while (count < 4 && key->choices[count])
            count++;
        choice = policy_value_choice(value, key->choices, count, why, why_bytes);
        if (choice >= 0)
            *(int *)member = key->choice_first + choice;
        return choice >= 0;
    }
}

bool policy_key_store(policy_key_t name, const char *value, policy_entry_t *entry, char *why,
                      size_t why_bytes)
{
    const key_info_t *key = &keys[name];
    void *member = (char *)entry + key->offset;

    switch (key->kind) {
    case KIND_TAGS:
        return policy_value_set(value, 0, INT_MAX, member, why, why_bytes);
    case KIND_SIZES:
        return policy_value_set(value, 1, INT_MAX, member, why, why_bytes);
    case KIND_BYTES:
        snprintf(why, why_bytes,
                 "must be a size in bytes, such as 4096, 4 KiB, 1 MiB or 2G "
                 "(k, M and G are powers of 1024)");
        return policy_value_bytes(value, member);
    case KIND_UINT64:
        return store_number(value, member, sizeof(uint64_t), why, why_bytes);
    case KIND_UINT32:
        return store_number(value, member, sizeof(uint32_t), why, why_bytes);
    case KIND_UINT16:
        return store_number(value, member, sizeof(uint16_t), why, why_bytes);
    case KIND_UINT8:
        return store_number(value, member, sizeof(uint8_t), why, why_bytes);
    case KIND_INT:
        return store_int(value, member, why, why_bytes);
    case KIND_REAL:
        snprintf(why, why_bytes, "must be a number, such as 0.8");
        return policy_value_real(value, member);
    case KIND_DB:
        return store_db(value, member, why, why_bytes);
    case KIND_BITS:
        return store_bits(value, &entry->rule.params, why, why_bytes);
    case KIND_CODEC:
    case KIND_DTYPE:
    case KIND_SWITCH:
    case KIND_CHOICE:
        return store_word(key, value, member, why, why_bytes);
    }
    return false;
}

const char *policy_key_print(policy_key_t name, const policy_entry_t *entry, char *text,
                             size_t bytes)
{
    const key_info_t *key = &keys[name];
    const tah_params_t *params = &entry->rule.params;
    const void *member = (const char *)entry + key->offset;

    text[0] = '\0';
    switch (key->kind) {
    case KIND_UINT64:
        snprintf(text, bytes, "%llu", (unsigned long long)*(const uint64_t *)member);
        break;
    case KIND_UINT32:
        if (*(const uint32_t *)member)
            snprintf(text, bytes, "%u", *(const uint32_t *)member);
        break;
    case KIND_UINT16:
        snprintf(text, bytes, "%u", *(const uint16_t *)member);
        break;
    case KIND_UINT8:
        snprintf(text, bytes, "%u", *(const uint8_t *)member);
        break;
    case KIND_INT:
        snprintf(text, bytes, "%d", *(const int *)member);
        break;
    case KIND_REAL:
        policy_value_print_real(*(const float *)member, text, bytes);
        break;
    case KIND_DB:
        if (isfinite(*(const float *)member)) {
            policy_value_print_real(*(const float *)member, text, bytes);
            strncat(text, " dB", bytes - strlen(text) - 1);
        }
        break;
    case KIND_BITS:
        if (params->codec == TAH_CODEC_UNIFORM)
            snprintf(text, bytes, "%u", params->bits_high);
        else
            snprintf(text, bytes, "%u/%u", params->bits_high, params->bits_low);
        break;
    case KIND_SWITCH:
        snprintf(text, bytes, "%s", *(const bool *)member ? "yes" : "no");
        break;
    case KIND_CHOICE:
        snprintf(text, bytes, "%s", key->choices[*(const int *)member - key->choice_first]);
        break;
    case KIND_CODEC:
        snprintf(text, bytes, "%s", tah_codec_name(params->codec));
        break;
    case KIND_DTYPE:
    case KIND_TAGS:
    case KIND_SIZES:
    case KIND_BYTES:
        break; /* matchers: policy_rule_describe has them in words */
    }
    return text;
}
