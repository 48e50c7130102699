/* conditioning.h: robust condition numbers of the Hessian along the runs of both optimizers. */
#ifndef EXAMPLES_CONDITIONING_H
#define EXAMPLES_CONDITIONING_H

#include "path.h"

/* What R_med = max |x| / median |x| is taken of. */
enum conditioning_kind {
    DIAGONAL,
    EIGENVALUES,
    PRECONDITIONED, /* eigenvalues of D^(-1/2) H D^(-1/2), D being Adam's */
    KINDS
};
enum { COMPARED = 2 /* the first kinds, which both optimizers have */ };

extern const char *const conditioning_kinds[KINDS];

/* What is known of one Hessian. */
typedef struct measured {
    double condition[KINDS]; /* R_med by the lower median; PRECONDITIONED is NaN for SGD and before Adam's first step */
    double smallest;         /* eigenvalues by value */
    double largest;
    double median; /* of the eigenvalues' magnitudes */
    size_t zeros;
    size_t negatives;
} measured;

typedef struct conditioning {
    experiment e;
    uint64_t eval_batches;
    uint64_t eval_prompts;
    const char *at; /* --at as given */
    char last[24];  /* the step of --steps, which then stands for it */
    int curve;      /* --curve */
    uint64_t *stops;
    path_plan plan;
    path_end *ends;    /* (seeds, OPTIMIZERS) */
    size_t *done;      /* (seeds, OPTIMIZERS), stops that were measured */
    measured *results; /* (seeds, OPTIMIZERS, stops, eval_batches) */
} conditioning;

/* Makes room for the results of all stops. Returns 0, or EXIT_FAILED after a complaint. */
int conditioning_begin(conditioning *s);
void conditioning_forget(conditioning *s);

/* Trains and measures everything. Returns 0, EXIT_FAILED after a complaint, or EXIT_INTERRUPTED. */
int conditioning_run(conditioning *s);

/* The result of a seed; NULL when the run did not get so far. */
const measured *conditioning_at(const conditioning *s, size_t seed, size_t optimizer, size_t stop, size_t batch);

/* Geometric mean of R_med over seeds and batches, of the runs that got so far; NaN without any. logs: (seeds * eval_batches). */
double conditioning_typical(const conditioning *s, size_t optimizer, size_t stop, size_t kind, double *logs);

#endif
