/* What a command with jobs keeps while it runs, and leaves in order when it is asked to end. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/job.h"

static char job_folder[JOB_PATH_BYTES - 32]; /* files in it have names of less than 32 bytes */
static volatile sig_atomic_t job_signal;     /* the signal that came, or 0 */
static const int job_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { JOB_SIGNALS = sizeof job_signals / sizeof *job_signals };
static struct sigaction job_pipe_before; /* what was set for SIGPIPE */

static void job_on_signal(int signal)
{
    job_signal = signal;
}

bool job_interrupted(void)
{
    return job_signal != 0;
}

/* One that is ignored, as SIGHUP is under nohup, stays so. */
static void job_signals_catch(void)
{
    struct sigaction before, action = {.sa_handler = job_on_signal};
    for (int i = 0; i < JOB_SIGNALS; i++)
        if (sigaction(job_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(job_signals[i], &action, NULL);
    /* A reader of the table that goes early must not cost the files, nor leave the folder. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &job_pipe_before);
}

void job_signals_restore(void)
{
    struct sigaction now;
    for (int i = 0; i < JOB_SIGNALS; i++)
        if (sigaction(job_signals[i], NULL, &now) == 0 && now.sa_handler == job_on_signal)
            signal(job_signals[i], SIG_DFL);
    sigaction(SIGPIPE, &job_pipe_before, NULL);
}

static void job_folder_remove(void)
{
    DIR *folder = opendir(job_folder);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(job_folder);
}

const char *job_folder_make(void)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == '\0')
        base = "/tmp";
    /* From the root on: a program may be in another folder when the library writes its report. */
    char *whole = realpath(base, NULL);
    if (whole == NULL) {
        fprintf(stderr, "tahmpi: no temporary folder in %s: %s\n", base, strerror(errno));
        return NULL;
    }
    size_t length = strlen(whole), most = sizeof job_folder - sizeof "/tahmpi.XXXXXX";
    if (length > most)
        fprintf(stderr, "tahmpi: TMPDIR is a path of %zu bytes: at most %zu\n", length, most);
    else
        snprintf(job_folder, sizeof job_folder, "%s/tahmpi.XXXXXX", whole);
    free(whole);
    if (length > most)
        return NULL;
    if (mkdtemp(job_folder) == NULL) {
        fprintf(stderr, "tahmpi: no temporary folder in %s: %s\n", base, strerror(errno));
        return NULL;
    }
    atexit(job_folder_remove);
    job_signals_catch();
    return job_folder;
}

const char *job_folder_trouble(void)
{
    static char text[JOB_PATH_BYTES + 128];
    static const char block[4096];
    char path[JOB_PATH_BYTES];
    snprintf(path, sizeof path, "%s/probe", job_folder);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0)
        errno = ENOSPC; /* where less is written than was asked, the rest did not fit */
    bool good = file >= 0 && write(file, block, sizeof block) == (ssize_t)sizeof block;
    if (!good)
        snprintf(text, sizeof text, "nothing can be written to %s: %s (TMPDIR may name another)",
                 job_folder, strerror(errno));
    if (file >= 0)
        close(file);
    unlink(path);
    return good ? NULL : text;
}
