/* task_linear.kernel.c: y = <w, x>, w = G w0, w0 ~ N(0, I_d). */
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static void weights(const linattn__plan *plan, const linattn__stream *stream, uint32_t prompt, double *w, double *scratch) {
    double *normals = plan->task_factor == NULL ? w : scratch;
    lanes_normals(stream, LINATTN__KIND_TASK, lanes_prompts(prompt), 0, plan->dim, normals);
    if (plan->task_factor != NULL) lanes_multiply(plan->task_factor, plan->dim, plan->dim, normals, w);
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
