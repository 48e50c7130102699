/* An objective of the caller's own functions. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "objective/objective.h"

#include <math.h>

typedef struct {
    linattn_objective base;
    linattn_objective_callbacks callbacks;
    void *user;
} callback_objective;

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

static double norm(const double *x, size_t count) {
    double length = 0;
    for (size_t i = 0; i < count; i++) length = hypot(length, x[i]);
    return length;
}

/* H u = (g(theta + h u) - g(theta - h u)) / (2 h), h = difference_step max(1, |theta|) / |u|; 0 for u = 0. moved: (2, p). */
static int difference(callback_objective *f, uint64_t draw, const double *theta, const double *u, double *out, double *moved) {
    const size_t p = f->base.parameters;
    const double length = norm(u, p), h = f->callbacks.difference_step * fmax(1, norm(theta, p)) / length;
    double value, *low = moved + p;
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
    double *moved = linattn__allocate(p, 2 * sizeof *moved);
    int status = moved ? LINATTN_OK : linattn__fail_memory("differences of gradients");
    for (size_t i = 0; status == LINATTN_OK && i < count; i++)
        status = difference(f, draw, theta, directions + i * p, out + i * p, moved);
    linattn__release(moved);
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

static int clone(linattn_objective **out, const linattn_objective *objective) {
    const callback_objective *f = (const callback_objective *)objective;
    return create(out, &f->callbacks, &objective->options, f->user);
}

static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    return (void)objective, visit("objective.kind", 2, user);
}

static const linattn__objective_class callbacks_class = {
    .name = "callbacks", .evaluate = evaluate, .hvp_kind = hvp_kind, .hvp = hvp, .clone = clone, .describe = describe};

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
