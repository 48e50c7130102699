/* full.h: the moment path in full form, P and Q free (k, k), k = d + 1.
 *
 *     T = I + (1/n) sum_h P_h C Q_h^T         q' = T q         C' = T C T^T         prediction = -(q after layer L)_d
 * Of the last layer only row d of T matters: with p_h row d of P_h,
 *     r_h = C p_h         b = (1/n) sum_h Q_h r_h         q'_d = q_d + b.q */
#ifndef LINATTN_KERNELS_FULL_H
#define LINATTN_KERNELS_FULL_H

#include "kernels/block.h"

/* What the forward pass of a layer keeps. Sizes in lane entries. */
typedef struct {
    double *q, *b;     /* (k); b: last layer only */
    double *C, *T, *U; /* (k, k): C, T and U = T C */
    double *R;         /* (H, k, k): R_h = Q_h C; in the last layer its row 0 holds r_h */
} full_layer;

LINATTN__INLINE size_t full_layer_size(size_t heads, size_t k) { return 2 * k + (3 + heads) * k * k; }
LINATTN__INLINE size_t full_adjoint_size(size_t k) { return 3 * k + 5 * k * k; }

LINATTN__INLINE full_layer full_layer_at(double *stored, size_t l, size_t heads, size_t k) {
    double *at = stored + l * full_layer_size(heads, k) * LINATTN__LANES;
    const size_t vector = k * LINATTN__LANES, matrix = k * k * LINATTN__LANES;
    double *const C = at + 2 * vector;
    return (full_layer){at, at + vector, C, C + matrix, C + 2 * matrix, C + 3 * matrix};
}

/* Takes lanes of a block into layer 0: lower triangle of C_0, k(k+1)/2 entries, and query (k), 8 prompts an entry. */
LINATTN__INLINE void full_load(const double *moments, const double *query, double *stored, size_t heads, size_t k) {
    const full_layer x = full_layer_at(stored, 0, heads, k);
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++) {
            const vreal value = vreal_load(moments + (i * (i + 1) / 2 + j) * LINATTN__BLOCK_LANES);
            vreal_store(x.C + (i * k + j) * LINATTN__LANES, value);
            vreal_store(x.C + (j * k + i) * LINATTN__LANES, value);
        }
        vreal_store(x.q + i * LINATTN__LANES, vreal_load(query + i * LINATTN__BLOCK_LANES));
    }
}

/* From layer 0 as loaded to q_d after the last layer. */
LINATTN__INLINE vreal full_forward(size_t layers, size_t heads, size_t k, double over_n, const double *theta, double *stored) {
    const vreal by = vreal_all(over_n);
    for (size_t l = 0; l + 1 < layers; l++) {
        const full_layer x = full_layer_at(stored, l, heads, k), next = full_layer_at(stored, l + 1, heads, k);
        for (size_t h = 0; h < heads; h++) {
            const double *P = theta + block_offset(l, h, heads, k), *Q = P + k * k;
            double *R = x.R + h * k * k * LINATTN__LANES;
            product(R, k, k, k, shared(Q, k), lanes(x.C, k), SET);
            product(x.T, k, k, k, shared(P, k), transposed(lanes(R, k)), h > 0);
        }
        identity_plus(x.T, k, by);
        product_vector(next.q, k, k, lanes(x.T, k), x.q, SET);
        product(x.U, k, k, k, lanes(x.T, k), lanes(x.C, k), SET);
        product(next.C, k, k, k, lanes(x.U, k), transposed(lanes(x.T, k)), SET);
    }
    const full_layer x = full_layer_at(stored, layers - 1, heads, k);
    for (size_t h = 0; h < heads; h++) {
        const double *P = theta + block_offset(layers - 1, h, heads, k), *Q = P + k * k;
        double *r = x.R + h * k * k * LINATTN__LANES;
        product(r, 1, k, k, shared(P + (k - 1) * k, k), lanes(x.C, k), SET);
        product_vector(x.b, k, k, shared(Q, k), r, h > 0);
    }
    scale(x.b, k, by);
    return vreal_load(x.q + (k - 1) * LINATTN__LANES) + dot(x.b, x.q, k);
}

/* The adjoint of the last layer: qbar_d is that of q'_d. Leaves qbar (k) and S = Cbar + Cbar^T (k, k) of its input.
 *     bbar = qbar_d q / n           rbar_h = Q_h^T bbar           Qbar_h += bbar r_h^T           (Pbar_h)_d += C rbar_h
 *     qbar = qbar_d (e_d + b)       Cbar = sum_h rbar_h p_h^T */
LINATTN__INLINE void full_backward_last(full_layer x, size_t heads, size_t k, vreal by, const double *theta, vreal qbar_d,
                                        double *gradient, double *qbar, double *S, double *bbar, double *rbar, int input_wanted) {
    const size_t matrix = k * k * LINATTN__LANES, corner = (k - 1) * LINATTN__LANES;
    for (size_t i = 0; i < k; i++) {
        vreal_store(bbar + i * LINATTN__LANES, qbar_d * by * vreal_load(x.q + i * LINATTN__LANES));
        vreal_store(qbar + i * LINATTN__LANES, qbar_d * vreal_load(x.b + i * LINATTN__LANES));
    }
    vreal_store(qbar + corner, vreal_load(qbar + corner) + qbar_d);
    for (size_t i = 0; i < matrix; i++) S[i] = 0;
    for (size_t h = 0; h < heads; h++) {
        const double *P = theta + block_offset(0, h, heads, k), *Q = P + k * k, *p = P + (k - 1) * k;
        double *Pbar = gradient + block_offset(0, h, heads, k) * LINATTN__LANES, *Qbar = Pbar + matrix;
        add_outer(Qbar, k, k, bbar, x.R + h * matrix);
        product_vector(rbar, k, k, transposed(shared(Q, k)), bbar, SET);
        product_vector(Pbar + (k - 1) * k * LINATTN__LANES, k, k, lanes(x.C, k), rbar, ADD);
        if (!input_wanted) continue;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                double *to = S + (i * k + j) * LINATTN__LANES;
                vreal_store(to, vreal_load(to) +
                                    (vreal_load(rbar + i * LINATTN__LANES) * p[j] + vreal_load(rbar + j * LINATTN__LANES) * p[i]));
            }
    }
}

/* Adds the gradient to the lane sums `gradient` (p); notation as in block.h.
 *     G = (qbar' q^T + S' U) / n       V_h = G^T P_h       Pbar_h += G R_h       Qbar_h += V_h C
 *     qbar = T^T qbar'                 S = T^T S' T + Y + Y^T,  Y = sum_h V_h^T Q_h */
LINATTN__INLINE void full_backward(size_t layers, size_t heads, size_t k, double over_n, const double *theta, double *stored,
                                   vreal qbar_d, double *gradient, double *work) {
    const vreal by = vreal_all(over_n);
    const size_t vector = k * LINATTN__LANES, matrix = k * k * LINATTN__LANES;
    double *qbar = work, *bbar = qbar + vector, *spare = bbar + vector;
    double *S = work + 3 * vector, *G = S + matrix, *V = G + matrix, *Y = V + matrix, *W = Y + matrix;
    const size_t last = block_offset(layers - 1, 0, heads, k);
    full_backward_last(full_layer_at(stored, layers - 1, heads, k), heads, k, by, theta + last, qbar_d,
                       gradient + last * LINATTN__LANES, qbar, S, bbar, spare, layers > 1);
    for (size_t l = layers - 1; l-- > 0;) {
        const full_layer x = full_layer_at(stored, l, heads, k);
        for (size_t i = 0; i < matrix; i++) G[i] = 0;
        add_outer(G, k, k, qbar, x.q);
        product(G, k, k, k, lanes(S, k), lanes(x.U, k), ADD);
        scale(G, k * k, by);
        for (size_t h = 0; h < heads; h++) {
            const size_t offset = block_offset(l, h, heads, k);
            const double *P = theta + offset, *Q = P + k * k;
            double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix;
            product(Pbar, k, k, k, lanes(G, k), lanes(x.R + h * matrix, k), ADD);
            product(V, k, k, k, transposed(lanes(G, k)), shared(P, k), SET);
            product(Qbar, k, k, k, lanes(V, k), lanes(x.C, k), ADD);
            if (l > 0) product(Y, k, k, k, transposed(lanes(V, k)), shared(Q, k), h > 0);
        }
        if (l == 0) break;
        product_vector(spare, k, k, transposed(lanes(x.T, k)), qbar, SET);
        for (size_t i = 0; i < vector; i++) qbar[i] = spare[i];
        product(W, k, k, k, lanes(S, k), lanes(x.T, k), SET);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                vreal_store(S + (i * k + j) * LINATTN__LANES,
                            vreal_load(Y + (i * k + j) * LINATTN__LANES) + vreal_load(Y + (j * k + i) * LINATTN__LANES));
        product(S, k, k, k, transposed(lanes(x.T, k)), lanes(W, k), ADD);
    }
}

#endif
