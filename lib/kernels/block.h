/* block.h: the moment path in block form, P = [[P_x, 0], [0, 1]] and Q = [[Q_x, 0], [0, 0]].
 *
 * The zeros split C into its covariate part C (d, d) and cross part c (d); C_yy is never needed. With P, Q for P_x, Q_x:
 *     a = (1/n) sum_h Q_h c         T = I + (1/n) sum_h P_h C Q_h^T      m = C a + c
 *     q_y' = q_y + a.q              q' = T q         c' = T m            C' = T C T^T         prediction = -q_y after layer L
 * The last layer needs only a, so its P never matters, and the layer before it needs no C'. */
#ifndef LINATTN_KERNELS_BLOCK_H
#define LINATTN_KERNELS_BLOCK_H

#include "kernels/moment.h"
#include "kernels/tile.h"

/* What the forward pass of a layer keeps. Sizes in lane entries. */
typedef struct {
    double *q, *c, *a, *m; /* (d) */
    double *C, *T, *U;     /* (d, d): C, T and U = T C */
    double *R;             /* (H, d, d): R_h = Q_h C */
} block_layer;

LINATTN__INLINE size_t block_layer_size(size_t heads, size_t d) { return 4 * d + (3 + heads) * d * d; }
LINATTN__INLINE size_t block_adjoint_size(size_t d) { return 5 * d + 5 * d * d; }

LINATTN__INLINE block_layer block_layer_at(double *stored, size_t l, size_t heads, size_t d) {
    double *at = stored + l * block_layer_size(heads, d) * LINATTN__LANES;
    const size_t vector = d * LINATTN__LANES, matrix = d * d * LINATTN__LANES;
    double *const C = at + 4 * vector;
    return (block_layer){at, at + vector, at + 2 * vector, at + 3 * vector, C, C + matrix, C + 2 * matrix, C + 3 * matrix};
}

/* The parameters, or their gradient, of head h of layer l begin at element: P there, Q d*d later. */
LINATTN__INLINE size_t block_offset(size_t l, size_t h, size_t heads, size_t d) { return 2 * (l * heads + h) * d * d; }

/* T = I + T / n. */
LINATTN__INLINE void identity_plus(double *T, size_t k, vreal by) {
    scale(T, k * k, by);
    for (size_t i = 0; i < k; i++) {
        double *diagonal = T + i * (k + 1) * LINATTN__LANES;
        vreal_store(diagonal, vreal_load(diagonal) + 1.0);
    }
}

/* Takes lanes of a block into layer 0: lower triangle of C_0 (d+1)(d+2)/2 and query (d+1), 8 prompts an entry. Returns q_y. */
LINATTN__INLINE vreal block_load(const double *moments, const double *query, double *stored, size_t heads, size_t d) {
    const block_layer x = block_layer_at(stored, 0, heads, d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            const vreal value = vreal_load(moments + (i * (i + 1) / 2 + j) * LINATTN__BLOCK_LANES);
            vreal_store(x.C + (i * d + j) * LINATTN__LANES, value);
            vreal_store(x.C + (j * d + i) * LINATTN__LANES, value);
        }
    for (size_t i = 0; i < d; i++) {
        vreal_store(x.c + i * LINATTN__LANES, vreal_load(moments + (d * (d + 1) / 2 + i) * LINATTN__BLOCK_LANES));
        vreal_store(x.q + i * LINATTN__LANES, vreal_load(query + i * LINATTN__BLOCK_LANES));
    }
    return vreal_load(query + d * LINATTN__BLOCK_LANES);
}

/* From layer 0 as loaded to q_y after the last layer. */
LINATTN__INLINE vreal block_forward(size_t layers, size_t heads, size_t d, double over_n, const double *theta, double *stored,
                                    vreal q_y) {
    const vreal by = vreal_all(over_n);
    for (size_t l = 0; l < layers; l++) {
        const block_layer x = block_layer_at(stored, l, heads, d), next = block_layer_at(stored, l + 1, heads, d);
        for (size_t h = 0; h < heads; h++) {
            const double *Q = theta + block_offset(l, h, heads, d) + d * d;
            product_vector(x.a, d, d, shared(Q, d), x.c, h > 0);
        }
        scale(x.a, d, by);
        q_y += dot(x.a, x.q, d);
        if (l + 1 == layers) break;

        for (size_t h = 0; h < heads; h++) {
            const double *P = theta + block_offset(l, h, heads, d), *Q = P + d * d;
            double *R = x.R + h * d * d * LINATTN__LANES;
            product(R, d, d, d, shared(Q, d), lanes(x.C, d), SET);
            product(x.T, d, d, d, shared(P, d), transposed(lanes(R, d)), h > 0);
        }
        identity_plus(x.T, d, by);
        for (size_t i = 0; i < d * LINATTN__LANES; i++) x.m[i] = x.c[i];
        product_vector(x.m, d, d, lanes(x.C, d), x.a, ADD);
        product_vector(next.c, d, d, lanes(x.T, d), x.m, SET);
        product_vector(next.q, d, d, lanes(x.T, d), x.q, SET);
        if (l + 2 == layers) continue;
        product(x.U, d, d, d, lanes(x.T, d), lanes(x.C, d), SET);
        product(next.C, d, d, d, lanes(x.U, d), transposed(lanes(x.T, d)), SET);
    }
    return q_y;
}

/* Adds the gradient to the lane sums `gradient` (p). A bar marks an adjoint, a prime what belongs to the layer's output, and
 * S = Cbar + Cbar^T; q_y keeps its adjoint qbar_y through all layers.
 *     mbar = T^T cbar'                 abar = C mbar + qbar_y q
 *     G = (qbar' q^T + cbar' m^T + S' U) / n                 V_h = G^T P_h
 *     Pbar_h += G R_h                  Qbar_h += V_h C + abar c^T / n
 *     cbar = mbar + sum_h Q_h^T abar / n                     qbar = T^T qbar' + qbar_y a
 *     S = T^T S' T + Y + Y^T,  Y = mbar a^T + sum_h V_h^T Q_h
 * The last layer has qbar' = cbar' = S' = 0, the one before it S' = 0; of layer 0 only parameters are wanted. */
LINATTN__INLINE void block_backward(size_t layers, size_t heads, size_t d, double over_n, const double *theta, double *stored,
                                    vreal qbar_y, double *gradient, double *work) {
    const vreal by = vreal_all(over_n);
    const size_t vector = d * LINATTN__LANES, matrix = d * d * LINATTN__LANES;
    double *qbar = work, *cbar = qbar + vector, *mbar = cbar + vector, *abar = mbar + vector, *spare = abar + vector;
    double *S = work + 5 * vector, *G = S + matrix, *V = G + matrix, *Y = V + matrix, *W = Y + matrix;
    for (size_t l = layers; l-- > 0;) {
        const block_layer x = block_layer_at(stored, l, heads, d);
        const int last = l + 1 == layers, curved = l + 2 < layers;
        for (size_t i = 0; i < d; i++) vreal_store(abar + i * LINATTN__LANES, qbar_y * vreal_load(x.q + i * LINATTN__LANES));
        if (!last) {
            product_vector(mbar, d, d, transposed(lanes(x.T, d)), cbar, SET);
            product_vector(abar, d, d, lanes(x.C, d), mbar, ADD);
            for (size_t i = 0; i < matrix; i++) G[i] = 0;
            add_outer(G, d, d, qbar, x.q);
            add_outer(G, d, d, cbar, x.m);
            if (curved) product(G, d, d, d, lanes(S, d), lanes(x.U, d), ADD);
            scale(G, d * d, by);
        }
        scale(abar, d, by); /* now abar / n */

        if (l > 0 && !last) {
            for (size_t i = 0; i < matrix; i++) Y[i] = 0;
            add_outer(Y, d, d, mbar, x.a);
        }
        for (size_t h = 0; h < heads; h++) {
            const size_t offset = block_offset(l, h, heads, d);
            const double *P = theta + offset, *Q = P + d * d;
            double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix;
            add_outer(Qbar, d, d, abar, x.c);
            if (last) continue;
            product(Pbar, d, d, d, lanes(G, d), lanes(x.R + h * matrix, d), ADD);
            product(V, d, d, d, transposed(lanes(G, d)), shared(P, d), SET);
            product(Qbar, d, d, d, lanes(V, d), lanes(x.C, d), ADD);
            if (l > 0) product(Y, d, d, d, transposed(lanes(V, d)), shared(Q, d), ADD);
        }
        if (l == 0) break;

        for (size_t i = 0; i < vector; i++) cbar[i] = last ? 0 : mbar[i];
        for (size_t h = 0; h < heads; h++) {
            const double *Q = theta + block_offset(l, h, heads, d) + d * d;
            product_vector(cbar, d, d, transposed(shared(Q, d)), abar, ADD);
        }
        for (size_t i = 0; i < d; i++) vreal_store(spare + i * LINATTN__LANES, qbar_y * vreal_load(x.a + i * LINATTN__LANES));
        if (last) {
            for (size_t i = 0; i < vector; i++) qbar[i] = spare[i];
            continue;
        }
        product_vector(spare, d, d, transposed(lanes(x.T, d)), qbar, ADD);
        for (size_t i = 0; i < vector; i++) qbar[i] = spare[i];
        if (curved) product(W, d, d, d, lanes(S, d), lanes(x.T, d), SET);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                vreal_store(S + (i * d + j) * LINATTN__LANES,
                            vreal_load(Y + (i * d + j) * LINATTN__LANES) + vreal_load(Y + (j * d + i) * LINATTN__LANES));
        if (curved) product(S, d, d, d, transposed(lanes(x.T, d)), lanes(W, d), ADD);
    }
}

#endif
