/* B5: eigenvalues in several threads at once, beside somebody else's matrix products, are what they are in one thread. */
#include "support/doubles.h"
#include "support/suite.h"

#include <linattn/spectrum.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

/* The BLAS's Fortran interface, which every BLAS has. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);

enum { THREADS = 4, PROBLEMS = 200, SIZE = 24, PRODUCT = 96, PRODUCTS = 200 };

static double serial[PROBLEMS][SIZE];
static atomic_int running;

static void make_matrix(size_t problem, double *out) {
    uint64_t state = problem;
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j <= i; j++) out[i * SIZE + j] = out[j * SIZE + i] = (double)(int64_t)random_bits(&state) * 0x1p-63;
}

/* 0 when all is well: a thread other than the test's cannot assert. */
static int solve(size_t problem, double *eigenvalues) {
    double matrix[SIZE * SIZE], vectors[SIZE * SIZE];
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    make_matrix(problem, matrix);
    if (linattn_matrix_spectrum(matrix, SIZE, eigenvalues, vectors, &spectrum) != LINATTN_OK) return 1;
    for (size_t i = 0; i < SIZE; i++)
        for (size_t k = 0; k < SIZE; k++) {
            double product = 0;
            for (size_t j = 0; j < SIZE; j++) product += matrix[k * SIZE + j] * vectors[i * SIZE + j];
            if (!(fabs(product - eigenvalues[i] * vectors[i * SIZE + k]) <= 1e-12 * spectrum.spectral_norm)) return 1;
        }
    return 0;
}

/* Each thread begins at another problem, so that different ones meet. */
static void *solve_all(void *user) {
    size_t *failures = user;
    const size_t first = *failures;
    *failures = 0;
    for (size_t k = 0; k < PROBLEMS; k++) {
        const size_t problem = (first + k) % PROBLEMS;
        double eigenvalues[SIZE];
        int bad = solve(problem, eigenvalues);
        for (size_t i = 0; i < SIZE; i++) bad |= !(fabs(eigenvalues[i] - serial[problem][i]) <= 1e-12 * SIZE);
        *failures += bad != 0;
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* ones times (1, 2, 3, ...) in columns: every entry of column j is PRODUCT (j + 1), exactly. */
static void *multiply_meanwhile(void *user) {
    size_t *failures = user;
    static double a[PRODUCT * PRODUCT], b[PRODUCT * PRODUCT], c[PRODUCT * PRODUCT];
    const int n = PRODUCT;
    const double one = 1, zero = 0;
    *failures = 0;
    for (size_t i = 0; i < PRODUCT * PRODUCT; i++) {
        a[i] = 1;
        b[i] = (double)(i / PRODUCT + 1);
    }
    for (size_t k = 0; k < PRODUCTS && atomic_load(&running) > 0; k++) {
        memset(c, 0, sizeof c);
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
        for (size_t i = 0; i < PRODUCT * PRODUCT; i++) *failures += c[i] != (double)(PRODUCT * (i / PRODUCT + 1));
    }
    return NULL;
}

START_TEST(case_B5_threads_do_not_disturb_each_other) {
    pthread_t threads[THREADS], multiplier;
    size_t failures[THREADS], wrong_products = 0;
    for (size_t problem = 0; problem < PROBLEMS; problem++) ck_assert_int_eq(solve(problem, serial[problem]), 0);
    atomic_store(&running, THREADS);
    ck_assert_int_eq(pthread_create(&multiplier, NULL, multiply_meanwhile, &wrong_products), 0);
    for (size_t t = 0; t < THREADS; t++) {
        failures[t] = t * PROBLEMS / THREADS;
        ck_assert_int_eq(pthread_create(&threads[t], NULL, solve_all, &failures[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        ck_assert_int_eq(pthread_join(threads[t], NULL), 0);
        ck_assert_uint_eq(failures[t], 0);
    }
    ck_assert_int_eq(pthread_join(multiplier, NULL), 0);
    ck_assert_uint_eq(wrong_products, 0);
}
END_TEST

static Suite *spectrum_threads_suite(void) {
    Suite *suite = suite_create("spectrum_threads");
    TCase *tc = tcase_create("spectrum_threads");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_B5_threads_do_not_disturb_each_other);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(spectrum_threads_suite)
