/* token_front.h: the front MLP of a group of lanes, before token_layers.h and after token_backward.h, whose notation and memory it
 * uses: on every token's covariates X (N, d), the query's included,
 *     R = relu(X W_1^T + b_1)         X' = R W_2^T + b_2
 *     W_2bar += Xbar'^T R             b_2bar += sum over rows of Xbar'          Rbar = (R > 0) (Xbar' W_2)
 *     W_1bar += Rbar^T X              b_1bar += sum over rows of Rbar
 * and their tangents, X itself being fixed. Responses pass through. */
#ifndef LINATTN_KERNELS_TOKEN_FRONT_H
#define LINATTN_KERNELS_TOKEN_FRONT_H

#include "kernels/token_backward.h"

/* Where the parts lie in theta, in its directions and, times the lanes, in its adjoints. */
typedef struct {
    size_t W_1, b_1, W_2, b_2;
} token_front_offsets;

LINATTN__INLINE token_front_offsets token_front_at(size_t hidden, size_t d) {
    return (token_front_offsets){0, hidden * d, hidden * d + hidden, 2 * hidden * d + hidden};
}

/* out (rows, columns): b (columns) in every row. */
LINATTN__INLINE void token_fill_rows(double *out, size_t rows, size_t columns, const double *b) {
    for (size_t i = 0; i < rows * columns; i++) put(out, i, vreal_all(b[i % columns]));
}

/* out (columns) += the sum over the rows of x, whose rows are `stride` apart. */
LINATTN__INLINE void token_add_rows(double *out, size_t rows, size_t columns, const double *x, size_t stride) {
    for (size_t j = 0; j < columns; j++) {
        vreal sum = get(out, j);
        for (size_t i = 0; i < rows; i++) sum += get(x, i * stride + j);
        put(out, j, sum);
    }
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
    const size_t rows = g->n + 1, d = k - 1, hidden = g->hidden;
    const token_front_offsets at = token_front_at(hidden, d);
    token_fill_rows(g->R, rows, hidden, g->theta + at.b_1);
    product(g->R, rows, d, hidden, lanes(g->X, k), transposed(shared(g->theta + at.W_1, d)), ADD);
    if (g->kinks) token_count_zeros(g->R, rows * hidden, g->kinks);
    relu_forward(g->R, rows * hidden, 1);
    token_fill_rows(g->x, rows, d, g->theta + at.b_2);
    product(g->x, rows, hidden, d, lanes(g->R, hidden), transposed(shared(g->theta + at.W_2, hidden)), ADD);
    token_join(token_layer_at(g, g->values, 0, k).Z, rows, g->x, g->X, k);
    for (size_t i = 0; g->first == 0 && i < g->count; i++) {
        const double *const dtheta = g->dtheta + i * g->parameters;
        double *const Rdot = g->Rdot + i * rows * hidden * LINATTN__LANES;
        token_fill_rows(Rdot, rows, hidden, dtheta + at.b_1);
        product(Rdot, rows, d, hidden, lanes(g->X, k), transposed(shared(dtheta + at.W_1, d)), ADD);
        relu_apply(g->R, Rdot, rows * hidden, 1, Rdot);
        token_fill_rows(g->x, rows, d, dtheta + at.b_2);
        product(g->x, rows, hidden, d, lanes(Rdot, hidden), transposed(shared(g->theta + at.W_2, hidden)), ADD);
        product(g->x, rows, hidden, d, lanes(g->R, hidden), transposed(shared(dtheta + at.W_2, hidden)), ADD);
        token_join(token_tangent_at(g, i, 0, k).Z, rows, g->x, NULL, k);
    }
}

/* From Zbar and Zbardot of layer 0 to the MLP's part of the gradient, if wanted, and of the products. */
LINATTN__INLINE void token_front_backward(const token_group *g, size_t k) {
    const size_t rows = g->n + 1, d = k - 1, hidden = g->hidden;
    const token_front_offsets at = token_front_at(hidden, d);
    const double *const Zbar = token_adjoint_at(g, g->bars, 0, k).Z;
    double *const gradient = g->gradient;
    if (gradient) {
        product(gradient + at.W_2 * LINATTN__LANES, d, rows, hidden, transposed(lanes(Zbar, k)), lanes(g->R, hidden), ADD);
        token_add_rows(gradient + at.b_2 * LINATTN__LANES, rows, d, Zbar, k);
        product(g->Rbar, rows, d, hidden, lanes(Zbar, k), shared(g->theta + at.W_2, hidden), SET);
        relu_apply(g->R, g->Rbar, rows * hidden, 1, g->Rbar);
        product(gradient + at.W_1 * LINATTN__LANES, hidden, rows, d, transposed(lanes(g->Rbar, hidden)), lanes(g->X, k), ADD);
        token_add_rows(gradient + at.b_1 * LINATTN__LANES, rows, hidden, g->Rbar, hidden);
    }
    for (size_t i = 0; i < g->count; i++) {
        const double *const dtheta = g->dtheta + i * g->parameters, *const Zbardot = token_adjoint_at(g, g->dots, i, k).Z;
        const double *const Rdot = g->Rdot + i * rows * hidden * LINATTN__LANES;
        double *const out = g->products + i * g->parameters * LINATTN__LANES, *const Rbardot = g->Rbar;
        product(out + at.W_2 * LINATTN__LANES, d, rows, hidden, transposed(lanes(Zbardot, k)), lanes(g->R, hidden), ADD);
        product(out + at.W_2 * LINATTN__LANES, d, rows, hidden, transposed(lanes(Zbar, k)), lanes(Rdot, hidden), ADD);
        token_add_rows(out + at.b_2 * LINATTN__LANES, rows, d, Zbardot, k);
        product(Rbardot, rows, d, hidden, lanes(Zbardot, k), shared(g->theta + at.W_2, hidden), SET);
        product(Rbardot, rows, d, hidden, lanes(Zbar, k), shared(dtheta + at.W_2, hidden), ADD);
        relu_apply(g->R, Rbardot, rows * hidden, 1, Rbardot);
        product(out + at.W_1 * LINATTN__LANES, hidden, rows, d, transposed(lanes(Rbardot, hidden)), lanes(g->X, k), ADD);
        token_add_rows(out + at.b_1 * LINATTN__LANES, rows, hidden, Rbardot, hidden);
    }
}

#endif
