/* Near names for what is not known. */
#include <stdio.h>
#include <string.h>

#include "policy/rules.h"

#define NAME_BYTES 64

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete or replace to make b of a, capitals and '_' for '-' not counted. */
static int name_distance(const char *a, const char *b)
{
    int row[NAME_BYTES + 1];
    size_t length = strlen(b);

    if (strlen(a) >= NAME_BYTES || length >= NAME_BYTES)
        return NAME_BYTES;
    for (size_t j = 0; j <= length; j++)
        row[j] = (int)j;
    for (size_t i = 0; a[i]; i++) {
        char letter = a[i] == '_' ? '-' : a[i];
        int diagonal = row[0];
        if (letter >= 'A' && letter <= 'Z')
            letter = (char)(letter - 'A' + 'a');
        row[0] = (int)i + 1;
        for (size_t j = 1; j <= length; j++) {
            int replaced = diagonal + (letter != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[length];
}

const char *policy_suggest(const char *name, const char *const *known, int count, char *text,
                           size_t bytes)
{
    int nearest = -1, distance = 3;
    size_t used = 0;

    for (int i = 0; i < count; i++) {
        int other = name_distance(name, known[i]);
        /* At least half of the letters must be right. */
        if (other < distance && 2 * other <= (int)strlen(known[i])) {
            nearest = i;
            distance = other;
        }
    }
    if (nearest >= 0) {
        snprintf(text, bytes, "did you mean \"%s\"?", known[nearest]);
        return text;
    }
    for (int i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 i == 0          ? "allowed: "
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 known[i]);
    return text;
}

const char *policy_key_suggest(const char *name, char *text, size_t bytes)
{
    const char *known[POLICY_KEY_COUNT];

    for (policy_key_t key = 0; key < POLICY_KEY_COUNT; key++)
        known[key] = policy_key_name(key);
    return policy_suggest(name, known, POLICY_KEY_COUNT, text, bytes);
}
