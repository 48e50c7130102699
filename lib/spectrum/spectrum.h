/* spectrum.h: spectra of matrices that may be overwritten, and what else the diagnostics share with the public functions. */
#ifndef LINATTN_SPECTRUM_SPECTRUM_H
#define LINATTN_SPECTRUM_SPECTRUM_H

#include "common/lapack.h" /* linattn__spectrum_fits */
#include "common/options.h"
#include <linattn/spectrum.h>
#include <stddef.h>

/* linattn_matrix_spectrum without a copy: the matrix, which must be symmetric, is overwritten; out has its struct_size. Checks the
 * size and that all entries are finite, by the name "matrix". */
int linattn__spectrum_of(double *matrix, size_t p, double *eigenvalues, double *vectors, linattn_spectrum *out);

/* The largest |x| that counts as 0 among the eigenvalues (count): count 2^-52 max |x|. */
double linattn__spectrum_zero(const double *eigenvalues, size_t count);

/* A diagonal (p) that preconditions: finite and above 0. */
int linattn__preconditioner_check(const char *argument, const double *diagonal, size_t p);

/* Of linattn_spectra_compare. */
int linattn__relative_width_check(double relative_width);

extern const linattn__struct linattn__spectrum_type, linattn__condition_type;

#endif
