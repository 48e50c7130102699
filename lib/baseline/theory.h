/* theory.h: the best linear transformer of one layer, for those who compare with it. */
#ifndef LINATTN_BASELINE_THEORY_H
#define LINATTN_BASELINE_THEORY_H

#include <linattn/baseline.h>

/* linattn_theory_one_layer with arguments known to be good; Q (d, d) and loss hold anything on failure. */
int linattn__theory_one_layer(const linattn_sampler *sampler, double *Q, double *loss);

#endif
