/* Gradient errors: against loops over linattn_objective_gradient, closed forms of the Gaussian surrogate, and bad input. */
#include "support/distribution.h"
#include "support/quadratic.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

static linattn_gradient_error_options options_of(size_t samples, size_t reference_draws) {
    linattn_gradient_error_options options;
    ck_assert_ok(linattn_gradient_error_options_init(&options, sizeof options));
    options.samples = samples;
    options.reference_draws = reference_draws;
    return options;
}

static linattn_gradient_error result(void) { return (linattn_gradient_error){.struct_size = sizeof(linattn_gradient_error)}; }

static const double zero_matrix[4] = {0, 0, 0, 0}, origin[2] = {0, 0};

static void three_four(uint64_t draw, double *b) {
    b[0] = draw == 0 ? 1 : 4;
    b[1] = draw == 0 ? -2 : 2;
}

/* Case D6: the error (3, 4) has the norm 5 and the squared norm 25, and the result says which. */
START_TEST(case_D6_norm_and_squared_norm) {
    quadratic f = quadratic_of(2, zero_matrix);
    f.slope = three_four;
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error_options options = options_of(1, 1);
    linattn_gradient_error out = result();
    const double directions[6] = {1, 0, 0, 1, 3, 4};
    double error, projections[3], reference[2];
    options.directions = directions;
    options.direction_count = 3;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, &error, projections, NULL, reference, &out));
    ck_assert_double_eq(error, 5);
    ck_assert_int_eq(out.measure, LINATTN_ERROR_NORM);
    ck_assert_double_eq(projections[0], 3);
    ck_assert_double_eq(projections[1], 4);
    ck_assert_double_eq(projections[2], 25);
    ck_assert_double_eq(reference[0], 1);
    ck_assert_double_eq(reference[1], -2);
    ck_assert_double_eq(out.reference_norm, sqrt(5));
    ck_assert_double_eq(out.mean_error_norm, 5);
    ck_assert_double_nan(out.covariance_trace);
    options.measure = LINATTN_ERROR_SQUARED;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, &error, projections, NULL, NULL, &out));
    ck_assert_double_eq(error, 25);
    ck_assert_int_eq(out.measure, LINATTN_ERROR_SQUARED);
    linattn_diagnostics_destroy(d);
}
END_TEST

/* The same numbers by a loop over gradients, for every number of threads, on a model; and where draws begin. */
START_TEST(errors_are_those_of_a_loop_for_any_threads) {
    enum { SAMPLES = 150, REFERENCE = 70, DIRECTIONS = 2, PROMPTS = 70 };
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 9, 5);
    const size_t p = c.p;
    const uint64_t first = _i == 0 ? 0 : UINT64_MAX - 100; /* numbers wrap */
    linattn_sampler_options data;
    linattn_sampler *sampler;
    linattn_objective *f;
    ck_assert_ok(linattn_sampler_options_init(&data, sizeof data));
    data.dim = 3;
    data.context = 4;
    data.stream = LINATTN_STREAM_NOISE;
    ck_assert_ok(linattn_sampler_create(&sampler, &data));
    ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, PROMPTS, NULL));

    double *g = calloc(SAMPLES, p * sizeof *g), *reference = calloc(p, sizeof *g), *directions = calloc(DIRECTIONS, p * sizeof *g);
    double *mean = calloc(p, sizeof *g);
    for (uint64_t t = 0; t < REFERENCE; t++) {
        ck_assert_ok(linattn_objective_gradient(f, first + t, c.theta, NULL, mean));
        for (size_t i = 0; i < p; i++) reference[i] += mean[i];
    }
    for (size_t i = 0; i < p; i++) reference[i] /= REFERENCE;
    for (size_t i = 0; i < DIRECTIONS * p; i++) directions[i] = cos((double)i);
    memset(mean, 0, p * sizeof *mean);
    for (size_t s = 0; s < SAMPLES; s++) {
        ck_assert_ok(linattn_objective_gradient(f, first + REFERENCE + s, c.theta, NULL, g + s * p));
        for (size_t i = 0; i < p; i++) {
            g[s * p + i] -= reference[i];
            mean[i] += g[s * p + i] / SAMPLES;
        }
    }
    double trace = 0;
    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t i = 0; i < p; i++) trace += (g[s * p + i] - mean[i]) * (g[s * p + i] - mean[i]) / (SAMPLES - 1);

    double errors[SAMPLES], projections[SAMPLES * DIRECTIONS], surrogate[300], first_surrogate[300];
    for (size_t threads = 1; threads <= 4; threads++) {
        linattn_diagnostics_options with;
        linattn_diagnostics *d;
        linattn_gradient_error_options options = options_of(SAMPLES, REFERENCE);
        linattn_gradient_error out = result();
        ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
        with.threads = threads;
        ck_assert_ok(linattn_diagnostics_create(&d, f, &with));
        options.first_draw = first;
        options.directions = directions;
        options.direction_count = DIRECTIONS;
        options.surrogates = 300;
        double *told = calloc(p, sizeof *told);
        ck_assert_ok(linattn_diagnostics_gradient_error(d, c.theta, &options, errors, projections, surrogate, told, &out));
        ck_assert_mem_eq(told, reference, p * sizeof *told);
        free(told);
        for (size_t s = 0; s < SAMPLES; s++) {
            double squares = 0, along[DIRECTIONS] = {0, 0};
            for (size_t i = 0; i < p; i++) squares += g[s * p + i] * g[s * p + i];
            ck_assert_double_eq(errors[s], sqrt(squares));
            for (size_t k = 0; k < DIRECTIONS; k++) {
                for (size_t i = 0; i < p; i++) along[k] += g[s * p + i] * directions[k * p + i];
                ck_assert_double_eq(projections[s * DIRECTIONS + k], along[k]);
            }
        }
        ck_assert_double_eq_tol(out.covariance_trace, trace, 1e-12 * trace);
        ck_assert_uint_eq(out.reference_draws, REFERENCE);
        if (threads == 1) memcpy(first_surrogate, surrogate, sizeof surrogate);
        ck_assert_mem_eq(surrogate, first_surrogate, sizeof surrogate);
        linattn_diagnostics_destroy(d);
    }
    free(g);
    free(mean);
    free(reference);
    free(directions);
    linattn_objective_destroy(f);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);
}
END_TEST

/* Two-dimensional noise on the unit circle: covariance I/2, so the surrogate's squared norm is exponential with mean 1. */
static void circle(uint64_t draw, double *b) {
    b[0] = cos(2 * 3.14159265358979323846 * (double)draw / 1000);
    b[1] = sin(2 * 3.14159265358979323846 * (double)draw / 1000);
}

static double exponential_cdf(double x) { return -expm1(-x); }

START_TEST(surrogate_of_isotropic_noise_is_exponential) {
    enum { COUNT = 20000 };
    quadratic f = quadratic_of(2, zero_matrix);
    f.slope = circle;
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error_options options = options_of(1000, 1);
    linattn_gradient_error out = result();
    double *errors = malloc(1000 * sizeof *errors), *surrogate = malloc(COUNT * sizeof *surrogate);
    options.reference = origin;
    options.measure = LINATTN_ERROR_SQUARED;
    options.surrogates = COUNT;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, surrogate, NULL, &out));
    ck_assert_uint_eq(out.reference_draws, 0);
    ck_assert_double_eq_tol(out.covariance_trace, 1000.0 / 999, 1e-12);
    for (size_t i = 0; i < 1000; i++) ck_assert_double_eq_tol(errors[i], 1, 1e-12);
    for (size_t i = 0; i < COUNT; i++) surrogate[i] *= 999.0 / 1000;
    ck_assert_double_gt(ks_one_sample(surrogate, COUNT, exponential_cdf), 1e-4);
    linattn_diagnostics_destroy(d);
    free(errors);
    free(surrogate);
}
END_TEST

/* Noise (+-1, +-3, 0) about (2, 0, 5) in three dimensions, every combination once: mean and covariance are known, the third
 * direction has no spread. Of |x|^2: mean sum (l + m^2), variance sum (2 l^2 + 4 l m^2). */
static void corners(uint64_t draw, double *b) {
    b[0] = 2 + (draw & 1 ? 1 : -1);
    b[1] = draw & 2 ? 3 : -3;
    b[2] = 5;
}

START_TEST(surrogate_has_mean_and_covariance_of_the_errors) {
    enum { COUNT = 40000 };
    const double flat[9] = {0}, at[3] = {0, 0, 0};
    quadratic f = quadratic_of(3, flat);
    f.slope = corners;
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error_options options = options_of(400, 1);
    linattn_gradient_error out = result();
    double errors[400], *surrogate = malloc(COUNT * sizeof *surrogate), mean = 0, squares = 0;
    options.reference = at;
    options.measure = LINATTN_ERROR_SQUARED;
    options.surrogates = COUNT;
    options.seed = 3;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, at, &options, errors, NULL, surrogate, NULL, &out));
    const double l[3] = {400.0 / 399, 9 * 400.0 / 399, 0}, m[3] = {2, 0, 5};
    double expected = 0, variance = 0;
    for (int i = 0; i < 3; i++) {
        expected += l[i] + m[i] * m[i];
        variance += 2 * l[i] * l[i] + 4 * l[i] * m[i] * m[i];
    }
    for (size_t i = 0; i < COUNT; i++) mean += surrogate[i] / COUNT;
    for (size_t i = 0; i < COUNT; i++) squares += (surrogate[i] - mean) * (surrogate[i] - mean) / (COUNT - 1);
    ck_assert_double_eq_tol(mean, expected, 5 * sqrt(variance / COUNT));
    ck_assert_double_eq_tol(squares, variance, 0.05 * variance); /* its own error is about 0.013 */
    for (size_t i = 0; i < COUNT; i++) ck_assert_double_ge(surrogate[i], 25 - 1e-9);
    double *again = malloc(COUNT * sizeof *again), *other = malloc(COUNT * sizeof *other);
    ck_assert_ok(linattn_diagnostics_gradient_error(d, at, &options, errors, NULL, again, NULL, &out));
    ck_assert_mem_eq(again, surrogate, COUNT * sizeof *again);
    options.seed = 4;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, at, &options, errors, NULL, other, NULL, &out));
    ck_assert(memcmp(other, surrogate, COUNT * sizeof *other) != 0);
    linattn_diagnostics_destroy(d);
    free(surrogate);
    free(again);
    free(other);
}
END_TEST

/* A fixed batch has no noise. */
START_TEST(a_fixed_batch_has_no_error) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 9, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 2);
    linattn_diagnostics *d;
    linattn_gradient_error_options options = options_of(10, 4);
    linattn_gradient_error out = result();
    double errors[10], surrogate[5];
    ck_assert_ok(linattn_diagnostics_create(&d, f, NULL));
    options.surrogates = 5;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, c.theta, &options, errors, NULL, surrogate, NULL, &out));
    for (int i = 0; i < 10; i++) ck_assert_double_eq(errors[i], 0);
    for (int i = 0; i < 5; i++) ck_assert_double_eq(surrogate[i], 0);
    ck_assert_double_eq(out.covariance_trace, 0);
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* Huge gradients: norms do not overflow, squares are Inf. */
static void huge(uint64_t draw, double *b) { b[0] = b[1] = draw == 0 ? 0 : 1e200; }

START_TEST(huge_errors_keep_their_norm) {
    quadratic f = quadratic_of(2, zero_matrix);
    f.slope = huge;
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error_options options = options_of(2, 1);
    linattn_gradient_error out = result();
    double errors[2];
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out));
    ck_assert_double_eq_tol(errors[1] / 1e200, sqrt(2), 1e-15);
    options.measure = LINATTN_ERROR_SQUARED;
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out));
    ck_assert_double_infinite(errors[0]);
    ck_assert_double_eq_tol(out.mean_error_norm / 1e200, sqrt(2), 1e-15);
    ck_assert_double_eq(out.covariance_trace, 0); /* both errors are the same */
    linattn_diagnostics_destroy(d);
}
END_TEST

/* A reference far from the gradients changes neither their covariance nor the surrogate's spread. */
START_TEST(a_far_reference_does_not_cancel) {
    enum { COUNT = 5000 };
    const double flat[9] = {0}, at[3] = {0, 0, 0};
    double errors[400], *surrogate = malloc(COUNT * sizeof *surrogate);
    for (double distance = 1; distance <= 1e10; distance *= 1e5) {
        const double reference[3] = {distance, -distance, 2};
        quadratic f = quadratic_of(3, flat);
        f.slope = corners;
        linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
        linattn_gradient_error_options options = options_of(400, 1);
        linattn_gradient_error out = result();
        double mean = 0, spread = 0;
        options.reference = reference;
        options.surrogates = COUNT;
        ck_assert_ok(linattn_diagnostics_gradient_error(d, at, &options, errors, NULL, surrogate, NULL, &out));
        ck_assert_double_eq_tol(out.covariance_trace, 10 * 400.0 / 399, 1e-11 * distance + 1e-12);
        ck_assert_double_eq_tol(out.mean_error_norm, hypot(hypot(2 - distance, distance), 3), 1e-14 * distance);
        for (size_t i = 0; i < COUNT; i++) mean += surrogate[i] / COUNT;
        for (size_t i = 0; i < COUNT; i++) spread += (surrogate[i] - mean) * (surrogate[i] - mean) / (COUNT - 1);
        /* Far away, the norm varies as the noise along the mean does: variance (1 + 9)/2. */
        if (distance > 1e4) ck_assert_double_eq_tol(spread, 5 * 400.0 / 399, 0.1 * 5);
        linattn_diagnostics_destroy(d);
    }
    free(surrogate);
}
END_TEST

/* What a draw fails with is what the call returns, and nothing is written. */
START_TEST(a_failing_draw_fails_the_call) {
    quadratic f = quadratic_of(2, zero_matrix);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error_options options = options_of(100, 3);
    linattn_gradient_error out = result();
    double errors[100] = {7};
    f.bad_draw = 80;
    ck_assert_status(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out), LINATTN_ENONFINITE,
                     "gradient[1] is");
    f.status = -77;
    ck_assert_int_eq(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out), -77);
    f.status = LINATTN_STOP;
    ck_assert_int_eq(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out), LINATTN_STOP);
    f.bad_draw = 1; /* in the reference */
    ck_assert_int_eq(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out), LINATTN_STOP);
    ck_assert_double_eq(errors[0], 7);
    ck_assert_uint_eq(out.samples, 0);
    f.bad_draw = 103; /* after the last sample */
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &options, errors, NULL, NULL, NULL, &out));
    linattn_diagnostics_destroy(d);
}
END_TEST

/* A model whose gradients overflow, in threads: the message comes to the caller's thread. */
START_TEST(failures_in_threads_have_their_message) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 9, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_diagnostics_options with;
    linattn_diagnostics *d;
    linattn_gradient_error out = result();
    double errors[1000];
    for (size_t i = 0; i < c.p; i++) c.theta[i] = 1e100;
    ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
    with.threads = 3;
    ck_assert_ok(linattn_diagnostics_create(&d, f, &with));
    ck_assert_status(linattn_diagnostics_gradient_error(d, c.theta, NULL, errors, NULL, NULL, NULL, &out), LINATTN_ENONFINITE,
                     "value[0] is");
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

START_TEST(bad_options_are_refused) {
    quadratic f = quadratic_of(2, zero_matrix);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_NONE);
    linattn_gradient_error out = result();
    const double bad[2] = {0, NAN};
    double e[2] = {7, 7};
    linattn_gradient_error_options good = options_of(2, 1), o = good;
#define REFUSED(status, text)                                                                                                      \
    ck_assert_status(linattn_diagnostics_gradient_error(d, origin, &o, e, NULL, NULL, NULL, &out), status, text);                  \
    o = good
    o.samples = 0;
    REFUSED(LINATTN_EINVAL, "samples is 0");
    o.samples = SIZE_MAX;
    REFUSED(LINATTN_EINVAL, "samples is");
    o.reference_draws = 0;
    REFUSED(LINATTN_EINVAL, "reference_draws is 0");
    o.measure = 2;
    REFUSED(LINATTN_EINVAL, "measure is 2");
    o.reserved = 1;
    REFUSED(LINATTN_EINVAL, "reserved is 1");
    o.reference = bad;
    REFUSED(LINATTN_ENONFINITE, "reference[1] is nan");
    o.direction_count = 1;
    REFUSED(LINATTN_EINVAL, "directions is NULL");
    o.directions = bad;
    o.direction_count = 1;
    REFUSED(LINATTN_ENONFINITE, "directions[1] is nan");
    o.directions = origin;
    o.direction_count = SIZE_MAX / 4;
    REFUSED(LINATTN_EINVAL, "direction_count is");
    o.directions = origin;
    o.direction_count = 1;
    REFUSED(LINATTN_EINVAL, "projections is NULL");
    o.surrogates = 1;
    REFUSED(LINATTN_EINVAL, "surrogate is NULL");
    o.surrogates = 1;
    o.samples = 1;
    REFUSED(LINATTN_EINVAL, "samples is 1");
    o.surrogates = SIZE_MAX;
    REFUSED(LINATTN_EINVAL, "surrogates is");
    o.struct_size = 3;
    REFUSED(LINATTN_EINVAL, "linattn_gradient_error_options");
#undef REFUSED
    ck_assert_status(linattn_diagnostics_gradient_error(NULL, origin, &o, e, NULL, NULL, NULL, &out), LINATTN_EINVAL,
                     "diagnostics");
    ck_assert_status(linattn_diagnostics_gradient_error(d, NULL, &o, e, NULL, NULL, NULL, &out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_diagnostics_gradient_error(d, bad, &o, e, NULL, NULL, NULL, &out), LINATTN_ENONFINITE, "theta[1]");
    ck_assert_status(linattn_diagnostics_gradient_error(d, origin, &o, NULL, NULL, NULL, NULL, &out), LINATTN_EINVAL, "errors is");
    ck_assert_status(linattn_diagnostics_gradient_error(d, origin, &o, e, NULL, NULL, NULL, NULL), LINATTN_EINVAL, "is NULL");
    ck_assert_double_eq(e[0], 7);
    ck_assert_ok(linattn_diagnostics_gradient_error(d, origin, &o, e, NULL, NULL, NULL, &out));
    linattn_diagnostics_destroy(d);
}
END_TEST

static Suite *gradient_error_suite(void) {
    Suite *suite = suite_create("gradient error");
    TCase *tests = tcase_create("gradient error");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, case_D6_norm_and_squared_norm);
    tcase_add_loop_test(tests, errors_are_those_of_a_loop_for_any_threads, 0, 2);
    tcase_add_test(tests, surrogate_of_isotropic_noise_is_exponential);
    tcase_add_test(tests, surrogate_has_mean_and_covariance_of_the_errors);
    tcase_add_test(tests, a_fixed_batch_has_no_error);
    tcase_add_test(tests, huge_errors_keep_their_norm);
    tcase_add_test(tests, a_far_reference_does_not_cancel);
    tcase_add_test(tests, a_failing_draw_fails_the_call);
    tcase_add_test(tests, failures_in_threads_have_their_message);
    tcase_add_test(tests, bad_options_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(gradient_error_suite)
