/* statistics.h: what a sample says, and how sure it is.
 *
 * Plain functions on numbers: no handle, no state, nothing random but by the caller's seed. From the simplest call to the most
 * advanced: a line through points, quantiles, a histogram, moments, intervals, tests, tails. Formulas, sources and when not to use
 * them: docs/statistics.md.
 *
 * For every function:
 * - sample: (count), in any order unless the comment says series; not NULL, finite, never changed.
 * - Result structs: the caller sets struct_size = sizeof first. Outputs are written only when the call returns LINATTN_OK.
 * - Returns LINATTN_EINVAL (NULL, an argument out of range), LINATTN_ENONFINITE (NaN or Inf; the message gives the index),
 *   LINATTN_EDEGENERATE (too few numbers, an empty sample above all, or none of which the answer is defined; the comments say
 *   which), LINATTN_EVERSION (a newer struct with unknown options set), LINATTN_EOVERFLOW (count above 2^40) or
 *   LINATTN_ENOMEM; and, where there are resampling options, what their progress callback returned.
 * - Numbers of any magnitude are allowed: sums are taken in units in which they cannot overflow. A result that does not fit in a
 *   double (the variance of numbers near 1e300) is Inf or 0. */
#ifndef LINATTN_STATISTICS_H
#define LINATTN_STATISTICS_H

#include <linattn/export.h>
#include <linattn/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LINATTN_MAX_RESAMPLES = 1 << 24, /* resamples, permutations or simulated samples of one call */
    LINATTN_MAX_BINS = 1 << 24
};

/* ---- A straight line --------------------------------------------------------------------------------------------------------- */

typedef struct linattn_line {
    size_t struct_size;     /* sizeof(linattn_line), set by the caller */
    size_t count;           /* points */
    double intercept;       /* a */
    double slope;           /* b */
    double intercept_error; /* standard errors for independent residuals of equal variance; NaN for 2 points */
    double slope_error;
    double residual_sd;     /* sqrt(sum r^2 / (count - 2)); NaN for 2 points */
    double r_squared;       /* 1 - sum r^2 / sum (y - mean y)^2; NaN when all y are equal */
} linattn_line;

/* Least squares, y = a + b x; x and y: (count). Two points are the least. LINATTN_EDEGENERATE also when all x are equal. */
LINATTN_API int linattn_line_fit(const double *x, const double *y, size_t count, linattn_line *out);

/* Since 0.4. How fast a series falls: the line of ln x_t against t = 0, 1, ... over a window, from the first x_t <= high to the last
 * one before x falls below low for the first time; -slope is the rate of linear convergence. series: (count), >= 0; 0 < low < high.
 * LINATTN_EDEGENERATE also when fewer than 2 numbers are in the window. */
LINATTN_API int linattn_series_rate(const double *series, size_t count, double high, double low, linattn_line *out);

/* ---- Order: quantiles, histogram --------------------------------------------------------------------------------------------- */

/* The median of an even count. */
enum linattn_median_rule {
    LINATTN_MEDIAN_LOWER = 0, /* the lower middle value: an element of the sample */
    LINATTN_MEDIAN_MEAN = 1   /* the mean of the two middle values: the quantile 1/2 */
};

/* rule: enum linattn_median_rule. One number is its own median. */
LINATTN_API int linattn_sample_median(const double *sample, size_t count, int32_t rule, double *out);

/* Quantiles by linear interpolation (type 7): with h = (count - 1) p, the value at position h of the sorted sample, counted from 0.
 * probabilities: (quantiles), each in [0, 1], in any order; out: (quantiles). quantiles >= 1. */
LINATTN_API int linattn_sample_quantiles(const double *sample, size_t count, const double *probabilities, size_t quantiles,
                                         double *out);

typedef struct linattn_histogram {
    size_t struct_size; /* sizeof(linattn_histogram), set by the caller */
    double low;         /* the range covered */
    double high;
    uint64_t below;     /* numbers < low */
    uint64_t inside;    /* the sum of the bins */
    uint64_t above;     /* numbers > high; below + inside + above = count */
} linattn_histogram;

/* Counts numbers in `bins` bins of equal width between low and high. Bin i holds edge_i <= x < edge_(i+1), the last one also its
 * upper edge. low and high both NaN: the range of the sample, widened to x - h .. x + h, h = max(1, |x|) / 2, when all its numbers
 * equal x. Otherwise both are finite and low < high. counts: (bins); edges: (bins + 1), may be NULL. 1 <= bins <= LINATTN_MAX_BINS.
 * An empty sample is LINATTN_EDEGENERATE. */
LINATTN_API int linattn_sample_histogram(const double *sample, size_t count, double low, double high, size_t bins,
                                         uint64_t *counts, double *edges, linattn_histogram *out);

/* ---- Distribution functions -------------------------------------------------------------------------------------------------- */

/* The x of which a standard normal, or Student's t of `freedom` > 0 degrees of freedom (finite), stays below with probability p,
 * 0 < p < 1. Relative errors about 1e-15 and 1e-12. A t quantile too large for a double is Inf (freedom well below 1). Return
 * LINATTN_EINVAL. */
LINATTN_API int linattn_normal_quantile(double p, double *out);
LINATTN_API int linattn_student_quantile(double p, double freedom, double *out);

/* ---- Resampling -------------------------------------------------------------------------------------------------------------- */

/* For calls that draw at random. Same seed, same draws on every machine; results are then the same up to the C library's exp, log
 * and erfc, and the same bits on one machine. */
typedef struct linattn_resampling_options {
    size_t struct_size;        /* set by linattn_resampling_options_init */
    size_t resamples;          /* B: 1 to LINATTN_MAX_RESAMPLES; moments want 2 at least, intervals 100; 2000 */
    uint64_t seed;             /* any value; 0 */
    linattn_progress progress; /* NULL */
    void *user;                /* handed to progress; NULL */
} linattn_resampling_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_resampling_options_init(linattn_resampling_options *options, size_t size);

/* ---- Moments ----------------------------------------------------------------------------------------------------------------- */

typedef struct linattn_moments {
    size_t struct_size;     /* sizeof(linattn_moments), set by the caller */
    size_t count;           /* numbers in the sample */
    double mean;            /* their sum / count */
    double variance;        /* sum of squared deviations / (count - 1) */
    double sd;              /* its root */
    double skewness;        /* m_3 / m_2^(3/2), m_j = mean of (x - mean)^j */
    double excess_kurtosis; /* m_4 / m_2^2 - 3 */
    double moment5;         /* m_5 / m_2^(5/2): 0 for a normal distribution */
    double moment6;         /* m_6 / m_2^3: 15 for a normal distribution */
    double mean_error;      /* bootstrap standard errors of the numbers above: their sd over resamples */
    double variance_error;
    double sd_error;
    double skewness_error;
    double kurtosis_error;
    double moment5_error;
    double moment6_error;
    double sixth_share;     /* share of m_6 that comes from the ceil(count / 1000) numbers farthest from the mean */
    int32_t sixth_dominated; /* 1: sixth_share > 1/2, so that moment6 tells of those few numbers, and its error is too small */
    int32_t reserved;       /* 0 */
} linattn_moments;

/* options NULL: no bootstrap, the errors are NaN. One number: variance and all that follows are NaN. Equal numbers: variance and sd
 * are 0, standardised moments and sixth_share NaN. Errors leave out resamples in which a moment is undefined, and are NaN when
 * fewer than two are left. */
LINATTN_API int linattn_sample_moments(const double *sample, size_t count, const linattn_resampling_options *options,
                                       linattn_moments *out);

/* ---- Intervals --------------------------------------------------------------------------------------------------------------- */

typedef struct linattn_interval {
    size_t struct_size; /* sizeof(linattn_interval), set by the caller */
    double estimate;    /* of the whole sample */
    double low;         /* the interval's ends */
    double high;
    double error;       /* standard error: by formula (t, Wilson) or the sd over resamples */
    double level;       /* the coverage asked for */
} linattn_interval;

/* Student's interval of the mean; level in (0, 1), such as 0.95. Two numbers are the least; equal ones give their value three
 * times and the error 0. For ratios over seeds take it of their logarithms. */
LINATTN_API int linattn_sample_interval(const double *sample, size_t count, double level, linattn_interval *out);

/* Wilson's interval of a share, successes <= trials; error is sqrt(p (1 - p) / trials). LINATTN_EDEGENERATE for 0 trials. */
LINATTN_API int linattn_share_interval(uint64_t successes, uint64_t trials, double level, linattn_interval *out);

/* What a bootstrap interval is about. */
enum linattn_location {
    LINATTN_LOCATION_MEAN = 0,
    LINATTN_LOCATION_MEDIAN = 1 /* by LINATTN_MEDIAN_MEAN */
};

/* The bootstrap's BCa interval (bias-corrected and accelerated) for independent numbers. location: enum linattn_location. Two
 * numbers are the least; equal ones give their value three times. options NULL: the defaults. */
LINATTN_API int linattn_sample_bootstrap(const double *sample, size_t count, int32_t location, double level,
                                         const linattn_resampling_options *options, linattn_interval *out);

/* The moving-block bootstrap's interval of the mean of a series (count) whose neighbours depend on each other. block: the length of
 * a block, 1 to count - 1; longer than the dependence reaches, and much shorter than the series. options NULL: the defaults. */
LINATTN_API int linattn_series_bootstrap(const double *series, size_t count, size_t block, double level,
                                         const linattn_resampling_options *options, linattn_interval *out);

/* The same for the line through points (x, y) in their order in time, of which whole blocks are drawn. intercept, slope: either may
 * be NULL, not both. LINATTN_EDEGENERATE also when all x are equal, or are in more than half of the resamples. */
LINATTN_API int linattn_line_bootstrap(const double *x, const double *y, size_t count, size_t block, double level,
                                       const linattn_resampling_options *options, linattn_interval *intercept,
                                       linattn_interval *slope);

/* ---- Against the normal distribution ----------------------------------------------------------------------------------------- */

typedef struct linattn_normal_plot {
    size_t struct_size; /* sizeof(linattn_normal_plot), set by the caller */
    double correlation; /* of ordered numbers and normal quantiles: Filliben's statistic, 1 for a straight plot */
    double intercept;   /* of the least-squares line: ordered = intercept + slope * quantile */
    double slope;
} linattn_normal_plot;

/* The normal Q-Q plot at Filliben's positions. quantiles: (count), normal quantiles at the medians of uniform order statistics;
 * ordered: (count), the sorted sample; either may be NULL. Two numbers are the least; LINATTN_EDEGENERATE also when all are
 * equal. */
LINATTN_API int linattn_sample_normal_plot(const double *sample, size_t count, double *quantiles, double *ordered,
                                           linattn_normal_plot *out);

typedef struct linattn_normality {
    size_t struct_size;           /* sizeof(linattn_normality), set by the caller */
    double kolmogorov_smirnov;    /* D: the largest distance of the two distribution functions */
    double kolmogorov_smirnov_p;  /* Lilliefors' test: by simulation */
    double anderson_darling;      /* A^2 */
    double anderson_darling_star; /* A*^2 = A^2 (1 + 0.75/n + 2.25/n^2), Stephens */
    double anderson_darling_p;    /* its p-value by the formulas of D'Agostino and Stephens; NaN below 8 numbers */
    double anderson_darling_simulated_p; /* the same p-value by simulation */
} linattn_normality;

/* Is this a sample of a normal distribution whose mean and sd are unknown? Both are estimated, and all p-values allow for it. p by
 * simulation: (b + 1) / (B + 1), b of B = options->resamples normal samples of the same count being at least as far away. options
 * NULL: no simulation, the two p-values are NaN. Three numbers are the least; LINATTN_EDEGENERATE also when all are equal. */
LINATTN_API int linattn_sample_normality(const double *sample, size_t count, const linattn_resampling_options *options,
                                         linattn_normality *out);

/* ---- Two samples ------------------------------------------------------------------------------------------------------------- */

typedef struct linattn_comparison {
    size_t struct_size;          /* sizeof(linattn_comparison), set by the caller */
    double kolmogorov_smirnov;   /* D: the largest distance of the two distribution functions */
    double wasserstein;          /* W_1: the area between them */
    double mean_difference;      /* mean of the first less mean of the second */
    double kolmogorov_smirnov_p; /* permutation p-values (b + 1) / (B + 1); of the mean difference two-sided */
    double wasserstein_p;
    double mean_difference_p;
} linattn_comparison;

/* Compares samples a (a_count) and b (b_count), each of one number at least. options NULL: no permutations, the p-values are NaN.
 * Equal numbers throughout are no special case: distances 0, p-values 1. */
LINATTN_API int linattn_samples_compare(const double *a, size_t a_count, const double *b, size_t b_count,
                                        const linattn_resampling_options *options, linattn_comparison *out);

/* ---- The tail ---------------------------------------------------------------------------------------------------------------- */

typedef struct linattn_tail {
    size_t struct_size;    /* sizeof(linattn_tail), set by the caller */
    size_t first;          /* the range of k that was used */
    size_t last;
    double alpha;          /* the tail index: alpha_last when there is a plateau, otherwise NaN: no tail index */
    double error;          /* alpha / sqrt(last), or NaN */
    double alpha_first;    /* Hill's estimates at both ends of the range, and their extremes in it */
    double alpha_last;
    double alpha_min;
    double alpha_max;
    double relative_range; /* ln(alpha_max / alpha_min) */
    double tolerance;      /* 3 / sqrt(first) */
    int32_t plateau;       /* 1: relative_range <= tolerance, over a range that can tell: first >= 10 and last >= 4 first */
    int32_t reserved;      /* 0 */
} linattn_tail;

/* Hill's estimates alpha_k = k / sum over i <= k of ln(x_(i) / x_(k+1)) of the exponent in P(X > x) ~ x^(-alpha), x_(1) the largest
 * number, for k = first .. last, and whether they agree. first = last = 0: last = max(count/100, min(10, count - 1)), first =
 * max(last/10, min(10, last)), so a verdict wants 4000 numbers. Otherwise 1 <= first <= last < count. alphas: (last - first + 1),
 * may be NULL. Not shift-invariant.
 * Two numbers are the least; LINATTN_EDEGENERATE also when x_(last+1) <= 0 or when x_(1) = x_(first+1). */
LINATTN_API int linattn_sample_tail(const double *sample, size_t count, size_t first, size_t last, double *alphas,
                                    linattn_tail *out);

#ifdef __cplusplus
}
#endif
#endif
