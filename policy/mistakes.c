/* The list of mistakes in a policy, and its text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/rules.h"

void policy_mistake(policy_mistakes_t *mistakes, int line, const char *format, ...)
{
    const int room = sizeof mistakes->list / sizeof *mistakes->list;
    va_list arguments;
    int index = mistakes->count++;

    if (index >= room)
        return;
    va_start(arguments, format);
    mistakes->list[index].line = line;
    vsnprintf(mistakes->list[index].text, sizeof mistakes->list[index].text, format, arguments);
    va_end(arguments);
}

/* Order of lines; of one line, the order in which they were found. */
static void mistakes_sort(policy_mistakes_t *mistakes, int kept)
{
    for (int i = 1; i < kept; i++) {
        for (int j = i; j > 0 && mistakes->list[j - 1].line > mistakes->list[j].line; j--) {
            __typeof__(*mistakes->list) swap = mistakes->list[j];
            mistakes->list[j] = mistakes->list[j - 1];
            mistakes->list[j - 1] = swap;
        }
    }
}

void policy_mistakes_write(policy_mistakes_t *mistakes, const char *file, policy_errors_t *errors)
{
    const int room = sizeof mistakes->list / sizeof *mistakes->list;
    const size_t reserve = 512; /* for the last line */
    int kept = mistakes->count < room ? mistakes->count : room;
    int written = 0;
    size_t used = 0;

    errors->count = mistakes->count;
    errors->text[0] = '\0';
    mistakes_sort(mistakes, kept);
    for (; written < kept; written++) {
        char line[1024], where[16] = "";
        int bytes;
        if (mistakes->list[written].line)
            snprintf(where, sizeof where, "%d:", mistakes->list[written].line);
        bytes = snprintf(line, sizeof line, "%.400s:%s %s\n", file, where,
                         mistakes->list[written].text);
        if (used + (size_t)bytes + reserve > sizeof errors->text)
            break;
        memcpy(errors->text + used, line, (size_t)bytes + 1);
        used += (size_t)bytes;
    }
    if (written < mistakes->count)
        snprintf(errors->text + used, sizeof errors->text - used, "%.400s: and %d more mistakes\n",
                 file, mistakes->count - written);
}

const char *policy_quote(const char *text, char *quoted, size_t bytes)
{
    size_t length = strlen(text);
    bool whole = length < bytes;
    size_t kept = whole ? length : bytes - sizeof "...";

    for (size_t i = 0; i < kept; i++)
        quoted[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    strcpy(quoted + kept, whole ? "" : "...");
    return quoted;
}
