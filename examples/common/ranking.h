/* ranking.h: rank correlation. */
#ifndef EXAMPLES_RANKING_H
#define EXAMPLES_RANKING_H

#include <stddef.h>

/* Spearman's rank correlation of x and y, (count), finite; both are replaced by their ranks 0, 1, ..., equal numbers sharing the
 * mean of theirs. NaN when all of x or all of y are equal, or without memory. */
double rank_correlation(double *x, double *y, size_t count);

#endif
