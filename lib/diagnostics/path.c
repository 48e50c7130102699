/* path.c: smoothness against gradient norm along a path: a line through the logarithms, and smoothness = l0 + l1 |g|. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "statistics/statistics.h"
#include <linattn/diagnostics.h>

#include <math.h>

static const linattn__struct smoothness_type = {"linattn_smoothness", sizeof(linattn_smoothness), sizeof(linattn_smoothness), NULL};

static int check(const double *gradient_norms, const double *smoothness, size_t count) {
    if (!gradient_norms) return linattn__fail_null("gradient_norms");
    if (!smoothness) return linattn__fail_null("smoothness");
    int status = linattn__check_finite("gradient_norms", gradient_norms, count);
    for (size_t i = 0; status == LINATTN_OK && i < count; i++) {
        if (gradient_norms[i] < 0) return linattn__fail(LINATTN_EINVAL, "gradient_norms[%zu] is below 0; allowed: 0 and more", i);
        if (isinf(smoothness[i]))
            return linattn__fail(LINATTN_ENONFINITE,
                                 "smoothness[%zu] is infinite; allowed: finite numbers, and NaN for a zero step", i);
    }
    return status;
}

/* Two series of the same length, in the order of the path. */
typedef struct {
    double *x, *y;
    size_t count;
} points;

static int constant(const points *p) {
    for (size_t i = 1; i < p->count; i++)
        if (p->x[i] != p->x[0]) return 0;
    return 1;
}

/* Counts every point; those with a smoothness go into `all`, those whose logarithms exist into `logs` too. */
static void sort_points(const double *gradient_norms, const double *smoothness, size_t count, points *all, points *logs,
                        linattn_smoothness *result) {
    result->count = count;
    for (size_t i = 0; i < count; i++) {
        const double norm = gradient_norms[i], value = smoothness[i];
        if (isnan(value)) {
            result->zero_steps++;
            continue;
        }
        all->x[all->count] = norm;
        all->y[all->count++] = value;
        result->nonpositive += value <= 0;
        result->zero_gradients += norm == 0;
        if (value <= 0 || norm == 0) continue;
        logs->x[logs->count] = log(norm);
        logs->y[logs->count++] = log(value);
    }
    result->log_count = logs->count;
}

/* A line and its intervals, which are NaN where there are too few points for the blocks, or most resamples have no line. */
static int fit(const points *p, size_t block, double level, const linattn_resampling_options *resampling, linattn_line *line,
               linattn_interval *intercept, linattn_interval *slope) {
    *line = (linattn_line){.struct_size = sizeof *line};
    *intercept = *slope = (linattn_interval){.struct_size = sizeof *slope, .low = NAN, .high = NAN};
    const int status = linattn_line_fit(p->x, p->y, p->count, line);
    if (status != LINATTN_OK || block == 0 || p->count / 2 < block) return status;
    const int drawn = linattn__line_bootstrap(p->x, p->y, p->count, block, level, resampling, intercept, slope);
    return drawn == LINATTN_EDEGENERATE ? LINATTN_OK : drawn;
}

static int fit_logs(const points *logs, size_t block, double level, const linattn_resampling_options *resampling,
                    linattn_smoothness *result) {
    linattn_line line;
    linattn_interval intercept, slope;
    result->slope = result->slope_low = result->slope_high = result->intercept = result->correlation = NAN;
    if (logs->count < 2 || constant(logs)) return LINATTN_OK;
    const int status = fit(logs, block, level, resampling, &line, &intercept, &slope);
    if (status != LINATTN_OK) return status;
    result->slope = line.slope;
    result->slope_low = slope.low;
    result->slope_high = slope.high;
    result->intercept = line.intercept;
    /* r_squared is the square of the correlation up to rounding; NaN when all smoothness is equal. */
    result->correlation = copysign(sqrt(line.r_squared < 0 ? 0 : line.r_squared), line.slope);
    return LINATTN_OK;
}

static int fit_bound(const points *all, size_t block, double level, const linattn_resampling_options *resampling,
                     linattn_smoothness *result) {
    linattn_line line;
    linattn_interval intercept, slope;
    if (all->count < 2)
        return linattn__fail(LINATTN_EDEGENERATE, "%zu of %zu points have a smoothness; a line needs two", all->count,
                             result->count);
    if (constant(all)) return linattn__fail(LINATTN_EDEGENERATE, "all gradient_norms are equal; a line needs two different ones");
    const int status = fit(all, block, level, resampling, &line, &intercept, &slope);
    if (status != LINATTN_OK) return status;
    result->l0 = line.intercept;
    result->l0_low = intercept.low;
    result->l0_high = intercept.high;
    result->l1 = line.slope;
    result->l1_low = slope.low;
    result->l1_high = slope.high;
    result->r_squared = line.r_squared;
    return LINATTN_OK;
}

int linattn_smoothness_fit(const double *gradient_norms, const double *smoothness, size_t count, size_t block, double level,
                           const linattn_resampling_options *resampling, linattn_smoothness *out) {
    int status = check(gradient_norms, smoothness, count);
    if (status == LINATTN_OK && !(level > 0 && level < 1)) status = linattn__fail_real("level", level, "above 0, below 1");
    if (status == LINATTN_OK) status = linattn__result_check(&smoothness_type, out);
    if (status != LINATTN_OK) return status;
    double *memory = linattn__allocate(count, 4 * sizeof *memory);
    if (!memory) return linattn__fail_memory("a path");
    points all = {memory, memory + count, 0}, logs = {memory + 2 * count, memory + 3 * count, 0};
    linattn_smoothness result = {.level = level};
    sort_points(gradient_norms, smoothness, count, &all, &logs, &result);
    status = fit_bound(&all, block, level, resampling, &result);
    if (status == LINATTN_OK) status = fit_logs(&logs, block, level, resampling, &result);
    if (status == LINATTN_OK) linattn__result_write(&smoothness_type, out, &result);
    linattn__release(memory);
    return status;
}
