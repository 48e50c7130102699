/* table.h: a table of the caller's covariates. */
#ifndef LINATTN_SAMPLER_TABLE_H
#define LINATTN_SAMPLER_TABLE_H

#include <linattn/sampler.h>

/* Checks the options of table covariates and copies the table (rows, d), standardised where asked. Returns LINATTN_EINVAL,
 * LINATTN_ENONFINITE, LINATTN_EDEGENERATE, LINATTN_EOVERFLOW or LINATTN_ENOMEM. */
int linattn__table_copy(const linattn_sampler_options *options, double **out);

#endif
