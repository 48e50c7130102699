/* The public calls for Hessian-vector products and Hessians, and the Hessian of a class that only has products. */
#include "common/allocate.h"
#include "common/fail.h"
#include "objective/objective.h"

int linattn_objective_hvp_kind(const linattn_objective *objective) {
    if (!objective || !objective->class->hvp) return LINATTN_HVP_NONE;
    return objective->class->hvp_kind ? objective->class->hvp_kind(objective) : LINATTN_HVP_EXACT;
}

static int check_arguments(const linattn_objective *objective, const double *theta, const double *out) {
    const int status = linattn__objective_check(objective, theta);
    if (status != LINATTN_OK) return status;
    if (!out) return linattn__fail_null("out");
    if (linattn_objective_hvp_kind(objective) != LINATTN_HVP_NONE) return LINATTN_OK;
    return linattn__fail(LINATTN_EUNSUPPORTED, "the objective has no Hessian-vector products; allowed: callbacks with hvp or with "
                                               "difference_step above 0");
}

int linattn_objective_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t count,
                          double *out) {
    int status = check_arguments(objective, theta, out);
    if (status != LINATTN_OK) return status;
    if (!directions) return linattn__fail_null("directions");
    size_t numbers;
    if (count < 1 || !linattn__multiply_sizes(count, objective->parameters, &numbers) || numbers > PTRDIFF_MAX / sizeof *out)
        return linattn__fail_count("count", count, "at least 1, and count * p numbers must fit in memory");
    status = linattn__check_finite("directions", directions, numbers);
    if (status != LINATTN_OK) return status;
    objective->busy = 1;
    status = objective->class->hvp(objective, draw, theta, directions, count, out);
    objective->busy = 0;
    return status == LINATTN_OK ? linattn__check_finite("out", out, numbers) : status;
}

/* Row by row; then the mean of both triangles, which rounding, or differences, have made a little different. */
static int rows_of_products(linattn_objective *objective, uint64_t draw, const double *theta, double *out) {
    const size_t p = objective->parameters;
    double *unit = linattn__allocate(p, sizeof *unit);
    int status = unit ? LINATTN_OK : linattn__fail_memory("a Hessian");
    for (size_t i = 0; status == LINATTN_OK && i < p; i++) {
        unit[i] = 1;
        status = linattn__objective_progress(objective, (double)i / (double)p);
        if (status == LINATTN_OK) status = objective->class->hvp(objective, draw, theta, unit, 1, out + i * p);
        unit[i] = 0;
    }
    for (size_t i = 0; status == LINATTN_OK && i < p; i++)
        for (size_t j = 0; j < i; j++) out[i * p + j] = out[j * p + i] = (out[i * p + j] + out[j * p + i]) / 2;
    linattn__release(unit);
    return status;
}

int linattn_objective_hessian(linattn_objective *objective, uint64_t draw, const double *theta, double *out) {
    int status = check_arguments(objective, theta, out);
    if (status != LINATTN_OK) return status;
    const size_t p = objective->parameters;
    size_t numbers;
    if (!linattn__multiply_sizes(p, p, &numbers) || numbers > PTRDIFF_MAX / sizeof *out)
        return linattn__fail(LINATTN_EOVERFLOW, "a Hessian of %zu x %zu numbers does not fit in the address space", p, p);
    objective->busy = 1;
    status = objective->class->hessian ? objective->class->hessian(objective, draw, theta, out)
                                       : rows_of_products(objective, draw, theta, out);
    objective->busy = 0;
    return status == LINATTN_OK ? linattn__check_finite("out", out, numbers) : status;
}
