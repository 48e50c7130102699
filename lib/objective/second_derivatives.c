/* The public calls for Hessian-vector products and Hessians. */
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

/* Rows first .. first+count-1 are there. */
static int check_range(const linattn_objective *objective, size_t first, size_t count) {
    const size_t p = objective->parameters;
    if (first >= p) return linattn__fail(LINATTN_EINVAL, "first is %zu; allowed: below the %zu parameters", first, p);
    if (count >= 1 && count <= p - first) return LINATTN_OK;
    return linattn__fail(LINATTN_EINVAL, "count is %zu; allowed: 1 to %zu, from row %zu of %zu", count, p - first, first, p);
}

static int hessian(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count, int diagonal,
                   double *out) {
    const size_t columns = diagonal ? 1 : count;
    size_t numbers;
    if (!linattn__multiply_sizes(count, columns, &numbers) || numbers > PTRDIFF_MAX / sizeof *out)
        return linattn__fail(LINATTN_EOVERFLOW, "a Hessian of %zu x %zu numbers does not fit in the address space", count, columns);
    objective->busy = 1;
    const int status = objective->class->hessian(objective, draw, theta, first, count, diagonal, out);
    objective->busy = 0;
    return status == LINATTN_OK ? linattn__check_finite("out", out, numbers) : status;
}

int linattn_objective_hessian(linattn_objective *objective, uint64_t draw, const double *theta, double *out) {
    const int status = check_arguments(objective, theta, out);
    return status == LINATTN_OK ? hessian(objective, draw, theta, 0, objective->parameters, 0, out) : status;
}

int linattn_objective_hessian_block(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count,
                                    double *out) {
    int status = check_arguments(objective, theta, out);
    if (status == LINATTN_OK) status = check_range(objective, first, count);
    return status == LINATTN_OK ? hessian(objective, draw, theta, first, count, 0, out) : status;
}

int linattn_objective_hessian_diagonal(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count,
                                       double *out) {
    int status = check_arguments(objective, theta, out);
    if (status == LINATTN_OK) status = check_range(objective, first, count);
    return status == LINATTN_OK ? hessian(objective, draw, theta, first, count, 1, out) : status;
}

size_t linattn_objective_hessian_workspace(const linattn_objective *objective) {
    return linattn_objective_hvp_kind(objective) == LINATTN_HVP_NONE ? 0 : objective->class->hessian_workspace(objective);
}
