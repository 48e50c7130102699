/* smoothness.h: directional smoothness and gradient norms along one training run. */
#ifndef EXAMPLES_SMOOTHNESS_H
#define EXAMPLES_SMOOTHNESS_H

#include "path.h"

/* What is measured on the evaluation batch at theta_t, t = step, u being the direction of step t. */
typedef struct smoothness_point {
    uint64_t step;
    double smoothness;     /* u^T H u, with its sign; NaN when the step is zero */
    double gradient_ratio; /* |g(theta_(t+1)) - g(theta_t)| / |theta_(t+1) - theta_t|; likewise */
    double gradient_norm;  /* |g(theta_t)| */
    double spectral_norm;  /* of H, at every spectral_stride-th step; else NaN */
} smoothness_point;

typedef struct smoothness_curve {
    smoothness_point *points;
    size_t count;
    path_end end;
} smoothness_curve;

typedef struct smoothness_plan {
    path_plan path;             /* with_next */
    const linattn_batch *batch; /* evaluation */
    uint64_t spectral_stride;   /* 0: no spectral norms */
} smoothness_plan;

/* As path_run; when the set of runs ends the curve is what there is so far. */
int smoothness_run(const smoothness_plan *plan, size_t optimizer, uint64_t seed, smoothness_curve *curve);
void smoothness_forget(smoothness_curve *curve);

#endif
