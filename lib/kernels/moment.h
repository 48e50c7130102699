/* moment.h: the moment path: value and gradient of a linear transformer from C_0 and the query's row alone.
 *
 * A layer of linear attention is z <- T z for every token, T = I + (1/n) sum over heads of P C Q^T, C = sum over the context of z
 * z^T. So C' = T C T^T, and no token is needed, but for a front MLP, which makes C_0 and the query of them (moment_front.h). Behind
 * that the cost does not depend on n. Formulas: docs/numerics.md, "The moment path". */
#ifndef LINATTN_KERNELS_MOMENT_H
#define LINATTN_KERNELS_MOMENT_H

#include "kernels/path.h"

const linattn__kernels *linattn__moment_kernels(enum linattn__isa isa);
const linattn__hvp_kernels *linattn__moment_hvp_kernels(enum linattn__isa isa);

/* Copies theta, or a gradient, with P divided by n: the passes then need no factor for it. out may be theta itself. */
void linattn__moment_divide_P(const linattn__shape *shape, const double *theta, double *out);

#endif
