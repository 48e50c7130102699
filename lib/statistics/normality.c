/* normality.c: Kolmogorov-Smirnov and Anderson-Darling against a normal distribution with estimated mean and sd. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

static const linattn__struct NORMALITY = {"linattn_normality", sizeof(linattn_normality), sizeof(linattn_normality), NULL};

typedef struct distances {
    double kolmogorov_smirnov, anderson_darling;
} distances;

/* Sorts y (count), not constant, and compares it with the normal distribution of its mean and sd:
 *     D = max over i of max(i/n - Phi(z_i), Phi(z_i) - (i-1)/n)
 *     A^2 = -n - (1/n) sum over i of (2i-1) (log Phi(z_i) + log Phi(-z_(n+1-i)))
 * The logarithms come from log-erfc: n numbers reach up to sqrt(n-1) sd, where Phi itself underflows. */
static distances measure(double *y, size_t count) {
    double mean, variance, sum = 0, largest = 0;
    const double n = (double)count;
    linattn__sort(y, count);
    linattn__mean_variance(y, count, &mean, &variance);
    const double inverse = 1 / sqrt(variance);
    for (size_t i = 0; i < count; i++) {
        const double z = (y[i] - mean) * inverse, below = linattn__normal_cdf(z);
        largest = fmax(largest, fmax((double)(i + 1) / n - below, below - (double)i / n));
        /* Both logarithms of z at once: log Phi(-z) has the weight of the mirrored place. */
        sum += (double)(2 * i + 1) * linattn__normal_log_cdf(z) + (double)(2 * (count - i) - 1) * linattn__normal_log_cdf(-z);
    }
    return (distances){largest, -n - sum / n};
}

/* The p-value of A*^2 when mean and sd are estimated: D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), table 4.9. The
 * first formula rises again beyond what it was fitted to. */
static double stephens_p(double a) {
    if (a >= 0.6) {
        const double held = fmin(a, 10);
        return exp(1.2937 - 5.709 * held + 0.0186 * held * held);
    }
    if (a > 0.34) return exp(0.9177 - 4.279 * a - 1.38 * a * a);
    if (a > 0.2) return -expm1(-8.318 + 42.796 * a - 59.938 * a * a);
    return -expm1(-13.436 + 101.14 * a - 223.73 * a * a);
}

/* p-values from samples of a normal distribution: neither distance depends on its mean and sd. */
static int simulate(size_t count, const linattn_resampling_options *options, distances seen, linattn_normality *out) {
    double farther_ks = 0, farther_ad = 0;
    const double all = (double)options->resamples;
    double *drawn = linattn__allocate(count, sizeof *drawn);
    int status = drawn ? LINATTN_OK : linattn__fail_memory("simulated samples");
    for (size_t b = 0; b < options->resamples && status == LINATTN_OK; b++) {
        status = linattn__resampling_progress(options, count, b);
        if (status != LINATTN_OK) break;
        linattn__resample_normals(options, b, count, drawn);
        const distances d = measure(drawn, count);
        farther_ks += d.kolmogorov_smirnov >= seen.kolmogorov_smirnov;
        farther_ad += d.anderson_darling >= seen.anderson_darling;
    }
    out->kolmogorov_smirnov_p = (farther_ks + 1) / (all + 1);
    out->anderson_darling_simulated_p = (farther_ad + 1) / (all + 1);
    linattn__release(drawn);
    return status;
}

int linattn_sample_normality(const double *sample, size_t count, const linattn_resampling_options *options,
                             linattn_normality *out) {
    linattn_resampling_options resampling;
    int status = linattn__sample_check("sample", sample, count, 3);
    if (status == LINATTN_OK) status = linattn__resampling_read(&resampling, options, 1);
    if (status == LINATTN_OK) status = linattn__result_check(&NORMALITY, out);
    if (status != LINATTN_OK) return status;
    if (linattn__sample_constant(sample, count))
        return linattn__fail(LINATTN_EDEGENERATE, "all numbers of sample are equal; a normal distribution needs an sd above 0");
    double *y = linattn__allocate(count, sizeof *y);
    if (!y) return linattn__fail_memory("a test of normality");
    linattn__deviations(sample, count, sample[0], y);
    const distances seen = measure(y, count);
    linattn__release(y);
    const double n = (double)count, star = seen.anderson_darling * (1 + (0.75 + 2.25 / n) / n);
    linattn_normality result = {.kolmogorov_smirnov = seen.kolmogorov_smirnov,
                                .kolmogorov_smirnov_p = NAN,
                                .anderson_darling = seen.anderson_darling,
                                .anderson_darling_star = star,
                                .anderson_darling_p = count < 8 ? NAN : stephens_p(star),
                                .anderson_darling_simulated_p = NAN};
    if (options) status = simulate(count, &resampling, seen, &result);
    if (status == LINATTN_OK) linattn__result_write(&NORMALITY, out, &result);
    return status;
}
