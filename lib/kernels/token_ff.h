/* token_ff.h: the feed-forward block after the attention of a layer, on rows `from` to the query's: with Y = Z + sum_h W_h P_h^T,
 * what attention makes of Z, and the network of mlp.h on all k entries of a token,
 *     Z' = Y + ff(Y)                        Zdot' = Ydot + its tangent
 *     Ybar = Zbar' + Rbar W_1               Ybardot = Zbardot' + Rbardot W_1 + Rbar dW_1
 * Notation and memory are those of token_layers.h. */
#ifndef LINATTN_KERNELS_TOKEN_FF_H
#define LINATTN_KERNELS_TOKEN_FF_H

#include "kernels/mlp.h"
#include "kernels/token_state.h"

LINATTN__INLINE mlp token_ff(const token_group *g, token_layer x, size_t l, size_t from, size_t k) {
    return (mlp){g->n + 1 - from, g->ff, g->theta + token_ff_offset(g, l, k), lanes(token_row(g, x.Y, 0, from, k), k), x.R};
}

/* Directions that reach a layer move its Y. */
LINATTN__INLINE mlp_direction token_ff_direction(const token_group *g, size_t i, size_t l, size_t from, size_t k) {
    const token_layer t = token_tangent_at(g, i, l, k);
    const double *const theta = g->dtheta + i * g->parameters + token_ff_offset(g, l, k);
    return (mlp_direction){theta, lanes(token_row(g, t.Y, 0, from, k), k), 1, t.R};
}

/* to = from, rows `row` to the query's of matrices (N, k). */
LINATTN__INLINE void token_copy_rows(const token_group *g, double *to, double *from, size_t row, size_t k) {
    memcpy(token_row(g, to, 0, row, k), token_row(g, from, 0, row, k), (g->n + 1 - row) * k * LINATTN__LANES * sizeof *to);
}

/* Z' from Y, and Zdot' from Ydot where directions reach. */
LINATTN__INLINE void token_ff_forward(const token_group *g, size_t l, size_t from, size_t k) {
    const token_layer x = token_layer_at(g, g->values, l, k), next = token_layer_at(g, g->values, l + 1, k);
    const mlp m = token_ff(g, x, l, from, k);
    token_copy_rows(g, next.Z, x.Y, from, k);
    mlp_forward(&m, k, token_row(g, next.Z, 0, from, k), ADD, g->kinks);
    for (size_t i = 0; token_reached(g, l) && i < g->count; i++) {
        const mlp_direction d = token_ff_direction(g, i, l, from, k);
        double *const Zdot = token_tangent_at(g, i, l + 1, k).Z;
        token_copy_rows(g, Zdot, token_tangent_at(g, i, l, k).Y, from, k);
        mlp_forward_tangent(&m, &d, k, token_row(g, Zdot, 0, from, k), ADD);
    }
}

/* Zbar' becomes Ybar, Zbardot' Ybardot; adds the block's part of the gradient, if wanted, and of the products. */
LINATTN__INLINE void token_ff_backward(const token_group *g, size_t l, size_t from, size_t k) {
    const mlp m = token_ff(g, token_layer_at(g, g->values, l, k), l, from, k);
    const size_t at = token_ff_offset(g, l, k) * LINATTN__LANES;
    double *const Zbar = token_row(g, token_adjoint_at(g, g->bars, 0, k).Z, 0, from, k);
    mlp_backward(&m, k, lanes(Zbar, k), g->Rbar, 1, g->gradient ? g->gradient + at : NULL);
    for (size_t i = 0; i < g->count; i++) {
        const mlp_direction d = token_ff_direction(g, i, l, from, k);
        double *const Zbardot = token_row(g, token_adjoint_at(g, g->dots, i, k).Z, 0, from, k);
        double *const products = g->products + i * g->parameters * LINATTN__LANES + at;
        mlp_backward_tangent(&m, &d, k, lanes(Zbar, k), lanes(Zbardot, k), g->Rbar, g->Rbardot, products);
        mlp_add_input_tangent(&m, &d, k, g->Rbar, g->Rbardot, Zbardot);
    }
    mlp_add_input(&m, k, g->Rbar, Zbar);
}

#endif
