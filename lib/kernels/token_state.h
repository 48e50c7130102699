/* token_state.h: what the passes of the token path keep for a group of lanes, and where: the memory behind token_layers.h, whose
 * notation it uses. */
#ifndef LINATTN_KERNELS_TOKEN_STATE_H
#define LINATTN_KERNELS_TOKEN_STATE_H

#include "kernels/attention.h"
#include "kernels/path.h"

/* What one layer keeps, of values or of a direction's tangents; sizes in lane entries. */
typedef struct {
    double *Z;     /* (N, k) */
    double *U, *W; /* (H, N, k) */
    double *Y, *R; /* with a feed-forward block: (N, k), what attention makes of Z; (ff, N) */
} token_layer;

/* What the backward pass of a layer needs, overwritten by the next. */
typedef struct {
    double *Z, *U; /* (N, k): Zbar, first of the layer's output, then of its input; Ubar of one head */
    double *W;     /* (H, N, k) */
} token_adjoint;

/* One group of lanes: who it is, and its memory. */
typedef struct {
    size_t layers, heads, n;
    size_t hidden, ff;        /* units of the front MLP and of each feed-forward block; 0: there is none */
    size_t front, block;      /* their parameters: of the front MLP, which come first, and of one feed-forward block */
    size_t first;             /* stage before which directions are zero: the front MLP is stage 0, if any, then layers */
    size_t count, parameters; /* directions; all parameters in full form, q */
    size_t stack;             /* lane entries of all layers and, with feed-forward blocks, of the last one's Z' */
    const attention *kind;
    const double *theta, *dtheta; /* (q), (count, q) */
    double *values, *tangents;    /* (stack), (count, stack) */
    double *bars, *dots;          /* (adjoint), (count, adjoint) */
    double *kept;                 /* (L, H, N, keys): A; NULL: not kept */
    double *a, *abar, *sbar;      /* (N, STRIP): a strip of A that is not kept, ... */
    double *adot, *sdot;          /* (N, STRIP) */
    double *gradient, *products;  /* (q) or NULL, (count, q): lane sums */
    double *X, *x;                /* front MLP: the tokens (N, k); (N, d) */
    double *R, *Rdot;             /* (hidden, N), (count, hidden, N) */
    double *Rbar, *Rbardot;       /* of a front MLP or a feed-forward block: (the larger of hidden and ff, N) */
    vreal *kinks;                 /* arguments of ReLU that are exactly 0; NULL: not counted */
} token_group;

LINATTN__INLINE size_t token_layer_size(size_t heads, size_t n, size_t k, size_t ff) {
    return (n + 1) * ((1 + 2 * heads) * k + (ff ? k + ff : 0));
}
LINATTN__INLINE size_t token_adjoint_size(size_t heads, size_t n, size_t k) { return (2 + heads) * (n + 1) * k; }
LINATTN__INLINE size_t token_strip_size(size_t n) { return (n + 1) * STRIP; }

LINATTN__INLINE token_layer token_layer_at(const token_group *g, double *layers, size_t l, size_t k) {
    const size_t matrix = (g->n + 1) * k * LINATTN__LANES;
    double *const Z = layers + l * token_layer_size(g->heads, g->n, k, g->ff) * LINATTN__LANES, *const Y =
                                                                                                    Z + (1 + 2 * g->heads) * matrix;
    return (token_layer){Z, Z + matrix, Z + (1 + g->heads) * matrix, Y, Y + matrix};
}

LINATTN__INLINE token_layer token_tangent_at(const token_group *g, size_t i, size_t l, size_t k) {
    return token_layer_at(g, g->tangents + i * g->stack * LINATTN__LANES, l, k);
}

LINATTN__INLINE token_adjoint token_adjoint_at(const token_group *g, double *adjoints, size_t i, size_t k) {
    const size_t matrix = (g->n + 1) * k * LINATTN__LANES;
    double *Z = adjoints + i * token_adjoint_size(g->heads, g->n, k) * LINATTN__LANES;
    return (token_adjoint){Z, Z + matrix, Z + 2 * matrix};
}

/* P of head h of layer l begins here, in numbers; Q k^2 later; after the heads comes the feed-forward block. */
LINATTN__INLINE size_t token_offset(const token_group *g, size_t l, size_t h, size_t k) {
    return g->front + l * (2 * g->heads * k * k + g->block) + 2 * h * k * k;
}
LINATTN__INLINE size_t token_ff_offset(const token_group *g, size_t l, size_t k) { return token_offset(g, l, g->heads, k); }

/* Directions reach layer l: its P and Q, and for `moving` its Z, change. Adjoints of a Z that moves are wanted. */
LINATTN__INLINE int token_reached(const token_group *g, size_t l) { return l + (g->hidden > 0) >= g->first; }
LINATTN__INLINE int token_moving(const token_group *g, size_t l) { return l + (g->hidden > 0) > g->first; }

LINATTN__INLINE size_t token_keys(const token_group *g) { return g->n + (g->kind->query_key ? 1 : 0); }

/* Row `row` of matrix h of some (N, k) that stand together. */
LINATTN__INLINE double *token_row(const token_group *g, double *matrices, size_t h, size_t row, size_t k) {
    return matrices + (h * (g->n + 1) + row) * k * LINATTN__LANES;
}

/* Where A of a strip of rows of head h lies. */
LINATTN__INLINE double *token_strip(const token_group *g, size_t l, size_t h, size_t row) {
    return g->kept ? g->kept + ((l * g->heads + h) * (g->n + 1) + row) * token_keys(g) * LINATTN__LANES : g->a;
}

#endif
