#include "objective/objective.h"

#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "kernels/isa.h"

#include <math.h>
#include <string.h>

static const linattn_objective_options defaults = {
    .struct_size = sizeof(linattn_objective_options), .threads = 1, .kernel = 0 /* LINATTN_KERNEL_AUTO */
};
static const linattn__struct options_type = {"linattn_objective_options", sizeof defaults, sizeof defaults, &defaults};

int linattn_objective_options_init(linattn_objective_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

static int read_options(linattn_objective_options *read, const linattn_objective_options *options) {
    const int status = linattn__options_read(&options_type, read, options ? options : &defaults);
    if (status != LINATTN_OK) return status;
    if (read->threads < 1 || read->threads > LINATTN_MAX_THREADS) return linattn__fail_count("threads", read->threads, "1 to 256");
    if (read->reserved != 0) return linattn__fail_integer("reserved", read->reserved, "0");
    enum linattn__isa isa;
    return linattn__isa_resolve(read->kernel, &isa);
}

int linattn__objective_open(linattn_objective **out, const linattn__objective_class *class, size_t size, size_t parameters,
                            const linattn_objective_options *options) {
    linattn_objective_options read;
    const int status = read_options(&read, options);
    if (status != LINATTN_OK) return status;
    linattn_objective *objective = linattn__allocate(1, size);
    double *gradient = linattn__allocate(parameters, sizeof *gradient);
    if (!objective || !gradient) {
        linattn__release(objective);
        linattn__release(gradient);
        return linattn__fail_memory("an objective");
    }
    objective->class = class;
    linattn__owners_begin(&objective->owners);
    objective->parameters = parameters;
    objective->options = read;
    objective->gradient = gradient;
    *out = objective;
    return LINATTN_OK;
}

int linattn__objective_clone_with(linattn_objective **out, const linattn_objective *objective,
                                  const linattn_objective_options *options) {
    *out = NULL;
    return objective->class->clone(out, objective, options);
}

int linattn_objective_clone(linattn_objective **out, const linattn_objective *objective) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!objective) return linattn__fail_null("objective");
    return linattn__objective_clone_with(out, objective, &objective->options);
}

void linattn__objective_retain(linattn_objective *objective) { linattn__owners_add(&objective->owners); }

void linattn_objective_destroy(linattn_objective *objective) {
    if (!objective || !linattn__owners_end(&objective->owners)) return;
    if (objective->class->close) objective->class->close(objective);
    linattn__release(objective->gradient);
    linattn__release(objective);
}

size_t linattn_objective_parameter_count(const linattn_objective *objective) { return objective ? objective->parameters : 0; }

int linattn__objective_describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    const int status = visit("objective.parameters", objective->parameters, user);
    return status == LINATTN_OK ? objective->class->describe(objective, visit, user) : status;
}

int linattn__objective_progress(const linattn_objective *objective, double fraction) {
    if (!objective->options.progress) return LINATTN_OK;
    const unsigned failures = linattn__failures();
    return linattn__callback_status("progress", objective->options.progress(fraction, objective->options.user), failures);
}

int linattn__objective_check(const linattn_objective *objective, const double *theta) {
    if (!objective) return linattn__fail_null("objective");
    if (!theta) return linattn__fail_null("theta");
    if (objective->busy) return linattn__fail(LINATTN_EINVAL, "the objective is in a call; its callbacks cannot use it");
    return linattn__check_finite("theta", theta, objective->parameters);
}

/* Calls the class; the scratch memory of a call is the objective's only one. */
static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    objective->busy = 1;
    const int status = objective->class->evaluate(objective, draw, theta, value, gradient);
    objective->busy = 0;
    return status;
}

static int check_value(double value) { return isfinite(value) ? LINATTN_OK : linattn__check_finite("value", &value, 1); }

int linattn_objective_value(linattn_objective *objective, uint64_t draw, const double *theta, double *value) {
    int status = linattn__objective_check(objective, theta);
    if (status != LINATTN_OK) return status;
    if (!value) return linattn__fail_null("value");
    double result = NAN;
    status = evaluate(objective, draw, theta, &result, NULL);
    if (status == LINATTN_OK) status = check_value(result);
    if (status == LINATTN_OK) *value = result;
    return status;
}

int linattn_objective_gradient(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    int status = linattn__objective_check(objective, theta);
    if (status != LINATTN_OK) return status;
    if (!gradient) return linattn__fail_null("gradient");
    double result = NAN;
    status = evaluate(objective, draw, theta, &result, objective->gradient);
    if (status == LINATTN_OK) status = check_value(result);
    if (status == LINATTN_OK) status = linattn__check_finite("gradient", objective->gradient, objective->parameters);
    if (status != LINATTN_OK) return status;
    memcpy(gradient, objective->gradient, objective->parameters * sizeof *gradient);
    if (value) *value = result;
    return LINATTN_OK;
}
