/* Hessian-vector products of the token path for one instruction set: the tangents of every direction beside the values. */
#include "kernels/token_group.h"

static size_t workspace(const linattn__shape *shape, size_t count) { return lay_out(shape, count, NULL).doubles; }

/* The loop over groups, for a size known to the compiler (or not: `any`). */
#define SIZED(name, k)                                                                                                             \
    static void hvp_##name(const linattn__data *data, const token_space *space) {                                                  \
        token_group g = space->group;                                                                                              \
        g.gradient = NULL;                                                                                                         \
        g.kinks = NULL;                                                                                                            \
        for (size_t block = 0; block < data->blocks; block++)                                                                      \
            for (size_t group = 0; group < GROUPS; group++) group_squares(&g, data, block, group, space->rates, k);                \
    }

SIZED(6, LINATTN__KNOWN(6, space->k))
SIZED(any, space->k)

/* Directions that end with a layer cost what others do: `confined` is not used. */
static void hvp(const linattn__shape *shape, const double *theta, const linattn__data *data, const double *directions, size_t count,
                size_t first, int confined, double *out, double *memory) {
    token_space s = lay_out(shape, count, memory);
    const size_t p = linattn__shape_parameter_count(shape), full = s.group.parameters;
    (void)confined;
    s.group.first = first;
    linattn__token_expand(shape, theta, 1, s.theta);
    for (size_t i = 0; i < count; i++) linattn__token_expand(shape, directions + i * p, 0, s.dtheta + i * full);
    memset(s.group.products, 0, count * full * LINATTN__LANES * sizeof *s.group.products);
    (s.k == 6 ? hvp_6 : hvp_any)(data, &s);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < full; j++) s.dtheta[i * full + j] = sum_lanes(get(s.group.products, i * full + j));
        linattn__token_contract(shape, s.dtheta + i * full, out + i * p);
    }
}

const linattn__hvp_kernels LINATTN__ISA_NAME(token_hvp) = {workspace, hvp};
