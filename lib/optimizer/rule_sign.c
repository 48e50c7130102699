/* rule_sign.c: sign descent: v as for SGD without weight decay; theta -= lr sign(v), sign(0) = 0. */
#include "optimizer/rules.h"

static const linattn__range RANGES[] = {
    LINATTN__RANGE(momentum, LINATTN__RANGE_REAL, 0, 1, 0, 1, "at least 0, below 1"),
    LINATTN__RANGE(dampening, LINATTN__RANGE_REAL, 0, 1, 0, 0, "at least 0, at most 1"),
};

static void update_sign(const linattn_optimizer_options *options, const linattn_update *update) {
    const double lr = update->learning_rate, *v = update->state;
    linattn__velocity(options, update, 0);
    for (size_t i = 0; i < update->p; i++) {
        if (v[i] > 0)
            update->theta[i] -= lr;
        else if (v[i] < 0)
            update->theta[i] += lr;
    }
}

const linattn__rule linattn__rule_sign = {
    .name = "sign", .parts = 1, .ranges = RANGES, .range_count = sizeof RANGES / sizeof RANGES[0], .update = update_sign};
