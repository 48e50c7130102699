/* adam.c: what Adam and AdamW share. */
#include "common/fail.h"
#include "optimizer/rules.h"
#include <float.h>
#include <math.h>

const linattn__range linattn__adam_ranges[LINATTN__ADAM_RANGES] = {
    LINATTN__RANGE(beta1, LINATTN__RANGE_REAL, 0, 1, 0, 1, "at least 0, below 1"),
    LINATTN__RANGE(beta2, LINATTN__RANGE_REAL, 0, 1, 0, 1, "at least 0, below 1"),
    LINATTN__RANGE(epsilon, LINATTN__RANGE_REAL, 0, DBL_MAX, 0, 0, "finite and at least 0"),
    LINATTN__RANGE(weight_decay, LINATTN__RANGE_REAL, 0, DBL_MAX, 0, 0, "finite and at least 0"),
};

/* c_t = 1 - beta^t by the laws c_{j+k} = c_j + (1 - c_j) c_k and c_{2k} = c_k (2 - c_k), which add positive numbers only: the
 * difference 1 - beta^t itself would cancel for beta near 1. c_1 = 1 - beta exactly as the moving average weighs a gradient, so the
 * first step divides a number by itself. From t alone: a resumed run has the same bits. */
double linattn__bias_correction(double beta, uint64_t t) {
    double correction = 0, doubled = 1 - beta;
    for (; t != 0; t >>= 1) {
        if (t & 1) correction += (1 - correction) * doubled;
        doubled *= 2 - doubled;
    }
    return correction;
}

/* Of the second moment v, c = 1 - beta2^t. */
static double denominator(double v, double c, double epsilon) { return sqrt(v / c) + epsilon; }

/* m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
 * theta -= lr (m / c1) / (sqrt(v / c2) + epsilon), c = 1 - beta^t.
 * epsilon comes after the bias correction. At epsilon = 0 the denominator is 0 for an entry whose gradients have all been 0 (the
 * last layer's P has no others), or too small to be squared: such an entry does not move. */
void linattn__adam_step(const linattn_optimizer_options *options, const linattn_update *update, double weight_decay) {
    const double beta1 = options->beta1, beta2 = options->beta2, epsilon = options->epsilon, lr = update->learning_rate;
    const double c1 = linattn__bias_correction(beta1, update->step), c2 = linattn__bias_correction(beta2, update->step);
    double *m = update->state, *v = m + update->p, *theta = update->theta;
    for (size_t i = 0; i < update->p; i++) {
        const double g = update->gradient[i] + weight_decay * theta[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * (g * g);
        const double below = denominator(v[i], c2, epsilon);
        if (below != 0) theta[i] -= lr * ((m[i] / c1) / below);
    }
}

int linattn__adam_preconditioner(const linattn_optimizer_options *options, const double *state, size_t p, uint64_t t, double *out) {
    if (t == 0) return linattn__fail(LINATTN_EDEGENERATE, "the optimizer has made no update yet, so there is nothing to divide by");
    const double c2 = linattn__bias_correction(options->beta2, t);
    for (size_t i = 0; i < p; i++) out[i] = denominator(state[p + i], c2, options->epsilon);
    return LINATTN_OK;
}
