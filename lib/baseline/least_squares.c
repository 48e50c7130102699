/* least_squares.c: least squares and ridge regression.
 *
 * yhat = x_query . G v, v = argmin |X G v - y|^2 + lambda |v|^2. Ridge regression is least squares with d rows more, sqrt(lambda)
 * I, whose responses are 0: so no square of X's condition number is ever met. */
#include "baseline/baseline.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/lapack.h"

#include <math.h>
#include <string.h>

static int check(const linattn_baseline_options *o, size_t d) {
    if (!(o->lambda >= 0 && o->lambda < INFINITY)) return linattn__fail_real("lambda", o->lambda, "finite numbers from 0 on");
    return o->task_factor ? linattn__check_finite("task_factor", o->task_factor, d * d) : LINATTN_OK;
}

/* Rows of the system: the context's, and with lambda > 0 one for each weight. */
static size_t rows_of(const linattn__baseline_run *run) {
    return run->prompts->context + (run->options->lambda > 0 ? run->prompts->dim : 0);
}

/* By singular values: about 4 times longer side times shorter side squared. */
static double prompt_work(size_t rows, size_t d) { return 4.0 * (double)rows * (double)d * (double)(rows > d ? d : rows); }

static int size(const linattn__baseline_run *run, size_t *space, double *work) {
    const size_t d = run->prompts->dim, rows = rows_of(run), longer = rows > d ? rows : d;
    if (!linattn__multiply_sizes(d, rows, space) || *space > SIZE_MAX - longer - 2 * d)
        return linattn__fail(LINATTN_EOVERFLOW, "a system of %zu by %zu does not fit in the address space", rows, d);
    *space += longer + 2 * d; /* A, b, and two rows of covariates */
    *work = prompt_work(rows, d);
    return LINATTN_OK;
}

/* out (d) = G^T x, x being row `token` of prompt b; row: (d), scratch. Returns the row's response. */
static double features(const linattn__baseline_run *run, size_t b, size_t token, double *row, double *out) {
    const linattn__prompts *p = run->prompts;
    const size_t d = p->dim, block = b / LINATTN__BLOCK, lane = b % LINATTN__BLOCK;
    const double *from = p->tokens + (block * (p->context + 1) + token) * (d + 1) * LINATTN__BLOCK + lane;
    const double *G = run->options->task_factor;
    for (size_t j = 0; j < d; j++) row[j] = from[j * LINATTN__BLOCK];
    if (G) memset(out, 0, d * sizeof *out);
    for (size_t i = 0; G && i < d; i++)
        for (size_t j = 0; j < d; j++) out[j] += G[i * d + j] * row[i];
    if (!G) memcpy(out, row, d * sizeof *out);
    return from[d * LINATTN__BLOCK];
}

static int predict(linattn__baseline_run *run, size_t b, double *out) {
    const size_t n = run->prompts->context, d = run->prompts->dim, rows = rows_of(run), longer = rows > d ? rows : d;
    double *A = run->space, *solution = A + d * rows, *row = solution + longer, *x = row + d;
    size_t rank = 0;
    memset(A, 0, d * rows * sizeof *A);
    memset(solution, 0, longer * sizeof *solution);
    for (size_t i = 0; i < n; i++) {
        solution[i] = features(run, b, i, row, x);
        for (size_t j = 0; j < d; j++) A[j * rows + i] = x[j];
    }
    for (size_t j = 0; rows > n && j < d; j++) A[j * rows + n + j] = sqrt(run->options->lambda);
    /* LAPACK may not come back from what is not finite. */
    int status = linattn__check_finite("A", A, d * rows);
    if (status == LINATTN_OK) status = linattn__check_finite("y", solution, n);
    if (status == LINATTN_ENONFINITE)
        return linattn__fail(status,
                             "prompt %zu has a covariate, times task_factor, or a response that is not finite; allowed: finite "
                             "numbers",
                             b);
    status = linattn__least_squares(A, rows, d, solution, 1, &rank);
    if (status == LINATTN_ENOTCONVERGED) linattn__fail(status, "no least squares for prompt %zu: LAPACK's dgelsd failed", b);
    if (status != LINATTN_OK) return status;
    features(run, b, n, row, x);
    *out = 0;
    for (size_t j = 0; j < d; j++) *out += solution[j] * x[j];
    return linattn__baseline_progress(run, prompt_work(rows, d));
}

const linattn__baseline linattn__baseline_least_squares = {1, check, size, predict};
