/*
 * Jobs: an MPI program started by mpiexec, on this machine's own network or on hosts that slownet
 * makes, plain or with the library preloaded.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_PATH_BYTES 512 /* of the paths of a command's own files */

/* What is the same for all jobs of a command. Strings belong to the caller. */
typedef struct job_setup {
    const char *mpiexec; /* command line of the launcher, split at blanks */
    const char *slownet; /* the script */
    const char *library; /* to be preloaded */
    const char *folder;  /* for files that a job leaves, see job_folder_make */
    int ranks;
    unsigned timeout;    /* seconds; 0: none */
    char **program;      /* with its arguments, ends with NULL */
} job_setup_t;

typedef struct job {
    const char *link;   /* rate as slownet takes it; NULL: this machine's own network */
    const char *policy; /* path; NULL: plain, without the library */
    void (*watch)(const char *output); /* called now and then with the file of the job's output; or
                                          NULL */
} job_t;

/* What came of a job. */
typedef struct job_result {
    double seconds;    /* from start to end of the launcher */
    int status;        /* exit status; 128 + signal, as shells have it */
    bool timed_out;    /* the job was ended by us, so that its status says nothing */
    bool interrupted;  /* the same, because a signal asked the command to end */
    long peak_kib;     /* resident memory of the largest process, KiB */
    char output[JOB_PATH_BYTES]; /* file with all that the job printed */
    char report[JOB_PATH_BYTES]; /* file with the library's report, where there is one */
} job_result_t;

/*
 * Makes a folder for a command's files and sees to it that it is removed, and a running job ended,
 * when the process ends: by exit, SIGINT, SIGQUIT, SIGTERM or SIGHUP, as far as these are not
 * ignored. SIGPIPE is ignored from then on. Returns its path (static storage), or NULL with a
 * complaint on stderr. Once a process.
 */
const char *job_folder_make(void);

/*
 * Why nothing can be written to the folder, as a part of a sentence (static storage); NULL: it can.
 */
const char *job_folder_trouble(void);

/* In a new process, before it becomes another program: signals as the command found them. */
void job_signals_restore(void);

/* Whether a signal has asked the command to end; it then finishes with what it has. */
bool job_interrupted(void);

/*
 * A file of this package, in the tree that this command was built in or else where it is installed;
 * NULL: in neither place. The path lives as long as the process.
 */
const char *job_find(const char *installed, const char *built);

/*
 * Fills in what was not given: mpiexec and the paths of slownet and the library, from where this
 * command is installed or was built. False with a complaint where something is missing.
 * need_slownet: a link is asked for.
 */
bool job_setup_complete(job_setup_t *setup, bool need_slownet);

/* Whether slownet takes text for a link's rate. */
bool job_rate_valid(const char *text);

/*
 * The last lines of a job's output, each after "  | ", fit for a terminal; the caller frees them.
 * NULL: it printed nothing.
 */
char *job_output_tail(const char *path);

/* Removes the files that a job left. */
void job_result_remove(const job_result_t *result);

/* Runs a job to its end. False, with a complaint, where it could not even be started. */
bool job_run(const job_setup_t *setup, const job_t *job, job_result_t *result);

#endif
