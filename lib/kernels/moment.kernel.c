/* The moment path for one instruction set: groups of lanes through forward and backward pass, sums over prompts. */
#include "kernels/moment.h"
#include "kernels/moment_group.h"

/* Workspace: the layers' stored forward pass (one more for what would follow the last), a lane sum a parameter, adjoints, a front
 * MLP's part, and the parameters as the passes want them. */
static size_t stored_size(const linattn__shape *shape) { return (shape->layers + 1) * group_layer_size(shape) * LINATTN__LANES; }

static size_t adjoint_size(const linattn__shape *shape) { return group_adjoint_size(shape) * LINATTN__LANES; }

static size_t workspace(const linattn__shape *shape) {
    const size_t p = linattn__shape_parameter_count(shape);
    return stored_size(shape) + adjoint_size(shape) + p * LINATTN__LANES + moment_front_at(shape, 0, NULL).doubles + p;
}

/* The squared error of one group; gradient (p lane sums) may be NULL. */
LINATTN__INLINE vreal group_squares(const linattn__shape *shape, int full, size_t d, const double *theta, const linattn__data *data,
                                    size_t block, size_t group, double *gradient, double *stored, double *work,
                                    const moment_front *front) {
    const vreal last = group_forward(shape, full, d, theta, data, block, group, stored, front);
    const vreal miss = group_miss(data, block, group, last);
    if (gradient) group_backward(shape, full, d, theta, stored, miss, gradient, work, 0, front->hidden ? work : NULL);
    if (gradient && front->hidden) moment_front_backward(front, full, shape->layers, theta, work, shape->heads, gradient, d);
    return miss * miss;
}

/* The loop over groups, for a size known to the compiler (or not: `any`). */
#define SIZED(name, full, d)                                                                                                       \
    static vreal squares_##name(const linattn__shape *shape, const double *theta, const linattn__data *data, double *gradient,     \
                                double *stored, double *work, const moment_front *front) {                                         \
        vreal sum = {0};                                                                                                           \
        for (size_t block = 0; block < data->blocks; block++)                                                                      \
            for (size_t group = 0; group < GROUPS; group++)                                                                        \
                sum += group_squares(shape, full, d, theta, data, block, group, gradient, stored, work, front);                    \
        return sum;                                                                                                                \
    }

SIZED(block_5, 0, LINATTN__KNOWN(5, shape->dim))
SIZED(block_10, 0, LINATTN__KNOWN(10, shape->dim))
SIZED(block_20, 0, LINATTN__KNOWN(20, shape->dim))
SIZED(block_any, 0, shape->dim)
SIZED(full_5, 1, LINATTN__KNOWN(5, shape->dim))
SIZED(full_any, 1, shape->dim)

/* The parts of a workspace. */
typedef struct {
    double *stored, *sums, *theta, *work;
    moment_front front;
} space_parts;

static space_parts divide(const linattn__shape *shape, double *space) {
    const size_t p = linattn__shape_parameter_count(shape), adjoint = adjoint_size(shape);
    double *sums = space + stored_size(shape), *work = sums + p * LINATTN__LANES;
    const moment_front front = moment_front_at(shape, 0, work + adjoint);
    return (space_parts){space, sums, work + adjoint + front.doubles, work, front};
}

static double sum_squares(const linattn__shape *shape, const double *theta, const linattn__data *data, double *gradient,
                          double *space) {
    const space_parts at = divide(shape, space);
    const size_t p = linattn__shape_parameter_count(shape), d = shape->dim;
    double *const sums = gradient ? at.sums : NULL;
    if (gradient) memset(sums, 0, p * LINATTN__LANES * sizeof *sums);
    linattn__moment_divide_P(shape, theta, at.theta);
    const vreal sum = (shape->full ? d == 5 ? squares_full_5 : squares_full_any
                       : d == 5    ? squares_block_5
                       : d == 10   ? squares_block_10
                       : d == 20   ? squares_block_20
                                   : squares_block_any)(shape, at.theta, data, sums, at.stored, at.work, &at.front);
    for (size_t i = 0; gradient && i < p; i++) gradient[i] = sum_lanes(get(sums, i));
    if (gradient) linattn__moment_divide_P(shape, gradient, gradient);
    return sum_lanes(sum);
}

static void predict(const linattn__shape *shape, const double *theta, const linattn__data *data, double *predictions,
                    double *space) {
    const space_parts at = divide(shape, space);
    linattn__moment_divide_P(shape, theta, at.theta);
    for (size_t block = 0; block < data->blocks; block++)
        for (size_t group = 0; group < GROUPS; group++)
            vreal_store(predictions + block * LINATTN__BLOCK + group * LINATTN__LANES,
                        -group_forward(shape, shape->full, shape->dim, at.theta, data, block, group, at.stored, &at.front));
}

/* Of the front MLP; lanes beyond the last prompt do not count. */
static double count_kinks(const linattn__shape *shape, const double *theta, const linattn__data *data, double *space) {
    const space_parts at = divide(shape, space);
    double count = 0;
    for (size_t first = 0; shape->hidden && first < data->prompts; first += LINATTN__LANES) {
        vreal kinks = {0};
        moment_front_forward(&at.front, theta, data, first / LINATTN__BLOCK, first % LINATTN__BLOCK / LINATTN__LANES, &kinks,
                             shape->dim);
        for (size_t i = 0; i < LINATTN__LANES && first + i < data->prompts; i++) count += kinks[i];
    }
    return count;
}

const linattn__kernels LINATTN__ISA_NAME(moment) = {workspace, predict, sum_squares, count_kinks, NULL};
