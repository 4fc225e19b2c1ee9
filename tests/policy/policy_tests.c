/* Runs the tests of policy/ and prints TAP. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/policy/policy_tests.h"

policy_t *parse_good(const char *text)
{
    policy_errors_t errors;
    policy_t *policy = policy_parse(text, strlen(text), "good.ini", &errors);

    if (!policy)
        ck_abort_msg("%d mistakes: %s", errors.count, errors.text);
    ck_assert_int_eq(errors.count, 0);
    ck_assert_str_eq(errors.text, "");
    return policy;
}

policy_message_t message_default(void)
{
    return (policy_message_t){.tag = 7,
                              .comm_size = 2,
                              .direction = POLICY_UP,
                              .carrier = POLICY_CARRIER_FLOAT32,
                              .bytes = 1 << 20,
                              .remote = true};
}

void params_assert_equal(const tah_params_t *a, const tah_params_t *b)
{
    ck_assert_int_eq(a->codec, b->codec);
    ck_assert_int_eq(a->dtype, b->dtype);
    ck_assert_uint_eq(a->channels, b->channels);
    ck_assert_uint_eq(a->tile, b->tile);
    ck_assert_uint_eq(a->bits_high, b->bits_high);
    ck_assert_uint_eq(a->bits_low, b->bits_low);
    ck_assert_float_eq(a->high_fraction, b->high_fraction);
    ck_assert_int_eq(a->allocate, b->allocate);
    ck_assert_int_eq(a->hadamard, b->hadamard);
    ck_assert_int_eq(a->rounding, b->rounding);
    ck_assert_int_eq(a->range_search, b->range_search);
    ck_assert_uint_eq(a->seed, b->seed);
    ck_assert_float_eq(a->rate, b->rate);
    ck_assert_uint_eq(a->min_bits, b->min_bits);
    ck_assert_int_eq(a->error, b->error);
    ck_assert(a->min_sqnr == b->min_sqnr); /* may be infinite */
    ck_assert_int_eq(a->level, b->level);
}

bool codecs_in_build(const char *text)
{
    for (tah_codec_t codec = TAH_CODEC_TAH; codec < TAH_CODEC_COUNT; codec++) {
        char why[256], setting[64];
        tah_params_t params;
        tah_params_init(&params, codec);
        snprintf(setting, sizeof setting, "codec = %s\n", tah_codec_name(codec));
        if (strstr(text, setting) && tah_params_check(&params, why, sizeof why) != TAH_OK)
            return false;
    }
    return true;
}

int main(void)
{
    SRunner *runner = srunner_create(suite_keys());
    int failed;

    srunner_add_suite(runner, suite_mistakes());
    srunner_add_suite(runner, suite_text());
    srunner_add_suite(runner, suite_match());
    srunner_add_suite(runner, suite_documents());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
