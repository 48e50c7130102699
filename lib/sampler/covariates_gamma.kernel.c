/* covariates_gamma.kernel.c: x = sqrt(g) u, u uniform on the unit sphere, g ~ Gamma(shape k, scale theta).
 *
 * With z normal and g' U^(1/k) the gamma variate of scale 1, x = z (sqrt(g'/|z|^2) U^(1/(2k)) sqrt(theta)): one root, one quotient.
 * For small k the power underflows to 0 and so does x; its true size is then below 1e-307. */
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/gamma_lanes.h"
#include <math.h>

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    const double k = options->gamma_shape, theta = options->gamma_scale;
    if (!(k > 0 && k < INFINITY)) return linattn__fail_real("gamma_shape", k, "finite numbers above 0");
    if (!(theta > 0 && theta < INFINITY)) return linattn__fail_real("gamma_scale", theta, "finite numbers above 0");
    linattn__gamma_open(&plan->radius, k);
    plan->radius_scale = vreal_sqrt(vreal_all(theta))[0];
    /* |x|^2 ~ Gamma(d/2, theta) is theta/2 times a chi-square of d degrees of freedom. */
    if (k == (double)plan->dim / 2) plan->gaussian_scale = vreal_sqrt(vreal_all(theta / 2))[0];
    return LINATTN_OK;
}

static void fill(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch) {
    const size_t d = plan->dim, tokens = span->groups * count;
    double *radii = scratch; /* (tokens, lanes) */
    const gamma_draw radius = {span, LINATTN__KIND_RADII, &plan->radius, 0};
    lanes_normals(span, LINATTN__KIND_COVARIATES, (uint64_t)first * d, count * d, x);
    lanes_gammas(&radius, first, count, radii);
    for (size_t t = 0; t < tokens; t++) {
        double *at = radii + t * LINATTN__LANES;
        vreal_store(at, vreal_sqrt(vreal_load(at) / lanes_square_norm(x + t * d * LINATTN__LANES, d)) * plan->radius_scale);
    }
    lanes_boost(&radius, LINATTN__KIND_RADII_BOOST, 0.5, first, count, radii);
    for (size_t t = 0; t < tokens; t++) {
        const vreal scale = vreal_load(radii + t * LINATTN__LANES);
        double *token = x + t * d * LINATTN__LANES;
        for (size_t j = 0; j < d; j++) vreal_store(token + j * LINATTN__LANES, vreal_load(token + j * LINATTN__LANES) * scale);
    }
}

extern const linattn__covariates LINATTN__ISA_NAME(covariates_gamma);
const linattn__covariates LINATTN__ISA_NAME(covariates_gamma) = {prepare, fill};
