/* noise.h: gradient errors measured, those of the Gaussian surrogate, and what is told of both. */
#ifndef EXAMPLES_NOISE_H
#define EXAMPLES_NOISE_H

#include <linattn/linattn.h>

enum { MEASURED, SURROGATE, SAMPLES };

enum { NOISE_PERMUTATIONS = 199 }; /* of the test that compares both samples: p is 0.005 at least */

typedef struct noise_finding {
    double *errors[SAMPLES]; /* (samples) each */
    linattn_gradient_error facts;
    linattn_moments moments[SAMPLES];
    linattn_normal_plot line[SAMPLES];
    linattn_tail tail; /* of the measured ones */
    int tail_status;   /* of linattn_sample_tail */
    linattn_comparison comparison;
} noise_finding;

/* Fills all but errors and facts from the errors (count each). Returns a status of the library. */
int noise_describe(noise_finding *f, size_t count);

/* A normal Q-Q plot needs few points in the middle and every one at the ends. Returns how many are left of count. */
size_t noise_thin(double *quantiles, double *ordered, size_t count);

#endif
