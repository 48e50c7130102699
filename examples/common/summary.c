#include "summary.h"

#include <math.h>
#include <stdlib.h>

double summary_mean(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i];
    return count == 0 ? NAN : sum / (double)count;
}

double summary_sd(const double *x, size_t count) {
    if (count < 2) return NAN;
    const double mean = summary_mean(x, count);
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double summary_median(double *x, size_t count) {
    if (count == 0) return NAN;
    qsort(x, count, sizeof *x, compare);
    return count % 2 == 1 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
}

/* P(|T| <= t) for nu degrees of freedom: a finite sum in theta = atan(t / sqrt(nu)).
 *     nu odd:  (2/pi) (theta + sin cos (1 + (2/3) cos^2 + (2 4)/(3 5) cos^4 + ... up to cos^(nu-3)))
 *     nu even: sin (1 + (1/2) cos^2 + (1 3)/(2 4) cos^4 + ... up to cos^(nu-2)) */
static double probability_within(double t, size_t nu) {
    const double pi = 3.14159265358979323846;
    const double theta = atan(t / sqrt((double)nu)), sine = sin(theta), cosine = cos(theta);
    const size_t odd = nu % 2;
    double term = odd ? sine * cosine : sine, sum = 0;
    for (size_t k = 2 + odd; k <= nu; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return odd ? 2 / pi * (theta + sum) : sum;
}

double summary_t(double level, size_t freedom) {
    double low = 0, high = 1;
    while (probability_within(high, freedom) < level && high < 1e300) high *= 2;
    for (int i = 0; i < 200; i++) { /* bisection down to neighbouring doubles */
        const double middle = 0.5 * (low + high);
        if (probability_within(middle, freedom) < level)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double summary_half_width(const double *x, size_t count, double level) {
    if (count < 2) return NAN;
    return summary_t(level, count - 1) * summary_sd(x, count) / sqrt((double)count);
}
