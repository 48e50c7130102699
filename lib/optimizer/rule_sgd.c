/* rule_sgd.c: stochastic gradient descent: g += weight_decay theta; v = momentum v + (1 - dampening) g, v_1 = g;
 * theta -= lr v, or with Nesterov's look-ahead lr (g + momentum v). */
#include "common/fail.h"
#include "optimizer/rules.h"
#include <float.h>

static const linattn__range RANGES[] = {
    LINATTN__RANGE(momentum, LINATTN__RANGE_REAL, 0, 1, 0, 1, "at least 0, below 1"),
    LINATTN__RANGE(dampening, LINATTN__RANGE_REAL, 0, 1, 0, 0, "at least 0, at most 1"),
    LINATTN__RANGE(weight_decay, LINATTN__RANGE_REAL, 0, DBL_MAX, 0, 0, "finite and at least 0"),
    LINATTN__RANGE(nesterov, LINATTN__RANGE_INTEGER, 0, 1, 0, 0, "0 or 1"),
};

static int validate(const linattn_optimizer_options *options) {
    if (!options->nesterov) return LINATTN_OK;
    if (options->momentum == 0) return linattn__fail_real("momentum", options->momentum, "above 0 with nesterov");
    if (options->dampening != 0) return linattn__fail_real("dampening", options->dampening, "0 with nesterov");
    return LINATTN_OK;
}

static void update_sgd(const linattn_optimizer_options *options, const linattn_update *update) {
    const double lr = update->learning_rate, decay = options->weight_decay, momentum = options->momentum;
    const double *v = update->state;
    linattn__velocity(options, update, decay);
    for (size_t i = 0; i < update->p; i++) {
        const double g = update->gradient[i] + decay * update->theta[i];
        update->theta[i] -= lr * (options->nesterov ? g + momentum * v[i] : v[i]);
    }
}

static int preconditioner(const linattn_optimizer_options *options, const double *state, size_t p, uint64_t t, double *out) {
    (void)options, (void)state, (void)t;
    for (size_t i = 0; i < p; i++) out[i] = 1;
    return LINATTN_OK;
}

const linattn__rule linattn__rule_sgd = {.name = "sgd",
                                         .parts = 1,
                                         .ranges = RANGES,
                                         .range_count = sizeof RANGES / sizeof RANGES[0],
                                         .validate = validate,
                                         .update = update_sgd,
                                         .preconditioner = preconditioner};
