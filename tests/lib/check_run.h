/* The end of every program of unit tests. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include <check.h>
#include <stdlib.h>

/* Runs and frees the suite, prints TAP on standard output, returns what main returns. */
static inline int check_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);

    int failed = srunner_ntests_failed(runner);

    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
