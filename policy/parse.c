/*
 * The policy file. inih splits lines into keys and values; lines and sections are found here,
 * because inih as distributions build it tells its caller neither the number of a line nor that a
 * section has begun, stops at the first mistake, and takes an indented line for a continuation.
 */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/rules.h"

#define BLANKS " \t\v\f\r"
#define QUOTE 64

typedef enum section {
    SECTION_NONE,    /* before the first one */
    SECTION_UNKNOWN, /* after a mistake in its line: keys are not looked at */
    SECTION_TAHMPI,
    SECTION_RULE,
} section_t;

typedef struct parser {
    const char *next, *end; /* text not yet read */
    int line;               /* of the last line read, from 1 */
    bool pending;           /* the last line must be a key and has not been seen as one */
    section_t section;
    int tahmpi_line; /* of [tahmpi]; 0: none yet */
    int scope_line;  /* of its scope */
    policy_scope_t scope;
    policy_draft_t draft; /* the rule being read */
    bool sound[POLICY_MAX_RULES];
    policy_t *policy;
    policy_mistakes_t mistakes;
} parser_t;

/* Turns the rule read so far into an entry. */
static void rule_finish(parser_t *parser)
{
    policy_t *policy = parser->policy;

    if (parser->section != SECTION_RULE)
        return;
    if (policy->count == POLICY_MAX_RULES) {
        policy_mistake(&parser->mistakes, parser->draft.line, "more than %d rules",
                       POLICY_MAX_RULES);
        return;
    }
    parser->sound[policy->count] =
        policy_rule_build(&parser->draft, &policy->entries[policy->count], &parser->mistakes);
    policy->count++;
}

static void rule_begin(parser_t *parser, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";
    size_t length = strlen(name);
    char quoted[QUOTE];

    memset(&parser->draft, 0, sizeof parser->draft);
    parser->draft.line = parser->line;
    if (length == 0 || length >= POLICY_NAME_BYTES || name[strspn(name, letters)]) {
        policy_mistake(&parser->mistakes, parser->line,
                       "rule name \"%s\": must be 1 to %d letters, digits, '-', '_' or '.', such "
                       "as [rule forward]",
                       policy_quote(name, quoted, sizeof quoted), POLICY_NAME_BYTES - 1);
        strcpy(parser->draft.name, "?");
        return;
    }
    memcpy(parser->draft.name, name, length + 1);
    for (int i = 0; i < parser->policy->count; i++) {
        const policy_rule_t *other = &parser->policy->entries[i].rule;
        if (strcmp(other->name, name) == 0) {
            policy_mistake(&parser->mistakes, parser->line,
                           "a second rule %s, the first is in line %d: each needs a name of its "
                           "own",
                           name, other->line);
            return;
        }
    }
}

/* A section whose name is text, without the brackets and blanks around it. */
static void section_begin(parser_t *parser, char *text)
{
    static const char *const known[] = {"tahmpi", "rule"};
    size_t word = strcspn(text, BLANKS);
    char *name = text + word + strspn(text + word, BLANKS);
    char quoted[QUOTE], hint[128];

    rule_finish(parser);
    if (word == 4 && memcmp(text, "rule", 4) == 0) {
        parser->section = SECTION_RULE;
        rule_begin(parser, name);
        return;
    }
    if (strcmp(text, "tahmpi") == 0) {
        parser->section = SECTION_TAHMPI;
        if (parser->tahmpi_line)
            policy_mistake(&parser->mistakes, parser->line,
                           "a second section [tahmpi], the first is in line %d: put all its keys "
                           "there",
                           parser->tahmpi_line);
        else
            parser->tahmpi_line = parser->line;
        return;
    }
    parser->section = SECTION_UNKNOWN;
    policy_quote(text, quoted, sizeof quoted);
    text[word] = '\0';
    if (policy_suggest(text, known, 2, hint, sizeof hint)[0] != 'd')
        snprintf(hint, sizeof hint, "allowed: [tahmpi] and [rule NAME]");
    policy_mistake(&parser->mistakes, parser->line, "unknown section [%s]: %s", quoted, hint);
}

/* A line that starts with '['; without blanks at either end. */
static void section_line(parser_t *parser, char *line)
{
    char *close = strchr(line, ']');
    char *rest = close ? close + 1 + strspn(close + 1, BLANKS) : NULL;
    char quoted[QUOTE];

    if (!close || (*rest && *rest != ';' && *rest != '#')) {
        rule_finish(parser);
        parser->section = SECTION_UNKNOWN;
        policy_mistake(&parser->mistakes, parser->line, "\"%s\": %s",
                       policy_quote(line, quoted, sizeof quoted),
                       close ? "nothing but a comment may follow the ']' of a section"
                             : "a section must end with ']', such as [rule forward]");
        return;
    }
    while (close > line + 1 && strchr(BLANKS, close[-1]))
        close--;
    *close = '\0';
    line++;
    section_begin(parser, line + strspn(line, BLANKS));
}

static void line_check_pending(parser_t *parser)
{
    if (parser->pending)
        policy_mistake(&parser->mistakes, parser->line,
                       "must be \"key = value\", a [section], or a comment after ';' or '#'");
    parser->pending = false;
}

/*
 * Takes the next line: false at the end of the text. *first, *length: the line without the blanks
 * around it. Lines end with LF or CR LF.
 */
static bool line_next(parser_t *parser, const char **first, size_t *length)
{
    const char *start = parser->next, *stop;

    if (start == parser->end)
        return false;
    stop = memchr(start, '\n', (size_t)(parser->end - start));
    parser->next = stop ? stop + 1 : parser->end;
    if (!stop)
        stop = parser->end;
    while (start < stop && *start && strchr(BLANKS, *start))
        start++;
    while (stop > start && stop[-1] && strchr(BLANKS, stop[-1]))
        stop--;
    *first = start;
    *length = (size_t)(stop - start);
    parser->line++;
    return true;
}

/* fgets for inih: gives it the lines with keys as they are, and an empty line for all others. */
static char *line_read(char *buffer, int room, void *stream)
{
    parser_t *parser = stream;
    const char *first;
    size_t length;

    line_check_pending(parser);
    if (!line_next(parser, &first, &length))
        return NULL;
    buffer[0] = '\0';
    if (length == 0 || *first == ';' || *first == '#')
        return buffer;
    if (memchr(first, '\0', length)) {
        policy_mistake(&parser->mistakes, parser->line,
                       "a zero byte: the policy must be text in ASCII or UTF-8");
        return buffer;
    }
    if (length > POLICY_MAX_LINE || length >= (size_t)room) {
        policy_mistake(&parser->mistakes, parser->line, "a line of %zu bytes: must be at most %d",
                       length, POLICY_MAX_LINE);
        return buffer;
    }
    memcpy(buffer, first, length);
    buffer[length] = '\0';
    if (*first == '[') {
        section_line(parser, buffer);
        buffer[0] = '\0';
    } else {
        parser->pending = true;
    }
    return buffer;
}

static void tahmpi_key(parser_t *parser, const char *name, const char *value)
{
    static const char *const known[] = {"scope"};
    policy_entry_t entry;
    char quoted[QUOTE], text[256];

    if (strcmp(name, known[0]) != 0) {
        policy_mistake(&parser->mistakes, parser->line, "unknown key \"%s\" in [tahmpi]: %s",
                       policy_quote(name, quoted, sizeof quoted),
                       policy_suggest(name, known, 1, text, sizeof text));
    } else if (parser->scope_line) {
        policy_mistake(&parser->mistakes, parser->line, "a second scope, the first is in line %d",
                       parser->scope_line);
    } else {
        parser->scope_line = parser->line;
        if (policy_key_store(POLICY_KEY_SCOPE, value, &entry, text, sizeof text))
            parser->scope = entry.match.scope;
        else
            policy_mistake(&parser->mistakes, parser->line, "scope = %s: %s",
                           policy_quote(value, quoted, sizeof quoted), text);
    }
}

static void rule_key(parser_t *parser, const char *name, const char *value)
{
    policy_draft_t *draft = &parser->draft;
    policy_key_t key = policy_key_find(name);
    char quoted[QUOTE], text[400];

    if (key == POLICY_KEY_COUNT) {
        policy_mistake(&parser->mistakes, parser->line, "unknown key \"%s\": %s",
                       policy_quote(name, quoted, sizeof quoted),
                       policy_key_suggest(name, text, sizeof text));
    } else if (draft->lines[key]) {
        policy_mistake(&parser->mistakes, parser->line,
                       "a second %s in rule %s, the first is in line %d", name, draft->name,
                       draft->lines[key]);
    } else {
        draft->lines[key] = parser->line;
        snprintf(draft->values[key], sizeof draft->values[key], "%s", value);
    }
}

/* inih's handler: one key and its value, of the line that line_read gave last. */
static int key_read(void *user, const char *section, const char *name, const char *value)
{
    parser_t *parser = user;
    char quoted[QUOTE];

    parser->pending = false;
    switch (parser->section) {
    case SECTION_NONE:
        policy_mistake(&parser->mistakes, parser->line,
                       "key \"%s\" before any section: it must follow [tahmpi] or [rule NAME]",
                       policy_quote(name, quoted, sizeof quoted));
        break;
    case SECTION_TAHMPI:
        tahmpi_key(parser, name, value);
        break;
    case SECTION_RULE:
        rule_key(parser, name, value);
        break;
    case SECTION_UNKNOWN:
        break;
    }
    return 1;
}

/* What only the whole file shows: scopes, and rules that an earlier one leaves nothing to. */
static void policy_finish(parser_t *parser)
{
    policy_t *policy = parser->policy;

    policy->least_bytes = UINT64_MAX;
    for (int i = 0; i < policy->count; i++) {
        policy_entry_t *entry = &policy->entries[i];
        int j = 0;
        if (entry->match.scope == POLICY_SCOPE_UNSET)
            entry->match.scope = parser->scope;
        if (entry->rule.params.codec != TAH_CODEC_NONE &&
            entry->match.min_bytes < policy->least_bytes)
            policy->least_bytes = entry->match.min_bytes;
        if (!parser->sound[i])
            continue;
        while (j < i && !(parser->sound[j] &&
                          policy_matcher_covers(&policy->entries[j].match, &entry->match)))
            j++;
        if (j < i)
            policy_mistake(&parser->mistakes, entry->rule.line,
                           "rule %s can never match: rule %s in line %d already matches all that "
                           "it would",
                           entry->rule.name, policy->entries[j].rule.name,
                           policy->entries[j].rule.line);
    }
}

static void errors_set(policy_errors_t *errors, const char *file, const char *what)
{
    errors->count = 1;
    snprintf(errors->text, sizeof errors->text, "%.400s: %s\n", file, what);
}

policy_t *policy_parse(const char *text, size_t bytes, const char *file, policy_errors_t *errors)
{
    static const char byte_order_mark[3] = "\xef\xbb\xbf";
    const size_t policy_bytes = sizeof(policy_t) + POLICY_MAX_RULES * sizeof(policy_entry_t);
    parser_t *parser = calloc(1, sizeof *parser);
    policy_t *policy = calloc(1, policy_bytes), *smaller;

    if (!parser || !policy) {
        errors_set(errors, file, "out of memory");
        goto fail;
    }
    if (bytes > POLICY_MAX_BYTES) {
        policy_mistake(&parser->mistakes, 0, "%zu bytes: a policy must have at most %d", bytes,
                       POLICY_MAX_BYTES);
    } else {
        parser->policy = policy;
        parser->next = text;
        parser->end = text + bytes;
        if (bytes >= sizeof byte_order_mark && memcmp(text, byte_order_mark, 3) == 0)
            parser->next += sizeof byte_order_mark;
        ini_parse_stream(line_read, parser, key_read, parser);
        rule_finish(parser);
        policy_finish(parser);
    }
    policy_mistakes_write(&parser->mistakes, file, errors);
    if (errors->count)
        goto fail;
    free(parser);
    smaller = realloc(policy, sizeof *policy + (size_t)policy->count * sizeof *policy->entries);
    return smaller ? smaller : policy;

fail:
    free(parser);
    free(policy);
    return NULL;
}

char *policy_read(const char *path, size_t *bytes, policy_errors_t *errors)
{
    char *text = malloc(POLICY_MAX_BYTES + 2), *smaller;
    FILE *file = fopen(path, "re");
    size_t length = 0;
    char what[128];

    errors->count = 0;
    errors->text[0] = '\0';
    if (!text) {
        errors_set(errors, path, "out of memory");
    } else if (!file) {
        snprintf(what, sizeof what, "cannot be opened: %s", strerror(errno));
        errors_set(errors, path, what);
    } else {
        length = fread(text, 1, POLICY_MAX_BYTES + 1, file);
        if (ferror(file)) {
            snprintf(what, sizeof what, "cannot be read: %s", strerror(errno));
            errors_set(errors, path, what);
        } else if (length > POLICY_MAX_BYTES) {
            snprintf(what, sizeof what, "a policy must have at most %d bytes", POLICY_MAX_BYTES);
            errors_set(errors, path, what);
        }
    }
    if (file)
        fclose(file);
    if (errors->count) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    *bytes = length;
    smaller = realloc(text, length + 1);
    return smaller ? smaller : text;
}
