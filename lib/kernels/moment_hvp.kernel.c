/* Hessian-vector products of the moment path for one instruction set: one forward and backward pass of a group of lanes, kept, then
 * the tangents of every direction. */
#include "kernels/block_tangent.h"
#include "kernels/full_tangent.h"
#include "kernels/group.h"
#include "kernels/moment.h"

/* The parts of a workspace, and their sizes in doubles. */
typedef struct {
    size_t stored, adjoints, scratch, sums;         /* forward pass of all layers; backward pass; one layer's; p lane sums */
    size_t stride;                                  /* lane entries of a layer's backward pass */
    double *values, *tangents, *bars, *work, *dump; /* stored, stored, adjoints, scratch, sums */
    double *out, *theta, *dtheta;                   /* count sums; p; count p */
} layout;

static layout lay_out(const linattn__shape *shape, size_t count, double *space) {
    const size_t p = linattn__shape_parameter_count(shape);
    layout at;
    at.stride = group_adjoint_size(shape);
    at.stored = (shape->layers + 1) * group_layer_size(shape) * LINATTN__LANES;
    at.scratch = at.stride * LINATTN__LANES;
    at.adjoints = shape->layers * at.scratch;
    at.sums = p * LINATTN__LANES;
    at.values = space;
    at.tangents = at.values + at.stored;
    at.bars = at.tangents + at.stored;
    at.work = at.bars + at.adjoints;
    at.dump = at.work + at.scratch;
    at.out = at.dump + at.sums;
    at.theta = at.out + count * at.sums;
    at.dtheta = at.theta + p;
    return at;
}

static size_t workspace(const linattn__shape *shape, size_t count) {
    const layout at = lay_out(shape, count, NULL);
    const size_t p = linattn__shape_parameter_count(shape);
    return 2 * at.stored + at.adjoints + at.scratch + (1 + count) * at.sums + (1 + count) * p;
}

/* One group of lanes, all directions. */
LINATTN__INLINE void group_hvp(const linattn__shape *shape, int full, size_t d, const linattn__data *data, size_t block,
                               size_t group, tangent_task task, size_t count, const layout *at) {
    const size_t k = d + 1, p = linattn__shape_parameter_count(shape);
    const vreal miss = group_miss(data, block, group, group_forward(shape, full, d, task.theta, data, block, group, at->values));
    group_backward(shape, full, d, task.theta, at->values, miss, at->dump, at->bars, at->stride);
    for (size_t i = 0; i < count; i++) {
        double *out = at->out + i * at->sums;
        task.dtheta = at->dtheta + i * p;
        if (full) {
            const vreal rate = full_tangent_forward(&task, k, at->values, at->tangents);
            full_tangent_backward(&task, k, at->values, at->tangents, at->bars, at->stride, 2.0 * miss, 2.0 * rate, out, at->work);
        } else {
            const vreal rate = block_tangent_forward(&task, d, at->values, at->tangents);
            block_tangent_backward(&task, d, at->values, at->tangents, at->bars, at->stride, 2.0 * miss, 2.0 * rate, out, at->work);
        }
    }
}

/* The loop over groups, for a size known to the compiler (or not: `any`). */
#define SIZED(name, full, d)                                                                                                       \
    static void hvp_##name(const linattn__shape *shape, const linattn__data *data, tangent_task task, size_t count,                \
                           const layout *at) {                                                                                     \
        for (size_t block = 0; block < data->blocks; block++)                                                                      \
            for (size_t group = 0; group < GROUPS; group++) group_hvp(shape, full, d, data, block, group, task, count, at);        \
    }

SIZED(block_5, 0, LINATTN__KNOWN(5, shape->dim))
SIZED(block_any, 0, shape->dim)
SIZED(full_any, 1, shape->dim)

static void hvp(const linattn__shape *shape, const double *theta, const linattn__data *data, const double *directions, size_t count,
                size_t first_layer, int confined, double *out, double *space) {
    const layout at = lay_out(shape, count, space);
    const size_t p = linattn__shape_parameter_count(shape);
    tangent_task task = {at.theta, NULL, shape->layers, shape->heads, first_layer, confined, 1.0 / (double)shape->context};
    linattn__moment_divide_P(shape, theta, at.theta);
    for (size_t i = 0; i < count; i++) linattn__moment_divide_P(shape, directions + i * p, at.dtheta + i * p);
    memset(at.dump, 0, (1 + count) * at.sums * sizeof *at.dump);
    (shape->full ? hvp_full_any : shape->dim == 5 ? hvp_block_5 : hvp_block_any)(shape, data, task, count, &at);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < p; j++) out[i * p + j] = sum_lanes(get(at.out + i * at.sums, j));
        linattn__moment_divide_P(shape, out + i * p, out + i * p);
    }
}

const linattn__hvp_kernels LINATTN__ISA_NAME(moment_hvp) = {workspace, hvp};
