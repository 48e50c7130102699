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

/* What the backward pass of a layer keeps. */
typedef struct {
    double *S, *q;    /* (k+1, k), of the layer's output: S = Cbar + Cbar^T, then qbar */
    double *V;        /* (H, k, k): V_h = P_h^T G; in the last layer its row 0 holds rbar_h */
    double *G, *W;    /* (k, k): G, and W = S T with S of the output; in the last layer G's row 0 holds bbar */
    double *Y, *q_in; /* (k, k), (k): scratch */
} full_adjoint;

LINATTN__INLINE size_t full_layer_size(size_t heads, size_t k) { return 2 * k + (3 + heads) * k * k; }
LINATTN__INLINE size_t full_adjoint_size(size_t heads, size_t k) { return 2 * k + (4 + heads) * k * k; }

LINATTN__INLINE full_layer full_layer_at(double *stored, size_t l, size_t heads, size_t k) {
    double *C = stored + l * full_layer_size(heads, k) * LINATTN__LANES;
    const size_t vector = k * LINATTN__LANES, matrix = k * vector;
    double *T = C + matrix, *U = T + matrix, *q = U + matrix;
    return (full_layer){C, T, U, q, q + vector, q + 2 * vector};
}

LINATTN__INLINE full_adjoint full_adjoint_at(double *S, size_t heads, size_t k) {
    const size_t vector = k * LINATTN__LANES, matrix = k * vector;
    double *q = S + matrix, *V = q + vector, *G = V + heads * matrix, *W = G + matrix, *Y = W + matrix;
    return (full_adjoint){S, q, V, G, W, Y, Y + matrix};
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
    return get(x.q, k - 1) + inner_product(x.b, x.q, k);
}

/* The backward pass of the last layer, x; qbar_d is the adjoint of q'_d. Leaves the adjoints of its input in `into`.
 *     bbar = qbar_d q          rbar_h = Q_h^T bbar          Qbar_h += bbar r_h^T           n (Pbar_h)_d += C rbar_h
 *     qbar = qbar_d (e_d + b)                               S = sum_h rbar_h p_h^T + p_h rbar_h^T */
LINATTN__INLINE void full_backward_last(size_t l, size_t heads, size_t k, const double *theta, full_layer x, vreal qbar_d,
                                        double *gradient, full_adjoint bar, full_adjoint into, int wanted) {
    const size_t matrix = k * k * LINATTN__LANES;
    double *bbar = bar.G;
    for (size_t i = 0; i < k; i++) put(bbar, i, qbar_d * get(x.q, i));
    for (size_t h = 0; h < heads; h++) {
        const size_t offset = block_offset(l, h, heads, k);
        const double *P = theta + offset, *Q = P + k * k, *p = P + (k - 1) * k;
        double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix, *rbar = bar.V + h * matrix;
        product(Qbar, k, 1, k, transposed(lanes(bbar, k)), lanes(x.R + h * matrix, k), ADD);
        product_vector(rbar, k, k, transposed(shared(Q, k)), bbar, SET);
        product_vector(Pbar + (k - 1) * k * LINATTN__LANES, k, k, lanes(x.C, k), rbar, ADD);
        for (size_t i = 0; wanted && i < k; i++)
            for (size_t j = 0; j < k; j++) {
                const vreal outer = get(rbar, i) * p[j] + get(rbar, j) * p[i];
                put(into.S, i * k + j, h > 0 ? get(into.S, i * k + j) + outer : outer);
            }
    }
    if (!wanted) return;
    for (size_t i = 0; i < k; i++) put(into.q, i, qbar_d * get(x.b, i));
    put(into.q, k - 1, get(into.q, k - 1) + qbar_d);
}

/* The backward pass of another layer; notation and arguments as in block.h.
 *     G = S' U + qbar' q^T             V_h = P_h^T G             n Pbar_h += G R_h             Qbar_h += V_h^T C
 *     qbar = T^T qbar'                 S = T^T S' T + Y + Y^T,  Y = sum_h V_h Q_h */
LINATTN__INLINE void full_backward_layer(size_t l, size_t heads, size_t k, const double *theta, full_layer x, double *gradient,
                                         full_adjoint bar, full_adjoint into, int wanted) {
    const size_t matrix = k * k * LINATTN__LANES;
    product(bar.G, k, k + 1, k, transposed(lanes(bar.S, k)), lanes(x.U, k), SET);
    for (size_t h = 0; h < heads; h++) {
        const size_t offset = block_offset(l, h, heads, k);
        const double *P = theta + offset, *Q = P + k * k;
        double *Pbar = gradient + offset * LINATTN__LANES, *Qbar = Pbar + matrix, *V = bar.V + h * matrix;
        product(Pbar, k, k, k, lanes(bar.G, k), lanes(x.R + h * matrix, k), ADD);
        product(V, k, k, k, transposed(shared(P, k)), lanes(bar.G, k), SET);
        product(Qbar, k, k, k, transposed(lanes(V, k)), lanes(x.C, k), ADD);
        if (wanted) product(bar.Y, k, k, k, lanes(V, k), shared(Q, k), h > 0);
    }
    if (!wanted) return;
    product_vector(bar.q_in, k, k, transposed(lanes(x.T, k)), bar.q, SET);
    product(bar.W, k, k, k, lanes(bar.S, k), lanes(x.T, k), SET);
    for (size_t i = 0; i < k; i++) {
        put(into.q, i, get(bar.q_in, i));
        for (size_t j = 0; j < k; j++) put(into.S, i * k + j, get(bar.Y, i * k + j) + get(bar.Y, j * k + i));
    }
    product_symmetric(into.S, k, k, transposed(lanes(x.T, k)), lanes(bar.W, k), ADD);
}

/* All layers; adjoints, stride and input as in block_backward. */
LINATTN__INLINE void full_backward(size_t layers, size_t heads, size_t k, const double *theta, double *stored, vreal qbar_d,
                                   double *gradient, double *adjoints, size_t stride, double *input) {
    for (size_t l = layers; l-- > 0;) {
        double *const to = l > 0 ? adjoints + (l - 1) * stride * LINATTN__LANES : input ? input : adjoints;
        const full_layer x = full_layer_at(stored, l, heads, k);
        const full_adjoint bar = full_adjoint_at(adjoints + l * stride * LINATTN__LANES, heads, k);
        const full_adjoint into = full_adjoint_at(to, heads, k);
        if (l + 1 == layers)
            full_backward_last(l, heads, k, theta, x, qbar_d, gradient, bar, into, l > 0 || input);
        else
            full_backward_layer(l, heads, k, theta, x, gradient, bar, into, l > 0 || input);
    }
}

#endif
