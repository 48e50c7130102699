/* full.h: the moment path in full form, P and Q free (k, k), k = d + 1. With P for P / n:
 *
 *     T = I + sum_h P_h C Q_h^T         q' = T q         C' = T C T^T         prediction = -(q after layer L)_d
 * Of the last layer only row d of T matters: with p_h row d of P_h,
 *     r_h = C p_h         b = sum_h Q_h r_h         q'_d = q_d + b.q */
#ifndef LINATTN_KERNELS_FULL_H
#define LINATTN_KERNELS_FULL_H

#include "kernels/block.h"

/* What the forward pass of a layer keeps; rows that stand together make one factor of a product. Sizes in lane entries. */
typedef struct {
    double *C, *T; /* (k, k) */
    double *U, *q; /* (k+1, k): U = T C, then q */
    double *b;     /* (k), last layer only */
    double *R;     /* (H, k, k): R_h = Q_h C; in the last layer its row 0 holds r_h */
} full_layer;

/* Adjoints of what a layer hands on. */
typedef struct {
    double *S, *q;          /* (k+1, k): S = Cbar + Cbar^T, then qbar */
    double *G, *V, *Y, *W;  /* (k, k) */
    double *b, *r, *q_next; /* (k) */
} full_adjoint;

LINATTN__INLINE size_t full_layer_size(size_t heads, size_t k) { return 2 * k + (3 + heads) * k * k; }
LINATTN__INLINE size_t full_adjoint_size(size_t k) { return 4 * k + 5 * k * k; }

LINATTN__INLINE full_layer full_layer_at(double *stored, size_t l, size_t heads, size_t k) {
    double *C = stored + l * full_layer_size(heads, k) * LINATTN__LANES;
    const size_t vector = k * LINATTN__LANES, matrix = k * vector;
    double *T = C + matrix, *U = T + matrix, *q = U + matrix;
    return (full_layer){C, T, U, q, q + vector, q + 2 * vector};
}

LINATTN__INLINE full_adjoint full_adjoint_at(double *S, size_t k) {
    const size_t vector = k * LINATTN__LANES, matrix = k * vector;
    double *q = S + matrix, *G = q + vector, *b = G + 4 * matrix;
    return (full_adjoint){S, q, G, G + matrix, G + 2 * matrix, G + 3 * matrix, b, b + vector, b + 2 * vector};
}

/* Takes lanes of a block into layer 0: lower triangle of C_0, k(k+1)/2 entries, and query (k), 8 prompts an entry. */
LINATTN__INLINE void full_load(const double *moments, const double *query, double *stored, size_t heads, size_t k) {
    const full_layer x = full_layer_at(stored, 0, heads, k);
    load_symmetric(x.C, moments, k);
    for (size_t i = 0; i < k; i++) put(x.q, i, vreal_load(query + i * LINATTN__BLOCK));
}

/* From layer 0 as loaded to q_d after the last layer. */
LINATTN__INLINE vreal full_forward(size_t layers, size_t heads, size_t k, const double *theta, double *stored) {
    for (size_t l = 0; l + 1 < layers; l++) {
        const full_layer x = full_layer_at(stored, l, heads, k), next = full_layer_at(stored, l + 1, heads, k);
        for (size_t h = 0; h < heads; h++) {
            const double *P = theta + block_offset(l, h, heads, k), *Q = P + k * k;
            double *R = x.R + h * k * k * LINATTN__LANES;
            product(R, k, k, k, shared(Q, k), lanes(x.C, k), SET);
            product(x.T, k, k, k, shared(P, k), transposed(lanes(R, k)), h > 0);
        }
        add_identity(x.T, k);
        product_vector(next.q, k, k, lanes(x.T, k), x.q, SET);
        product(x.U, k, k, k, lanes(x.T, k), lanes(x.C, k), SET);
        product_symmetric(next.C, k, k, lanes(x.U, k), transposed(lanes(x.T, k)), SET);
    }
    const full_layer x = full_layer_at(stored, layers - 1, heads, k);
    for (size_t h = 0; h < heads; h++) {
        const double *P = theta + block_offset(layers - 1, h, heads, k), *Q = P + k * k;
        double *r = x.R + h * k * k * LINATTN__LANES;
        product(r, 1, k, k, shared(P + (k - 1) * k, k), lanes(x.C, k), SET);
        product_vector(x.b, k, k, shared(Q, k), r, h > 0);
    }
    return get(x.q, k - 1) + dot(x.b, x.q, k);
}

/* The adjoint of the last layer, whose parameters are at theta and whose lane sums at gradient; qbar_d is that of q'_d. Leaves qbar
 * and, where layers come before it, S.
 *     bbar = qbar_d q          rbar_h = Q_h^T bbar          Qbar_h += bbar r_h^T           n (Pbar_h)_d += C rbar_h
 *     qbar = qbar_d (e_d + b)                               S = sum_h rbar_h p_h^T + p_h rbar_h^T */
LINATTN__INLINE void full_backward_last(full_layer x, size_t heads, size_t k, const double *theta, vreal qbar_d, double *gradient,
                                        full_adjoint bar, int input_wanted) {
    const size_t matrix = k * k * LINATTN__LANES;
    for (size_t i = 0; i < k; i++) {
        put(bar.b, i, qbar_d * get(x.q, i));
        put(bar.q, i, qbar_d * get(x.b, i));
    }
    put(bar.q, k - 1, get(bar.q, k - 1) + qbar_d);
    for (size_t h = 0; h < heads; h++) {
        const double *P = theta + block_offset(0, h, heads, k), *Q = P + k * k, *p = P + (k - 1) * k;
        double *Pbar = gradient + block_offset(0, h, heads, k) * LINATTN__LANES, *Qbar = Pbar + matrix;
        product(Qbar, k, 1, k, transposed(lanes(bar.b, k)), lanes(x.R + h * matrix, k), ADD);
        product_vector(bar.r, k, k, transposed(shared(Q, k)), bar.b, SET);
        product_vector(Pbar + (k - 1) * k * LINATTN__LANES, k, k, lanes(x.C, k), bar.r, ADD);
        for (size_t i = 0; input_wanted && i < k; i++)
            for (size_t j = 0; j < k; j++) {
                const vreal outer = get(bar.r, i) * p[j] + get(bar.r, j) * p[i];
                put(bar.S, i * k + j, h > 0 ? get(bar.S, i * k + j) + outer : outer);
            }
    }
}

/* Adds the gradient with respect to Q, and n times that with respect to P, to the lane sums `gradient` (p); notation as in block.h.
 *     G = S' U + qbar' q^T             V_h = P_h^T G             n Pbar_h += G R_h             Qbar_h += V_h^T C
 *     qbar = T^T qbar'                 S = T^T S' T + Y + Y^T,  Y = sum_h V_h Q_h */
LINATTN__INLINE void full_backward(size_t layers, size_t heads, size_t k, const double *theta, double *stored, vreal qbar_d,
                                   double *gradient, double *work) {
    const size_t matrix = k * k * LINATTN__LANES, last = block_offset(layers - 1, 0, heads, k);
    const full_adjoint bar = full_adjoint_at(work, k);
    full_backward_last(full_layer_at(stored, layers - 1, heads, k), heads, k, theta + last, qbar_d,
                       gradient + last * LINATTN__LANES, bar, layers > 1);
    for (size_t l = layers - 1; l-- > 0;) {
        const full_layer x = full_layer_at(stored, l, heads, k);
        product(bar.G, k, k + 1, k, transposed(lanes(bar.S, k)), lanes(x.U, k), SET);
        for (size_t h = 0; h < heads; h++) {
            const size_t offset = block_offset(l, h, heads, k);
            const double *P = theta + offset, *Q = P + k * k;
            double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix;
            product(Pbar, k, k, k, lanes(bar.G, k), lanes(x.R + h * matrix, k), ADD);
            product(bar.V, k, k, k, transposed(shared(P, k)), lanes(bar.G, k), SET);
            product(Qbar, k, k, k, transposed(lanes(bar.V, k)), lanes(x.C, k), ADD);
            if (l > 0) product(bar.Y, k, k, k, lanes(bar.V, k), shared(Q, k), h > 0);
        }
        if (l == 0) break;
        product_vector(bar.q_next, k, k, transposed(lanes(x.T, k)), bar.q, SET);
        for (size_t i = 0; i < k; i++) put(bar.q, i, get(bar.q_next, i));
        product(bar.W, k, k, k, lanes(bar.S, k), lanes(x.T, k), SET);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) put(bar.S, i * k + j, get(bar.Y, i * k + j) + get(bar.Y, j * k + i));
        product_symmetric(bar.S, k, k, transposed(lanes(x.T, k)), lanes(bar.W, k), ADD);
    }
}

#endif
