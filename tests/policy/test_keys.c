/* Every key: where its value goes, and what it is when the key is not there. */
#include <stddef.h>
#include <stdio.h>

#include "tests/policy/policy_tests.h"

#define MEMBER(name) offsetof(policy_rule_t, name), sizeof(((policy_rule_t *)0)->name)

/* A setting, and the member that must hold this number after it. */
static const struct setting {
    const char *codec, *line;
    size_t offset, bytes;
    double number;
} settings[] = {
    {"tah", "bits = 5/2", MEMBER(params.bits_high), 5},
    {"tah", "bits = 5/2", MEMBER(params.bits_low), 2},
    {"tah", "bits = 5 / 2", MEMBER(params.bits_low), 2},
    {"tah", "bits = 4", MEMBER(params.bits_high), 4},
    {"tah", "bits = 4", MEMBER(params.bits_low), 4},
    {"uniform", "bits = 8", MEMBER(params.bits_high), 8},
    {"tah", "high-fraction = 0.25", MEMBER(params.high_fraction), 0.25},
    {"tah", "high-fraction = 1", MEMBER(params.high_fraction), 1},
    {"tah", "tile = 16", MEMBER(params.tile), 16},
    {"uniform", "tile = 256", MEMBER(params.tile), 256},
    {"tah", "channels = 2048", MEMBER(params.channels), 2048},
    {"tah", "allocate = token\nchannels = 64", MEMBER(params.allocate), TAH_ALLOCATE_TOKEN},
    {"tah", "channels = 64", MEMBER(params.allocate), TAH_ALLOCATE_TOKEN},
    {"tah", "seed = 1", MEMBER(params.allocate), TAH_ALLOCATE_TILE},
    {"tah", "allocate = tile", MEMBER(params.allocate), TAH_ALLOCATE_TILE},
    {"tah", "allocate = range", MEMBER(params.allocate), TAH_ALLOCATE_RANGE},
    {"tah", "hadamard = published", MEMBER(params.hadamard), TAH_HADAMARD_PUBLISHED},
    {"tah", "hadamard = best", MEMBER(params.hadamard), TAH_HADAMARD_BEST},
    {"tah", "hadamard = off", MEMBER(params.hadamard), TAH_HADAMARD_OFF},
    {"tah", "rounding = nearest", MEMBER(params.rounding), TAH_ROUND_NEAREST},
    {"uniform", "rounding = stochastic", MEMBER(params.rounding), TAH_ROUND_STOCHASTIC},
    {"tah", "range-search = yes", MEMBER(params.range_search), 1},
    {"uniform", "range-search = no", MEMBER(params.range_search), 0},
    {"uniform", "seed = 4503599627370497", MEMBER(params.seed), 4503599627370497.0},
    {"tah", "min-sqnr = 18 dB", MEMBER(params.min_sqnr), 18},
    {"tah", "min-sqnr = 18.5dB", MEMBER(params.min_sqnr), 18.5},
    {"uniform", "min-sqnr = 7", MEMBER(params.min_sqnr), 7},
    {"tah", "warmup = 100", MEMBER(warmup), 100},
    {"tah", "warmup = 0", MEMBER(warmup), 0},
    {"tah", "dtype = float32", MEMBER(params.dtype), TAH_FLOAT32},
    {"tah", "warmup=3", MEMBER(warmup), 3},
    {"tah", "warmup: 3", MEMBER(warmup), 3},
    {"tah", "warmup = 3 ; three", MEMBER(warmup), 3},
};

static double member_number(const policy_rule_t *rule, const struct setting *setting)
{
    const char *member = (const char *)rule + setting->offset;
    uint64_t number = 0;
    float real;

    if (setting->offset == offsetof(policy_rule_t, params.high_fraction) ||
        setting->offset == offsetof(policy_rule_t, params.min_sqnr)) {
        memcpy(&real, member, sizeof real);
        return (double)real;
    }
    memcpy(&number, member, setting->bytes); /* frames are little-endian only, and so are we */
    return (double)number;
}

START_TEST(test_setting)
{
    const struct setting *setting = &settings[_i];
    char text[256];
    policy_t *policy;

    snprintf(text, sizeof text, "[rule a]\ncodec = %s\n%s\n", setting->codec, setting->line);
    policy = parse_good(text);
    ck_assert_int_eq(policy_rule_count(policy), 1);
    ck_assert_msg(member_number(policy_rule(policy, 0), setting) == setting->number,
                  "%s gave %g, not %g", setting->line,
                  member_number(policy_rule(policy, 0), setting), setting->number);
    policy_free(policy);
}
END_TEST

/* A rule with nothing but a codec has the codec's own defaults. */
START_TEST(test_defaults)
{
    char text[64];
    policy_t *policy;
    const policy_rule_t *rule;
    tah_params_t expected;

    snprintf(text, sizeof text, "\n[rule some.name-1_]\ncodec = %s", tah_codec_name(_i));
    policy = parse_good(text);
    rule = policy_rule(policy, 0);
    ck_assert_str_eq(rule->name, "some.name-1_");
    ck_assert_int_eq(rule->line, 2);
    ck_assert_uint_eq(rule->warmup, 0);
    ck_assert_int_eq(rule->params.codec, (tah_codec_t)_i);
    if (_i != TAH_CODEC_NONE) {
        tah_params_init(&expected, _i);
        if (_i == TAH_CODEC_TAH)
            expected.allocate = TAH_ALLOCATE_TILE; /* the length of a token is not known */
        params_assert_equal(&rule->params, &expected);
    }
    policy_free(policy);
}
END_TEST

/* The settings that a rule is said to have, read back, are what it has. */
START_TEST(test_settings_round)
{
    const struct setting *setting = &settings[_i];
    char text[2048], again[1024];
    policy_t *policy, *second;

    snprintf(text, sizeof text, "[rule a]\ncodec = %s\n%s\n", setting->codec, setting->line);
    policy = parse_good(text);
    policy_rule_settings(policy, 0, again, sizeof again);
    snprintf(text, sizeof text, "[rule a]\n%s", again);
    second = parse_good(text);
    params_assert_equal(&policy_rule(policy, 0)->params, &policy_rule(second, 0)->params);
    ck_assert_uint_eq(policy_rule(policy, 0)->warmup, policy_rule(second, 0)->warmup);
    policy_free(policy);
    policy_free(second);
}
END_TEST

START_TEST(test_settings_text)
{
    policy_t *policy = parse_good("[rule a]\ncodec = tah\nhigh-fraction = 0.8\nchannels = 128\n"
                                  "allocate = range\nmin-sqnr = 17.25\nseed = 3\n"
                                  "[rule b]\ncodec = none\n");
    char text[1024];

    policy_rule_settings(policy, 0, text, sizeof text);
    ck_assert_str_eq(text, "codec = tah\nbits = 4/3\nhigh-fraction = 0.8\ntile = 64\n"
                           "channels = 128\nallocate = range\nhadamard = published\n"
                           "rounding = nearest\nrange-search = no\nseed = 3\n"
                           "min-sqnr = 17.25 dB\nwarmup = 0\n");
    policy_rule_settings(policy, 0, text, 12);
    ck_assert_str_eq(text, "codec = tah");
    policy_rule_settings(policy, 1, text, sizeof text);
    ck_assert_str_eq(text, "codec = none\n");
    policy_free(policy);
}
END_TEST

/* Rules, and how they are put into words. */
static const struct {
    const char *lines, *words;
} described[] = {
    {"codec = none", "messages of any type, of any size, with any tag, to any rank on another "
                     "node, by any send mode"},
    {"codec = none\ndtype = float32\nmin-bytes = 4 KiB",
     "messages of float32, also as bytes (whole elements), of at least 4 KiB, with any tag, to any "
     "rank on another node, by any send mode"},
    {"codec = none\ndtype = bfloat16\nmin-bytes = 2048\nmax-bytes = 3 MiB\ntag = 5, 7-9\n"
     "direction = up",
     "messages of bfloat16, also as 16-bit integers or bytes (whole elements), of 2 KiB to 3 MiB, "
     "with tag 5, 7-9, to a higher rank on another node, by any send mode"},
    {"codec = none\ndtype = bytes\nmax-bytes = 1000\ndirection = down\nscope = all\n"
     "comm-size = 2-4, 65-*",
     "messages of bytes, of at most 1000 bytes, with any tag, to a lower rank on any node, in "
     "communicators of size 2-4, 65 and up, by any send mode"},
    {"codec = tah\ndtype = float32\nmin-bytes = 1 GiB\nmax-bytes = 1 GiB\ntag = 3",
     "messages of float32, also as bytes (whole elements), of 1 GiB, with tag 3, to any rank on "
     "another node, but not by synchronous sends"},
};

START_TEST(test_describe)
{
    char text[2048];
    policy_t *policy;

    snprintf(text, sizeof text, "[rule a]\n%s\n", described[_i].lines);
    policy = parse_good(text);
    policy_rule_describe(policy, 0, text, sizeof text);
    ck_assert_str_eq(text, described[_i].words);
    policy_rule_describe(policy, 0, text, 9);
    ck_assert_str_eq(text, "messages");
    policy_free(policy);
}
END_TEST

/* The longest list fits into the room that the interface promises. */
START_TEST(test_describe_long)
{
    char text[2048] = "[rule a]\ncodec = none\ntag = ";
    policy_t *policy;

    for (int i = 0; i < 16; i++)
        sprintf(text + strlen(text), "%s%d", i ? "," : "", 1000000000 + 2 * i);
    policy = parse_good(text);
    policy_rule_describe(policy, 0, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "1000000000, 1000000002"));
    ck_assert_ptr_nonnull(strstr(text, "1000000030, to any rank"));
    policy_free(policy);
}
END_TEST

/* The published setting, written out, is the default of both codecs. */
START_TEST(test_published)
{
    policy_t *policy =
        parse_good("[rule f]\ntag = 1\ncodec = tah\nbits = 4/3\nhigh-fraction = 0.8\n"
                   "tile = 64\nhadamard = published\nrounding = nearest\n"
                   "[rule b]\ncodec = uniform\nbits = 6\ntile = 32\n"
                   "[rule c]\ntag = 2\ncodec = none");
    tah_params_t tah, uniform;

    tah_params_init(&tah, TAH_CODEC_TAH);
    tah.allocate = TAH_ALLOCATE_TILE; /* the length of a token is not known */
    tah_params_init(&uniform, TAH_CODEC_UNIFORM);
    params_assert_equal(&policy_rule(policy, 0)->params, &tah);
    params_assert_equal(&policy_rule(policy, 1)->params, &uniform);
    policy_free(policy);
}
END_TEST

Suite *suite_keys(void)
{
    Suite *suite = suite_create("policy keys");
    TCase *cases = tcase_create("keys");

    tcase_add_loop_test(cases, test_setting, 0, sizeof settings / sizeof *settings);
    tcase_add_loop_test(cases, test_defaults, 0, TAH_CODEC_UNIFORM + 1);
    tcase_add_test(cases, test_published);
    tcase_add_loop_test(cases, test_settings_round, 0, sizeof settings / sizeof *settings);
    tcase_add_test(cases, test_settings_text);
    tcase_add_loop_test(cases, test_describe, 0, sizeof described / sizeof *described);
    tcase_add_test(cases, test_describe_long);
    suite_add_tcase(suite, cases);
    return suite;
}
