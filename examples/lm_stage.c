#include "lm_stage.h"

#include "lm_parameters.h"

static void block_forward(const struct lm_stage *stage, int block, const struct lm_saved *keep)
{
    const struct lm_shape *shape = &stage->shape;
    const struct lm_block p = lm_block_at(stage, stage->param, block);
    int rows = stage->rows, width = shape->width;
    lm_real *wide = stage->wide;

    lm_norm_forward(keep->norm1, keep->mean1, keep->rstd1, keep->x, p.norm1_gain, p.norm1_bias,
                    rows, width);
    lm_linear_forward(keep->qkv, keep->norm1, p.qkv_weight, p.qkv_bias, NULL, rows, width,
                      3 * width);
    lm_attention_forward(keep->mixed, keep->prob, keep->qkv, shape->sequences, shape->context,
                         shape->heads, width);
    lm_linear_forward(keep->middle, keep->mixed, p.out_weight, p.out_bias, keep->x, rows, width,
                      width);
    lm_norm_forward(keep->norm2, keep->mean2, keep->rstd2, keep->middle, p.norm2_gain, p.norm2_bias,
                    rows, width);
    lm_linear_forward(wide, keep->norm2, p.up_weight, p.up_bias, NULL, rows, width, 4 * width);
    lm_gelu_forward(keep->active, keep->slope, wide, rows * 4 * width);
    lm_linear_forward(keep->y, keep->active, p.down_weight, p.down_bias, keep->middle, rows,
                      4 * width, width);
}

/* dy -> dx; dx may be dy. */
static void block_backward(const struct lm_stage *stage, int block, const struct lm_saved *keep,
                           lm_real *dx, const lm_real *dy)
{
    const struct lm_shape *shape = &stage->shape;
    const struct lm_block p = lm_block_at(stage, stage->param, block);
    const struct lm_block d = lm_block_at(stage, stage->gradient, block);
    int rows = stage->rows, width = shape->width;
    lm_real *narrow = stage->grad, *wide = stage->wide;

    lm_linear_backward(wide, d.down_weight, d.down_bias, dy, keep->active, p.down_weight, rows,
                       4 * width, width);
#pragma omp simd
    for (int i = 0; i < rows * 4 * width; i++)
        wide[i] *= keep->slope[i];
    lm_linear_backward(narrow, d.up_weight, d.up_bias, wide, keep->norm2, p.up_weight, rows, width,
                       4 * width);
    lm_norm_backward(dx, d.norm2_gain, d.norm2_bias, dy, narrow, keep->middle, keep->mean2,
                     keep->rstd2, p.norm2_gain, rows, width);

    lm_linear_backward(narrow, d.out_weight, d.out_bias, dx, keep->mixed, p.out_weight, rows, width,
                       width);
    lm_attention_backward(wide, stage->square, narrow, keep->prob, keep->qkv, shape->sequences,
                          shape->context, shape->heads, width);
    lm_linear_backward(narrow, d.qkv_weight, d.qkv_bias, wide, keep->norm1, p.qkv_weight, rows,
                       width, 3 * width);
    lm_norm_backward(dx, d.norm1_gain, d.norm1_bias, dx, narrow, keep->x, keep->mean1, keep->rstd1,
                     p.norm1_gain, rows, width);
}

static void embedding_forward(const struct lm_stage *stage, const struct lm_slot *slot)
{
    const struct lm_embedding p = lm_embedding_at(stage, stage->param);
    int width = stage->shape.width;

    for (int row = 0; row < stage->rows; row++) {
        const lm_real *token = p.token + (size_t)slot->input[row] * width;
        const lm_real *position = p.position + (size_t)(row % stage->shape.context) * width;

#pragma omp simd
        for (int col = 0; col < width; col++)
            slot->x[(size_t)row * width + col] = token[col] + position[col];
    }
}

static void embedding_backward(const struct lm_stage *stage, const struct lm_slot *slot)
{
    const struct lm_embedding d = lm_embedding_at(stage, stage->gradient);
    int width = stage->shape.width;

    for (int row = 0; row < stage->rows; row++) {
        lm_real *token = d.token + (size_t)slot->input[row] * width;
        lm_real *position = d.position + (size_t)(row % stage->shape.context) * width;

#pragma omp simd
        for (int col = 0; col < width; col++) {
            token[col] += slot->dx[(size_t)row * width + col];
            position[col] += slot->dx[(size_t)row * width + col];
        }
    }
}

static double head_forward(const struct lm_stage *stage, const struct lm_slot *slot,
                           lm_real loss_scale)
{
    const struct lm_head p = lm_head_at(stage, stage->param);
    int rows = stage->rows, width = stage->shape.width;

    lm_norm_forward(slot->norm, slot->mean, slot->rstd, slot->y, p.norm_gain, p.norm_bias, rows,
                    width);
    lm_linear_forward(slot->logits, slot->norm, p.weight, p.bias, NULL, rows, width, LM_VOCABULARY);
    return lm_cross_entropy(slot->logits, slot->target, rows, loss_scale);
}

static void head_backward(const struct lm_stage *stage, const struct lm_slot *slot)
{
    const struct lm_head p = lm_head_at(stage, stage->param);
    const struct lm_head d = lm_head_at(stage, stage->gradient);
    int rows = stage->rows, width = stage->shape.width;

    lm_linear_backward(stage->grad, d.weight, d.bias, slot->logits, slot->norm, p.weight, rows,
                       width, LM_VOCABULARY);
    lm_norm_backward(slot->dy, d.norm_gain, d.norm_bias, NULL, stage->grad, slot->y, slot->mean,
                     slot->rstd, p.norm_gain, rows, width);
}

double lm_stage_forward(struct lm_stage *stage, int slot, lm_real loss_scale)
{
    const struct lm_slot *at = &stage->slot[slot];

    if (stage->has_embedding)
        embedding_forward(stage, at);
    for (int i = 0; i < stage->block_count; i++)
        block_forward(stage, i, &at->saved[i]);
    return stage->has_head ? head_forward(stage, at, loss_scale) : 0;
}

void lm_stage_backward(struct lm_stage *stage, int slot)
{
    const struct lm_slot *at = &stage->slot[slot];

    if (stage->has_head)
        head_backward(stage, at);
    for (int i = stage->block_count - 1; i >= 0; i--)
        block_backward(stage, i, &at->saved[i], at->dx,
                       i == stage->block_count - 1 ? at->dy : at->dx);
    if (stage->has_embedding)
        embedding_backward(stage, at);
}
