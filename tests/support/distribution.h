/* distribution.h: Kolmogorov and Smirnov's tests. The samples are sorted in place. */
#ifndef LINATTN_TESTS_DISTRIBUTION_H
#define LINATTN_TESTS_DISTRIBUTION_H

#include <stddef.h>

/* The asymptotic probability of a distance at least as large, for a continuous distribution. */
double ks_one_sample(double *x, size_t count, double (*cdf)(double));
double ks_two_sample(double *x, size_t x_count, double *y, size_t y_count);

#endif
