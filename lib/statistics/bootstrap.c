/* bootstrap.c: the BCa interval of a mean or a median. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>
#include <string.h>

enum { LEAST_RESAMPLES = 100 };

/* The mean of sorted[indices], (count) of each, in the order of the indices. */
static double drawn_mean(const double *sorted, size_t count, const size_t *indices) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += sorted[indices[i]];
    return sum / (double)count;
}

/* The median of sorted[indices]: in time count, by how often each number was drawn. times: (count), scratch. */
static double drawn_median(const double *sorted, size_t count, const size_t *indices, size_t *times) {
    const size_t lower = (count - 1) / 2, upper = count / 2;
    size_t seen = 0, i = 0;
    memset(times, 0, count * sizeof *times);
    for (size_t j = 0; j < count; j++) times[indices[j]]++;
    while (seen + times[i] <= lower) seen += times[i++];
    const double low = sorted[i];
    while (seen + times[i] <= upper) seen += times[i++];
    return linattn__interpolate(low, sorted[i], 0.5);
}

/* The estimate without number `left` of the sorted sample. */
static double jackknife(const double *sorted, size_t count, int32_t location, double mean, size_t left) {
    if (location == LINATTN_LOCATION_MEAN) return mean + (mean - sorted[left]) / (double)(count - 1);
    const size_t lower = (count - 2) / 2, upper = (count - 1) / 2;
    return linattn__interpolate(sorted[lower + (left <= lower)], sorted[upper + (left <= upper)], 0.5);
}

/* The acceleration: sum d^3 / (6 (sum d^2)^(3/2)), d = mean of the jackknife values less each of them. */
static double acceleration(const double *sorted, size_t count, int32_t location, double mean) {
    double centre = 0, squares = 0, cubes = 0;
    for (size_t i = 0; i < count; i++) centre += jackknife(sorted, count, location, mean, i) / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double d = centre - jackknife(sorted, count, location, mean, i);
        squares += d * d;
        cubes += d * d * d;
    }
    return squares > 0 ? cubes / (6 * squares * sqrt(squares)) : 0;
}

static int draw_replicates(const double *sorted, size_t count, int32_t location, const linattn_resampling_options *options,
                           double *replicates) {
    size_t *indices = linattn__allocate(count, 2 * sizeof *indices);
    int status = indices ? LINATTN_OK : linattn__fail_memory("the bootstrap");
    for (size_t b = 0; b < options->resamples && status == LINATTN_OK; b++) {
        status = linattn__resampling_progress(options, count, b);
        if (status != LINATTN_OK) break;
        linattn__resample_indices(options, b, count, count, indices);
        replicates[b] = location == LINATTN_LOCATION_MEAN ? drawn_mean(sorted, count, indices)
                                                          : drawn_median(sorted, count, indices, indices + count);
    }
    linattn__release(indices);
    return status;
}

/* The probability at which the replicates are read in place of Phi(z). */
static double corrected(double z, double bias, double a) {
    const double moved = bias + z, stretch = 1 - a * moved;
    /* Past the pole of the transformation there is nothing but the end of the replicates. */
    return stretch > 0 ? linattn__normal_cdf(bias + moved / stretch) : (moved > 0 ? 1 : 0);
}

/* replicates: sorted. */
static void bca(const double *replicates, size_t resamples, double estimate, double a, double level, double *low, double *high) {
    double below = 0;
    const double all = (double)resamples, z = linattn__normal_quantile(0.5 * (1 - level));
    /* Ties count half, which matters for medians; the share stays away from 0 and 1, whose quantiles are infinite. */
    for (size_t b = 0; b < resamples; b++) below += replicates[b] < estimate ? 1 : (replicates[b] == estimate ? 0.5 : 0);
    const double bias = linattn__normal_quantile(fmin(fmax(below, 0.5), all - 0.5) / all);
    *low = linattn__replicate_value(replicates, resamples, corrected(z, bias, a));
    *high = linattn__replicate_value(replicates, resamples, corrected(-z, bias, a));
}

static int bootstrap(const double *sorted, size_t count, int32_t location, double level, const linattn_resampling_options *options,
                     const double *y, int exponent, linattn_interval *out) {
    double mean, variance, low, high, ignored;
    double *replicates = linattn__allocate(options->resamples, sizeof *replicates);
    if (!replicates) return linattn__fail_memory("the bootstrap");
    const int status = draw_replicates(y, count, location, options, replicates);
    if (status == LINATTN_OK) {
        linattn__mean_variance(y, count, &mean, &ignored);
        const double estimate =
            location == LINATTN_LOCATION_MEAN ? mean : linattn__order_value(y, count, 0.5 * (double)(count - 1));
        linattn__mean_variance(replicates, options->resamples, &ignored, &variance);
        linattn__sort(replicates, options->resamples);
        bca(replicates, options->resamples, estimate, acceleration(y, count, location, mean), level, &low, &high);
        out->estimate = linattn__undo(sorted[0], estimate, exponent);
        out->low = linattn__undo(sorted[0], low, exponent);
        out->high = linattn__undo(sorted[0], high, exponent);
        out->error = ldexp(sqrt(variance), exponent);
        out->level = level;
    }
    linattn__release(replicates);
    return status;
}

int linattn_sample_bootstrap(const double *sample, size_t count, int32_t location, double level,
                             const linattn_resampling_options *options, linattn_interval *out) {
    linattn_resampling_options resampling;
    int status = linattn__sample_check("sample", sample, count, 2);
    if (status == LINATTN_OK && location != LINATTN_LOCATION_MEAN && location != LINATTN_LOCATION_MEDIAN)
        status = linattn__fail_integer("location", location, "0 (mean), 1 (median)");
    if (status == LINATTN_OK) status = linattn__level_check(level);
    if (status == LINATTN_OK) status = linattn__resampling_read(&resampling, options, LEAST_RESAMPLES);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__interval_type, out);
    if (status != LINATTN_OK) return status;
    double *sorted = linattn__sorted_copy(sample, count);
    double *y = linattn__allocate(count, sizeof *y);
    linattn_interval result = {0};
    if (sorted && y) {
        const int exponent = linattn__deviations(sorted, count, sorted[0], y);
        status = bootstrap(sorted, count, location, level, &resampling, y, exponent, &result);
        if (status == LINATTN_OK) linattn__result_write(&linattn__interval_type, out, &result);
    } else {
        status = linattn__fail_memory("the bootstrap");
    }
    linattn__release(sorted);
    linattn__release(y);
    return status;
}
