/* group.h: a group of lanes, as many prompts as a vector holds, through the forward and the backward pass of either form. d is
 * constant in most callers. */
#ifndef LINATTN_KERNELS_GROUP_H
#define LINATTN_KERNELS_GROUP_H

#include "kernels/block.h"
#include "kernels/full.h"

enum { GROUPS = LINATTN__BLOCK / LINATTN__LANES }; /* of a block */

/* Lane entries that the passes of one layer keep. */
LINATTN__INLINE size_t group_layer_size(const linattn__shape *shape) {
    return shape->full ? full_layer_size(shape->heads, shape->dim + 1) : block_layer_size(shape->heads, shape->dim);
}
LINATTN__INLINE size_t group_adjoint_size(const linattn__shape *shape) {
    return shape->full ? full_adjoint_size(shape->heads, shape->dim + 1) : block_adjoint_size(shape->heads, shape->dim);
}

/* The query's last entry after the last layer, which is minus the prediction. stored: L+1 layers. */
LINATTN__INLINE vreal group_forward(const linattn__shape *shape, int full, size_t d, const double *theta, const linattn__data *data,
                                    size_t block, size_t group, double *stored) {
    const double *moments = data->moments + block * (d + 1) * (d + 2) / 2 * LINATTN__BLOCK + group * LINATTN__LANES;
    const double *query = data->queries + block * (d + 1) * LINATTN__BLOCK + group * LINATTN__LANES;
    if (full) {
        full_load(moments, query, stored, shape->heads, d + 1);
        return full_forward(shape->layers, shape->heads, d + 1, theta, stored);
    }
    const vreal q_y = block_load(moments, query, stored, shape->heads, d);
    return block_forward(shape->layers, shape->heads, d, 1.0 / (double)shape->context, theta, stored, q_y);
}

/* Minus the prediction's error. */
LINATTN__INLINE vreal group_miss(const linattn__data *data, size_t block, size_t group, vreal last) {
    return last + vreal_load(data->targets + block * LINATTN__BLOCK + group * LINATTN__LANES);
}

/* Adds the gradient of the squared error to the lane sums `gradient` (p); adjoints and stride as in block_backward. */
LINATTN__INLINE void group_backward(const linattn__shape *shape, int full, size_t d, const double *theta, double *stored,
                                    vreal miss, double *gradient, double *adjoints, size_t stride) {
    if (full)
        full_backward(shape->layers, shape->heads, d + 1, theta, stored, 2.0 * miss, gradient, adjoints, stride);
    else
        block_backward(shape->layers, shape->heads, d, 1.0 / (double)shape->context, theta, stored, 2.0 * miss, gradient, adjoints,
                       stride);
}

#endif
