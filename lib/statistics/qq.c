/* qq.c: the normal Q-Q plot at Filliben's positions. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>
#include <string.h>

static const linattn__struct PLOT = {"linattn_normal_plot", sizeof(linattn_normal_plot), sizeof(linattn_normal_plot), NULL};

/* Positions are symmetric about 1/2 but for rounding: made so exactly, which also keeps the mean of the quantiles at 0. */
static void fill_quantiles(double *quantiles, size_t count) {
    for (size_t i = 1; i <= count; i++) {
        const size_t mirror = count + 1 - i;
        if (i <= mirror) quantiles[i - 1] = i == mirror ? 0 : linattn__normal_quantile(linattn__order_median(i, count));
        if (i > mirror) quantiles[i - 1] = -quantiles[mirror - 1];
    }
}

/* The line through (quantile, y) and the correlation; quantiles have mean 0. */
static void fit_plot(const double *quantiles, const double *y, size_t count, double origin, int exponent,
                     linattn_normal_plot *out) {
    double mean, variance, products = 0, squares = 0;
    linattn__mean_variance(y, count, &mean, &variance);
    for (size_t i = 0; i < count; i++) {
        products += quantiles[i] * (y[i] - mean);
        squares += quantiles[i] * quantiles[i];
    }
    out->correlation = fmin(1, products / sqrt(squares * variance * (double)(count - 1)));
    out->slope = ldexp(products / squares, exponent);
    out->intercept = linattn__undo(origin, mean, exponent);
}

int linattn_sample_normal_plot(const double *sample, size_t count, double *quantiles, double *ordered, linattn_normal_plot *out) {
    int status = linattn__sample_check("sample", sample, count, 2);
    if (status == LINATTN_OK) status = linattn__result_check(&PLOT, out);
    if (status != LINATTN_OK) return status;
    if (linattn__sample_constant(sample, count))
        return linattn__fail(LINATTN_EDEGENERATE, "all numbers of sample are equal; a Q-Q plot needs two different ones");
    double *sorted = linattn__sorted_copy(sample, count);
    double *work = linattn__allocate(count, 2 * sizeof *work);
    if (sorted && work) {
        linattn_normal_plot result = {0};
        double *positions = work + count;
        const int exponent = linattn__deviations(sorted, count, sorted[0], work);
        fill_quantiles(positions, count);
        fit_plot(positions, work, count, sorted[0], exponent, &result);
        if (quantiles) memcpy(quantiles, positions, count * sizeof *quantiles);
        if (ordered) memcpy(ordered, sorted, count * sizeof *ordered);
        linattn__result_write(&PLOT, out, &result);
    } else {
        status = linattn__fail_memory("a Q-Q plot");
    }
    linattn__release(sorted);
    linattn__release(work);
    return status;
}
