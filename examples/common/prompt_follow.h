/* prompt_follow.h: gradient descent on one system of prompt attention, its rate measured and predicted. */
#ifndef EXAMPLES_PROMPT_FOLLOW_H
#define EXAMPLES_PROMPT_FOLLOW_H

#include "prompt_case.h"

/* The rate is that at which the loss falls from the first to the second. */
static const double prompt_window_high = 1e-12, prompt_window_low = 1e-20;

/* One descent. Numbers are NaN where they could not be had. */
typedef struct prompt_descent {
    prompt_system system;
    uint64_t steps;
    int converged; /* the loss got below prompt_window_low */
    double learning_rate;
    double loss; /* the last one */
    double rate; /* measured: -slope of ln loss by the step */
    double predicted;
    double predicted_teacher;
    double condition; /* at p_inf, or where the descent was given up */
    double condition_teacher;
    double ratio; /* R, median over examples, there */
    double ratio_teacher;
} prompt_descent;

/* From p = 0, by step 1/L at the teacher, until the loss is below prompt_window_low, `most` steps were taken or runs end. d->system is
 * read, the rest of d is filled. room: (3 d + n N), zeros, where theta is found in the first d. Returns a status of the library. */
int prompt_follow(const linattn_prompt *prompt, uint64_t most, double *room, prompt_descent *d);

#endif
