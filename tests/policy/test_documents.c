/* The reference page and the example policies say what the parser does. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/rules.h"
#include "tests/policy/policy_tests.h"

/* Reads a file of the source tree, at path below its top; the caller frees it. */
static char *read_source(const char *path)
{
    const char *top = getenv("TAH_SOURCE");
    policy_errors_t errors;
    char whole[4096];
    size_t bytes;
    char *text;

    ck_assert_msg(top != NULL, "TAH_SOURCE must name the source tree");
    snprintf(whole, sizeof whole, "%s/%s", top, path);
    text = policy_read(whole, &bytes, &errors);
    ck_assert_msg(text != NULL, "%s", errors.text);
    return text;
}

/* Every key has a row in a table of the page, with an example that a rule accepts. */
START_TEST(test_key_documented)
{
    char *page = read_source("doc/policy.md"), row[64], example[128];
    const char *name = policy_key_name((policy_key_t)_i), *at, *end;
    policy_entry_t entry = {.rule.params.codec = TAH_CODEC_TAH};
    char why[256];

    if (_i != POLICY_KEY_CODEC) { /* which has a table of its own */
        snprintf(row, sizeof row, "\n| `%s` |", name);
        at = strstr(page, row);
        ck_assert_msg(at != NULL, "%s has no row", name);
        snprintf(example, sizeof example, "`%s = ", name);
        at = strstr(at, example);
        ck_assert_msg(at != NULL, "%s has no example", name);
        at += strlen(example);
        end = strchr(at, '`');
        snprintf(example, sizeof example, "%.*s", (int)(end - at), at);
        ck_assert_msg(policy_key_store((policy_key_t)_i, example, &entry, why, sizeof why),
                      "%s = %s: %s", name, example, why);
    }
    free(page);
}
END_TEST

START_TEST(test_codec_documented)
{
    char *page = read_source("doc/policy.md"), row[64];

    snprintf(row, sizeof row, "\n| `%s` | ", tah_codec_name((tah_codec_t)_i));
    ck_assert_msg(strstr(page, row) != NULL, "%s", row);
    free(page);
}
END_TEST

/* The policies that the page shows are good ones. */
START_TEST(test_page_policies)
{
    char *page = read_source("doc/policy.md"), *at = page, *end;
    int count = 0;

    while ((at = strstr(at, "\n```ini\n"))) {
        at += strlen("\n```ini\n");
        end = strstr(at, "```");
        *end = '\0';
        policy_free(parse_good(at));
        at = end + 1;
        count++;
    }
    ck_assert_int_gt(count, 0);
    free(page);
}
END_TEST

START_TEST(test_example_policies)
{
    char path[4096];
    DIR *folder;
    struct dirent *file;
    int count = 0;

    snprintf(path, sizeof path, "%s/examples/policies", getenv("TAH_SOURCE"));
    folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    while ((file = readdir(folder))) {
        const char *ending = strrchr(file->d_name, '.');
        char *text;
        if (!ending || strcmp(ending, ".ini") != 0)
            continue;
        snprintf(path, sizeof path, "examples/policies/%s", file->d_name);
        text = read_source(path);
        if (codecs_in_build(text))
            policy_free(parse_good(text));
        free(text);
        count++;
    }
    closedir(folder);
    ck_assert_int_ge(count, 4);
}
END_TEST

/* What the published policies make of the trainer's messages. */
START_TEST(test_published_policy)
{
    static const char *const paths[] = {"examples/policies/published.ini",
                                        "examples/policies/published-token.ini"};
    char *text = read_source(paths[_i]);
    policy_t *policy = parse_good(text);
    policy_message_t message = message_default();
    const tah_params_t *forward = &policy_rule(policy, 0)->params;

    ck_assert_int_eq(policy_rule_count(policy), 2);
    for (int tag = 99; tag <= 300; tag++) {
        int expected = tag >= 100 && tag < 200 ? 0 : tag >= 200 && tag < 300 ? 1 : -1;
        message.tag = tag;
        ck_assert_int_eq(policy_match(policy, &message), expected);
    }
    ck_assert_int_eq(forward->codec, TAH_CODEC_TAH);
    ck_assert_int_eq(forward->bits_high, 4);
    ck_assert_int_eq(forward->bits_low, 3);
    ck_assert_int_eq(forward->tile, 64);
    ck_assert_float_eq(forward->high_fraction, 0.8F);
    ck_assert_uint_eq(forward->channels, _i ? 128 : 0);
    ck_assert_int_eq(policy_rule(policy, 1)->params.codec, TAH_CODEC_UNIFORM);
    ck_assert_int_eq(policy_rule(policy, 1)->params.bits_high, 6);
    ck_assert_int_eq(policy_rule(policy, 1)->params.tile, 32);
    policy_free(policy);
    free(text);
}
END_TEST

Suite *suite_documents(void)
{
    Suite *suite = suite_create("policy documents");
    TCase *tests = tcase_create("documents");

    tcase_add_loop_test(tests, test_key_documented, 0, POLICY_KEY_COUNT);
    tcase_add_loop_test(tests, test_codec_documented, 0, TAH_CODEC_COUNT);
    tcase_add_test(tests, test_page_policies);
    tcase_add_test(tests, test_example_policies);
    tcase_add_loop_test(tests, test_published_policy, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
