/* Files that a run is asked to write: reports and traces. */
#ifndef SHIM_FILE_H
#define SHIM_FILE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct file {
    FILE *out;
    const char *variable, *path; /* as the user gave them, for complaints */
    char target[PATH_MAX];       /* that takes the new file's place; "": it is written in place */
    char temporary[PATH_MAX + 32];
    sigset_t signals; /* blocked by the thread before */
} file_t;

/*
 * Opens path for writing. A regular file, also behind symbolic links, keeps its content until the
 * new one is whole; what is no regular file (a device, a pipe, /dev/stdout) is written as it is,
 * and whoever reads a pipe may go away: SIGPIPE is blocked until file_close. False, with a
 * complaint that names variable: it cannot be written, or it is a FIFO that nobody reads, for which
 * a program at its end must not wait. Both strings must live until file_close.
 */
bool file_open(file_t *file, const char *variable, const char *path);

/*
 * The file of one rank alone, of those that end without MPI_Finalize: PATH.rankN; but PATH itself
 * where that is no regular file: a device has no name beside it, and a pipe's reader reads it
 * alone.
 */
void file_rank_path(const char *path, int rank, char *own, size_t bytes);

/* Closes it, by the thread that opened it; complains if not all of it could be written. */
void file_close(file_t *file);

#endif
