/* token.h: the token path: value, gradient and Hessian-vector products with every token kept, for every kind of attention.
 *
 * Parameters are used in full form, whatever the model's: P and Q (k, k), k = d + 1, in block form with their zeros and the 1, and
 * P divided by n; networks have theirs as they are. Formulas: docs/numerics.md, "The token path". */
#ifndef LINATTN_KERNELS_TOKEN_H
#define LINATTN_KERNELS_TOKEN_H

#include "kernels/path.h"

const linattn__kernels *linattn__token_kernels(enum linattn__isa isa);
const linattn__hvp_kernels *linattn__token_hvp_kernels(enum linattn__isa isa);

/* The number of parameters in full form. */
size_t linattn__token_full_count(const linattn__shape *shape);

/* theta (p), or a direction, into full form, P divided by n; `corner` is what stands in the corner of a block form's P: 1 for
 * parameters, 0 for directions. */
void linattn__token_expand(const linattn__shape *shape, const double *theta, double corner, double *out);

/* The adjoint of that: of full (as many), what belongs to theta, out (p). */
void linattn__token_contract(const linattn__shape *shape, const double *full, double *out);

#endif
