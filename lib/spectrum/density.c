/* density.c: spectra as smooth densities, and how far two of them are apart. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "spectrum/spectrum.h"
#include "statistics/statistics.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

static const linattn__struct DISTANCE = {"linattn_spectra_distance", sizeof(linattn_spectra_distance),
                                         sizeof(linattn_spectra_distance), NULL};

static const double ROOT_2PI = 2.50662827463100050242;
static const double LN_2 = 0.693147180559945309417;

/* How far the sum of weights may be from 1: rounding, not mistakes. */
static const double WEIGHT_ERROR = 1e-9;

/* ---- A density for plotting ---- */

static int check_values(const char *argument, const char *count_argument, const double *values, size_t count) {
    if (!values) return linattn__fail_null(argument);
    if (count == 0) return linattn__fail_count(count_argument, count, "1 or more");
    return linattn__sample_check(argument, values, count, 1);
}

static int check_weights(const double *weights, size_t count) {
    double sum = 0;
    const int status = linattn__check_finite("weights", weights, count);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < count; i++) {
        if (weights[i] < 0) {
            char argument[64];
            snprintf(argument, sizeof argument, "weights[%zu]", i);
            return linattn__fail_real(argument, weights[i], "0 or more");
        }
        sum += weights[i];
    }
    return fabs(sum - 1) <= WEIGHT_ERROR ? LINATTN_OK : linattn__fail_real("the sum of weights", sum, "1");
}

int linattn_spectrum_density(const double *eigenvalues, const double *weights, size_t count, double width, const double *x,
                             size_t points, double *out) {
    int status = check_values("eigenvalues", "count", eigenvalues, count);
    if (status == LINATTN_OK && weights) status = check_weights(weights, count);
    if (status != LINATTN_OK) return status;
    if (!(width > 0 && isfinite(width))) return linattn__fail_real("width", width, "finite, above 0");
    status = check_values("x", "points", x, points);
    if (status != LINATTN_OK) return status;
    if (!out) return linattn__fail_null("out");
    for (size_t j = 0; j < points; j++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            /* Halved, the difference does not overflow; if the quotient does, the term is 0. */
            const double z = 2 * ((0.5 * x[j] - 0.5 * eigenvalues[i]) / width);
            sum += (weights ? weights[i] : 1) * exp(-0.5 * z * z);
        }
        out[j] = (weights ? sum : sum / (double)count) / ROOT_2PI / width;
    }
    return LINATTN_OK;
}

/* ---- How far two spectra are apart ---- */

/* Densities on a grid in units of the width. Near x they vary like exp(-x z) with z up to REACH, so the trapezoidal rule converges
 * geometrically; with STEPS steps a width its error is below 1e-10, as is what lies beyond REACH. */
enum { REACH = 9, STEPS = 16 };

/* Adds the density of values to grid (points), whose point j is at j / STEPS - REACH; value x is at (x 2^-exponent - low) scale. */
static void add_density(const double *values, size_t count, int exponent, double low, double scale, double *grid, size_t points) {
    for (size_t i = 0; i < count; i++) {
        const double at = STEPS * ((ldexp(values[i], -exponent) - low) * scale + REACH);
        const double first = ceil(at - STEPS * REACH);
        const size_t begin = first > 0 ? (size_t)first : 0;
        for (size_t j = begin; j < points && (double)j <= at + STEPS * REACH; j++) {
            const double z = ((double)j - at) / STEPS;
            grid[j] += exp(-0.5 * z * z) / ROOT_2PI / (double)count;
        }
    }
}

/* p log(p/m) + q log(q/m) with m = (p + q)/2, as m ((1 + r) log(1 + r) + (1 - r) log(1 - r)) with r = (p - q)/(p + q): no
 * cancellation where both are nearly equal. */
static double divergence_term(double p, double q) {
    if (!(p + q > 0)) return 0;
    const double r = (p - q) / (p + q);
    if (!(fabs(r) < 1)) return (p + q) * LN_2; /* one of them is 0 beside the other */
    return 0.5 * (p + q) * ((1 + r) * log1p(r) + (1 - r) * log1p(-r));
}

static void widen(const double *values, size_t count, double *low, double *high) {
    for (size_t i = 0; i < count; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

/* Jensen and Shannon's divergence in bits of the spectra, whose range low .. high is not empty; grids: (2 points). */
static double divergence(const double *a, size_t a_count, const double *b, size_t b_count, double relative_width,
                         const linattn_spectra_distance *range, double *grids, size_t points) {
    const double ends[2] = {range->low, range->high};
    const int exponent = linattn__exponent(ends, 2) + 1; /* in these units no difference overflows */
    const double low = ldexp(range->low, -exponent), scale = 1 / (relative_width * (ldexp(range->high, -exponent) - low));
    double sum = 0;
    add_density(a, a_count, exponent, low, scale, grids, points);
    add_density(b, b_count, exponent, low, scale, grids + points, points);
    for (size_t j = 0; j < points; j++) sum += divergence_term(grids[j], grids[points + j]);
    const double bits = 0.5 * sum / STEPS / LN_2;
    return bits < 0 ? 0 : bits > 1 ? 1 : bits; /* rounding may lead out of the range */
}

int linattn__relative_width_check(double relative_width) {
    if (relative_width >= 0.001 && relative_width <= 1) return LINATTN_OK;
    return linattn__fail_real("relative_width", relative_width, "0.001 to 1");
}

int linattn_spectra_compare(const double *a, size_t a_count, const double *b, size_t b_count, double relative_width,
                            linattn_spectra_distance *out) {
    int status = check_values("a", "a_count", a, a_count);
    if (status == LINATTN_OK) status = check_values("b", "b_count", b, b_count);
    if (status != LINATTN_OK) return status;
    status = linattn__relative_width_check(relative_width);
    if (status == LINATTN_OK) status = linattn__result_check(&DISTANCE, out);
    if (status != LINATTN_OK) return status;
    linattn_spectra_distance result = {.low = a[0], .high = a[0]};
    widen(a, a_count, &result.low, &result.high);
    widen(b, b_count, &result.low, &result.high);
    result.width = 2 * (relative_width * (0.5 * result.high - 0.5 * result.low));
    /* What rounding cannot tell apart is equal. */
    const double rounding = DBL_EPSILON * ((double)a_count + (double)b_count) * fmax(fabs(result.low), fabs(result.high));
    if (result.high - result.low > rounding) {
        const size_t points = (size_t)ceil(STEPS * (1 / relative_width + 2 * REACH)) + 1;
        double *grids = linattn__allocate(points, 2 * sizeof *grids);
        if (!grids) return linattn__fail_memory("densities of spectra");
        result.divergence = divergence(a, a_count, b, b_count, relative_width, &result, grids, points);
        linattn__release(grids);
    }
    result.distance = sqrt(result.divergence);
    linattn__result_write(&DISTANCE, out, &result);
    return LINATTN_OK;
}
