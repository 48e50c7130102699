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
    /* H u for directions (count, p) into out (count, p); NULL: the class has none. */
    int (*hvp)(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t count,
               double *out);
    /* The Hessian (p, p), symmetric bit for bit; NULL: taken from hvp. */
    int (*hessian)(linattn_objective *objective, uint64_t draw, const double *theta, double *out);
    int (*clone)(linattn_objective **out, const linattn_objective *objective);
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
    int busy;         /* 1 inside a call: a callback must not use the objective that called it */
};

/* Whether a call may go on: objective there and not in a call, theta (p) there and finite. */
int linattn__objective_check(const linattn_objective *objective, const double *theta);

/* Reads options that may be NULL and allocates an objective of `size` bytes that begins with struct linattn_objective. */
int linattn__objective_open(linattn_objective **out, const linattn__objective_class *class, size_t size, size_t parameters,
                            const linattn_objective_options *options);

/* Another owner of the same handle: a trainer. */
void linattn__objective_retain(linattn_objective *objective);

/* Tells the fields on which the objective's numbers depend. */
int linattn__objective_describe(const linattn_objective *objective, linattn__describe visit, void *user);

/* Calls the progress callback, if any; returns what it returned, only 0, LINATTN_STOP and negative numbers being allowed. */
int linattn__objective_progress(const linattn_objective *objective, double fraction);

#endif
