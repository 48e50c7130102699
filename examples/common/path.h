/* path.h: one training run of a recipe, looked at on its way. */
#ifndef EXAMPLES_PATH_H
#define EXAMPLES_PATH_H

#include "experiment.h"
#include "progress.h"

/* A place of a run. theta is theta_t, t = step. With next, step t has been taken already: record is its record, and the optimizer
 * is past it. Without, next is NULL and the optimizer is as t updates left it. */
typedef struct path_point {
    uint64_t step;
    const double *theta; /* (p) */
    const double *next;  /* theta_(t+1), (p) */
    const linattn_step_record *record;
    const linattn_optimizer *optimizer;
} path_point;

/* Returns 0 to go on, LINATTN_ENONFINITE when the run has diverged, or another status. */
typedef int (*path_measure)(const path_point *at, void *user);

typedef struct path_plan {
    const experiment *experiment;
    const uint64_t *stops; /* (stop_count), ascending without equals: the steps that are looked at */
    size_t stop_count;
    int with_next;
    progress *bar; /* gets path_work for each run; the measuring may add more */
} path_plan;

typedef struct path_end {
    int diverged;         /* 1: parameters, gradient or what is measured was no longer finite */
    uint64_t diverged_at; /* the t of that */
    double seconds;
} path_end;

/* Trains optimizer k from the initial parameters and on the batches that `seed` stands for, and measures at the stops. Returns 0,
 * also when the run diverged, or EXIT_FAILED after a complaint; when the set of runs ends (runs.h) the rest is left out. */
int path_run(const path_plan *plan, size_t k, uint64_t seed, path_measure measure, void *user, path_end *end);

/* The steps of a run. */
uint64_t path_work(const path_plan *plan);

/* 0, stride, 2 stride, ... and last, to be freed; NULL after a complaint. */
uint64_t *path_stops(uint64_t stride, uint64_t last, size_t *count);

/* linattn_progress: a long measurement ends soon after the set of runs does. */
int path_go_on(double fraction, void *user);

#endif
