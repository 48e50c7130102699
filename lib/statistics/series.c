/* series.c: moving-block bootstrap of a mean and of a line. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/fit.h"
#include "statistics/statistics.h"
#include <math.h>
#include <string.h>

enum { LEAST_RESAMPLES = 100 };

/* What all calls of this file check alike. */
static int check(const char *argument, const double *series, size_t count, size_t block, double level,
                 const linattn_resampling_options *options, linattn_resampling_options *resampling) {
    int status = linattn__sample_check(argument, series, count, 2);
    if (status == LINATTN_OK && (block == 0 || block >= count)) status = linattn__fail_count("block", block, "1 to count - 1");
    if (status == LINATTN_OK) status = linattn__level_check(level);
    if (status == LINATTN_OK) status = linattn__resampling_read(resampling, options, LEAST_RESAMPLES);
    return status;
}

static int mean_replicates(const double *y, size_t count, size_t block, const linattn_resampling_options *options, size_t *indices,
                           double *replicates) {
    for (size_t b = 0; b < options->resamples; b++) {
        double sum = 0;
        const int status = linattn__resampling_progress(options, count, b);
        if (status != LINATTN_OK) return status;
        linattn__resample_blocks(options, b, count, block, indices);
        for (size_t i = 0; i < count; i++) sum += y[indices[i]];
        replicates[b] = sum / (double)count;
    }
    return LINATTN_OK;
}

int linattn_series_bootstrap(const double *series, size_t count, size_t block, double level,
                             const linattn_resampling_options *options, linattn_interval *out) {
    linattn_resampling_options resampling;
    int status = check("series", series, count, block, level, options, &resampling);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__interval_type, out);
    if (status != LINATTN_OK) return status;
    double *y = linattn__allocate(count, sizeof *y);
    size_t *indices = linattn__allocate(count, sizeof *indices);
    double *replicates = linattn__allocate(resampling.resamples, sizeof *replicates);
    if (y && indices && replicates) {
        double mean, variance;
        linattn_interval result = {0};
        const int exponent = linattn__deviations(series, count, series[0], y);
        linattn__mean_variance(y, count, &mean, &variance);
        status = mean_replicates(y, count, block, &resampling, indices, replicates);
        if (status == LINATTN_OK) {
            linattn__centred_interval(replicates, resampling.resamples, level, mean, series[0], exponent, &result);
            linattn__result_write(&linattn__interval_type, out, &result);
        }
    } else {
        status = linattn__fail_memory("the block bootstrap");
    }
    linattn__release(y);
    linattn__release(indices);
    linattn__release(replicates);
    return status;
}

/* Points in units of their own and scratch for resamples of them, in one piece of memory. */
typedef struct points {
    size_t count, *indices;
    double *u, *v, *drawn_u, *drawn_v; /* (count) each */
    double *intercepts, *slopes;       /* (resamples) each */
    double zero;                       /* u of x = 0 */
} points;

/* Fits resamples, leaving out those whose u are all equal; *used: how many are left. Intercepts are those at x = 0. */
static int line_replicates(points *p, size_t block, const linattn_resampling_options *options, size_t *used) {
    *used = 0;
    for (size_t b = 0; b < options->resamples; b++) {
        linattn__fit fit;
        const int status = linattn__resampling_progress(options, p->count, b);
        if (status != LINATTN_OK) return status;
        linattn__resample_blocks(options, b, p->count, block, p->indices);
        for (size_t i = 0; i < p->count; i++) {
            p->drawn_u[i] = p->u[p->indices[i]];
            p->drawn_v[i] = p->v[p->indices[i]];
        }
        if (!linattn__fit_line(p->drawn_u, p->drawn_v, p->count, &fit)) continue;
        p->slopes[*used] = fit.slope;
        p->intercepts[*used] = fit.intercept + fit.slope * p->zero;
        ++*used;
    }
    return 2 * *used >= options->resamples ? LINATTN_OK : LINATTN_EDEGENERATE;
}

static int bootstrap_line(points *p, const double *x, const double *y, size_t block, double level,
                          const linattn_resampling_options *options, linattn_interval *intercept, linattn_interval *slope) {
    linattn__fit fit;
    size_t used;
    const int ex = linattn__deviations(x, p->count, x[0], p->u), ey = linattn__deviations(y, p->count, y[0], p->v);
    p->zero = ldexp(-x[0], -ex);
    if (!linattn__fit_line(p->u, p->v, p->count, &fit)) return LINATTN_EDEGENERATE;
    const int status = line_replicates(p, block, options, &used);
    if (status != LINATTN_OK) return status;
    linattn_interval result = {0};
    linattn__centred_interval(p->intercepts, used, level, fit.intercept + fit.slope * p->zero, y[0], ey, &result);
    if (intercept) linattn__result_write(&linattn__interval_type, intercept, &result);
    linattn__centred_interval(p->slopes, used, level, fit.slope, 0, ey - ex, &result);
    if (slope) linattn__result_write(&linattn__interval_type, slope, &result);
    return LINATTN_OK;
}

int linattn_line_bootstrap(const double *x, const double *y, size_t count, size_t block, double level,
                           const linattn_resampling_options *options, linattn_interval *intercept, linattn_interval *slope) {
    const int status = linattn__line_bootstrap(x, y, count, block, level, options, intercept, slope);
    if (status != LINATTN_EDEGENERATE || count < 2) return status;
    return linattn__fail(status, "all x are equal, or are in more than half of the resamples; a line needs two different "
                                 "ones");
}

int linattn__line_bootstrap(const double *x, const double *y, size_t count, size_t block, double level,
                            const linattn_resampling_options *options, linattn_interval *intercept, linattn_interval *slope) {
    linattn_resampling_options resampling;
    int status = check("x", x, count, block, level, options, &resampling);
    if (status == LINATTN_OK) status = linattn__sample_check("y", y, count, 2);
    if (status == LINATTN_OK && !intercept && !slope) status = linattn__fail(LINATTN_EINVAL, "intercept and slope are both NULL");
    if (status == LINATTN_OK && intercept) status = linattn__result_check(&linattn__interval_type, intercept);
    if (status == LINATTN_OK && slope) status = linattn__result_check(&linattn__interval_type, slope);
    if (status != LINATTN_OK) return status;
    double *memory = linattn__allocate(2 * count + resampling.resamples, 2 * sizeof *memory);
    size_t *indices = linattn__allocate(count, sizeof *indices);
    if (memory && indices) {
        double *replicates = memory + 4 * count;
        points p = {count,
                    indices,
                    memory,
                    memory + count,
                    memory + 2 * count,
                    memory + 3 * count,
                    replicates,
                    replicates + resampling.resamples,
                    0};
        status = bootstrap_line(&p, x, y, block, level, &resampling, intercept, slope);
    } else {
        status = linattn__fail_memory("the block bootstrap");
    }
    linattn__release(memory);
    linattn__release(indices);
    return status;
}
