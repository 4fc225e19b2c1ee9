#include "lm_layers.h"

#include <string.h>

/* Added to the variance, so that a constant row stays finite. */
static const lm_real norm_epsilon = (lm_real)1e-5;

void lm_linear_forward(lm_real *y, const lm_real *x, const lm_real *weight, const lm_real *bias,
                       const lm_real *residual, int rows, int in, int out)
{
    size_t row_bytes = out * sizeof(*y);

    /* What is added to the product goes to y first, and the product on top of it. */
    for (int row = 0; row < rows; row++) {
        lm_real *to = y + (size_t)row * out;

        if (residual)
            memcpy(to, residual + (size_t)row * out, row_bytes);
        else
            memset(to, 0, row_bytes);
#pragma omp simd
        for (int col = 0; col < out; col++)
            to[col] += bias[col];
    }
    lm_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, out, in, 1, x, in, weight, out, 1, y,
            out);
}

void lm_linear_backward(lm_real *dx, lm_real *dweight, lm_real *dbias, const lm_real *dy,
                        const lm_real *x, const lm_real *weight, int rows, int in, int out)
{
    lm_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, in, out, 1, dy, out, weight, out, 0, dx,
            in);
    lm_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, rows, 1, x, in, dy, out, 1, dweight,
            out);
    for (int row = 0; row < rows; row++) {
#pragma omp simd
        for (int col = 0; col < out; col++)
            dbias[col] += dy[(size_t)row * out + col];
    }
}

void lm_norm_forward(lm_real *y, lm_real *mean, lm_real *rstd, const lm_real *x,
                     const lm_real *gain, const lm_real *bias, int rows, int width)
{
    for (int row = 0; row < rows; row++) {
        const lm_real *from = x + (size_t)row * width;
        lm_real *to = y + (size_t)row * width;
        lm_real sum = 0, squares = 0;

#pragma omp simd reduction(+ : sum)
        for (int col = 0; col < width; col++)
            sum += from[col];
        lm_real centre = sum / width;
#pragma omp simd reduction(+ : squares)
        for (int col = 0; col < width; col++)
            squares += (from[col] - centre) * (from[col] - centre);
        lm_real inverse = 1 / lm_sqrt(squares / width + norm_epsilon);

#pragma omp simd
        for (int col = 0; col < width; col++)
            to[col] = (from[col] - centre) * inverse * gain[col] + bias[col];
        mean[row] = centre;
        rstd[row] = inverse;
    }
}

void lm_norm_backward(lm_real *dx, lm_real *dgain, lm_real *dbias, const lm_real *through,
                      const lm_real *dy, const lm_real *x, const lm_real *mean, const lm_real *rstd,
                      const lm_real *gain, int rows, int width)
{
    for (int row = 0; row < rows; row++) {
        const lm_real *from = x + (size_t)row * width, *grad = dy + (size_t)row * width;
        const lm_real *beside = through ? through + (size_t)row * width : NULL;
        lm_real *to = dx + (size_t)row * width;
        lm_real centre = mean[row], inverse = rstd[row], sum = 0, product = 0;

#pragma omp simd reduction(+ : sum, product)
        for (int col = 0; col < width; col++) {
            lm_real unit = (from[col] - centre) * inverse;

            sum += grad[col] * gain[col];
            product += grad[col] * gain[col] * unit;
            dgain[col] += grad[col] * unit;
            dbias[col] += grad[col];
        }
        sum /= width;
        product /= width;
#pragma omp simd
        for (int col = 0; col < width; col++) {
            lm_real unit = (from[col] - centre) * inverse;

            to[col] = (beside ? beside[col] : 0) +
                      inverse * (grad[col] * gain[col] - sum - unit * product);
        }
    }
}

void lm_gelu_forward(lm_real *y, lm_real *slope, const lm_real *x, int count)
{
    /* (1 + tanh u) / 2 is the logistic function of 2u, which needs one exponential. */
    const lm_real twice = (lm_real)1.5957691216057308, cubic = (lm_real)0.044715;

#pragma omp simd
    for (int i = 0; i < count; i++) {
        lm_real square = x[i] * x[i];
        lm_real gate = 1 / (1 + lm_exp(-twice * x[i] * (1 + cubic * square)));

        y[i] = x[i] * gate;
        slope[i] = gate + x[i] * gate * (1 - gate) * twice * (1 + 3 * cubic * square);
    }
}

/* Softmax of the first `seen` of `count` values in place, of value * scale; the others become 0. */
static void causal_softmax(lm_real *value, int seen, int count, lm_real scale)
{
    lm_real top = value[0], sum = 0;

    for (int i = 0; i < seen; i++)
        top = value[i] > top ? value[i] : top;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < seen; i++) {
        value[i] = lm_exp((value[i] - top) * scale);
        sum += value[i];
    }
#pragma omp simd
    for (int i = 0; i < seen; i++)
        value[i] /= sum;
    memset(value + seen, 0, (size_t)(count - seen) * sizeof(*value));
}

void lm_attention_forward(lm_real *out, lm_real *prob, const lm_real *qkv, int sequences,
                          int context, int heads, int width)
{
    int depth = width / heads;
    lm_real scale = 1 / lm_sqrt(depth);

    for (int i = 0; i < sequences * heads; i++) {
        size_t first = (size_t)(i / heads) * context, column = (size_t)(i % heads) * depth;
        const lm_real *q = qkv + first * 3 * width + column, *k = q + width, *v = k + width;
        lm_real *p = prob + (size_t)i * context * context;

        lm_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, context, context, depth, 1, q, 3 * width,
                k, 3 * width, 0, p, context);
        for (int row = 0; row < context; row++)
            causal_softmax(p + (size_t)row * context, row + 1, context, scale);
        lm_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, context, depth, context, 1, p, context,
                v, 3 * width, 0, out + first * width + column, width);
    }
}

void lm_attention_backward(lm_real *dqkv, lm_real *scratch, const lm_real *dout,
                           const lm_real *prob, const lm_real *qkv, int sequences, int context,
                           int heads, int width)
{
    int depth = width / heads;
    lm_real scale = 1 / lm_sqrt(depth);

    for (int i = 0; i < sequences * heads; i++) {
        size_t first = (size_t)(i / heads) * context, column = (size_t)(i % heads) * depth;
        const lm_real *q = qkv + first * 3 * width + column, *k = q + width, *v = k + width;
        const lm_real *p = prob + (size_t)i * context * context;
        const lm_real *dy = dout + first * width + column;
        lm_real *dq = dqkv + first * 3 * width + column, *dk = dq + width, *dv = dk + width;

        lm_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, context, depth, context, 1, p, context, dy,
                width, 0, dv, 3 * width);
        lm_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, context, context, depth, 1, dy, width, v,
                3 * width, 0, scratch, context);
        /* Through the softmax: ds = p * (dp - sum(dp * p)); p is 0 where the row may not look. */
        for (int row = 0; row < context; row++) {
            lm_real *ds = scratch + (size_t)row * context, sum = 0;
            const lm_real *weight = p + (size_t)row * context;

#pragma omp simd reduction(+ : sum)
            for (int col = 0; col < context; col++)
                sum += ds[col] * weight[col];
#pragma omp simd
            for (int col = 0; col < context; col++)
                ds[col] = weight[col] * (ds[col] - sum);
        }
        lm_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, context, depth, context, scale, scratch,
                context, k, 3 * width, 0, dq, 3 * width);
        lm_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, context, depth, context, scale, scratch,
                context, q, 3 * width, 0, dk, 3 * width);
    }
}

double lm_cross_entropy(lm_real *logits, const uint8_t *target, int rows, lm_real scale)
{
    double loss = 0;

    for (int row = 0; row < rows; row++) {
        lm_real *value = logits + (size_t)row * LM_VOCABULARY;

        causal_softmax(value, LM_VOCABULARY, LM_VOCABULARY, 1);
        /* A probability that underflowed counts as the smallest normal float; NaN stays NaN. */
        loss -= log(value[target[row]] < (lm_real)0x1p-126 ? 0x1p-126 : value[target[row]]);
#pragma omp simd
        for (int i = 0; i < LM_VOCABULARY; i++)
            value[i] *= scale;
        value[target[row]] -= scale;
    }
    return loss;
}
