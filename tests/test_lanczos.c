/* Extreme eigenvalues from Hessian-vector products: against closed forms and against the whole spectrum. */
#include "support/quadratic.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

static linattn_lanczos_options options_of(size_t steps, double tolerance) {
    linattn_lanczos_options options;
    ck_assert_ok(linattn_lanczos_options_init(&options, sizeof options));
    options.steps = steps;
    options.tolerance = tolerance;
    return options;
}

static linattn_extremes result(void) { return (linattn_extremes){.struct_size = sizeof(linattn_extremes)}; }

/* Case N10: diag(1, 2, 3), all steps: real ascending eigenvalues, weights that sum to 1. */
START_TEST(case_N10_full_lanczos_finds_all_eigenvalues) {
    const double a[9] = {2, 0, 0, 0, 3, 0, 0, 0, 1}, theta[3] = {0};
    quadratic f = quadratic_of(3, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_lanczos_options options = options_of(10, 0);
    linattn_extremes out = result();
    double nodes[10], weights[10];
    ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, &options, nodes, weights, &out));
    ck_assert_uint_eq(out.steps, 3);
    for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(nodes[i], i + 1, 1e-14);
    for (int i = 0; i < 3; i++) ck_assert_double_gt(weights[i], 0);
    ck_assert_double_eq_tol(weights[0] + weights[1] + weights[2], 1, 1e-14);
    ck_assert_double_eq(out.smallest, nodes[0]);
    ck_assert_double_eq(out.largest, nodes[2]);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* The second difference matrix of 300: 2 - 2 cos(k pi / 301). Its ends are crowded, so this is hard; errors must bound. */
static void second_difference(double *a, size_t p) {
    for (size_t i = 0; i < p; i++) {
        a[i * p + i] = 2;
        if (i + 1 < p) a[i * p + i + 1] = a[(i + 1) * p + i] = -1;
    }
}

START_TEST(extremes_of_the_second_difference) {
    enum { P = 300 };
    const double pi = 3.14159265358979323846;
    double *a = calloc(P * P, sizeof *a), *theta = calloc(P, sizeof *theta);
    second_difference(a, P);
    quadratic f = quadratic_of(P, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_extremes out = result();
    for (uint64_t seed = 0; seed < 3; seed++) {
        linattn_lanczos_options options = options_of(P, 1e-10);
        options.seed = seed;
        ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, &options, NULL, NULL, &out));
        ck_assert_double_eq_tol(out.largest, 2 + 2 * cos(pi / (P + 1)), 1e-12);
        ck_assert_double_eq_tol(out.smallest, 2 - 2 * cos(pi / (P + 1)), 1e-12);
        ck_assert_double_eq(out.spectral_norm, out.largest);
        ck_assert_double_le(out.largest_error, 1e-10 * out.largest);
        /* Few steps: not there yet, and the error says so: an eigenvalue is within it. */
        options = options_of(40, 1e-10);
        options.seed = seed;
        out.steps = 7;
        ck_assert_status(linattn_diagnostics_extremes(d, 0, theta, &options, NULL, NULL, &out), LINATTN_ENOTCONVERGED,
                         "steps is 40");
        ck_assert_uint_eq(out.steps, 7);
        options.tolerance = 0;
        ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, &options, NULL, NULL, &out));
        ck_assert_uint_eq(out.steps, 40);
        double nearest = INFINITY;
        for (int k = 1; k <= P; k++) nearest = fmin(nearest, fabs(out.largest - (2 - 2 * cos(k * pi / (P + 1)))));
        ck_assert_double_le(nearest, out.largest_error);
        ck_assert_double_lt(out.largest, 4);
    }
    linattn_diagnostics_destroy(d);
    free(a);
    free(theta);
}
END_TEST

/* Equal eigenvalues are met at once; nothing but zeros is no special case. */
START_TEST(invariant_subspaces_end_early) {
    enum { P = 12 };
    double a[P * P] = {0}, theta[P] = {0}, nodes[200], weights[200];
    quadratic f = quadratic_of(P, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_extremes out = result();
    ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, NULL, nodes, weights, &out));
    ck_assert_uint_eq(out.steps, 1);
    ck_assert_double_eq(out.largest, 0);
    ck_assert_double_eq(out.spectral_norm, 0);
    ck_assert_double_eq(weights[0], 1);
    for (int i = 0; i < P; i++) a[i * (P + 1)] = i < 5 ? -3 : 2;
    ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, NULL, nodes, weights, &out));
    ck_assert_uint_eq(out.steps, 2);
    ck_assert_double_eq_tol(out.smallest, -3, 1e-14);
    ck_assert_double_eq_tol(out.largest, 2, 1e-14);
    ck_assert_double_eq(out.spectral_norm, -out.smallest);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* Curvature of any size: its square need not be a double. */
START_TEST(extremes_of_any_scale) {
    const double diagonal[6] = {1, 2, 3, -4, 5, 0.5}, theta[6] = {0};
    for (int exponent = -900; exponent <= 900; exponent += 300) {
        double a[36] = {0};
        for (int i = 0; i < 6; i++) a[7 * i] = ldexp(diagonal[i], exponent);
        quadratic f = quadratic_of(6, a);
        linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
        linattn_extremes out = result();
        ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, NULL, NULL, NULL, &out));
        ck_assert_uint_eq(out.steps, 6);
        ck_assert_double_eq_tol(ldexp(out.smallest, -exponent), -4, 1e-13);
        ck_assert_double_eq_tol(ldexp(out.largest, -exponent), 5, 1e-13);
        linattn_diagnostics_destroy(d);
    }
}
END_TEST

/* A model: the ends of its dense spectrum, preconditioned or not; another thread count, the same bits. */
START_TEST(extremes_of_a_model) {
    random_case c = random_case_open((reference_shape){3, 1, 5, 6, 0}, 65, 5);
    const size_t p = c.p;
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    double *scale = malloc(p * sizeof *scale), *values = malloc(p * sizeof *values);
    linattn_extremes first = result();
    for (size_t i = 0; i < p; i++) scale[i] = 0.1 + fabs(sin((double)i));
    for (size_t threads = 1; threads <= 2; threads++)
        for (int scaled = 0; scaled < 2; scaled++) {
            linattn_diagnostics_options with;
            linattn_diagnostics *d;
            linattn_curvature_options curvature;
            linattn_lanczos_options options = options_of(p, 1e-9);
            linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
            linattn_extremes out = result();
            ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
            ck_assert_ok(linattn_curvature_options_init(&curvature, sizeof curvature));
            with.threads = threads;
            curvature.preconditioner = options.preconditioner = scaled ? scale : NULL;
            ck_assert_ok(linattn_diagnostics_create(&d, f, &with));
            ck_assert_ok(linattn_diagnostics_spectrum(d, 0, c.theta, &curvature, values, NULL, &spectrum));
            ck_assert_ok(linattn_diagnostics_extremes(d, 0, c.theta, &options, NULL, NULL, &out));
            ck_assert_uint_lt(out.steps, p);
            ck_assert_double_eq_tol(out.smallest, spectrum.smallest, 1e-10 * spectrum.spectral_norm);
            ck_assert_double_eq_tol(out.largest, spectrum.largest, 1e-10 * spectrum.spectral_norm);
            ck_assert_double_eq_tol(out.spectral_norm, spectrum.spectral_norm, 1e-10 * spectrum.spectral_norm);
            if (threads == 1 && scaled) first = out;
            if (threads == 2 && scaled) ck_assert_mem_eq(&out, &first, sizeof out);
            linattn_diagnostics_destroy(d);
        }
    free(scale);
    free(values);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* Gauss' quadrature of k nodes is exact for polynomials of degree 2k - 1: against the density that all p steps see. */
START_TEST(quadrature_is_exact_for_polynomials) {
    enum { P = 30, FEW = 6 };
    double *a = calloc(P * P, sizeof *a), theta[P] = {0}, all[P], all_weights[P], few[FEW], few_weights[FEW];
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) a[i * P + j] = cos((double)(i * j)) / P + (i == j ? sin((double)i) : 0);
    quadratic f = quadratic_of(P, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_extremes out = result();
    linattn_lanczos_options options = options_of(P, 0);
    ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, &options, all, all_weights, &out));
    ck_assert_uint_eq(out.steps, P);
    options.steps = FEW;
    ck_assert_ok(linattn_diagnostics_extremes(d, 0, theta, &options, few, few_weights, &out));
    ck_assert_uint_eq(out.steps, FEW);
    for (int degree = 0; degree <= 2 * FEW - 1; degree++) {
        double wanted = 0, got = 0;
        for (size_t i = 0; i < P; i++) wanted += all_weights[i] * pow(all[i], degree);
        for (size_t i = 0; i < FEW; i++) got += few_weights[i] * pow(few[i], degree);
        ck_assert_double_eq_tol(got, wanted, 1e-12);
    }
    linattn_diagnostics_destroy(d);
    free(a);
}
END_TEST

START_TEST(bad_options_are_refused) {
    const double a[4] = {1, 0, 0, 9}, theta[2] = {0}, zero[2] = {1, 0}, bad[2] = {NAN, 1};
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_lanczos_options o = options_of(10, 0.1);
    linattn_extremes out = result();
#define REFUSED(status, text)                                                                                                      \
    ck_assert_status(linattn_diagnostics_extremes(d, 0, theta, &o, NULL, NULL, &out), status, text);                               \
    o = options_of(10, 0.1)
    o.steps = 0;
    REFUSED(LINATTN_EINVAL, "steps is 0");
    o.steps = 4097;
    REFUSED(LINATTN_EINVAL, "steps is 4097");
    o.tolerance = -1e-9;
    REFUSED(LINATTN_EINVAL, "tolerance is -1e-9");
    o.tolerance = NAN;
    REFUSED(LINATTN_EINVAL, "tolerance is nan");
    o.preconditioner = zero;
    REFUSED(LINATTN_EINVAL, "preconditioner[1] is 0");
    o.preconditioner = bad;
    REFUSED(LINATTN_ENONFINITE, "preconditioner[0] is nan");
    o.struct_size = 1;
    REFUSED(LINATTN_EINVAL, "linattn_lanczos_options");
#undef REFUSED
    ck_assert_status(linattn_diagnostics_extremes(d, 0, bad, &o, NULL, NULL, &out), LINATTN_ENONFINITE, "theta[0] is nan");
    ck_assert_status(linattn_diagnostics_extremes(d, 0, theta, &o, NULL, NULL, NULL), LINATTN_EINVAL, "is NULL");
    ck_assert_uint_eq(out.steps, 0);
    linattn_diagnostics_destroy(d);
}
END_TEST

static Suite *lanczos_suite(void) {
    Suite *suite = suite_create("lanczos");
    TCase *tests = tcase_create("lanczos");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, case_N10_full_lanczos_finds_all_eigenvalues);
    tcase_add_test(tests, extremes_of_the_second_difference);
    tcase_add_test(tests, invariant_subspaces_end_early);
    tcase_add_test(tests, extremes_of_any_scale);
    tcase_add_test(tests, extremes_of_a_model);
    tcase_add_test(tests, quadrature_is_exact_for_polynomials);
    tcase_add_test(tests, bad_options_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(lanczos_suite)
