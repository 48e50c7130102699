/* Value and gradient of the model: against the reference, differences, closed forms, and under every kernel. */
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* 20 shapes and the batch sizes at which blocks of 8 and chunks of 64 begin and end. */
static const struct {
    reference_shape shape;
    size_t prompts;
} cases[] = {
    {{1, 1, 1, 1, 0}, 1},   {{1, 1, 1, 1, 1}, 7},   {{3, 1, 5, 20, 0}, 1000}, {{3, 1, 5, 20, 1}, 65}, {{2, 1, 1, 3, 0}, 9},
    {{2, 1, 2, 1, 1}, 63},  {{1, 1, 5, 4, 0}, 8},   {{1, 2, 5, 4, 1}, 7},     {{4, 1, 3, 2, 0}, 65},  {{4, 1, 3, 2, 1}, 9},
    {{2, 3, 4, 7, 0}, 63},  {{2, 3, 4, 7, 1}, 64},  {{6, 1, 2, 5, 0}, 1},     {{6, 1, 2, 5, 1}, 9},   {{2, 1, 10, 3, 0}, 7},
    {{2, 1, 20, 30, 0}, 1}, {{3, 2, 10, 12, 0}, 9}, {{3, 2, 6, 9, 1}, 17},    {{8, 1, 5, 9, 0}, 9},   {{2, 1, 7, 1, 1}, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

static double gradient_of(const random_case *c, const linattn_batch *batch, int32_t kernel, size_t threads, double *gradient) {
    linattn_objective *f = random_case_objective(c, batch, kernel, threads);
    double value = NAN;
    ck_assert_ok(linattn_objective_gradient(f, 0, c->theta, &value, gradient));
    linattn_objective_destroy(f);
    return value;
}

START_TEST(every_kernel_agrees_with_the_definition) {
    random_case c = random_case_open(cases[_i].shape, cases[_i].prompts, (unsigned)_i);
    double *wanted = malloc(c.p * sizeof *wanted), *got = malloc(c.p * sizeof *got), *first = malloc(c.p * sizeof *first);
    const double loss = reference_gradient(&c.shape, c.tokens, c.targets, c.prompts, c.theta, NULL, wanted);
    int compared = 0;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        const double value = gradient_of(&c, NULL, kernel, 1, got);
        ck_assert_double_le(fabs(value - loss), 1e-13 * loss);
        ck_assert_double_le(relative_distance(got, wanted, c.p), 1e-12);
        if (!compared++) memcpy(first, got, c.p * sizeof *first);
        ck_assert_double_le(relative_distance(got, first, c.p), 1e-13);
    }
    ck_assert_int_ge(compared, 1);
    free(wanted);
    free(got);
    free(first);
    random_case_close(&c);
}
END_TEST

/* h = 1e-6: at 1e-5 the third derivative of eight layers already shows (1.5e-6 of the largest entry, falling as h^2). */
START_TEST(gradient_agrees_with_differences) {
    const size_t few = cases[_i].prompts < 65 ? cases[_i].prompts : 65; /* rounding of the value grows with the batch's spread */
    random_case c = random_case_open(cases[_i].shape, few, (unsigned)_i + 100);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_derivative_report report = {.struct_size = sizeof report};
    ck_assert_ok(linattn_objective_check_derivatives(f, 0, c.theta, 1e-6, &report));
    ck_assert_double_le(report.gradient_error, 1e-7);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* Block form: the last layer's P. Full form: all rows of it but the last; with one layer the last row of Q as well. */
START_TEST(exact_zeros_are_exact) {
    for (size_t i = 0; i < CASES; i++) {
        random_case c = random_case_open(cases[i].shape, 9, (unsigned)i);
        const size_t d = c.shape.dim, side = c.shape.full ? d + 1 : d, heads = c.shape.heads;
        double *gradient = malloc(c.p * sizeof *gradient);
        for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
            if (!linattn_kernel_available(kernel)) continue;
            gradient_of(&c, NULL, kernel, 1, gradient);
            for (size_t h = 0; h < heads; h++) {
                const double *P = gradient + ((c.shape.layers - 1) * heads + h) * 2 * side * side, *Q = P + side * side;
                for (size_t j = 0; j < (c.shape.full ? d * side : side * side); j++) ck_assert(P[j] == 0);
                for (size_t j = 0; c.shape.full && c.shape.layers == 1 && j < side; j++) ck_assert(Q[d * side + j] == 0);
                ck_assert(Q[0] != 0);
            }
        }
        free(gradient);
        random_case_close(&c);
    }
}
END_TEST

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
    const double loss = gradient_of(&c, NULL, LINATTN_KERNEL_AUTO, 1, whole);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        double value = 0;
        memset(sum, 0, c.p * sizeof *sum);
        for (size_t j = 0, first = 0; j < 4 && cuts[i][j]; first += cuts[i][j++]) {
            linattn_batch *batch = NULL;
            const double weight = (double)cuts[i][j] / 1000;
            ck_assert_ok(linattn_batch_create_from_arrays(&batch, c.tokens + first * 126, c.targets + first, cuts[i][j], 20, 5));
            value += weight * gradient_of(&c, batch, LINATTN_KERNEL_AUTO, 1, part);
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
    const double loss = gradient_of(&c, NULL, LINATTN_KERNEL_AUTO, 1, one);
    for (size_t threads = 2; threads <= 5; threads++) {
        ck_assert(gradient_of(&c, NULL, LINATTN_KERNEL_AUTO, threads, many) == loss);
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
    tcase_add_loop_test(tc, every_kernel_agrees_with_the_definition, 0, CASES);
    tcase_add_loop_test(tc, gradient_agrees_with_differences, 0, CASES);
    tcase_add_test(tc, exact_zeros_are_exact);
    tcase_add_test(tc, case_S1_sign_of_the_prediction);
    tcase_add_test(tc, case_N1_mean_of_squares_without_a_half);
    tcase_add_test(tc, case_N3_batch_is_the_mean_of_its_parts);
    tcase_add_test(tc, threads_do_not_change_bits);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(gradient_suite)
