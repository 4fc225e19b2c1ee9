/*
 * Where the parameters of each part lie in a stage's flat arrays. The same view serves the
 * parameters and their gradients: the second argument is stage->param or stage->gradient.
 */
#ifndef LM_PARAMETERS_H
#define LM_PARAMETERS_H

#include "lm_stage.h"

struct lm_embedding {
    lm_real *token;    /* [LM_VOCABULARY][width] */
    lm_real *position; /* [context][width] */
};

struct lm_block {
    lm_real *norm1_gain, *norm1_bias; /* [width] */
    lm_real *qkv_weight, *qkv_bias;   /* [width][3 * width], [3 * width] */
    lm_real *out_weight, *out_bias;   /* [width][width], [width] */
    lm_real *norm2_gain, *norm2_bias; /* [width] */
    lm_real *up_weight, *up_bias;     /* [width][4 * width], [4 * width] */
    lm_real *down_weight, *down_bias; /* [4 * width][width], [width] */
};

struct lm_head {
    lm_real *norm_gain, *norm_bias; /* [width] */
    lm_real *weight, *bias;         /* [width][LM_VOCABULARY], [LM_VOCABULARY] */
};

/* The stage must hold the part; `block` counts from 0 within the stage. */
struct lm_embedding lm_embedding_at(const struct lm_stage *stage, lm_real *base);
struct lm_block lm_block_at(const struct lm_stage *stage, lm_real *base, int block);
struct lm_head lm_head_at(const struct lm_stage *stage, lm_real *base);

/* The most tensors that `part_count` parts can have. */
int lm_tensors_bound(int part_count);

/* Fills tensor[lm_tensors_bound(part_count)] with the tensors of the stage's parts, in order, sets
 *tensor_count, and returns the number of parameters. */
size_t lm_tensors_list(const struct lm_stage *stage, struct lm_tensor *tensor, int *tensor_count);

/* Gives every parameter its start value, from the seed and its place in the whole model: normal
   with deviation 0.1 in the embedding, 1/sqrt(inputs) in products, and that over sqrt(2 * layers)
   in products that end in a residual connection (as GPT-2 does); gains 1, biases 0. */
void lm_parameters_start(const struct lm_stage *stage, uint64_t seed);

#endif
