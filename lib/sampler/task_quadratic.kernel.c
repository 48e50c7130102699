/* task_quadratic.kernel.c: y = <w, x>^2 / sqrt(3 (d + 2)), w = G w0, w0 ~ N(0, I_d).
 *
 * For x ~ N(0, I_d) and G the identity E <w, x>^4 = 3 E |x|^4 = 3 d (d + 2), so E y^2 = d. */
#include "sampler/distribution.h"
#include "sampler/task_lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    (void)options;
    plan->weights = plan->dim;
    plan->response_scale = 1.0 / vreal_sqrt(vreal_all(3.0 * ((double)plan->dim + 2.0)))[0];
    return LINATTN_OK;
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim;
    for (size_t t = 0; t < count; t++) {
        const vreal product = lanes_product(w, x + t * d * LINATTN__LANES, d);
        vreal_store(y + t * LINATTN__LANES, product * product * plan->response_scale);
    }
}

extern const linattn__task LINATTN__ISA_NAME(task_quadratic);
const linattn__task LINATTN__ISA_NAME(task_quadratic) = {0, prepare, lanes_normal_weights, respond};
