/* Messages and the rules they fall under. */
#include <limits.h>
#include <stdio.h>

#include "tests/policy/policy_tests.h"

static const int carriers_count = POLICY_CARRIER_COUNT;

/* A setting, one way in which a message differs from the default one, and whether it matches. */
static const struct {
    const char *lines;        /* of a rule with codec = tah, unless they name another */
    policy_message_t message; /* bytes 0: as in message_default; so are comm_size and direction */
    bool near, matches;
} cases[] = {
    {"", {0}, false, true},
    {"tag = *", {.tag = INT_MAX}, false, true},
    {"tag = 0", {.tag = 0}, false, true},
    {"tag = 0", {.tag = 1}, false, false},
    {"tag = 100-199", {.tag = 99}, false, false},
    {"tag = 100-199", {.tag = 100}, false, true},
    {"tag = 100-199", {.tag = 199}, false, true},
    {"tag = 100-199", {.tag = 200}, false, false},
    {"tag = 300, 100-199,5", {.tag = 5}, false, true},
    {"tag = 300, 100-199,5", {.tag = 150}, false, true},
    {"tag = 300, 100-199,5", {.tag = 300}, false, true},
    {"tag = 300, 100-199,5", {.tag = 299}, false, false},
    {"tag = 300, 100-199,5", {.tag = 301}, false, false},
    {"tag = 5, *", {.tag = 12345}, false, true},
    {"tag = 1-5, 3-8, 9, 20 - 21", {.tag = 9}, false, true},
    {"tag = 1-5, 3-8, 9, 20 - 21", {.tag = 10}, false, false},
    {"tag = 1-5, 3-8, 9, 20 - 21", {.tag = 21}, false, true},
    {"tag = 500-*", {.tag = 500}, false, true},
    {"tag = 500 - *, 3", {.tag = INT_MAX}, false, true},
    {"tag = 500-*", {.tag = 499}, false, false},
    {"tag = 1-9, 2-3", {.tag = 8}, false, true},
    {"tag = 2147483647", {.tag = INT_MAX}, false, true},
    {"direction = up", {.direction = POLICY_UP}, false, true},
    {"direction = up", {.direction = POLICY_DOWN}, false, false},
    {"direction = down", {.direction = POLICY_DOWN}, false, true},
    {"direction = down", {.direction = POLICY_UP}, false, false},
    {"", {.direction = POLICY_DOWN}, false, true},
    {"", {.bytes = 4092}, false, false},
    {"", {.bytes = 4096}, false, true},
    {"min-bytes = 1k", {.bytes = 1020}, false, false},
    {"min-bytes = 1k", {.bytes = 1024}, false, true},
    {"min-bytes = 1 KiB\nmax-bytes = 1 KiB", {.bytes = 1024}, false, true},
    {"min-bytes = 4\nmax-bytes = 1M", {.bytes = 1 << 20}, false, true},
    {"min-bytes = 4\nmax-bytes = 1 MiB", {.bytes = (1 << 20) + 4}, false, false},
    {"min-bytes = 1G", {.bytes = 1 << 30}, false, true},
    {"min-bytes = 1 GiB", {.bytes = (1 << 30) - 4}, false, false},
    {"min-bytes = 8000000000", {.bytes = 8000000000}, false, true},
    {"min-bytes = 100 B", {.bytes = 100}, false, true},
    {"comm-size = 2", {.comm_size = 2}, false, true},
    {"comm-size = 2", {.comm_size = 3}, false, false},
    {"comm-size = 4-8, 16", {.comm_size = 6}, false, true},
    {"comm-size = 4-8, 16", {.comm_size = 16}, false, true},
    {"comm-size = 4-8, 16", {.comm_size = 9}, false, false},
    {"comm-size = *", {.comm_size = 1}, false, true},
    {"", {0}, true, false},
    {"scope = remote", {0}, true, false},
    {"scope = all", {0}, true, true},
    {"scope = all", {0}, false, true},
    {"", {.synchronous = true}, false, false},
    {"synchronous = no", {.synchronous = true}, false, false},
    {"synchronous = yes", {.synchronous = true}, false, true},
    {"synchronous = yes", {.synchronous = false}, false, true},
    {"codec = none", {.synchronous = true}, false, true},
    {"codec = none", {.bytes = 4}, false, true},
    {"codec = none\nmin-bytes = 8", {.bytes = 4}, false, false},
};

START_TEST(test_case)
{
    policy_message_t message = message_default();
    bool has_codec = strstr(cases[_i].lines, "codec") != NULL;
    char text[256];
    policy_t *policy;

    message.tag = cases[_i].message.tag;
    message.synchronous = cases[_i].message.synchronous;
    message.remote = !cases[_i].near;
    if (cases[_i].message.bytes)
        message.bytes = cases[_i].message.bytes;
    if (cases[_i].message.comm_size)
        message.comm_size = cases[_i].message.comm_size;
    if (cases[_i].message.direction)
        message.direction = cases[_i].message.direction;
    snprintf(text, sizeof text, "[rule a]\n%s\n%s\n", has_codec ? "" : "codec = tah",
             cases[_i].lines);
    policy = parse_good(text);
    ck_assert_msg(policy_match(policy, &message) == (cases[_i].matches ? 0 : -1),
                  "case %d: \"%s\" must%s match", _i, cases[_i].lines,
                  cases[_i].matches ? "" : " not");
    policy_free(policy);
}
END_TEST

/* Which carriers a rule takes, in the order of policy_carrier_t: '.' not, else its element type. */
static const struct {
    const char *codec, *dtype, *carriers;
} carriers[] = {
    {"none", NULL, "bbbfdhs"},      {"none", "float32", "f..f..."},
    {"none", "float64", "d...d.."}, {"none", "bfloat16", "hh...h."},
    {"none", "float16", "ss....s"}, {"none", "bytes", "b......"},
    {"tah", "float32", "f..f..."},  {"uniform", "float32", "f..f..."},
};

START_TEST(test_carriers)
{
    static const char letters[TAH_DTYPE_COUNT + 1] = "bfhsd";
    policy_message_t message = message_default();
    char text[128], found[8] = "";
    policy_t *policy;

    snprintf(text, sizeof text, "[rule a]\ncodec = %s\n%s%s\n", carriers[_i].codec,
             carriers[_i].dtype ? "dtype = " : "", carriers[_i].dtype ? carriers[_i].dtype : "");
    policy = parse_good(text);
    for (int i = 0; i < carriers_count; i++) {
        message.carrier = (policy_carrier_t)i;
        found[i] = policy_match(policy, &message) == 0
                       ? letters[policy_rule_dtype(policy, 0, message.carrier)]
                       : '.';
    }
    ck_assert_str_eq(found, carriers[_i].carriers);
    policy_free(policy);
}
END_TEST

/* A lossy rule without dtype takes what MPI declares as floating point, if its codec does. */
START_TEST(test_untyped)
{
    policy_t *policy = parse_good("[rule a]\ncodec = uniform\n");
    policy_message_t message = message_default();

    for (int i = 0; i < carriers_count; i++) {
        tah_params_t params;
        char why[128];
        bool expected;
        message.carrier = (policy_carrier_t)i;
        tah_params_init(&params, TAH_CODEC_UNIFORM);
        params.dtype = policy_rule_dtype(policy, 0, message.carrier);
        expected =
            params.dtype != TAH_BYTES && tah_params_check(&params, why, sizeof why) == TAH_OK;
        ck_assert_int_eq(policy_match(policy, &message), expected ? 0 : -1);
    }
    message.carrier = POLICY_CARRIER_FLOAT32;
    ck_assert_int_eq(policy_match(policy, &message), 0);
    policy_free(policy);
}
END_TEST

/* Bytes must be whole elements of the type that the rule says they hold. */
START_TEST(test_whole_elements)
{
    policy_t *policy = parse_good("[rule a]\ncodec = none\ndtype = float64\n"
                                  "[rule b]\ncodec = none\ndtype = float32\n"
                                  "[rule c]\ncodec = none\ndtype = float16\n"
                                  "[rule d]\ncodec = none\ndtype = bytes\n");
    static const int expected[9] = {0, 3, 2, 3, 1, 3, 2, 3, 0};
    policy_message_t message = message_default();

    message.carrier = POLICY_CARRIER_BYTES;
    for (int i = 0; i < 9; i++) {
        message.bytes = 4096 + (uint64_t)i;
        ck_assert_int_eq(policy_match(policy, &message), expected[i]);
    }
    policy_free(policy);
}
END_TEST

START_TEST(test_first_wins)
{
    policy_t *policy = parse_good("[rule keep]\ntag = 150\ncodec = none\n"
                                  "[rule forward]\ntag = 100-199\ndirection = up\ncodec = tah\n"
                                  "[rule rest]\ncodec = uniform\n");
    policy_message_t message = message_default();

    ck_assert_int_eq(policy_rule_count(policy), 3);
    message.tag = 150;
    ck_assert_int_eq(policy_match(policy, &message), 0);
    ck_assert_int_eq(policy_rule(policy, 0)->params.codec, TAH_CODEC_NONE);
    message.tag = 151;
    ck_assert_int_eq(policy_match(policy, &message), 1);
    message.direction = POLICY_DOWN;
    ck_assert_int_eq(policy_match(policy, &message), 2);
    message.direction = POLICY_ANY_DIRECTION;
    ck_assert_int_eq(policy_match(policy, &message), 2);
    message.tag = 1;
    ck_assert_int_eq(policy_match(policy, &message), 2);
    message.carrier = POLICY_CARRIER_OTHER;
    ck_assert_int_eq(policy_match(policy, &message), -1);
    policy_free(policy);
}
END_TEST

/* [tahmpi] scope holds for rules without one, wherever it stands. */
START_TEST(test_global_scope)
{
    static const char *const texts[] = {
        "[tahmpi]\nscope = all\n[rule a]\ntag = 1\nscope = remote\ncodec = none\n"
        "[rule b]\ncodec = none\n",
        "[rule a]\ntag = 1\nscope = remote\ncodec = none\n"
        "[rule b]\ncodec = none\n[tahmpi]\nscope = all\n"};
    policy_t *policy = parse_good(texts[_i]);
    policy_message_t message = message_default();

    message.remote = false;
    message.tag = 1;
    ck_assert_int_eq(policy_match(policy, &message), 1);
    message.remote = true;
    ck_assert_int_eq(policy_match(policy, &message), 0);
    policy_free(policy);
}
END_TEST

START_TEST(test_least_bytes)
{
    policy_t *policy = parse_good("");

    ck_assert_uint_eq(policy_least_bytes(policy), UINT64_MAX);
    policy_free(policy);
    policy = parse_good("[rule a]\ncodec = none\n");
    ck_assert_uint_eq(policy_least_bytes(policy), UINT64_MAX);
    policy_free(policy);
    policy = parse_good("[rule a]\ntag = 1\ncodec = none\n[rule b]\nmin-bytes = 64k\ncodec = tah\n"
                        "[rule c]\ncodec = uniform\nmin-bytes = 512\ntag = 3\n");
    ck_assert_uint_eq(policy_least_bytes(policy), 512);
    policy_free(policy);
}
END_TEST

Suite *suite_match(void)
{
    Suite *suite = suite_create("policy match");
    TCase *tests = tcase_create("match");

    tcase_add_loop_test(tests, test_case, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tests, test_carriers, 0, sizeof carriers / sizeof *carriers);
    tcase_add_test(tests, test_untyped);
    tcase_add_test(tests, test_whole_elements);
    tcase_add_test(tests, test_first_wins);
    tcase_add_loop_test(tests, test_global_scope, 0, 2);
    tcase_add_test(tests, test_least_bytes);
    suite_add_tcase(suite, tests);
    return suite;
}
