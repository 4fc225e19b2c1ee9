/* Every mistake, with its line and what the message must say. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/policy/policy_tests.h"

#define TAH "codec = tah\n"
#define NONE "codec = none\n"
#define RULE "[rule a]\n"

/* A text, and its mistakes as "LINE: words" in order; words may be anywhere in the line. */
static const struct {
    const char *text;
    const char *mistakes[6];
} cases[] = {
    /* sections */
    {"[rules a]\n", {"1: unknown section [rules a]: did you mean \"rule\"?"}},
    {"[global]\nfoo = 1\n", {"1: unknown section [global]: allowed: [tahmpi] and [rule NAME]"}},
    {"[tahmpl]\nscope = all\n", {"1: did you mean \"tahmpi\"?"}},
    {"\n[rule]\n" NONE, {"2: rule name \"\": must be 1 to 31"}},
    {"[rule a b]\n" NONE, {"1: rule name \"a b\": must be 1 to 31"}},
    {"[rule a$]\n" NONE, {"1: rule name \"a$\""}},
    {"[rule aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb]\n" NONE, {"1: must be 1 to 31"}},
    {RULE NONE "tag = 1\n" RULE NONE, {"4: a second rule a, the first is in line 1"}},
    {"[tahmpi]\n[tahmpi]\n", {"2: a second section [tahmpi], the first is in line 1"}},
    {"[rule a\n" NONE, {"1: \"[rule a\": a section must end with ']'"}},
    {"[rule a] " NONE, {"1: nothing but a comment may follow"}},
    {"scope = all\n", {"1: key \"scope\" before any section"}},
    /* rules without a codec */
    {RULE, {"1: rule a has no codec: it must be none, tah, uniform, tahx or lossless"}},
    {"\n" RULE "tag = 1\n\n[rule b]\n", {"2: rule a has no codec", "5: rule b has no codec"}},
    {RULE "codec = zip\n", {"2: codec = zip: must be none, tah, uniform, tahx or lossless"}},
    {RULE "codec =\n", {"2: codec = : must be none"}},
    {RULE "codec = TAH\n", {"2: codec = TAH: must be"}},
    /* lines */
    {RULE NONE "tag\n", {"3: must be \"key = value\""}},
    {RULE "tag 5\n" NONE, {"2: must be \"key = value\""}},
    {RULE NONE "tag ; = 5", {"3: must be \"key = value\""}},
    {RULE NONE "= 5", {"3: unknown key \"\": allowed: tag, direction"}},
    {RULE NONE "tag = 1\ntag = 2\n", {"4: a second tag in rule a, the first is in line 3"}},
    {"[tahmpi]\nscope = all\nscope = all\n", {"3: a second scope, the first is in line 2"}},
    /* unknown keys */
    {RULE NONE "Tag = 1\n", {"3: unknown key \"Tag\": did you mean \"tag\"?"}},
    {RULE NONE "min_bytes = 1\n", {"3: unknown key \"min_bytes\": did you mean \"min-bytes\"?"}},
    {RULE TAH "highfraction = 1\n", {"3: did you mean \"high-fraction\"?"}},
    {RULE TAH "chanels = 1\n", {"3: did you mean \"channels\"?"}},
    {RULE NONE "velocity = 1\n",
     {"3: unknown key \"velocity\": allowed: tag, direction, dtype, "
      "min-bytes, max-bytes, comm-size, scope, synchronous, codec, bits"}},
    {"[tahmpi]\nthreads = 2\n", {"2: unknown key \"threads\" in [tahmpi]: allowed: scope"}},
    {"[tahmpi]\nscop = all\n", {"2: unknown key \"scop\" in [tahmpi]: did you mean \"scope\"?"}},
    /* values of matchers */
    {"[tahmpi]\nscope = local\n", {"2: scope = local: must be remote or all"}},
    {RULE NONE "scope = none\n", {"3: scope = none: must be remote or all"}},
    {RULE NONE "direction = left\n", {"3: direction = left: must be up or down"}},
    {RULE NONE "dtype = int32\n",
     {"3: dtype = int32: must be bytes, float32, bfloat16, float16 or float64"}},
    {RULE NONE "tag =\n", {"3: tag = : must be numbers and ranges from 0 to 2147483647"}},
    {RULE NONE "tag = -1\n", {"3: tag = -1: must be numbers and ranges"}},
    {RULE NONE "tag = 1,\n", {"3: tag = 1,: must be numbers and ranges"}},
    {RULE NONE "tag = 1 2\n", {"3: tag = 1 2: must be numbers and ranges"}},
    {RULE NONE "tag = 1-\n", {"3: tag = 1-: must be numbers and ranges"}},
    {RULE NONE "tag = *-5\n", {"3: tag = *-5: must be numbers and ranges"}},
    {RULE NONE "tag = 0x10\n", {"3: tag = 0x10: must be numbers and ranges"}},
    {RULE NONE "tag = 5 # five\n", {"3: tag = 5 # five: must be numbers"}},
    {RULE NONE "tag = 2147483648\n", {"3: from 0 to 2147483647"}},
    {RULE NONE "tag = 99999999999999999999999999\n", {"3: from 0 to 2147483647"}},
    {RULE NONE "tag = 200-100\n",
     {"3: the range 200-100 is empty: the smaller number comes first"}},
    {RULE NONE "comm-size = 0\n", {"3: comm-size = 0: must be numbers and ranges from 1 to"}},
    {RULE NONE "comm-size = two\n", {"3: comm-size = two: must be numbers and ranges from 1"}},
    {RULE NONE "min-bytes = 4 kB\n",
     {"3: min-bytes = 4 kB: must be a size in bytes, such as 4096"}},
    {RULE NONE "min-bytes = 1.5M\n", {"3: min-bytes = 1.5M: must be a size in bytes"}},
    {RULE NONE "min-bytes = k\n", {"3: must be a size in bytes"}},
    {RULE NONE "max-bytes = 99999999999G\n", {"3: must be a size in bytes"}},
    {RULE TAH "synchronous = true\n", {"3: synchronous = true: must be no or yes"}},
    /* values of codecs */
    {RULE TAH "bits = 4/\n", {"3: bits = 4/: must be the high and the low width in bits"}},
    {RULE TAH "bits = four\n", {"3: must be the high and the low width"}},
    {RULE "bits = 4/3\ncodec = uniform\n", {"2: bits = 4/3: must be one width in bits"}},
    {RULE TAH "bits = 3/4\n", {"3: bits = 3/4: "}},
    {RULE TAH "bits = 9/3\n", {"3: bits = 9/3: "}},
    {RULE TAH "bits = 4/1\n", {"3: bits = 4/1: "}},
    {RULE TAH "bits = 260/259\n", {"3: bits = 260/259: "}},
    {RULE "codec = uniform\nbits = 1\n", {"3: bits = 1: "}},
    {RULE TAH "high-fraction = 1.5\n", {"3: high-fraction = 1.5: "}},
    {RULE TAH "high-fraction = -0.1\n", {"3: high-fraction = -0.1: "}},
    {RULE TAH "high-fraction = 80%\n", {"3: high-fraction = 80%: must be a number, such as 0.8"}},
    {RULE TAH "high-fraction = nan\n", {"3: high-fraction = nan: must be a number"}},
    {RULE TAH "high-fraction = 1e99\n", {"3: high-fraction = 1e99: must be a number"}},
    {RULE TAH "tile = 63\n", {"3: tile = 63: "}},
    {RULE TAH "tile = 8\n", {"3: tile = 8: "}},
    {RULE TAH "tile = 65600\n", {"3: tile = 65600: "}},
    {RULE TAH "tile = big\n", {"3: tile = big: must be a whole number, 0 or more"}},
    {RULE TAH "channels = 4294967296\n", {"3: must be a whole number, 0 to 4294967295"}},
    {RULE TAH "allocate = row\n", {"3: allocate = row: must be token, tile or range"}},
    {RULE "allocate = token\n" TAH, {"2: allocate = token: the rule needs channels"}},
    {RULE TAH "hadamard = on\n", {"3: hadamard = on: must be published, best or off"}},
    {RULE TAH "rounding = up\n", {"3: rounding = up: must be nearest or stochastic"}},
    {RULE TAH "range-search = 1\n", {"3: range-search = 1: must be no or yes"}},
    {RULE TAH "seed = -1\n", {"3: seed = -1: must be a whole number, 0 or more"}},
    {RULE TAH "min-sqnr = loud\n", {"3: min-sqnr = loud: must be decibels, such as 18 dB"}},
    {RULE TAH "min-sqnr = dB\n", {"3: min-sqnr = dB: must be decibels"}},
    {RULE TAH "min-sqnr = inf\n", {"3: min-sqnr = inf: must be decibels"}},
    {RULE TAH "warmup = some\n", {"3: warmup = some: must be a whole number"}},
    {RULE "error = row\ncodec = tahx\n", {"2: error = row: must be absolute or token"}},
    {RULE "level = high\ncodec = lossless\n", {"2: level = high: must be a whole number"}},
    {RULE TAH "dtype = bytes\n", {"3: dtype = bytes: "}},
    {RULE TAH "tile = 5\nbits = 99\nhigh-fraction = 3\n",
     {"3: tile = 5: ", "4: bits = 99: ", "5: high-fraction = 3: "}},
    /* keys of other codecs */
    {RULE "rate = 3\ncodec = uniform\n", {"2: key rate belongs to codec tahx, not to uniform"}},
    {RULE NONE "tile = 64\n", {"3: key tile belongs to codec tah, uniform or tahx, not to none"}},
    {RULE TAH "level = 3\n", {"3: key level belongs to codec lossless, not to tah"}},
    {RULE TAH "min-bits = 1\n", {"3: key min-bits belongs to codec tahx"}},
    {RULE NONE "synchronous = no\n", {"3: key synchronous belongs to codec tah, uniform, tahx or"}},
    {RULE NONE "warmup = 1\n", {"3: key warmup belongs to"}},
    {RULE "codec = uniform\nhigh-fraction = 1\n", {"3: belongs to codec tah, not to uniform"}},
    {RULE "codec = lossless\nbits = 4\n", {"3: key bits belongs to codec tah or uniform"}},
    /* rules that can never match */
    {RULE NONE "min-bytes = 2k\nmax-bytes = 1k\n",
     {"4: min-bytes is above max-bytes = 1k: rule a can never match"}},
    {RULE TAH "max-bytes = 1k\n",
     {"3: max-bytes = 1k is below the default min-bytes of 4 KiB: rule a can never match"}},
    {RULE NONE "dtype = float64\nmin-bytes = 9\nmax-bytes = 15\n",
     {"5: no size from min-bytes to max-bytes is a multiple of the 8 bytes of float64"}},
    {RULE TAH "min-bytes = 0\nmax-bytes = 0\n", {"4: max-bytes = 0: rule a can never match"}},
    {RULE NONE "[rule b]\ntag = 5\n" TAH,
     {"3: rule b can never match: rule a in line 1 already matches all that it would"}},
    {RULE "tag = 10-20, 1-5\n" TAH "[rule b]\ntag = 12-13, 5\ndirection = up\n" TAH,
     {"4: rule b can never match"}},
    {"[tahmpi]\nscope = all\n" RULE TAH "[rule b]\nscope = remote\n" TAH,
     {"5: rule b can never match"}},
    {RULE TAH "[rule b]\ndtype = float32\n" TAH "[rule c]\ndtype = float32\n" TAH,
     {"6: rule c can never match: rule b in line 3"}},
    {RULE NONE "dtype = bfloat16\n[rule b]\ndtype = float16\nmin-bytes = 2\ntag = 3\n" NONE
               "[rule c]\ntag = 3\n" NONE "dtype = bfloat16\n",
     {"9: rule c can never match: rule a"}},
    {RULE "comm-size = 2-4\n" TAH "[rule b]\n" TAH "comm-size = 3\n",
     {"4: rule b can never match"}},
    /* more than one */
    {"[rule]\nfoo = 1\n[rule b]\ncodec = tah\ntag = x\ntile = y\nlevel = 3\n",
     {"1: rule name", "1: rule ? has no codec", "2: unknown key \"foo\"", "5: tag = x",
      "6: tile = y", "7: key level"}},
};

/* Pairs of rules of which the first does not cover the second, by one matcher each. */
static const char *const allowed[] = {
    RULE TAH "tag = 1-5\n[rule b]\ntag = 5-6\n" TAH,
    RULE TAH "direction = up\n[rule b]\n" TAH,
    RULE TAH "direction = up\n[rule b]\ndirection = down\n" TAH,
    RULE TAH "[rule b]\nscope = all\n" TAH,
    RULE TAH "min-bytes = 8k\n[rule b]\n" TAH,
    RULE TAH "max-bytes = 1M\n[rule b]\n" TAH,
    RULE TAH "comm-size = 2, 4\n[rule b]\ncomm-size = 3\n" TAH,
    RULE TAH "[rule b]\nsynchronous = yes\n" TAH,
    RULE TAH "[rule b]\ndtype = float32\n" TAH,
    RULE NONE "dtype = float32\n[rule b]\ndtype = bfloat16\n" NONE,
    RULE NONE "dtype = float64\nmin-bytes = 0\n[rule b]\ndtype = float32\n" NONE,
    RULE NONE "dtype = bytes\n[rule b]\ndtype = float32\n" TAH,
    RULE NONE "tag = 1-9\n[rule b]\ntag = 1-10\n" NONE,
};

START_TEST(test_mistakes)
{
    policy_errors_t errors;
    char *line, *rest;
    int count = 0;

    ck_assert_ptr_null(policy_parse(cases[_i].text, strlen(cases[_i].text), "a.ini", &errors));
    rest = errors.text;
    while (count < 6 && cases[_i].mistakes[count]) {
        const char *expected = cases[_i].mistakes[count++], *words = strchr(expected, ':') + 2;
        char start[32];
        snprintf(start, sizeof start, "a.ini:%d: ", atoi(expected));
        line = strsep(&rest, "\n");
        ck_assert_msg(strncmp(line, start, strlen(start)) == 0 && strstr(line, words),
                      "case %d: expected \"%s\", not \"%s\"", _i, expected, line);
        ck_assert_msg(strlen(line) > strlen(start) + strlen(words) ||
                          words[strlen(words) - 1] != ' ',
                      "case %d: nothing is said in \"%s\"", _i, line);
        ck_assert_msg(strlen(line) < 420, "case %d: %zu bytes", _i, strlen(line));
    }
    ck_assert_msg(rest && !*rest, "case %d: more mistakes: %s", _i, rest);
    ck_assert_int_eq(errors.count, count);
}
END_TEST

START_TEST(test_allowed)
{
    policy_free(parse_good(allowed[_i]));
}
END_TEST

Suite *suite_mistakes(void)
{
    Suite *suite = suite_create("policy mistakes");
    TCase *tests = tcase_create("mistakes");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (codecs_in_build(cases[i].text))
            tcase_add_loop_test(tests, test_mistakes, (int)i, (int)i + 1);
    }
    tcase_add_loop_test(tests, test_allowed, 0, sizeof allowed / sizeof *allowed);
    suite_add_tcase(suite, tests);
    return suite;
}
