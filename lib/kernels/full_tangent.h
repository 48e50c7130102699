/* full_tangent.h: derivatives of full.h's lines in one direction; notation, task and what is left out as in block_tangent.h. */
#ifndef LINATTN_KERNELS_FULL_TANGENT_H
#define LINATTN_KERNELS_FULL_TANGENT_H

#include "kernels/block_tangent.h"
#include "kernels/full.h"

/* Tangents of the forward pass of layers first .. L-1. Returns qdot_d after the last one.
 *     Rdot_h = dQ_h C + Q_h Cdot       Tdot = sum_h dP_h R_h^T + P_h Rdot_h^T       Udot = Tdot C + T Cdot
 *     qdot' = Tdot q + T qdot          Cdot' = Udot T^T + U Tdot^T
 *     last layer: rdot_h = Cdot p_h + C dp_h      bdot = sum_h dQ_h r_h + Q_h rdot_h      qdot'_d = qdot_d + bdot.q + b.qdot */
LINATTN__INLINE vreal full_tangent_forward(const tangent_task *task, size_t k, double *stored, double *tangents) {
    const size_t heads = task->heads, layers = task->layers, matrix = k * k * LINATTN__LANES;
    const full_layer start = full_layer_at(tangents, task->first, heads, k);
    for (size_t i = 0; !task->front && i < k * LINATTN__LANES; i++) start.q[i] = 0;
    for (size_t l = task->first; l + 1 < layers; l++) {
        const full_layer x = full_layer_at(stored, l, heads, k), t = full_layer_at(tangents, l, heads, k);
        const full_layer next = full_layer_at(tangents, l + 1, heads, k);
        const int moving = tangent_moving(task, l), own = !task->confined || !moving;
        for (size_t h = 0; h < heads; h++) {
            const size_t P = block_offset(l, h, heads, k), Q = P + k * k;
            double *Rdot = t.R + h * matrix;
            if (own) product(Rdot, k, k, k, shared(task->dtheta + Q, k), lanes(x.C, k), SET);
            if (moving) product(Rdot, k, k, k, shared(task->theta + Q, k), lanes(t.C, k), own);
            product(t.T, k, k, k, shared(task->theta + P, k), transposed(lanes(Rdot, k)), h > 0);
            if (own) product(t.T, k, k, k, shared(task->dtheta + P, k), transposed(lanes(x.R + h * matrix, k)), ADD);
        }
        product_vector(next.q, k, k, lanes(t.T, k), x.q, SET);
        product_vector(next.q, k, k, lanes(x.T, k), t.q, ADD);
        product(t.U, k, k, k, lanes(t.T, k), lanes(x.C, k), SET);
        if (moving) product(t.U, k, k, k, lanes(x.T, k), lanes(t.C, k), ADD);
        product(next.C, k, k, k, lanes(t.U, k), transposed(lanes(x.T, k)), SET);
        product(next.C, k, k, k, lanes(x.U, k), transposed(lanes(t.T, k)), ADD);
    }
    const full_layer x = full_layer_at(stored, layers - 1, heads, k), t = full_layer_at(tangents, layers - 1, heads, k);
    const int moving = tangent_moving(task, layers - 1), own = !task->confined || !moving;
    for (size_t i = 0; i < k; i++) put(t.b, i, (vreal){0});
    for (size_t h = 0; h < heads; h++) {
        const size_t P = block_offset(layers - 1, h, heads, k), Q = P + k * k, p = P + (k - 1) * k;
        double *rdot = t.R + h * matrix;
        if (own) product(rdot, 1, k, k, shared(task->dtheta + p, k), lanes(x.C, k), SET);
        if (moving) product(rdot, 1, k, k, shared(task->theta + p, k), lanes(t.C, k), own);
        product_vector(t.b, k, k, shared(task->theta + Q, k), rdot, ADD);
        if (own) product_vector(t.b, k, k, shared(task->dtheta + Q, k), x.R + h * matrix, ADD);
    }
    return get(t.q, k - 1) + inner_product(t.b, x.q, k) + inner_product(x.b, t.q, k);
}

/* The last layer's backward tangents.
 *     bbardot = qbardot_d q + qbar_d qdot         rbardot_h = Q_h^T bbardot + dQ_h^T bbar
 *     Qbardot_h += bbardot r_h^T + bbar rdot_h^T                n (Pbardot_h)_d += C rbardot_h + Cdot rbar_h
 *     qbardot = qbardot_d (e_d + b) + qbar_d bdot
 *     Sdot = sum_h rbardot_h p_h^T + p_h rbardot_h^T + rbar_h dp_h^T + dp_h rbar_h^T */
LINATTN__INLINE void full_tangent_last(const tangent_task *task, size_t k, full_layer x, full_layer t, full_adjoint bar,
                                       full_adjoint dot, vreal qbar_d, vreal qbardot_d, double *out) {
    const size_t l = task->layers - 1, heads = task->heads, matrix = k * k * LINATTN__LANES;
    const int moving = tangent_moving(task, l), own = !task->confined || !moving;
    double *bbar = bar.G, *bbardot = dot.G;
    for (size_t i = 0; i < k; i++) put(bbardot, i, qbardot_d * get(x.q, i) + qbar_d * get(t.q, i));
    for (size_t h = 0; h < heads; h++) {
        const size_t P = block_offset(l, h, heads, k), Q = P + k * k, p = P + (k - 1) * k;
        double *outQ = out + Q * LINATTN__LANES, *rbar = bar.V + h * matrix, *rbardot = dot.V + h * matrix;
        product(outQ, k, 1, k, transposed(lanes(bbardot, k)), lanes(x.R + h * matrix, k), ADD);
        product(outQ, k, 1, k, transposed(lanes(bbar, k)), lanes(t.R + h * matrix, k), ADD);
        product_vector(rbardot, k, k, transposed(shared(task->theta + Q, k)), bbardot, SET);
        if (own) product_vector(rbardot, k, k, transposed(shared(task->dtheta + Q, k)), bbar, ADD);
        product_vector(out + p * LINATTN__LANES, k, k, lanes(x.C, k), rbardot, ADD);
        if (!moving) continue;
        product_vector(out + p * LINATTN__LANES, k, k, lanes(t.C, k), rbar, ADD);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                vreal outer = get(rbardot, i) * task->theta[p + j] + get(rbardot, j) * task->theta[p + i];
                if (own) outer += get(rbar, i) * task->dtheta[p + j] + get(rbar, j) * task->dtheta[p + i];
                put(dot.S, i * k + j, h > 0 ? get(dot.S, i * k + j) + outer : outer);
            }
    }
    for (size_t i = 0; i < k; i++) put(dot.q, i, qbardot_d * get(x.b, i) + qbar_d * get(t.b, i));
    put(dot.q, k - 1, get(dot.q, k - 1) + qbardot_d);
}

/* Another layer's backward tangents, handed on over `dot`'s own S and q.
 *     Gdot = Sdot' U + S' Udot + qbardot' q^T + qbar' qdot^T        Vdot_h = P_h^T Gdot + dP_h^T G
 *     n Pbardot_h += Gdot R_h + G Rdot_h                            Qbardot_h += Vdot_h^T C + V_h^T Cdot
 *     qbardot = Tdot^T qbar' + T^T qbardot'                         Sdot = T^T Sdot' T + Ydot + Ydot^T
 *     Ydot = W^T Tdot + sum_h (Vdot_h Q_h + V_h dQ_h) */
LINATTN__INLINE void full_tangent_layer(const tangent_task *task, size_t l, size_t k, full_layer x, full_layer t, full_adjoint bar,
                                        full_adjoint dot, double *out) {
    const size_t heads = task->heads, matrix = k * k * LINATTN__LANES;
    const int moving = tangent_moving(task, l), own = !task->confined || !moving;
    product(dot.G, k, k + 1, k, transposed(lanes(dot.S, k)), lanes(x.U, k), SET);
    product(dot.G, k, k + 1, k, transposed(lanes(bar.S, k)), lanes(t.U, k), ADD);
    for (size_t h = 0; h < heads; h++) {
        const size_t P = block_offset(l, h, heads, k), Q = P + k * k;
        double *outP = out + P * LINATTN__LANES, *outQ = outP + matrix, *V = bar.V + h * matrix, *Vdot = dot.V + h * matrix;
        product(outP, k, k, k, lanes(dot.G, k), lanes(x.R + h * matrix, k), ADD);
        product(outP, k, k, k, lanes(bar.G, k), lanes(t.R + h * matrix, k), ADD);
        product(Vdot, k, k, k, transposed(shared(task->theta + P, k)), lanes(dot.G, k), SET);
        if (own) product(Vdot, k, k, k, transposed(shared(task->dtheta + P, k)), lanes(bar.G, k), ADD);
        product(outQ, k, k, k, transposed(lanes(Vdot, k)), lanes(x.C, k), ADD);
        if (!moving) continue;
        product(outQ, k, k, k, transposed(lanes(V, k)), lanes(t.C, k), ADD);
        product(dot.Y, k, k, k, lanes(Vdot, k), shared(task->theta + Q, k), h > 0);
        if (own) product(dot.Y, k, k, k, lanes(V, k), shared(task->dtheta + Q, k), ADD);
    }
    if (!moving) return;
    product_vector(dot.q_in, k, k, transposed(lanes(t.T, k)), bar.q, SET);
    product_vector(dot.q_in, k, k, transposed(lanes(x.T, k)), dot.q, ADD);
    product(dot.W, k, k, k, lanes(dot.S, k), lanes(x.T, k), SET);
    product(dot.Y, k, k, k, transposed(lanes(bar.W, k)), lanes(t.T, k), ADD);
    for (size_t i = 0; i < k; i++) {
        put(dot.q, i, get(dot.q_in, i));
        for (size_t j = 0; j < k; j++) put(dot.S, i * k + j, get(dot.Y, i * k + j) + get(dot.Y, j * k + i));
    }
    product_symmetric(dot.S, k, k, transposed(lanes(x.T, k)), lanes(dot.W, k), ADD);
}

/* Tangents of the backward pass of layers L-1 .. first; arguments as in block_tangent_backward. */
LINATTN__INLINE void full_tangent_backward(const tangent_task *task, size_t k, double *stored, double *tangents, double *adjoints,
                                           size_t stride, vreal qbar_d, vreal qbardot_d, double *out, double *scratch) {
    const full_adjoint dot = full_adjoint_at(scratch, task->heads, k);
    for (size_t l = task->layers; l-- > task->first;) {
        const full_layer x = full_layer_at(stored, l, task->heads, k), t = full_layer_at(tangents, l, task->heads, k);
        const full_adjoint bar = full_adjoint_at(adjoints + l * stride * LINATTN__LANES, task->heads, k);
        if (l + 1 == task->layers)
            full_tangent_last(task, k, x, t, bar, dot, qbar_d, qbardot_d, out);
        else
            full_tangent_layer(task, l, k, x, t, bar, dot, out);
    }
}

#endif
