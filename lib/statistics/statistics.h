/* statistics.h: what the functions on samples share. */
#ifndef LINATTN_STATISTICS_STATISTICS_H
#define LINATTN_STATISTICS_STATISTICS_H

#include "common/options.h"
#include <linattn/statistics.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sample.c: checks, order, units ---- */

/* Not NULL, at least `least` numbers (else LINATTN_EDEGENERATE), all finite. */
int linattn__sample_check(const char *argument, const double *sample, size_t count, size_t least);

int linattn__level_check(double level);

/* 1 when all are equal. */
int linattn__sample_constant(const double *sample, size_t count);

/* Sorts x (count) upwards, in place. */
void linattn__sort(double *x, size_t count);

/* A sorted copy, to be released; NULL when there is no memory. */
double *linattn__sorted_copy(const double *sample, size_t count);

/* a + t (b - a), 0 <= t <= 1, without overflow; exact at t = 0 and t = 1. */
double linattn__interpolate(double a, double b, double t);

/* The value at position h of sorted (count), counted from 0. */
double linattn__order_value(const double *sorted, size_t count, double h);

/* The least e with |x| < 2^e for all of x (count): x 2^-e neither overflows nor, its large part, underflows. 0 when all are 0. */
int linattn__exponent(const double *x, size_t count);

/* Deviations in units of their own: x_i = origin + out_i 2^e, |out_i| < 4, the largest not small (1/2 at least, unless all are 0).
 * Returns e. origin is one of the numbers, so differences of close ones are exact whatever their distance from 0. */
int linattn__deviations(const double *x, size_t count, double origin, double *out);

/* origin + value 2^e, the mean of a sample from the mean of its deviations. */
double linattn__undo(double origin, double value, int exponent);

/* The mean and the variance with count - 1 below, in two passes; the variance is NaN for one number and 0 for equal ones. */
void linattn__mean_variance(const double *x, size_t count, double *mean, double *variance);

/* ---- special.c, student.c: distribution functions ---- */

double linattn__normal_cdf(double x);
double linattn__normal_log_cdf(double x);  /* finite for every finite x whose square does not overflow */
double linattn__normal_quantile(double p); /* -Inf and Inf at 0 and 1 */
double linattn__student_quantile(double p, double freedom);

/* Filliben's median of the order statistic i = 1 .. count of uniforms. */
double linattn__order_median(size_t i, size_t count);

/* ---- resampling.c ---- */

/* Reads options, NULL being the defaults, and checks them; `least` resamples at least. */
int linattn__resampling_read(linattn_resampling_options *copy, const linattn_resampling_options *options, size_t least);

/* Before resample b of count numbers: the progress callback, 100 times a call, and more often where that would leave too long
 * between two of them. Returns its status. */
int linattn__resampling_progress(const linattn_resampling_options *options, size_t count, size_t b);

/* Uniforms of resample b: a function of (seed, b, position). */
void linattn__resample_uniforms(const linattn_resampling_options *options, size_t b, size_t count, double *out);

/* floor(u range) for 0 < u < 1, range below 2^48: an index with a bias below range 2^-52. */
size_t linattn__uniform_index(double u, size_t range);

/* Resample b of `size` indices, uniform in 0 .. range-1. */
void linattn__resample_indices(const linattn_resampling_options *options, size_t b, size_t range, size_t size, size_t *indices);

/* Resample b of a series: where each of its count numbers comes from, ceil(count / block) blocks being drawn. */
void linattn__resample_blocks(const linattn_resampling_options *options, size_t b, size_t count, size_t block, size_t *indices);

/* Normals of simulated sample b, independent of its uniforms. */
void linattn__resample_normals(const linattn_resampling_options *options, size_t b, size_t count, double *out);

/* The sd (n - 1 below) of the finite ones of values (count); NaN when there are fewer than two. */
double linattn__finite_sd(const double *values, size_t count);

/* The value at probability p of sorted replicates: position (count + 1) p - 1, held inside. */
double linattn__replicate_value(const double *sorted, size_t count, double p);

/* The interval of replicates (count, sorted here) about an estimate, after their mean has been shifted onto it; all in the units of
 * deviations, out in those of the sample: origin + value 2^exponent. */
void linattn__centred_interval(double *replicates, size_t count, double level, double estimate, double origin, int exponent,
                               linattn_interval *out);

/* linattn_line_bootstrap, which leaves no message when it is LINATTN_EDEGENERATE because x are equal. */
int linattn__line_bootstrap(const double *x, const double *y, size_t count, size_t block, double level,
                            const linattn_resampling_options *options, linattn_interval *intercept, linattn_interval *slope);

extern const linattn__struct linattn__interval_type;

#endif
