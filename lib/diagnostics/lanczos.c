/* lanczos.c: extreme eigenvalues of A = D^(-1/2) H D^(-1/2) from products A v, and Lanczos' quadrature.
 *
 * From a unit vector v_1: w = A v_j - beta_(j-1) v_(j-1), alpha_j = w . v_j, w -= alpha_j v_j, then w is made orthogonal to all v
 * so far, twice over, for rounding destroys that first where eigenvalues have converged; beta_j = |w|, v_(j+1) = w / beta_j. The
 * eigenpairs (theta_i, s_i) of the tridiagonal matrix T_k of alpha and beta approximate those of A, x_i = V s_i with the residual
 * |A x_i - theta_i x_i| = beta_k |s_i[k]|; theta_i with weights s_i[1]^2 is Gauss' quadrature of the density that v_1 sees (Golub
 * & Meurant; Ghorbani, Krishnan, Xiao 2019 for Hessians). */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/norm.h"
#include "diagnostics/diagnostics.h"
#include "random/random.h"
#include "spectrum/spectrum.h"
#include <linattn/number.h>

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 4096 };

static const linattn_lanczos_options defaults = {.struct_size = sizeof(linattn_lanczos_options), .steps = 200, .tolerance = 1e-8};
static const linattn__struct options_type = {"linattn_lanczos_options", sizeof defaults, sizeof defaults, &defaults};
static const linattn__struct extremes_type = {"linattn_extremes", sizeof(linattn_extremes), sizeof(linattn_extremes), NULL};

int linattn_lanczos_options_init(linattn_lanczos_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

static int read_options(linattn_lanczos_options *read, const linattn_lanczos_options *options, size_t p) {
    const int status = linattn__options_read(&options_type, read, options ? options : &defaults);
    if (status != LINATTN_OK) return status;
    if (read->steps < 1 || read->steps > MOST_STEPS) return linattn__fail_count("steps", read->steps, "1 to 4096");
    if (!(read->tolerance >= 0 && read->tolerance <= 1)) return linattn__fail_real("tolerance", read->tolerance, "0 to 1");
    return read->preconditioner ? linattn__preconditioner_check("preconditioner", read->preconditioner, p) : LINATTN_OK;
}

typedef struct {
    linattn_diagnostics *d;
    uint64_t draw;
    const double *theta;
    const linattn_lanczos_options *options;
    size_t p, most;       /* vectors at most */
    size_t taken;         /* k */
    double *basis;        /* (most, p): v_1, v_2, ... */
    double *scale;        /* (p): D^(-1/2) */
    double *direction;    /* (p) */
    double *w;            /* (p) */
    double *alpha, *beta; /* (most) each */
    double size;          /* the largest alpha or beta so far: of the order of |A| */
    double *small;        /* (most, most): T_k */
    double *ritz;         /* (most): theta */
    double *ritz_vectors; /* (most, most): s_i in rows */
} lanczos;

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* w -= (w . v) v for every v so far, twice. */
static void orthogonalise(lanczos *l) {
    for (int turn = 0; turn < 2; turn++)
        for (size_t j = 0; j < l->taken; j++) {
            const double *v = l->basis + j * l->p, part = dot(l->w, v, l->p);
            for (size_t i = 0; i < l->p; i++) l->w[i] -= part * v[i];
        }
}

/* v_1: standard normals, made a unit vector. */
static void start(lanczos *l) {
    linattn__stream stream;
    linattn__stream_open(&stream, l->options->seed, 0, LINATTN__PURPOSE_DIAGNOSTICS);
    linattn__random_normals(&stream, LINATTN__KIND_START, 0, 0, l->p, l->basis);
    const double length = sqrt(dot(l->basis, l->basis, l->p));
    for (size_t i = 0; i < l->p; i++) l->basis[i] /= length;
    for (size_t i = 0; i < l->p; i++) l->scale[i] = l->options->preconditioner ? 1 / sqrt(l->options->preconditioner[i]) : 1;
}

/* w = A v_k, then alpha_k, beta_k. */
static int multiply(lanczos *l) {
    const double *v = l->basis + l->taken * l->p;
    for (size_t i = 0; i < l->p; i++) l->direction[i] = l->scale[i] * v[i];
    linattn__diagnostics_expect(l->d, (double)l->taken / (double)l->most, 1 / (double)l->most);
    const int status = linattn_objective_hvp(l->d->objective, l->draw, l->theta, l->direction, 1, l->w);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < l->p; i++) l->w[i] *= l->scale[i];
    l->alpha[l->taken] = dot(l->w, v, l->p);
    l->taken++;
    orthogonalise(l); /* takes alpha_k v_k and beta_(k-1) v_(k-1) away too */
    l->beta[l->taken - 1] = linattn__norm_value(linattn__norm_of(l->w, l->p));
    l->size = fmax(l->size, fmax(fabs(l->alpha[l->taken - 1]), l->beta[l->taken - 1]));
    return linattn__check_finite("the product's norm", &l->beta[l->taken - 1], 1);
}

/* Eigenvalues and vectors of T_k, and the two ends' errors. */
static int solve(lanczos *l, linattn_extremes *result) {
    const size_t k = l->taken;
    const double beta = l->beta[k - 1];
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    memset(l->small, 0, k * k * sizeof *l->small);
    for (size_t i = 0; i < k; i++) {
        l->small[i * k + i] = l->alpha[i];
        if (i + 1 < k) l->small[i * k + i + 1] = l->small[(i + 1) * k + i] = l->beta[i];
    }
    const int status = linattn__spectrum_of(l->small, k, l->ritz, l->ritz_vectors, &spectrum);
    if (status != LINATTN_OK) return status;
    *result = (linattn_extremes){.steps = k,
                                 .smallest = l->ritz[0],
                                 .largest = l->ritz[k - 1],
                                 .spectral_norm = spectrum.spectral_norm,
                                 .smallest_error = beta * fabs(l->ritz_vectors[k - 1]),
                                 .largest_error = beta * fabs(l->ritz_vectors[k * k - 1])};
    return LINATTN_OK;
}

static int converged(const linattn_extremes *result, double tolerance) {
    return fmax(result->smallest_error, result->largest_error) <= tolerance * result->spectral_norm;
}

static int not_converged(const linattn_extremes *result) {
    char smallest[LINATTN_NUMBER_SIZE], largest[LINATTN_NUMBER_SIZE];
    linattn_number_write(result->smallest_error, smallest);
    linattn_number_write(result->largest_error, largest);
    return linattn__fail(LINATTN_ENOTCONVERGED, "steps is %zu: errors of the extreme eigenvalues are still %s and %s",
                         result->steps, smallest, largest);
}

/* Solving T_k costs k^3: it is done when k has grown by a quarter, and at the end. The end: everything there is has been met (w is
 * rounding, or k = p), or the steps are used up. */
static int iterate(lanczos *l, linattn_extremes *result) {
    const double tolerance = l->options->tolerance;
    size_t next = 8;
    for (;;) {
        int status = multiply(l);
        if (status != LINATTN_OK) return status;
        const size_t k = l->taken;
        const int complete = k == l->p || l->beta[k - 1] <= (double)l->p * DBL_EPSILON * l->size, last = complete || k == l->most;
        if (last || (tolerance > 0 && k >= next)) {
            status = solve(l, result);
            if (status != LINATTN_OK || complete || (tolerance > 0 && converged(result, tolerance))) return status;
            if (last) return tolerance > 0 ? not_converged(result) : LINATTN_OK;
            next = k + k / 4 + 1;
        }
        for (size_t i = 0; i < l->p; i++) l->basis[k * l->p + i] = l->w[i] / l->beta[k - 1];
    }
}

static int open_lanczos(lanczos *l) {
    size_t vectors;
    if (!linattn__multiply_sizes(l->most + 3, l->p, &vectors)) return linattn__fail_memory("Lanczos' vectors");
    l->basis = linattn__allocate(vectors, sizeof *l->basis);
    l->alpha = linattn__allocate(2 * l->most + 3, l->most * sizeof *l->alpha);
    if (!l->basis || !l->alpha) return linattn__fail_memory("Lanczos' vectors");
    l->scale = l->basis + l->most * l->p;
    l->direction = l->scale + l->p;
    l->w = l->direction + l->p;
    l->beta = l->alpha + l->most;
    l->ritz = l->beta + l->most;
    l->small = l->ritz + l->most;
    l->ritz_vectors = l->small + l->most * l->most;
    return LINATTN_OK;
}

int linattn_diagnostics_extremes(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                 const linattn_lanczos_options *options, double *nodes, double *weights, linattn_extremes *out) {
    linattn_lanczos_options read;
    int status = linattn__diagnostics_check(diagnostics, theta);
    if (status == LINATTN_OK) status = read_options(&read, options, diagnostics->parameters);
    if (status == LINATTN_OK) status = linattn__result_check(&extremes_type, out);
    if (status != LINATTN_OK) return status;
    const size_t p = diagnostics->parameters;
    lanczos l = {.d = diagnostics, .draw = draw, .theta = theta, .options = &read, .p = p, .most = read.steps < p ? read.steps : p};
    linattn_extremes result = {0};
    diagnostics->busy = 1;
    status = open_lanczos(&l);
    if (status == LINATTN_OK) {
        start(&l);
        status = iterate(&l, &result);
    }
    diagnostics->busy = 0;
    if (status == LINATTN_OK) {
        const size_t k = result.steps;
        for (size_t i = 0; nodes && i < k; i++) nodes[i] = l.ritz[i];
        for (size_t i = 0; weights && i < k; i++) weights[i] = l.ritz_vectors[i * k] * l.ritz_vectors[i * k];
        linattn__result_write(&extremes_type, out, &result);
    }
    linattn__release(l.basis);
    linattn__release(l.alpha);
    return status;
}
