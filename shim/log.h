/* Messages to the user, on stderr, one line each: "tahmpi: [rank 1 on hostB] ...". */
#ifndef SHIM_LOG_H
#define SHIM_LOG_H

typedef enum log_level {
    LOG_QUIET = 0,
    LOG_ERROR = 1,
    LOG_WARN = 2, /* default */
    LOG_INFO = 3,
    LOG_DEBUG = 4,
} log_level_t;

extern log_level_t log_level;

/* Names the rank in later messages; -1 (before MPI_Init): no rank is named. */
void log_set_rank(int rank);

/* "quiet" ... "debug" to level; returns -1 and leaves level for anything else. */
int log_parse_level(const char *text, log_level_t *level);

/*
 * Writes one line in one write, so that lines of several ranks do not mix. errno is kept. Safe
 * from any thread, before MPI_Init and after MPI_Finalize; makes no MPI call.
 */
void log_write(log_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Before this process ends the job: waits, a second at most, until the launcher has read what was
 * written. Launchers forget what they have not read when they are told to abort.
 */
void log_drain(void);

#define log_at(level, ...) (log_level >= (level) ? log_write((level), __VA_ARGS__) : (void)0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
