/* task_linear.kernel.c: y = <w, x>, w = G w0, w0 ~ N(0, I_d). */
#include "sampler/distribution.h"
#include "sampler/task_lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    (void)options;
    plan->weights = plan->dim;
    return LINATTN_OK;
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim;
    for (size_t t = 0; t < count; t++) vreal_store(y + t * LINATTN__LANES, lanes_product(w, x + t * d * LINATTN__LANES, d));
}

extern const linattn__task LINATTN__ISA_NAME(task_linear);
const linattn__task LINATTN__ISA_NAME(task_linear) = {1, prepare, lanes_normal_weights, respond};
