/* token_backward.h: the backward half of token_layers.h, whose notation and memory it uses.
 *
 * Tangents of its lines:
 *     Wbardot_h = Zbardot' P_h + Zbar' dP_h                 Pbardot_h += Zbardot'^T W_h + Zbar'^T Wdot_h
 *     Abardot_h = M (Wbardot_h Z^T + Wbar_h Zdot^T)         Sbardot_h = J_h Abardot_h + Jdot_h Abar_h
 *     Ubardot_h = Sbardot_h Z + Sbar_h Zdot                 Qbardot_h += Z^T Ubardot_h + Zdot^T Ubar_h
 *     Zbardot = Zbardot' + sum_h (M Adot_h)^T Wbar_h + (M A_h)^T Wbardot_h + Sbardot_h^T U_h + Sbar_h^T Udot_h
 *                              + Ubardot_h Q_h^T + Ubar_h dQ_h^T */
#ifndef LINATTN_KERNELS_TOKEN_BACKWARD_H
#define LINATTN_KERNELS_TOKEN_BACKWARD_H

#include "kernels/token_layers.h"

/* M of a strip of adjoints: 0 at the query's key, if there is one. */
LINATTN__INLINE void token_mask(const token_group *g, double *strip, size_t width) {
    if (g->kind->query_key) memset(strip + g->n * width * LINATTN__LANES, 0, width * LINATTN__LANES * sizeof *strip);
}

/* A strip of rows of head h: Ubar, Ubardot; their parts of Zbar, Zbardot where these are wanted. */
LINATTN__INLINE void token_backward_strip(const token_group *g, size_t l, size_t h, size_t row, size_t width, size_t k) {
    const size_t n = g->n, keys = token_keys(g);
    const int moving = token_moving(g, l);
    const token_layer x = token_layer_at(g, g->values, l, k);
    const token_adjoint bar = token_adjoint_at(g, g->bars, 0, k);
    const factor Z = lanes(x.Z, k), U = lanes(token_row(g, x.U, h, row, k), k), Wbar = lanes(token_row(g, bar.W, h, row, k), k);
    double *const Ubar = token_row(g, bar.U, 0, row, k);
    double *const a = token_strip(g, l, h, row), *const sbar = g->count ? g->sbar : g->abar; /* only products want both */
    if (!g->kept) token_scores(g, x, a, h, row, width, k);
    product(g->abar, n, k, width, Z, transposed(Wbar), SET);
    token_mask(g, g->abar, width);
    g->kind->apply(a, g->abar, keys, width, sbar);
    product(Ubar, width, keys, k, transposed(lanes(sbar, width)), Z, SET);
    if (moving) {
        product(bar.Z, n, width, k, lanes(a, width), Wbar, ADD);
        product(bar.Z, keys, width, k, lanes(sbar, width), U, ADD);
    }
    for (size_t i = 0; i < g->count; i++) {
        const token_layer t = token_tangent_at(g, i, l, k);
        const token_adjoint dot = token_adjoint_at(g, g->dots, i, k);
        const factor Zdot = lanes(t.Z, k), Wbardot = lanes(token_row(g, dot.W, h, row, k), k);
        double *const Ubardot = token_row(g, dot.U, 0, row, k);
        token_scores_tangent(g, x, t, a, moving, h, row, width, k);
        product(g->sdot, n, k, width, Z, transposed(Wbardot), SET);
        if (moving) product(g->sdot, n, k, width, Zdot, transposed(Wbar), ADD);
        token_mask(g, g->sdot, width);
        g->kind->apply(a, g->sdot, keys, width, g->sdot);
        g->kind->bend(a, g->adot, g->abar, keys, width, g->sdot);
        product(Ubardot, width, keys, k, transposed(lanes(g->sdot, width)), Z, SET);
        if (!moving) continue;
        product(Ubardot, width, keys, k, transposed(lanes(sbar, width)), Zdot, ADD);
        product(dot.Z, n, width, k, lanes(g->adot, width), Wbar, ADD);
        product(dot.Z, n, width, k, lanes(a, width), Wbardot, ADD);
        product(dot.Z, keys, width, k, lanes(g->sdot, width), U, ADD);
        product(dot.Z, keys, width, k, lanes(sbar, width), lanes(token_row(g, t.U, h, row, k), k), ADD);
    }
}

/* From Wbar of rows `from` to the query's on: the strips, Qbar, and the rest of Zbar. */
LINATTN__INLINE void token_backward_heads(const token_group *g, size_t l, size_t from, size_t k) {
    const size_t rows = g->n + 1 - from;
    const int moving = token_moving(g, l);
    const token_layer x = token_layer_at(g, g->values, l, k);
    const token_adjoint bar = token_adjoint_at(g, g->bars, 0, k);
    const factor Z = lanes(token_row(g, x.Z, 0, from, k), k), Ubar = lanes(token_row(g, bar.U, 0, from, k), k);
    for (size_t h = 0; h < g->heads; h++) {
        const size_t Q = token_offset(g, l, h, k) + k * k;
        size_t row = from;
        for (; row + STRIP <= g->n; row += STRIP) token_backward_strip(g, l, h, row, STRIP, k);
        for (; row <= g->n; row++) token_backward_strip(g, l, h, row, 1, k);
        if (g->gradient) product(g->gradient + Q * LINATTN__LANES, k, rows, k, transposed(Z), Ubar, ADD);
        if (moving) product(token_row(g, bar.Z, 0, from, k), rows, k, k, Ubar, transposed(shared(g->theta + Q, k)), ADD);
        for (size_t i = 0; i < g->count; i++) {
            const token_layer t = token_tangent_at(g, i, l, k);
            const token_adjoint dot = token_adjoint_at(g, g->dots, i, k);
            const factor Ubardot = lanes(token_row(g, dot.U, 0, from, k), k);
            double *const Qbardot = g->products + (i * g->parameters + Q) * LINATTN__LANES;
            double *const Zbardot = token_row(g, dot.Z, 0, from, k);
            product(Qbardot, k, rows, k, transposed(Z), Ubardot, ADD);
            if (!moving) continue;
            product(Qbardot, k, rows, k, transposed(lanes(token_row(g, t.Z, 0, from, k), k)), Ubar, ADD);
            product(Zbardot, rows, k, k, Ubardot, transposed(shared(g->theta + Q, k)), ADD);
            product(Zbardot, rows, k, k, Ubar, transposed(shared(g->dtheta + i * g->parameters + Q, k)), ADD);
        }
    }
}

/* to (count) += scale * from. */
LINATTN__INLINE void token_add_scaled(double *to, vreal scale, const double *from, size_t count) {
    for (size_t j = 0; j < count; j++) put(to, j, get(to, j) + scale * get(from, j));
}

/* Zbar' and Zbardot' of the last layer: only the query's last entry is not 0. */
LINATTN__INLINE void token_backward_begin(const token_group *g, vreal zbar_d, const double *zbardot_d, size_t k) {
    const size_t matrix = (g->n + 1) * k * LINATTN__LANES;
    const token_adjoint bar = token_adjoint_at(g, g->bars, 0, k);
    memset(bar.Z, 0, matrix * sizeof *bar.Z);
    put(token_row(g, bar.Z, 0, g->n, k), k - 1, zbar_d);
    for (size_t i = 0; i < g->count; i++) {
        const token_adjoint dot = token_adjoint_at(g, g->dots, i, k);
        memset(dot.Z, 0, matrix * sizeof *dot.Z);
        put(token_row(g, dot.Z, 0, g->n, k), k - 1, get(zbardot_d, i));
    }
}

/* The last layer, without a feed-forward block:
 *     wbar_h = zbar_d p_h          (Pbar_h)_d += zbar_d w_h          wbardot_h = zbardot_d p_h + zbar_d dp_h
 *     (Pbardot_h)_d += zbardot_d w_h + zbar_d wdot_h */
LINATTN__INLINE void token_backward_last(const token_group *g, vreal zbar_d, const double *zbardot_d, size_t k) {
    const size_t l = g->layers - 1;
    const token_layer x = token_layer_at(g, g->values, l, k);
    const token_adjoint bar = token_adjoint_at(g, g->bars, 0, k);
    for (size_t h = 0; h < g->heads; h++) {
        const size_t p = token_offset(g, l, h, k) + (k - 1) * k;
        const double *const w = token_row(g, x.W, h, g->n, k);
        double *const wbar = token_row(g, bar.W, h, g->n, k);
        for (size_t j = 0; j < k; j++) put(wbar, j, zbar_d * g->theta[p + j]);
        if (g->gradient) token_add_scaled(g->gradient + p * LINATTN__LANES, zbar_d, w, k);
        for (size_t i = 0; i < g->count; i++) {
            const token_layer t = token_tangent_at(g, i, l, k);
            const double *const dp = g->dtheta + i * g->parameters + p;
            double *const wbardot = token_row(g, token_adjoint_at(g, g->dots, i, k).W, h, g->n, k);
            double *const pbardot = g->products + (i * g->parameters + p) * LINATTN__LANES;
            for (size_t j = 0; j < k; j++) put(wbardot, j, get(zbardot_d, i) * g->theta[p + j] + zbar_d * dp[j]);
            token_add_scaled(pbardot, get(zbardot_d, i), w, k);
            token_add_scaled(pbardot, zbar_d, token_row(g, t.W, h, g->n, k), k);
        }
    }
}

/* Any layer, from Zbar' of rows `from` on: Wbar, Pbar. */
LINATTN__INLINE void token_backward_values(const token_group *g, size_t l, size_t from, size_t k) {
    const size_t rows = g->n + 1 - from;
    const token_layer x = token_layer_at(g, g->values, l, k);
    const token_adjoint bar = token_adjoint_at(g, g->bars, 0, k);
    const factor Zbar = lanes(token_row(g, bar.Z, 0, from, k), k);
    for (size_t h = 0; h < g->heads; h++) {
        const size_t P = token_offset(g, l, h, k);
        const factor W = lanes(token_row(g, x.W, h, from, k), k);
        product(token_row(g, bar.W, h, from, k), rows, k, k, Zbar, shared(g->theta + P, k), SET);
        if (g->gradient) product(g->gradient + P * LINATTN__LANES, k, rows, k, transposed(Zbar), W, ADD);
        for (size_t i = 0; i < g->count; i++) {
            const token_layer t = token_tangent_at(g, i, l, k);
            const token_adjoint dot = token_adjoint_at(g, g->dots, i, k);
            const factor Zbardot = lanes(token_row(g, dot.Z, 0, from, k), k);
            double *const Wbardot = token_row(g, dot.W, h, from, k);
            double *const Pbardot = g->products + (i * g->parameters + P) * LINATTN__LANES;
            product(Wbardot, rows, k, k, Zbardot, shared(g->theta + P, k), SET);
            product(Wbardot, rows, k, k, Zbar, shared(g->dtheta + i * g->parameters + P, k), ADD);
            product(Pbardot, k, rows, k, transposed(Zbardot), W, ADD);
            product(Pbardot, k, rows, k, transposed(Zbar), lanes(token_row(g, t.W, h, from, k), k), ADD);
        }
    }
}

/* Adds the gradient, if wanted, and the products of layers L-1 down to the first that is reached; zbar_d and zbardot_d (count) are
 * the adjoint of the query's last entry and its tangents. */
LINATTN__INLINE void token_backward(const token_group *g, vreal zbar_d, const double *zbardot_d, size_t k) {
    token_backward_begin(g, zbar_d, zbardot_d, k);
    for (size_t l = g->layers; l-- > 0 && token_reached(g, l);) {
        const size_t from = l + 1 < g->layers ? 0 : g->n;
        if (g->ff) token_ff_backward(g, l, from, k);
        if (l + 1 == g->layers && !g->ff)
            token_backward_last(g, zbar_d, zbardot_d, k);
        else
            token_backward_values(g, l, from, k);
        token_backward_heads(g, l, from, k);
    }
}

#endif
