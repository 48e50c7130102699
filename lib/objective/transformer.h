/* transformer.h: a model on a fixed batch, on its minibatches or on a sampler: what its value, gradient and Hessian-vector products
 * share.
 *
 * The batch is divided into chunks of 64 prompts whatever the number of threads. A round of chunks is worked on by all threads,
 * each chunk filling a slot of its own; then the slots are added in the order of the chunks. So the result depends on the chunks
 * alone. A sampler's batch is drawn inside the same chunks, just before it is used, and kept: evaluating a draw again does not
 * draw again. Minibatches, and what a function of the caller's makes, are there before the chunks begin. */
#ifndef LINATTN_OBJECTIVE_TRANSFORMER_H
#define LINATTN_OBJECTIVE_TRANSFORMER_H

#include "common/pool.h"
#include "kernels/path.h"
#include "model/model.h"
#include "objective/dataset.h"
#include "objective/objective.h"
#include "sampler/prompts.h"

enum { LINATTN__CHUNK = 8, LINATTN__ROUND = 32 }; /* blocks of 8 prompts in a chunk; chunks in a round */

typedef struct linattn__transformer {
    linattn_objective base;
    const linattn_model *model;
    const linattn_batch *batch;     /* fixed, or a data set, or NULL */
    const linattn_sampler *sampler; /* fresh batches, or NULL */
    linattn__dataset set;           /* minibatches of `batch`; its size is 0 when all of it is used */
    linattn__prompts data;          /* the batch's arrays, or those of the last draw */
    int fresh;                      /* 1: draws differ, and data is the objective's own */
    uint64_t draw;                  /* the draw that `data` holds */
    int drawn;                      /* 0: none */
    int called;                     /* 1: the sampler is a function of the caller's, to be called on the caller's thread */

    enum linattn__isa isa;
    const linattn__kernels *kernels;
    linattn__shape shape;
    linattn__pool *pool;
    size_t chunks;
    size_t work_size, draw_size; /* scratch of a thread, in doubles: kernel, then sampler */
    double *call_work;           /* scratch of a function of the caller's; NULL: there is none */
    double *work;                /* (threads, work_size + draw_size) */
    double *partial_gradient;    /* (min(chunks, ROUND), effective p): the slots */
    double *partial_value;       /* (min(chunks, ROUND)) */
    double *composed;            /* (2, effective p): effective parameters and their gradient; NULL when theta is these */

    /* Made by the first Hessian-vector product. */
    size_t hvp_count; /* directions that one pass takes */
    double *hvp_work; /* (threads, hvp_work_size): scratch of the kernel */
    size_t hvp_work_size;
    double *hvp_partial;  /* (min(chunks, ROUND), hvp_count, effective p): the slots */
    double *hvp_units;    /* (hvp_count, p): unit vectors, for Hessians */
    double *hvp_rows;     /* (hvp_count, p): the Hessian's rows of these */
    double *hvp_composed; /* (2, hvp_count, effective p): effective directions and their products, where there is `composed` */
} linattn__transformer;

/* What the chunks of a round share; a job's own struct begins with it. */
typedef struct linattn__round {
    linattn__transformer *f;
    const double *theta; /* effective */
    uint64_t draw;
    double done, share; /* progress: what came before, and what this is of the whole call */
    size_t first;       /* chunk of slot 0 */
    int fresh;          /* 1: the chunk must be drawn first */
} linattn__round;

/* Runs `job` (index: slot, context: round) on every chunk, round by round, and `add` after each round with the number of slots that
 * it filled. Calls progress between rounds. Returns what stopped it: progress or LINATTN_ESYSTEM, LINATTN_ENOMEM. */
int linattn__transformer_rounds(linattn__round *round, linattn__job job, void (*add)(linattn__round *round, size_t slots));

/* The blocks of the chunk of a slot as a kernel wants them, drawn where needed with scratch memory of `worker`. */
linattn__data linattn__transformer_chunk(const linattn__round *round, size_t slot, size_t worker);

/* Effective parameters of theta, and with a gradient to come also theirs, into f->composed: what products need first. */
int linattn__transformer_compose(linattn__transformer *f, uint64_t draw, const double *theta);

/* H u of (prediction - target)^2, averaged, for count directions u, and the Hessian: see linattn__objective_class. */
int linattn__transformer_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions,
                             size_t count, double *out);
int linattn__transformer_hessian(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count,
                                 int diagonal, double *out);
size_t linattn__transformer_hessian_workspace(const linattn_objective *objective);

#endif
