/* Any text as a policy: rules that can be encoded with and printed, or mistakes that are named. */
#include "policy/policy.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_BYTES 2048

static void settings_mean_the_rule(const policy_t *policy, int index)
{
    char settings[TEXT_BYTES], text[TEXT_BYTES + 16], again[TEXT_BYTES];
    policy_rule_settings(policy, index, settings, sizeof settings);
    const int bytes = snprintf(text, sizeof text, "[rule again]\n%s", settings);
    policy_errors_t errors;
    policy_t *parsed = policy_parse(text, (size_t)bytes, "again.ini", &errors);
    FUZZ_REQUIRE(parsed != NULL && policy_rule_count(parsed) == 1);
    policy_rule_settings(parsed, 0, again, sizeof again);
    FUZZ_REQUIRE(strcmp(settings, again) == 0);
    policy_free(parsed);
}

static void rule_is_usable(const policy_t *policy, int index)
{
    const policy_rule_t *rule = policy_rule(policy, index);
    FUZZ_REQUIRE(strnlen(rule->name, sizeof rule->name) < sizeof rule->name && rule->line > 0);
    tah_params_t params = rule->params;
    params.dtype = policy_rule_dtype(policy, index, POLICY_CARRIER_FLOAT32);
    char why[256];
    FUZZ_REQUIRE(params.codec == TAH_CODEC_NONE ||
                 tah_params_check(&params, why, sizeof why) == TAH_OK);
    settings_mean_the_rule(policy, index);
    /* Cut off where there is no room. */
    for (size_t room = 1; room <= TEXT_BYTES; room *= 8) {
        char *text = (char *)fuzz_alloc(room);
        policy_rule_describe(policy, index, text, room);
        FUZZ_REQUIRE(strnlen(text, room) < room);
        policy_rule_settings(policy, index, text, room);
        FUZZ_REQUIRE(strnlen(text, room) < room);
        free(text);
    }
}

static void messages_fall_under_rules(const policy_t *policy)
{
    const uint64_t least = policy_least_bytes(policy);
    for (unsigned i = 0; i < 256; i++) {
        const policy_message_t message = {
            .tag = (int)(i * 37 % 300),
            .comm_size = 2 + (int)(i % 5),
            .direction = (policy_direction_t)(i % 3),
            .carrier = (policy_carrier_t)(i % POLICY_CARRIER_COUNT),
            .bytes = i % 2 ? least : (uint64_t)1 << i % 40,
            .remote = i / 2 % 2,
            .synchronous = i / 4 % 2,
        };
        const int index = policy_match(policy, &message);
        FUZZ_REQUIRE(index >= -1 && index < policy_rule_count(policy));
        if (index < 0)
            continue;
        uint64_t from, to;
        policy_rule_bytes(policy, index, &from, &to);
        FUZZ_REQUIRE(from <= message.bytes && message.bytes <= to);
        FUZZ_REQUIRE(policy_rule(policy, index)->params.codec == TAH_CODEC_NONE ||
                     message.bytes >= least);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = (char *)fuzz_copy(data, size); /* without a NUL behind it */
    policy_errors_t errors;
    policy_t *policy = policy_parse(text, size, "fuzz.ini", &errors);
    free(text);
    if (!policy) {
        const size_t length = strnlen(errors.text, sizeof errors.text);
        FUZZ_REQUIRE(errors.count > 0 && length > 0 && length < sizeof errors.text);
        FUZZ_REQUIRE(errors.text[length - 1] == '\n');
        return 0;
    }
    FUZZ_REQUIRE(errors.count == 0 && policy_rule_count(policy) <= POLICY_MAX_RULES);
    for (int i = 0; i < policy_rule_count(policy); i++)
        rule_is_usable(policy, i);
    messages_fall_under_rules(policy);
    policy_free(policy);
    return 0;
}
