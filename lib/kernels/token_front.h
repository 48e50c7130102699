/* token_front.h: the front MLP of a group of lanes, before token_layers.h and after token_backward.h, whose notation and memory it
 * uses: the network of mlp.h on every token's covariates X (N, d), the query's included. X is fixed; responses pass through. */
#ifndef LINATTN_KERNELS_TOKEN_FRONT_H
#define LINATTN_KERNELS_TOKEN_FRONT_H

#include "kernels/token_backward.h"

LINATTN__INLINE mlp token_front(const token_group *g, size_t k) {
    return (mlp){g->n + 1, g->hidden, g->theta, lanes(g->X, k), g->R};
}

LINATTN__INLINE mlp_direction token_front_direction(const token_group *g, size_t i, size_t k) {
    double *const Rdot = g->Rdot + i * (g->n + 1) * g->hidden * LINATTN__LANES;
    return (mlp_direction){g->dtheta + i * g->parameters, lanes(NULL, k), 0, Rdot};
}

/* Z (N, k) from covariates x (N, d) and the responses of X, or without X 0. */
LINATTN__INLINE void token_join(double *Z, size_t rows, const double *x, const double *X, size_t k) {
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j + 1 < k; j++) put(Z, i * k + j, get(x, i * (k - 1) + j));
        put(Z, i * k + k - 1, X ? get(X, i * k + k - 1) : (vreal){0});
    }
}

/* Z of layer 0 from X; and Zdot, where directions reach this far. */
LINATTN__INLINE void token_front_forward(const token_group *g, size_t k) {
    const mlp m = token_front(g, k);
    mlp_forward(&m, k - 1, g->x, SET, g->kinks);
    token_join(token_layer_at(g, g->values, 0, k).Z, m.rows, g->x, g->X, k);
    for (size_t i = 0; g->first == 0 && i < g->count; i++) {
        const mlp_direction d = token_front_direction(g, i, k);
        mlp_forward_tangent(&m, &d, k - 1, g->x, SET);
        token_join(token_tangent_at(g, i, 0, k).Z, m.rows, g->x, NULL, k);
    }
}

/* From Zbar and Zbardot of layer 0 to the MLP's part of the gradient, if wanted, and of the products. */
LINATTN__INLINE void token_front_backward(const token_group *g, size_t k) {
    const mlp m = token_front(g, k);
    const factor Zbar = lanes(token_adjoint_at(g, g->bars, 0, k).Z, k);
    if (g->gradient) mlp_backward(&m, k - 1, Zbar, g->Rbar, 0, g->gradient);
    for (size_t i = 0; i < g->count; i++) {
        const mlp_direction d = token_front_direction(g, i, k);
        const factor Zbardot = lanes(token_adjoint_at(g, g->dots, i, k).Z, k);
        mlp_backward_tangent(&m, &d, k - 1, Zbar, Zbardot, NULL, g->Rbardot, g->products + i * g->parameters * LINATTN__LANES);
    }
}

#endif
