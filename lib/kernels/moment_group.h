/* moment_group.h: a group of lanes, as many prompts as a vector holds, through the forward and the backward pass of either form. d
 * is constant in most callers. */
#ifndef LINATTN_KERNELS_MOMENT_GROUP_H
#define LINATTN_KERNELS_MOMENT_GROUP_H

#include "kernels/groups.h"
#include "kernels/moment_front.h"

/* Lane entries that the passes of one layer keep. */
LINATTN__INLINE size_t group_layer_size(const linattn__shape *shape) {
    return shape->full ? full_layer_size(shape->heads, shape->dim + 1) : block_layer_size(shape->heads, shape->dim);
}
LINATTN__INLINE size_t group_adjoint_size(const linattn__shape *shape) {
    return shape->full ? full_adjoint_size(shape->heads, shape->dim + 1) : block_adjoint_size(shape->heads, shape->dim);
}

/* Takes C_0 and the query into layer 0. Returns the query's last entry. */
LINATTN__INLINE vreal group_load(const linattn__shape *shape, int full, size_t d, const linattn__data *data, size_t block,
                                 size_t group, double *stored) {
    const double *moments = data->moments + block * (d + 1) * (d + 2) / 2 * LINATTN__BLOCK + group * LINATTN__LANES;
    const double *query = data->queries + block * (d + 1) * LINATTN__BLOCK + group * LINATTN__LANES;
    if (!full) return block_load(moments, query, stored, shape->heads, d);
    full_load(moments, query, stored, shape->heads, d + 1);
    return vreal_load(query + d * LINATTN__BLOCK);
}

/* The query's last entry after the last layer, which is minus the prediction. stored: L+1 layers. */
LINATTN__INLINE vreal group_forward(const linattn__shape *shape, int full, size_t d, const double *theta, const linattn__data *data,
                                    size_t block, size_t group, double *stored, const moment_front *front) {
    const double over_n = 1.0 / (double)shape->context, *const layers = theta + linattn__network_size(shape->hidden, d);
    vreal q_y;
    if (front->hidden) {
        moment_front_forward(front, theta, data, block, group, NULL, d);
        q_y = moment_front_load(front, full, stored, shape->heads, d);
    } else {
        q_y = group_load(shape, full, d, data, block, group, stored);
    }
    return full ? full_forward(shape->layers, shape->heads, d + 1, layers, stored)
                : block_forward(shape->layers, shape->heads, d, over_n, layers, stored, q_y);
}

/* Minus the prediction's error. */
LINATTN__INLINE vreal group_miss(const linattn__data *data, size_t block, size_t group, vreal last) {
    const vreal target = vreal_load(data->targets + block * LINATTN__BLOCK + group * LINATTN__LANES);
    return group_mask(data, block, group, last + target);
}

/* Adds the gradient of the squared error to the lane sums `gradient` (p); adjoints and stride as in block_backward. The front MLP's
 * part of it is left out, but not the adjoints of layer 0's input, which go to `input`, if that is not NULL. */
LINATTN__INLINE void group_backward(const linattn__shape *shape, int full, size_t d, const double *theta, double *stored,
                                    vreal miss, double *gradient, double *adjoints, size_t stride, double *input) {
    const size_t front = linattn__network_size(shape->hidden, d), layers = shape->layers, heads = shape->heads;
    theta += front;
    gradient += front * LINATTN__LANES;
    if (full)
        full_backward(layers, heads, d + 1, theta, stored, 2.0 * miss, gradient, adjoints, stride, input);
    else
        block_backward(layers, heads, d, 1.0 / (double)shape->context, theta, stored, 2.0 * miss, gradient, adjoints, stride,
                       input);
}

#endif
