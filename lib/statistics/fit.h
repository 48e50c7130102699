/* fit.h: least squares without checks. */
#ifndef LINATTN_STATISTICS_FIT_H
#define LINATTN_STATISTICS_FIT_H

#include <stddef.h>

typedef struct linattn__fit {
    double intercept, slope;
    double mean_u;
    double spread_u; /* sum of (u - mean)^2 */
    double spread_v; /* sum of (v - mean)^2 */
    double residual; /* sum of squared residuals */
} linattn__fit;

/* v = intercept + slope u; u, v: (count) of moderate size. Returns 0 when all u are equal, otherwise 1. */
int linattn__fit_line(const double *u, const double *v, size_t count, linattn__fit *out);

#endif
