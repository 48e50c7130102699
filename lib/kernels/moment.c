#include "kernels/moment.h"

void linattn__moment_divide_P(const linattn__shape *shape, const double *theta, double *out) {
    const size_t side = shape->dim + (shape->full ? 1 : 0), square = side * side, p = linattn__shape_parameter_count(shape);
    const size_t front = linattn__network_size(shape->hidden, shape->dim);
    const double over_n = 1.0 / (double)shape->context;
    for (size_t i = 0; i < front; i++) out[i] = theta[i];
    for (size_t P = front, Q = front + square; P < p; P += 2 * square, Q += 2 * square)
        for (size_t i = 0; i < square; i++) {
            out[P + i] = theta[P + i] * over_n;
            out[Q + i] = theta[Q + i];
        }
}
