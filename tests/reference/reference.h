/* reference.h: the model as its definition reads, token by token, in plain loops. Slow, and shares nothing with the library. */
#ifndef LINATTN_TESTS_REFERENCE_H
#define LINATTN_TESTS_REFERENCE_H

#include <stddef.h>

typedef struct reference_shape {
    size_t layers, heads, dim, context;
    int full; /* 1: P and Q (d+1, d+1) are free; 0: block form */
} reference_shape;

/* The model with all its options; zeros are the linear model. */
typedef struct reference_model {
    reference_shape shape;
    int attention;     /* 0 linear, 1 softmax over n+1 keys, 2 softmax over n keys, 3 max(s, 0) */
    size_t qk_rank;    /* r > 0: Q = W_Q^T W_K, (r, side) each */
    size_t mlp_hidden; /* h > 0: W_1 (h, d), b_1, W_2 (d, h), b_2 come first in theta */
    size_t ff_hidden;  /* h > 0: W_1 (h, d+1), b_1, W_2 (d+1, h), b_2 after the heads of each layer */
} reference_model;

size_t reference_model_parameter_count(const reference_model *model);

/* tokens: (prompts, n+1, d+1), targets: (prompts), theta: (p). Fills predictions (prompts) and gradient (p) of the mean of
 * (prediction - target)^2, which is returned; each output may be NULL. */
double reference_gradient(const reference_shape *shape, const double *tokens, const double *targets, size_t prompts,
                          const double *theta, double *predictions, double *gradient);

/* The same for any model. */
double reference_model_gradient(const reference_model *model, const double *tokens, const double *targets, size_t prompts,
                                const double *theta, double *predictions, double *gradient);

#endif
