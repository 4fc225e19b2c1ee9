/* What the tests of policy/ share. */
#ifndef POLICY_TESTS_H
#define POLICY_TESTS_H

#include <check.h>
#include <string.h>

#include "policy/policy.h"

/* Parses a text that must be a good policy; the test fails with its mistakes if it is not. */
policy_t *parse_good(const char *text);

/* A message that a rule without matchers matches: 1 MiB of float32 to a higher rank elsewhere. */
policy_message_t message_default(void);

/* Fails the test where two sets of parameters differ in any member. */
void params_assert_equal(const tah_params_t *a, const tah_params_t *b);

/* Whether all codecs that a policy text names are in this build. */
bool codecs_in_build(const char *text);

Suite *suite_keys(void);
Suite *suite_mistakes(void);
Suite *suite_text(void);
Suite *suite_match(void);
Suite *suite_documents(void);

#endif
