/* lapack.h: the one way to LAPACK. */
#ifndef LINATTN_COMMON_LAPACK_H
#define LINATTN_COMMON_LAPACK_H

#include <stddef.h>
#include <stdint.h>

/* LINATTN_EOVERFLOW when p, with or without vectors, is more than LAPACK's integers or the memory's can count. Takes no memory. */
int linattn__spectrum_fits(size_t p, int vectors);

/* Eigenvalues (p), ascending, of a symmetric matrix (p, p), finite and of moderate size, which is overwritten. vectors: (p, p), row
 * i the unit eigenvector of eigenvalue i, of either sign; NULL for none. *driver: enum linattn_eigen_driver.
 * LINATTN_EOVERFLOW as above, LINATTN_ENOMEM, or LINATTN_ENOTCONVERGED when neither driver converged; eigenvalues and vectors then
 * hold anything. */
int linattn__symmetric_eigen(double *matrix, size_t p, double *eigenvalues, double *vectors, int32_t *driver);

/* Shortest least-squares solutions: of all x (columns) that minimise |A x - b| the shortest one, for each of `count` right-hand
 * sides b (rows), by singular values, those below epsilon max(rows, columns) of the largest being taken for 0. a: (columns, rows),
 * A by columns, finite, overwritten. b: (count, max(rows, columns)), a right-hand side a row, overwritten by its solution in the
 * first `columns` places. *rank: of A. LINATTN_EOVERFLOW when the sizes are more than LAPACK's integers can count, LINATTN_ENOMEM,
 * or LINATTN_ENOTCONVERGED; a and b then hold anything. */
int linattn__least_squares(double *a, size_t rows, size_t columns, double *b, size_t count, size_t *rank);

/* Singular values (columns), descending, of a (columns, rows), a matrix by columns, rows >= columns, finite and of moderate size.
 * By one-sided Jacobi rotations (dgesvj): each is relatively accurate, however small, when the columns differ in length only. a is
 * overwritten by the left singular vectors, those of singular values that are not 0. LINATTN_EOVERFLOW when the sizes are more than
 * LAPACK's integers can count, LINATTN_ENOMEM, or LINATTN_ENOTCONVERGED; a and values then hold anything. */
int linattn__singular_values(double *a, size_t rows, size_t columns, double *values);

#endif
