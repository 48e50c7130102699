/* distribution.h: what covariate distributions and tasks are to the sampler.
 *
 * A covariate distribution is one file covariates_<name>.kernel.c, compiled per instruction set, and one row of
 * LINATTN__COVARIATES_ROWS; a task is task_<name>.kernel.c and a row of LINATTN__TASK_ROWS. They draw a *span* of prompts at
 * a time: some groups of LINATTN__LANES prompts each ("lanes" in the shapes below). */
#ifndef LINATTN_SAMPLER_DISTRIBUTION_H
#define LINATTN_SAMPLER_DISTRIBUTION_H

#include "random/random.h"
#include "sampler/prompts.h"
#include <linattn/status.h>

#define LINATTN__COVARIATES_ROWS(ROW)                                                                                              \
    ROW(LINATTN_COVARIATES_NORMAL, covariates_normal)                                                                              \
    ROW(LINATTN_COVARIATES_SPHERE, covariates_sphere)                                                                              \
    ROW(LINATTN_COVARIATES_GAMMA, covariates_gamma)                                                                                \
    ROW(LINATTN_COVARIATES_ROTATED, covariates_rotated)                                                                            \
    ROW(LINATTN_COVARIATES_TABLE, covariates_table)

#define LINATTN__TASK_ROWS(ROW)                                                                                                    \
    ROW(LINATTN_TASK_LINEAR, task_linear)                                                                                          \
    ROW(LINATTN_TASK_SPARSE_LINEAR, task_sparse_linear)                                                                            \
    ROW(LINATTN_TASK_SINE, task_sine)                                                                                              \
    ROW(LINATTN_TASK_QUADRATIC, task_quadratic)                                                                                    \
    ROW(LINATTN_TASK_FIXED_MLP, task_fixed_mlp)                                                                                    \
    ROW(LINATTN_TASK_RELU_NETWORK, task_relu_network)

/* Tokens drawn at a time; even, so that a tile begins with a whole pair of variates. */
enum { LINATTN__TILE = 32 };

/* What drawing needs to know, worked out once by linattn_sampler_create. */
typedef struct linattn__plan {
    size_t dim;     /* d */
    size_t context; /* n */
    double noise_std;
    int noisy_target;
    const double *covariate_factor; /* F (d, d); NULL: the identity */
    const double *task_factor;      /* G (d, d); NULL: the identity */
    size_t weights;                 /* numbers in a prompt's weights; d for linear tasks */
    size_t sparsity;                /* sparse linear task: s */
    size_t hidden;                  /* tasks with a network: h */
    double response_scale;          /* quadratic and ReLU network tasks: y is multiplied by it */
    double *network;                /* fixed MLP task: owned by the sampler; NULL otherwise */
    const double *covariate_table;  /* (table_rows, d), the sampler's copy; NULL for other covariates */
    size_t table_rows;
    double gaussian_scale;    /* s > 0: covariates are N(0, s^2 F F^T); 0: they are not Gaussian */
    linattn__gamma radius;    /* gamma covariates: shape k */
    double radius_scale;      /* gamma covariates: sqrt(theta) */
    linattn__gamma *chi;      /* moments: (m) half chi-squares of n - j degrees of freedom, m = min(n, d); NULL otherwise */
    linattn__gamma remainder; /* moments with noise, n > d: half a chi-square of n - d */
} linattn__plan;

/* Prompts prompt .. prompt + groups * LINATTN__LANES - 1 of one draw. */
typedef struct linattn__span {
    const linattn__stream *stream;
    uint32_t prompt;
    size_t groups;
} linattn__span;

typedef struct linattn__covariates {
    /* Checks the options that this distribution reads and fills its part of the plan. Returns LINATTN_EINVAL. Only the baseline's
     * function is ever called. */
    int (*prepare)(const linattn_sampler_options *options, linattn__plan *plan);
    /* Tokens first .. first+count-1, first even, token 0 being the query: x (groups, count, d, lanes).
     * scratch: (groups * count + d, lanes). */
    void (*fill)(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch);
} linattn__covariates;

typedef struct linattn__task {
    int linear; /* y = <w, x>: moments mode can draw it */
    /* Checks the options that this task reads and fills its part of the plan. Returns LINATTN_EINVAL or LINATTN_ENOMEM; what it put
     * into the plan is released by the sampler in any case. Only the baseline's function is ever called. */
    int (*prepare)(const linattn_sampler_options *options, linattn__plan *plan);
    /* The prompts' weights w (groups, plan->weights, lanes); groups is 1 unless the task is linear. scratch: (2 d, lanes). */
    void (*weights)(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch);
    /* Responses of one group without noise: y (count, lanes) of x (count, d, lanes), w (plan->weights, lanes). */
    void (*respond)(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y);
} linattn__task;

/* Draws blocks first .. first+count-1 of 8 prompts into out; workspace: `workspace(plan)` doubles, enough for any number of lanes.
 */
typedef struct linattn__drawing {
    size_t (*workspace)(const linattn__plan *plan);
    void (*blocks)(const linattn__plan *plan, const linattn__covariates *covariates, const linattn__task *task,
                   const linattn__stream *stream, size_t first, size_t count, linattn__prompts *out, double *workspace);
} linattn__drawing;

#endif
