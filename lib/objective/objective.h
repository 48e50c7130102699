/* objective.h (internal): what every kind of objective has.
 *
 * The front end (objective.c) validates, calls the class, checks what came back and only then writes the caller's outputs. */
#ifndef LINATTN_OBJECTIVE_OBJECTIVE_H
#define LINATTN_OBJECTIVE_OBJECTIVE_H

#include "common/describe.h"
#include "common/owners.h"
#include <linattn/objective.h>

typedef struct linattn__objective_class {
    const char *name;
    /* Value, and unless `gradient` is NULL the gradient (p) of draw `draw` at theta. Both outputs are scratch: their content does
     * not matter on failure. */
    int (*evaluate)(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient);
    /* enum linattn_hvp_kind of an object; NULL: exact wherever the class has hvp. */
    int (*hvp_kind)(const linattn_objective *objective);
    /* H u for directions (count, p) into out (count, p); NULL: the class has none, nor the two that follow. */
    int (*hvp)(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t count,
               double *out);
    /* Rows and columns first .. first+count-1 of the Hessian into out (count, count), symmetric bit for bit; only their diagonal,
     * out (count), when `diagonal` is set. Never holds p^2 numbers beside out. */
    int (*hessian)(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count, int diagonal,
                   double *out);
    /* Bytes that hvp and hessian take at first and keep; SIZE_MAX when they overflow. */
    size_t (*hessian_workspace)(const linattn_objective *objective);
    /* How many of the scores behind f(theta; draw) lie exactly where the derivative jumps; NULL: there is no such place. */
    int (*count_kinks)(linattn_objective *objective, uint64_t draw, const double *theta, uint64_t *count);
    int (*clone)(linattn_objective **out, const linattn_objective *objective, const linattn_objective_options *options);
    void (*close)(linattn_objective *objective); /* releases what the class added; NULL: nothing */
    int (*describe)(const linattn_objective *objective, linattn__describe visit, void *user);
} linattn__objective_class;

/* The beginning of every class's struct. */
struct linattn_objective {
    const linattn__objective_class *class;
    linattn__owners owners;
    size_t parameters; /* p */
    linattn_objective_options options;
    double *gradient; /* (p), scratch */
    int concurrent;   /* 1: this objective and its clones may be evaluated in different threads at once; 0: in the caller's only */
    int busy;         /* 1 inside a call: a callback must not use the objective that called it */
};

/* Whether a call may go on: objective there and not in a call, theta (p) there and finite. */
int linattn__objective_check(const linattn_objective *objective, const double *theta);

/* Reads options that may be NULL and allocates an objective of `size` bytes that begins with struct linattn_objective. */
int linattn__objective_open(linattn_objective **out, const linattn__objective_class *class, size_t size, size_t parameters,
                            const linattn_objective_options *options);

/* A clone with other options; NULL: the defaults. Returns the statuses of linattn_objective_clone. */
int linattn__objective_clone_with(linattn_objective **out, const linattn_objective *objective,
                                  const linattn_objective_options *options);

/* Another owner of the same handle: a trainer. */
void linattn__objective_retain(linattn_objective *objective);

/* Tells the fields on which the objective's numbers depend. */
int linattn__objective_describe(const linattn_objective *objective, linattn__describe visit, void *user);

/* Calls the progress callback, if any; returns what it returned, only 0, LINATTN_STOP and negative numbers being allowed. */
int linattn__objective_progress(const linattn_objective *objective, double fraction);

#endif
