/* task_linear.kernel.c: y = <w, x>, w = G w0, w0 ~ N(0, I_d). */
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static void weights(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    const size_t d = plan->dim;
    lanes_normals(span, LINATTN__KIND_TASK, 0, d, w);
    for (size_t g = 0; plan->task_factor != NULL && g < span->groups; g++) {
        double *of_group = w + g * d * LINATTN__LANES;
        memcpy(scratch, of_group, d * LINATTN__LANES * sizeof *scratch);
        lanes_multiply(plan->task_factor, d, d, scratch, of_group);
    }
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim;
    for (size_t t = 0; t < count; t++) {
        vreal sum = vreal_all(0.0);
        for (size_t j = 0; j < d; j++) sum += vreal_load(w + j * LINATTN__LANES) * vreal_load(x + (t * d + j) * LINATTN__LANES);
        vreal_store(y + t * LINATTN__LANES, sum);
    }
}

extern const linattn__task LINATTN__ISA_NAME(task_linear);
const linattn__task LINATTN__ISA_NAME(task_linear) = {1, weights, respond};
