/*
 * A stage: the consecutive parts of the model that one rank holds, with their parameters, and the
 * forward and backward pass of one micro-batch through them. Parts are numbered over the whole
 * model: 0 is the embedding, 1 .. layers the transformer blocks, layers + 1 the head. Knows no MPI.
 *
 * A slot keeps what one micro-batch needs between its forward and its backward pass. A stage is
 * used by one thread at a time.
 */
#ifndef LM_STAGE_H
#define LM_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lm_layers.h"

struct lm_shape {
    int layers; /* transformer blocks in the whole model */
    int width;  /* channels; a multiple of heads */
    int heads;
    int context;   /* tokens a sequence */
    int sequences; /* sequences a micro-batch */
};

/* One parameter tensor of the stage; `offset` and `count` are elements into param and gradient. */
struct lm_tensor {
    const char *name;
    int part;
    size_t offset, count;
};

/* What a block keeps of a micro-batch for its backward pass. */
struct lm_saved {
    const lm_real *x;
    lm_real *norm1, *mean1, *rstd1, *qkv, *prob, *mixed, *middle;
    lm_real *norm2, *mean2, *rstd2, *active, *slope, *y;
};

struct lm_slot {
    lm_real *x;     /* [rows][width] arrives from the stage before; the embedding's output */
    lm_real *y;     /* [rows][width] goes to the next stage; in the last, the last block's output */
    lm_real *dy;    /* [rows][width] gradient, arrives from the next stage */
    lm_real *dx;    /* [rows][width] gradient, goes to the stage before */
    uint8_t *input; /* [rows] the tokens, for the embedding */
    uint8_t *target;                      /* [rows] the tokens to predict, for the head */
    struct lm_saved *saved;               /* one a block */
    lm_real *norm, *mean, *rstd, *logits; /* of the head */
};

struct lm_stage {
    struct lm_shape shape;
    int rows; /* tokens a micro-batch: sequences * context */
    int first_part, part_count;
    bool has_embedding, has_head;
    int block_count; /* blocks among the parts */
    size_t param_count;
    lm_real *param, *gradient;
    struct lm_tensor *tensor;
    int tensor_count;
    struct lm_slot *slot;
    int slot_count;
    lm_real *grad, *wide, *square; /* scratch of the backward pass */
    void *memory;                  /* all of the above live in it */
};

/*
 * Makes the stage that holds parts first_part .. first_part + part_count - 1, with parameters drawn
 * from `seed` alone (not from the division into stages), gradients zero, and slot_count slots.
 * Fails, with false and *stage zero, only when memory is short; *bytes is what it takes or would
 * have taken. The parts must include at least one block. Release with lm_stage_free.
 */
bool lm_stage_create(struct lm_stage *stage, const struct lm_shape *shape, int first_part,
                     int part_count, int slot_count, uint64_t seed, size_t *bytes);

void lm_stage_free(struct lm_stage *stage);

/* One micro-batch forward: reads slot x (or input, with the embedding), writes slot y. With the
   head, returns the sum over the rows of the cross-entropy in nats, and keeps the gradient of
   loss_scale times it; otherwise returns 0. */
double lm_stage_forward(struct lm_stage *stage, int slot, lm_real loss_scale);

/* The same micro-batch backward: reads slot dy (unless the stage has the head), adds to gradient,
   writes slot dx (unless the stage has the embedding). Once after each forward. */
void lm_stage_backward(struct lm_stage *stage, int slot);

#endif
