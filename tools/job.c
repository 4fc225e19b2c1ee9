#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/clock.h"
#include "tools/job.h"
#include "tools/tahmpi.h"

#define JOB_WORDS_MOST 256
#define JOB_WATCH_SECONDS 0.5

const char *job_find(const char *installed, const char *built)
{
    char self[PATH_MAX], *path;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    /* Run from a build tree, this is tools/tahmpi or, by way of libtool, tools/.libs/tahmpi. */
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(self, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
        if (asprintf(&path, "%s/%s", self, built) < 0)
            break;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return access(installed, R_OK) == 0 ? installed : NULL;
}

bool job_setup_complete(job_setup_t *setup, bool need_slownet)
{
    if (setup->mpiexec == NULL || setup->mpiexec[strspn(setup->mpiexec, " ")] == '\0')
        setup->mpiexec = getenv("MPIEXEC");
    if (setup->mpiexec == NULL || setup->mpiexec[strspn(setup->mpiexec, " ")] == '\0')
        setup->mpiexec = TAH_MPIEXEC;
    if (setup->library == NULL)
        setup->library = job_find(TAH_LIBDIR "/libtahmpi.so", ".libs/libtahmpi.so");
    if (setup->library == NULL || access(setup->library, R_OK) != 0) {
        fprintf(stderr, "tahmpi: libtahmpi.so is not found%s%s: --library says where it is\n",
                setup->library != NULL ? " at " : "",
                setup->library != NULL ? setup->library : "");
        return false;
    }
    if (!need_slownet)
        return true;
    if (setup->slownet == NULL)
        setup->slownet = job_find(TAH_BINDIR "/slownet", "tools/slownet");
    if (setup->slownet == NULL) {
        fprintf(stderr, "tahmpi: slownet is not found, which makes hosts with slow links: "
                        "run without --link to use this machine's own network\n");
        return false;
    }
    return true;
}

bool job_rate_valid(const char *text)
{
    static const struct {
        const char *name;
        double bits;
    } units[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
    size_t length = strspn(text, "0123456789"), fraction;
    if (length == 0)
        return strcmp(text, "none") == 0;
    if (text[length] == '.') {
        fraction = strspn(text + length + 1, "0123456789");
        if (fraction == 0)
            return false;
        length += 1 + fraction;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double bits = strtod(text, NULL) * units[i].bits;
        if (strcmp(text + length, units[i].name) == 0)
            return bits >= 8000 && bits <= 1e12;
    }
    return false;
}

/* A command line under construction; words beyond the most are refused by job_words_ok. */
typedef struct words {
    char *list[JOB_WORDS_MOST + 1];
    int count;
} words_t;

static void words_add(words_t *words, const char *word)
{
    if (words->count <= JOB_WORDS_MOST)
        words->list[words->count] = strdup(word);
    words->count++;
}

static void words_add_variable(words_t *words, const char *option, const char *name,
                               const char *value)
{
    char *text;
    if (strcmp(option, "-genv") == 0) {
        words_add(words, option);
        words_add(words, name);
        words_add(words, value);
        return;
    }
    if (asprintf(&text, "%s=%s", name, value) < 0)
        return;
    words_add(words, option);
    words_add(words, text);
    free(text);
}

static void words_free(words_t *words)
{
    for (int i = 0; i < words->count && i <= JOB_WORDS_MOST; i++)
        free(words->list[i]);
}

static void words_split(words_t *words, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    for (char *word; copy != NULL && (word = strsep(&rest, " ")) != NULL;)
        if (*word != '\0')
            words_add(words, word);
    free(copy);
}

/*
 * What else is preloaded where the command is called: plain runs and those under the library get it
 * alike. The library itself is left out. The caller frees the text, which is "" if there is none.
 */
static char *job_preloads(const char *library)
{
    const char *variable = getenv("LD_PRELOAD");
    char *copy = strdup(variable != NULL ? variable : ""), *rest = copy;
    char *kept = calloc(1, copy != NULL ? strlen(copy) + 2 : 1);
    for (char *entry; kept != NULL && (entry = strsep(&rest, ": ")) != NULL;) {
        const char *slash = strrchr(entry, '/'), *name = slash != NULL ? slash + 1 : entry;
        if (*name == '\0' || strncmp(name, "libtahmpi", 9) == 0 || strcmp(entry, library) == 0)
            continue;
        if (*kept != '\0')
            strcat(kept, ":");
        strcat(kept, entry);
    }
    free(copy);
    return kept;
}

static void words_add_preload(words_t *words, const char *option, const char *library)
{
    char *others = job_preloads(library), *all;
    const char *between = others != NULL && *others != '\0' ? ":" : "";
    if (asprintf(&all, "%s%s%s", library, between, others != NULL ? others : "") >= 0) {
        words_add_variable(words, option, "LD_PRELOAD", all);
        free(all);
    }
    free(others);
}

/* The command line of a job; report: where the library is to put its report. */
static void job_words(const job_setup_t *setup, const job_t *job, const char *report,
                      words_t *words)
{
    char ranks[16];
    const char *option = job->link != NULL || strcmp(TAH_MPI_NAME, "mpich") != 0 ? "-x" : "-genv";
    snprintf(ranks, sizeof ranks, "%d", setup->ranks);
    if (job->link != NULL) {
        words_add(words, setup->slownet);
        words_add(words, "--hosts");
        words_add(words, ranks);
        words_add(words, "--rate");
        words_add(words, job->link);
    } else {
        words_split(words, setup->mpiexec);
        words_add(words, "-n");
        words_add(words, ranks);
    }
    if (job->policy != NULL) {
        words_add_preload(words, option, setup->library);
        words_add_variable(words, option, "TAHMPI_POLICY", job->policy);
        words_add_variable(words, option, "TAHMPI_REPORT", report);
    }
    if (job->link != NULL)
        words_add(words, "--");
    for (char **word = setup->program; *word != NULL; word++)
        words_add(words, *word);
}

/* What is set where the command is called must not reach the runs, least of all the plain ones. */
static void job_environment(const job_setup_t *setup)
{
    static const char *const ours[] = {"TAHMPI_POLICY", "TAHMPI_REPORT", "TAHMPI_DISABLE",
                                       "TAHMPI_OBSERVE", "TAHMPI_DUMP", "TAHMPI_TRACE"};
    char *preloads = job_preloads(setup->library);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        unsetenv(ours[i]);
    if (preloads != NULL && *preloads != '\0')
        setenv("LD_PRELOAD", preloads, 1);
    else
        unsetenv("LD_PRELOAD");
    free(preloads);
    setenv("MPIEXEC", setup->mpiexec, 1); /* slownet's launcher */
}

static void __attribute__((noreturn)) job_child(const job_setup_t *setup, char **words, int output,
                                                pid_t parent)
{
    setpgid(0, 0);
    /* When we are killed, the launcher is asked to end; unless that was before this call. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    job_environment(setup);
    job_signals_restore();
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(words[0], words);
    fprintf(stderr, "tahmpi: %s cannot be started: %s\n", words[0], strerror(errno));
    _exit(127);
}

/*
 * Waits for the job; ends it when its time is up or a signal has come. It is asked once, however
 * often we are: at a second signal mpiexec would go without clearing up behind it.
 */
static void job_wait(const job_t *job, pid_t child, double start, unsigned timeout,
                     job_result_t *result)
{
    struct rusage usage;
    int status;
    double asked = 0, watched = start;
    for (;;) {
        pid_t got = wait4(child, &status, WNOHANG, &usage);
        if (got == child)
            break;
        double now = clock_seconds();
        bool late = timeout > 0 && now - start > timeout;
        if ((late || job_interrupted()) && asked == 0) {
            asked = now;
            result->interrupted = job_interrupted();
            result->timed_out = !result->interrupted;
            kill(-child, SIGTERM);
        }
        if (asked > 0 && now - asked > 10)
            kill(-child, SIGKILL);
        if (job->watch != NULL && now - watched > JOB_WATCH_SECONDS) {
            watched = now;
            job->watch(result->output);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    result->seconds = clock_seconds() - start;
    result->peak_kib = usage.ru_maxrss;
    result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool job_run(const job_setup_t *setup, const job_t *job, job_result_t *result)
{
    static int number;
    words_t words = {.count = 0};
    memset(result, 0, sizeof *result);
    number++;
    snprintf(result->output, sizeof result->output, "%s/output.%d", setup->folder, number);
    snprintf(result->report, sizeof result->report, "%s/report.%d.json", setup->folder, number);
    int output = open(result->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0) {
        fprintf(stderr, "tahmpi: %s: %s\n", result->output, strerror(errno));
        return false;
    }
    job_words(setup, job, result->report, &words);
    if (words.count > JOB_WORDS_MOST) {
        fprintf(stderr, "tahmpi: the command line has more than %d words\n", JOB_WORDS_MOST);
        close(output);
        words_free(&words);
        return false;
    }
    words.list[words.count] = NULL;
    double start = clock_seconds();
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        job_child(setup, words.list, output, parent);
    close(output);
    if (child > 0) {
        setpgid(child, child);
        job_wait(job, child, start, setup->timeout, result);
    } else {
        fprintf(stderr, "tahmpi: no new process: %s\n", strerror(errno));
    }
    words_free(&words);
    return child > 0;
}

void job_result_remove(const job_result_t *result)
{
    unlink(result->output);
    unlink(result->report);
}
