/* block_tangent.h: derivatives of block.h's lines in one direction (dP, dQ), which make a Hessian-vector product.
 *
 * A dot marks a tangent. dtheta is the direction as the passes want it: dP divided by n. It is zero before layer `first`, and what
 * leaves this file is wanted from that layer on; when `confined` is set it is zero after it, too. A Hessian is symmetric: with one
 * layer's directions at a time, what this leaves out is known from the directions of the layers before. */
#ifndef LINATTN_KERNELS_BLOCK_TANGENT_H
#define LINATTN_KERNELS_BLOCK_TANGENT_H

#include "kernels/block.h"

/* Where the direction is, and what is wanted. */
typedef struct {
    const double *theta, *dtheta;
    size_t layers, heads, first;
    int front; /* the direction begins before layer 0, in a front MLP: C, c and q of that layer have tangents, put there before */
    int confined;
    double over_n;
} tangent_task;

/* The input of layer l has tangents, and its adjoints are wanted. */
LINATTN__INLINE int tangent_moving(const tangent_task *task, size_t l) { return l > task->first || task->front; }

/* Tangents of the forward pass of layers first .. L-1; x of block_layer holds values, t tangents. Returns qdot_y.
 *     adot = (1/n) sum_h (dQ_h c + Q_h cdot)                 Rdot_h = dQ_h C + Q_h Cdot
 *     qdot_y' = qdot_y + adot.q + a.qdot                     Tdot = sum_h dP_h R_h^T + P_h Rdot_h^T
 *     mdot = Cdot a + C adot + cdot                          Udot = Tdot C + T Cdot
 *     qdot' = Tdot q + T qdot      cdot' = Tdot m + T mdot   Cdot' = Udot T^T + U Tdot^T */
LINATTN__INLINE vreal block_tangent_forward(const tangent_task *task, size_t d, double *stored, double *tangents) {
    const size_t heads = task->heads, layers = task->layers, matrix = d * d * LINATTN__LANES;
    vreal qdot_y = {0};
    const block_layer start = block_layer_at(tangents, task->first, heads, d);
    for (size_t i = 0; !task->front && i < d * LINATTN__LANES; i++) start.q[i] = start.c[i] = 0;
    for (size_t l = task->first; l < layers; l++) {
        const block_layer x = block_layer_at(stored, l, heads, d), t = block_layer_at(tangents, l, heads, d);
        const block_layer next = block_layer_at(tangents, l + 1, heads, d);
        const int moving = tangent_moving(task, l), own = !task->confined || !moving; /* tangents come in; dP and dQ are not zero */
        for (size_t i = 0; i < d; i++) put(t.a, i, (vreal){0});
        for (size_t h = 0; h < heads; h++) {
            const size_t Q = block_offset(l, h, heads, d) + d * d;
            if (own) product_vector(t.a, d, d, shared(task->dtheta + Q, d), x.c, ADD);
            if (moving) product_vector(t.a, d, d, shared(task->theta + Q, d), t.c, ADD);
        }
        for (size_t i = 0; i < d; i++) put(t.a, i, get(t.a, i) * task->over_n);
        qdot_y += inner_product(t.a, x.q, d) + inner_product(x.a, t.q, d);
        if (l + 1 == layers) break;

        for (size_t h = 0; h < heads; h++) {
            const size_t P = block_offset(l, h, heads, d), Q = P + d * d;
            double *Rdot = t.R + h * matrix;
            if (own) product(Rdot, d, d, d, shared(task->dtheta + Q, d), lanes(x.C, d), SET);
            if (moving) product(Rdot, d, d, d, shared(task->theta + Q, d), lanes(t.C, d), own);
            product(t.T, d, d, d, shared(task->theta + P, d), transposed(lanes(Rdot, d)), h > 0);
            if (own) product(t.T, d, d, d, shared(task->dtheta + P, d), transposed(lanes(x.R + h * matrix, d)), ADD);
        }
        for (size_t i = 0; i < d; i++) put(t.m, i, get(t.c, i));
        product_vector(t.m, d, d, lanes(x.C, d), t.a, ADD);
        if (moving) product_vector(t.m, d, d, lanes(t.C, d), x.a, ADD);
        product_vector(next.c, d, d, lanes(t.T, d), x.m, SET);
        product_vector(next.c, d, d, lanes(x.T, d), t.m, ADD);
        product_vector(next.q, d, d, lanes(t.T, d), x.q, SET);
        product_vector(next.q, d, d, lanes(x.T, d), t.q, ADD);
        if (l + 2 == layers) continue;
        product(t.U, d, d, d, lanes(t.T, d), lanes(x.C, d), SET);
        if (moving) product(t.U, d, d, d, lanes(x.T, d), lanes(t.C, d), ADD);
        product(next.C, d, d, d, lanes(t.U, d), transposed(lanes(x.T, d)), SET);
        product(next.C, d, d, d, lanes(x.U, d), transposed(lanes(t.T, d)), ADD);
    }
    return qdot_y;
}

/* Parameters' part of a layer's backward tangents, added to the lane sums `out` (p) of the direction.
 *     n Pbardot_h += Gdot R_h + G Rdot_h         Vdot_h = P_h^T Gdot + dP_h^T G
 *     Qbardot_h += Vdot_h^T C + V_h^T Cdot + (abardot c^T + abar cdot^T) / n
 *     Ydot += Vdot_h Q_h + V_h dQ_h              (where layers before it want it) */
LINATTN__INLINE void block_tangent_parameters(const tangent_task *task, size_t l, size_t d, block_layer x, block_layer t,
                                              block_adjoint bar, block_adjoint dot, double *out) {
    const size_t vector = d * LINATTN__LANES, matrix = d * vector;
    const int last = l + 1 == task->layers, moving = tangent_moving(task, l), own = !task->confined || !moving;
    for (size_t h = 0; h < task->heads; h++) {
        const size_t P = block_offset(l, h, task->heads, d), Q = P + d * d;
        double *outP = out + P * LINATTN__LANES, *outQ = outP + matrix;
        double *V = bar.V + h * (matrix + vector), *Vdot = dot.V + h * (matrix + vector);
        if (last) {
            product(outQ, d, 1, d, transposed(lanes(dot.a, d)), lanes(x.c, d), ADD);
            product(outQ, d, 1, d, transposed(lanes(bar.a, d)), lanes(t.c, d), ADD);
            continue;
        }
        product(outP, d, d, d, lanes(dot.G, d), lanes(x.R + h * matrix, d), ADD);
        product(outP, d, d, d, lanes(bar.G, d), lanes(t.R + h * matrix, d), ADD);
        product(Vdot, d, d, d, transposed(shared(task->theta + P, d)), lanes(dot.G, d), SET);
        if (own) product(Vdot, d, d, d, transposed(shared(task->dtheta + P, d)), lanes(bar.G, d), ADD);
        for (size_t i = 0; i < d; i++) put(Vdot + matrix, i, get(dot.a, i));
        product(outQ, d, d + 1, d, transposed(lanes(Vdot, d)), lanes(x.C, d), ADD);
        if (!moving) continue; /* the layer's input does not move, and nothing before it is wanted */
        product(outQ, d, d + 1, d, transposed(lanes(V, d)), lanes(t.C, d), ADD);
        product(dot.Y, d, d, d, lanes(Vdot, d), shared(task->theta + Q, d), h > 0);
        if (own) product(dot.Y, d, d, d, lanes(V, d), shared(task->dtheta + Q, d), ADD);
    }
}

/* What the layer hands on to the one before it, written over `dot`'s own S, q, c.
 *     qbardot = Tdot^T qbar' + T^T qbardot' + qbardot_y a + qbar_y adot
 *     cbardot = mbardot + sum_h (Q_h^T abardot + dQ_h^T abar) / n
 *     Sdot = T^T Sdot' T + Ydot + Ydot^T,  Ydot = W^T Tdot + mbardot a^T + mbar adot^T + sum_h (Vdot_h Q_h + V_h dQ_h) */
LINATTN__INLINE void block_tangent_input(const tangent_task *task, size_t l, size_t d, block_layer x, block_layer t,
                                         block_adjoint bar, block_adjoint dot, vreal qbar_y, vreal qbardot_y) {
    const int last = l + 1 == task->layers, curved = l + 2 < task->layers, own = !task->confined;
    for (size_t i = 0; i < d; i++) put(dot.q_in, i, qbardot_y * get(x.a, i) + qbar_y * get(t.a, i));
    if (!last) {
        product_vector(dot.q_in, d, d, transposed(lanes(t.T, d)), bar.q, ADD);
        product_vector(dot.q_in, d, d, transposed(lanes(x.T, d)), dot.q, ADD);
    }
    for (size_t i = 0; i < d; i++) {
        put(dot.q, i, get(dot.q_in, i));
        put(dot.c, i, last ? (vreal){0} : get(dot.m, i));
    }
    for (size_t h = 0; h < task->heads; h++) {
        const size_t Q = block_offset(l, h, task->heads, d) + d * d;
        product_vector(dot.c, d, d, transposed(shared(task->theta + Q, d)), dot.a, ADD);
        if (own) product_vector(dot.c, d, d, transposed(shared(task->dtheta + Q, d)), bar.a, ADD);
    }
    if (last) return;
    if (curved) {
        product(dot.W, d, d, d, lanes(dot.S, d), lanes(x.T, d), SET);
        product(dot.Y, d, d, d, transposed(lanes(bar.W, d)), lanes(t.T, d), ADD);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            const vreal sum = get(dot.Y, i * d + j) + get(dot.Y, j * d + i) + get(dot.m, i) * get(x.a, j) +
                              get(dot.m, j) * get(x.a, i) + get(bar.m, i) * get(t.a, j) + get(bar.m, j) * get(t.a, i);
            put(dot.S, i * d + j, sum);
            put(dot.S, j * d + i, sum);
        }
    if (curved) product_symmetric(dot.S, d, d, transposed(lanes(x.T, d)), lanes(dot.W, d), ADD);
}

/* Tangents of the backward pass of layers L-1 .. first. adjoints: what block_backward kept, a layer every `stride` lane entries;
 * scratch: room for one layer's. qbardot_y is 2 qdot_y.
 *     mbardot = Tdot^T cbar' + T^T cbardot'      abardot = Cdot mbar + C mbardot + qbardot_y q + qbar_y qdot
 *     Gdot = Sdot' U + S' Udot + qbardot' q^T + qbar' qdot^T + cbardot' m^T + cbar' mdot^T */
LINATTN__INLINE void block_tangent_backward(const tangent_task *task, size_t d, double *stored, double *tangents, double *adjoints,
                                            size_t stride, vreal qbar_y, vreal qbardot_y, double *out, double *scratch) {
    const size_t heads = task->heads, vector = d * LINATTN__LANES;
    const block_adjoint dot = block_adjoint_at(scratch, heads, d);
    for (size_t l = task->layers; l-- > task->first;) {
        const block_layer x = block_layer_at(stored, l, heads, d), t = block_layer_at(tangents, l, heads, d);
        const block_adjoint bar = block_adjoint_at(adjoints + l * stride * LINATTN__LANES, heads, d);
        const int last = l + 1 == task->layers, moving = tangent_moving(task, l);
        for (size_t i = 0; i < d; i++) put(dot.a, i, qbardot_y * get(x.q, i) + qbar_y * get(t.q, i));
        if (!last) {
            const size_t row = l + 2 < task->layers ? 0 : d, rows = d + 2 - row, skip = row * vector;
            product_vector(dot.m, d, d, transposed(lanes(t.T, d)), bar.c, SET);
            product_vector(dot.m, d, d, transposed(lanes(x.T, d)), dot.c, ADD);
            product_vector(dot.a, d, d, lanes(x.C, d), dot.m, ADD);
            if (moving) product_vector(dot.a, d, d, lanes(t.C, d), bar.m, ADD);
            product(dot.G, d, rows, d, transposed(lanes(dot.S + skip, d)), lanes(x.U + skip, d), SET);
            product(dot.G, d, rows, d, transposed(lanes(bar.S + skip, d)), lanes(t.U + skip, d), ADD);
        }
        for (size_t i = 0; i < d; i++) put(dot.a, i, get(dot.a, i) * task->over_n);
        block_tangent_parameters(task, l, d, x, t, bar, dot, out);
        if (moving) block_tangent_input(task, l, d, x, t, bar, dot, qbar_y, qbardot_y);
    }
}

#endif
