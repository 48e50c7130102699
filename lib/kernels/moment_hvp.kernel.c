/* Hessian-vector products of the moment path for one instruction set: one forward and backward pass of a group of lanes, kept, then
 * the tangents of every direction. */
#include "kernels/moment.h"
#include "kernels/moment_group.h"

/* The parts of a workspace, and their sizes in doubles. */
typedef struct {
    size_t stored, adjoints, scratch, sums;         /* forward pass of all layers; backward pass; one layer's; p lane sums */
    size_t stride;                                  /* lane entries of a layer's backward pass */
    size_t front_size;                              /* parameters of a front MLP */
    double *values, *tangents, *bars, *work, *dump; /* stored, stored, adjoints, scratch, sums */
    double *input;                                  /* scratch: adjoints of layer 0's input */
    double *out, *theta, *dtheta;                   /* count sums; p; count p */
    moment_front front;
    size_t doubles; /* of all parts */
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
    at.input = at.out + count * at.sums;
    at.front = moment_front_at(shape, 1, space ? at.input + at.scratch : NULL);
    at.theta = at.input + at.scratch + at.front.doubles;
    at.dtheta = at.theta + p;
    at.front_size = linattn__network_size(shape->hidden, shape->dim);
    at.doubles = 2 * at.stored + at.adjoints + 2 * at.scratch + (1 + count) * at.sums + at.front.doubles + (1 + count) * p;
    return at;
}

static size_t workspace(const linattn__shape *shape, size_t count) { return lay_out(shape, count, NULL).doubles; }

/* Tangents of the layers in one direction; those of layer 0's input are there already where a front MLP moves it, and those of its
 * adjoints are left in at->work. */
LINATTN__INLINE void group_tangent(const linattn__shape *shape, int full, size_t d, const linattn__data *data, size_t block,
                                   size_t group, const tangent_task *task, vreal miss, double *out, const layout *at) {
    const size_t k = d + 1;
    const vreal qdot =
        full ? full_tangent_forward(task, k, at->values, at->tangents) : block_tangent_forward(task, d, at->values, at->tangents);
    const vreal rate = shape->hidden ? group_mask(data, block, group, qdot) : qdot;
    if (full)
        full_tangent_backward(task, k, at->values, at->tangents, at->bars, at->stride, 2.0 * miss, 2.0 * rate, out, at->work);
    else
        block_tangent_backward(task, d, at->values, at->tangents, at->bars, at->stride, 2.0 * miss, 2.0 * rate, out, at->work);
}

/* One group of lanes, all directions. */
LINATTN__INLINE void group_hvp(const linattn__shape *shape, int full, size_t d, const linattn__data *data, size_t block,
                               size_t group, tangent_task task, size_t count, const layout *at) {
    const size_t p = linattn__shape_parameter_count(shape), layers = shape->layers, heads = shape->heads;
    const moment_front *front = &at->front;
    const vreal last = group_forward(shape, full, d, at->theta, data, block, group, at->values, front);
    const vreal miss = group_miss(data, block, group, last);
    group_backward(shape, full, d, at->theta, at->values, miss, at->dump, at->bars, at->stride, task.front ? at->input : NULL);
    if (task.front) moment_front_backward(front, full, layers, at->theta, at->input, heads, NULL, d);
    for (size_t i = 0; i < count; i++) {
        const double *const dtheta = at->dtheta + i * p;
        double *const out = at->out + i * at->sums;
        task.dtheta = dtheta + at->front_size;
        if (task.front) moment_front_tangent(front, full, at->theta, dtheta, at->tangents, heads, d);
        group_tangent(shape, full, d, data, block, group, &task, miss, out + at->front_size * LINATTN__LANES, at);
        if (task.front) moment_front_backward_tangent(front, full, layers, at->theta, dtheta, at->work, heads, out, d);
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
                size_t first, int confined, double *out, double *space) {
    const layout at = lay_out(shape, count, space);
    const size_t p = linattn__shape_parameter_count(shape);
    const tangent_task task = {.theta = at.theta + at.front_size,
                               .layers = shape->layers,
                               .heads = shape->heads,
                               .first = shape->hidden && first > 0 ? first - 1 : first,
                               .front = shape->hidden && first == 0,
                               .confined = confined,
                               .over_n = 1.0 / (double)shape->context};
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
