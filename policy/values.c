/* Values of keys: numbers, sizes, lists of ranges, and words. None of it depends on the locale. */
#include "config.h" /* strtof_l */

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/rules.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits at *text and moves it past them. False: none there, or the number is above limit. */
static bool scan_number(const char **text, uint64_t limit, uint64_t *number)
{
    const char *at = *text;
    uint64_t value = 0;

    if (!is_digit(*at))
        return false;
    for (; is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > limit)
        return false;
    *number = value;
    *text = at;
    return true;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

bool policy_value_number(const char *value, uint64_t limit, uint64_t *number)
{
    uint64_t result;

    if (!scan_number(&value, limit, &result) || *value)
        return false;
    *number = result;
    return true;
}

bool policy_value_bytes(const char *value, uint64_t *number)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {{"", 0},   {"B", 0},    {"k", 10}, {"K", 10},  {"KiB", 10},
                 {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}};
    uint64_t result;

    if (!scan_number(&value, UINT64_MAX, &result))
        return false;
    value = skip_blanks(value);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(value, units[i].name) == 0 && result <= UINT64_MAX >> units[i].shift) {
            *number = result << units[i].shift;
            return true;
        }
    }
    return false;
}

bool policy_value_real(const char *value, float *number)
{
    locale_t plain;
    char *end;
    float result;

    /* strtof takes more than a policy should: hexadecimal, infinities, not-a-number. */
    if (!*value || value[strspn(value, "+-.0123456789eE")])
        return false;
    plain = newlocale(LC_ALL_MASK, "C", NULL);
    if (!plain)
        return false;
    result = strtof_l(value, &end, plain);
    freelocale(plain);
    if (end == value || *end || !isfinite(result))
        return false;
    *number = result;
    return true;
}

void policy_value_print_real(float number, char *text, size_t bytes)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;

    for (int digits = 1; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, bytes, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            break;
    }
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
}

static int range_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b; /* a range starts with its first number */

    return *x < *y ? -1 : *x > *y;
}

/* Sorts the ranges and joins those that overlap or touch. */
static void set_normalise(policy_set_t *set)
{
    int kept = 0;

    qsort(set->ranges, (size_t)set->count, sizeof *set->ranges, range_compare);
    for (int i = 1; i < set->count; i++) {
        if (set->ranges[i].first <= (uint64_t)set->ranges[kept].last + 1) {
            if (set->ranges[i].last > set->ranges[kept].last)
                set->ranges[kept].last = set->ranges[i].last;
        } else {
            set->ranges[++kept] = set->ranges[i];
        }
    }
    set->count = kept + 1;
}

/* Reads one entry of a list: a number, a range, or "*" for all. False: not so; why is set for empty
 * ones. */
static bool scan_range(const char **text, uint32_t first, uint32_t last, uint64_t range[2],
                       char *why, size_t why_bytes)
{
    const char *at = skip_blanks(*text);

    if (*at == '*') {
        range[0] = first;
        range[1] = last;
        *text = skip_blanks(at + 1);
        return true;
    }
    if (!scan_number(&at, last, &range[0]))
        return false;
    range[1] = range[0];
    at = skip_blanks(at);
    if (*at == '-') {
        at = skip_blanks(at + 1);
        if (*at == '*') {
            range[1] = last;
            at++;
        } else if (!scan_number(&at, last, &range[1])) {
            return false;
        }
        at = skip_blanks(at);
    }
    if (range[0] < first)
        return false;
    if (range[0] > range[1]) {
        snprintf(why, why_bytes, "the range %llu-%llu is empty: the smaller number comes first",
                 (unsigned long long)range[0], (unsigned long long)range[1]);
        return false;
    }
    *text = at;
    return true;
}

bool policy_value_set(const char *value, uint32_t first, uint32_t last, policy_set_t *set,
                      char *why, size_t why_bytes)
{
    policy_set_t result = {0};

    snprintf(why, why_bytes,
             "must be numbers and ranges from %u to %u with commas between, such as "
             "\"100-199, 300, 500-*\", or * for all",
             first, last);
    for (;;) {
        uint64_t range[2];
        if (result.count == POLICY_MAX_RANGES) {
            snprintf(why, why_bytes, "must have at most %d entries", POLICY_MAX_RANGES);
            return false;
        }
        if (!scan_range(&value, first, last, range, why, why_bytes))
            return false;
        result.ranges[result.count].first = (uint32_t)range[0];
        result.ranges[result.count++].last = (uint32_t)range[1];
        if (!*value)
            break;
        if (*value++ != ',')
            return false;
    }
    set_normalise(&result);
    *set = result;
    return true;
}

int policy_value_choice(const char *value, const char *const *names, int count, char *why,
                        size_t why_bytes)
{
    size_t used;

    for (int i = 0; i < count; i++) {
        if (strcmp(value, names[i]) == 0)
            return i;
    }
    used = (size_t)snprintf(why, why_bytes, "must be %s", names[0]);
    for (int i = 1; i < count && used < why_bytes; i++)
        used += (size_t)snprintf(why + used, why_bytes - used, "%s%s",
                                 i + 1 < count ? ", " : " or ", names[i]);
    return -1;
}
