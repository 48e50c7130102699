/* task_sparse_linear.kernel.c: y = <w, x>, w = G w0, s entries of w0 ~ N(0, 1) and the others 0.
 *
 * Which ones: entry j is kept with probability (still to be kept)/(still to be seen), which makes all sets of s equally likely
 * (Fan, Muller, Rezucha 1962). The quotient is exactly 1 when all that is left is needed, so there are always s. The entries kept
 * are those of the linear task's w0. */
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/task_lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    if (options->sparsity < 1 || options->sparsity > options->dim)
        return linattn__fail_count("sparsity", options->sparsity, "1 to dim");
    plan->weights = plan->dim;
    plan->sparsity = options->sparsity;
    return LINATTN_OK;
}

static void weights(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    const size_t d = plan->dim;
    lanes_normals(span, LINATTN__KIND_TASK, 0, d, w);
    for (size_t g = 0; g < span->groups; g++) {
        const linattn__span group = {span->stream, span->prompt + (uint32_t)(g * LINATTN__LANES), 1};
        double *of_group = w + g * d * LINATTN__LANES;
        vreal needed = vreal_all((double)plan->sparsity);
        lanes_uniforms(&group, LINATTN__KIND_POSITIONS, 0, d, scratch);
        for (size_t j = 0; j < d; j++) {
            double *at = of_group + j * LINATTN__LANES;
            const vmask keep = vreal_load(scratch + j * LINATTN__LANES) < needed / (double)(d - j);
            vreal_store(at, vreal_select(keep, vreal_load(at), vreal_all(0.0)));
            needed -= vreal_select(keep, vreal_all(1.0), vreal_all(0.0));
        }
    }
    lanes_apply_task_factor(plan, span, w, scratch);
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim;
    for (size_t t = 0; t < count; t++) vreal_store(y + t * LINATTN__LANES, lanes_product(w, x + t * d * LINATTN__LANES, d));
}

extern const linattn__task LINATTN__ISA_NAME(task_sparse_linear);
const linattn__task LINATTN__ISA_NAME(task_sparse_linear) = {1, prepare, weights, respond};
