/* training.h: one training run of a recipe, and the curve that comes of it. */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include "progress.h"
#include <linattn/linattn.h>

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
    size_t room;
    int diverged;         /* 1: value, gradient or evaluation was no longer finite */
    uint64_t diverged_at; /* the t of that */
    double seconds;
} training_curve;

typedef struct training_plan {
    const linattn_model *model;
    linattn_sampler_options data; /* its seed is replaced by the run's */
    size_t prompts;               /* B */
    uint64_t steps;
    uint64_t stride;                   /* points at steps 0, stride, 2 stride, ... and at the end */
    const linattn_sampler *evaluation; /* its draw 0 is the evaluation batch of every run */
    size_t eval_prompts;
    const linattn_batch *median_over; /* the prompts of eval_median, or NULL */
    progress *bar;                    /* gets `steps` for each run */
} training_plan;

/* Trains from the initial parameters and on the batches that `seed` stands for. Returns 0, also when the run diverged, or
 * EXIT_FAILED after a complaint; when the set of runs ends (runs.h) the curve is what there is so far. */
int training_run(const training_plan *plan, const linattn_optimizer_options *rule, uint64_t seed, training_curve *curve);
void training_forget(training_curve *curve);

/* The point of a step, or NULL. */
const training_point *training_at(const training_curve *curve, uint64_t step);

#endif
