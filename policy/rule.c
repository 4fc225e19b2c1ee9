/* One rule of the file: its settings to codec parameters and matchers, with all that can be wrong.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "policy/rules.h"

#define QUOTE 64

typedef uint32_t key_mask_t; /* bit per policy_key_t */
_Static_assert(POLICY_KEY_COUNT <= 32, "key_mask_t has a bit for every key");

static const uint8_t carriers_all = (1u << POLICY_CARRIER_COUNT) - 1;

/* Carriers of each element type that a rule can name: its own MPI type, and what may hold it. */
static const uint8_t carriers_of[TAH_DTYPE_COUNT] = {
    [TAH_BYTES] = 1u << POLICY_CARRIER_BYTES,
    [TAH_FLOAT32] = 1u << POLICY_CARRIER_FLOAT32 | 1u << POLICY_CARRIER_BYTES,
    [TAH_FLOAT64] = 1u << POLICY_CARRIER_FLOAT64 | 1u << POLICY_CARRIER_BYTES,
    [TAH_BFLOAT16] =
        1u << POLICY_CARRIER_BFLOAT16 | 1u << POLICY_CARRIER_INT16 | 1u << POLICY_CARRIER_BYTES,
    [TAH_FLOAT16] =
        1u << POLICY_CARRIER_FLOAT16 | 1u << POLICY_CARRIER_INT16 | 1u << POLICY_CARRIER_BYTES,
};

static void entry_init(const policy_draft_t *draft, tah_codec_t codec, policy_entry_t *entry)
{
    memset(entry, 0, sizeof *entry);
    memcpy(entry->rule.name, draft->name, sizeof entry->rule.name);
    entry->rule.line = draft->line;
    if (codec != TAH_CODEC_NONE)
        tah_params_init(&entry->rule.params, codec);
    entry->match.min_bytes = codec == TAH_CODEC_NONE ? 0 : POLICY_DEFAULT_BYTES;
    entry->match.max_bytes = UINT64_MAX;
    entry->match.synchronous = codec == TAH_CODEC_NONE;
    entry->match.scope = POLICY_SCOPE_UNSET;
    entry->match.tags.count = 1;
    entry->match.tags.ranges[0].last = INT_MAX;
    entry->match.comm_sizes.count = 1;
    entry->match.comm_sizes.ranges[0].first = 1;
    entry->match.comm_sizes.ranges[0].last = INT_MAX;
}

/* Makes an entry with the settings of the keys in mask, all of which can be read. */
static void entry_apply(const policy_draft_t *draft, tah_codec_t codec, key_mask_t mask,
                        policy_entry_t *entry)
{
    char why[256];

    entry_init(draft, codec, entry);
    for (policy_key_t key = 0; key < POLICY_KEY_COUNT; key++) {
        if (mask >> key & 1)
            policy_key_store(key, draft->values[key], entry, why, sizeof why);
    }
    entry->typed = mask >> POLICY_KEY_DTYPE & 1;
    /* Without tokens there is no choosing between them. */
    if (codec == TAH_CODEC_TAH && !entry->rule.params.channels &&
        !(mask >> POLICY_KEY_ALLOCATE & 1))
        entry->rule.params.allocate = TAH_ALLOCATE_TILE;
}

static void value_mistake(const policy_draft_t *draft, policy_key_t key, const char *why,
                          policy_mistakes_t *mistakes)
{
    char quoted[QUOTE];

    policy_mistake(mistakes, draft->lines[key], "%s = %s: %s", policy_key_name(key),
                   policy_quote(draft->values[key], quoted, sizeof quoted), why);
}

/* The rule's codec. False: it has none, or no known one, and that is reported. */
static bool draft_codec(const policy_draft_t *draft, tah_codec_t *codec,
                        policy_mistakes_t *mistakes)
{
    const char *value = draft->values[POLICY_KEY_CODEC]; /* empty where there is none */
    policy_entry_t entry;
    char why[256];

    if (!policy_key_store(POLICY_KEY_CODEC, value, &entry, why, sizeof why)) {
        if (draft->lines[POLICY_KEY_CODEC])
            value_mistake(draft, POLICY_KEY_CODEC, why, mistakes);
        else
            policy_mistake(mistakes, draft->line, "rule %s has no codec: it %s", draft->name, why);
        return false;
    }
    *codec = entry.rule.params.codec;
    return true;
}

/* The keys that are set and can be read; the others are reported. */
static key_mask_t draft_keys(const policy_draft_t *draft, bool codec_known, tah_codec_t codec,
                             policy_mistakes_t *mistakes)
{
    policy_entry_t entry;
    key_mask_t mask = 0;
    char why[256], codecs[64];

    entry_init(draft, codec, &entry);
    for (policy_key_t key = 0; key < POLICY_KEY_COUNT; key++) {
        if (!draft->lines[key] || key == POLICY_KEY_CODEC)
            continue;
        if (codec_known && !policy_key_suits(key, codec)) {
            policy_mistake(mistakes, draft->lines[key], "key %s belongs to codec %s, not to %s",
                           policy_key_name(key), policy_key_codecs(key, codecs, sizeof codecs),
                           tah_codec_name(codec));
        } else if (!policy_key_store(key, draft->values[key], &entry, why, sizeof why)) {
            value_mistake(draft, key, why, mistakes);
        } else {
            mask |= 1u << key;
        }
    }
    return mask;
}

/* Whether the codec takes the parameters; if not, why. */
static bool params_good(const policy_entry_t *entry, char *why, size_t why_bytes)
{
    return tah_params_check(&entry->rule.params, why, why_bytes) == TAH_OK;
}

/* The key that the codec's complaint is about: the one without which it has another, or none. */
static policy_key_t params_culprit(const policy_draft_t *draft, tah_codec_t codec, key_mask_t mask,
                                   const char *complaint)
{
    policy_entry_t entry;
    char why[256];
    policy_key_t key;

    for (key = 0; key < POLICY_KEY_COUNT; key++) {
        if (!(mask >> key & 1))
            continue;
        entry_apply(draft, codec, mask & ~(1u << key), &entry);
        if (params_good(&entry, why, sizeof why) || strcmp(why, complaint) != 0)
            break;
    }
    return key;
}

/* Has the codec check its parameters, and blames each complaint on a key, or else on the rule. */
static void draft_check_params(const policy_draft_t *draft, tah_codec_t codec, key_mask_t mask,
                               policy_mistakes_t *mistakes)
{
    policy_entry_t entry;
    char why[256];

    entry_apply(draft, codec, mask, &entry);
    while (!params_good(&entry, why, sizeof why)) {
        policy_key_t key = params_culprit(draft, codec, mask, why);
        if (key == POLICY_KEY_COUNT) {
            policy_mistake(mistakes, draft->lines[POLICY_KEY_CODEC], "codec = %s: %s",
                           tah_codec_name(codec), why);
            return;
        }
        value_mistake(draft, key, why, mistakes);
        mask &= ~(1u << key);
        entry_apply(draft, codec, mask, &entry);
    }
}

/* Carriers of a rule without dtype: the floating types that a lossy codec takes, or all. */
static uint8_t carriers_untyped(const policy_entry_t *entry)
{
    policy_entry_t other = *entry;
    uint8_t carriers = 0;
    char why[256];

    if (entry->rule.params.codec == TAH_CODEC_NONE ||
        entry->rule.params.codec == TAH_CODEC_LOSSLESS)
        return carriers_all;
    for (policy_carrier_t carrier = 0; carrier < POLICY_CARRIER_COUNT; carrier++) {
        other.rule.params.dtype = policy_carriers[carrier].dtype;
        if (other.rule.params.dtype != TAH_BYTES && params_good(&other, why, sizeof why))
            carriers |= (uint8_t)(1u << carrier);
    }
    return carriers;
}

/* Reports sizes between which no message of the rule can be. */
static void draft_check_sizes(const policy_draft_t *draft, const policy_entry_t *entry,
                              policy_mistakes_t *mistakes)
{
    const policy_matcher_t *match = &entry->match;
    int least_line = draft->lines[POLICY_KEY_MIN_BYTES];
    int most_line = draft->lines[POLICY_KEY_MAX_BYTES];
    int line = least_line > most_line ? least_line : most_line;
    uint64_t least = match->min_bytes ? match->min_bytes : 1, excess = least % match->element;

    if (match->min_bytes > match->max_bytes) {
        char quoted[QUOTE];
        policy_quote(draft->values[POLICY_KEY_MAX_BYTES], quoted, sizeof quoted);
        if (least_line)
            policy_mistake(mistakes, line,
                           "min-bytes is above max-bytes = %s: rule %s can never match", quoted,
                           draft->name);
        else
            policy_mistake(mistakes, line,
                           "max-bytes = %s is below the default min-bytes of 4 KiB: rule %s can "
                           "never match; set min-bytes too",
                           quoted, draft->name);
        return;
    }
    if (excess && match->max_bytes - least < match->element - excess)
        policy_mistake(mistakes, line,
                       "no size from min-bytes to max-bytes is a multiple of the %u bytes of %s: "
                       "rule %s can never match",
                       match->element, tah_dtype_name(entry->rule.params.dtype), draft->name);
    else if (match->max_bytes == 0 && entry->rule.params.codec != TAH_CODEC_NONE)
        policy_mistake(mistakes, line,
                       "max-bytes = 0: rule %s can never match; it must be at least 1",
                       draft->name);
}

bool policy_rule_build(const policy_draft_t *draft, policy_entry_t *entry,
                       policy_mistakes_t *mistakes)
{
    int before = mistakes->count;
    tah_codec_t codec = TAH_CODEC_TAH; /* what to read the other keys as where it is not known */
    bool codec_known = draft_codec(draft, &codec, mistakes);
    key_mask_t mask = draft_keys(draft, codec_known, codec, mistakes);

    if (codec_known && codec != TAH_CODEC_NONE)
        draft_check_params(draft, codec, mask, mistakes);
    entry_apply(draft, codec, mask, entry);
    if (codec_known && codec == TAH_CODEC_TAH && !entry->rule.params.channels &&
        entry->rule.params.allocate == TAH_ALLOCATE_TOKEN)
        value_mistake(draft, POLICY_KEY_ALLOCATE,
                      "the rule needs channels, the elements of a token; else allowed: tile or "
                      "range",
                      mistakes);
    entry->match.element = entry->typed ? (uint8_t)tah_dtype_bytes(entry->rule.params.dtype) : 1;
    draft_check_sizes(draft, entry, mistakes);
    if (mistakes->count > before)
        return false;
    entry->match.carriers =
        entry->typed ? carriers_of[entry->rule.params.dtype] : carriers_untyped(entry);
    return true;
}
