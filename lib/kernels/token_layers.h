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

#include "kernels/token_ff.h"

/* A of a strip, from Z and U. */
LINATTN__INLINE void token_scores(const token_group *g, token_layer x, double *a, size_t h, size_t row, size_t width, size_t k) {
    const size_t keys = token_keys(g);
    product(a, keys, k, width, lanes(x.Z, k), transposed(lanes(token_row(g, x.U, h, row, k), k)), SET);
    if (g->kinks && g->kind->bends) count_zeros(a, keys * width, g->kinks);
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

/* Where attention puts Z' of a layer, or Y where a feed-forward block follows. */
LINATTN__INLINE double *token_output(const token_group *g, token_layer x, token_layer next) { return g->ff ? x.Y : next.Z; }

/* Z' = Z + sum_h W_h P_h^T; Zdot' = Zdot + sum_h W_h dP_h^T + Wdot_h P_h^T; then the feed-forward block; of rows `from` on, whose heads are done. */
LINATTN__INLINE void token_forward_rest(const token_group *g, size_t l, size_t from, size_t k) {
    const size_t rows = g->n + 1 - from;
    const token_layer x = token_layer_at(g, g->values, l, k);
    double *const out = token_output(g, x, token_layer_at(g, g->values, l + 1, k));
    token_copy_rows(g, out, x.Z, from, k);
    for (size_t h = 0; h < g->heads; h++)
        product(token_row(g, out, 0, from, k), rows, k, k, lanes(token_row(g, x.W, h, from, k), k),
                transposed(shared(g->theta + token_offset(g, l, h, k), k)), ADD);
    for (size_t i = 0; token_reached(g, l) && i < g->count; i++) {
        const token_layer t = token_tangent_at(g, i, l, k);
        double *const dot = token_output(g, t, token_tangent_at(g, i, l + 1, k)), *const rest = token_row(g, dot, 0, from, k);
        if (token_moving(g, l)) token_copy_rows(g, dot, t.Z, from, k);
        for (size_t h = 0; h < g->heads; h++) {
            const size_t P = token_offset(g, l, h, k);
            product(rest, rows, k, k, lanes(token_row(g, x.W, h, from, k), k),
                    transposed(shared(g->dtheta + i * g->parameters + P, k)), h > 0 || token_moving(g, l));
            product(rest, rows, k, k, lanes(token_row(g, t.W, h, from, k), k), transposed(shared(g->theta + P, k)), ADD);
        }
    }
    if (g->ff) token_ff_forward(g, l, from, k);
}

/* <p, w>, p shared by the lanes. */
LINATTN__INLINE vreal token_inner(const double *p, const double *w, size_t k) {
    vreal sum = {0};
    for (size_t j = 0; j < k; j++) sum += p[j] * get(w, j);
    return sum;
}

/* The last layer, without a feed-forward block, only gives the query's last entry: with p_h row d of P_h,
 *     z'_d = z_d + sum_h p_h.w_h */
LINATTN__INLINE vreal token_forward_last(const token_group *g, size_t k) {
    const size_t last = g->layers - 1;
    const token_layer x = token_layer_at(g, g->values, last, k);
    vreal sum = get(token_row(g, x.Z, 0, g->n, k), k - 1);
    for (size_t h = 0; h < g->heads; h++)
        sum += token_inner(g->theta + token_offset(g, last, h, k) + (k - 1) * k, token_row(g, x.W, h, g->n, k), k);
    return sum;
}

/* From Z of layer 0 to the query's last entry after the last layer, which is minus the prediction. A feed-forward block wants the
 * query's other entries too. Code of a layer stands here once: with all sizes unrolled it is large. */
LINATTN__INLINE vreal token_forward(const token_group *g, size_t k) {
    for (size_t l = 0; l < g->layers; l++) {
        const size_t from = l + 1 < g->layers ? 0 : g->n;
        token_forward_heads(g, l, from, k);
        if (l + 1 == g->layers && !g->ff) return token_forward_last(g, k);
        token_forward_rest(g, l, from, k);
    }
    return get(token_row(g, token_layer_at(g, g->values, g->layers, k).Z, 0, g->n, k), k - 1);
}

/* The tangent of that in direction i: zdot_d + sum_h dp_h.w_h + p_h.wdot_h. */
LINATTN__INLINE vreal token_rate(const token_group *g, size_t i, size_t k) {
    const size_t last = g->layers - 1;
    if (g->ff) return get(token_row(g, token_tangent_at(g, i, g->layers, k).Z, 0, g->n, k), k - 1);
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
