/* crossed.h: ratios that every seed has on every batch: a two-way table of their logarithms with one number a cell. */
#ifndef EXAMPLES_CROSSED_H
#define EXAMPLES_CROSSED_H

#include "estimate.h"
#include <linattn/statistics.h>
#include <stddef.h>

/* Model: x_sb = mu + a_s + b_b + e_sb, all independent: ln ratio of seed s on batch b. */
typedef struct crossed {
    size_t seeds;
    size_t batches;
    estimate geometric; /* over seeds, these batches being given: geometric mean and Student's 95 % interval on logs */
    double wide_low;    /* 95 % interval for other seeds and other batches; NaN for one seed or one batch */
    double wide_high;
    estimate plain;         /* of the seeds' ratios themselves; a seed's ratio is the geometric mean over its batches */
    linattn_interval bca;   /* of their mean; NaN for one seed */
    double median;          /* of the seeds' ratios */
    linattn_interval above; /* Wilson's interval of the share of seeds with a ratio above 1 */
    double sd_seeds;        /* of a_s, b_b and e_sb, by mean squares; 0 where the estimate of a variance is negative */
    double sd_batches;
    double sd_rest;
    int negative; /* 1: that happened */
} crossed;

/* logs: (seeds, batches), finite; ratios: (seeds), filled with the seeds' ratios; scratch: (seeds). seeds >= 1, batches >= 1. */
void crossed_analyse(const double *logs, size_t seeds, size_t batches, double *ratios, double *scratch, crossed *out);

#endif
