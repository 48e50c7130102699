/* problem.h: a small noisy least-squares problem as a callback objective, for tests of whatever moves or measures theta. */
#ifndef LINATTN_TESTS_PROBLEM_H
#define LINATTN_TESTS_PROBLEM_H

#include "support/suite.h"
#include <math.h>

/* f(theta; t) = sum over i of (i + 1) (theta_i - target(t, i))^2 / 2. The targets of a draw are scattered, the same on every run.
 */
typedef struct problem {
    size_t p;
    uint64_t calls;      /* of the gradient */
    uint64_t bad_draw;   /* this draw does what `status`, `bad_value` and `bad_gradient` say; UINT64_MAX: none */
    int status;          /* returned */
    double bad_value;    /* added to the value */
    double bad_gradient; /* added to gradient[p - 1] */
    void (*hook)(uint64_t draw, void *user); /* called first, may be NULL */
    void *user;
} problem;

static inline double problem_target(uint64_t draw, size_t i) { return sin(12.9898 * (double)(draw % 1009) + 78.233 * (double)i); }

static inline int problem_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    problem *f = user;
    f->calls++;
    if (f->hook) f->hook(draw, f->user);
    const int bad = draw == f->bad_draw;
    if (bad && f->status) return f->status;
    double sum = bad ? f->bad_value : 0;
    for (size_t i = 0; i < f->p; i++) {
        const double residual = theta[i] - problem_target(draw, i), weight = (double)(i + 1);
        sum += weight * residual * residual / 2;
        gradient[i] = weight * residual;
    }
    if (bad) gradient[f->p - 1] += f->bad_gradient;
    *value = sum;
    return 0;
}

static inline problem problem_of(size_t p) { return (problem){.p = p, .bad_draw = UINT64_MAX}; }

static inline linattn_objective *problem_objective(problem *f) {
    linattn_objective_callbacks callbacks;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = f->p;
    callbacks.gradient = problem_gradient;
    linattn_objective *objective;
    ck_assert_ok(linattn_objective_create_callbacks(&objective, &callbacks, NULL, f));
    return objective;
}

#endif
