/* Hessian-vector products and Hessians: against closed forms and each other. What holds for every model is in
 * test_conformance.c. */
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>
#include <stdint.h>

static const struct {
    reference_shape shape;
    size_t prompts;
} cases[] = {{{1, 1, 1, 1, 0}, 1}, {{1, 1, 1, 1, 1}, 3},  {{1, 2, 3, 4, 0}, 9}, {{1, 2, 3, 4, 1}, 9}, {{2, 1, 5, 4, 0}, 9},
             {{2, 1, 5, 4, 1}, 7}, {{3, 1, 5, 6, 0}, 65}, {{3, 1, 4, 6, 1}, 9}, {{2, 2, 4, 6, 0}, 9}, {{2, 2, 3, 6, 1}, 17},
             {{4, 2, 3, 5, 0}, 9}, {{4, 2, 3, 5, 1}, 9},  {{5, 1, 6, 5, 0}, 8}};
enum { CASES = sizeof cases / sizeof *cases };

/* H u from products is H from units times u; many directions in one call are the same bits as one by one. */
START_TEST(products_are_the_hessian_times_directions) {
    enum { COUNT = 70 }; /* more than one pass takes */
    random_case c = random_case_open(cases[_i].shape, cases[_i].prompts, (unsigned)_i + 50);
    const size_t p = c.p;
    double *hessian = numbers(p * p), *u = numbers(COUNT * p), *out = numbers(COUNT * p), *one = numbers(p),
           *wanted = numbers(COUNT * p);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 2);
    for (size_t i = 0; i < COUNT * p; i++) u[i] = sin((double)(i * i % 1009));
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
    ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u, COUNT, out));
    for (size_t k = 0; k < COUNT; k++) {
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++) wanted[k * p + i] += hessian[i * p + j] * u[k * p + j];
        ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u + k * p, 1, one));
        ck_assert_mem_eq(one, out + k * p, p * sizeof *one);
    }
    ck_assert_double_le(relative_distance(out, wanted, COUNT * p), 1e-12);
    linattn_objective_destroy(f);
    free(hessian);
    free(u);
    free(out);
    free(one);
    free(wanted);
    random_case_close(&c);
}
END_TEST

/* One layer, d = n = B = 1: loss (6 q + 6)^2, second derivative 72 in q, 0 elsewhere; the same for 7 copies of the prompt. */
START_TEST(case_N1_second_derivative_of_the_toy) {
    for (size_t copies = 1; copies <= 7; copies += 6) {
        double tokens[7 * 4], targets[7], hessian[4];
        const double theta[2] = {0.7, 0.3}, token[4] = {1, 2, 3, 0};
        for (size_t b = 0; b < copies; b++) {
            memcpy(tokens + 4 * b, token, sizeof token);
            targets[b] = 6;
        }
        linattn_model_options options;
        linattn_model *model = NULL;
        linattn_batch *batch = NULL;
        linattn_objective *f = NULL;
        ck_assert_ok(linattn_model_options_init(&options, sizeof options));
        options.dim = options.layers = 1;
        ck_assert_ok(linattn_model_create(&model, &options));
        ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, copies, 1, 1));
        ck_assert_ok(linattn_objective_create_fixed(&f, model, batch, NULL));
        ck_assert_ok(linattn_objective_hessian(f, 0, theta, hessian));
        ck_assert_double_eq(hessian[0], 0);
        ck_assert_double_eq(hessian[1], 0);
        ck_assert_double_eq(hessian[2], 0);
        ck_assert_double_eq_tol(hessian[3], 72, 1e-13);
        linattn_objective_destroy(f);
        linattn_batch_destroy(batch);
        linattn_model_destroy(model);
    }
}
END_TEST

START_TEST(case_N3_parts_of_a_batch) {
    static const size_t cuts[][4] = {{0, 500, 1000, 1000}, {0, 333, 666, 1000}, {0, 999, 1000, 1000}, {0, 1, 2, 1000}};
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 1000, 5);
    const size_t p = c.p, row = 5 * 4;
    double *whole = numbers(p * p), *again = numbers(p * p), *sum = numbers(p * p);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, whole));
    linattn_objective_destroy(f);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        memset(sum, 0, p * p * sizeof *sum);
        for (size_t part = 0; part < 3; part++) {
            const size_t begin = cuts[i][part], count = cuts[i][part + 1] - begin;
            linattn_batch *batch;
            if (count == 0) continue;
            ck_assert_ok(linattn_batch_create_from_arrays(&batch, c.tokens + begin * row, c.targets + begin, count, 4, 3));
            f = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
            ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, again));
            for (size_t j = 0; j < p * p; j++) sum[j] += again[j] * (double)count / (double)c.prompts;
            linattn_objective_destroy(f);
            linattn_batch_destroy(batch);
        }
        ck_assert_double_le(relative_distance(sum, whole, p * p), 1e-12);
    }
    free(whole);
    free(again);
    free(sum);
    random_case_close(&c);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 2500, 5); /* 40 chunks: two rounds */
    const size_t p = c.p;
    double *whole = numbers(p * p), *again = numbers(p * p);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, whole));
    linattn_objective_destroy(f);
    for (size_t threads = 2; threads <= 4; threads++) {
        f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, threads);
        ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, again));
        ck_assert_mem_eq(whole, again, p * p * sizeof *whole);
        linattn_objective_destroy(f);
    }
    free(whole);
    free(again);
    random_case_close(&c);
}
END_TEST

/* A sampled objective's product is that of the batch its draw means, whether or not the draw was evaluated before. */
START_TEST(products_follow_the_draw) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 1, 5);
    linattn_sampler_options options;
    linattn_sampler *sampler = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *f = NULL;
    double *out = numbers(c.p), *wanted = numbers(c.p), value;
    ck_assert_ok(linattn_sampler_options_init(&options, sizeof options));
    options.dim = 3;
    options.context = 4;
    ck_assert_ok(linattn_sampler_create(&sampler, &options));
    ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, 100, NULL));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 100, 7));
    linattn_objective *g = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_hvp(g, 0, c.theta, c.theta, 1, wanted));
    ck_assert_ok(linattn_objective_hvp(f, 7, c.theta, c.theta, 1, out));
    ck_assert_mem_eq(out, wanted, c.p * sizeof *out);
    ck_assert_ok(linattn_objective_value(f, 8, c.theta, &value));
    ck_assert_ok(linattn_objective_value(f, 7, c.theta, &value));
    ck_assert_ok(linattn_objective_hvp(f, 7, c.theta, c.theta, 1, out));
    ck_assert_mem_eq(out, wanted, c.p * sizeof *out);
    linattn_objective_destroy(f);
    linattn_objective_destroy(g);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    free(out);
    free(wanted);
    random_case_close(&c);
}
END_TEST

/* f = x^4 + x y + y^2: H = (12 x^2, 1; 1, 2). */
static int quartic(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    const double x = theta[0], y = theta[1];
    (void)draw, (void)user;
    *value = x * x * x * x + x * y + y * y;
    gradient[0] = 4 * x * x * x + y;
    gradient[1] = x + 2 * y;
    return 0;
}

static int quartic_hvp(uint64_t draw, const double *theta, const double *u, size_t count, double *out, void *user) {
    const int *mode = user;
    (void)draw;
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = 12 * theta[0] * theta[0] * u[2 * i] + u[2 * i + 1];
        if (*mode != 1) out[2 * i + 1] = u[2 * i] + 2 * u[2 * i + 1];
    }
    return *mode == 2 ? -41 : 0;
}

static linattn_objective *quartic_objective(double step, int *mode) {
    linattn_objective_callbacks callbacks;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 2;
    callbacks.gradient = quartic;
    callbacks.hvp = mode ? quartic_hvp : NULL;
    callbacks.difference_step = step;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, NULL, mode));
    return f;
}

START_TEST(callbacks_have_products_too) {
    const double theta[2] = {3, 5}, u[4] = {1, 2, 0, 0};
    double out[4], hessian[4];
    int mode = 0;
    linattn_objective *f = quartic_objective(0, &mode);
    ck_assert_int_eq(linattn_objective_hvp_kind(f), LINATTN_HVP_EXACT);
    ck_assert_ok(linattn_objective_hvp(f, 0, theta, u, 2, out));
    ck_assert_double_eq(out[0], 110);
    ck_assert_double_eq(out[1], 5);
    ck_assert_double_eq(out[2], 0);
    ck_assert_ok(linattn_objective_hessian(f, 0, theta, hessian));
    ck_assert_double_eq(hessian[0], 108);
    ck_assert_double_eq(hessian[1], 1);
    ck_assert_double_eq(hessian[2], 1);
    ck_assert_double_eq(hessian[3], 2);
    mode = 1;
    ck_assert_status(linattn_objective_hvp(f, 0, theta, u, 2, out), LINATTN_ENONFINITE, "out[1] is nan");
    mode = 2;
    ck_assert_status(linattn_objective_hvp(f, 0, theta, u, 2, out), -41, "hvp returned -41");
    linattn_objective_destroy(f);

    f = quartic_objective(1e-5, NULL);
    ck_assert_int_eq(linattn_objective_hvp_kind(f), LINATTN_HVP_DIFFERENCES);
    ck_assert_ok(linattn_objective_hvp(f, 0, theta, u, 2, out));
    ck_assert_double_eq_tol(out[0], 110, 1e-6);
    ck_assert_double_eq_tol(out[1], 5, 1e-6);
    ck_assert_double_eq(out[2], 0); /* along no direction nothing changes */
    ck_assert_ok(linattn_objective_hessian(f, 0, theta, hessian));
    ck_assert_double_eq_tol(hessian[0], 108, 1e-6);
    ck_assert(hessian[1] == hessian[2]);
    linattn_objective_destroy(f);

    f = quartic_objective(0, NULL);
    ck_assert_int_eq(linattn_objective_hvp_kind(f), LINATTN_HVP_NONE);
    ck_assert_status(linattn_objective_hvp(f, 0, theta, u, 1, out), LINATTN_EUNSUPPORTED, "no Hessian-vector products");
    ck_assert_status(linattn_objective_hessian(f, 0, theta, hessian), LINATTN_EUNSUPPORTED, "no Hessian-vector products");
    linattn_objective_destroy(f);
}
END_TEST

START_TEST(arguments_wrong_in_turn) {
    random_case c = random_case_open((reference_shape){1, 1, 2, 3, 0}, 2, 1);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    double u[8] = {1}, out[64];
    ck_assert_int_eq(linattn_objective_hvp_kind(NULL), LINATTN_HVP_NONE);
    ck_assert_status(linattn_objective_hvp(NULL, 0, c.theta, u, 1, out), LINATTN_EINVAL, "objective is NULL");
    ck_assert_status(linattn_objective_hvp(f, 0, NULL, u, 1, out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_objective_hvp(f, 0, c.theta, NULL, 1, out), LINATTN_EINVAL, "directions is NULL");
    ck_assert_status(linattn_objective_hvp(f, 0, c.theta, u, 1, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_objective_hvp(f, 0, c.theta, u, 0, out), LINATTN_EINVAL, "count is 0");
    ck_assert_status(linattn_objective_hvp(f, 0, c.theta, u, SIZE_MAX / 8, out), LINATTN_EINVAL, "count is 2305843009213693951");
    u[3] = NAN;
    ck_assert_status(linattn_objective_hvp(f, 0, c.theta, u, 1, out), LINATTN_ENONFINITE, "directions[3] is nan");
    ck_assert_status(linattn_objective_hessian(f, 0, c.theta, NULL), LINATTN_EINVAL, "out is NULL");
    c.theta[0] = INFINITY;
    ck_assert_status(linattn_objective_hessian(f, 0, c.theta, out), LINATTN_ENONFINITE, "theta[0] is inf");
    linattn_objective_destroy(f);
    linattn_objective_callbacks callbacks;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 2;
    callbacks.gradient = quartic;
    callbacks.difference_step = NAN;
    ck_assert_status(linattn_objective_create_callbacks(&f, &callbacks, NULL, NULL), LINATTN_EINVAL, "difference_step is nan");
    callbacks.difference_step = -1;
    ck_assert_status(linattn_objective_create_callbacks(&f, &callbacks, NULL, NULL), LINATTN_EINVAL, "difference_step is -1");
    random_case_close(&c);
}
END_TEST

static Suite *hessian_suite(void) {
    Suite *suite = suite_create("hessian");
    TCase *tc = tcase_create("hessian");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, products_are_the_hessian_times_directions, 0, CASES);
    tcase_add_test(tc, case_N1_second_derivative_of_the_toy);
    tcase_add_test(tc, case_N3_parts_of_a_batch);
    tcase_add_test(tc, threads_do_not_change_bits);
    tcase_add_test(tc, products_follow_the_draw);
    tcase_add_test(tc, callbacks_have_products_too);
    tcase_add_test(tc, arguments_wrong_in_turn);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(hessian_suite)
