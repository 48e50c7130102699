/* An objective of the caller's own functions. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/norm.h"
#include "common/options.h"
#include "objective/objective.h"

#include <math.h>
#include <string.h>

typedef struct {
    linattn_objective base;
    linattn_objective_callbacks callbacks;
    void *user;
    double *scratch; /* made by what needs it first: (2, p) with hvp, otherwise (4, p) */
} callback_objective;

enum { UNIT = 0, ROW = 1, MOVED = 2, LOW = 3 }; /* scratch, in arrays of p: of Hessians, then of differences */

static const linattn_objective_callbacks defaults = {.struct_size = sizeof(linattn_objective_callbacks)};
static const linattn__struct callbacks_type = {"linattn_objective_callbacks", sizeof defaults, sizeof defaults, &defaults};

int linattn_objective_callbacks_init(linattn_objective_callbacks *callbacks, size_t size) {
    return linattn__options_init(&callbacks_type, callbacks, size);
}

/* Outputs are NaN before the call: what a function did not write is then seen. */
static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    callback_objective *f = (callback_objective *)objective;
    *value = NAN;
    const unsigned failures = linattn__failures();
    if (!gradient && f->callbacks.value)
        return linattn__callback_status("value", f->callbacks.value(draw, theta, value, f->user), failures);
    double *into = gradient ? gradient : objective->gradient;
    for (size_t i = 0; i < objective->parameters; i++) into[i] = NAN;
    return linattn__callback_status("gradient", f->callbacks.gradient(draw, theta, value, into, f->user), failures);
}

static double norm(const double *x, size_t count) { return linattn__norm_value(linattn__norm_of(x, count)); }

static size_t hessian_workspace(const linattn_objective *objective) {
    const callback_objective *f = (const callback_objective *)objective;
    size_t bytes;
    return linattn__multiply_sizes(objective->parameters, (f->callbacks.hvp ? 2 : 4) * sizeof(double), &bytes) ? bytes : SIZE_MAX;
}

static int equip(callback_objective *f) {
    if (!f->scratch) f->scratch = linattn__allocate(1, hessian_workspace(&f->base));
    return f->scratch ? LINATTN_OK : linattn__fail_memory("Hessian-vector products");
}

/* H u = (g(theta + h u) - g(theta - h u)) / (2 h), h = difference_step max(1, |theta|) / |u|; 0 for u = 0. */
static int difference(callback_objective *f, uint64_t draw, const double *theta, const double *u, double *out) {
    const size_t p = f->base.parameters;
    const double length = norm(u, p), h = f->callbacks.difference_step * fmax(1, norm(theta, p)) / length;
    double value, *moved = f->scratch + MOVED * p, *low = f->scratch + LOW * p;
    for (size_t i = 0; i < p; i++) out[i] = 0;
    if (length == 0) return LINATTN_OK;
    for (size_t i = 0; i < p; i++) moved[i] = theta[i] - h * u[i];
    int status = evaluate(&f->base, draw, moved, &value, low);
    for (size_t i = 0; i < p; i++) moved[i] = theta[i] + h * u[i];
    if (status == LINATTN_OK) status = evaluate(&f->base, draw, moved, &value, out);
    for (size_t i = 0; status == LINATTN_OK && i < p; i++) out[i] = (out[i] - low[i]) / (2 * h);
    return status;
}

static int hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t count,
               double *out) {
    callback_objective *f = (callback_objective *)objective;
    const size_t p = objective->parameters;
    if (f->callbacks.hvp) {
        for (size_t i = 0; i < count * p; i++) out[i] = NAN;
        const unsigned failures = linattn__failures();
        return linattn__callback_status("hvp", f->callbacks.hvp(draw, theta, directions, count, out, f->user), failures);
    }
    int status = equip(f);
    for (size_t i = 0; status == LINATTN_OK && i < count; i++) status = difference(f, draw, theta, directions + i * p, out + i * p);
    return status;
}

/* Row by row, from products; then the mean of both triangles, which rounding, or differences, have made a little different. */
static int hessian(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count, int diagonal,
                   double *out) {
    callback_objective *f = (callback_objective *)objective;
    const size_t p = objective->parameters;
    int status = equip(f);
    for (size_t i = 0; status == LINATTN_OK && i < count; i++) {
        double *unit = f->scratch + UNIT * p, *row = f->scratch + ROW * p;
        status = linattn__objective_progress(objective, (double)i / (double)count);
        unit[first + i] = 1;
        if (status == LINATTN_OK) status = hvp(objective, draw, theta, unit, 1, row);
        unit[first + i] = 0;
        if (status != LINATTN_OK) return status;
        if (diagonal)
            out[i] = row[first + i];
        else
            memcpy(out + i * count, row + first, count * sizeof *out);
    }
    for (size_t i = 0; !diagonal && status == LINATTN_OK && i < count; i++)
        for (size_t j = 0; j < i; j++) out[i * count + j] = out[j * count + i] = (out[i * count + j] + out[j * count + i]) / 2;
    return status;
}

static int hvp_kind(const linattn_objective *objective) {
    const callback_objective *f = (const callback_objective *)objective;
    return f->callbacks.hvp ? LINATTN_HVP_EXACT : f->callbacks.difference_step > 0 ? LINATTN_HVP_DIFFERENCES : LINATTN_HVP_NONE;
}

static const linattn__objective_class callbacks_class;

static int create(linattn_objective **out, const linattn_objective_callbacks *callbacks, const linattn_objective_options *options,
                  void *user) {
    linattn_objective *objective;
    const int status =
        linattn__objective_open(&objective, &callbacks_class, sizeof(callback_objective), callbacks->parameter_count, options);
    if (status != LINATTN_OK) return status;
    callback_objective *f = (callback_objective *)objective;
    f->callbacks = *callbacks;
    f->user = user;
    *out = objective;
    return LINATTN_OK;
}

static int clone(linattn_objective **out, const linattn_objective *objective, const linattn_objective_options *options) {
    const callback_objective *f = (const callback_objective *)objective;
    return create(out, &f->callbacks, options, f->user);
}

static void close_callbacks(linattn_objective *objective) { linattn__release(((callback_objective *)objective)->scratch); }

static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    return (void)objective, visit("objective.kind", 2, user);
}

static const linattn__objective_class callbacks_class = {.name = "callbacks",
                                                         .evaluate = evaluate,
                                                         .hvp_kind = hvp_kind,
                                                         .hvp = hvp,
                                                         .hessian = hessian,
                                                         .hessian_workspace = hessian_workspace,
                                                         .clone = clone,
                                                         .close = close_callbacks,
                                                         .describe = describe};

int linattn_objective_create_callbacks(linattn_objective **out, const linattn_objective_callbacks *callbacks,
                                       const linattn_objective_options *options, void *user) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_objective_callbacks read;
    const int status = linattn__options_read(&callbacks_type, &read, callbacks);
    if (status != LINATTN_OK) return status;
    if (read.parameter_count < 1 || read.parameter_count > ((size_t)1 << 40))
        return linattn__fail_count("parameter_count", read.parameter_count, "1 to 2^40");
    if (!read.gradient) return linattn__fail_null("gradient of linattn_objective_callbacks");
    if (!(read.difference_step >= 0 && read.difference_step <= 1))
        return linattn__fail_real("difference_step", read.difference_step, "0 to 1");
    return create(out, &read, options, user);
}
