#include "kernels/moment.h"

LINATTN__ISA_TABLE(linattn__moment_kernels, moment, tables);

const linattn__moment_kernels *linattn__moment_kernels_for(enum linattn__isa isa) { return tables[isa]; }

size_t linattn__moment_parameter_count(const linattn__moment_shape *shape) {
    const size_t side = shape->dim + (shape->full ? 1 : 0);
    return 2 * shape->layers * shape->heads * side * side;
}
