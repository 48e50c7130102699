/* token_layers.h: forward and backward pass of the token path for a group of lanes, with the tangents of any number of directions.
 *
 * Rows are tokens, the query last: N = n + 1. With P for P / n and act(kind), a layer is
 *     U_h = Z Q_h        A_h = act(U_h Z^T)        W_h = (M A_h) Z        Z' = Z + sum_h W_h P_h^T
 * and, a bar being an adjoint, backward
 *     Wbar_h = Zbar' P_h          Abar_h = M (Wbar_h Z^T)          Sbar_h = J_h Abar_h          Ubar_h = Sbar_h Z
 *     Pbar_h += Zbar'^T W_h       Qbar_h += Z^T Ubar_h
 *     Zbar = Zbar' + sum_h (M A_h)^T Wbar_h + Sbar_h^T U_h + Ubar_h Q_h^T
 * A dot marks a tangent: after each line comes its derivative in every direction, dP already divided by n. A, Abar, Sbar are made
 * for a strip of STRIP rows at a time; A is kept for the backward pass where all of it is small, and otherwise made anew, so that
 * long prompts need no memory of size (N, N). Of the last layer only the query's row is wanted, and of its Z' the last entry.
 *
 * A strip's scores are held key by key, (keys, width). M leaves out the query's key: products over values stop before it. */
#ifndef LINATTN_KERNELS_TOKEN_LAYERS_H
#define LINATTN_KERNELS_TOKEN_LAYERS_H

#include "kernels/attention.h"
#include "kernels/path.h"

/* What one layer keeps, of values or of a direction's tangents; sizes in lane entries. */
typedef struct {
    double *Z;     /* (N, k) */
    double *U, *W; /* (H, N, k) */
} token_layer;

/* What the backward pass of a layer needs, overwritten by the next. */
typedef struct {
    double *Z, *U; /* (N, k): Zbar, first of the layer's output, then of its input; Ubar of one head */
    double *W;     /* (H, N, k) */
} token_adjoint;

/* One group of lanes: who it is, and its memory. */
typedef struct {
    size_t layers, heads, n, hidden; /* hidden 0: no front MLP */
    size_t front;                    /* its parameters, which come first */
    size_t first;                    /* stage before which directions are zero: the front MLP is stage 0, if any, then layers */
    size_t count, parameters;        /* directions; front + 2 L H k^2 = q */
    const attention *kind;
    const double *theta, *dtheta; /* (q), (count, q) */
    double *values, *tangents;    /* (L layers), (count, L layers) */
    double *bars, *dots;          /* (adjoint), (count, adjoint) */
    double *kept;                 /* (L, H, N, keys): A; NULL: not kept */
    double *a, *abar, *sbar;      /* (N, STRIP): a strip of A that is not kept, ... */
    double *adot, *sdot;          /* (N, STRIP) */
    double *gradient, *products;  /* (q) or NULL, (count, q): lane sums */
    double *X, *x;                /* front MLP: the tokens (N, k); (N, d) */
    double *R, *Rdot, *Rbar;      /* (N, hidden), (count, N, hidden), (N, hidden) */
    vreal *kinks;                 /* arguments of ReLU that are exactly 0; NULL: not counted */
} token_group;

LINATTN__INLINE size_t token_layer_size(size_t heads, size_t n, size_t k) { return (1 + 2 * heads) * (n + 1) * k; }
LINATTN__INLINE size_t token_adjoint_size(size_t heads, size_t n, size_t k) { return (2 + heads) * (n + 1) * k; }
LINATTN__INLINE size_t token_strip_size(size_t n) { return (n + 1) * STRIP; }

LINATTN__INLINE token_layer token_layer_at(const token_group *g, double *layers, size_t l, size_t k) {
    const size_t matrix = (g->n + 1) * k * LINATTN__LANES;
    double *Z = layers + l * token_layer_size(g->heads, g->n, k) * LINATTN__LANES;
    return (token_layer){Z, Z + matrix, Z + (1 + g->heads) * matrix};
}

LINATTN__INLINE token_layer token_tangent_at(const token_group *g, size_t i, size_t l, size_t k) {
    return token_layer_at(g, g->tangents, i * g->layers + l, k);
}

LINATTN__INLINE token_adjoint token_adjoint_at(const token_group *g, double *adjoints, size_t i, size_t k) {
    const size_t matrix = (g->n + 1) * k * LINATTN__LANES;
    double *Z = adjoints + i * token_adjoint_size(g->heads, g->n, k) * LINATTN__LANES;
    return (token_adjoint){Z, Z + matrix, Z + 2 * matrix};
}

/* P of head h of layer l begins here, in numbers; Q k^2 later. */
LINATTN__INLINE size_t token_offset(const token_group *g, size_t l, size_t h, size_t k) {
    return g->front + 2 * (l * g->heads + h) * k * k;
}
/* Directions reach layer l: its P and Q, and for `moving` its Z, change. Adjoints of a Z that moves are wanted. */
LINATTN__INLINE int token_reached(const token_group *g, size_t l) { return l + (g->hidden > 0) >= g->first; }
LINATTN__INLINE int token_moving(const token_group *g, size_t l) { return l + (g->hidden > 0) > g->first; }

LINATTN__INLINE size_t token_keys(const token_group *g) { return g->n + (g->kind->query_key ? 1 : 0); }

/* Row `row` of matrix h of some (N, k) that stand together. */
LINATTN__INLINE double *token_row(const token_group *g, double *matrices, size_t h, size_t row, size_t k) {
    return matrices + (h * (g->n + 1) + row) * k * LINATTN__LANES;
}

LINATTN__INLINE void token_count_zeros(const double *x, size_t count, vreal *zeros) {
    for (size_t i = 0; i < count; i++) *zeros += vreal_select(get(x, i) == 0.0, vreal_all(1), (vreal){0});
}

/* Where A of a strip of rows of head h lies. */
LINATTN__INLINE double *token_strip(const token_group *g, size_t l, size_t h, size_t row) {
    return g->kept ? g->kept + ((l * g->heads + h) * (g->n + 1) + row) * token_keys(g) * LINATTN__LANES : g->a;
}

/* A of a strip, from Z and U. */
LINATTN__INLINE void token_scores(const token_group *g, token_layer x, double *a, size_t h, size_t row, size_t width, size_t k) {
    const size_t keys = token_keys(g);
    product(a, keys, k, width, lanes(x.Z, k), transposed(lanes(token_row(g, x.U, h, row, k), k)), SET);
    if (g->kinks && g->kind->bends) token_count_zeros(a, keys * width, g->kinks);
    g->kind->forward(a, keys, width);
}

/* Adot = J (Udot Z^T + U Zdot^T) of the same strip; moving: Zdot is not zero. */
LINATTN__INLINE void token_scores_tangent(const token_group *g, token_layer x, token_layer t, const double *a, int moving, size_t h,
                                          size_t row, size_t width, size_t k) {
    const size_t keys = token_keys(g);
    product(g->adot, keys, k, width, lanes(x.Z, k), transposed(lanes(token_row(g, t.U, h, row, k), k)), SET);
    if (moving) product(g->adot, keys, k, width, lanes(t.Z, k), transposed(lanes(token_row(g, x.U, h, row, k), k)), ADD);
    g->kind->apply(a, g->adot, keys, width, g->adot);
}

/* W of a strip, and Wdot = (M Adot) Z + (M A) Zdot. */
LINATTN__INLINE void token_forward_strip(const token_group *g, size_t l, size_t h, size_t row, size_t width, size_t k) {
    const token_layer x = token_layer_at(g, g->values, l, k);
    double *const a = token_strip(g, l, h, row);
    token_scores(g, x, a, h, row, width, k);
    product(token_row(g, x.W, h, row, k), width, g->n, k, transposed(lanes(a, width)), lanes(x.Z, k), SET);
    for (size_t i = 0; token_reached(g, l) && i < g->count; i++) {
        const token_layer t = token_tangent_at(g, i, l, k);
        const int moving = token_moving(g, l);
        double *Wdot = token_row(g, t.W, h, row, k);
        token_scores_tangent(g, x, t, a, moving, h, row, width, k);
        product(Wdot, width, g->n, k, transposed(lanes(g->adot, width)), lanes(x.Z, k), SET);
        if (moving) product(Wdot, width, g->n, k, transposed(lanes(a, width)), lanes(t.Z, k), ADD);
    }
}

/* U and W of layer l, of rows `row` to the query's. */
LINATTN__INLINE void token_forward_heads(const token_group *g, size_t l, size_t row, size_t k) {
    const size_t rows = g->n + 1 - row, from = row;
    const token_layer x = token_layer_at(g, g->values, l, k);
    for (size_t h = 0; h < g->heads; h++) {
        const size_t Q = token_offset(g, l, h, k) + k * k;
        const factor Z = lanes(token_row(g, x.Z, 0, from, k), k);
        product(token_row(g, x.U, h, from, k), rows, k, k, Z, shared(g->theta + Q, k), SET);
        for (size_t i = 0; token_reached(g, l) && i < g->count; i++) {
            const token_layer t = token_tangent_at(g, i, l, k);
            double *Udot = token_row(g, t.U, h, from, k);
            product(Udot, rows, k, k, Z, shared(g->dtheta + i * g->parameters + Q, k), SET);
            if (token_moving(g, l))
                product(Udot, rows, k, k, lanes(token_row(g, t.Z, 0, from, k), k), shared(g->theta + Q, k), ADD);
        }
        for (row = from; row + STRIP <= g->n; row += STRIP) token_forward_strip(g, l, h, row, STRIP, k);
        for (; row <= g->n; row++) token_forward_strip(g, l, h, row, 1, k);
    }
}

/* Z' = Z + sum_h W_h P_h^T; Zdot' = Zdot + sum_h W_h dP_h^T + Wdot_h P_h^T. */
LINATTN__INLINE void token_forward_layer(const token_group *g, size_t l, size_t k) {
    const size_t rows = g->n + 1;
    const token_layer x = token_layer_at(g, g->values, l, k), next = token_layer_at(g, g->values, l + 1, k);
    token_forward_heads(g, l, 0, k);
    memcpy(next.Z, x.Z, rows * k * LINATTN__LANES * sizeof *next.Z);
    for (size_t h = 0; h < g->heads; h++)
        product(next.Z, rows, k, k, lanes(token_row(g, x.W, h, 0, k), k),
                transposed(shared(g->theta + token_offset(g, l, h, k), k)), ADD);
    for (size_t i = 0; token_reached(g, l) && i < g->count; i++) {
        const token_layer t = token_tangent_at(g, i, l, k), dot = token_tangent_at(g, i, l + 1, k);
        if (token_moving(g, l)) memcpy(dot.Z, t.Z, rows * k * LINATTN__LANES * sizeof *dot.Z);
        for (size_t h = 0; h < g->heads; h++) {
            const size_t P = token_offset(g, l, h, k);
            product(dot.Z, rows, k, k, lanes(token_row(g, x.W, h, 0, k), k),
                    transposed(shared(g->dtheta + i * g->parameters + P, k)), h > 0 || token_moving(g, l));
            product(dot.Z, rows, k, k, lanes(token_row(g, t.W, h, 0, k), k), transposed(shared(g->theta + P, k)), ADD);
        }
    }
}

/* <p, w>, p shared by the lanes. */
LINATTN__INLINE vreal token_inner(const double *p, const double *w, size_t k) {
    vreal sum = {0};
    for (size_t j = 0; j < k; j++) sum += p[j] * get(w, j);
    return sum;
}

/* From Z of layer 0 to the query's last entry after the last layer, which is minus the prediction. With p_h row d of P_h:
 *     z'_d = z_d + sum_h p_h.w_h */
LINATTN__INLINE vreal token_forward(const token_group *g, size_t k) {
    const size_t last = g->layers - 1;
    for (size_t l = 0; l < last; l++) token_forward_layer(g, l, k);
    token_forward_heads(g, last, g->n, k);
    const token_layer x = token_layer_at(g, g->values, last, k);
    vreal sum = get(token_row(g, x.Z, 0, g->n, k), k - 1);
    for (size_t h = 0; h < g->heads; h++)
        sum += token_inner(g->theta + token_offset(g, last, h, k) + (k - 1) * k, token_row(g, x.W, h, g->n, k), k);
    return sum;
}

/* The tangent of that in direction i: zdot_d + sum_h dp_h.w_h + p_h.wdot_h. */
LINATTN__INLINE vreal token_rate(const token_group *g, size_t i, size_t k) {
    const size_t last = g->layers - 1;
    const token_layer x = token_layer_at(g, g->values, last, k), t = token_tangent_at(g, i, last, k);
    vreal sum = token_moving(g, last) ? get(token_row(g, t.Z, 0, g->n, k), k - 1) : (vreal){0};
    for (size_t h = 0; h < g->heads; h++) {
        const size_t p = token_offset(g, last, h, k) + (k - 1) * k;
        sum += token_inner(g->dtheta + i * g->parameters + p, token_row(g, x.W, h, g->n, k), k) +
               token_inner(g->theta + p, token_row(g, t.W, h, g->n, k), k);
    }
    return sum;
}

#endif
