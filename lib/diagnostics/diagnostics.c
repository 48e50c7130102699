/* The handle of all measurements: its options, its life, its progress. */
#include "diagnostics/diagnostics.h"

#include "common/allocate.h"
#include "common/fail.h"

static const linattn_diagnostics_options defaults = {.struct_size = sizeof(linattn_diagnostics_options), .threads = 1};
static const linattn__struct options_type = {"linattn_diagnostics_options", sizeof defaults, sizeof defaults, &defaults};

int linattn_diagnostics_options_init(linattn_diagnostics_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

/* The objective's progress, as a part of the measurement's. */
static int share_progress(double fraction, void *user) {
    linattn_diagnostics *d = user;
    return linattn__diagnostics_progress(d, d->done + d->share * fraction);
}

int linattn_diagnostics_create(linattn_diagnostics **out, const linattn_objective *objective,
                               const linattn_diagnostics_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!objective) return linattn__fail_null("objective");
    linattn_diagnostics_options read;
    int status = linattn__options_read(&options_type, &read, options ? options : &defaults);
    if (status != LINATTN_OK) return status;
    if (read.threads < 1 || read.threads > LINATTN_MAX_THREADS) return linattn__fail_count("threads", read.threads, "1 to 256");
    linattn_diagnostics *d = linattn__allocate(1, sizeof *d);
    if (!d) return linattn__fail_memory("diagnostics");
    d->options = read;
    d->parameters = objective->parameters;
    linattn_objective_options own = objective->options;
    own.threads = read.threads;
    own.progress = read.progress ? share_progress : NULL;
    own.user = d;
    status = linattn__objective_clone_with(&d->objective, objective, &own);
    if (status != LINATTN_OK) {
        linattn__release(d);
        return status;
    }
    *out = d;
    return LINATTN_OK;
}

void linattn_diagnostics_destroy(linattn_diagnostics *diagnostics) {
    if (!diagnostics) return;
    for (size_t i = 0; diagnostics->clones && i < diagnostics->workers; i++) linattn_objective_destroy(diagnostics->clones[i]);
    linattn__release(diagnostics->clones);
    linattn__pool_destroy(diagnostics->pool);
    linattn_objective_destroy(diagnostics->objective);
    linattn__release(diagnostics);
}

size_t linattn_diagnostics_parameter_count(const linattn_diagnostics *diagnostics) {
    return diagnostics ? diagnostics->parameters : 0;
}

int linattn_diagnostics_hvp_kind(const linattn_diagnostics *diagnostics) {
    return linattn_objective_hvp_kind(diagnostics ? diagnostics->objective : NULL);
}

int linattn__diagnostics_check(const linattn_diagnostics *d, const double *theta) {
    if (!d) return linattn__fail_null("diagnostics");
    if (!theta) return linattn__fail_null("theta");
    if (d->busy) return linattn__fail(LINATTN_EINVAL, "diagnostics is in a measurement; callbacks cannot use it");
    return linattn__check_finite("theta", theta, d->parameters);
}

int linattn__diagnostics_progress(linattn_diagnostics *d, double fraction) {
    if (!d->options.progress) return LINATTN_OK;
    const unsigned failures = linattn__failures();
    return linattn__callback_status("progress", d->options.progress(fraction, d->options.user), failures);
}

void linattn__diagnostics_expect(linattn_diagnostics *d, double done, double share) {
    d->done = done;
    d->share = share;
}
