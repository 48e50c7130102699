/* prompt_finding.h: one system of prompt attention at its teacher: how sparse, how ill-conditioned. */
#ifndef EXAMPLES_PROMPT_FINDING_H
#define EXAMPLES_PROMPT_FINDING_H

#include "prompt_case.h"

/* What is known of one system at its teacher. */
typedef struct prompt_finding {
    double ratio;    /* R: median over examples; linear attention: that of softmax with this teacher */
    double smallest; /* R: the smallest one */
    double condition;
    double bound; /* NaN where there is none, as ratio_bound */
    double ratio_bound;
    double spread;    /* largest over smallest |b_i|^2 */
    double effective; /* (sum |b_i|^2)^2 / sum |b_i|^4: as many examples as matter */
} prompt_finding;

/* teacher: (d), weights, b: (N, n), scratch. Returns a status of the library. */
int prompt_measure(const prompt_system *system, const linattn_prompt *prompt, double *teacher, double *weights, double *b,
                   prompt_finding *out);

#endif
