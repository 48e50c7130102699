/* training.h: losses along one training run. */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include "path.h"

enum { TRAINING_MEDIAN_PROMPTS = 10000 }; /* medians over prompts are taken over this many of them at most */

/* What is measured at theta_t, t = step. */
typedef struct training_point {
    uint64_t step;
    double train_loss;    /* on batch t */
    double eval_loss;     /* on the evaluation batch */
    double eval_median;   /* median over prompts of (prediction - target)^2; NaN when not asked for */
    double gradient_norm; /* on batch t, before clipping */
    double learning_rate;
    int clipped;
} training_point;

typedef struct training_curve {
    training_point *points;
    size_t count;
    path_end end;
} training_curve;

typedef struct training_plan {
    path_plan path;                   /* with_next: the record of a step is there once the step is taken */
    size_t eval_prompts;              /* of draw 0 of the experiment's evaluation sampler */
    const linattn_batch *median_over; /* the prompts of eval_median, or NULL */
} training_plan;

/* As path_run; when the set of runs ends the curve is what there is so far. */
int training_run(const training_plan *plan, size_t optimizer, uint64_t seed, training_curve *curve);
void training_forget(training_curve *curve);

/* The point of a step, or NULL. */
const training_point *training_at(const training_curve *curve, uint64_t step);

#endif
