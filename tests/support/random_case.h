/* random_case.h: a model, a batch and parameters of any shape, for tests that need numbers but no particular ones. */
#ifndef LINATTN_TESTS_RANDOM_CASE_H
#define LINATTN_TESTS_RANDOM_CASE_H

#include "reference/reference.h"

#include <linattn/linattn.h>

typedef struct random_case {
    reference_shape shape;
    reference_model reference; /* shape and the rest */
    size_t prompts, p;
    double *tokens, *targets, *theta; /* (prompts, n+1, d+1), (prompts), (p) */
    linattn_model *model;
    linattn_batch *batch;
} random_case;

/* Numbers in [-1, 1] from a seed, by a generator that is not the library's. Parameters are scaled so that layers neither vanish nor
 * explode. Ends the test when something fails. */
random_case random_case_open(reference_shape shape, size_t prompts, unsigned seed);
random_case random_case_open_model(reference_model model, size_t prompts, unsigned seed);
void random_case_close(random_case *c);

/* The case's batch, or `batch`, as an objective with a kernel and threads. */
linattn_objective *random_case_objective(const random_case *c, const linattn_batch *batch, int32_t kernel, size_t threads);

/* Value and gradient (p) of such an objective at the case's theta. */
double random_case_gradient(const random_case *c, const linattn_batch *batch, int32_t kernel, size_t threads, double *gradient);

/* `count` zeros, aligned as kernels want them, to be freed. */
double *numbers(size_t count);

/* max over i of |a_i - b_i| / max over i of |b_i|; infinite when something is not a number. */
double relative_distance(const double *a, const double *b, size_t count);

#endif
