/* task_relu_network.kernel.c: y = sqrt(2/h) sum_k v_k relu(<u_k, x>), v_k and the entries of u_k ~ N(0, 1), a network for each
 * prompt: the two-layer networks of Garg, Tsipras, Liang, Valiant, "What can transformers learn in-context?", arXiv:2208.01066.
 *
 * E relu(<u, x>)^2 = |x|^2/2, so E y^2 = E |x|^2, as for the linear task. A prompt's weights are v (h), then u (h, d). */
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/task_lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    if (options->hidden < 1 || options->hidden > LINATTN_MAX_HIDDEN)
        return linattn__fail_count("hidden", options->hidden, "1 to 4096");
    plan->hidden = options->hidden;
    plan->weights = plan->hidden * (1 + plan->dim);
    plan->response_scale = vreal_sqrt(vreal_all(2.0 / (double)plan->hidden))[0];
    return LINATTN_OK;
}

static void weights(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    (void)scratch;
    lanes_normals(span, LINATTN__KIND_TASK, 0, plan->hidden, w);
    lanes_normals(span, LINATTN__KIND_HIDDEN, 0, plan->hidden * plan->dim, w + plan->hidden * LINATTN__LANES);
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim, h = plan->hidden;
    const double *u = w + h * LINATTN__LANES;
    for (size_t t = 0; t < count; t++) {
        const double *token = x + t * d * LINATTN__LANES;
        vreal sum = vreal_all(0.0);
        for (size_t k = 0; k < h; k++)
            sum += vreal_load(w + k * LINATTN__LANES) * vreal_relu(lanes_product(u + k * d * LINATTN__LANES, token, d));
        vreal_store(y + t * LINATTN__LANES, plan->response_scale * sum);
    }
}

extern const linattn__task LINATTN__ISA_NAME(task_relu_network);
const linattn__task LINATTN__ISA_NAME(task_relu_network) = {0, prepare, weights, respond};
