/* Programs of many threads. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/lib/mt.h"

#define THREADS_MOST 16

typedef struct worker {
    mt_thread_t thread;
    void (*work)(mt_thread_t *thread);
    pthread_t id;
    char *notes;
} worker_t;

static void *run(void *argument)
{
    worker_t *worker = argument;
    mt_capture();
    worker->work(&worker->thread);
    worker->notes = mt_release();
    return NULL;
}

int mt_threads_main(int argc, char **argv, const char *name, int threads, size_t bytes,
                    void (*work)(mt_thread_t *thread))
{
    worker_t workers[THREADS_MOST];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mt_begin(name);
    mt_say("level %s", level == MPI_THREAD_MULTIPLE ? "multiple" : "lower");
    for (int i = 0; i < threads; i++)
        workers[i] = (worker_t){.thread = {i, mt_alloc(bytes), mt_alloc(bytes)}, .work = work};
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i].id, NULL, run, &workers[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].id, NULL);
        mt_write(workers[i].notes);
        free(workers[i].notes);
        mt_free(workers[i].thread.out);
        mt_free(workers[i].thread.in);
    }
    mt_end();
    MPI_Finalize();
    return 0;
}
