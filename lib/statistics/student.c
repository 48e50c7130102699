/* student.c: quantiles of Student's t, by bisection on our own incomplete beta function. */
#include "common/fail.h"
#include "statistics/statistics.h"
#include <float.h>
#include <math.h>

static const double LOG_ROOT_PI = 0.57236494292470008707; /* log sqrt pi */
static const double LARGE_FREEDOM = 1e5;                  /* from here on the expansion about the normal quantile is closer */

/* log of Gamma(a + 1/2) / Gamma(a): its asymptotic series at a + m >= 40, brought down by Gamma(a + 1) = a Gamma(a). The C
 * library's lgamma writes to a variable of the whole process, and differences of it cancel. */
static double log_gamma_ratio(double a) {
    double correction = 0;
    for (; a < 40; a++) correction += log1p(0.5 / a);
    const double r = 1 / a, s = r * r;
    return 0.5 * log(a) - correction + r * (-1.0 / 8 + s * (1.0 / 192 + s * (-1.0 / 640 + s * (17.0 / 14336))));
}

/* The continued fraction 1/(1 + d_1/(1 + d_2/(1 + ...))) of the incomplete beta function: I_x(a, b) is it times
 * x^a (1-x)^b / (a B(a, b)), for x < (a + 1)/(a + b + 2) (Abramowitz and Stegun 26.5.8). The denominator is evaluated from the
 * front, by the rule of Lentz. */
static double beta_fraction(double x, double a, double b) {
    double numerator = 1, inverse = 0, value = 1;
    for (int j = 1; j < 100000; j++) {
        const double m = j / 2, even = a + 2 * m; /* whole part: terms come in pairs */
        const double d = j % 2 ? -(a + m) * (a + b + m) * x / (even * (even + 1)) : m * (b - m) * x / ((even - 1) * even);
        const double denominator = 1 + d * inverse;
        inverse = 1 / (fabs(denominator) < DBL_MIN ? DBL_MIN : denominator);
        numerator = 1 + d / numerator;
        if (fabs(numerator) < DBL_MIN) numerator = DBL_MIN;
        value *= numerator * inverse;
        if (fabs(numerator * inverse - 1) < DBL_EPSILON / 2) break;
    }
    return 1 / value;
}

/* P(|T| > t) and, when `inner`, P(|T| < t): I_x(f/2, 1/2) at x = f/(f + t^2), and I_{1-x}(1/2, f/2). */
static double two_sided(double t, double f, int inner) {
    const double a = 0.5 * f, ratio = t / sqrt(f), square = ratio * ratio;
    const double x = 1 / (1 + square), y = square / (1 + square); /* y = 1 - x */
    /* log of x^a y^(1/2) / B(a, 1/2), without forming x^a; for huge t by itself, as square may overflow. */
    const double log_x = square < 1e300 ? -log1p(square) : log(f) - 2 * log(t);
    const double front = exp(a * log_x + 0.5 * (square < 1e300 ? log(y) : 0) + log_gamma_ratio(a) - LOG_ROOT_PI);
    const int outer_converges = x < (a + 1) / (a + 2.5);
    const double outside = outer_converges ? front * beta_fraction(x, a, 0.5) / a : NAN;
    const double inside = outer_converges ? NAN : 2 * front * beta_fraction(y, 0.5, a);
    if (inner) return outer_converges ? 1 - outside : inside;
    return outer_converges ? outside : 1 - inside;
}

/* Hill's expansion (Abramowitz and Stegun 26.7.5) for large f. */
static double expansion(double z, double f) {
    const double s = z * z, g1 = (s + 1) / 4, g2 = ((5 * s + 16) * s + 3) / 96, g3 = (((3 * s + 19) * s + 17) * s - 15) / 384;
    const double g4 = ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160;
    return z * (1 + (g1 + (g2 + (g3 + g4 / f) / f) / f) / f);
}

/* 1 when the positive quantile of this probability is above t. Near the middle (inner) the equation is taken from the middle, as
 * for the normal quantile. */
static int is_above(double t, double freedom, double wanted, int inner) {
    const double share = two_sided(t, freedom, inner);
    return inner ? share < wanted : share > wanted;
}

double linattn__student_quantile(double p, double freedom) {
    const double q = p < 0.5 ? p : 1 - p, central = fabs(p - 0.5);
    if (freedom >= LARGE_FREEDOM) return expansion(linattn__normal_quantile(p), freedom);
    if (central == 0) return 0;
    const int inner = q > 0.25;
    const double wanted = inner ? 2 * central : 2 * q;
    double low = 1, high = 1;
    while (isfinite(high) && is_above(high, freedom, wanted, inner)) high *= 2;
    if (!isfinite(high)) return p < 0.5 ? -INFINITY : INFINITY;
    while (low > 0 && !is_above(low, freedom, wanted, inner)) low *= 0.5;
    for (int i = 0; i < 200; i++) {
        const double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) break;
        if (is_above(middle, freedom, wanted, inner))
            low = middle;
        else
            high = middle;
    }
    return p < 0.5 ? -high : high;
}

int linattn_student_quantile(double p, double freedom, double *out) {
    if (!(p > 0 && p < 1)) return linattn__fail_real("p", p, "above 0, below 1");
    if (!(freedom > 0 && isfinite(freedom))) return linattn__fail_real("freedom", freedom, "above 0, finite");
    if (!out) return linattn__fail_null("out");
    *out = linattn__student_quantile(p, freedom);
    return LINATTN_OK;
}
