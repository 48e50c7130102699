/* diagnostics.h (internal): the handle, and what all measurements begin with.
 *
 * A measurement validates, opens the call, works in memory of its own, and writes the caller's outputs last. */
#ifndef LINATTN_DIAGNOSTICS_DIAGNOSTICS_H
#define LINATTN_DIAGNOSTICS_DIAGNOSTICS_H

#include "common/options.h"
#include "common/pool.h"
#include "objective/objective.h"
#include <linattn/diagnostics.h>

struct linattn_diagnostics {
    linattn_diagnostics_options options;
    size_t parameters;            /* p */
    linattn_objective *objective; /* a clone with all threads: second derivatives, and what is done one by one */
    double done, share;           /* progress: what came before, and what the objective's call is of the whole */
    int busy;                     /* 1 in a measurement: callbacks cannot use the handle */

    /* Made by the first gradient error: gradients of several draws at a time. */
    size_t workers;             /* 1 where clones cannot be used at once */
    linattn_objective **clones; /* (workers), of one thread each */
    linattn__pool *pool;
};

/* The beginning of every measurement: handle there and not in one, theta (p) there and finite. */
int linattn__diagnostics_check(const linattn_diagnostics *d, const double *theta);

/* Calls progress, if any, with fraction. */
int linattn__diagnostics_progress(linattn_diagnostics *d, double fraction);

/* The next call of d->objective is `share` of the measurement and begins at `done`. */
void linattn__diagnostics_expect(linattn_diagnostics *d, double done, double share);

/* Norms of `count` Gaussian vectors m + e of covariance C: |m + e|^2 = sum over i of (v_i . m + sqrt(lambda_i) z_i)^2, lambda and v
 * the eigenvalues and vectors of C and z standard normals, so that a number costs p normals and no product with a matrix.
 * covariance: (p, p), symmetric bit for bit, destroyed; mean: (p); squared: |.|^2 instead of |.|; out: (count). */
int linattn__surrogate(linattn_diagnostics *d, double *covariance, const double *mean, uint64_t seed, int squared, size_t count,
                       double *out);

#endif
