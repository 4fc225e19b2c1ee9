/*
 * The pool: threads that sleep until there is a job, and take its parts as the caller does. No
 * thread waits for one that is in the middle of a part (it may not be running) before it has gone
 * a whole ring of parts ahead.
 */
#include "codec/pool.h"

#include "codec/environment.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPINS 2000     /* looks at memory before a thread sleeps: some microseconds */
#define SLOTS_THREAD 8 /* parts that may be unfinished, for each thread */

typedef struct job {
    pool_work_t work, finish;
    void *with;
    uint64_t parts;
    _Atomic uint64_t next;     /* the part that is begun next */
    _Atomic uint64_t finished; /* parts finished */
    atomic_bool finishing;     /* some thread is at it */
} job_t;

/* Place of a part between its beginning and its finish. */
typedef struct slot {
    pool_part_t part;
    _Atomic uint64_t done; /* number of the part whose work is done, plus 1 */
} slot_t;

typedef struct worker {
    tah_pool_t *pool;
    pthread_t thread;
    unsigned number;
} worker_t;

struct tah_pool {
    pid_t process; /* in which the threads are: a forked child has none of them */
    unsigned wanted; /* threads besides the caller */
    void (*enter)(void *context, unsigned thread);
    void *context;
    atomic_bool busy; /* working for some caller, who alone uses the next four */
    bool started;
    unsigned workers; /* threads besides the caller that are running */
    unsigned slots;
    uint8_t *scratch; /* of all slots; what no part writes to is never backed by memory */
    slot_t *slot;

    pthread_mutex_t mutex;   /* of what follows; atomics are also read without it */
    pthread_cond_t wake;     /* of workers: there is a job, or the end */
    pthread_cond_t progress; /* of who waits for threads that are inside, or for a slot */
    bool ended;
    job_t *job;               /* the one that threads may join */
    _Atomic uint64_t jobs;    /* number of jobs so far */
    _Atomic unsigned inside;  /* threads that have joined */
    _Atomic unsigned waiting; /* for a slot */
    worker_t worker[];
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* --- parts ----------------------------------------------------------------------------------- */

static void job_alone(job_t *job)
{
    pool_part_t part = {0};
    for (; part.number < job->parts; part.number++) {
        job->work(job->with, &part);
        if (job->finish)
            job->finish(job->with, &part);
    }
}

/* A part's slot once it is free. */
static slot_t *slot_take(tah_pool_t *pool, job_t *job, uint64_t number)
{
    for (int i = 0; i < SPINS && number >= atomic_load(&job->finished) + pool->slots; i++)
        pause_briefly();
    if (number >= atomic_load(&job->finished) + pool->slots) {
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_add(&pool->waiting, 1);
        while (number >= atomic_load(&job->finished) + pool->slots)
            pthread_cond_wait(&pool->progress, &pool->mutex);
        atomic_fetch_sub(&pool->waiting, 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    const unsigned index = (unsigned)(number % pool->slots);
    slot_t *slot = &pool->slot[index];
    slot->part =
        (pool_part_t){.number = number, .scratch = pool->scratch + (size_t)index * POOL_SCRATCH};
    return slot;
}

static bool slot_done(tah_pool_t *pool, const job_t *job, uint64_t number)
{
    return number < job->parts && atomic_load(&pool->slot[number % pool->slots].done) == number + 1;
}

/* Finishes all parts whose turn it is, unless another thread is at it, which then sees them. */
static void job_finish(tah_pool_t *pool, job_t *job)
{
    uint64_t number = atomic_load(&job->finished);
    while (slot_done(pool, job, number) && !atomic_exchange(&job->finishing, true)) {
        for (number = atomic_load(&job->finished); slot_done(pool, job, number); number++) {
            job->finish(job->with, &pool->slot[number % pool->slots].part);
            atomic_store(&job->finished, number + 1);
            if (atomic_load(&pool->waiting)) {
                pthread_mutex_lock(&pool->mutex);
                pthread_cond_broadcast(&pool->progress);
                pthread_mutex_unlock(&pool->mutex);
            }
        }
        atomic_store(&job->finishing, false);
    }
}

/* Does parts of a job until none is left to begin. */
static void job_help(tah_pool_t *pool, job_t *job)
{
    uint64_t number;
    while ((number = atomic_fetch_add(&job->next, 1)) < job->parts) {
        if (!job->finish) {
            pool_part_t part = {.number = number};
            job->work(job->with, &part);
            continue;
        }
        slot_t *slot = slot_take(pool, job, number);
        job->work(job->with, &slot->part);
        atomic_store(&slot->done, number + 1);
        job_finish(pool, job);
    }
}

/* --- threads --------------------------------------------------------------------------------- */

/* Waits for a job that is not number last, and joins it; NULL: the pool ends. */
static job_t *worker_wait(tah_pool_t *pool, uint64_t *last)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->jobs) == *last; i++)
        pause_briefly();
    pthread_mutex_lock(&pool->mutex);
    while (!pool->ended && (atomic_load(&pool->jobs) == *last || !pool->job))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    job_t *job = pool->ended ? NULL : pool->job;
    *last = atomic_load(&pool->jobs);
    if (job)
        atomic_fetch_add(&pool->inside, 1);
    pthread_mutex_unlock(&pool->mutex);
    return job;
}

static void *worker_main(void *opaque)
{
    const worker_t *worker = opaque;
    tah_pool_t *pool = worker->pool;
    uint64_t last = 0;
    environment_t own;
    job_t *job;
    environment_enter(&own);
    if (pool->enter)
        pool->enter(pool->context, worker->number);
    while ((job = worker_wait(pool, &last))) {
        job_help(pool, job);
        pthread_mutex_lock(&pool->mutex);
        if (atomic_fetch_sub(&pool->inside, 1) == 1)
            pthread_cond_broadcast(&pool->progress);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

/* Starts as many threads as there can be; signals stay with the program's own. */
static void pool_start(tah_pool_t *pool)
{
    sigset_t all, before;
    unsigned running = 0;
    pool->started = true;
    pool->slots = SLOTS_THREAD * (pool->wanted + 1);
    pool->scratch = malloc((size_t)pool->slots * POOL_SCRATCH);
    pool->slot = calloc(pool->slots, sizeof *pool->slot);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->scratch && pool->slot && running < pool->wanted) {
        worker_t *worker = &pool->worker[running];
        *worker = (worker_t){.pool = pool, .number = running + 1};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            break;
        running++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->workers = running;
}

/* Whether the pool now works for the caller alone. */
static bool pool_claim(tah_pool_t *pool)
{
    if (pool->process != getpid() || atomic_exchange(&pool->busy, true))
        return false;
    if (!pool->started)
        pool_start(pool);
    if (pool->workers > 0)
        return true;
    atomic_store(&pool->busy, false);
    return false;
}

static void job_open(tah_pool_t *pool, job_t *job)
{
    for (unsigned i = 0; i < pool->slots; i++)
        atomic_store_explicit(&pool->slot[i].done, 0, memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    pool->job = job;
    atomic_fetch_add(&pool->jobs, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Lets no more threads join the job, and waits until those that have are through with it. */
static void job_close(tah_pool_t *pool)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->inside) != 0; i++)
        pause_briefly();
    pthread_mutex_lock(&pool->mutex);
    pool->job = NULL;
    while (atomic_load(&pool->inside) != 0)
        pthread_cond_wait(&pool->progress, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

bool pool_suits(const tah_pool_t *pool, uint64_t parts)
{
    return pool && pool->wanted > 0 && parts >= POOL_LEAST_PARTS;
}

void pool_run(tah_pool_t *pool, uint64_t parts, pool_work_t work, pool_work_t finish, void *with)
{
    job_t job = {.work = work, .finish = finish, .with = with, .parts = parts};
    if (!pool_suits(pool, parts) || !pool_claim(pool)) {
        job_alone(&job);
        return;
    }
    job_open(pool, &job);
    job_help(pool, &job);
    job_close(pool);
    atomic_store(&pool->busy, false);
}

tah_pool_t *tah_pool_create(unsigned threads, void (*enter)(void *context, unsigned thread),
                            void *context)
{
    const unsigned wanted = threads > 1 ? threads - 1 : 0;
    tah_pool_t *pool = calloc(1, sizeof *pool + wanted * sizeof *pool->worker);
    if (!pool)
        return NULL;
    pool->process = getpid();
    pool->enter = enter;
    pool->context = context;
    pool->wanted = wanted;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->progress, NULL);
    return pool;
}

void tah_pool_destroy(tah_pool_t *pool)
{
    if (!pool)
        return;
    if (pool->started && pool->process == getpid()) {
        pthread_mutex_lock(&pool->mutex);
        pool->ended = true;
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
        for (unsigned i = 0; i < pool->workers; i++)
            pthread_join(pool->worker[i].thread, NULL);
    }
    free(pool->slot);
    free(pool->scratch);
    free(pool);
}
