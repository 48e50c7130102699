/* gradient_descent.c: steps of gradient descent on a prompt's own loss, from second moments alone.
 *
 * w <- w + rate_t M (C_xy - C_xx w) / n, with C_xx = X^T X and C_xy = X^T y. */
#include "baseline/baseline.h"
#include "common/fail.h"

static int check(const linattn_baseline_options *o, size_t d) {
    if (o->steps < 1 || o->steps > LINATTN_MAX_BASELINE_STEPS) return linattn__fail_count("steps", o->steps, "1 to 1048576");
    if (!o->rates) return linattn__fail_null("rates");
    const int status = linattn__check_finite("rates", o->rates, o->steps);
    if (status != LINATTN_OK || !o->preconditioner) return status;
    return linattn__check_finite("preconditioner", o->preconditioner, d * d);
}

/* Multiply-adds of a step. */
static double step_work(const linattn__baseline_run *run) {
    const double d = (double)run->prompts->dim;
    return (run->options->preconditioner ? 2 : 1) * d * d;
}

static int size(const linattn__baseline_run *run, size_t *space, double *work) {
    const size_t d = run->prompts->dim;
    *space = (d + 3) * d; /* C_xx, C_xy, w, residual */
    *work = step_work(run) * (double)run->options->steps;
    return LINATTN_OK;
}

/* C_xx (d, d), C_xy (d), both over n. */
static void load(const linattn__prompts *p, size_t b, double *C, double *c) {
    const size_t d = p->dim, entries = (d + 1) * (d + 2) / 2;
    const double *from = p->moments + b / LINATTN__BLOCK * entries * LINATTN__BLOCK + b % LINATTN__BLOCK;
    const double n = (double)p->context;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++, from += LINATTN__BLOCK) C[i * d + j] = C[j * d + i] = *from / n;
    for (size_t j = 0; j < d; j++, from += LINATTN__BLOCK) c[j] = *from / n;
}

/* w += rate M r, or rate r. */
static void move(const double *M, size_t d, double rate, const double *r, double *w) {
    for (size_t i = 0; i < d; i++) {
        double direction = M ? 0 : r[i];
        for (size_t j = 0; M && j < d; j++) direction += M[i * d + j] * r[j];
        w[i] += rate * direction;
    }
}

static int predict(linattn__baseline_run *run, size_t b, double *out) {
    const linattn_baseline_options *o = run->options;
    const linattn__prompts *p = run->prompts;
    const size_t d = p->dim;
    double *C = run->space, *c = C + d * d, *w = c + d, *r = w + d;
    int status = LINATTN_OK;
    load(p, b, C, c);
    for (size_t i = 0; i < d; i++) w[i] = 0;
    for (size_t t = 0; status == LINATTN_OK && t < o->steps; t++) {
        for (size_t i = 0; i < d; i++) {
            r[i] = c[i];
            for (size_t j = 0; j < d; j++) r[i] -= C[i * d + j] * w[j];
        }
        move(o->preconditioner, d, o->rates[t], r, w);
        status = linattn__baseline_progress(run, step_work(run));
    }
    const double *query = p->queries + b / LINATTN__BLOCK * (d + 1) * LINATTN__BLOCK + b % LINATTN__BLOCK;
    *out = 0;
    for (size_t j = 0; j < d; j++) *out += w[j] * query[j * LINATTN__BLOCK];
    return status;
}

const linattn__baseline linattn__baseline_gradient_descent = {0, check, size, predict};
