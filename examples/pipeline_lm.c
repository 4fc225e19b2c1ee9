/*
 * Trains a decoder-only transformer language model by pipeline parallelism over all ranks. An
 * ordinary MPI program: see --help for its options, lm_pipeline.h for its messages.
 *
 * The same options and seed give the same losses, bit for bit, on the same kind of machine: run
 * after run, for any number of ranks and for both schedules.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lm_adam.h"
#include "lm_pipeline.h"
#include "lm_report.h"

/* Exit codes: the run failed; the command line is wrong. */
enum { FAILED = 1, MISUSED = 2 };

struct trainer {
    struct lm_options options;
    struct lm_text text;
    struct lm_pipeline pipeline;
    struct lm_adam adam;
    struct lm_report report; /* on rank 0 */
};

static void say(const char *message)
{
    fprintf(stderr, "pipeline_lm: %s\n", message);
}

/* Collective: false if any rank comes with a message; the lowest such rank's is printed, once, by
   rank 0. */
static bool all_well(int rank, const char *message)
{
    enum { LINE = 512 };
    char line[LINE] = "";
    int ranks, mine, first;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    mine = message[0] ? rank : ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks)
        return true;
    if (first == rank)
        snprintf(line, sizeof(line), "%s", message);
    MPI_Bcast(line, LINE, MPI_CHAR, first, MPI_COMM_WORLD);
    if (rank == 0)
        say(line);
    return false;
}

/* Collective: whether every rank has read the same text. */
static bool same_text(const struct lm_text *text)
{
    uint64_t mine[2] = {text->digest, ~text->digest}, least[2];

    MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == ~least[1];
}

static bool set_up(struct trainer *trainer, int rank, int ranks)
{
    const struct lm_options *options = &trainer->options;
    char message[512] = "";
    size_t bytes = 0;

    if (options->layers < ranks) {
        if (rank == 0)
            fprintf(stderr, "pipeline_lm: %d ranks for --layers %d: every rank needs a layer\n",
                    ranks, options->layers);
        return false;
    }
    lm_text_read(&trainer->text, options->text, options->context, message, sizeof(message));
    if (!all_well(rank, message))
        return false;
    if (!same_text(&trainer->text)) {
        if (rank == 0)
            say("the ranks have read different texts: --text must name the same on every host");
        return false;
    }
    if (rank == 0)
        lm_report_start(&trainer->report, options, ranks, message, sizeof(message));
    if (!all_well(rank, message))
        return false;
    if (!lm_pipeline_create(&trainer->pipeline, options, MPI_COMM_WORLD, &bytes) ||
        !lm_adam_create(&trainer->adam, &trainer->pipeline.stage))
        snprintf(message, sizeof(message), "rank %d: not enough memory for a stage of %zu bytes",
                 rank, bytes);
    return all_well(rank, message);
}

/* One optimiser step; returns this rank's part of the mean loss. */
static double train_step(struct trainer *trainer, int step)
{
    const struct lm_options *options = &trainer->options;
    struct lm_pipeline *pipeline = &trainer->pipeline;
    double loss = lm_pipeline_step(pipeline, &trainer->text, options->seed, step);
    double norm = lm_pipeline_norm(pipeline);
    double rate = lm_adam_rate(options->rate, step, options->warm_up, options->steps);

    lm_adam_step(&trainer->adam, &pipeline->stage, step, rate,
                 norm > options->clip ? options->clip / norm : 1);
    return loss;
}

/* All steps. False, after a message, if the loss stops being a number. */
static bool train(struct trainer *trainer, int rank, int ranks)
{
    struct lm_pipeline *pipeline = &trainer->pipeline;
    struct {
        double loss, blocked;
    } mine, all[ranks];
    double last_blocked = pipeline->blocked, last = MPI_Wtime();

    for (int step = 0; step < trainer->options.steps; step++) {
        double loss = 0, comm_seconds = INFINITY;

        mine.loss = train_step(trainer, step);
        mine.blocked = pipeline->blocked - last_blocked;
        last_blocked = pipeline->blocked;
        double start = MPI_Wtime();
        MPI_Allgather(&mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, MPI_COMM_WORLD);
        double now = MPI_Wtime();
        pipeline->blocked += now - start;
        for (int i = 0; i < ranks; i++) {
            loss += all[i].loss;
            comm_seconds = fmin(comm_seconds, all[i].blocked);
        }
        if (rank == 0)
            lm_report_step(&trainer->report, loss, now - last, comm_seconds);
        last = now;
        if (!isfinite(loss)) {
            if (rank == 0)
                fprintf(stderr, "pipeline_lm: the loss of step %d is %g: try a smaller --lr\n",
                        step + 1, loss);
            return false;
        }
    }
    return true;
}

static int run(struct trainer *trainer, int rank, int ranks)
{
    char message[512] = "";
    bool good = set_up(trainer, rank, ranks) && train(trainer, rank, ranks);

    if (rank == 0 && trainer->report.options)
        lm_report_end(&trainer->report, message, sizeof(message));
    good = all_well(rank, message) && good;
    lm_adam_free(&trainer->adam);
    lm_pipeline_free(&trainer->pipeline);
    lm_text_free(&trainer->text);
    return good ? 0 : FAILED;
}

int main(int argc, char **argv)
{
    struct trainer trainer = {0};
    char message[512];
    int rank, ranks, result = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* One rank, one core: more threads would only get into each other's way. */
    openblas_set_num_threads(1);

    /* Every rank reads the same command line and comes to the same result. */
    if (!lm_options_parse(&trainer.options, argc, argv, message, sizeof(message))) {
        if (rank == 0)
            say(message);
        result = MISUSED;
    } else if (trainer.options.help) {
        if (rank == 0)
            lm_options_help(stdout);
    } else {
        result = run(&trainer, rank, ranks);
    }
    MPI_Finalize();
    return result;
}
