/* trajectory.h: everything that is measured of a model along one training run: loss, curvature, smoothness, its scores' rank,
 * attention. */
#ifndef EXAMPLES_TRAJECTORY_H
#define EXAMPLES_TRAJECTORY_H

#include "path.h"

enum {
    TRAJECTORY_LAYERS = 8, /* most layers of which attention is kept */
    TRAJECTORY_TOP = 3     /* keys of top_share */
};

/* Of a layer's first head, over prompts: the query's weights over the context (linattn_concentration). */
typedef struct trajectory_attention {
    double entropy;   /* nats */
    double largest;   /* mean of the largest share */
    double top_share; /* of the TRAJECTORY_TOP largest */
    double ratio;     /* smallest to largest, median */
    double least;     /* the same, its smallest value */
} trajectory_attention;

/* At theta_t, t = step, on the plan's batches. */
typedef struct trajectory_point {
    uint64_t step;
    double loss;
    double gradient_norm;         /* on training batch t, before clipping */
    double condition_diagonal;    /* R_med by the Hessian's diagonal, lower median */
    double condition_eigenvalues; /* by its eigenvalues */
    double smoothness;            /* u^T H u along step t */
    double stable_rank;           /* |Q|_F^2 / |Q|_2^2, mean over layers and heads */
    trajectory_attention attention[TRAJECTORY_LAYERS];
} trajectory_point;

typedef struct trajectory_plan {
    path_plan path;                /* with_next */
    const linattn_batch *judges;   /* the loss is that on these prompts */
    const linattn_batch *measured; /* everything else on these, with tokens */
} trajectory_plan;

typedef struct trajectory {
    trajectory_point *points; /* (stops), of which count are there */
    size_t count;
    path_end end;
} trajectory;

/* As path_run; when the set of runs ends the trajectory is what there is so far. */
int trajectory_run(const trajectory_plan *plan, size_t optimizer, uint64_t seed, trajectory *out);
void trajectory_forget(trajectory *t);

/* A run's share of the progress bar. */
uint64_t trajectory_work(const trajectory_plan *plan);

#endif
