/* test_prompt_measures.c: prompt attention measured: against eigenvalues where these can tell, against closed forms where not. */
#include "support/suite.h"
#include <linattn/spectrum.h>
#include <math.h>

static linattn_prompt_options options_of(size_t examples, size_t tokens, size_t dim, double sparsity, int32_t profile) {
    linattn_prompt_options o;
    ck_assert_ok(linattn_prompt_options_init(&o, sizeof o));
    o.examples = examples;
    o.tokens = tokens;
    o.dim = dim;
    o.sparsity = sparsity;
    o.profile = profile;
    return o;
}

static linattn_prompt *prompt_of(const linattn_prompt_options *o, double *teacher) {
    linattn_prompt *prompt;
    ck_assert_ok(linattn_prompt_create(&prompt, o));
    ck_assert_ok(linattn_prompt_get_arrays(prompt, NULL, NULL, o->train_value ? teacher + o->dim : NULL, teacher, NULL));
    return prompt;
}

/* Ascending, of a symmetric (p, p). */
static void eigenvalues_of(const double *matrix, size_t p, double *values) {
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    ck_assert_ok(linattn_matrix_spectrum(matrix, p, values, NULL, &spectrum));
}

static linattn_prompt_condition condition_of(const linattn_prompt *prompt, const double *theta) {
    linattn_prompt_condition c = {.struct_size = sizeof c};
    ck_assert_ok(linattn_prompt_measure_condition(prompt, theta, NULL, &c));
    return c;
}

/* At the solution without noise the Hessian is (1/N) G^T G, the Gauss-Newton matrix: three ways to its eigenvalues. */
START_TEST(condition_against_the_hessian) {
    for (int32_t variant = 0; variant < 8; variant++) {
        linattn_prompt_options o = options_of(variant & 1 ? 3 : 50, 4, variant & 1 ? 14 : 5, 0.05, LINATTN_PROMPT_LOG_UNIFORM);
        o.attention = variant >> 1 & 1;
        o.train_value = variant >> 2;
        o.token_kind = variant & 1;
        double theta[28], h[28 * 28], newton[28 * 28], values[28], singular[28];
        linattn_prompt *prompt = prompt_of(&o, theta);
        const size_t p = linattn_prompt_parameter_count(prompt), few = p < o.examples ? p : o.examples;
        linattn_objective *f;
        linattn_prompt_condition c = {.struct_size = sizeof c};
        ck_assert_ok(linattn_objective_create_prompt(&f, prompt, NULL));
        ck_assert_ok(linattn_objective_hessian(f, 0, theta, h));
        ck_assert_ok(linattn_prompt_gauss_newton(prompt, theta, newton));
        for (size_t i = 0; i < p * p; i++) ck_assert_double_eq_tol(newton[i], h[i], 1e-14);
        eigenvalues_of(newton, p, values);
        ck_assert_ok(linattn_prompt_measure_condition(prompt, theta, singular, &c));
        const double floor = 1e-13 * values[p - 1];
        size_t above = 0;
        for (size_t i = 0; i < p; i++) above += values[i] > floor;
        ck_assert_uint_eq(c.rank, above);
        for (size_t i = 0; i < few; i++)
            ck_assert_double_eq_tol(singular[i] * singular[i] / (double)o.examples, values[p - 1 - i], floor);
        ck_assert_double_eq_tol(c.largest, values[p - 1], 1e-8 * values[p - 1]);
        ck_assert_double_eq_tol(c.smallest, values[p - above], 1e-8 * values[p - above] + floor);
        ck_assert_double_eq_tol(c.condition, c.largest / c.smallest, 1e-12 * c.condition);
        linattn_objective_destroy(f);
        linattn_prompt_destroy(prompt);
    }
}
END_TEST

/* Orthonormal keys make G G^T diagonal: its entries are |J u|^2, so the condition number is their ratio, the bound is met with
 * equality, however far apart they are; and the bound in R is above. */
START_TEST(condition_of_orthonormal_keys) {
    const double ratios[] = {1, 1e-2, 1e-6, 1e-20, 1e-60};
    for (size_t r = 0; r < 5; r++)
        for (int32_t profile = 0; profile < 3; profile++) {
            linattn_prompt_options o = options_of(6, 5, 31, ratios[r], profile);
            double theta[31], b[30], low = INFINITY, high = 0;
            o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
            linattn_prompt *prompt = prompt_of(&o, theta);
            const linattn_prompt_condition c = condition_of(prompt, theta);
            ck_assert_ok(linattn_prompt_evaluate(prompt, theta, NULL, NULL, b, NULL));
            for (size_t i = 0; i < 6; i++) {
                double squares = 0;
                for (size_t k = 0; k < 5; k++) squares += b[i * 5 + k] * b[i * 5 + k];
                low = fmin(low, squares);
                high = fmax(high, squares);
            }
            ck_assert_uint_eq(c.rank, 6);
            ck_assert_double_eq_tol(c.key_condition, 1, 1e-12);
            ck_assert_double_eq_tol(c.condition / (high / low), 1, 1e-12);
            ck_assert_double_eq_tol(c.bound / c.condition, 1, 1e-12);
            ck_assert_double_ge(c.ratio_bound, c.bound * (1 - 1e-12));
            linattn_prompt_destroy(prompt);
        }
}
END_TEST

/* Keys in general position, d >= n N: the bounds are never crossed. d < n N: there is none. */
START_TEST(bounds_hold) {
    const double ratios[] = {1, 1e-1, 1e-4, 1e-12, 1e-30};
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int32_t profile = 0; profile < 3; profile++)
            for (size_t r = 0; r < 5; r++) {
                linattn_prompt_options o = options_of(4, 5, 24, ratios[r], profile);
                double theta[24];
                o.seed = seed;
                linattn_prompt *prompt = prompt_of(&o, theta);
                const linattn_prompt_condition c = condition_of(prompt, theta);
                ck_assert_double_le(c.condition, c.bound * (1 + 1e-9));
                ck_assert_double_le(c.bound, c.ratio_bound * (1 + 1e-9));
                linattn_prompt_destroy(prompt);
            }
    linattn_prompt_options o = options_of(5, 5, 24, 0.1, 0);
    double theta[24];
    linattn_prompt *prompt = prompt_of(&o, theta);
    const linattn_prompt_condition c = condition_of(prompt, theta);
    ck_assert(isinf(c.key_condition) && isinf(c.bound) && isfinite(c.condition));
    linattn_prompt_destroy(prompt);
}
END_TEST

/* Two tokens with weights a and 1 - a: b = a (1 - a) (u_1 - u_2) (1, -1), and J's eigenvalue is 2 a (1 - a), down to 1e-290. */
START_TEST(small_coefficients_are_accurate) {
    const double scores[] = {0, 1, 20, 40, 300, 660};
    for (size_t i = 0; i < 6; i++) {
        linattn_prompt_options o = options_of(1, 2, 1, 1, 0);
        const double tokens[2] = {1, 0.25}, value = 1, label = 0, p = scores[i] / 0.75;
        const long double e = expl(-0.75L * p), a = 1 / (1 + e), rest = e / (1 + e);
        double f, weights[2], b[2], g, eigenvalues[2];
        linattn_prompt *prompt;
        ck_assert_ok(linattn_prompt_create_from_arrays(&prompt, &o, tokens, NULL, &value, NULL, &label));
        ck_assert_ok(linattn_prompt_evaluate(prompt, &p, &f, weights, b, &g));
        ck_assert_ok(linattn_prompt_softmax_spectrum(prompt, &p, 0, eigenvalues));
        /* The score's own rounding, 2e-16 of it, is the error of e. */
        const double tolerance = 1e-15 + 4e-16 * scores[i];
        ck_assert_double_eq_tol(weights[1] / (double)rest, 1, tolerance);
        ck_assert_double_eq_tol(b[0] / (double)(a * rest * 0.75L), 1, tolerance);
        ck_assert_double_eq_tol(b[1] / (double)(-a * rest * 0.75L), 1, tolerance);
        ck_assert_double_eq_tol(g / (double)(a * rest * 0.5625L), 1, 2 * tolerance);
        ck_assert_double_eq_tol(eigenvalues[0] / (double)(2 * a * rest), 1, tolerance);
        ck_assert_double_eq(eigenvalues[1], 0);
        linattn_prompt_destroy(prompt);
    }
}
END_TEST

/* The softmax Jacobian's eigenvalues are those of the matrix; with m equal weights one of them is there m - 1 times. */
START_TEST(softmax_spectrum) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        linattn_prompt_options o = options_of(3, 7, 4, seed % 2 ? 1e-3 : 0.3, (int32_t)(seed % 3));
        double theta[4], a[21], j[49], values[7], found[7];
        o.seed = seed;
        o.active = 3;
        linattn_prompt *prompt = prompt_of(&o, theta);
        ck_assert_ok(linattn_prompt_evaluate(prompt, theta, NULL, a, NULL, NULL));
        for (size_t i = 0; i < 7; i++)
            for (size_t k = 0; k < 7; k++) j[i * 7 + k] = (i == k ? a[7 + i] : 0) - a[7 + i] * a[7 + k];
        eigenvalues_of(j, 7, values);
        ck_assert_ok(linattn_prompt_softmax_spectrum(prompt, theta, 1, found));
        for (size_t i = 0; i < 7; i++) ck_assert_double_eq_tol(found[i], values[6 - i], 1e-15);
        linattn_prompt_destroy(prompt);
    }
}
END_TEST

/* Where orthonormal examples see nothing: theta = p* + a seen part + an unseen part, by hand. */
START_TEST(distances) {
    for (int32_t attention = 0; attention < 2; attention++) {
        linattn_prompt_options o = options_of(2, 3, 9, 0.1, LINATTN_PROMPT_LOG_UNIFORM);
        double theta[9], keys[54], g[18], far, seen;
        o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
        o.attention = attention;
        linattn_prompt *prompt = prompt_of(&o, theta);
        ck_assert_ok(linattn_prompt_get_arrays(prompt, NULL, keys, NULL, NULL, NULL));
        ck_assert_ok(linattn_prompt_evaluate(prompt, theta, NULL, NULL, NULL, g));
        /* Softmax sees differences of an example's keys, and not their sum. Linear attention sees g alone. */
        double squares = 0;
        for (size_t j = 0; j < 9; j++) {
            const double unit = keys[j] + keys[9 + j] + keys[18 + j], difference = keys[j] - keys[9 + j];
            theta[j] += 2 * (attention ? g[j] : difference) + (attention ? 0 : unit);
            squares += 4 * g[j] * g[j];
        }
        ck_assert_ok(linattn_prompt_distance(prompt, theta, &far, &seen));
        ck_assert_double_eq_tol(seen, attention ? sqrt(squares) : sqrt(8), 1e-12);
        ck_assert_double_eq_tol(far, attention ? sqrt(squares) : sqrt(8 + 3), 1e-12);
        linattn_prompt_destroy(prompt);
    }
}
END_TEST

/* Gradient descent from 0 with step 1/L, over-parameterised, orthonormal, noise-free: the loss falls at the predicted rate. */
START_TEST(measured_rate_is_the_predicted_one) {
    enum { N = 5, TOKENS = 4, DIM = 20, STEPS = 20000 };
    linattn_prompt_options o = options_of(N, TOKENS, DIM, 0.3, LINATTN_PROMPT_LOG_UNIFORM);
    o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
    double teacher[DIM], theta[DIM] = {0}, g[DIM], rate;
    double *losses = calloc(STEPS, sizeof *losses);
    linattn_prompt *prompt = prompt_of(&o, teacher);
    const linattn_prompt_condition c = condition_of(prompt, teacher);
    linattn_objective *f;
    linattn_line line = {.struct_size = sizeof line};
    size_t count = 0;
    const double step = 1 / c.largest;
    ck_assert_ok(linattn_objective_create_prompt(&f, prompt, NULL));
    while (count < STEPS && (count == 0 || losses[count - 1] > 1e-22)) {
        ck_assert_ok(linattn_objective_gradient(f, 0, theta, &losses[count++], g));
        for (size_t j = 0; j < DIM; j++) theta[j] -= step * g[j];
    }
    ck_assert_double_lt(losses[count - 1], 1e-22);
    ck_assert_ok(linattn_series_rate(losses, count, 1e-12, 1e-20, &line));
    ck_assert_ok(linattn_prompt_predict_rate(prompt, theta, step, &rate));
    ck_assert_double_eq_tol(-line.slope / rate, 1, 0.05);
    linattn_objective_destroy(f);
    linattn_prompt_destroy(prompt);
    free(losses);
}
END_TEST

/* A series that falls by a half each time, before and after what is looked at not. */
START_TEST(series_rate) {
    const double series[] = {9, 8, 4, 2, 1, 0.5, 7, 0};
    linattn_line line = {.struct_size = sizeof line};
    ck_assert_ok(linattn_series_rate(series, 8, 8, 1, &line));
    ck_assert_uint_eq(line.count, 4);
    ck_assert_double_eq_tol(line.slope, -log(2), 1e-15);
    ck_assert_status(linattn_series_rate(series, 8, 8, 7, &line), LINATTN_EDEGENERATE, "1 of 8 numbers");
    ck_assert_status(linattn_series_rate(series, 8, 1, 1, &line), LINATTN_EINVAL, "high is 1");
    ck_assert_status(linattn_series_rate(series, 8, 1, 0, &line), LINATTN_EINVAL, "low is 0");
    const double negative[] = {1, -1};
    ck_assert_status(linattn_series_rate(negative, 2, 2, 1, &line), LINATTN_EINVAL, "series[1] is below 0");
}
END_TEST

START_TEST(nothing_depends_on_theta) {
    linattn_prompt_options o = options_of(3, 1, 4, 1, 0);
    double theta[4], singular[3] = {7, 7, 7}, rate = 7;
    linattn_prompt_condition c = {.struct_size = sizeof c};
    linattn_prompt *prompt = prompt_of(&o, theta);
    ck_assert_status(linattn_prompt_measure_condition(prompt, theta, singular, &c), LINATTN_EDEGENERATE, "no output depends");
    ck_assert(c.rank == 0 && isnan(c.condition) && singular[0] == 0);
    ck_assert_status(linattn_prompt_predict_rate(prompt, theta, 1, &rate), LINATTN_EDEGENERATE, "no output depends");
    ck_assert_double_eq(rate, 7);
    linattn_prompt_destroy(prompt);
}
END_TEST

static Suite *prompt_measures_suite(void) {
    Suite *suite = suite_create("prompt measures");
    TCase *tests = tcase_create("prompt measures");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, condition_against_the_hessian);
    tcase_add_test(tests, condition_of_orthonormal_keys);
    tcase_add_test(tests, bounds_hold);
    tcase_add_test(tests, small_coefficients_are_accurate);
    tcase_add_test(tests, softmax_spectrum);
    tcase_add_test(tests, distances);
    tcase_add_test(tests, measured_rate_is_the_predicted_one);
    tcase_add_test(tests, series_rate);
    tcase_add_test(tests, nothing_depends_on_theta);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(prompt_measures_suite)
