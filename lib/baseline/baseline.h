/* baseline.h (internal): a baseline is one file, which predicts one prompt, and a row of the table in baseline.c. */
#ifndef LINATTN_BASELINE_BASELINE_H
#define LINATTN_BASELINE_BASELINE_H

#include "sampler/prompts.h"
#include <linattn/baseline.h>

/* One call of linattn_baseline_predict. */
typedef struct linattn__baseline_run {
    const linattn_baseline_options *options;
    const linattn__prompts *prompts;
    double *space;          /* the baseline's scratch memory */
    double total;           /* multiply-adds, roughly, of the whole call */
    double done, announced; /* so far; and when progress was last called */
} linattn__baseline_run;

typedef struct linattn__baseline {
    int needs_tokens;
    /* Checks the options that this baseline reads, for covariates of dim d. */
    int (*check)(const linattn_baseline_options *options, size_t d);
    /* Scratch memory in doubles, and multiply-adds of a prompt. LINATTN_EOVERFLOW when they cannot be counted. */
    int (*size)(const linattn__baseline_run *run, size_t *space, double *work);
    /* Predicts prompt b. */
    int (*predict)(linattn__baseline_run *run, size_t b, double *out);
} linattn__baseline;

extern const linattn__baseline linattn__baseline_least_squares, linattn__baseline_gradient_descent;

/* To be called after so many multiply-adds: calls progress when enough of them have come together. */
int linattn__baseline_progress(linattn__baseline_run *run, double work);

#endif
