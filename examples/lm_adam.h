/*
 * Adam (Kingma, Ba 2015) with a linear warm-up, a cosine decay and clipping by the global norm.
 * Used by one thread at a time.
 */
#ifndef LM_ADAM_H
#define LM_ADAM_H

#include "lm_stage.h"

struct lm_adam {
    lm_real *first, *second; /* running moments of the gradient, [param_count] each */
};

/* Makes moments of zero; false, with *adam zero, when memory is short. Release with lm_adam_free.
 */
bool lm_adam_create(struct lm_adam *adam, const struct lm_stage *stage);
void lm_adam_free(struct lm_adam *adam);

/* Adds to square[part] the squared norm of each of the stage's parts' gradients; square has
   layers + 2 entries, those of other parts are left alone. */
void lm_adam_norms(const struct lm_stage *stage, double *square);

/* Learning rate of a step (from 0): a linear rise over `warm_up` steps, then half a cosine from
   `peak` down to a tenth of it at the last of `steps`. */
double lm_adam_rate(double peak, int step, int warm_up, int steps);

/* Moves every parameter by the gradient times `factor` (the clipping), then zeroes the gradient.
   `step` counts from 0. */
void lm_adam_step(struct lm_adam *adam, struct lm_stage *stage, int step, double rate,
                  double factor);

#endif
