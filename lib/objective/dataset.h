/* dataset.h: minibatches of a fixed set of prompts, or of examples: which ones a draw takes. */
#ifndef LINATTN_OBJECTIVE_DATASET_H
#define LINATTN_OBJECTIVE_DATASET_H

#include "common/describe.h"
#include <linattn/objective.h>

typedef struct linattn__dataset {
    size_t size;    /* N; 0: there is none */
    size_t prompts; /* of a minibatch, 1 to N */
    int32_t mode;   /* enum linattn_minibatch */
    uint64_t seed;
    uint32_t *order; /* (N): the permutation of `epoch`; NULL: none is needed */
    uint64_t epoch;
    int shuffled; /* 0: order holds no permutation yet */
} linattn__dataset;

/* Refuses sizes and modes that cannot be; `of` names what is counted. Returns LINATTN_EINVAL. */
int linattn__dataset_check(const linattn__dataset *set, const char *of);

/* Takes memory where the first four fields want it; released by the owner: order. Returns LINATTN_ENOMEM. */
int linattn__dataset_open(linattn__dataset *set);

/* Calls copy for every place `to` of a draw's minibatch with the number `from` of what belongs there. */
void linattn__dataset_draw(linattn__dataset *set, uint64_t draw, void (*copy)(void *user, size_t from, size_t to), void *user);

int linattn__dataset_describe(const linattn__dataset *set, linattn__describe visit, void *user);

#endif
