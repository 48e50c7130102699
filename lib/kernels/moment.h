/* moment.h: the moment path: value and gradient of a linear transformer from C_0 and the query's row alone.
 *
 * A layer of linear attention is z <- T z for every token, T = I + (1/n) sum over heads of P C Q^T, C = sum over the context of z
 * z^T. So C' = T C T^T, and no token is needed. The cost does not depend on n. Formulas: docs/numerics.md, "The moment path". */
#ifndef LINATTN_KERNELS_MOMENT_H
#define LINATTN_KERNELS_MOMENT_H

#include "kernels/isa.h"
#include <stddef.h>

typedef struct linattn__moment_shape {
    size_t layers, heads, dim, context; /* L, H, d, n */
    int full;                           /* 1: P and Q are (d+1, d+1); 0: block form, (d, d) */
} linattn__moment_shape;

/* Blocks of prompts, laid out as in sampler/prompts.h. */
typedef struct linattn__moment_data {
    const double *moments; /* (blocks, (d+1)(d+2)/2, 8) */
    const double *queries; /* (blocks, d+1, 8) */
    const double *targets; /* (blocks, 8); not read by predict */
    size_t blocks;
} linattn__moment_data;

typedef struct linattn__moment_kernels {
    /* Scratch memory of a call, in doubles, to be aligned to 64 bytes. */
    size_t (*workspace)(const linattn__moment_shape *shape);

    /* predictions: (blocks, 8), sign applied. */
    void (*predict)(const linattn__moment_shape *shape, const double *theta, const linattn__moment_data *data, double *predictions,
                    double *workspace);

    /* Returns the sum over the prompts of (prediction - target)^2. gradient: (p), its gradient, overwritten; NULL: not wanted. The
     * sum is the same bits either way. */
    double (*sum_squares)(const linattn__moment_shape *shape, const double *theta, const linattn__moment_data *data,
                          double *gradient, double *workspace);
} linattn__moment_kernels;

const linattn__moment_kernels *linattn__moment_kernels_for(enum linattn__isa isa);

typedef struct linattn__moment_hvp_kernels {
    /* Scratch memory of a call with `count` directions, in doubles, to be aligned to 64 bytes. */
    size_t (*workspace)(const linattn__moment_shape *shape, size_t count);

    /* out: (count, p), the sum over the prompts of H u for each direction u, the Hessian being that of (prediction - target)^2.
     * directions: (count, p), zero before layer first_layer, and with `confined` also after it; entries of `out` before that layer
     * are left 0. */
    void (*hvp)(const linattn__moment_shape *shape, const double *theta, const linattn__moment_data *data, const double *directions,
                size_t count, size_t first_layer, int confined, double *out, double *workspace);
} linattn__moment_hvp_kernels;

const linattn__moment_hvp_kernels *linattn__moment_hvp_kernels_for(enum linattn__isa isa);

/* p of a shape. */
size_t linattn__moment_parameter_count(const linattn__moment_shape *shape);

/* Copies theta, or a gradient, with P divided by n: the passes then need no factor for it. out may be theta itself. */
void linattn__moment_divide_P(const linattn__moment_shape *shape, const double *theta, double *out);

#endif
