#include "lm_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "lm_adam.h"

enum { FORWARD_TAG = 100, BACKWARD_TAG = 200, TAG_COUNT = 100 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* How many micro-batches a rank lets go forward before it must see the first one come back. */
static int warm_up_count(const struct lm_pipeline *pipeline)
{
    if (pipeline->schedule == LM_GPIPE)
        return pipeline->micro_batches;
    return smaller(pipeline->micro_batches, pipeline->ranks - pipeline->rank);
}

bool lm_pipeline_create(struct lm_pipeline *pipeline, const struct lm_options *options,
                        MPI_Comm comm, size_t *bytes)
{
    const struct lm_shape shape = {options->layers, options->width, options->heads,
                                   options->context, options->micro_batch_size};

    *pipeline = (struct lm_pipeline){
        .comm = comm, .micro_batches = options->micro_batches, .schedule = options->schedule};
    MPI_Comm_rank(comm, &pipeline->rank);
    MPI_Comm_size(comm, &pipeline->ranks);

    int rank = pipeline->rank, ranks = pipeline->ranks;
    int share = options->layers / ranks, extra = options->layers % ranks;
    int first_block = rank * share + smaller(rank, extra);
    int first_part = rank == 0 ? 0 : first_block + 1;
    int past_part = first_block + share + (rank < extra) + 1 + (rank == ranks - 1);
    /* One slot more than are in flight: the next activation arrives while its turn is awaited. */
    int slots = smaller(pipeline->micro_batches, warm_up_count(pipeline) + 1);

    pipeline->transfer = malloc(slots * sizeof(*pipeline->transfer));
    if (!pipeline->transfer ||
        !lm_stage_create(&pipeline->stage, &shape, first_part, past_part - first_part, slots,
                         options->seed, bytes)) {
        lm_pipeline_free(pipeline);
        return false;
    }
    for (int i = 0; i < slots; i++)
        pipeline->transfer[i] = (struct lm_transfers){MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                                      MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    return true;
}

void lm_pipeline_free(struct lm_pipeline *pipeline)
{
    lm_stage_free(&pipeline->stage);
    free(pipeline->transfer);
    *pipeline = (struct lm_pipeline){0};
}

static void wait_for(struct lm_pipeline *pipeline, MPI_Request *request)
{
    double start = MPI_Wtime();

    MPI_Wait(request, MPI_STATUS_IGNORE);
    pipeline->blocked += MPI_Wtime() - start;
}

static void post_send(struct lm_pipeline *pipeline, const lm_real *from, int to, int tag, int micro,
                      MPI_Request *request)
{
    const struct lm_stage *stage = &pipeline->stage;
    double start = MPI_Wtime();

    MPI_Isend(from, stage->rows * stage->shape.width, MPI_FLOAT, to, tag + micro % TAG_COUNT,
              pipeline->comm, request);
    pipeline->blocked += MPI_Wtime() - start;
}

static void post_receive(struct lm_pipeline *pipeline, lm_real *to, int from, int tag, int micro,
                         MPI_Request *request)
{
    const struct lm_stage *stage = &pipeline->stage;
    double start = MPI_Wtime();

    MPI_Irecv(to, stage->rows * stage->shape.width, MPI_FLOAT, from, tag + micro % TAG_COUNT,
              pipeline->comm, request);
    pipeline->blocked += MPI_Wtime() - start;
}

/* Where activations come from, or gradients go to; and the other way round. */
static int before(const struct lm_pipeline *pipeline)
{
    return pipeline->rank > 0 ? pipeline->rank - 1 : MPI_PROC_NULL;
}

static int after(const struct lm_pipeline *pipeline)
{
    return pipeline->rank < pipeline->ranks - 1 ? pipeline->rank + 1 : MPI_PROC_NULL;
}

static double forward(struct lm_pipeline *pipeline, int micro, lm_real loss_scale)
{
    struct lm_stage *stage = &pipeline->stage;
    int index = micro % stage->slot_count;
    struct lm_slot *slot = &stage->slot[index];
    struct lm_transfers *transfer = &pipeline->transfer[index];

    wait_for(pipeline, &transfer->x);
    wait_for(pipeline, &transfer->y);
    double loss = lm_stage_forward(stage, index, loss_scale);
    post_send(pipeline, slot->y, after(pipeline), FORWARD_TAG, micro, &transfer->y);
    post_receive(pipeline, slot->dy, after(pipeline), BACKWARD_TAG, micro, &transfer->dy);
    return loss;
}

static void backward(struct lm_pipeline *pipeline, int micro)
{
    struct lm_stage *stage = &pipeline->stage;
    int index = micro % stage->slot_count, next = micro + stage->slot_count;
    struct lm_slot *slot = &stage->slot[index];
    struct lm_transfers *transfer = &pipeline->transfer[index];

    wait_for(pipeline, &transfer->dy);
    wait_for(pipeline, &transfer->dx);
    lm_stage_backward(stage, index);
    post_send(pipeline, slot->dx, before(pipeline), BACKWARD_TAG, micro, &transfer->dx);
    if (next < pipeline->micro_batches)
        post_receive(pipeline, slot->x, before(pipeline), FORWARD_TAG, next, &transfer->x);
}

double lm_pipeline_step(struct lm_pipeline *pipeline, const struct lm_text *text, uint64_t seed,
                        int step)
{
    struct lm_stage *stage = &pipeline->stage;
    int ahead = warm_up_count(pipeline), micro_batches = pipeline->micro_batches;
    double tokens = (double)micro_batches * stage->rows, loss = 0;

    for (int i = 0; i < stage->slot_count; i++)
        post_receive(pipeline, stage->slot[i].x, before(pipeline), FORWARD_TAG, i,
                     &pipeline->transfer[i].x);
    for (int i = 0; i < micro_batches + ahead; i++) {
        if (i >= ahead)
            backward(pipeline, i - ahead);
        if (i < micro_batches) {
            struct lm_slot *slot = &stage->slot[i % stage->slot_count];

            lm_text_sample(text, &stage->shape, seed, step, i, slot);
            loss += forward(pipeline, i, 1 / tokens);
        }
    }
    for (int i = 0; i < stage->slot_count; i++) {
        wait_for(pipeline, &pipeline->transfer[i].y);
        wait_for(pipeline, &pipeline->transfer[i].dx);
    }
    return loss / tokens;
}

double lm_pipeline_norm(struct lm_pipeline *pipeline)
{
    int parts = pipeline->stage.shape.layers + 2;
    double square[parts], sum = 0;

    /* Each part is somebody's alone: adding the others' zeros changes no bit, and everybody then
       adds up the parts in one order. */
    memset(square, 0, sizeof(square));
    lm_adam_norms(&pipeline->stage, square);
    double start = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, square, parts, MPI_DOUBLE, MPI_SUM, pipeline->comm);
    pipeline->blocked += MPI_Wtime() - start;
    for (int i = 0; i < parts; i++)
        sum += square[i];
    return sqrt(sum);
}
