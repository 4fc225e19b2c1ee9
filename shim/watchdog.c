#include "config.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/log.h"
#include "shim/watchdog.h"

#define WATCHDOG_EXIT 75

static pthread_mutex_t watchdog_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchdog_cond;
static pthread_t watchdog_thread;
static bool watchdog_running, watchdog_ending;
static int watchdog_rank = -1; /* waited for; -1: nobody */
static double watchdog_seconds;
static struct timespec watchdog_until;

static void watchdog_bark(void)
{
    log_error("rank %d did not answer within %.3g s. Either the library is not loaded in it "
              "(LD_PRELOAD not passed on to its host, a static binary, or MPI loaded in a way that "
              "LD_PRELOAD does not reach), or it has not called MPI_Init. Load the library on "
              "every rank or on none; TAHMPI_TIMEOUT=SECONDS sets how long to wait. The job ends "
              "here.",
              watchdog_rank, watchdog_seconds);
    log_drain();
    _exit(WATCHDOG_EXIT); /* no MPI call: this is not the thread that MPI is used from */
}

static bool watchdog_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void *watchdog_run(void *unused)
{
    pthread_mutex_lock(&watchdog_mutex);
    while (!watchdog_ending) {
        if (watchdog_rank < 0) {
            pthread_cond_wait(&watchdog_cond, &watchdog_mutex);
            continue;
        }
        int rc = pthread_cond_timedwait(&watchdog_cond, &watchdog_mutex, &watchdog_until);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (rc == ETIMEDOUT && watchdog_rank >= 0 && !watchdog_before(&now, &watchdog_until))
            watchdog_bark();
    }
    pthread_mutex_unlock(&watchdog_mutex);
    return NULL;
}

void watchdog_start(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog_cond, &attributes);
    pthread_condattr_destroy(&attributes);
    watchdog_ending = false;
    /* The program's signals are not this thread's to handle. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&watchdog_thread, NULL, watchdog_run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    watchdog_running = rc == 0;
    if (rc != 0)
        log_warn("no thread to watch the start by: %s", strerror(rc));
}

static void watchdog_set(int rank, double seconds)
{
    double whole = floor(seconds);
    pthread_mutex_lock(&watchdog_mutex);
    watchdog_rank = rank;
    watchdog_seconds = seconds;
    clock_gettime(CLOCK_MONOTONIC, &watchdog_until);
    watchdog_until.tv_sec += (time_t)whole;
    watchdog_until.tv_nsec += (long)((seconds - whole) * 1e9);
    if (watchdog_until.tv_nsec >= 1000000000) {
        watchdog_until.tv_nsec -= 1000000000;
        watchdog_until.tv_sec++;
    }
    pthread_cond_signal(&watchdog_cond);
    pthread_mutex_unlock(&watchdog_mutex);
}

void watchdog_watch(int rank, double seconds)
{
    watchdog_set(rank, seconds);
}

void watchdog_rest(void)
{
    watchdog_set(-1, 0);
}

void watchdog_stop(void)
{
    pthread_mutex_lock(&watchdog_mutex);
    watchdog_ending = true;
    pthread_cond_signal(&watchdog_cond);
    pthread_mutex_unlock(&watchdog_mutex);
    if (watchdog_running)
        pthread_join(watchdog_thread, NULL);
    pthread_cond_destroy(&watchdog_cond);
}
