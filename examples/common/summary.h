/* summary.h: what a few runs say together. */
#ifndef EXAMPLES_SUMMARY_H
#define EXAMPLES_SUMMARY_H

#include <stddef.h>

/* Mean of x (count); NaN when count is 0. */
double summary_mean(const double *x, size_t count);

/* Standard deviation of x (count) with count - 1 below; NaN when count < 2. */
double summary_sd(const double *x, size_t count);

/* Median of x (count), the mean of the middle two for an even count; NaN when count is 0. Sorts x. */
double summary_median(double *x, size_t count);

/* The t with P(|T| <= t) = level for Student's T of `freedom` >= 1 degrees of freedom, 0 < level < 1. */
double summary_t(double level, size_t freedom);

/* Half the width of Student's interval for the mean of x (count) at a level such as 0.95; NaN when count < 2. */
double summary_half_width(const double *x, size_t count, double level);

#endif
