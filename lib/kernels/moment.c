#include "kernels/moment.h"

LINATTN__ISA_TABLE(linattn__moment_kernels, moment, tables);
LINATTN__ISA_TABLE(linattn__moment_hvp_kernels, moment_hvp, hvp_tables);

const linattn__moment_kernels *linattn__moment_kernels_for(enum linattn__isa isa) { return tables[isa]; }
const linattn__moment_hvp_kernels *linattn__moment_hvp_kernels_for(enum linattn__isa isa) { return hvp_tables[isa]; }

size_t linattn__moment_parameter_count(const linattn__moment_shape *shape) {
    const size_t side = shape->dim + (shape->full ? 1 : 0);
    return 2 * shape->layers * shape->heads * side * side;
}

void linattn__moment_divide_P(const linattn__moment_shape *shape, const double *theta, double *out) {
    const size_t side = shape->dim + (shape->full ? 1 : 0), square = side * side, p = linattn__moment_parameter_count(shape);
    const double over_n = 1.0 / (double)shape->context;
    for (size_t i = 0; i < p; i++) out[i] = i / square % 2 == 0 ? theta[i] * over_n : theta[i];
}
