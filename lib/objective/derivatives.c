/* The gradient against central differences of the value. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "objective/objective.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const linattn__struct report_type = {"linattn_derivative_report", sizeof(linattn_derivative_report),
                                            offsetof(linattn_derivative_report, kinks), NULL};

/* (f(theta + h e_i) - f(theta - h e_i)) / (2 h), the h used being what rounding made of it. */
static int difference(linattn_objective *objective, uint64_t draw, double *theta, size_t i, double h, double *out, double *used) {
    const double centre = theta[i], above = centre + h, below = centre - h;
    double high, low;
    if (!(above > below))
        return linattn__fail(LINATTN_EDEGENERATE, "step is too small: theta[%zu] +- h are the same number; allowed: about 1e-5", i);
    theta[i] = above;
    int status = linattn_objective_value(objective, draw, theta, &high);
    theta[i] = below;
    if (status == LINATTN_OK) status = linattn_objective_value(objective, draw, theta, &low);
    theta[i] = centre;
    if (status != LINATTN_OK) return status;
    *out = (high - low) / (above - below);
    *used = (above - below) / 2;
    return LINATTN_OK;
}

static int compare(linattn_objective *objective, uint64_t draw, double *theta, const double *gradient, double step,
                   linattn_derivative_report *report) {
    const size_t p = objective->parameters;
    double largest = 0, error = -1;
    for (size_t i = 0; i < p; i++) largest = fmax(largest, fabs(gradient[i]));
    for (size_t i = 0; i < p; i++) {
        double numeric = 0, used = 0;
        int status = linattn__objective_progress(objective, (double)i / (double)p);
        if (status == LINATTN_OK) status = difference(objective, draw, theta, i, step * fmax(1, fabs(theta[i])), &numeric, &used);
        if (status != LINATTN_OK) return status;
        if (fabs(gradient[i] - numeric) <= error) continue;
        error = fabs(gradient[i] - numeric);
        report->worst = i;
        report->analytic = gradient[i];
        report->difference = numeric;
        report->step = used;
    }
    report->gradient_error = largest > 0 ? error / largest : error;
    return LINATTN_OK;
}

int linattn_objective_check_derivatives(linattn_objective *objective, uint64_t draw, const double *theta, double step,
                                        linattn_derivative_report *out) {
    if (!objective) return linattn__fail_null("objective");
    if (!theta) return linattn__fail_null("theta");
    int status = linattn__result_check(&report_type, out);
    if (status != LINATTN_OK) return status;
    if (!(step > 0 && step <= 1)) return linattn__fail_real("step", step, "above 0, at most 1");
    const size_t p = objective->parameters;
    double *copy = linattn__allocate(p, 2 * sizeof *copy);
    if (!copy) return linattn__fail_memory("the derivative check");
    double *gradient = copy + p;
    memcpy(copy, theta, p * sizeof *copy);
    linattn_derivative_report report = {0};
    status = linattn_objective_gradient(objective, draw, copy, NULL, gradient);
    if (status == LINATTN_OK) status = compare(objective, draw, copy, gradient, step, &report);
    if (status == LINATTN_OK && objective->class->count_kinks) {
        objective->busy = 1;
        status = objective->class->count_kinks(objective, draw, theta, &report.kinks);
        objective->busy = 0;
    }
    if (status == LINATTN_OK) linattn__result_write(&report_type, out, &report);
    linattn__release(copy);
    return status;
}
