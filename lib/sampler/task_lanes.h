/* task_lanes.h: what tasks share: weights w = G w0 and their product with a token. */
#ifndef LINATTN_SAMPLER_TASK_LANES_H
#define LINATTN_SAMPLER_TASK_LANES_H

#include "sampler/lanes.h"

/* w <- G w for each group: w (groups, d, lanes), scratch (d, lanes). */
LINATTN__INLINE void lanes_apply_task_factor(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    const size_t d = plan->dim;
    for (size_t g = 0; plan->task_factor != NULL && g < span->groups; g++) {
        double *of_group = w + g * d * LINATTN__LANES;
        memcpy(scratch, of_group, d * LINATTN__LANES * sizeof *scratch);
        lanes_multiply(plan->task_factor, d, d, scratch, of_group);
    }
}

/* w = G w0, w0 ~ N(0, I_d). */
LINATTN__INLINE void lanes_normal_weights(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    lanes_normals(span, LINATTN__KIND_TASK, 0, plan->dim, w);
    lanes_apply_task_factor(plan, span, w, scratch);
}

/* <w, x>, both (d, lanes). */
LINATTN__INLINE vreal lanes_product(const double *w, const double *x, size_t d) {
    vreal sum = vreal_all(0.0);
    for (size_t j = 0; j < d; j++) sum += vreal_load(w + j * LINATTN__LANES) * vreal_load(x + j * LINATTN__LANES);
    return sum;
}

/* max(x, 0), and NaN for NaN. */
LINATTN__INLINE vreal vreal_relu(vreal x) { return vreal_select(x < 0.0, vreal_all(0.0), x); }

#endif
