/* covariates_sphere.kernel.c: x = z/|z|, z ~ N(0, I_d): uniform on the unit sphere. |z| > 0 because no normal is 0. */
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    (void)options;
    (void)plan;
    return LINATTN_OK;
}

static void fill(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch) {
    const size_t d = plan->dim, tokens = span->groups * count;
    (void)scratch;
    lanes_normals(span, LINATTN__KIND_COVARIATES, (uint64_t)first * d, count * d, x);
    for (size_t t = 0; t < tokens; t++) {
        double *token = x + t * d * LINATTN__LANES;
        const vreal norm = vreal_sqrt(lanes_square_norm(token, d));
        /* Divided, not multiplied by an inverse: for d = 1 the quotient is exactly +-1. */
        for (size_t j = 0; j < d; j++) vreal_store(token + j * LINATTN__LANES, vreal_load(token + j * LINATTN__LANES) / norm);
    }
}

extern const linattn__covariates LINATTN__ISA_NAME(covariates_sphere);
const linattn__covariates LINATTN__ISA_NAME(covariates_sphere) = {prepare, fill};
