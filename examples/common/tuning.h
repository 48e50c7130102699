/* tuning.h: which of a few learning rates serves an optimizer best, on seeds and an evaluation batch of their own. */
#ifndef EXAMPLES_TUNING_H
#define EXAMPLES_TUNING_H

#include "experiment.h"

/* Seeds of training and of the evaluation batch: far from those of the runs that are compared afterwards. */
enum { TUNING_SEEDS = 3, TUNING_FIRST_SEED = 1000000, TUNING_EVALUATION_SEED = 20232 };

/* Trains both optimizers with 1/10, 1/5, 1/2, 1, 2, 5 and 10 times the rates that the experiment has, TUNING_SEEDS seeds each, for
 * as many steps as it has, and puts into it the rates of the lowest medians over prompts of the final squared error (mean over
 * seeds of the log; a rate of which one run diverges is out). Prints all of it. Call after runs_catch_interrupt. Returns 0, or what
 * the program is to return after a complaint; rates are then as they were. */
int tuning_run(experiment *e, uint64_t eval_prompts);

#endif
