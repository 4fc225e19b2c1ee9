/*
 * The operations of a transformer, forward and backward, over plain row-major matrices whose rows
 * are tokens. Nothing here allocates, keeps state or can fail; all functions are thread-safe on
 * distinct outputs. Outputs must not overlap inputs unless said. Gradients of parameters are added
 * to what is there, in the order of the calls, so that micro-batches accumulate.
 */
#ifndef LM_LAYERS_H
#define LM_LAYERS_H

#include <stdint.h>

#include "lm_real.h"

/* What the model predicts: the next byte. */
#define LM_VOCABULARY 256

/* y[rows][out] = residual + x[rows][in] * weight[in][out] + bias[out]; residual may be NULL (zero).
 */
void lm_linear_forward(lm_real *y, const lm_real *x, const lm_real *weight, const lm_real *bias,
                       const lm_real *residual, int rows, int in, int out);

/* dx[rows][in] = dy * weight^T; dweight += x^T * dy; dbias += column sums of dy. */
void lm_linear_backward(lm_real *dx, lm_real *dweight, lm_real *dbias, const lm_real *dy,
                        const lm_real *x, const lm_real *weight, int rows, int in, int out);

/* Layer norm (Ba, Kiros, Hinton 2016) of every row; keeps mean[rows] and rstd[rows], the inverse
   standard deviation, for the way back. */
void lm_norm_forward(lm_real *y, lm_real *mean, lm_real *rstd, const lm_real *x,
                     const lm_real *gain, const lm_real *bias, int rows, int width);

/* dx = through + the gradient with respect to x; through[rows][width] is what reaches x by the
   residual connection, NULL for none, and may be dx itself. */
void lm_norm_backward(lm_real *dx, lm_real *dgain, lm_real *dbias, const lm_real *through,
                      const lm_real *dy, const lm_real *x, const lm_real *mean, const lm_real *rstd,
                      const lm_real *gain, int rows, int width);

/* y = gelu(x), in the tanh form (Hendrycks, Gimpel 2016), and slope = its derivative. */
void lm_gelu_forward(lm_real *y, lm_real *slope, const lm_real *x, int count);

/* Causal multi-head attention within each of `sequences` runs of `context` rows.
   qkv[rows][3 * width] holds queries, keys, values; out[rows][width]; the attention weights stay in
   prob[sequences][heads][context][context]. */
void lm_attention_forward(lm_real *out, lm_real *prob, const lm_real *qkv, int sequences,
                          int context, int heads, int width);

/* dqkv from dout; scratch holds context * context elements. */
void lm_attention_backward(lm_real *dqkv, lm_real *scratch, const lm_real *dout,
                           const lm_real *prob, const lm_real *qkv, int sequences, int context,
                           int heads, int width);

/* Sum over the rows of -log softmax(logits)[target], in nats. Turns logits[rows][LM_VOCABULARY]
   into the gradient of scale times that sum. */
double lm_cross_entropy(lm_real *logits, const uint8_t *target, int rows, lm_real scale);

#endif
