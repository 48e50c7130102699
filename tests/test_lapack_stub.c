/* LAPACK that fails: this program's own LAPACKE functions come before the library's. They count calls, and either pass them on or
 * report what they were told to, after spoiling all that LAPACK may spoil. Memory that fails too: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/suite.h"

#include <lapacke.h>
#include <linattn/spectrum.h>
#include <math.h>

#ifdef LINATTN_FAIL_ALLOCATION

enum { SIZE = 20 };

static struct {
    lapack_int info;
    int nan; /* reports success with eigenvalues that are none */
    int calls;
} divide_and_conquer, representations, least_squares, jacobi;

static void spoil(char jobz, lapack_int n, double *a, double *w) {
    for (lapack_int j = 0; j < n; j++)
        for (lapack_int i = 0; i < n; i++)
            if (jobz == 'V' || i >= j) a[j * n + i] = NAN;
    for (lapack_int i = 0; i < n; i++) w[i] = NAN;
}

lapack_int LAPACKE_dsyevd_work(int layout, char jobz, char uplo, lapack_int n, double *a, lapack_int lda, double *w, double *work,
                               lapack_int lwork, lapack_int *iwork, lapack_int liwork) {
    lapack_int info = divide_and_conquer.info;
    ck_assert_int_eq(layout, LAPACK_COL_MAJOR);
    ck_assert_int_eq(uplo, 'L');
    divide_and_conquer.calls++;
    if (info > 0 || divide_and_conquer.nan)
        spoil(jobz, n, a, w);
    else
        LAPACK_dsyevd(&jobz, &uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, &info);
    return info;
}

lapack_int LAPACKE_dsyevr_work(int layout, char jobz, char range, char uplo, lapack_int n, double *a, lapack_int lda, double vl,
                               double vu, lapack_int il, lapack_int iu, double abstol, lapack_int *m, double *w, double *z,
                               lapack_int ldz, lapack_int *isuppz, double *work, lapack_int lwork, lapack_int *iwork,
                               lapack_int liwork) {
    lapack_int info = representations.info;
    ck_assert_int_eq(layout, LAPACK_COL_MAJOR);
    representations.calls++;
    if (info > 0 || representations.nan)
        spoil('V', n, a, w);
    else
        LAPACK_dsyevr(&jobz, &range, &uplo, &n, a, &lda, &vl, &vu, &il, &iu, &abstol, m, w, z, &ldz, isuppz, work, &lwork, iwork,
                      &liwork, &info);
    return info;
}

lapack_int LAPACKE_dgelsd_work(int layout, lapack_int m, lapack_int n, lapack_int nrhs, double *a, lapack_int lda, double *b,
                               lapack_int ldb, double *s, double rcond, lapack_int *rank, double *work, lapack_int lwork,
                               lapack_int *iwork) {
    lapack_int info = least_squares.info;
    ck_assert_int_eq(layout, LAPACK_COL_MAJOR);
    least_squares.calls++;
    if (info > 0 && lwork >= 0)
        spoil('V', 1, a, b);
    else
        LAPACK_dgelsd(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &lwork, iwork, &info);
    return info;
}

lapack_int LAPACKE_dgesvj_work(int layout, char joba, char jobu, char jobv, lapack_int m, lapack_int n, double *a, lapack_int lda,
                               double *sva, lapack_int mv, double *v, lapack_int ldv, double *work, lapack_int lwork) {
    lapack_int info = jacobi.info;
    ck_assert_int_eq(layout, LAPACK_COL_MAJOR);
    ck_assert_int_ge(m, n);
    jacobi.calls++;
    if (info > 0 || jacobi.nan)
        spoil('V', n, a, sva);
    else
        LAPACK_dgesvj(&joba, &jobu, &jobv, &m, &n, a, &lda, sva, &mv, v, &ldv, work, &lwork, &info);
    return info;
}

static double matrix[SIZE * SIZE], eigenvalues[SIZE], vectors[SIZE * SIZE];

static void reset(void) {
    memset(&divide_and_conquer, 0, sizeof divide_and_conquer);
    memset(&representations, 0, sizeof representations);
    memset(&least_squares, 0, sizeof least_squares);
    memset(&jacobi, 0, sizeof jacobi);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++) matrix[i * SIZE + j] = cos((double)(i * j)) + (i == j ? (double)i : 0);
}

/* What must not reach LAPACK does not. */
START_TEST(case_B1_no_call_for_bad_input) {
    linattn_spectrum out = {.struct_size = sizeof out};
    const double bad[] = {NAN, INFINITY};
    const size_t places[] = {0, 7, SIZE * SIZE - 1};
    for (size_t b = 0; b < 2; b++)
        for (size_t k = 0; k < 3; k++) {
            reset();
            matrix[places[k]] = bad[b];
            ck_assert_status(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, NULL, &out), LINATTN_ENONFINITE, "matrix[");
            ck_assert_status(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, vectors, &out), LINATTN_ENONFINITE, "matrix[");
            ck_assert_int_eq(divide_and_conquer.calls + representations.calls, 0);
        }
    reset();
    matrix[1] += 1;
    ck_assert_status(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, NULL, &out), LINATTN_EINVAL, "matrix[0, 1]");
    ck_assert_status(linattn_matrix_spectrum(matrix, (size_t)1 << 31, eigenvalues, NULL, &out), LINATTN_EOVERFLOW, "p is");
    ck_assert_int_eq(divide_and_conquer.calls + representations.calls, 0);
}
END_TEST

/* The second driver gets the matrix as it was, and gives what the first one would have given. */
START_TEST(case_B8_second_driver_takes_over) {
    double wanted[SIZE], rows[SIZE * SIZE];
    linattn_spectrum first = {.struct_size = sizeof first}, second = {.struct_size = sizeof second};
    reset();
    ck_assert_ok(linattn_matrix_spectrum(matrix, SIZE, wanted, rows, &first));
    ck_assert_int_eq(first.driver, LINATTN_DRIVER_DSYEVD);
    ck_assert_int_eq(divide_and_conquer.calls, 1);
    ck_assert_int_eq(representations.calls, 0);
    for (int nan = 0; nan <= 1; nan++)
        for (int with = 0; with <= 1; with++) {
            reset();
            divide_and_conquer.info = nan ? 0 : 3;
            divide_and_conquer.nan = nan;
            ck_assert_ok(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, with ? vectors : NULL, &second));
            ck_assert_int_eq(second.driver, LINATTN_DRIVER_DSYEVR);
            ck_assert_int_eq(representations.calls, 1);
            for (size_t i = 0; i < SIZE; i++) ck_assert_double_eq_tol(eigenvalues[i], wanted[i], 1e-13 * first.spectral_norm);
            for (size_t i = 0; with && i < SIZE * SIZE; i++) ck_assert_double_eq_tol(vectors[i], rows[i], 1e-12);
            ck_assert_double_eq(second.frobenius, first.frobenius);
        }
}
END_TEST

START_TEST(case_B8_neither_converges) {
    for (int with = 0; with <= 1; with++) {
        linattn_spectrum out = {.struct_size = sizeof out, .count = 77};
        reset();
        divide_and_conquer.info = 3;
        representations.info = 5;
        eigenvalues[0] = vectors[0] = 123;
        ck_assert_status(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, with ? vectors : NULL, &out), LINATTN_ENOTCONVERGED,
                         "dsyevd gave info 3, dsyevr info 5");
        ck_assert_double_eq(eigenvalues[0], 123);
        ck_assert_double_eq(vectors[0], 123);
        ck_assert_uint_eq(out.count, 77);
        representations.info = 0;
        representations.nan = 1;
        ck_assert_status(linattn_matrix_spectrum(matrix, SIZE, eigenvalues, with ? vectors : NULL, &out), LINATTN_ENOTCONVERGED,
                         "dsyevr info 0");
    }
}
END_TEST

/* Singular values that do not come, or are none: outputs are as they were. */
START_TEST(singular_values_do_not_converge) {
    linattn_prompt_options o;
    linattn_prompt *prompt;
    linattn_prompt_condition c = {.struct_size = sizeof c};
    double theta[3] = {0.1, 0.2, 0.3}, singular[3] = {7, 7, 7}, rate = 7;
    ck_assert_ok(linattn_prompt_options_init(&o, sizeof o));
    o.examples = 4;
    o.tokens = 2;
    o.dim = 3;
    ck_assert_ok(linattn_prompt_create(&prompt, &o));
    for (int nan = 0; nan < 2; nan++) {
        reset();
        jacobi.info = nan ? 0 : 5;
        jacobi.nan = nan;
        ck_assert_status(linattn_prompt_measure_condition(prompt, theta, singular, &c), LINATTN_ENOTCONVERGED, "dgesvj gave info");
        ck_assert_status(linattn_prompt_predict_rate(prompt, theta, 0.1, &rate), LINATTN_ENOTCONVERGED, "dgesvj gave info");
        ck_assert(singular[0] == 7 && rate == 7 && c.rank == 0);
    }
    reset();
    ck_assert_ok(linattn_prompt_measure_condition(prompt, theta, singular, &c));
    ck_assert_int_gt(jacobi.calls, 0);
    ck_assert_uint_eq(c.rank, 3);
    linattn_prompt_destroy(prompt);
}
END_TEST

START_TEST(least_squares_do_not_converge) {
    const double tokens[] = {1, 2, 3, 4, 5, 0, 1, 1, 1, 2, 5, 0}, targets[] = {1, 2};
    double out[2] = {7, 7};
    linattn_batch *batch;
    linattn_baseline_options o;
    reset();
    ck_assert_ok(linattn_baseline_options_init(&o, sizeof o));
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 2, 1));
    least_squares.info = 2;
    ck_assert_status(linattn_baseline_predict(batch, &o, out), LINATTN_ENOTCONVERGED, "prompt 0");
    ck_assert_double_eq(out[0], 7);
    ck_assert_int_gt(least_squares.calls, 0);
    least_squares.info = 0;
    ck_assert_ok(linattn_baseline_predict(batch, &o, out));
    ck_assert_double_eq_tol(out[0], 14.0 / 10 * 5, 1e-13); /* x = 1, 3; y = 2, 4; query 5 */
    linattn_batch_destroy(batch);
}
END_TEST

/* Everything in the header once, to the first failure. */
static int use_everything(void) {
    const double weights[] = {0.25, 0.75}, x[] = {0, 1};
    double out[SIZE * SIZE], diagonal[SIZE];
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    linattn_condition condition = {.struct_size = sizeof condition};
    linattn_spectra_distance distance = {.struct_size = sizeof distance};
    for (size_t i = 0; i < SIZE; i++) diagonal[i] = 1 + (double)i;
    int status = linattn_matrix_spectrum(matrix, SIZE, eigenvalues, NULL, &spectrum);
    if (!status) status = linattn_matrix_spectrum(matrix, SIZE, eigenvalues, vectors, &spectrum);
    if (!status)
        status = linattn_robust_condition(eigenvalues, SIZE, LINATTN_CONDITION_EIGENVALUES, LINATTN_MEDIAN_MEAN, &condition);
    if (!status) status = linattn_spectrum_density(eigenvalues, weights, 2, 0.1, x, 2, out);
    if (!status) status = linattn_spectra_compare(eigenvalues, 5, eigenvalues + 5, 7, 0.02, &distance);
    if (!status) status = linattn_matrix_precondition(matrix, SIZE, diagonal, out);
    return status;
}

/* The k-th allocation fails, k = 0, 1, 2, ...: LINATTN_ENOMEM until there are no more; with the second driver's too. */
START_TEST(every_allocation_may_fail) {
    for (lapack_int info = 0; info <= 1; info++) {
        int status = LINATTN_ENOMEM;
        long k = 0;
        reset();
        divide_and_conquer.info = info;
        for (; status != LINATTN_OK && k < 100; k++) {
            linattn__fail_allocation_after(k);
            status = use_everything();
            linattn__fail_allocation_after(-1);
            if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory for");
        }
        ck_assert_int_eq(status, LINATTN_OK);
        ck_assert_int_gt(k, info ? 20 : 14);
    }
}
END_TEST

static Suite *lapack_stub_suite(void) {
    Suite *suite = suite_create("lapack_stub");
    TCase *tc = tcase_create("lapack_stub");
    tcase_add_test(tc, case_B1_no_call_for_bad_input);
    tcase_add_test(tc, case_B8_second_driver_takes_over);
    tcase_add_test(tc, case_B8_neither_converges);
    tcase_add_test(tc, singular_values_do_not_converge);
    tcase_add_test(tc, least_squares_do_not_converge);
    tcase_add_test(tc, every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(lapack_stub_suite)
#endif
