/* fit.c: a straight line by least squares, and the rate at which a series falls. */
#include "statistics/fit.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

static const linattn__struct LINE = {"linattn_line", sizeof(linattn_line), sizeof(linattn_line), NULL};

int linattn__fit_line(const double *u, const double *v, size_t count, linattn__fit *out) {
    const double n = (double)count;
    double mean_v;
    if (linattn__sample_constant(u, count)) return 0;
    linattn__mean_variance(u, count, &out->mean_u, &out->spread_u);
    linattn__mean_variance(v, count, &mean_v, &out->spread_v);
    out->spread_u *= n - 1;
    out->spread_v *= n - 1;
    /* A fit of what the last fit left over takes away the rounding of its means: a line through all points is then found exactly
     * where its numbers are exact. */
    out->slope = out->intercept = 0;
    for (int round = 0; round < 3; round++) {
        double products = 0, rest = 0;
        for (size_t i = 0; i < count; i++) products += (u[i] - out->mean_u) * (v[i] - out->slope * u[i] - out->intercept);
        out->slope += products / out->spread_u;
        for (size_t i = 0; i < count; i++) rest += v[i] - out->slope * u[i] - out->intercept;
        out->intercept += rest / n;
    }
    out->residual = 0;
    for (size_t i = 0; i < count; i++) {
        const double r = v[i] - out->slope * u[i] - out->intercept;
        out->residual += r * r;
    }
    return 1;
}

/* The line of x = x_0 + u 2^p, y = y_0 + v 2^q. The intercept is taken at x = 0, which may be far from the points. */
static void write_line(const linattn__fit *fit, size_t count, double x0, int p, double y0, int q, linattn_line *out) {
    const double n = (double)count, variance = count > 2 ? fit->residual / (n - 2) : NAN;
    const double zero = ldexp(-x0, -p); /* u of x = 0 */
    const double distance = zero - fit->mean_u;
    out->count = count;
    out->slope = ldexp(fit->slope, q - p);
    out->intercept = linattn__undo(y0, fit->intercept + fit->slope * zero, q);
    out->slope_error = ldexp(sqrt(variance / fit->spread_u), q - p);
    out->intercept_error = ldexp(sqrt(variance * (1 / n + distance * distance / fit->spread_u)), q);
    out->residual_sd = ldexp(sqrt(variance), q);
    out->r_squared = fit->spread_v > 0 ? 1 - fit->residual / fit->spread_v : NAN;
}

int linattn_line_fit(const double *x, const double *y, size_t count, linattn_line *out) {
    int status = linattn__sample_check("x", x, count, 2);
    if (status == LINATTN_OK) status = linattn__sample_check("y", y, count, 2);
    if (status == LINATTN_OK) status = linattn__result_check(&LINE, out);
    if (status != LINATTN_OK) return status;
    double *u = linattn__allocate(count, 2 * sizeof *u);
    if (!u) return linattn__fail_memory("a line");
    double *v = u + count;
    const int p = linattn__deviations(x, count, x[0], u), q = linattn__deviations(y, count, y[0], v);
    linattn__fit fit;
    linattn_line result = {0};
    if (linattn__fit_line(u, v, count, &fit)) {
        write_line(&fit, count, x[0], p, y[0], q, &result);
        linattn__result_write(&LINE, out, &result);
    } else {
        status = linattn__fail(LINATTN_EDEGENERATE, "all x are equal; a line needs two different ones");
    }
    linattn__release(u);
    return status;
}

int linattn_series_rate(const double *series, size_t count, double high, double low, linattn_line *out) {
    int status = linattn__sample_check("series", series, count, 2);
    if (status == LINATTN_OK) status = linattn__result_check(&LINE, out);
    if (status != LINATTN_OK) return status;
    if (!(low > 0 && low < INFINITY)) return linattn__fail_real("low", low, "finite numbers above 0");
    if (!(high > low && high < INFINITY)) return linattn__fail_real("high", high, "finite numbers above low");
    size_t first = 0, end;
    for (size_t i = 0; i < count; i++)
        if (series[i] < 0) return linattn__fail(LINATTN_EINVAL, "series[%zu] is below 0; allowed: numbers from 0 on", i);
    while (first < count && series[first] > high) first++;
    for (end = first; end < count && series[end] >= low;) end++;
    if (end - first < 2)
        return linattn__fail(LINATTN_EDEGENERATE, "%zu of %zu numbers are in the window; allowed: at least 2", end - first, count);
    double *t = linattn__allocate(end - first, 2 * sizeof *t);
    if (!t) return linattn__fail_memory("a rate");
    double *logs = t + (end - first);
    for (size_t i = first; i < end; i++) {
        t[i - first] = (double)i;
        logs[i - first] = log(series[i]);
    }
    status = linattn_line_fit(t, logs, end - first, out);
    linattn__release(t);
    return status;
}
