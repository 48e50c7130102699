/* schedule.c: warm-up, then constant, step or cosine. A step decay at 50 is first felt by the step with index 50, the 51st. */
#include "optimizer/schedule.h"
#include <math.h>

static const double PI = 3.14159265358979323846;

/* base^n for 0 < base <= 1 by squaring, the same bits wherever the run was resumed. */
static double whole_power(double base, uint64_t n) {
    double power = 1;
    for (; n != 0; n >>= 1) {
        if (n & 1) power *= base;
        base *= base;
    }
    return power;
}

/* Weighted so that both ends are met exactly: s = 0 gives lr, s = 1 (cos pi = -1) gives the minimum. */
static double cosine(const linattn_optimizer_options *o, uint64_t t) {
    const double s = t >= o->decay_steps ? 1 : (double)(t - o->warmup_steps) / (double)(o->decay_steps - o->warmup_steps);
    const double weight = (1 + cos(PI * s)) / 2;
    return o->learning_rate * weight + o->min_learning_rate * (1 - weight);
}

double linattn__schedule(const linattn_optimizer_options *o, uint64_t t) {
    if (t < o->warmup_steps) return o->learning_rate * ((double)(t + 1) / (double)o->warmup_steps);
    switch (o->schedule) {
    case LINATTN_SCHEDULE_STEP:
        return o->learning_rate * whole_power(o->decay_factor, t / o->decay_steps);
    case LINATTN_SCHEDULE_COSINE:
        return cosine(o, t);
    default:
        return o->learning_rate;
    }
}
