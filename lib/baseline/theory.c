/* theory.c: the best linear transformer of one layer.
 *
 * In block form it predicts x_query^T W c / n with W = -Q_x and c = X^T y. With covariates x = F x0, x0 isotropic, E x0 x0^T = m2
 * I, E x0 x0^T A x0 x0^T = rho m2^2 (2 A + tr(A) I) for symmetric A, weights of covariance Omega, noise of variance sigma^2 on y,
 * and in x0's coordinates W0 = F^T W F and Omega0 = F^T Omega F, the mean squared error is least where
 *     m2 W0 (a Omega0 + b I) = Omega0,    a = (n - 1 + 2 rho) / n,    b = (rho tr(Omega0) + sigma^2 / m2) / n,
 * so W0 has Omega0's eigenvectors and the eigenvalues omega / (m2 (a omega + b)), and the error is
 *     sum over omega of m2 omega (1 - omega / (a omega + b)).
 * Written like this no product of scales is formed that the answer does not have.
 * Derivation and special cases: docs/numerics.md, "Baselines and theory". */
#include "baseline/theory.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/lapack.h"
#include "sampler/prompts.h"

#include <math.h>
#include <string.h>

/* Of x0, r = |x0|^2: m2 = E r / d, and rho = m4 / m2^2 with m4 = E r^2 / (d (d + 2)), which has no scale. */
static int isotropic_moments(const linattn_sampler_options *o, double *m2, double *rho) {
    const double d = (double)o->dim;
    switch (o->covariates) {
    case LINATTN_COVARIATES_NORMAL:
    case LINATTN_COVARIATES_ROTATED:
        *m2 = *rho = 1;
        return LINATTN_OK;
    case LINATTN_COVARIATES_SPHERE:
        *m2 = 1 / d;
        *rho = d / (d + 2);
        return LINATTN_OK;
    case LINATTN_COVARIATES_GAMMA:
        *m2 = o->gamma_shape * (o->gamma_scale / d);
        *rho = (1 + 1 / o->gamma_shape) * d / (d + 2);
        return LINATTN_OK;
    default:
        return linattn__fail(LINATTN_EUNSUPPORTED,
                             "the sampler's covariates are %d; allowed: 0 (normal), 1 (sphere), 2 (gamma), 3 (rotated)",
                             (int)o->covariates);
    }
}

/* out (d, d) = a^T b. */
static void transposed_product(const double *a, const double *b, size_t d, double *out) {
    memset(out, 0, d * d * sizeof *out);
    for (size_t t = 0; t < d; t++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) out[i * d + j] += a[t * d + i] * b[t * d + j];
}

static void set_identity(double *out, size_t d) {
    memset(out, 0, d * d * sizeof *out);
    for (size_t i = 0; i < d; i++) out[i * d + i] = 1;
}

/* Omega0 = scale (G^T F)^T (G^T F), symmetric bit for bit, in units of 4^(returned), so that no square leaves the range of doubles;
 * room: (d, d). */
static int task_covariance(const linattn_sampler_options *o, double *Omega0, double *room) {
    const size_t d = o->dim;
    const double scale = o->task == LINATTN_TASK_SPARSE_LINEAR ? (double)o->sparsity / (double)d : 1;
    double largest = 0;
    int exponent = 0;
    if (o->covariate_factor)
        memcpy(Omega0, o->covariate_factor, d * d * sizeof *Omega0);
    else
        set_identity(Omega0, d);
    if (o->task_factor)
        transposed_product(o->task_factor, Omega0, d, room);
    else
        memcpy(room, Omega0, d * d * sizeof *room);
    for (size_t i = 0; i < d * d; i++) largest = fmax(largest, fabs(room[i]));
    if (isfinite(largest)) frexp(largest, &exponent);
    for (size_t i = 0; i < d * d; i++) room[i] = ldexp(room[i], -exponent);
    transposed_product(room, room, d, Omega0);
    for (size_t i = 0; i < d * d; i++) Omega0[i] *= scale;
    return exponent;
}

/* W (d, d) from W0 in the same place: F^T Y = W0, then F^T W^T = Y^T. room: (d, d), twice. */
static int from_coordinates(const double *F, size_t d, double *W, double *room) {
    double *matrix = room, *other = room + d * d;
    size_t rank = 0;
    for (int pass = 0; pass < 2; pass++) {
        memcpy(matrix, F, d * d * sizeof *matrix);         /* F by rows is F^T by columns */
        int status = linattn__check_finite("Q", W, d * d); /* LAPACK may not come back from what is not */
        if (status == LINATTN_OK) status = linattn__least_squares(matrix, d, d, W, d, &rank);
        if (status != LINATTN_OK) return status;
        if (rank < d)
            return linattn__fail(LINATTN_EDEGENERATE,
                                 "covariate_factor has rank %zu of %zu: Q is not unique; allowed: an invertible one", rank, d);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) other[i * d + j] = W[j * d + i];
        memcpy(W, other, d * d * sizeof *W);
    }
    return LINATTN_OK;
}

/* room: (4 d + 1, d). */
static int solve(const linattn_sampler_options *o, double m2, double rho, double *room, double *Q, double *loss) {
    const size_t d = o->dim;
    const double n = (double)o->context, sigma = o->noise_std;
    double *Omega0 = room, *vectors = room + d * d, *spare = vectors + d * d, *omega = spare + 2 * d * d, trace = 0;
    int32_t driver;
    const int exponent = task_covariance(o, Omega0, spare);
    int status = linattn__check_finite("the weights' covariance", Omega0, d * d);
    if (status == LINATTN_OK) status = linattn__symmetric_eigen(Omega0, d, omega, vectors, &driver);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < d; i++) trace += omega[i] = omega[i] > 0 ? omega[i] : 0; /* below 0 only by rounding */
    const double a = (n - 1 + 2 * rho) / n, b = (rho * trace + ldexp(sigma, -exponent) / m2 * ldexp(sigma, -exponent)) / n;
    *loss = o->noisy_target ? sigma * sigma : 0;
    memset(Q, 0, d * d * sizeof *Q);
    for (size_t e = 0; e < d; e++) {
        const double share = omega[e] > 0 ? omega[e] / (a * omega[e] + b) : 0, w = share / m2, *v = vectors + e * d;
        *loss += ldexp(m2 * omega[e] * (1 - share), 2 * exponent);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) Q[i * d + j] -= w * v[i] * v[j];
    }
    if (o->covariate_factor) status = from_coordinates(o->covariate_factor, d, Q, spare);
    if (status == LINATTN_OK) status = linattn__check_finite("Q", Q, d * d);
    return status == LINATTN_OK ? linattn__check_finite("loss", loss, 1) : status;
}

int linattn__theory_one_layer(const linattn_sampler *sampler, double *Q, double *loss) {
    const linattn_sampler_options *o = linattn__sampler_get_options(sampler);
    double m2 = 0, rho = 0;
    if (linattn__sampler_is_custom(sampler))
        return linattn__fail(LINATTN_EUNSUPPORTED, "the sampler is a function of the caller's; allowed: one made of options");
    if (o->task != LINATTN_TASK_LINEAR && o->task != LINATTN_TASK_SPARSE_LINEAR)
        return linattn__fail(LINATTN_EUNSUPPORTED, "the sampler's task is %d; allowed: 0 (linear), 1 (sparse linear)",
                             (int)o->task);
    int status = isotropic_moments(o, &m2, &rho);
    if (status != LINATTN_OK) return status;
    double *room = linattn__allocate(4 * o->dim + 1, o->dim * sizeof *room);
    if (!room) return linattn__fail_memory("the theory's solution");
    status = solve(o, m2, rho, room, Q, loss);
    linattn__release(room);
    return status;
}

int linattn_theory_one_layer(const linattn_sampler *sampler, double *Q, double *loss) {
    if (!sampler) return linattn__fail_null("sampler");
    const size_t d = linattn_sampler_dim(sampler);
    double *solution = linattn__allocate(d * d, sizeof *solution), error;
    if (!solution) return linattn__fail_memory("the theory's solution");
    const int status = linattn__theory_one_layer(sampler, solution, &error);
    if (status == LINATTN_OK && Q) memcpy(Q, solution, d * d * sizeof *Q);
    if (status == LINATTN_OK && loss) *loss = error;
    linattn__release(solution);
    return status;
}
