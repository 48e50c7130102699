/* covariates_rotated.kernel.c: x = F z, z ~ N(0, I_d): covariance F F^T. */
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    if (options->covariate_factor == NULL) return linattn__fail_null("covariate_factor (needed by rotated covariates)");
    plan->covariate_factor = options->covariate_factor;
    plan->gaussian_scale = 1;
    return LINATTN_OK;
}

static void fill(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch) {
    const size_t d = plan->dim, tokens = span->groups * count;
    lanes_normals(span, LINATTN__KIND_COVARIATES, (uint64_t)first * d, count * d, x);
    for (size_t t = 0; t < tokens; t++) {
        double *token = x + t * d * LINATTN__LANES;
        memcpy(scratch, token, d * LINATTN__LANES * sizeof *token);
        lanes_multiply(plan->covariate_factor, d, d, scratch, token);
    }
}

extern const linattn__covariates LINATTN__ISA_NAME(covariates_rotated);
const linattn__covariates LINATTN__ISA_NAME(covariates_rotated) = {prepare, fill};
