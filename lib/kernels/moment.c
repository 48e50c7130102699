#include "kernels/moment.h"

void linattn__moment_divide_P(const linattn__shape *shape, const double *theta, double *out) {
    const size_t side = shape->dim + (shape->full ? 1 : 0), square = side * side, p = linattn__shape_parameter_count(shape);
    const size_t front = linattn__network_size(shape->hidden, shape->dim);
    const double over_n = 1.0 / (double)shape->context;
    for (size_t i = 0; i < p; i++) out[i] = i >= front && (i - front) / square % 2 == 0 ? theta[i] * over_n : theta[i];
}
