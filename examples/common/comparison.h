/* comparison.h: SGD against Adam over several seeds: the runs, a CSV file, a picture and a table.
 *
 * SGD and Adam of a seed begin at the same parameters and see the same batches; one evaluation batch judges all runs. The picture
 * has the form of the paper's: log loss against step, mean over seeds and a band. */
#ifndef EXAMPLES_COMPARISON_H
#define EXAMPLES_COMPARISON_H

#include "experiment.h"

typedef struct comparison_plan {
    const experiment *experiment;
    const char *subject; /* what the experiment's recipe.name names: the first column's name in the files, such as "recipe" */
    const char
        *heavy_tails; /* a sentence on why the mean of the squared error is not reliable: medians are shown too; NULL: it is */
    uint64_t eval_prompts;
} comparison_plan;

/* Runs the experiment's seeds with both optimizers and writes <folder>/<name>.csv, .png, .svg, with heavy tails <name>_medians.csv,
 * and the table on standard output. Call after output_folder and runs_catch_interrupt. Returns 0, or what the program is to return
 * after a complaint. */
int comparison_run(const comparison_plan *plan);

#endif
