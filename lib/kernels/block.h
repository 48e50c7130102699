/* block.h: the moment path in block form, P = [[P_x, 0], [0, 1]] and Q = [[Q_x, 0], [0, 0]].
 *
 * The zeros split C into its covariate part C (d, d) and cross part c (d); C_yy is never needed. With P, Q for P_x / n, Q_x:
 *     a = (1/n) sum_h Q_h c         T = I + sum_h P_h C Q_h^T            m = C a + c
 *     q_y' = q_y + a.q              q' = T q         c' = T m            C' = T C T^T         prediction = -q_y after layer L
 * The last layer needs only a, so its P never matters, and the layer before it needs no C'. */
#ifndef LINATTN_KERNELS_BLOCK_H
#define LINATTN_KERNELS_BLOCK_H

#include "kernels/moment.h"
#include "kernels/tile.h"

/* What the forward pass of a layer keeps; rows that stand together make one factor of a product. Sizes in lane entries. */
typedef struct {
    double *C, *c;     /* (d+1, d): C, then c as one more row */
    double *U, *q, *m; /* (d+2, d): U = T C, then q and m */
    double *T;         /* (d, d) */
    double *a;         /* (d) */
    double *R;         /* (H, d, d): R_h = Q_h C */
} block_layer;

/* What the backward pass of a layer keeps. */
typedef struct {
    double *S, *q, *c; /* (d+2, d), of the layer's output: S = Cbar + Cbar^T, then qbar and cbar */
    double *V;         /* (H, d+1, d): V_h = P_h^T G, then abar / n */
    double *G, *W;     /* (d, d): G, and W = S T with S of the output */
    double *m, *a;     /* (d): mbar, abar / n */
    double *Y, *q_in;  /* (d, d), (d): scratch */
} block_adjoint;

LINATTN__INLINE size_t block_layer_size(size_t heads, size_t d) { return 4 * d + (3 + heads) * d * d; }
LINATTN__INLINE size_t block_adjoint_size(size_t heads, size_t d) { return (5 + heads) * d + (4 + heads) * d * d; }

LINATTN__INLINE block_layer block_layer_at(double *stored, size_t l, size_t heads, size_t d) {
    double *C = stored + l * block_layer_size(heads, d) * LINATTN__LANES;
    const size_t vector = d * LINATTN__LANES, matrix = d * vector;
    double *c = C + matrix, *U = c + vector, *q = U + matrix, *m = q + vector, *T = m + vector, *a = T + matrix;
    return (block_layer){C, c, U, q, m, T, a, a + vector};
}

LINATTN__INLINE block_adjoint block_adjoint_at(double *S, size_t heads, size_t d) {
    const size_t vector = d * LINATTN__LANES, matrix = d * vector;
    double *q = S + matrix, *c = q + vector, *V = c + vector, *G = V + heads * (matrix + vector), *W = G + matrix;
    double *m = W + matrix, *a = m + vector, *Y = a + vector;
    return (block_adjoint){S, q, c, V, G, W, m, a, Y, Y + matrix};
}

/* The parameters, or their gradient, of head h of layer l begin at element: P there, Q d*d later. */
LINATTN__INLINE size_t block_offset(size_t l, size_t h, size_t heads, size_t d) { return 2 * (l * heads + h) * d * d; }

/* Takes lanes of a block into layer 0: lower triangle of C_0 (d+1)(d+2)/2 and query (d+1), 8 prompts an entry. Returns q_y. */
LINATTN__INLINE vreal block_load(const double *moments, const double *query, double *stored, size_t heads, size_t d) {
    const block_layer x = block_layer_at(stored, 0, heads, d);
    load_symmetric(x.C, moments, d);
    for (size_t i = 0; i < d; i++) {
        put(x.c, i, vreal_load(moments + (d * (d + 1) / 2 + i) * LINATTN__BLOCK));
        put(x.q, i, vreal_load(query + i * LINATTN__BLOCK));
    }
    return vreal_load(query + d * LINATTN__BLOCK);
}

/* From layer 0 as loaded to q_y after the last layer. */
LINATTN__INLINE vreal block_forward(size_t layers, size_t heads, size_t d, double over_n, const double *theta, double *stored,
                                    vreal q_y) {
    for (size_t l = 0; l < layers; l++) {
        const block_layer x = block_layer_at(stored, l, heads, d), next = block_layer_at(stored, l + 1, heads, d);
        for (size_t h = 0; h < heads; h++)
            product_vector(x.a, d, d, shared(theta + block_offset(l, h, heads, d) + d * d, d), x.c, h > 0);
        for (size_t i = 0; i < d; i++) put(x.a, i, get(x.a, i) * over_n);
        q_y += inner_product(x.a, x.q, d);
        if (l + 1 == layers) break;

        for (size_t h = 0; h < heads; h++) {
            const double *P = theta + block_offset(l, h, heads, d), *Q = P + d * d;
            double *R = x.R + h * d * d * LINATTN__LANES;
            product(R, d, d, d, shared(Q, d), lanes(x.C, d), SET);
            product(x.T, d, d, d, shared(P, d), transposed(lanes(R, d)), h > 0);
        }
        add_identity(x.T, d);
        for (size_t i = 0; i < d; i++) put(x.m, i, get(x.c, i));
        product_vector(x.m, d, d, lanes(x.C, d), x.a, ADD);
        product_vector(next.c, d, d, lanes(x.T, d), x.m, SET);
        product_vector(next.q, d, d, lanes(x.T, d), x.q, SET);
        if (l + 2 == layers) continue;
        product(x.U, d, d, d, lanes(x.T, d), lanes(x.C, d), SET);
        product_symmetric(next.C, d, d, lanes(x.U, d), transposed(lanes(x.T, d)), SET);
    }
    return q_y;
}

/* The backward pass of layer l, whose forward pass is x and whose output's adjoints are in bar; leaves those of its input in
 * `into`, which may be bar itself. Adds the gradient with respect to Q, and n times that with respect to P, to the lane sums
 * `gradient` (p). A bar marks an adjoint, a prime what belongs to the layer's output, S = Cbar + Cbar^T; qbar_y is the same in all
 * layers.
 *     mbar = T^T cbar'                 abar = C mbar + qbar_y q
 *     G = S' U + qbar' q^T + cbar' m^T                       V_h = P_h^T G
 *     n Pbar_h += G R_h                Qbar_h += V_h^T C + abar c^T / n
 *     cbar = mbar + sum_h Q_h^T abar / n                     qbar = T^T qbar' + qbar_y a
 *     S = T^T S' T + Y + Y^T,  Y = mbar a^T + sum_h V_h Q_h
 * The last layer has qbar' = cbar' = S' = 0 and leaves S alone, which is 0; the one before it has S' = 0. Not `wanted`: only
 * parameters are, and `into` is left alone. */
LINATTN__INLINE void block_backward_layer(size_t l, size_t layers, size_t heads, size_t d, double over_n, const double *theta,
                                          block_layer x, vreal qbar_y, double *gradient, block_adjoint bar, block_adjoint into,
                                          int wanted) {
    const size_t vector = d * LINATTN__LANES, matrix = d * vector;
    const int last = l + 1 == layers, curved = l + 2 < layers;
    for (size_t i = 0; i < d; i++) put(bar.a, i, qbar_y * get(x.q, i));
    if (!last) {
        const size_t first = curved ? 0 : d; /* without S' only the rows below it count */
        product_vector(bar.m, d, d, transposed(lanes(x.T, d)), bar.c, SET);
        product_vector(bar.a, d, d, lanes(x.C, d), bar.m, ADD);
        product(bar.G, d, d + 2 - first, d, transposed(lanes(bar.S + first * vector, d)), lanes(x.U + first * vector, d), SET);
    }
    for (size_t i = 0; i < d; i++) put(bar.a, i, get(bar.a, i) * over_n);
    for (size_t h = 0; h < heads; h++) {
        const size_t offset = block_offset(l, h, heads, d);
        const double *P = theta + offset, *Q = P + d * d;
        double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix, *V = bar.V + h * (matrix + vector);
        if (last) {
            product(Qbar, d, 1, d, transposed(lanes(bar.a, d)), lanes(x.c, d), ADD);
            continue;
        }
        product(Pbar, d, d, d, lanes(bar.G, d), lanes(x.R + h * matrix, d), ADD);
        product(V, d, d, d, transposed(shared(P, d)), lanes(bar.G, d), SET);
        for (size_t i = 0; i < d; i++) put(V + matrix, i, get(bar.a, i));
        product(Qbar, d, d + 1, d, transposed(lanes(V, d)), lanes(x.C, d), ADD);
        if (wanted) product(bar.Y, d, d, d, lanes(V, d), shared(Q, d), h > 0);
    }
    if (!wanted) return;

    for (size_t i = 0; i < d; i++) put(bar.q_in, i, qbar_y * get(x.a, i));
    if (!last) product_vector(bar.q_in, d, d, transposed(lanes(x.T, d)), bar.q, ADD);
    for (size_t i = 0; i < d; i++) {
        put(into.q, i, get(bar.q_in, i));
        put(into.c, i, last ? (vreal){0} : get(bar.m, i));
    }
    for (size_t h = 0; h < heads; h++)
        product_vector(into.c, d, d, transposed(shared(theta + block_offset(l, h, heads, d) + d * d, d)), bar.a, ADD);
    if (last) return;
    if (curved) product(bar.W, d, d, d, lanes(bar.S, d), lanes(x.T, d), SET);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            const vreal sum =
                get(bar.Y, i * d + j) + get(bar.Y, j * d + i) + get(bar.m, i) * get(x.a, j) + get(bar.m, j) * get(x.a, i);
            put(into.S, i * d + j, sum);
            put(into.S, j * d + i, sum);
        }
    if (curved) product_symmetric(into.S, d, d, transposed(lanes(x.T, d)), lanes(bar.W, d), ADD);
}

/* All layers, the adjoints of layer l's output being kept at l * stride lane entries (0: only as long as they are needed); those of
 * layer 0's input go to `input`, which may be where that layer's are kept, or are not wanted: NULL. */
LINATTN__INLINE void block_backward(size_t layers, size_t heads, size_t d, double over_n, const double *theta, double *stored,
                                    vreal qbar_y, double *gradient, double *adjoints, size_t stride, double *input) {
    for (size_t l = layers; l-- > 0;) {
        double *const into = l > 0 ? adjoints + (l - 1) * stride * LINATTN__LANES : input ? input : adjoints;
        block_backward_layer(l, layers, heads, d, over_n, theta, block_layer_at(stored, l, heads, d), qbar_y, gradient,
                             block_adjoint_at(adjoints + l * stride * LINATTN__LANES, heads, d), block_adjoint_at(into, heads, d),
                             l > 0 || input);
    }
}

#endif
