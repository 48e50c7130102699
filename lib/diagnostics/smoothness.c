/* smoothness.c: curvature and change of the gradient along a step. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/norm.h"
#include "diagnostics/diagnostics.h"

#include <math.h>
#include <string.h>

static int check(const linattn_diagnostics *d, const double *theta, const double *next, const double *out) {
    const int status = linattn__diagnostics_check(d, theta);
    if (status != LINATTN_OK) return status;
    if (!next) return linattn__fail_null("next");
    if (!out) return linattn__fail_null("out");
    return linattn__check_finite("next", next, d->parameters);
}

/* *out becomes NaN. */
static int no_step(const char *what, double *out) {
    *out = NAN;
    return linattn__fail(LINATTN_EDEGENERATE, "%s is theta: a step of length 0 has no direction", what);
}

/* u = (next - theta) / |next - theta|, H u, u . H u. room: (2 p). */
static int along_step(linattn_diagnostics *d, uint64_t draw, const double *theta, const double *next, double *room, double *out) {
    const size_t p = d->parameters;
    double *u = room, *product = room + p, curvature = 0;
    for (size_t i = 0; i < p; i++) u[i] = next[i] - theta[i];
    int status = linattn__check_finite("next - theta", u, p);
    if (status != LINATTN_OK) return status;
    const linattn__norm length = linattn__norm_of(u, p);
    if (length.mantissa == 0) return no_step("next", out);
    linattn__norm_rescale(u, u, p, length, 1);
    linattn__diagnostics_expect(d, 0, 1);
    status = linattn_objective_hvp(d->objective, draw, theta, u, 1, product);
    for (size_t i = 0; i < p; i++) curvature += u[i] * product[i];
    if (status == LINATTN_OK) status = linattn__check_finite("directional smoothness", &curvature, 1);
    if (status == LINATTN_OK) *out = curvature;
    return status;
}

int linattn_diagnostics_directional_smoothness(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                               const double *next, double *out) {
    int status = check(diagnostics, theta, next, out);
    if (status != LINATTN_OK) return status;
    double *room = linattn__allocate(diagnostics->parameters, 2 * sizeof *room);
    if (!room) return linattn__fail_memory("directional smoothness");
    diagnostics->busy = 1;
    status = along_step(diagnostics, draw, theta, next, room, out);
    diagnostics->busy = 0;
    linattn__release(room);
    return status;
}

/* |g(theta + a s) - g(theta)| / |a s|, the step being the one that was taken after rounding. here: (p), g(theta); room: (2 p). */
static int ratio(linattn_diagnostics *d, uint64_t draw, const double *theta, const double *next, double fraction,
                 const double *here, double *room, double *out) {
    const size_t p = d->parameters;
    double *moved = room, *there = room + p;
    for (size_t i = 0; i < p; i++) moved[i] = theta[i] + fraction * (next[i] - theta[i]);
    int status = linattn__check_finite("theta + fraction * (next - theta)", moved, p);
    if (status == LINATTN_OK) status = linattn_objective_gradient(d->objective, draw, moved, NULL, there);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < p; i++) {
        there[i] -= here[i];
        moved[i] -= theta[i];
    }
    const linattn__norm change = linattn__norm_of(there, p), step = linattn__norm_of(moved, p);
    if (step.mantissa == 0) return no_step("theta + fraction * (next - theta)", out);
    *out = ldexp(change.mantissa / step.mantissa, change.exponent - step.exponent);
    return linattn__check_finite("gradient ratio", out, 1);
}

/* Whether it was this file that found the step to be 0, not a callback that returned the same status. */
static int zero_step(int status, const double *ratios, size_t count) {
    int found = 0;
    for (size_t i = 0; i < count; i++) found |= isnan(ratios[i]) != 0;
    return status == LINATTN_EDEGENERATE && found;
}

/* room: (3 p). */
static int all_ratios(linattn_diagnostics *d, uint64_t draw, const double *theta, const double *next, const double *fractions,
                      size_t count, double *room, double *ratios) {
    const double share = 1 / ((double)count + 1); /* of one gradient */
    linattn__diagnostics_expect(d, 0, share);
    int status = linattn_objective_gradient(d->objective, draw, theta, NULL, room);
    for (size_t i = 0; status == LINATTN_OK && i < count; i++) {
        linattn__diagnostics_expect(d, share * (double)(i + 1), share);
        status = linattn__diagnostics_progress(d, d->done);
        if (status == LINATTN_OK) status = ratio(d, draw, theta, next, fractions[i], room, room + d->parameters, &ratios[i]);
    }
    return status;
}

static int check_fractions(const double *fractions, size_t count) {
    if (!fractions) return linattn__fail_null("fractions");
    if (count < 1) return linattn__fail_count("count", count, "at least 1");
    const int status = linattn__check_finite("fractions", fractions, count);
    for (size_t i = 0; status == LINATTN_OK && i < count; i++)
        if (fractions[i] == 0) return linattn__fail(LINATTN_EINVAL, "fractions[%zu] is 0; allowed: other numbers", i);
    return status;
}

int linattn_diagnostics_gradient_ratios(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const double *next,
                                        const double *fractions, size_t count, double *out) {
    int status = check(diagnostics, theta, next, out);
    if (status == LINATTN_OK) status = check_fractions(fractions, count);
    if (status != LINATTN_OK) return status;
    double *room = linattn__allocate(diagnostics->parameters, 3 * sizeof *room), *ratios = linattn__allocate(count, sizeof *ratios);
    if (room && ratios) {
        diagnostics->busy = 1;
        status = all_ratios(diagnostics, draw, theta, next, fractions, count, room, ratios);
        diagnostics->busy = 0;
        if (status == LINATTN_OK) memcpy(out, ratios, count * sizeof *out);
        for (size_t i = 0; i < count && zero_step(status, ratios, count); i++) out[i] = NAN;
    } else {
        status = linattn__fail_memory("gradient ratios");
    }
    linattn__release(room);
    linattn__release(ratios);
    return status;
}
