/* measure.h (internal): what measurements of a system share. */
#ifndef LINATTN_PROMPT_MEASURE_H
#define LINATTN_PROMPT_MEASURE_H

#include "prompt/prompt.h"

/* Of every example; NULL: not wanted. */
typedef struct linattn__prompt_values {
    double *outputs;       /* (N): f */
    double *bends;         /* (N): l''(f) */
    double *weights;       /* (N, n): a */
    double *sensitivities; /* (N, n): b */
    double *jacobian;      /* (N, p): gradients of f */
} linattn__prompt_values;

/* Whether a call may go on: prompt and theta (p) there, theta finite. */
int linattn__prompt_check(const linattn_prompt *prompt, const double *theta);

/* Fills the values at theta. Returns LINATTN_ENOMEM; values are then as they were. */
int linattn__prompt_examine(const linattn_prompt *prompt, const double *theta, const linattn__prompt_values *out);

#endif
