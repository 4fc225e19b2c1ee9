/* The text around the settings: line ends, blanks, comments, sizes, odd bytes, files. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/policy/policy_tests.h"

/* Ways to write one and the same rule. */
static const char *const same[] = {
    "[rule a]\ncodec = tah\ntag = 5\n",
    "[rule a]\ncodec = tah\ntag = 5",
    "[rule a]\r\ncodec = tah\r\ntag = 5\r\n",
    "\xef\xbb\xbf[rule a]\ncodec = tah\ntag = 5\n",
    "\xef\xbb\xbf  [rule a]\ncodec = tah\ntag = 5\n",
    "  [ rule \t a ]  \n   codec = tah\n \t tag = 5 \n",
    "[rule a] ; first\n; a comment\n# another\n  # one more\n  codec = tah ; as is\ntag = 5\t; "
    "five\n",
    "[rule a]#x\ncodec=tah\ntag=5",
    "[rule a]\ntag : 5\ncodec:tah",
    "[tahmpi]\n[rule a]\ntag = 5\ncodec = tah",
    "\n\n\n[rule a]\n\ncodec = tah\n\n\ntag = 5\n\n\n",
};

START_TEST(test_same)
{
    policy_t *policy = parse_good(same[_i]);
    policy_message_t message = message_default();

    ck_assert_int_eq(policy_rule_count(policy), 1);
    ck_assert_str_eq(policy_rule(policy, 0)->name, "a");
    ck_assert_int_eq(policy_rule(policy, 0)->params.codec, TAH_CODEC_TAH);
    ck_assert_int_eq(policy_match(policy, &message), -1);
    message.tag = 5;
    ck_assert_int_eq(policy_match(policy, &message), 0);
    policy_free(policy);
}
END_TEST

/* Nothing but blanks and comments is a policy without rules. */
START_TEST(test_empty)
{
    static const char *const texts[] = {"", "\n", "   ", "; a\n# b", "\xef\xbb\xbf", "\r\n\r\n"};
    policy_t *policy = parse_good(texts[_i]);
    policy_message_t message = message_default();

    ck_assert_int_eq(policy_rule_count(policy), 0);
    ck_assert_int_eq(policy_match(policy, &message), -1);
    policy_free(policy);
}
END_TEST

/* Parses bytes that must be refused, and checks the start of the first message and their number. */
static void refused(const char *text, size_t bytes, int count, const char *first)
{
    policy_errors_t errors;

    ck_assert_ptr_null(policy_parse(text, bytes, "a.ini", &errors));
    ck_assert_int_eq(errors.count, count);
    ck_assert_msg(strncmp(errors.text, first, strlen(first)) == 0, "%s", errors.text);
    ck_assert_uint_lt(strlen(errors.text), sizeof errors.text);
}

START_TEST(test_zero_bytes)
{
    static const char text[] = "[rule a]\ncodec = none\ntag\0 = 5\n\0\n";

    refused(text, sizeof text - 1, 2, "a.ini:3: a zero byte: ");
}
END_TEST

/* The text is not read beyond its end. */
START_TEST(test_not_terminated)
{
    static const char whole[] = "[rule a]\ncodec = none\ntag = 5\n";
    size_t bytes = strlen(whole);

    for (size_t cut = 0; cut < bytes; cut++) {
        char *text = malloc(cut ? cut : 1); /* so that a sanitizer sees a byte too many */
        policy_errors_t errors;
        policy_t *policy;
        memcpy(text, whole, cut);
        policy = policy_parse(text, cut, "a.ini", &errors);
        ck_assert_int_eq(policy == NULL, errors.count > 0);
        policy_free(policy);
        free(text);
    }
}
END_TEST

START_TEST(test_line_length)
{
    char text[512] = "[rule a]\ncodec = none\ntag = 5";
    size_t start = strlen(text) - strlen("tag = 5");

    while (strlen(text) - start < 198)
        strcat(text, "0");
    refused(text, strlen(text), 1, "a.ini:3: tag = 5000");
    strcat(text, "0");
    refused(text, strlen(text), 1, "a.ini:3: a line of 199 bytes: must be at most 198");
    /* A comment may be of any length. */
    text[start] = ';';
    policy_free(parse_good(text));
}
END_TEST

START_TEST(test_list_length)
{
    char text[512] = "[rule a]\ncodec = none\ntag = 0";

    for (int i = 1; i < 64; i++)
        strcat(text, i % 2 ? ",2" : ",0");
    policy_free(parse_good(text));
    strcat(text, ",0");
    refused(text, strlen(text), 1, "a.ini:3: tag = 0,2,0");
}
END_TEST

START_TEST(test_rules_limit)
{
    char *text = calloc(1, 65 * 64), *end = text;
    policy_t *policy;

    for (int i = 0; i < 64; i++)
        end += sprintf(end, "[rule r%d]\ntag = %d\ncodec = none\n", i, i);
    policy = parse_good(text);
    ck_assert_int_eq(policy_rule_count(policy), 64);
    policy_free(policy);
    end += sprintf(end, "[rule more]\ntag = 64\ncodec = none\n");
    refused(text, (size_t)(end - text), 1, "a.ini:193: more than 64 rules");
    free(text);
}
END_TEST

START_TEST(test_size_limit)
{
    char *text = malloc(POLICY_MAX_BYTES + 1);

    memset(text, '\n', POLICY_MAX_BYTES + 1);
    text[POLICY_MAX_BYTES] = '\0';
    policy_free(parse_good(text));
    text[POLICY_MAX_BYTES] = '\n';
    refused(text, POLICY_MAX_BYTES + 1, 1,
            "a.ini: 262145 bytes: a policy must have at most 262144");
    free(text);
}
END_TEST

/* All mistakes are counted, and the last line says how many are not there. */
START_TEST(test_many_mistakes)
{
    const int lines = POLICY_MAX_BYTES / 2;
    char *text = malloc(POLICY_MAX_BYTES), *last;
    policy_errors_t errors;
    int shown = 0;

    for (int i = 0; i < lines; i++)
        memcpy(text + 2 * i, "x\n", 2);
    ck_assert_ptr_null(policy_parse(text, POLICY_MAX_BYTES, "a.ini", &errors));
    ck_assert_int_eq(errors.count, lines);
    for (const char *at = errors.text; (at = strchr(at, '\n')); at++)
        shown++;
    last = strstr(errors.text, "and ");
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(atoi(last + 4) + shown - 1, lines);
    ck_assert_int_gt(shown, 50);
    free(text);
}
END_TEST

/* Values are quoted shortened and without control characters; so is a long file name. */
START_TEST(test_quoting)
{
    static const char text[] = "[rule a]\ncodec = \x1b[31mred\x7f\n";
    char name[2000];
    policy_errors_t errors;

    refused(text, sizeof text - 1, 1, "a.ini:2: codec = ?[31mred?: must be");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_ptr_null(policy_parse(text, sizeof text - 1, name, &errors));
    ck_assert_ptr_nonnull(strstr(errors.text, "?[31mred?: must be"));
}
END_TEST

/* Programs may set a locale whose decimal point is a comma before the policy is read. */
static const char *const comma_locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};

START_TEST(test_locale)
{
    policy_t *policy;

    ck_assert_ptr_nonnull(setlocale(LC_ALL, comma_locales[_i]));
    policy = parse_good("[rule a]\ncodec = tah\nhigh-fraction = 0.5\n");
    ck_assert_float_eq(policy_rule(policy, 0)->params.high_fraction, 0.5F);
    policy_free(policy);
}
END_TEST

/* Adds test_locale for the locales that this machine has. */
static void add_locales(TCase *tests)
{
    char *before = strdup(setlocale(LC_ALL, NULL));

    for (int i = 0; i < 4; i++) {
        if (setlocale(LC_ALL, comma_locales[i]))
            tcase_add_loop_test(tests, test_locale, i, i + 1);
    }
    setlocale(LC_ALL, before);
    free(before);
}

/* Any bytes give a policy or mistakes, and nothing else. */
START_TEST(test_garbage)
{
    static const char *const pieces[] = {"[rule a]", "[", "]",   "\n",   "tag", "=",       " ",
                                         "codec",    ";", "tah", "\r",   "*",   "9-1",     ",",
                                         "\xff",     "#", ":",   "bits", "/",   "lossless"};
    const int count = sizeof pieces / sizeof *pieces;
    unsigned state = 12345;

    for (int round = 0; round < 3000; round++) {
        char text[1024] = "";
        policy_errors_t errors;
        policy_t *policy;
        for (int i = 0; i < 60; i++) {
            state = state * 1103515245 + 12345;
            strcat(text, pieces[(state >> 16) % (unsigned)count]);
        }
        policy = policy_parse(text, strlen(text), "a.ini", &errors);
        ck_assert_int_eq(policy == NULL, errors.count > 0);
        policy_free(policy);
    }
}
END_TEST

START_TEST(test_read)
{
    char path[] = "/tmp/tahmpi-policy-XXXXXX";
    static const char content[] = "[rule a]\ncodec = none\n";
    policy_errors_t errors;
    size_t bytes = 7;
    char *text;
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, content, sizeof content - 1), sizeof content - 1);
    text = policy_read(path, &bytes, &errors);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(bytes, sizeof content - 1);
    ck_assert_str_eq(text, content);
    ck_assert_int_eq(errors.count, 0);
    free(text);
    ck_assert_int_eq(ftruncate(file, POLICY_MAX_BYTES + 1), 0);
    bytes = 7;
    ck_assert_ptr_null(policy_read(path, &bytes, &errors));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_ptr_nonnull(strstr(errors.text, ": a policy must have at most 262144 bytes\n"));
    close(file);
    unlink(path);
    ck_assert_ptr_null(policy_read(path, &bytes, &errors));
    ck_assert_ptr_nonnull(strstr(errors.text, strerror(ENOENT)));
    ck_assert_ptr_null(policy_read("/", &bytes, &errors));
    ck_assert_ptr_nonnull(strstr(errors.text, strerror(EISDIR)));
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

Suite *suite_text(void)
{
    Suite *suite = suite_create("policy text");
    TCase *tests = tcase_create("text");

    tcase_add_loop_test(tests, test_same, 0, sizeof same / sizeof *same);
    tcase_add_loop_test(tests, test_empty, 0, 6);
    tcase_add_test(tests, test_zero_bytes);
    tcase_add_test(tests, test_not_terminated);
    tcase_add_test(tests, test_line_length);
    tcase_add_test(tests, test_list_length);
    tcase_add_test(tests, test_rules_limit);
    tcase_add_test(tests, test_size_limit);
    tcase_add_test(tests, test_many_mistakes);
    tcase_add_test(tests, test_quoting);
    add_locales(tests);
    tcase_add_test(tests, test_garbage);
    tcase_add_test(tests, test_read);
    suite_add_tcase(suite, tests);
    return suite;
}
