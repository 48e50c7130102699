/* mlp.h: a network of one hidden layer on each row of a lane matrix, forward and backward, and the tangents of both. Units R are
 * held unit by unit, (hidden, rows):
 *     R = relu(W_1 X^T + b_1)               Rdot = (R > 0) (dW_1 X^T + W_1 Xdot^T + db_1)
 *     Y = R^T W_2^T + b_2                   Ydot = Rdot^T W_2^T + R^T dW_2^T + db_2                         (rows, width)
 *     Rbar = (R > 0) (W_2^T Ybar^T)         Rbardot = (R > 0) (W_2^T Ybardot^T + dW_2^T Ybar^T)
 *     W_2bar += (R Ybar)^T                  W_2bardot += (R Ybardot + Rdot Ybar)^T
 *     W_1bar += Rbar X                      W_1bardot += Rbardot X + Rbar Xdot
 *     b_2bar, b_1bar += the sums of Ybar, Rbar over the rows of X, and likewise their tangents
 *     Xbar = Rbar^T W_1                     Xbardot = Rbardot^T W_1 + Rbar^T dW_1
 * theta holds W_1 (hidden, width), b_1, W_2 (width, hidden), b_2 one after the other, and so do its directions and, times the
 * lanes, its adjoints. Rows may be taken some at a time: sums over them are added to. A width that the compiler knows, and few
 * enough, keeps a row or a unit at a time in registers; products serve the other sizes. */
#ifndef LINATTN_KERNELS_MLP_H
#define LINATTN_KERNELS_MLP_H

#include "kernels/attention_relu.h"

enum {
    MLP_NARROW = 5,                        /* the largest width of the loops that stay in registers */
    MLP_ROWS = LINATTN__LANES == 8 ? 2 : 1 /* rows of the forward one; registers are 32 with 8 lanes and 16 otherwise */
};

/* Whether the width is such a number. */
#define MLP_IS_NARROW(width) (__builtin_constant_p(width) && (width) <= MLP_NARROW)

typedef struct {
    size_t rows, hidden;
    const double *theta;
    factor X;  /* (rows, width) */
    double *R; /* (hidden, rows), made by the forward pass */
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

/* out (rows, columns) is b (rows) in every column. */
LINATTN__INLINE void mlp_fill_units(double *out, size_t rows, size_t columns, const double *b) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) put(out, i * columns + j, vreal_all(b[i]));
}

/* out (rows, columns) [+]= b (columns) in every row. */
LINATTN__INLINE void mlp_fill_rows(double *out, size_t rows, size_t columns, const double *b, int add) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const size_t at = i * columns + j;
            put(out, at, add ? get(out, at) + b[j] : vreal_all(b[j]));
        }
}

/* out (rows) += the sums of the rows of x (rows, columns). */
LINATTN__INLINE void mlp_add_sums(double *out, size_t rows, size_t columns, factor x) {
    for (size_t i = 0; i < rows; i++) {
        vreal sum = get(out, i);
        for (size_t j = 0; j < columns; j++) sum += entry(x, i, j);
        put(out, i, sum);
    }
}

/* R; kinks, if not NULL, counts the units that are exactly 0. */
LINATTN__INLINE void mlp_units(const mlp *m, size_t width, vreal *kinks) {
    mlp_fill_units(m->R, m->hidden, m->rows, m->theta + mlp_at(m->hidden, width).b_1);
    product(m->R, m->hidden, width, m->rows, shared(m->theta, width), transposed(m->X), ADD);
    if (kinks) count_zeros(m->R, m->rows * m->hidden, kinks);
    relu_forward(m->R, m->rows * m->hidden, 1);
}

/* Rows row .. row+count-1 of Y and columns of R, no more than MLP_ROWS, of a narrow width. */
LINATTN__INLINE void mlp_forward_rows(const mlp *m, size_t row, size_t count, size_t width, double *Y) {
    const mlp_offsets at = mlp_at(m->hidden, width);
    vreal x[MLP_ROWS][MLP_NARROW], y[MLP_ROWS][MLP_NARROW];
    LINATTN__UNROLL
    for (size_t t = 0; t < count; t++) {
        LINATTN__UNROLL
        for (size_t i = 0; i < width; i++) {
            x[t][i] = entry(m->X, row + t, i);
            y[t][i] = vreal_all(m->theta[at.b_2 + i]);
        }
    }
    for (size_t j = 0; j < m->hidden; j++) {
        LINATTN__UNROLL
        for (size_t t = 0; t < count; t++) {
            vreal sum = vreal_all(m->theta[at.b_1 + j]);
            LINATTN__UNROLL
            for (size_t i = 0; i < width; i++) sum += m->theta[j * width + i] * x[t][i];
            const vreal r = vreal_select(sum <= 0.0, (vreal){0}, sum);
            put(m->R, j * m->rows + row + t, r);
            LINATTN__UNROLL
            for (size_t i = 0; i < width; i++) y[t][i] += m->theta[at.W_2 + i * m->hidden + j] * r;
        }
    }
    LINATTN__UNROLL
    for (size_t t = 0; t < count; t++) {
        LINATTN__UNROLL
        for (size_t i = 0; i < width; i++) put(Y, (row + t) * width + i, y[t][i]);
    }
}

/* R, and Y or, with add, out + Y into out; kinks as above. */
LINATTN__INLINE void mlp_forward(const mlp *m, size_t width, double *out, int add, vreal *kinks) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    if (MLP_IS_NARROW(width) && !add && !kinks) {
        size_t row = 0;
        for (; row + MLP_ROWS <= rows; row += MLP_ROWS) mlp_forward_rows(m, row, MLP_ROWS, width, out);
        for (; row < rows; row++) mlp_forward_rows(m, row, 1, width, out);
        return;
    }
    mlp_units(m, width, kinks);
    mlp_fill_rows(out, rows, width, m->theta + at.b_2, add);
    product(out, rows, hidden, width, transposed(lanes(m->R, rows)), transposed(shared(m->theta + at.W_2, hidden)), ADD);
}

/* Rdot in a direction. */
LINATTN__INLINE void mlp_units_tangent(const mlp *m, const mlp_direction *d, size_t width) {
    mlp_fill_units(d->R, m->hidden, m->rows, d->theta + mlp_at(m->hidden, width).b_1);
    product(d->R, m->hidden, width, m->rows, shared(d->theta, width), transposed(m->X), ADD);
    if (d->moving) product(d->R, m->hidden, width, m->rows, shared(m->theta, width), transposed(d->X), ADD);
    relu_apply(m->R, d->R, m->rows * m->hidden, 1, d->R);
}

/* Rdot and Ydot, likewise. */
LINATTN__INLINE void mlp_forward_tangent(const mlp *m, const mlp_direction *d, size_t width, double *out, int add) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    mlp_units_tangent(m, d, width);
    mlp_fill_rows(out, rows, width, d->theta + at.b_2, add);
    product(out, rows, hidden, width, transposed(lanes(d->R, rows)), transposed(shared(m->theta + at.W_2, hidden)), ADD);
    product(out, rows, hidden, width, transposed(lanes(m->R, rows)), transposed(shared(d->theta + at.W_2, hidden)), ADD);
}

/* Unit j's part of the lane sums `gradient`, of a narrow width. */
LINATTN__INLINE void mlp_backward_unit(const mlp *m, size_t j, size_t width, factor Ybar, double *gradient) {
    const size_t hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    double *const W_1bar = gradient + j * width * LINATTN__LANES, *const b_1bar = gradient + (at.b_1 + j) * LINATTN__LANES;
    double *const W_2bar = gradient + (at.W_2 + j) * LINATTN__LANES;
    vreal w_1[MLP_NARROW], w_2[MLP_NARROW], b_1 = get(b_1bar, 0);
    LINATTN__UNROLL
    for (size_t i = 0; i < width; i++) {
        w_1[i] = get(W_1bar, i);
        w_2[i] = get(W_2bar, i * hidden);
    }
    for (size_t t = 0; t < m->rows; t++) {
        const vreal r = get(m->R, j * m->rows + t);
        vreal sum = {0};
        LINATTN__UNROLL
        for (size_t i = 0; i < width; i++) sum += m->theta[at.W_2 + i * hidden + j] * entry(Ybar, t, i);
        const vreal rbar = vreal_select(r > 0.0, sum, (vreal){0});
        b_1 += rbar;
        LINATTN__UNROLL
        for (size_t i = 0; i < width; i++) {
            w_1[i] += rbar * entry(m->X, t, i);
            w_2[i] += r * entry(Ybar, t, i);
        }
    }
    LINATTN__UNROLL
    for (size_t i = 0; i < width; i++) {
        put(W_1bar, i, w_1[i]);
        put(W_2bar, i * hidden, w_2[i]);
    }
    put(b_1bar, 0, b_1);
}

/* Adds the parameters' adjoints to the lane sums `gradient`, unless that is NULL. Rbar: scratch, or with `input` a result, which
 * mlp_add_input reads. */
LINATTN__INLINE void mlp_backward(const mlp *m, size_t width, factor Ybar, double *Rbar, int input, double *gradient) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    if (gradient) mlp_add_sums(gradient + at.b_2 * LINATTN__LANES, width, rows, transposed(Ybar));
    if (MLP_IS_NARROW(width) && !input) {
        for (size_t j = 0; gradient && j < hidden; j++) mlp_backward_unit(m, j, width, Ybar, gradient);
        return;
    }
    product(Rbar, hidden, width, rows, transposed(shared(m->theta + at.W_2, hidden)), transposed(Ybar), SET);
    relu_apply(m->R, Rbar, rows * hidden, 1, Rbar);
    if (!gradient) return;
    product(gradient + at.W_2 * LINATTN__LANES, width, rows, hidden, transposed(Ybar), transposed(lanes(m->R, rows)), ADD);
    product(gradient, hidden, rows, width, lanes(Rbar, rows), m->X, ADD);
    mlp_add_sums(gradient + at.b_1 * LINATTN__LANES, hidden, rows, lanes(Rbar, rows));
}

/* Rbardot from Ybar and Ybardot; adds the tangents of the parameters' adjoints to products. Rbar is read when X moves. */
LINATTN__INLINE void mlp_backward_tangent(const mlp *m, const mlp_direction *d, size_t width, factor Ybar, factor Ybardot,
                                          const double *Rbar, double *Rbardot, double *products) {
    const size_t rows = m->rows, hidden = m->hidden;
    const mlp_offsets at = mlp_at(hidden, width);
    double *const W_2bardot = products + at.W_2 * LINATTN__LANES;
    product(Rbardot, hidden, width, rows, transposed(shared(m->theta + at.W_2, hidden)), transposed(Ybardot), SET);
    product(Rbardot, hidden, width, rows, transposed(shared(d->theta + at.W_2, hidden)), transposed(Ybar), ADD);
    relu_apply(m->R, Rbardot, rows * hidden, 1, Rbardot);
    mlp_add_sums(products + at.b_2 * LINATTN__LANES, width, rows, transposed(Ybardot));
    product(W_2bardot, width, rows, hidden, transposed(Ybardot), transposed(lanes(m->R, rows)), ADD);
    product(W_2bardot, width, rows, hidden, transposed(Ybar), transposed(lanes(d->R, rows)), ADD);
    product(products, hidden, rows, width, lanes(Rbardot, rows), m->X, ADD);
    if (d->moving) product(products, hidden, rows, width, lanes(Rbar, rows), d->X, ADD);
    mlp_add_sums(products + at.b_1 * LINATTN__LANES, hidden, rows, lanes(Rbardot, rows));
}

/* Xbar (rows, width) += Rbar^T W_1; Xbardot += Rbardot^T W_1 + Rbar^T dW_1. */
LINATTN__INLINE void mlp_add_input(const mlp *m, size_t width, const double *Rbar, double *Xbar) {
    product(Xbar, m->rows, m->hidden, width, transposed(lanes(Rbar, m->rows)), shared(m->theta, width), ADD);
}
LINATTN__INLINE void mlp_add_input_tangent(const mlp *m, const mlp_direction *d, size_t width, const double *Rbar,
                                           const double *Rbardot, double *Xbardot) {
    mlp_add_input(m, width, Rbardot, Xbardot);
    product(Xbardot, m->rows, m->hidden, width, transposed(lanes(Rbar, m->rows)), shared(d->theta, width), ADD);
}

#endif
