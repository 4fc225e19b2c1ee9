#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim/file.h"
#include "shim/log.h"

static void file_complain(const file_t *file, int error)
{
    log_error("%s=%s: cannot be written: %s", file->variable, file->path, strerror(error));
}

/*
 * Opens what is no regular file, or one that is reached through /dev: the program's own output
 * (/dev/stdout), which goes on from where it is. NULL with errno. Opening a FIFO waits for its
 * reader otherwise.
 */
static FILE *file_in_place(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    FILE *out = NULL;
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        out = fdopen(fd, "w");
    if (out == NULL && fd >= 0) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return out;
}

/* Finds out what path is; false with errno. Leaves target "" where it is to be written in place. */
static bool file_find(file_t *file, struct stat *status)
{
    file->target[0] = '\0';
    if (stat(file->path, status) != 0) {
        struct stat link;
        if (errno != ENOENT)
            return false;
        memset(status, 0, sizeof *status);
        /* a link to what is not there yet: opening it makes the file that it names */
        if (lstat(file->path, &link) != 0)
            snprintf(file->target, sizeof file->target, "%s", file->path);
        return true;
    }
    if (!S_ISREG(status->st_mode))
        return true;
    if (realpath(file->path, file->target) == NULL)
        return false;
    if (strncmp(file->path, "/dev/", 5) == 0 && strncmp(file->target, "/dev/", 5) != 0)
        file->target[0] = '\0';
    return true;
}

bool file_open(file_t *file, const char *variable, const char *path)
{
    struct stat status;
    sigset_t pipe;
    file->out = NULL;
    file->variable = variable;
    file->path = path;
    if (!file_find(file, &status)) {
        file_complain(file, errno);
        return false;
    }
    if (file->target[0] == '\0') {
        file->out = file_in_place(path);
    } else {
        snprintf(file->temporary, sizeof file->temporary, "%s.%ld", file->target, (long)getpid());
        file->out = fopen(file->temporary, "we");
    }
    if (file->out == NULL) {
        if (errno == ENXIO && S_ISFIFO(status.st_mode))
            log_error("%s=%s: nothing is written: nobody reads this FIFO", variable, path);
        else
            file_complain(file, errno);
        return false;
    }
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &file->signals);
    return true;
}

void file_rank_path(const char *path, int rank, char *own, size_t bytes)
{
    file_t file = {.path = path};
    struct stat status;
    if (file_find(&file, &status) && status.st_mode != 0 && file.target[0] == '\0')
        snprintf(own, bytes, "%s", path);
    else
        snprintf(own, bytes, "%s.rank%d", path, rank);
}

void file_close(file_t *file)
{
    int error = 0;
    errno = EIO; /* a write that failed long ago has left its errno nowhere */
    if (fflush(file->out) != 0 || ferror(file->out))
        error = errno;
    if (fclose(file->out) != 0 && error == 0)
        error = errno;
    if (error == 0 && file->target[0] != '\0' && rename(file->temporary, file->target) != 0)
        error = errno;
    if (error != 0)
        file_complain(file, error);
    if (error != 0 && file->target[0] != '\0')
        unlink(file->temporary);
    if (!sigismember(&file->signals, SIGPIPE)) {
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        sigtimedwait(&pipe, NULL, &(struct timespec){0}); /* one that our own write has raised */
        pthread_sigmask(SIG_SETMASK, &file->signals, NULL);
    }
}
