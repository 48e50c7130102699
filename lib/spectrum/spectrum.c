/* spectrum.c: eigenvalues and eigenvectors of a symmetric matrix, and what they say. */
#include "spectrum/spectrum.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/lapack.h"
#include "common/options.h"
#include "statistics/statistics.h"
#include <float.h>
#include <linattn/number.h>
#include <math.h>
#include <string.h>

const linattn__struct linattn__spectrum_type = {"linattn_spectrum", sizeof(linattn_spectrum), sizeof(linattn_spectrum), NULL};

/* Entries of an eigenvector this close to the largest one, in relation, count as equal to it: by symmetry many are, up to rounding
 * that differs between BLAS libraries. */
static const double EQUAL = 1e-8;

double linattn__spectrum_zero(const double *eigenvalues, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(eigenvalues[i]));
    /* The small factors first: largest may be near the end of the range. */
    return (double)count * DBL_EPSILON * largest;
}

/* What is to be known of the matrix itself, whose entries are below 1, in units of 2^exponent. Sums go row by row, which keeps
 * rounding at p epsilon. */
static void describe_matrix(const double *matrix, size_t p, int exponent, linattn_spectrum *out) {
    double trace = 0, squares = 0;
    for (size_t i = 0; i < p; i++) {
        double row = 0;
        for (size_t j = 0; j < p; j++) row += matrix[i * p + j] * matrix[i * p + j];
        squares += row;
        trace += matrix[i * p + i];
    }
    out->trace = ldexp(trace, exponent);
    out->frobenius = ldexp(sqrt(squares), exponent);
}

/* Describes eigenvalues in units of 2^exponent, then takes them out of these: zeros are counted before anything may overflow. */
static void describe_eigenvalues(double *eigenvalues, size_t p, int exponent, linattn_spectrum *out) {
    const double zero = linattn__spectrum_zero(eigenvalues, p);
    double smallest = fabs(eigenvalues[0]);
    out->count = p;
    for (size_t i = 0; i < p; i++) {
        const double magnitude = fabs(eigenvalues[i]);
        smallest = fmin(smallest, magnitude);
        out->zeros += magnitude <= zero;
        out->negatives += magnitude > zero && eigenvalues[i] < 0;
        eigenvalues[i] = ldexp(eigenvalues[i], exponent);
    }
    out->smallest = eigenvalues[0];
    out->largest = eigenvalues[p - 1];
    out->spectral_norm = fmax(fabs(out->smallest), fabs(out->largest));
    out->smallest_magnitude = ldexp(smallest, exponent);
}

/* Makes the entry of largest magnitude positive, the first of those that are equal. */
static void fix_sign(double *vector, size_t p) {
    double largest = 0;
    size_t first = 0;
    for (size_t i = 0; i < p; i++) largest = fmax(largest, fabs(vector[i]));
    while (first + 1 < p && fabs(vector[first]) < (1 - EQUAL) * largest) first++;
    if (vector[first] < 0)
        for (size_t i = 0; i < p; i++) vector[i] = -vector[i];
}

/* linattn__spectrum_of into memory of the library's. */
static int compute(double *matrix, size_t p, double *eigenvalues, double *vectors, linattn_spectrum *result) {
    /* LAPACK may not come back from a NaN. */
    int status = linattn__check_finite("matrix", matrix, p * p);
    if (status != LINATTN_OK) return status;
    /* In units of a power of two in which all entries are below 1, no sum of theirs overflows. */
    const int exponent = linattn__exponent(matrix, p * p);
    for (size_t i = 0; i < p * p; i++) matrix[i] = ldexp(matrix[i], -exponent);
    describe_matrix(matrix, p, exponent, result);
    status = linattn__symmetric_eigen(matrix, p, eigenvalues, vectors, &result->driver);
    if (status != LINATTN_OK) return status;
    describe_eigenvalues(eigenvalues, p, exponent, result);
    for (size_t i = 0; vectors && i < p; i++) fix_sign(vectors + i * p, p);
    return LINATTN_OK;
}

int linattn__spectrum_of(double *matrix, size_t p, double *eigenvalues, double *vectors, linattn_spectrum *out) {
    linattn_spectrum result = {0};
    int status = linattn__spectrum_fits(p, vectors != NULL);
    if (status != LINATTN_OK) return status;
    double *values = linattn__allocate(p, sizeof *values);
    double *rows = vectors ? linattn__allocate(p * p, sizeof *rows) : NULL;
    status = values && (rows || !vectors) ? LINATTN_OK : linattn__fail_memory("a spectrum");
    if (status == LINATTN_OK) status = compute(matrix, p, values, rows, &result);
    if (status == LINATTN_OK) {
        if (eigenvalues) memcpy(eigenvalues, values, p * sizeof *values);
        if (vectors) memcpy(vectors, rows, p * p * sizeof *rows);
        linattn__result_write(&linattn__spectrum_type, out, &result);
    }
    linattn__release(values);
    linattn__release(rows);
    return status;
}

static int check_symmetric(const double *matrix, size_t p) {
    for (size_t i = 0; i < p; i++)
        for (size_t j = i + 1; j < p; j++) {
            const double upper = matrix[i * p + j], lower = matrix[j * p + i];
            char above[LINATTN_NUMBER_SIZE], below[LINATTN_NUMBER_SIZE];
            if (upper == lower) continue;
            linattn_number_write(upper, above);
            linattn_number_write(lower, below);
            return linattn__fail(LINATTN_EINVAL, "matrix[%zu, %zu] is %s and matrix[%zu, %zu] is %s; allowed: a symmetric matrix",
                                 i, j, above, j, i, below);
        }
    return LINATTN_OK;
}

int linattn_matrix_spectrum(const double *matrix, size_t p, double *eigenvalues, double *vectors, linattn_spectrum *out) {
    if (!matrix) return linattn__fail_null("matrix");
    if (p == 0) return linattn__fail_count("p", p, "1 or more");
    int status = linattn__spectrum_fits(p, vectors != NULL);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__spectrum_type, out);
    if (status == LINATTN_OK) status = linattn__check_finite("matrix", matrix, p * p);
    if (status == LINATTN_OK) status = check_symmetric(matrix, p);
    if (status != LINATTN_OK) return status;
    double *copy = linattn__allocate(p * p, sizeof *copy);
    if (!copy) return linattn__fail_memory("a spectrum");
    memcpy(copy, matrix, p * p * sizeof *copy);
    status = linattn__spectrum_of(copy, p, eigenvalues, vectors, out);
    linattn__release(copy);
    return status;
}
