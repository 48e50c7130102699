/* covariates_normal.kernel.c: x ~ N(0, I_d). */
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    (void)options;
    plan->gaussian_scale = 1;
    return LINATTN_OK;
}

static void fill(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch) {
    (void)scratch;
    lanes_normals(span, LINATTN__KIND_COVARIATES, (uint64_t)first * plan->dim, count * plan->dim, x);
}

extern const linattn__covariates LINATTN__ISA_NAME(covariates_normal);
const linattn__covariates LINATTN__ISA_NAME(covariates_normal) = {prepare, fill};
