/* rule_normalized_gd.c: normalised gradient descent: theta -= lr g / |g|; g = 0 moves nothing. */
#include "common/norm.h"
#include "optimizer/rules.h"
#include <math.h>

static void update_normalized(const linattn_optimizer_options *options, const linattn_update *update) {
    (void)options;
    const double lr = update->learning_rate, *g = update->gradient;
    const linattn__norm norm = linattn__norm_of(g, update->p);
    if (norm.mantissa == 0) return;
    for (size_t i = 0; i < update->p; i++) update->theta[i] -= lr * (ldexp(g[i], -norm.exponent) / norm.mantissa);
}

const linattn__rule linattn__rule_normalized_gd = {.name = "normalized_gd", .update = update_normalized};
