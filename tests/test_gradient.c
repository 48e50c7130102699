/* Value and gradient of the model: closed forms, a batch and its parts, threads. What holds for every model is in
 * test_conformance.c. */
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* One layer, d = n = B = 1: token (1, 2), query 3, target 6: prediction -6 q, loss (6 q + 6)^2. */
static double toy(double q, size_t copies, double *gradient) {
    linattn_model_options options;
    linattn_model_options_init(&options, sizeof options);
    options.dim = options.layers = 1;
    linattn_model *model = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *f = NULL;
    double tokens[7 * 4], targets[7], theta[2] = {0.7, q}, value = NAN, prediction[7];
    for (size_t b = 0; b < copies; b++) {
        const double token[4] = {1, 2, 3, 0};
        memcpy(tokens + 4 * b, token, sizeof token);
        targets[b] = 6;
    }
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, copies, 1, 1));
    ck_assert_ok(linattn_objective_create_fixed(&f, model, batch, NULL));
    ck_assert_ok(linattn_model_predict(model, batch, theta, prediction));
    ck_assert_double_eq(prediction[0], -6 * q);
    linattn_model_destroy(model); /* the objective keeps what it needs */
    linattn_batch_destroy(batch);
    ck_assert_ok(linattn_objective_gradient(f, 0, theta, &value, gradient));
    linattn_objective_destroy(f);
    return value;
}

START_TEST(case_S1_sign_of_the_prediction) {
    double gradient[2];
    ck_assert_double_eq(toy(-1, 1, gradient), 0);
    ck_assert_double_eq(toy(1, 1, gradient), 144);
}
END_TEST

START_TEST(case_N1_mean_of_squares_without_a_half) {
    double gradient[2];
    for (size_t copies = 1; copies <= 7; copies += 6) {
        ck_assert_double_eq(toy(0, copies, gradient), 36);
        ck_assert_double_eq(gradient[0], 0);
        ck_assert_double_eq(gradient[1], 72);
    }
}
END_TEST

/* The mean over a batch is the weighted mean over its parts, however it is cut. */
START_TEST(case_N3_batch_is_the_mean_of_its_parts) {
    static const size_t cuts[][4] = {{1000}, {500, 500}, {333, 333, 334}, {999, 1}};
    random_case c = random_case_open((reference_shape){3, 1, 5, 20, 0}, 1000, 5);
    double *whole = malloc(c.p * sizeof *whole), *sum = malloc(c.p * sizeof *sum), *part = malloc(c.p * sizeof *part);
    const double loss = random_case_gradient(&c, NULL, LINATTN_KERNEL_AUTO, 1, whole);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        double value = 0;
        memset(sum, 0, c.p * sizeof *sum);
        for (size_t j = 0, first = 0; j < 4 && cuts[i][j]; first += cuts[i][j++]) {
            linattn_batch *batch = NULL;
            const double weight = (double)cuts[i][j] / 1000;
            ck_assert_ok(linattn_batch_create_from_arrays(&batch, c.tokens + first * 126, c.targets + first, cuts[i][j], 20, 5));
            value += weight * random_case_gradient(&c, batch, LINATTN_KERNEL_AUTO, 1, part);
            for (size_t k = 0; k < c.p; k++) sum[k] += weight * part[k];
            linattn_batch_destroy(batch);
        }
        ck_assert_double_le(fabs(value - loss), 1e-12 * loss);
        ck_assert_double_le(relative_distance(sum, whole, c.p), 1e-12);
    }
    free(whole);
    free(sum);
    free(part);
    random_case_close(&c);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
    random_case c = random_case_open((reference_shape){3, 1, 5, 6, 1}, 5003, 7); /* 79 chunks: three rounds, the last chunk short */
    double *one = malloc(c.p * sizeof *one), *many = malloc(c.p * sizeof *many);
    const double loss = random_case_gradient(&c, NULL, LINATTN_KERNEL_AUTO, 1, one);
    for (size_t threads = 2; threads <= 5; threads++) {
        ck_assert(random_case_gradient(&c, NULL, LINATTN_KERNEL_AUTO, threads, many) == loss);
        ck_assert_mem_eq(one, many, c.p * sizeof *one);
    }
    free(one);
    free(many);
    random_case_close(&c);
}
END_TEST

static Suite *gradient_suite(void) {
    Suite *suite = suite_create("gradient");
    TCase *tc = tcase_create("gradient");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_S1_sign_of_the_prediction);
    tcase_add_test(tc, case_N1_mean_of_squares_without_a_half);
    tcase_add_test(tc, case_N3_batch_is_the_mean_of_its_parts);
    tcase_add_test(tc, threads_do_not_change_bits);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(gradient_suite)
