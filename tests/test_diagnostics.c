/* Curvature of objectives: spectra, condition numbers and heterogeneity of known matrices and of models; the handle itself. */
#include "support/quadratic.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

static linattn_spectrum spectrum(void) { return (linattn_spectrum){.struct_size = sizeof(linattn_spectrum)}; }
static linattn_condition condition(void) { return (linattn_condition){.struct_size = sizeof(linattn_condition)}; }

static linattn_curvature_options curvature_options(void) {
    linattn_curvature_options options;
    ck_assert_ok(linattn_curvature_options_init(&options, sizeof options));
    return options;
}

/* [[2, 1], [1, 3]] has the eigenvalues (5 +- sqrt 5)/2; a third, unconnected direction curves downwards. */
static const double known[9] = {2, 1, 0, 1, 3, 0, 0, 0, -4}, point[3] = {0.1, -0.2, 0.3};

START_TEST(spectrum_of_a_known_hessian) {
    quadratic f = quadratic_of(3, known);
    linattn_diagnostics *d = quadratic_diagnostics(&f, _i); /* exact, then differences of gradients */
    linattn_spectrum out = spectrum();
    const double tolerance = _i == LINATTN_HVP_EXACT ? 1e-14 : 1e-9, low = (5 - sqrt(5)) / 2, high = (5 + sqrt(5)) / 2;
    double values[3], vectors[9];
    ck_assert_int_eq(linattn_diagnostics_hvp_kind(d), _i);
    ck_assert_uint_eq(linattn_diagnostics_parameter_count(d), 3);
    ck_assert_ok(linattn_diagnostics_spectrum(d, 0, point, NULL, values, vectors, &out));
    ck_assert_double_eq_tol(values[0], -4, tolerance);
    ck_assert_double_eq_tol(values[1], low, tolerance);
    ck_assert_double_eq_tol(values[2], high, tolerance);
    ck_assert_double_eq_tol(fabs(vectors[2]), 1, tolerance);
    ck_assert_double_eq_tol(vectors[7] / vectors[6], high - 2, 10 * tolerance);
    ck_assert_uint_eq(out.count, 3);
    ck_assert_uint_eq(out.negatives, 1);
    ck_assert_double_eq_tol(out.smallest, -4, tolerance);
    ck_assert_double_eq_tol(out.spectral_norm, 4, tolerance);
    ck_assert_double_eq_tol(out.smallest_magnitude, low, tolerance);
    ck_assert_double_eq_tol(out.trace, 1, tolerance);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* D^(-1/2) H D^(-1/2) with D = (4, 1, 16): [[1/2, 1/2], [1/2, 3]] and -1/4; and a block of it. */
START_TEST(spectrum_of_a_preconditioned_block) {
    quadratic f = quadratic_of(3, known);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_curvature_options options = curvature_options();
    linattn_spectrum out = spectrum();
    linattn_condition by_eigenvalues = condition(), by_diagonal = condition();
    const double scale[3] = {4, 1, 16}, low = (3.5 - sqrt(7.25)) / 2, high = (3.5 + sqrt(7.25)) / 2;
    double values[3] = {0, 0, 7};
    options.preconditioner = scale;
    ck_assert_ok(linattn_diagnostics_spectrum(d, 0, point, &options, values, NULL, &out));
    ck_assert_double_eq_tol(values[0], -0.25, 1e-15);
    ck_assert_double_eq_tol(values[1], low, 1e-15);
    ck_assert_double_eq_tol(values[2], high, 1e-14);
    ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, point, &options, &by_eigenvalues, &by_diagonal));
    ck_assert_double_eq_tol(by_eigenvalues.value, high / low, 1e-13); /* |.|: 0.25, 0.404, 3.1 */
    ck_assert_double_eq_tol(by_diagonal.value, 3 / 0.5, 1e-14);
    linattn_condition alone = condition(); /* without the matrix */
    ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, point, &options, NULL, &alone));
    ck_assert_double_eq(alone.value, by_diagonal.value);
    ck_assert_uint_eq(by_eigenvalues.negatives, 1);
    options.first = 1;
    values[2] = 7;
    ck_assert_ok(linattn_diagnostics_spectrum(d, 0, point, &options, values, NULL, &out));
    ck_assert_double_eq(values[0], -0.25);
    ck_assert_double_eq(values[1], 3);
    ck_assert_double_eq(values[2], 7);
    ck_assert_uint_eq(out.count, 2);
    options.count = 1;
    ck_assert_ok(linattn_diagnostics_spectrum(d, 0, point, &options, values, NULL, &out));
    ck_assert_double_eq(values[0], 3);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* Case D2 on the model it comes from: one layer, d = 1, where P never reaches the loss and the Hessian is diag(0, 72). */
START_TEST(case_D2_a_zero_median_is_told) {
    const double tokens[4] = {1, 2, 3, 0}, target = 6, theta[2] = {0.3, 0};
    linattn_model_options shape;
    linattn_model *model;
    linattn_batch *batch;
    linattn_objective *f;
    linattn_diagnostics *d;
    ck_assert_ok(linattn_model_options_init(&shape, sizeof shape));
    shape.dim = shape.layers = 1;
    ck_assert_ok(linattn_model_create(&model, &shape));
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, &target, 1, 1, 1));
    ck_assert_ok(linattn_objective_create_fixed(&f, model, batch, NULL));
    ck_assert_ok(linattn_diagnostics_create(&d, f, NULL));
    linattn_objective_destroy(f); /* diagnostics have a clone */
    linattn_batch_destroy(batch);
    linattn_model_destroy(model);
    linattn_curvature_options options = curvature_options();
    linattn_condition by_eigenvalues = condition(), by_diagonal = condition();
    ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, theta, &options, &by_eigenvalues, &by_diagonal));
    ck_assert_double_infinite(by_eigenvalues.value);
    ck_assert_double_infinite(by_diagonal.value);
    ck_assert_int_eq(by_eigenvalues.flags, LINATTN_CONDITION_ZERO_MEDIAN);
    ck_assert_int_eq(by_diagonal.flags, LINATTN_CONDITION_ZERO_MEDIAN);
    ck_assert_double_eq(by_diagonal.largest, 72);
    ck_assert_uint_eq(by_diagonal.zeros, 1);
    options.median_rule = LINATTN_MEDIAN_MEAN;
    ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, theta, &options, &by_eigenvalues, &by_diagonal));
    ck_assert_double_eq(by_eigenvalues.value, 2);
    ck_assert_double_eq(by_diagonal.value, 2);
    ck_assert_int_eq(by_diagonal.rule, LINATTN_MEDIAN_MEAN);
    options.count = 1; /* P alone: nothing but zeros */
    ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, theta, &options, &by_eigenvalues, &by_diagonal));
    ck_assert_double_nan(by_eigenvalues.value);
    ck_assert_int_eq(by_diagonal.flags, LINATTN_CONDITION_ZERO_MEDIAN | LINATTN_CONDITION_ALL_ZERO);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* A model's spectrum is that of its Hessian, block by block, for any threads; the sum is the trace (case N5). */
START_TEST(spectrum_of_a_model) {
    random_case c = random_case_open((reference_shape){3, 1, 5, 6, 0}, 65, 5);
    const size_t p = c.p;
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_spectrum out = spectrum(), direct = spectrum();
    double *hessian = malloc(p * p * sizeof *hessian), *values = malloc(p * sizeof *values), *wanted = malloc(p * sizeof *wanted);
    double *block = malloc(25 * 25 * sizeof *block);
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
    ck_assert_ok(linattn_matrix_spectrum(hessian, p, wanted, NULL, &direct));
    for (size_t threads = 1; threads <= 3; threads++) {
        linattn_diagnostics_options with;
        linattn_diagnostics *d;
        ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
        with.threads = threads;
        ck_assert_ok(linattn_diagnostics_create(&d, f, &with));
        ck_assert_ok(linattn_diagnostics_spectrum(d, 0, c.theta, NULL, values, NULL, &out));
        ck_assert_mem_eq(values, wanted, p * sizeof *values);
        double sum = 0, magnitudes = 0;
        for (size_t i = 0; i < p; i++) {
            sum += values[i];
            magnitudes += fabs(values[i]);
        }
        ck_assert_double_le(fabs(sum - out.trace), 1e-12 * magnitudes);
        ck_assert_uint_ge(out.zeros, 25); /* the last layer's P */
        for (size_t t = 0; t < linattn_model_tensor_count(c.model); t++) {
            linattn_tensor tensor = {.struct_size = sizeof tensor};
            linattn_curvature_options options = curvature_options();
            linattn_condition by_diagonal = condition(), diagonal_wanted = condition();
            double diagonal[25];
            ck_assert_ok(linattn_model_get_tensor(c.model, t, &tensor));
            options.first = tensor.offset;
            options.count = 25;
            for (size_t i = 0; i < 25; i++)
                for (size_t j = 0; j < 25; j++) block[i * 25 + j] = hessian[(options.first + i) * p + options.first + j];
            for (size_t i = 0; i < 25; i++) diagonal[i] = block[i * 26];
            ck_assert_ok(linattn_matrix_spectrum(block, 25, wanted, NULL, &direct));
            ck_assert_ok(linattn_diagnostics_spectrum(d, 0, c.theta, &options, values, NULL, &out));
            ck_assert_mem_eq(values, wanted, 25 * sizeof *values);
            ck_assert_ok(linattn_diagnostics_robust_condition(d, 0, c.theta, &options, NULL, &by_diagonal));
            ck_assert_ok(linattn_robust_condition(diagonal, 25, LINATTN_CONDITION_DIAGONAL, 0, &diagonal_wanted));
            ck_assert_mem_eq(&by_diagonal, &diagonal_wanted, sizeof by_diagonal);
        }
        ck_assert_ok(linattn_matrix_spectrum(hessian, p, wanted, NULL, &direct));
        linattn_diagnostics_destroy(d);
    }
    free(hessian);
    free(values);
    free(wanted);
    free(block);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* Case N4: a batch is a draw, and the same draw is the same batch; nothing is redrawn. */
START_TEST(case_N4_the_same_draw_has_the_same_spectrum) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 9, 5);
    linattn_sampler_options data;
    linattn_sampler *sampler;
    linattn_objective *f;
    linattn_diagnostics *d;
    linattn_spectrum out = spectrum();
    double first[36], second[36];
    ck_assert_uint_eq(c.p, 36);
    ck_assert_ok(linattn_sampler_options_init(&data, sizeof data));
    data.dim = 3;
    data.context = 4;
    ck_assert_ok(linattn_sampler_create(&sampler, &data));
    ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, 100, NULL));
    ck_assert_ok(linattn_diagnostics_create(&d, f, NULL));
    ck_assert_ok(linattn_diagnostics_spectrum(d, 5, c.theta, NULL, first, NULL, &out));
    ck_assert_ok(linattn_diagnostics_spectrum(d, 6, c.theta, NULL, second, NULL, &out));
    ck_assert(memcmp(first, second, sizeof first) != 0);
    ck_assert_ok(linattn_diagnostics_spectrum(d, 5, c.theta, NULL, second, NULL, &out));
    ck_assert_mem_eq(first, second, sizeof first);
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);
}
END_TEST

/* Blocks diag(1, 2), diag(1, 2) and diag(100, 101): two are alike, the third is disjoint from both. */
START_TEST(heterogeneity_of_known_blocks) {
    const double diagonal[6] = {1, 2, 1, 2, 100, 101}, theta[6] = {0}, scale[6] = {1, 1, 1, 1, 100, 50.5};
    const size_t boundaries[4] = {0, 2, 4, 6};
    double a[36] = {0}, distances[9];
    for (int i = 0; i < 6; i++) a[7 * i] = diagonal[i];
    quadratic f = quadratic_of(6, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_heterogeneity out = {.struct_size = sizeof out};
    ck_assert_ok(linattn_diagnostics_heterogeneity(d, 0, theta, boundaries, 3, NULL, 0.02, distances, &out));
    ck_assert_uint_eq(out.blocks, 3);
    ck_assert_double_eq(distances[0], 0);
    ck_assert_double_eq(distances[1], 0);
    ck_assert_double_eq_tol(distances[2], 1, 1e-6);
    ck_assert_double_eq(distances[6], distances[2]);
    ck_assert_double_eq(distances[7], distances[5]);
    ck_assert_double_eq_tol(out.mean_distance, 2.0 / 3, 1e-6);
    ck_assert_double_eq_tol(out.largest_distance, 1, 1e-6);
    /* Scaled to (1, 2) each, they are all alike. */
    ck_assert_ok(linattn_diagnostics_heterogeneity(d, 0, theta, boundaries, 3, scale, 0.02, distances, &out));
    ck_assert_double_eq_tol(out.largest_distance, 0, 1e-7);
    ck_assert_ok(linattn_diagnostics_heterogeneity(d, 0, theta, boundaries, 1, NULL, 0.02, NULL, &out));
    ck_assert_double_nan(out.mean_distance);
    linattn_diagnostics_destroy(d);
}
END_TEST

START_TEST(bad_input_is_refused) {
    quadratic f = quadratic_of(3, known);
    linattn_objective *objective = quadratic_objective(&f, LINATTN_HVP_NONE);
    linattn_diagnostics *none, *d = NULL;
    linattn_diagnostics_options with;
    linattn_spectrum out = spectrum();
    linattn_condition by_diagonal = condition();
    linattn_heterogeneity blocks = {.struct_size = sizeof blocks};
    const size_t good[3] = {0, 1, 3}, falling[3] = {1, 0, 2}, beyond[3] = {0, 1, 4};
    const double bad[3] = {1, INFINITY, 1}, negative[3] = {1, 1, -1};
    ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
    ck_assert_status(linattn_diagnostics_create(NULL, objective, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_diagnostics_create(&d, NULL, NULL), LINATTN_EINVAL, "objective is NULL");
    with.threads = 0;
    ck_assert_status(linattn_diagnostics_create(&d, objective, &with), LINATTN_EINVAL, "threads is 0");
    with.threads = 257;
    ck_assert_status(linattn_diagnostics_create(&d, objective, &with), LINATTN_EINVAL, "threads is 257");
    ck_assert_ptr_null(d);
    ck_assert_ok(linattn_diagnostics_create(&none, objective, NULL));
    linattn_objective_destroy(objective);
    ck_assert_status(linattn_diagnostics_spectrum(none, 0, point, NULL, NULL, NULL, &out), LINATTN_EUNSUPPORTED, "difference_step");
    linattn_diagnostics_destroy(none);
    linattn_diagnostics_destroy(NULL);
    ck_assert_uint_eq(linattn_diagnostics_parameter_count(NULL), 0);
    ck_assert_int_eq(linattn_diagnostics_hvp_kind(NULL), LINATTN_HVP_NONE);

    d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    linattn_curvature_options o = curvature_options();
#define REFUSED(status, text)                                                                                                      \
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, point, &o, NULL, NULL, &out), status, text);                               \
    ck_assert_status(linattn_diagnostics_robust_condition(d, 0, point, &o, NULL, &by_diagonal), status, text);                     \
    o = curvature_options()
    o.first = 3;
    REFUSED(LINATTN_EINVAL, "first is 3");
    o.count = 4;
    REFUSED(LINATTN_EINVAL, "count is 4");
    o.first = 2;
    o.count = SIZE_MAX;
    REFUSED(LINATTN_EINVAL, "count is");
    o.median_rule = 2;
    REFUSED(LINATTN_EINVAL, "median_rule is 2");
    o.reserved = 1;
    REFUSED(LINATTN_EINVAL, "reserved is 1");
    o.preconditioner = bad;
    REFUSED(LINATTN_ENONFINITE, "preconditioner[1] is inf");
    o.preconditioner = negative;
    REFUSED(LINATTN_EINVAL, "preconditioner[2] is -1");
    o.struct_size = 0;
    REFUSED(LINATTN_EINVAL, "linattn_curvature_options");
#undef REFUSED
    ck_assert_status(linattn_diagnostics_spectrum(NULL, 0, point, NULL, NULL, NULL, &out), LINATTN_EINVAL, "diagnostics is NULL");
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, NULL, NULL, NULL, NULL, &out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, bad, NULL, NULL, NULL, &out), LINATTN_ENONFINITE, "theta[1] is inf");
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, point, NULL, NULL, NULL, NULL), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_diagnostics_robust_condition(d, 0, point, NULL, NULL, NULL), LINATTN_EINVAL, "both NULL");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, NULL, 2, NULL, 0.1, NULL, &blocks), LINATTN_EINVAL,
                     "boundaries is NULL");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, good, 0, NULL, 0.1, NULL, &blocks), LINATTN_EINVAL,
                     "blocks is 0");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, good, 4, NULL, 0.1, NULL, &blocks), LINATTN_EINVAL,
                     "blocks is 4");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, falling, 2, NULL, 0.1, NULL, &blocks), LINATTN_EINVAL,
                     "boundaries[0] is 1");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, beyond, 2, NULL, 0.1, NULL, &blocks), LINATTN_EINVAL, "is 4");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, good, 2, NULL, 0, NULL, &blocks), LINATTN_EINVAL,
                     "relative_width is 0");
    ck_assert_status(linattn_diagnostics_heterogeneity(d, 0, point, good, 2, negative, 0.1, NULL, &blocks), LINATTN_EINVAL,
                     "preconditioner[2]");
    ck_assert_uint_eq(out.count, 0);
    linattn_diagnostics_destroy(d);
}
END_TEST

static Suite *diagnostics_suite(void) {
    Suite *suite = suite_create("diagnostics");
    TCase *tests = tcase_create("diagnostics");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, spectrum_of_a_known_hessian, LINATTN_HVP_EXACT, LINATTN_HVP_DIFFERENCES + 1);
    tcase_add_test(tests, spectrum_of_a_preconditioned_block);
    tcase_add_test(tests, case_D2_a_zero_median_is_told);
    tcase_add_test(tests, spectrum_of_a_model);
    tcase_add_test(tests, case_N4_the_same_draw_has_the_same_spectrum);
    tcase_add_test(tests, heterogeneity_of_known_blocks);
    tcase_add_test(tests, bad_input_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(diagnostics_suite)
