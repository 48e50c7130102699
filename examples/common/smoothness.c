#include "smoothness.h"

#include "complain.h"
#include <math.h>
#include <stdlib.h>

enum { LANCZOS_STEPS = 1000 };
static const double lanczos_tolerance = 1e-6;

/* Judges a run; private to the run's thread. */
typedef struct judge {
    const smoothness_plan *plan;
    smoothness_curve *curve;
    linattn_objective *objective;
    linattn_diagnostics *diagnostics;
    double *gradient; /* (p) */
    size_t p;
} judge;

static int gradient_norm(judge *j, const double *theta, double *norm) {
    const int status = linattn_objective_gradient(j->objective, 0, theta, NULL, j->gradient);
    if (status != LINATTN_OK) return status;
    *norm = 0;
    for (size_t i = 0; i < j->p; i++) *norm = hypot(*norm, j->gradient[i]); /* no overflow before the norm itself */
    return LINATTN_OK;
}

static int along_step(judge *j, const path_point *at, smoothness_point *point) {
    const double whole = 1;
    int status = linattn_diagnostics_directional_smoothness(j->diagnostics, 0, at->theta, at->next, &point->smoothness);
    if (status == LINATTN_OK)
        status = linattn_diagnostics_gradient_ratios(j->diagnostics, 0, at->theta, at->next, &whole, 1, &point->gradient_ratio);
    return status == LINATTN_EDEGENERATE ? LINATTN_OK : status; /* a step of zero has no direction */
}

static int spectral_norm(judge *j, const path_point *at, smoothness_point *point) {
    if (j->plan->spectral_stride == 0 || at->step % j->plan->spectral_stride != 0) return LINATTN_OK;
    linattn_lanczos_options options;
    linattn_extremes extremes = {.struct_size = sizeof extremes};
    int status = linattn_lanczos_options_init(&options, sizeof options);
    options.steps = LANCZOS_STEPS;
    options.tolerance = lanczos_tolerance;
    if (status == LINATTN_OK) status = linattn_diagnostics_extremes(j->diagnostics, 0, at->theta, &options, NULL, NULL, &extremes);
    if (status == LINATTN_OK) point->spectral_norm = extremes.spectral_norm;
    return status;
}

static int measure(const path_point *at, void *user) {
    judge *j = user;
    smoothness_point *point = &j->curve->points[j->curve->count];
    *point = (smoothness_point){at->step, NAN, NAN, NAN, NAN};
    int status = gradient_norm(j, at->theta, &point->gradient_norm);
    if (status == LINATTN_OK) status = along_step(j, at, point);
    if (status == LINATTN_OK) status = spectral_norm(j, at, point);
    if (status == LINATTN_OK) j->curve->count++;
    return status;
}

static int make(judge *j) {
    const experiment *e = j->plan->path.experiment;
    linattn_diagnostics_options options;
    j->p = linattn_model_parameter_count(e->model);
    j->curve->points = calloc(j->plan->path.stop_count, sizeof *j->curve->points);
    j->gradient = calloc(j->p, sizeof *j->gradient);
    if (j->curve->points == NULL || j->gradient == NULL) return LINATTN_ENOMEM;
    int status = linattn_diagnostics_options_init(&options, sizeof options);
    options.progress = path_go_on;
    if (status == LINATTN_OK) status = linattn_objective_create_fixed(&j->objective, e->model, j->plan->batch, NULL);
    if (status == LINATTN_OK) status = linattn_diagnostics_create(&j->diagnostics, j->objective, &options);
    return status;
}

int smoothness_run(const smoothness_plan *plan, size_t optimizer, uint64_t seed, smoothness_curve *curve) {
    *curve = (smoothness_curve){0};
    judge j = {.plan = plan, .curve = curve};
    int status = make(&j);
    if (status != LINATTN_OK)
        status = complain(EXIT_FAILED, "%s", status == LINATTN_ENOMEM ? "no memory for a run" : linattn_last_message());
    else
        status = path_run(&plan->path, optimizer, seed, measure, &j, &curve->end);
    linattn_diagnostics_destroy(j.diagnostics);
    linattn_objective_destroy(j.objective);
    free(j.gradient);
    return status;
}

void smoothness_forget(smoothness_curve *curve) {
    free(curve->points);
    *curve = (smoothness_curve){0};
}
