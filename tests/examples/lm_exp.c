/* The language model's own exponential in float, against the C library's in double. */
#include "examples/lm_real.h"
#include "tests/lib/check_run.h"

/* 175,001 places over the whole range, the ends included. */
START_TEST(within_the_promised_error)
{
    for (int i = -100000; i <= 75000; i++) {
        float x = i < 0 ? i * 87e-5f : i * (88.0f / 75000);
        double right = exp(x), off = fabs(lm_exp(x) - right) / right;

        ck_assert_msg(off <= 2e-7, "lm_exp(%.9g) is off by %g", x, off);
    }
}
END_TEST

START_TEST(beyond_the_range)
{
    ck_assert(lm_exp(0) == 1);
    ck_assert(lm_exp(-1e30f) == lm_exp(-87));
    ck_assert(lm_exp(-INFINITY) == lm_exp(-87));
    ck_assert(lm_exp(1e30f) == lm_exp(88));
    ck_assert(lm_exp(INFINITY) == lm_exp(88));
    ck_assert(isnan(lm_exp(NAN)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lm_exp");
    TCase *cases = tcase_create("exp");

    tcase_add_test(cases, within_the_promised_error);
    tcase_add_test(cases, beyond_the_range);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
