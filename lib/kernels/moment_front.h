/* moment_front.h: the front MLP (mlp.h) of a group of lanes, around the moment path. Of the tokens' covariates X (N, d), N = n + 1
 * with the query's last, and responses y it makes Z = (Y, y), Y being the network's output; with Z_n for the n rows of the context,
 *     C = Z_n^T Z_n                                 q = row n of Z
 *     Ybar = the first d columns of Z_n S           row n of Ybar: qbar                               S = Cbar + Cbar^T
 * and in a direction, ydot being 0,
 *     Cdot = Z_n^T Zdot_n + Zdot_n^T Z_n            Ybardot = Z_n Sdot + Zdot_n S                     row n of Ybardot: qbardot
 * In block form [C; c], C with c as one more row, are the first d columns of this C, and [S; cbar] those of this S.
 *
 * The network takes STRIP_ROWS rows at a time. Its units R are kept for the backward pass when they are few, and else made anew. */
#ifndef LINATTN_KERNELS_MOMENT_FRONT_H
#define LINATTN_KERNELS_MOMENT_FRONT_H

#include "kernels/full_tangent.h"
#include "kernels/mlp.h"

enum {
    STRIP_ROWS = 32,
    KEPT_UNITS = 1 << 16 /* doubles of R that are kept: half a megabyte, which a second-level cache holds */
};

/* A group of lanes: the network and its memory. */
typedef struct {
    size_t n, hidden;
    int kept;                             /* 1: R and Rdot hold all rows; 0: those of one strip */
    double *X, *Z;                        /* (N, k) */
    double *Y, *Ybar, *S;                 /* (STRIP_ROWS, d), (N, d), (k, d) */
    double *R, *Rbar;                     /* (h, N), strip by strip, or (h, STRIP_ROWS); (h, STRIP_ROWS) */
    double *Ydot, *Ybardot, *Sdot, *Rdot; /* (N, d), (N, d), (k, d), like R: for tangents */
    size_t doubles;                       /* of all parts */
} moment_front;

/* Takes the parts one after the other from `space`, which may be NULL: only doubles is then meant. Without a front MLP there are
 * none. */
static moment_front moment_front_at(const linattn__shape *shape, int tangents, double *space) {
    const size_t rows = shape->context + 1, d = shape->dim, k = d + 1, hidden = shape->hidden, dot = tangents ? 1 : 0;
    moment_front f = {.n = shape->context, .hidden = hidden};
    if (hidden == 0) return f;
    f.kept = rows <= KEPT_UNITS / LINATTN__LANES / hidden;
    const size_t strip = rows < STRIP_ROWS ? rows : STRIP_ROWS, units = (f.kept ? rows : strip) * hidden;
    const struct {
        double **part;
        size_t entries;
    } parts[] = {{&f.X, rows * k},
                 {&f.Z, rows * k},
                 {&f.Y, strip * d},
                 {&f.Ybar, rows * d},
                 {&f.S, k * d},
                 {&f.R, units},
                 {&f.Rbar, strip * hidden},
                 {&f.Ydot, dot * rows * d},
                 {&f.Ybardot, dot * rows * d},
                 {&f.Sdot, dot * k * d},
                 {&f.Rdot, dot * units}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = space ? space + f.doubles : NULL;
        f.doubles += parts[i].entries * LINATTN__LANES;
    }
    return f;
}

/* The strip that begins with some row: its network, and a direction where there is one (dtheta is not NULL). */
typedef struct {
    mlp m;
    mlp_direction direction;
    factor Ybar, Ybardot;
    double *Z, *Ydot;
} moment_strip;

LINATTN__INLINE moment_strip moment_strip_at(const moment_front *f, const double *theta, const double *dtheta, size_t row,
                                             size_t d) {
    const size_t k = d + 1, left = f->n + 1 - row, wide = row * k * LINATTN__LANES, narrow = row * d * LINATTN__LANES;
    const size_t units = f->kept ? row * f->hidden * LINATTN__LANES : 0;
    const size_t rows = left < STRIP_ROWS ? left : STRIP_ROWS;
    return (moment_strip){.m = {rows, f->hidden, theta, lanes(f->X + wide, k), f->R + units},
                          .direction = {dtheta, lanes(NULL, k), 0, dtheta ? f->Rdot + units : NULL},
                          .Ybar = lanes(f->Ybar + narrow, d),
                          .Ybardot = lanes(f->Ybardot + narrow, d),
                          .Z = f->Z + wide,
                          .Ydot = f->Ydot + narrow};
}

/* X and Z from a block's tokens. Arguments of ReLU that are exactly 0 are added to kinks, if that is not NULL. */
LINATTN__INLINE void moment_front_forward(const moment_front *f, const double *theta, const linattn__data *data, size_t block,
                                          size_t group, vreal *kinks, size_t d) {
    const size_t k = d + 1, entries = (f->n + 1) * k;
    const double *const tokens = data->tokens + block * entries * LINATTN__BLOCK + group * LINATTN__LANES;
    for (size_t i = 0; i < entries; i++) put(f->X, i, vreal_load(tokens + i * LINATTN__BLOCK));
    for (size_t row = 0; row <= f->n; row += STRIP_ROWS) {
        const moment_strip s = moment_strip_at(f, theta, NULL, row, d);
        mlp_forward(&s.m, d, f->Y, SET, kinks);
        for (size_t i = 0; i < s.m.rows; i++) {
            for (size_t j = 0; j < d; j++) put(s.Z, i * k + j, get(f->Y, i * d + j));
            put(s.Z, i * k + d, entry(s.m.X, i, d));
        }
    }
}

/* Layer 0's C, or C and c, and q. Returns the query's last entry. */
LINATTN__INLINE vreal moment_front_load(const moment_front *f, int full, double *stored, size_t heads, size_t d) {
    const size_t n = f->n, k = d + 1, side = full ? k : d;
    const double *const query = f->Z + n * k * LINATTN__LANES;
    const factor Z = lanes(f->Z, k);
    double *q;
    if (full) {
        const full_layer x = full_layer_at(stored, 0, heads, k);
        product_symmetric(x.C, k, n, transposed(Z), Z, SET);
        q = x.q;
    } else {
        const block_layer x = block_layer_at(stored, 0, heads, d);
        product(x.C, k, n, d, transposed(Z), Z, SET);
        q = x.q;
    }
    for (size_t i = 0; i < side; i++) put(q, i, get(query, i));
    return get(query, d);
}

/* From the adjoints of layer 0's input: the first d columns of S into `columns` (k, d), and qbar into row n of `out` (N, d). In
 * block form a single layer has S = 0. */
LINATTN__INLINE void moment_front_gather(const moment_front *f, int full, size_t layers, double *input, size_t heads,
                                         double *columns, double *out, size_t d) {
    const size_t k = d + 1;
    const full_adjoint whole = full_adjoint_at(input, heads, k);
    const block_adjoint parts = block_adjoint_at(input, heads, d);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < d; j++)
            put(columns, i * d + j,
                full         ? get(whole.S, i * k + j)
                : i == d     ? get(parts.c, j)
                : layers > 1 ? get(parts.S, i * d + j)
                             : (vreal){0});
    for (size_t j = 0; j < d; j++) put(out, f->n * d + j, get(full ? whole.q : parts.q, j));
}

/* From the adjoints of layer 0's input to S and Ybar; the gradient, if wanted, to the lane sums `gradient`. */
LINATTN__INLINE void moment_front_backward(const moment_front *f, int full, size_t layers, const double *theta, double *input,
                                           size_t heads, double *gradient, size_t d) {
    const size_t k = d + 1;
    moment_front_gather(f, full, layers, input, heads, f->S, f->Ybar, d);
    product(f->Ybar, f->n, k, d, lanes(f->Z, k), lanes(f->S, d), SET);
    for (size_t row = 0; gradient && row <= f->n; row += STRIP_ROWS) {
        const moment_strip s = moment_strip_at(f, theta, NULL, row, d);
        if (!f->kept) mlp_units(&s.m, d, NULL);
        mlp_backward(&s.m, d, s.Ybar, f->Rbar, 0, gradient);
    }
}

/* Tangents of layer 0's input in the direction dtheta: Ydot, and of it Cdot and qdot. */
LINATTN__INLINE void moment_front_tangent(const moment_front *f, int full, const double *theta, const double *dtheta,
                                          double *tangents, size_t heads, size_t d) {
    const size_t n = f->n, k = d + 1, side = full ? k : d;
    for (size_t row = 0; row <= n; row += STRIP_ROWS) {
        const moment_strip s = moment_strip_at(f, theta, dtheta, row, d);
        if (!f->kept) mlp_units(&s.m, d, NULL);
        mlp_forward_tangent(&s.m, &s.direction, d, s.Ydot, SET);
    }
    double *const half = f->Sdot; /* (k, d): Z_n^T Ydot_n */
    const full_layer whole = full_layer_at(tangents, 0, heads, k);
    const block_layer parts = block_layer_at(tangents, 0, heads, d);
    product(half, k, n, d, transposed(lanes(f->Z, k)), lanes(f->Ydot, d), SET);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < side; j++) {
            const vreal left = j < d ? get(half, i * d + j) : (vreal){0}, right = i < d ? get(half, j * d + i) : (vreal){0};
            put(full ? whole.C : parts.C, i * side + j, left + right);
        }
    for (size_t j = 0; j < side; j++) put(full ? whole.q : parts.q, j, j < d ? get(f->Ydot, n * d + j) : (vreal){0});
}

/* The network's part of a product, from the tangents of the adjoints of layer 0's input, `dots`, to the lane sums `out`. */
LINATTN__INLINE void moment_front_backward_tangent(const moment_front *f, int full, size_t layers, const double *theta,
                                                   const double *dtheta, double *dots, size_t heads, double *out, size_t d) {
    const size_t n = f->n, k = d + 1;
    moment_front_gather(f, full, layers, dots, heads, f->Sdot, f->Ybardot, d);
    product(f->Ybardot, n, k, d, lanes(f->Z, k), lanes(f->Sdot, d), SET);
    product(f->Ybardot, n, d, d, lanes(f->Ydot, d), lanes(f->S, d), ADD);
    for (size_t row = 0; row <= n; row += STRIP_ROWS) {
        const moment_strip s = moment_strip_at(f, theta, dtheta, row, d);
        if (!f->kept) {
            mlp_units(&s.m, d, NULL);
            mlp_units_tangent(&s.m, &s.direction, d);
        }
        mlp_backward_tangent(&s.m, &s.direction, d, s.Ybar, s.Ybardot, NULL, f->Rbar, out);
    }
}

#endif
