/* path.h: what computes a model's value, gradient and Hessian-vector products from a batch.
 *
 * Two paths do, behind one interface. The moment path (moment.h) serves linear attention and needs second moments and queries
 * alone, with a front MLP the tokens instead; the token path (token.h) serves every kind of attention, front MLPs and feed-forward
 * blocks, and needs the tokens. */
#ifndef LINATTN_KERNELS_PATH_H
#define LINATTN_KERNELS_PATH_H

#include "kernels/isa.h"
#include <stddef.h>

typedef struct linattn__shape {
    size_t layers, heads, dim, context; /* L, H, d, n */
    int full;                           /* 1: P and Q are (d+1, d+1); 0: block form, (d, d) */
    int attention;                      /* enum linattn_attention */
    size_t hidden;                      /* units of the front MLP; 0: there is none */
    size_t ff_hidden;                   /* units of the feed-forward block after each layer; 0: there is none */
} linattn__shape;

/* Blocks of prompts, laid out as in sampler/prompts.h. */
typedef struct linattn__data {
    const double *tokens;   /* (blocks, n+1, d+1, 8); read by the token path, and for a front MLP */
    const double *moments;  /* (blocks, (d+1)(d+2)/2, 8); like queries read by the moment path only, without a front MLP */
    const double *queries;  /* (blocks, d+1, 8) */
    const double *targets;  /* (blocks, 8); not read by predict */
    size_t blocks, prompts; /* prompts: at most 8 blocks; lanes beyond them are empty */
} linattn__data;

typedef struct linattn__kernels {
    /* Scratch memory of a call, in doubles, to be aligned to 64 bytes. */
    size_t (*workspace)(const linattn__shape *shape);

    /* predictions: (blocks, 8), sign applied. */
    void (*predict)(const linattn__shape *shape, const double *theta, const linattn__data *data, double *predictions,
                    double *workspace);

    /* Returns the sum over the prompts of (prediction - target)^2. gradient: (p), its gradient, overwritten; NULL: not wanted. The
     * sum is the same bits either way. */
    double (*sum_squares)(const linattn__shape *shape, const double *theta, const linattn__data *data, double *gradient,
                          double *workspace);

    /* How many arguments of a ReLU are exactly 0; a shape that needs no tokens has none. */
    double (*count_kinks)(const linattn__shape *shape, const double *theta, const linattn__data *data, double *workspace);

    /* A of one layer and head: (blocks, n+1, n+1, 8). The token path's only; NULL on the moment path. */
    void (*attend)(const linattn__shape *shape, const double *theta, const linattn__data *data, size_t layer, size_t head,
                   double *A, double *workspace);
} linattn__kernels;

typedef struct linattn__hvp_kernels {
    /* Scratch memory of a call with `count` directions, in doubles, to be aligned to 64 bytes. */
    size_t (*workspace)(const linattn__shape *shape, size_t count);

    /* out: (count, p), the sum over the prompts of H u for each direction u, the Hessian being that of (prediction - target)^2.
     * directions: (count, p), zero before stage `first`, and with `confined` also after it; entries of `out` before that stage are
     * left 0. Stages are the front MLP, if there is one, and the layers, each with its feed-forward block. */
    void (*hvp)(const linattn__shape *shape, const double *theta, const linattn__data *data, const double *directions, size_t count,
                size_t first, int confined, double *out, double *workspace);
} linattn__hvp_kernels;

/* Whether a shape's prompts must keep their tokens, and its path, which is another question. */
int linattn__needs_tokens(const linattn__shape *shape);
const linattn__kernels *linattn__kernels_for(const linattn__shape *shape, enum linattn__isa isa);
const linattn__hvp_kernels *linattn__hvp_kernels_for(const linattn__shape *shape, enum linattn__isa isa);

/* p of a shape. */
size_t linattn__shape_parameter_count(const linattn__shape *shape);

/* Parameters of a network of `hidden` units on `width` numbers: W_1 (hidden, width), b_1 (hidden), W_2 (width, hidden), b_2
 * (width); 0 without units. The front MLP, of width d, comes first in theta; feed-forward blocks, of width d + 1, after the heads
 * of their layer. */
size_t linattn__network_size(size_t hidden, size_t width);

#endif
