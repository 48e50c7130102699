/* distribution.c: see distribution.h. */
#include "support/distribution.h"
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* P(sup |B| > t) of a Brownian bridge B: 2 sum over j >= 1 of (-1)^(j-1) exp(-2 j^2 t^2). */
static double kolmogorov(double t) {
    double sum = 0;
    if (t < 0.2) return 1;
    for (int j = 1; j <= 100; j++) sum += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * t * t);
    return sum;
}

double ks_one_sample(double *x, size_t count, double (*cdf)(double)) {
    const double n = (double)count;
    double distance = 0;
    qsort(x, count, sizeof *x, compare);
    for (size_t i = 0; i < count; i++) {
        const double f = cdf(x[i]);
        distance = fmax(distance, fmax(f - (double)i / n, (double)(i + 1) / n - f));
    }
    return kolmogorov(distance * sqrt(n));
}

double ks_two_sample(double *x, size_t x_count, double *y, size_t y_count) {
    const double nx = (double)x_count, ny = (double)y_count;
    double distance = 0;
    qsort(x, x_count, sizeof *x, compare);
    qsort(y, y_count, sizeof *y, compare);
    for (size_t i = 0, j = 0; i < x_count && j < y_count;) {
        const double at = fmin(x[i], y[j]);
        while (i < x_count && x[i] <= at) i++;
        while (j < y_count && y[j] <= at) j++;
        distance = fmax(distance, fabs((double)i / nx - (double)j / ny));
    }
    return kolmogorov(distance * sqrt(nx * ny / (nx + ny)));
}
