/* tuning.h: the learning rate that serves an optimizer best, found on seeds and an evaluation batch of their own.
 *
 * Rates are low, 2 low, 5 low, 10 low, 20 low, ... Each is judged by the median over prompts of the squared error at the end of a
 * run, mean over seeds of its logarithm; a rate at which a run diverges is out. While the best is the first or the last that was
 * tried, one more is tried beyond it. Runs go into a file as they end, and those that it already has are not done again
 * (results.h). */
#ifndef EXAMPLES_TUNING_H
#define EXAMPLES_TUNING_H

#include "experiment.h"

enum {
    TUNING_FIRST_SEED = 1000000, /* far from those of the runs that are compared afterwards */
    TUNING_EVALUATION_SEED = 20232,
    TUNING_MOST_RATES = 30,
    TUNING_BEYOND = 6 /* how many rates may be added at an end */
};

typedef struct tuning_plan {
    experiment *experiment;
    uint64_t eval_prompts;
    uint64_t seeds;
    double low[OPTIMIZERS]; /* 0: this optimizer is left out */
    size_t rates;           /* 1 to TUNING_MOST_RATES - 2 TUNING_BEYOND */
} tuning_plan;

typedef struct tuning_point {
    double rate;
    double error; /* 10^(mean over seeds of log10 of the final median error); infinite when a run diverged */
    double low;   /* 95% interval over seeds, by Student's t on the logs; NaN for one seed, or when a run diverged */
    double high;
    size_t diverged; /* runs */
} tuning_point;

typedef struct tuning_curve {
    tuning_point points[TUNING_MOST_RATES]; /* (count), rates ascending */
    size_t count;
    size_t best; /* of the lowest error, the first of equals; count when all are infinite */
} tuning_curve;

/* Adds to <folder>/<name>_runs<steps>.csv and fills curves. Call after output_folder and runs_catch_interrupt. Returns 0, or what
 * the program is to return after a complaint. */
int tuning_run(const tuning_plan *plan, tuning_curve curves[OPTIMIZERS]);

/* The rates and their errors, on standard output. */
void tuning_print(const tuning_plan *plan, const tuning_curve curves[OPTIMIZERS]);

/* For --tune of a program: 1/10 to 10 times the rates that the experiment has, 3 seeds; prints all of it and puts the best into the
 * experiment. Returns as tuning_run; also EXIT_FAILED after a complaint that an optimizer diverges at every rate. */
int tuning_choose(experiment *e, uint64_t eval_prompts);

#endif
