/* prompt.h (internal): prompt attention, value, gradient and Hessian-vector products, for every instruction set. */
#ifndef LINATTN_KERNELS_PROMPT_H
#define LINATTN_KERNELS_PROMPT_H

#include "kernels/isa.h"
#include <stddef.h>

typedef struct linattn__prompt_shape {
    size_t tokens, dim; /* n, d */
    int linear;         /* attention: 1 linear, 0 softmax */
    int logistic;       /* loss: 1 logistic, 0 squared */
    int train_value;    /* theta: 1 p and v (2d), 0 p (d) */
    double scale;       /* of scores: 1/T; linear: 1/n */
} linattn__prompt_shape;

/* Examples in blocks of 8, the example being the innermost index. */
typedef struct linattn__examples {
    const double *keys;      /* (blocks, n, d, 8) */
    const double *tokens;    /* (blocks, n, d, 8); read when v is trained */
    const double *responses; /* (blocks, n, 8), u = X v; read when v is not trained */
    const double *labels;    /* (blocks, 8) */
    const double *live;      /* (blocks, 8): 1, and 0 beyond the last example */
    size_t blocks;
} linattn__examples;

/* The parameters of a shape. */
static inline size_t linattn__prompt_parameters(const linattn__prompt_shape *shape) {
    return shape->dim * (shape->train_value ? 2 : 1);
}

typedef struct linattn__prompt_kernels {
    /* Scratch memory in doubles, for so many directions of a product; 0 for all else. */
    size_t (*workspace)(const linattn__prompt_shape *shape, size_t directions);
    /* The sum of l(f_i), and unless it is NULL the gradient (p) of that. */
    double (*loss)(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *examples, double *gradient,
                   double *work);
    /* H u of the sum for directions u (count, p) into out (count, p). */
    void (*hvp)(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *examples,
                const double *directions, size_t count, double *out, double *work);
    /* One block: outputs f (8), l''(f) (8), weights a (n, 8), sensitivities b (n, 8), gradients of f (p, 8). */
    void (*evaluate)(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *block, double *outputs,
                     double *bends, double *weights, double *sensitivities, double *gradients, double *work);
} linattn__prompt_kernels;

const linattn__prompt_kernels *linattn__prompt_kernels_for(enum linattn__isa isa);

#endif
