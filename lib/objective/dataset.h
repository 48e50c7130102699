/* dataset.h: minibatches of a fixed set of prompts. */
#ifndef LINATTN_OBJECTIVE_DATASET_H
#define LINATTN_OBJECTIVE_DATASET_H

#include "common/describe.h"
#include "sampler/prompts.h"
#include <linattn/objective.h>

typedef struct linattn__dataset {
    const linattn_batch *batch; /* N prompts, retained by the objective */
    size_t prompts;             /* of a minibatch, 1 to N */
    int32_t mode;               /* enum linattn_minibatch */
    uint64_t seed;
    uint32_t *order; /* (N): the permutation of `epoch`; NULL: none is needed */
    uint64_t epoch;
    int shuffled; /* 0: order holds no permutation yet */
} linattn__dataset;

/* Takes memory where the first four fields want it; released by the owner: order. Returns LINATTN_ENOMEM. */
int linattn__dataset_open(linattn__dataset *set);

/* The minibatch of a draw into out: moments, queries and targets, and tokens where out keeps them. */
void linattn__dataset_draw(linattn__dataset *set, uint64_t draw, linattn__prompts *out);

int linattn__dataset_describe(const linattn__dataset *set, linattn__describe visit, void *user);

#endif
