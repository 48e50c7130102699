/* Smoothness along a step and along a path: closed forms, counts of what has no logarithm, and bad input. */
#include "support/quadratic.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

static const double here[2] = {0, 0};

/* Case D4: two quantities that share a name. f = (x^2 + 9 y^2)/2 along (1, 1): u.Hu = (1 + 9)/2 = 5 and |H s|/|s| = sqrt(82/2). */
START_TEST(case_D4_curvature_and_gradient_ratio_are_different_quantities) {
    const double a[4] = {1, 0, 0, 9}, next[2] = {1, 1}, fractions[4] = {1, 0.5, 0.1, -1};
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    double curvature, ratios[4];
    ck_assert_ok(linattn_diagnostics_directional_smoothness(d, 0, here, next, &curvature));
    ck_assert_double_eq_tol(curvature, 5, 1e-14);
    ck_assert_ok(linattn_diagnostics_gradient_ratios(d, 0, here, next, fractions, 4, ratios));
    for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(ratios[i], 6.4031242374328485, 1e-14);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* Case D3: identical iterates have no direction; downward curvature keeps its sign. */
START_TEST(case_D3_zero_steps_are_degenerate_and_signs_are_kept) {
    const double a[4] = {-2, 0, 0, 1}, along_x[2] = {1e-3, 0}, one = 1;
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    double out = 7, ratios[2] = {7, 7};
    const double both[2] = {1, 0.5};
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, here, here, &out), LINATTN_EDEGENERATE, "next is theta");
    ck_assert_double_nan(out);
    ck_assert_status(linattn_diagnostics_gradient_ratios(d, 0, here, here, both, 2, ratios), LINATTN_EDEGENERATE, "is theta");
    ck_assert_double_nan(ratios[0]);
    ck_assert_double_nan(ratios[1]);
    ck_assert_ok(linattn_diagnostics_directional_smoothness(d, 0, here, along_x, &out));
    ck_assert_double_eq(out, -2);
    ck_assert_ok(linattn_diagnostics_gradient_ratios(d, 0, here, along_x, &one, 1, &out));
    ck_assert_double_eq_tol(out, 2, 1e-15);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* A status of a callback is passed on, and nothing is written, whatever it is. */
START_TEST(a_failing_gradient_writes_nothing) {
    const double a[4] = {1, 0, 0, 9}, next[2] = {1, 1}, both[2] = {1, 0.5};
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    double ratios[2] = {7, 7};
    f.bad_draw = 3;
    f.status = LINATTN_EDEGENERATE;
    ck_assert_int_eq(linattn_diagnostics_gradient_ratios(d, 3, here, next, both, 2, ratios), LINATTN_EDEGENERATE);
    ck_assert_double_eq(ratios[0], 7);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* The length of a step does not matter, however small or large. */
START_TEST(steps_of_any_length) {
    const double a[4] = {1, 2, 2, 9};
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    for (int exponent = -1060; exponent <= 1000; exponent += 20) {
        const double next[2] = {ldexp(1, exponent), ldexp(-1, exponent)};
        double curvature;
        ck_assert_ok(linattn_diagnostics_directional_smoothness(d, 0, here, next, &curvature));
        ck_assert_double_eq_tol(curvature, (1 - 4 + 9) / 2.0, 1e-13);
    }
    linattn_diagnostics_destroy(d);
}
END_TEST

/* On a model: u.Hu from the whole Hessian; and ratios of short steps tend to |H u|. */
START_TEST(smoothness_of_a_model_is_that_of_its_hessian) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 9, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_diagnostics *d;
    double *next = malloc(c.p * sizeof *next), *hessian = malloc(c.p * c.p * sizeof *hessian);
    ck_assert_ok(linattn_diagnostics_create(&d, f, NULL));
    double length = 0, wanted = 0, product = 0, curvature, ratio;
    for (size_t i = 0; i < c.p; i++) {
        next[i] = c.theta[i] + 1e-3 * sin((double)i);
        length += (next[i] - c.theta[i]) * (next[i] - c.theta[i]);
    }
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
    for (size_t i = 0; i < c.p; i++) {
        double row = 0;
        for (size_t j = 0; j < c.p; j++) row += hessian[i * c.p + j] * (next[j] - c.theta[j]);
        wanted += (next[i] - c.theta[i]) * row;
        product += row * row;
    }
    ck_assert_ok(linattn_diagnostics_directional_smoothness(d, 0, c.theta, next, &curvature));
    ck_assert_double_eq_tol(curvature, wanted / length, 1e-12 * fabs(wanted / length));
    const double fraction = 1e-3;
    ck_assert_ok(linattn_diagnostics_gradient_ratios(d, 0, c.theta, next, &fraction, 1, &ratio));
    ck_assert_double_eq_tol(ratio, sqrt(product / length), 1e-4 * ratio);
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    free(next);
    free(hessian);
    random_case_close(&c);
}
END_TEST

START_TEST(bad_steps_are_refused) {
    const double a[4] = {1, 0, 0, 9}, next[2] = {1, 1}, bad[2] = {1, NAN}, one = 1, zero = 0;
    quadratic f = quadratic_of(2, a);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    double out = 7;
    ck_assert_status(linattn_diagnostics_directional_smoothness(NULL, 0, here, next, &out), LINATTN_EINVAL, "diagnostics is NULL");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, NULL, next, &out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, here, NULL, &out), LINATTN_EINVAL, "next is NULL");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, here, next, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, bad, next, &out), LINATTN_ENONFINITE, "theta[1] is nan");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, here, bad, &out), LINATTN_ENONFINITE, "next[1] is nan");
    ck_assert_status(linattn_diagnostics_directional_smoothness(d, 0, here, next, &out), LINATTN_EUNSUPPORTED, "difference_step");
    ck_assert_status(linattn_diagnostics_gradient_ratios(d, 0, here, next, NULL, 1, &out), LINATTN_EINVAL, "fractions is NULL");
    ck_assert_status(linattn_diagnostics_gradient_ratios(d, 0, here, next, &one, 0, &out), LINATTN_EINVAL, "count is 0");
    ck_assert_status(linattn_diagnostics_gradient_ratios(d, 0, here, next, &zero, 1, &out), LINATTN_EINVAL, "fractions[0] is 0");
    ck_assert_status(linattn_diagnostics_gradient_ratios(d, 0, here, next, bad + 1, 1, &out), LINATTN_ENONFINITE, "fractions[0]");
    ck_assert_double_eq(out, 7);
    ck_assert_ok(linattn_diagnostics_gradient_ratios(d, 0, here, next, &one, 1, &out)); /* gradients are enough */
    linattn_diagnostics_destroy(d);
}
END_TEST

static linattn_smoothness result(void) { return (linattn_smoothness){.struct_size = sizeof(linattn_smoothness)}; }

/* Case D11. */
START_TEST(case_D11_the_fit_of_exact_points_is_exact) {
    const double x[3] = {1, 2, 4}, y[3] = {3, 5, 9}, same[3] = {2, 2, 2};
    linattn_smoothness out = result();
    ck_assert_ok(linattn_smoothness_fit(x, y, 3, 0, 0.95, NULL, &out));
    ck_assert_double_eq(out.l0, 1);
    ck_assert_double_eq(out.l1, 2);
    ck_assert_double_eq(out.r_squared, 1);
    ck_assert_double_nan(out.l0_low);
    ck_assert_double_nan(out.slope_high);
    out.l0 = 7;
    ck_assert_status(linattn_smoothness_fit(same, y, 3, 0, 0.95, NULL, &out), LINATTN_EDEGENERATE, "gradient_norms are equal");
    ck_assert_double_eq(out.l0, 7);
}
END_TEST

/* smoothness = 3 |g|^2: a straight line in the logarithms, whatever the resample. */
START_TEST(a_power_law_has_its_exponent) {
    enum { COUNT = 60 };
    double x[COUNT], y[COUNT];
    linattn_smoothness out = result();
    for (int i = 0; i < COUNT; i++) {
        x[i] = 0.1 * (i + 1);
        y[i] = 3 * x[i] * x[i];
    }
    ck_assert_ok(linattn_smoothness_fit(x, y, COUNT, 5, 0.9, NULL, &out));
    ck_assert_uint_eq(out.count, COUNT);
    ck_assert_uint_eq(out.log_count, COUNT);
    ck_assert_double_eq_tol(out.slope, 2, 1e-13);
    ck_assert_double_eq_tol(out.slope_low, 2, 1e-12);
    ck_assert_double_eq_tol(out.slope_high, 2, 1e-12);
    ck_assert_double_eq_tol(out.intercept, log(3), 1e-13);
    ck_assert_double_eq_tol(out.correlation, 1, 1e-13);
    ck_assert_double_eq(out.level, 0.9);
    ck_assert_double_le(out.l1_low, out.l1);
    ck_assert_double_ge(out.l1_high, out.l1);
    ck_assert_double_lt(out.l1_low, out.l1_high);
    for (int i = 0; i < COUNT; i++) y[i] = 1 / x[i];
    ck_assert_ok(linattn_smoothness_fit(x, y, COUNT, 5, 0.9, NULL, &out));
    ck_assert_double_eq_tol(out.correlation, -1, 1e-13);
    ck_assert_double_eq_tol(out.slope, -1, 1e-13);
}
END_TEST

/* Case D3 (b): nothing is dropped without being counted. */
START_TEST(case_D3_points_without_a_logarithm_are_counted) {
    const double x[7] = {1, 2, 3, 4, 0, 0, 5}, y[7] = {2, -4, 0, 8, 1, -1, NAN};
    linattn_smoothness out = result();
    ck_assert_ok(linattn_smoothness_fit(x, y, 7, 0, 0.95, NULL, &out));
    ck_assert_uint_eq(out.count, 7);
    ck_assert_uint_eq(out.zero_steps, 1);
    ck_assert_uint_eq(out.nonpositive, 3);
    ck_assert_uint_eq(out.zero_gradients, 2);
    ck_assert_uint_eq(out.log_count, 2);
    ck_assert_double_eq_tol(out.slope, 1, 1e-15); /* ln 2 to ln 8 over ln 1 to ln 4 */
    /* The line through the six points, by the normal equations. */
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < 6; i++) {
        n += 1;
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    const double l1 = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    ck_assert_double_eq_tol(out.l1, l1, 1e-14);
    ck_assert_double_eq_tol(out.l0, (sy - l1 * sx) / n, 1e-14);
}
END_TEST

/* Nearly all gradient norms are equal: the line is there, its intervals are not. */
START_TEST(intervals_may_be_missing) {
    double x[20], y[20];
    linattn_smoothness out = result();
    for (int i = 0; i < 20; i++) {
        x[i] = i == 0 ? 2 : 1;
        y[i] = i == 0 ? 13 : 3;
    }
    ck_assert_ok(linattn_smoothness_fit(x, y, 20, 5, 0.95, NULL, &out));
    ck_assert_double_eq_tol(out.l1, 10, 1e-13);
    ck_assert_double_eq_tol(out.slope, log(13.0 / 3) / log(2), 1e-13);
    ck_assert_double_nan(out.l1_low);
    ck_assert_double_nan(out.slope_high);
}
END_TEST

START_TEST(logarithms_may_be_missing_altogether) {
    const double x[3] = {1, 2, 3}, y[3] = {-1, -2, -2.5};
    linattn_smoothness out = result();
    ck_assert_ok(linattn_smoothness_fit(x, y, 3, 1, 0.95, NULL, &out));
    ck_assert_uint_eq(out.log_count, 0);
    ck_assert_double_nan(out.slope);
    ck_assert_double_nan(out.slope_low);
    ck_assert_double_nan(out.correlation);
    ck_assert_double_eq_tol(out.l1, -0.75, 1e-15);
}
END_TEST

START_TEST(bad_paths_are_refused) {
    const double x[3] = {1, 2, 3}, y[3] = {1, 2, 3}, negative[3] = {1, -2, 3}, bad[3] = {1, INFINITY, 3}, nan[3] = {NAN, NAN, 3};
    linattn_smoothness out = result();
    linattn_resampling_options resampling;
    ck_assert_ok(linattn_resampling_options_init(&resampling, sizeof resampling));
    resampling.resamples = 1;
    ck_assert_status(linattn_smoothness_fit(NULL, y, 3, 0, 0.95, NULL, &out), LINATTN_EINVAL, "gradient_norms is NULL");
    ck_assert_status(linattn_smoothness_fit(x, NULL, 3, 0, 0.95, NULL, &out), LINATTN_EINVAL, "smoothness is NULL");
    ck_assert_status(linattn_smoothness_fit(x, y, 3, 0, 0.95, NULL, NULL), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_smoothness_fit(x, y, 3, 0, 1, NULL, &out), LINATTN_EINVAL, "level is 1");
    ck_assert_status(linattn_smoothness_fit(x, y, 3, 0, NAN, NULL, &out), LINATTN_EINVAL, "level is nan");
    ck_assert_status(linattn_smoothness_fit(negative, y, 3, 0, 0.9, NULL, &out), LINATTN_EINVAL, "gradient_norms[1] is below 0");
    ck_assert_status(linattn_smoothness_fit(bad, y, 3, 0, 0.9, NULL, &out), LINATTN_ENONFINITE, "gradient_norms[1] is inf");
    ck_assert_status(linattn_smoothness_fit(x, bad, 3, 0, 0.9, NULL, &out), LINATTN_ENONFINITE, "smoothness[1] is infinite");
    ck_assert_status(linattn_smoothness_fit(x, nan, 3, 0, 0.9, NULL, &out), LINATTN_EDEGENERATE, "1 of 3 points");
    ck_assert_status(linattn_smoothness_fit(x, y, 0, 0, 0.9, NULL, &out), LINATTN_EDEGENERATE, "0 of 0 points");
    ck_assert_status(linattn_smoothness_fit(x, y, 3, 1, 0.9, &resampling, &out), LINATTN_EINVAL, "resamples is 1");
    ck_assert_uint_eq(out.count, 0);
}
END_TEST

static Suite *smoothness_suite(void) {
    Suite *suite = suite_create("smoothness");
    TCase *tests = tcase_create("smoothness");
    tcase_add_test(tests, case_D4_curvature_and_gradient_ratio_are_different_quantities);
    tcase_add_test(tests, case_D3_zero_steps_are_degenerate_and_signs_are_kept);
    tcase_add_test(tests, a_failing_gradient_writes_nothing);
    tcase_add_test(tests, steps_of_any_length);
    tcase_add_test(tests, smoothness_of_a_model_is_that_of_its_hessian);
    tcase_add_test(tests, bad_steps_are_refused);
    tcase_add_test(tests, case_D11_the_fit_of_exact_points_is_exact);
    tcase_add_test(tests, a_power_law_has_its_exponent);
    tcase_add_test(tests, case_D3_points_without_a_logarithm_are_counted);
    tcase_add_test(tests, intervals_may_be_missing);
    tcase_add_test(tests, logarithms_may_be_missing_altogether);
    tcase_add_test(tests, bad_paths_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(smoothness_suite)
