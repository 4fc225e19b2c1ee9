#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/log.h"
#include "shim/settings.h"

#define SETTINGS_TIMEOUT 30
#define SETTINGS_TIMEOUT_MAX 86400
#define SETTINGS_THREADS_MAX 256
#define SETTINGS_DUMP 4
#define SETTINGS_DUMP_MAX 1000
#define SETTINGS_TRACE 65536
#define SETTINGS_TRACE_MAX 16777216 /* 1 GiB of events */

/* The variable's value, or NULL where it is unset or empty. */
static const char *settings_get(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static int settings_number(const char *name, uint32_t least, uint32_t most, uint32_t *number,
                           char *why, size_t why_bytes)
{
    const char *value = settings_get(name);
    if (value == NULL)
        return 0;
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(value, &end, 10);
    if (errno != 0 || *end != '\0' || value[0] == '-' || parsed < least || parsed > most) {
        snprintf(why, why_bytes, "%s=%s: must be a whole number from %u to %u", name, value, least,
                 most);
        return -1;
    }
    *number = (uint32_t)parsed;
    return 0;
}

static int settings_text(const char *name, char *text, size_t text_bytes, char *why,
                         size_t why_bytes)
{
    const char *value = settings_get(name);
    if (value == NULL)
        return 0;
    if (strlen(value) >= text_bytes) {
        snprintf(why, why_bytes, "%s: its value is longer than %zu characters", name,
                 text_bytes - 1);
        return -1;
    }
    strcpy(text, value);
    return 0;
}

static int settings_flag(const char *name, bool *flag, char *why, size_t why_bytes)
{
    const char *value = settings_get(name);
    *flag = value != NULL && strcmp(value, "1") == 0;
    if (*flag || value == NULL || strcmp(value, "0") == 0)
        return 0;
    snprintf(why, why_bytes, "%s=%s: must be 0 or 1", name, value);
    return -1;
}

static int settings_log(settings_t *settings, char *why, size_t why_bytes)
{
    const char *value = settings_get("TAHMPI_LOG");
    log_level_t level = LOG_WARN;
    settings->log_level = LOG_WARN;
    if (value != NULL && log_parse_level(value, &level) != 0) {
        snprintf(why, why_bytes, "TAHMPI_LOG=%s: must be quiet, error, warn, info or debug", value);
        return -1;
    }
    settings->log_level = (int32_t)level;
    return 0;
}

static int settings_report(settings_t *settings, char *why, size_t why_bytes)
{
    if (settings_text("TAHMPI_REPORT", settings->report, sizeof settings->report, why, why_bytes))
        return -1;
    /* Who observes and names no file wants to see the table. */
    if (settings->observe && settings->report[0] == '\0')
        settings->report_table = true;
    settings->report_table = settings->report_table || strcmp(settings->report, "1") == 0;
    if (settings->report_table || strcmp(settings->report, "0") == 0)
        settings->report[0] = '\0';
    return 0;
}

/* PATH or PATH:N; what follows the last colon is a number only if it is all digits. */
static int settings_counted(const char *name, char *path, size_t path_bytes, uint32_t *count,
                            uint32_t most, char *why, size_t why_bytes)
{
    if (settings_text(name, path, path_bytes, why, why_bytes))
        return -1;
    char *colon = strrchr(path, ':');
    if (colon == NULL || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return 0;
    unsigned long number = strtoul(colon + 1, NULL, 10);
    if (number < 1 || number > most || colon == path) {
        snprintf(why, why_bytes, "%s=%s: must be a path or PATH:N, N from 1 to %u", name, path,
                 most);
        return -1;
    }
    *count = (uint32_t)number;
    *colon = '\0';
    return 0;
}

int settings_read(settings_t *settings, char *why, size_t why_bytes)
{
    memset(settings, 0, sizeof *settings);
    settings->timeout = SETTINGS_TIMEOUT;
    settings->dump_count = SETTINGS_DUMP;
    settings->trace_count = SETTINGS_TRACE;
    int failed = settings_log(settings, why, why_bytes);
    failed = failed || settings_flag("TAHMPI_DISABLE", &settings->disable, why, why_bytes);
    failed = failed || settings_flag("TAHMPI_OBSERVE", &settings->observe, why, why_bytes);
    failed = failed || settings_counted("TAHMPI_DUMP", settings->dump, sizeof settings->dump,
                                        &settings->dump_count, SETTINGS_DUMP_MAX, why, why_bytes);
    failed = failed ||
             settings_counted("TAHMPI_TRACE", settings->trace, sizeof settings->trace,
                              &settings->trace_count, SETTINGS_TRACE_MAX, why, why_bytes);
    failed = failed || settings_report(settings, why, why_bytes);
    failed = failed || settings_number("TAHMPI_TIMEOUT", 1, SETTINGS_TIMEOUT_MAX,
                                       &settings->timeout, why, why_bytes);
    failed = failed || settings_number("TAHMPI_THREADS", 0, SETTINGS_THREADS_MAX,
                                       &settings->threads, why, why_bytes);
    failed = failed || settings_text("TAHMPI_ISA", settings->isa, sizeof settings->isa, why,
                                     why_bytes);
    failed = failed || settings_text("TAHMPI_POLICY", settings->policy, sizeof settings->policy,
                                     why, why_bytes);
    return failed ? -1 : 0;
}
