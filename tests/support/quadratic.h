/* quadratic.h: f(theta; draw) = theta . A theta / 2 + b(draw) . theta as a callback objective, whose every derivative is known. */
#ifndef LINATTN_TESTS_QUADRATIC_H
#define LINATTN_TESTS_QUADRATIC_H

#include "support/suite.h"

typedef struct quadratic {
    size_t p;
    const double *a;                         /* (p, p), symmetric */
    void (*slope)(uint64_t draw, double *b); /* b (p); NULL: 0 */
    uint64_t bad_draw;                       /* its gradient returns `status` or holds NaN; UINT64_MAX: none */
    int status;                              /* 0: NaN */
} quadratic;

static inline int quadratic_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    const quadratic *f = user;
    if (draw == f->bad_draw && f->status) return f->status;
    *value = 0;
    for (size_t i = 0; i < f->p; i++) gradient[i] = 0;
    if (f->slope) f->slope(draw, gradient);
    for (size_t i = 0; i < f->p; i++) {
        double product = 0;
        for (size_t j = 0; j < f->p; j++) product += f->a[i * f->p + j] * theta[j];
        *value += theta[i] * (product / 2 + gradient[i]);
        gradient[i] += product;
    }
    if (draw == f->bad_draw) gradient[f->p - 1] = 0.0 / (*value - *value); /* NaN */
    return 0;
}

static inline int quadratic_hvp(uint64_t draw, const double *theta, const double *directions, size_t count, double *out,
                                void *user) {
    const quadratic *f = user;
    (void)draw, (void)theta;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < f->p; i++) {
            out[k * f->p + i] = 0;
            for (size_t j = 0; j < f->p; j++) out[k * f->p + i] += f->a[i * f->p + j] * directions[k * f->p + j];
        }
    return 0;
}

static inline quadratic quadratic_of(size_t p, const double *a) { return (quadratic){.p = p, .a = a, .bad_draw = UINT64_MAX}; }

/* hvp: enum linattn_hvp_kind. */
static inline linattn_objective *quadratic_objective(quadratic *f, int hvp) {
    linattn_objective_callbacks callbacks;
    linattn_objective *objective;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = f->p;
    callbacks.gradient = quadratic_gradient;
    if (hvp == LINATTN_HVP_EXACT) callbacks.hvp = quadratic_hvp;
    if (hvp == LINATTN_HVP_DIFFERENCES) callbacks.difference_step = 1e-5;
    ck_assert_ok(linattn_objective_create_callbacks(&objective, &callbacks, NULL, f));
    return objective;
}

/* A diagnostics handle; the objective itself is not needed any more. */
static inline linattn_diagnostics *quadratic_diagnostics(quadratic *f, int hvp) {
    linattn_objective *objective = quadratic_objective(f, hvp);
    linattn_diagnostics *diagnostics;
    ck_assert_ok(linattn_diagnostics_create(&diagnostics, objective, NULL));
    linattn_objective_destroy(objective);
    return diagnostics;
}

#endif
