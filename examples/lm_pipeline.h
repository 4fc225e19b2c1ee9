/*
 * Pipeline parallelism: the order in which a rank works off the micro-batches of a step, and the
 * messages between neighbouring ranks.
 *
 * Activations go to rank + 1 with tag 100 + micro-batch modulo 100, gradients to rank - 1 with tag
 * 200 + micro-batch modulo 100, as MPI_FLOAT, [sequences * context][width]. Receives are posted as
 * soon as their buffer is free and sends are waited for only when theirs is needed again, so that
 * messages travel while the rank computes.
 *
 * MPI errors end the job (MPI_ERRORS_ARE_FATAL). Used by one thread.
 */
#ifndef LM_PIPELINE_H
#define LM_PIPELINE_H

#include <mpi.h>

#include "lm_data.h"
#include "lm_options.h"

/* The requests on a slot's four buffers. */
struct lm_transfers {
    MPI_Request x, y, dy, dx;
};

struct lm_pipeline {
    MPI_Comm comm;
    int rank, ranks;
    int micro_batches;
    enum lm_schedule schedule;
    struct lm_stage stage;
    struct lm_transfers *transfer; /* one a slot */
    double blocked;                /* seconds spent inside MPI calls since the start */
};

/* Sets up this rank's share of the model: blocks are dealt as evenly as possible, earlier ranks
   take one more. Purely local. False when memory is short, *bytes says how much was asked for; then
   nothing is held. Release with lm_pipeline_free. */
bool lm_pipeline_create(struct lm_pipeline *pipeline, const struct lm_options *options,
                        MPI_Comm comm, size_t *bytes);

void lm_pipeline_free(struct lm_pipeline *pipeline);

/* All micro-batches of a step, forward and backward; gradients of the mean loss over all tokens are
   added up in the order of the micro-batches under either schedule, so both give the same bits.
   Collective over the communicator's neighbours. Returns this rank's part of that mean loss, in
   nats a token: zero except on the last rank. */
double lm_pipeline_step(struct lm_pipeline *pipeline, const struct lm_text *text, uint64_t seed,
                        int step);

/* Norm of the whole model's gradient, the same bits for any number of ranks. Collective. */
double lm_pipeline_norm(struct lm_pipeline *pipeline);

#endif
