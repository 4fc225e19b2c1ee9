#include "lm_adam.h"

#include <stdlib.h>

bool lm_adam_create(struct lm_adam *adam, const struct lm_stage *stage)
{
    *adam = (struct lm_adam){calloc(stage->param_count, sizeof(lm_real)),
                             calloc(stage->param_count, sizeof(lm_real))};
    if (adam->first && adam->second)
        return true;
    lm_adam_free(adam);
    return false;
}

void lm_adam_free(struct lm_adam *adam)
{
    free(adam->first);
    free(adam->second);
    *adam = (struct lm_adam){0};
}

void lm_adam_norms(const struct lm_stage *stage, double *square)
{
    for (int t = 0; t < stage->tensor_count; t++) {
        const struct lm_tensor *tensor = &stage->tensor[t];
        const lm_real *gradient = stage->gradient + tensor->offset;
        double sum = 0;

#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < tensor->count; i++)
            sum += (double)gradient[i] * gradient[i];
        square[tensor->part] += sum;
    }
}

double lm_adam_rate(double peak, int step, int warm_up, int steps)
{
    const double pi = 3.141592653589793;

    if (step < warm_up)
        return peak * (step + 1) / warm_up;
    return peak * (0.55 + 0.45 * cos(pi * (step + 1 - warm_up) / (steps - warm_up)));
}

void lm_adam_step(struct lm_adam *adam, struct lm_stage *stage, int step, double rate,
                  double factor)
{
    const lm_real decay1 = (lm_real)0.9, decay2 = (lm_real)0.99, epsilon = (lm_real)1e-8;
    lm_real *param = stage->param, *gradient = stage->gradient;
    lm_real *first = adam->first, *second = adam->second;
    /* Both moments start at zero; dividing by 1 - decay^n takes that bias out. */
    lm_real pace = rate / (1 - pow(decay1, step + 1.0));
    lm_real unbias = 1 / (1 - pow(decay2, step + 1.0)), scale = factor;

#pragma omp simd
    for (size_t i = 0; i < stage->param_count; i++) {
        lm_real g = gradient[i] * scale;

        first[i] = decay1 * first[i] + (1 - decay1) * g;
        second[i] = decay2 * second[i] + (1 - decay2) * g * g;
        param[i] -= pace * first[i] / (lm_sqrt(second[i] * unbias) + epsilon);
        gradient[i] = 0;
    }
}
