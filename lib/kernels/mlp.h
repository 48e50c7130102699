/* mlp.h: a network of one hidden layer on each row of a lane matrix, forward and backward, and the tangents of both:
 *     R = relu(X W_1^T + b_1)               Rdot = (R > 0) (X dW_1^T + Xdot W_1^T + db_1)                   (rows, hidden)
 *     Y = R W_2^T + b_2                     Ydot = Rdot W_2^T + R dW_2^T + db_2                             (rows, width)
 *     Rbar = (R > 0) (Ybar W_2)             Rbardot = (R > 0) (Ybardot W_2 + Ybar dW_2)
 *     W_2bar += Ybar^T R                    W_2bardot += Ybardot^T R + Ybar^T Rdot
 *     W_1bar += Rbar^T X                    W_1bardot += Rbardot^T X + Rbar^T Xdot
 *     b_2bar, b_1bar += the sums over rows of Ybar, Rbar, and likewise their tangents
 *     Xbar = Rbar W_1                       Xbardot = Rbardot W_1 + Rbar dW_1
 * theta holds W_1 (hidden, width), b_1, W_2 (width, hidden), b_2 one after the other, and so do its directions and, times the
 * lanes, its adjoints. Xdot may be absent, for a fixed X. */
#ifndef LINATTN_KERNELS_MLP_H
#define LINATTN_KERNELS_MLP_H

#include "kernels/attention_relu.h"

typedef struct {
    size_t rows, hidden;
    const double *theta;
    factor X;  /* (rows, width) */
    double *R; /* (rows, hidden), made by the forward pass */
} mlp;

/* A direction. */
typedef struct {
    const double *theta;
    factor X;   /* Xdot, read when moving */
    int moving; /* 0: it is zero */
    double *R;  /* Rdot, made by the forward pass */
} mlp_direction;

typedef struct {
    size_t b_1, W_2, b_2; /* W_1 is at 0 */
} mlp_offsets;

LINATTN__INLINE mlp_offsets mlp_at(size_t hidden, size_t width) {
    return (mlp_offsets){hidden * width, hidden * width + hidden, 2 * hidden * width + hidden};
}

LINATTN__INLINE void count_zeros(const double *x, size_t count, vreal *zeros) {
    for (size_t i = 0; i < count; i++) *zeros += vreal_select(get(x, i) == 0.0, vreal_all(1), (vreal){0});
}

/* out (rows, columns) [+]= b (columns) in every row. */
LINATTN__INLINE void fill_rows(double *out, size_t rows, size_t columns, const double *b, int add) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const size_t at = i * columns + j;
            put(out, at, add ? get(out, at) + b[j] : vreal_all(b[j]));
        }
}

/* out (columns) += the sum over the rows of x. */
LINATTN__INLINE void add_rows(double *out, size_t rows, size_t columns, factor x) {
    for (size_t j = 0; j < columns; j++) {
        vreal sum = get(out, j);
        for (size_t i = 0; i < rows; i++) sum += entry(x, i, j);
        put(out, j, sum);
    }
}

/* R, and Y or, with add, out + Y into out; kinks, if not NULL, counts the units that are exactly 0. */
LINATTN__INLINE void mlp_forward(const mlp *m, size_t width, double *out, int add, vreal *kinks) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    fill_rows(m->R, rows, hidden, m->theta + at.b_1, SET);
    product(m->R, rows, width, hidden, m->X, transposed(shared(m->theta, width)), ADD);
    if (kinks) count_zeros(m->R, rows * hidden, kinks);
    relu_forward(m->R, rows * hidden, 1);
    fill_rows(out, rows, width, m->theta + at.b_2, add);
    product(out, rows, hidden, width, lanes(m->R, hidden), transposed(shared(m->theta + at.W_2, hidden)), ADD);
}

/* Rdot and Ydot in a direction, likewise. */
LINATTN__INLINE void mlp_forward_tangent(const mlp *m, const mlp_direction *d, size_t width, double *out, int add) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    fill_rows(d->R, rows, hidden, d->theta + at.b_1, SET);
    product(d->R, rows, width, hidden, m->X, transposed(shared(d->theta, width)), ADD);
    if (d->moving) product(d->R, rows, width, hidden, d->X, transposed(shared(m->theta, width)), ADD);
    relu_apply(m->R, d->R, rows * hidden, 1, d->R);
    fill_rows(out, rows, width, d->theta + at.b_2, add);
    product(out, rows, hidden, width, lanes(d->R, hidden), transposed(shared(m->theta + at.W_2, hidden)), ADD);
    product(out, rows, hidden, width, lanes(m->R, hidden), transposed(shared(d->theta + at.W_2, hidden)), ADD);
}

/* Rbar from Ybar; adds the parameters' adjoints to gradient, unless that is NULL. */
LINATTN__INLINE void mlp_backward(const mlp *m, size_t width, factor Ybar, double *Rbar, double *gradient) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    product(Rbar, rows, width, hidden, Ybar, shared(m->theta + at.W_2, hidden), SET);
    relu_apply(m->R, Rbar, rows * hidden, 1, Rbar);
    if (!gradient) return;
    product(gradient + at.W_2 * LINATTN__LANES, width, rows, hidden, transposed(Ybar), lanes(m->R, hidden), ADD);
    add_rows(gradient + at.b_2 * LINATTN__LANES, rows, width, Ybar);
    product(gradient, hidden, rows, width, transposed(lanes(Rbar, hidden)), m->X, ADD);
    add_rows(gradient + at.b_1 * LINATTN__LANES, rows, hidden, lanes(Rbar, hidden));
}

/* Rbardot from Ybar and Ybardot; adds the tangents of the parameters' adjoints to products. Rbar is read when X moves. */
LINATTN__INLINE void mlp_backward_tangent(const mlp *m, const mlp_direction *d, size_t width, factor Ybar, factor Ybardot,
                                          const double *Rbar, double *Rbardot, double *products) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    double *const W_2bardot = products + at.W_2 * LINATTN__LANES;
    product(Rbardot, rows, width, hidden, Ybardot, shared(m->theta + at.W_2, hidden), SET);
    product(Rbardot, rows, width, hidden, Ybar, shared(d->theta + at.W_2, hidden), ADD);
    relu_apply(m->R, Rbardot, rows * hidden, 1, Rbardot);
    product(W_2bardot, width, rows, hidden, transposed(Ybardot), lanes(m->R, hidden), ADD);
    product(W_2bardot, width, rows, hidden, transposed(Ybar), lanes(d->R, hidden), ADD);
    add_rows(products + at.b_2 * LINATTN__LANES, rows, width, Ybardot);
    product(products, hidden, rows, width, transposed(lanes(Rbardot, hidden)), m->X, ADD);
    if (d->moving) product(products, hidden, rows, width, transposed(lanes(Rbar, hidden)), d->X, ADD);
    add_rows(products + at.b_1 * LINATTN__LANES, rows, hidden, lanes(Rbardot, hidden));
}

/* Xbar (rows, width) += Rbar W_1; Xbardot += Rbardot W_1 + Rbar dW_1. */
LINATTN__INLINE void mlp_add_input(const mlp *m, size_t width, const double *Rbar, double *Xbar) {
    product(Xbar, m->rows, m->hidden, width, lanes(Rbar, m->hidden), shared(m->theta, width), ADD);
}
LINATTN__INLINE void mlp_add_input_tangent(const mlp *m, const mlp_direction *d, size_t width, const double *Rbar,
                                           const double *Rbardot, double *Xbardot) {
    mlp_add_input(m, width, Rbardot, Xbardot);
    product(Xbardot, m->rows, m->hidden, width, lanes(Rbar, m->hidden), shared(d->theta, width), ADD);
}

#endif
