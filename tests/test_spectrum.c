/* The spectrum of a symmetric matrix: against closed forms, and what is refused. Names begin with the case they cover. */
#include "support/doubles.h"
#include "support/suite.h"

#include <float.h>
#include <linattn/spectrum.h>
#include <math.h>
#include <stdio.h>

enum { LARGE = 150 };

static const double PI = 3.14159265358979323846;

static double matrix[LARGE * LARGE], eigenvalues[LARGE], vectors[LARGE * LARGE];
static linattn_spectrum spectrum;

/* In [-1, 1]. */
static double uniform(uint64_t *state) { return (double)(int64_t)random_bits(state) * 0x1p-63; }

static void fill_random(double *out, size_t p, uint64_t seed) {
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) out[i * p + j] = out[j * p + i] = uniform(&seed);
}

static void compute(size_t p) {
    spectrum = (linattn_spectrum){.struct_size = sizeof spectrum};
    ck_assert_ok(linattn_matrix_spectrum(matrix, p, eigenvalues, vectors, &spectrum));
}

static void set_diagonal(const double *diagonal, size_t p) {
    memset(matrix, 0, sizeof matrix);
    for (size_t i = 0; i < p; i++) matrix[i * p + i] = diagonal[i];
}

/* M v = lambda v, orthonormal rows, ascending eigenvalues, the sign rule. */
static void check_vectors(size_t p, double tolerance) {
    for (size_t i = 0; i < p; i++) {
        const double *v = vectors + i * p;
        double largest = 0;
        size_t first = 0;
        if (i > 0) ck_assert_double_ge(eigenvalues[i], eigenvalues[i - 1]);
        for (size_t k = 0; k < p; k++) {
            double product = 0;
            for (size_t j = 0; j < p; j++) product += matrix[k * p + j] * v[j];
            ck_assert_double_eq_tol(product, eigenvalues[i] * v[k], tolerance * spectrum.spectral_norm);
            largest = fmax(largest, fabs(v[k]));
        }
        while (fabs(v[first]) < largest * (1 - 1e-8)) first++;
        ck_assert_double_gt(v[first], 0);
        for (size_t j = 0; j <= i; j++) {
            double product = 0;
            for (size_t k = 0; k < p; k++) product += v[k] * vectors[j * p + k];
            ck_assert_double_eq_tol(product, i == j, tolerance);
        }
    }
}

/* The second difference: 2 - 2 cos(k pi / (p + 1)), whose eigenvectors are sines. */
START_TEST(second_difference) {
    const size_t sizes[] = {1, 2, 3, 10, 64, LARGE};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t p = sizes[s];
        memset(matrix, 0, sizeof matrix);
        for (size_t i = 0; i < p; i++) {
            matrix[i * p + i] = 2;
            if (i + 1 < p) matrix[i * p + i + 1] = matrix[(i + 1) * p + i] = -1;
        }
        compute(p);
        check_vectors(p, 1e-13);
        ck_assert_uint_eq(spectrum.count, p);
        ck_assert_int_eq(spectrum.driver, LINATTN_DRIVER_DSYEVD);
        for (size_t k = 1; k <= p; k++) {
            const double angle = (double)k * PI / (double)(p + 1);
            double overlap = 0;
            ck_assert_double_eq_tol(eigenvalues[k - 1], 2 - 2 * cos(angle), 2e-14);
            for (size_t j = 1; j <= p; j++)
                overlap += vectors[(k - 1) * p + j - 1] * sqrt(2 / (double)(p + 1)) * sin((double)j * angle);
            ck_assert_double_eq_tol(fabs(overlap), 1, 1e-11);
        }
        ck_assert_double_eq(spectrum.trace, 2 * (double)p);
        ck_assert_double_eq_tol(spectrum.frobenius, sqrt(6 * (double)p - 2), 1e-13 * (double)p);
        ck_assert_double_eq(spectrum.smallest, eigenvalues[0]);
        ck_assert_double_eq(spectrum.largest, eigenvalues[p - 1]);
        ck_assert_uint_eq(spectrum.zeros + spectrum.negatives, 0);
    }
}
END_TEST

/* x x^T: |x|^2 once, 0 otherwise. */
START_TEST(rank_one) {
    const size_t p = 40;
    double x[40], square = 0, dot = 0;
    uint64_t state = 1;
    for (size_t i = 0; i < p; i++) {
        x[i] = uniform(&state);
        square += x[i] * x[i];
    }
    for (size_t i = 0; i < p * p; i++) matrix[i] = x[i / p] * x[i % p];
    compute(p);
    ck_assert_double_eq_tol(spectrum.largest, square, 1e-13 * square);
    ck_assert_double_eq_tol(spectrum.trace, square, 1e-13 * square);
    ck_assert_double_eq_tol(spectrum.frobenius, square, 1e-13 * square);
    ck_assert_double_le(spectrum.smallest_magnitude, 1e-15 * square);
    ck_assert_uint_eq(spectrum.zeros, p - 1);
    ck_assert_uint_eq(spectrum.negatives, 0);
    for (size_t i = 0; i < p; i++) dot += x[i] * vectors[(p - 1) * p + i];
    ck_assert_double_eq_tol(fabs(dot), sqrt(square), 1e-13 * sqrt(square));
}
END_TEST

/* Eigenvalues that were put in: M = Q diag(lambda) Q with the reflection Q = I - 2 u u^T / |u|^2, some of them equal. */
START_TEST(reflected_diagonal) {
    const size_t p = 60;
    double u[60], wanted[60], square = 0;
    uint64_t state = 2;
    for (size_t i = 0; i < p; i++) {
        u[i] = uniform(&state);
        square += u[i] * u[i];
        wanted[i] = i < 5 ? -7 : (double)i - 20;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < p; k++)
                sum += ((i == k) - 2 * u[i] * u[k] / square) * wanted[k] * ((j == k) - 2 * u[j] * u[k] / square);
            matrix[i * p + j] = matrix[j * p + i] = sum;
        }
    compute(p);
    check_vectors(p, 1e-13);
    /* In order: -15 .. -8, then -7 six times, then -6 .. 39. */
    for (size_t i = 0; i < 14; i++) wanted[i] = i < 8 ? (double)i - 15 : -7;
    for (size_t i = 0; i < p; i++) ck_assert_double_eq_tol(eigenvalues[i], wanted[i], 1e-12);
    ck_assert_uint_eq(spectrum.zeros, 1);
    ck_assert_uint_eq(spectrum.negatives, 20);
    ck_assert_double_eq_tol(spectrum.spectral_norm, 39, 1e-12);
}
END_TEST

/* The sum of eigenvalues is the trace, the sum of their squares that of the entries; the matrix stays as it was, and without
 * vectors the eigenvalues are the same. */
START_TEST(sums_agree) {
    static double before[LARGE * LARGE], again[LARGE];
    for (size_t p = 1; p <= 40; p++) {
        double sum = 0, magnitudes = 0, squares = 0;
        fill_random(matrix, p, p);
        memcpy(before, matrix, sizeof before);
        compute(p);
        check_vectors(p, 1e-13);
        ck_assert_mem_eq(matrix, before, p * p * sizeof *matrix);
        for (size_t i = 0; i < p; i++) {
            sum += eigenvalues[i];
            magnitudes += fabs(eigenvalues[i]);
            squares += eigenvalues[i] * eigenvalues[i];
        }
        ck_assert_double_eq_tol(sum, spectrum.trace, 1e-12 * magnitudes);
        ck_assert_double_eq_tol(sqrt(squares), spectrum.frobenius, 1e-13 * spectrum.frobenius);
        linattn_spectrum alone = {.struct_size = sizeof alone};
        ck_assert_ok(linattn_matrix_spectrum(matrix, p, again, NULL, &alone));
        for (size_t i = 0; i < p; i++) ck_assert_double_eq_tol(again[i], eigenvalues[i], 1e-13 * spectrum.spectral_norm);
        ck_assert_ok(linattn_matrix_spectrum(matrix, p, NULL, NULL, &alone));
        ck_assert_double_eq(alone.largest, again[p - 1]);
        ck_assert_ok(linattn_matrix_spectrum(matrix, p, NULL, vectors, &alone));
        ck_assert_double_eq(alone.largest, spectrum.largest);
    }
}
END_TEST

START_TEST(smallest_matrices) {
    matrix[0] = -5;
    compute(1);
    ck_assert_double_eq(eigenvalues[0], -5);
    ck_assert_double_eq(vectors[0], 1);
    ck_assert_double_eq(spectrum.smallest, -5);
    ck_assert_double_eq(spectrum.largest, -5);
    ck_assert_double_eq(spectrum.smallest_magnitude, 5);
    ck_assert_double_eq(spectrum.spectral_norm, 5);
    ck_assert_double_eq(spectrum.trace, -5);
    ck_assert_double_eq(spectrum.frobenius, 5);
    ck_assert_uint_eq(spectrum.negatives, 1);
    const double zeros[] = {0, -0.0, 0};
    set_diagonal(zeros, 3);
    compute(3);
    ck_assert_uint_eq(spectrum.zeros, 3);
    ck_assert_uint_eq(spectrum.negatives, 0);
    ck_assert_double_eq(spectrum.spectral_norm, 0);
    ck_assert_double_eq(spectrum.frobenius, 0);
}
END_TEST

/* Entries of equal magnitude: the first one is made positive, whatever rounding says. */
START_TEST(sign_of_equal_entries) {
    const double half = sqrt(0.5);
    memset(matrix, 0, sizeof matrix);
    matrix[1] = matrix[2] = 3;
    compute(2);
    const double wanted[] = {half, -half, half, half};
    for (size_t i = 0; i < 4; i++) ck_assert_double_eq_tol(vectors[i], wanted[i], 1e-15);
    ck_assert_double_eq_tol(spectrum.smallest_magnitude, 3, 1e-14);
    ck_assert_double_eq(spectrum.trace, 0);
}
END_TEST

/* |lambda| <= p epsilon max |lambda|, on either side of that. */
START_TEST(what_counts_as_zero) {
    const double as_zero[] = {1, -0x1p-51}, small[] = {1, -0x1.01p-51}, mixed[] = {-3, 0, 1e-17, 2};
    set_diagonal(as_zero, 2);
    compute(2);
    ck_assert_uint_eq(spectrum.zeros, 1);
    ck_assert_uint_eq(spectrum.negatives, 0);
    ck_assert_double_eq(spectrum.smallest, -0x1p-51);
    set_diagonal(small, 2);
    compute(2);
    ck_assert_uint_eq(spectrum.zeros, 0);
    ck_assert_uint_eq(spectrum.negatives, 1);
    ck_assert_double_eq(spectrum.smallest_magnitude, 0x1.01p-51);
    set_diagonal(mixed, 4);
    compute(4);
    ck_assert_uint_eq(spectrum.zeros, 2);
    ck_assert_uint_eq(spectrum.negatives, 1);
    ck_assert_double_eq(spectrum.smallest_magnitude, 0);
    ck_assert_double_eq(spectrum.spectral_norm, 3);
}
END_TEST

/* Units of a power of two change nothing but the units; a result that does not fit is Inf. */
START_TEST(numbers_of_any_magnitude) {
    static double plain[LARGE], rows[30 * 30];
    const size_t p = 30;
    fill_random(matrix, p, 3);
    compute(p);
    memcpy(plain, eigenvalues, sizeof plain);
    memcpy(rows, vectors, sizeof rows);
    const linattn_spectrum first = spectrum;
    for (int exponent = -1000; exponent <= 1000; exponent += 500) {
        fill_random(matrix, p, 3);
        for (size_t i = 0; i < p * p; i++) matrix[i] = ldexp(matrix[i], exponent);
        compute(p);
        for (size_t i = 0; i < p; i++) ck_assert_double_eq(eigenvalues[i], ldexp(plain[i], exponent));
        ck_assert_mem_eq(vectors, rows, sizeof rows);
        ck_assert_double_eq(spectrum.trace, ldexp(first.trace, exponent));
        ck_assert_double_eq(spectrum.frobenius, ldexp(first.frobenius, exponent));
        ck_assert_uint_eq(spectrum.negatives, first.negatives);
    }
    for (size_t i = 0; i < 4; i++) matrix[i] = DBL_MAX;
    compute(2);
    ck_assert_double_infinite(spectrum.largest);
    ck_assert_double_infinite(spectrum.trace);
    ck_assert_double_infinite(spectrum.frobenius);
    ck_assert_uint_eq(spectrum.zeros, 1);
    ck_assert_uint_eq(spectrum.negatives, 0);
    for (size_t i = 0; i < 4; i++) matrix[i] = 1e300 * (i == 0 || i == 3);
    compute(2);
    ck_assert_double_eq(spectrum.frobenius / 1e300, sqrt(2));
    ck_assert_double_eq(spectrum.trace, 2e300);
}
END_TEST

/* NaN or Inf anywhere: the first bad index, and no output is touched. */
static void check_refused(size_t p, size_t row, size_t column, double value) {
    char wanted[64];
    linattn_spectrum out = {.struct_size = sizeof out, .count = 77};
    fill_random(matrix, p, 4);
    matrix[row * p + column] = value;
    eigenvalues[0] = vectors[0] = 123;
    snprintf(wanted, sizeof wanted, "matrix[%zu] is %s", row * p + column, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    ck_assert_status(linattn_matrix_spectrum(matrix, p, eigenvalues, vectors, &out), LINATTN_ENONFINITE, wanted);
    ck_assert_double_eq(eigenvalues[0], 123);
    ck_assert_double_eq(vectors[0], 123);
    ck_assert_uint_eq(out.count, 77);
}

START_TEST(case_B1_B2_bad_entries_in_either_triangle) {
    const size_t sizes[] = {1, 3, LARGE};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < 3; s++)
        for (size_t b = 0; b < 3; b++) {
            const size_t p = sizes[s];
            check_refused(p, 0, p - 1, bad[b]);
            check_refused(p, p - 1, 0, bad[b]);
            check_refused(p, p / 2, p / 2, bad[b]);
        }
    for (size_t i = 0; i < LARGE * LARGE; i++) matrix[i] = NAN;
    spectrum = (linattn_spectrum){.struct_size = sizeof spectrum};
    ck_assert_status(linattn_matrix_spectrum(matrix, LARGE, eigenvalues, vectors, &spectrum), LINATTN_ENONFINITE,
                     "matrix[0] is nan");
}
END_TEST

START_TEST(asymmetry_is_named) {
    spectrum = (linattn_spectrum){.struct_size = sizeof spectrum};
    fill_random(matrix, 3, 5);
    matrix[2] = 0.5;
    matrix[6] = nextafter(0.5, 1);
    matrix[7] = matrix[5] + 1;
    ck_assert_status(linattn_matrix_spectrum(matrix, 3, eigenvalues, NULL, &spectrum), LINATTN_EINVAL,
                     "matrix[0, 2] is 0.5 and matrix[2, 0] is 0.5000000000000001; allowed: a symmetric matrix");
    matrix[1] = 0;
    matrix[3] = -0.0;
    matrix[6] = matrix[2];
    matrix[7] = matrix[5];
    ck_assert_ok(linattn_matrix_spectrum(matrix, 3, eigenvalues, NULL, &spectrum));
}
END_TEST

/* Sizes are refused before the matrix is looked at. */
START_TEST(arguments_are_checked) {
    linattn_spectrum out = {.struct_size = sizeof out};
    matrix[0] = 1;
    ck_assert_status(linattn_matrix_spectrum(NULL, 1, eigenvalues, NULL, &out), LINATTN_EINVAL, "matrix is NULL");
    ck_assert_status(linattn_matrix_spectrum(matrix, 0, eigenvalues, NULL, &out), LINATTN_EINVAL, "p is 0; allowed: 1 or more");
    ck_assert_status(linattn_matrix_spectrum(matrix, 1, eigenvalues, NULL, NULL), LINATTN_EINVAL, "linattn_spectrum");
    const size_t too_large[] = {(size_t)1 << 31, (size_t)1 << 32, SIZE_MAX / 2, SIZE_MAX};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_status(linattn_matrix_spectrum(matrix, too_large[i], eigenvalues, NULL, &out), LINATTN_EOVERFLOW, "p is ");
        ck_assert_status(linattn_matrix_spectrum(matrix, too_large[i], eigenvalues, vectors, &out), LINATTN_EOVERFLOW, "p is ");
    }
    /* Above 32 bits' worth of workspace, 2 p^2, where LAPACK counts with those. */
    char blas[LINATTN_BLAS_INFO_SIZE];
    ck_assert_ok(linattn_blas_info(blas));
    if (strstr(blas, "integers: 32 bits"))
        ck_assert_status(linattn_matrix_spectrum(matrix, 32768, eigenvalues, vectors, &out), LINATTN_EOVERFLOW,
                         "p is 32768; allowed: what LAPACK's integers of 32 bits can count, with vectors");
    out.struct_size = 0;
    ck_assert_status(linattn_matrix_spectrum(matrix, 1, eigenvalues, NULL, &out), LINATTN_EINVAL, "linattn_spectrum");
}
END_TEST

START_TEST(case_B7_the_blas_is_named) {
    char text[LINATTN_BLAS_INFO_SIZE];
    memset(text, 'x', sizeof text);
    ck_assert_ok(linattn_blas_info(text));
    ck_assert_ptr_nonnull(memchr(text, '\0', sizeof text));
    ck_assert_msg(strncmp(text, "OpenBLAS", 8) == 0 || strncmp(text, "unknown BLAS", 12) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "; integers: "));
    if (strncmp(text, "OpenBLAS", 8) == 0) ck_assert_ptr_nonnull(strstr(text, "; kernels: "));
    ck_assert_status(linattn_blas_info(NULL), LINATTN_EINVAL, "text is NULL");
}
END_TEST

static Suite *spectrum_suite(void) {
    Suite *suite = suite_create("spectrum");
    TCase *tc = tcase_create("spectrum");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, second_difference);
    tcase_add_test(tc, rank_one);
    tcase_add_test(tc, reflected_diagonal);
    tcase_add_test(tc, sums_agree);
    tcase_add_test(tc, smallest_matrices);
    tcase_add_test(tc, sign_of_equal_entries);
    tcase_add_test(tc, what_counts_as_zero);
    tcase_add_test(tc, numbers_of_any_magnitude);
    tcase_add_test(tc, case_B1_B2_bad_entries_in_either_triangle);
    tcase_add_test(tc, asymmetry_is_named);
    tcase_add_test(tc, arguments_are_checked);
    tcase_add_test(tc, case_B7_the_blas_is_named);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(spectrum_suite)
