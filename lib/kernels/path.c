#include "kernels/path.h"
#include "kernels/moment.h"
#include "kernels/token.h"
#include <linattn/model.h>

LINATTN__ISA_TABLE(linattn__kernels, moment, moment_tables);
LINATTN__ISA_TABLE(linattn__hvp_kernels, moment_hvp, moment_hvp_tables);
LINATTN__ISA_TABLE(linattn__kernels, token, token_tables);
LINATTN__ISA_TABLE(linattn__hvp_kernels, token_hvp, token_hvp_tables);

const linattn__kernels *linattn__moment_kernels(enum linattn__isa isa) { return moment_tables[isa]; }
const linattn__hvp_kernels *linattn__moment_hvp_kernels(enum linattn__isa isa) { return moment_hvp_tables[isa]; }
const linattn__kernels *linattn__token_kernels(enum linattn__isa isa) { return token_tables[isa]; }
const linattn__hvp_kernels *linattn__token_hvp_kernels(enum linattn__isa isa) { return token_hvp_tables[isa]; }

int linattn__needs_tokens(const linattn__shape *shape) {
    return shape->attention != LINATTN_ATTENTION_LINEAR || shape->hidden > 0 || shape->ff_hidden > 0;
}

static int goes_by_moments(const linattn__shape *shape) {
    return shape->attention == LINATTN_ATTENTION_LINEAR && shape->ff_hidden == 0;
}

const linattn__kernels *linattn__kernels_for(const linattn__shape *shape, enum linattn__isa isa) {
    return goes_by_moments(shape) ? moment_tables[isa] : token_tables[isa];
}

const linattn__hvp_kernels *linattn__hvp_kernels_for(const linattn__shape *shape, enum linattn__isa isa) {
    return goes_by_moments(shape) ? moment_hvp_tables[isa] : token_hvp_tables[isa];
}

size_t linattn__shape_parameter_count(const linattn__shape *shape) {
    const size_t side = shape->dim + (shape->full ? 1 : 0), layer = 2 * shape->heads * side * side;
    return linattn__network_size(shape->hidden, shape->dim) +
           shape->layers * (layer + linattn__network_size(shape->ff_hidden, shape->dim + 1));
}

size_t linattn__network_size(size_t hidden, size_t width) { return hidden ? 2 * hidden * width + hidden + width : 0; }
