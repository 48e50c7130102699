/* covariates_table.kernel.c: x a row of the caller's table, all rows equally likely, with replacement.
 *
 * The row's number is u * rows without its fraction. The product is never rounded up to `rows`: u <= 1 - 2^-53. */
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/lanes.h"

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    plan->covariate_table = options->covariate_table;
    plan->table_rows = options->table_rows;
    return LINATTN_OK;
}

static void fill(const linattn__plan *plan, const linattn__span *span, size_t first, size_t count, double *x, double *scratch) {
    const size_t d = plan->dim, tokens = span->groups * count;
    double *rows = scratch; /* (tokens, lanes) */
    lanes_uniforms(span, LINATTN__KIND_ROWS, first, count, rows);
    for (size_t t = 0; t < tokens; t++)
        for (size_t lane = 0; lane < LINATTN__LANES; lane++) {
            const double *row = plan->covariate_table + (size_t)(rows[t * LINATTN__LANES + lane] * (double)plan->table_rows) * d;
            for (size_t j = 0; j < d; j++) x[(t * d + j) * LINATTN__LANES + lane] = row[j];
        }
}

extern const linattn__covariates LINATTN__ISA_NAME(covariates_table);
const linattn__covariates LINATTN__ISA_NAME(covariates_table) = {prepare, fill};
