#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim/log.h"

#define LOG_LINE_BYTES 9216 /* all the mistakes of a policy fit */

log_level_t log_level = LOG_WARN;

static int log_rank = -1;
static char log_host[65];

void log_set_rank(int rank)
{
    log_rank = rank;
    if (gethostname(log_host, sizeof log_host - 1) != 0)
        strcpy(log_host, "unknown host");
}

int log_parse_level(const char *text, log_level_t *level)
{
    static const char *const names[] = {"quiet", "error", "warn", "info", "debug"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *level = (log_level_t)i;
            return 0;
        }
    }
    return -1;
}

void log_write(log_level_t level, const char *format, ...)
{
    static const char *const words[] = {"", "error: ", "warning: ", "", "debug: "};
    int saved_errno = errno;
    char line[LOG_LINE_BYTES];
    int used = log_rank < 0 ? snprintf(line, sizeof line, "tahmpi: %s", words[level])
                            : snprintf(line, sizeof line, "tahmpi: [rank %d on %s] %s", log_rank,
                                       log_host, words[level]);
    va_list args;
    va_start(args, format);
    int text = vsnprintf(line + used, sizeof line - (size_t)used, format, args);
    va_end(args);
    size_t length = text < 0 ? (size_t)used : (size_t)used + (size_t)text;
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    while (length > 0 && line[length - 1] == '\n')
        length--;
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
    errno = saved_errno;
}

void log_drain(void)
{
    struct stat file;
    int unread = 0;
    if (fstat(STDERR_FILENO, &file) != 0 || !S_ISFIFO(file.st_mode))
        return;
    for (int milliseconds = 0; milliseconds < 1000; milliseconds++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
