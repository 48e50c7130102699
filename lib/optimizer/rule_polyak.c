/* rule_polyak.c: gradient descent with Polyak's step (1987, section 5.3): theta -= lr (f - f_min) / |g|^2 g, the step that would reach
 * the minimum of a linear function of slope g. f at or below f_min, or g = 0, moves nothing. */
#include "common/norm.h"
#include "optimizer/rules.h"
#include <math.h>

static const linattn__range RANGES[] = {
    LINATTN__RANGE(minimum_value, LINATTN__RANGE_REAL, -INFINITY, INFINITY, 1, 1, "finite numbers"),
};

static void update_polyak(const linattn_optimizer_options *options, const linattn_update *update) {
    const double above = update->value - options->minimum_value, *g = update->gradient;
    const linattn__norm norm = linattn__norm_of(g, update->p);
    if (norm.mantissa == 0 || !(above > 0)) return;
    /* Divided twice by |g|: its square may overflow or underflow. */
    const double length = ldexp(above / norm.mantissa, -norm.exponent);
    for (size_t i = 0; i < update->p; i++)
        update->theta[i] -= update->learning_rate * length * (ldexp(g[i], -norm.exponent) / norm.mantissa);
}

const linattn__rule linattn__rule_polyak = {
    .name = "polyak", .ranges = RANGES, .range_count = sizeof RANGES / sizeof RANGES[0], .update = update_polyak};
