/* special.c: the normal distribution and its quantiles; medians of order statistics. */
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

static const double ROOT_HALF = 0.70710678118654752440;       /* 1/sqrt 2 */
static const double LOG_ROOT_TWO_PI = 0.91893853320467274178; /* log sqrt(2 pi) */

double linattn__normal_cdf(double x) { return 0.5 * erfc(-x * ROOT_HALF); }

double linattn__normal_log_cdf(double x) {
    if (x > 0) return log1p(-0.5 * erfc(x * ROOT_HALF));
    if (x > -30) return log(0.5 * erfc(-x * ROOT_HALF));
    /* erfc underflows below -38: log of Mills' ratio, an alternating asymptotic series in 1/x^2. */
    const double s = 1 / (x * x), series = s * (-1 + s * (3 + s * (-15 + s * 105)));
    return -0.5 * x * x - log(-x) - LOG_ROOT_TWO_PI + log1p(series);
}

/* A quantile within 4.5e-4 of that of the upper tail q <= 1/2: Hastings' rational function (Abramowitz and Stegun 26.2.23). */
static double rough_quantile(double q) {
    const double t = sqrt(-2 * log(q));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* (P(X > x) - q) / phi(x) for x > 0. Near the middle it is taken from the middle, so that small quantiles keep their relative
 * accuracy; far out from logarithms, as P is subnormal there. */
static double newton_step(double x, double q, double central) {
    const double log_density = -0.5 * x * x - LOG_ROOT_TWO_PI;
    if (q < 1e-280) {
        const double log_tail = linattn__normal_log_cdf(-x);
        return -exp(log_tail - log_density) * expm1(log(q) - log_tail);
    }
    const double f = q < 0.25 ? 0.5 * erfc(x * ROOT_HALF) - q : fabs(central) - 0.5 * erf(x * ROOT_HALF);
    return f / exp(log_density);
}

double linattn__normal_quantile(double p) {
    const double q = p < 0.5 ? p : 1 - p, central = p - 0.5;
    if (!(q > 0)) return p < 0.5 ? -INFINITY : INFINITY;
    if (central == 0) return 0;
    double x = rough_quantile(q);
    /* Halley's step for f = P(X > x) - q, f' = -phi, f'' = x phi, twice and once more for the far tail. */
    for (int i = 0; i < 3; i++) {
        const double step = newton_step(x, q, central);
        x += step / (1 - 0.5 * x * step);
    }
    return central < 0 ? -x : x;
}

int linattn_normal_quantile(double p, double *out) {
    if (!(p > 0 && p < 1)) return linattn__fail_real("p", p, "above 0, below 1");
    if (!out) return linattn__fail_null("out");
    *out = linattn__normal_quantile(p);
    return LINATTN_OK;
}

double linattn__order_median(size_t i, size_t count) {
    const double last = exp2(-1 / (double)count);
    if (i == count) return last;
    if (i == 1) return 1 - last;
    return ((double)i - 0.3175) / ((double)count + 0.365);
}
