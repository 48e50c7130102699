/* test_optimizer_preconditioner.c: what the rules divide by: by hand, from sums over the past, after skips, and with memory put back
 * or loaded. */
#include "support/problem.h"
#include "support/suite.h"
#include <math.h>
#include <unistd.h>

enum { P = 3, STEPS = 12 };

static linattn_optimizer *optimizer_of(int32_t rule, double beta2, double epsilon) {
    linattn_optimizer_options options;
    linattn_optimizer *optimizer = NULL;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = rule;
    options.learning_rate = 0.1;
    options.beta2 = beta2;
    options.epsilon = epsilon;
    options.nonfinite = LINATTN_NONFINITE_SKIP;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, P));
    return optimizer;
}

static void step(linattn_optimizer *optimizer, const double *gradient, double *theta) {
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, gradient, theta, NULL));
}

/* beta2 = 1/2, epsilon = 1: after g = 3, then g = 0: v = 9/2, 9/4; 1 - beta2^t = 1/2, 3/4; D = 3 + 1, sqrt(3) + 1.
 * Twice the same gradient: D = |g| + epsilon both times. */
START_TEST(adam_by_hand) {
    for (int32_t rule = LINATTN_RULE_ADAM; rule <= LINATTN_RULE_ADAMW; rule++) {
        linattn_optimizer *optimizer = optimizer_of(rule, 0.5, 1);
        const double first[P] = {3, -2, 0}, second[P] = {0, -2, 0};
        double theta[P] = {0}, D[P];
        step(optimizer, first, theta);
        ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
        ck_assert_double_eq(D[0], 4);
        ck_assert_double_eq(D[1], 3);
        ck_assert_double_eq(D[2], 1); /* epsilon alone */
        step(optimizer, second, theta);
        ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
        ck_assert_double_eq_tol(D[0], sqrt(3) + 1, 1e-15);
        ck_assert_double_eq_tol(D[1], 3, 1e-15);
        ck_assert_double_eq(D[2], 1);
        linattn_optimizer_destroy(optimizer);
    }
}
END_TEST

static double gradient_entry(int t, size_t i) { return sin(1.7 * t + (double)i) * (t % 3 == 0 ? 5 : 0.01); }

/* sqrt(sum beta2^(t-k) g_k^2 / sum beta2^(t-k)) + epsilon over the updates k = 1 .. t: steps that were skipped are none. */
START_TEST(adam_against_sums_over_the_past) {
    linattn_optimizer *optimizer = optimizer_of(LINATTN_RULE_ADAM, 0.999, 1e-8);
    const double bad[P] = {1, NAN, 2};
    double theta[P] = {1, 2, 3}, D[P], before[P] = {0};
    for (int t = 1; t <= STEPS; t++) {
        double g[P];
        for (size_t i = 0; i < P; i++) g[i] = gradient_entry(t, i);
        if (t % 4 == 1) step(optimizer, bad, theta);
        if (t > 1) {
            ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
            ck_assert_mem_eq(D, before, sizeof D); /* a skip leaves it as it is */
        }
        step(optimizer, g, theta);
        ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
        memcpy(before, D, sizeof D);
        for (size_t i = 0; i < P; i++) {
            long double squares = 0, weight = 0;
            for (int k = 1; k <= t; k++) {
                squares += powl(0.999L, t - k) * (long double)gradient_entry(k, i) * (long double)gradient_entry(k, i);
                weight += powl(0.999L, t - k);
            }
            const double wanted = (double)(sqrtl(squares / weight) + 1e-8L);
            ck_assert_double_le(fabs(D[i] - wanted), 1e-13 * wanted);
        }
    }
    ck_assert_uint_eq(linattn_optimizer_skip_count(optimizer), 3);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* It is what the rule divides by: with beta1 = 0 a step moves theta by lr g / D. */
START_TEST(it_is_what_a_step_divides_by) {
    linattn_optimizer_options options;
    linattn_optimizer *optimizer = NULL;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = 0.5;
    options.beta1 = 0;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, P));
    for (int t = 1; t <= STEPS; t++) {
        double g[P], theta[P] = {0}, D[P];
        for (size_t i = 0; i < P; i++) g[i] = gradient_entry(t, i);
        step(optimizer, g, theta);
        ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
        for (size_t i = 0; i < P; i++) ck_assert_double_eq_tol(-theta[i], 0.5 * g[i] / D[i], 1e-15);
    }
    linattn_optimizer_destroy(optimizer);
}
END_TEST

START_TEST(sgd_divides_by_1) {
    linattn_optimizer *optimizer = optimizer_of(LINATTN_RULE_SGD, 0.5, 1);
    const double g[P] = {1, 2, 3};
    double theta[P] = {0}, D[P];
    for (int t = 0; t < 3; t++) {
        for (size_t i = 0; i < P; i++) D[i] = NAN;
        ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D)); /* before the first update, too */
        for (size_t i = 0; i < P; i++) ck_assert_double_eq(D[i], 1);
        step(optimizer, g, theta);
    }
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* Memory put back: v = 3, 12, 0 after two updates (of five steps) with beta2 = 1/2: D = 2, 4, 0 and epsilon. */
START_TEST(after_set_state) {
    linattn_optimizer *optimizer = optimizer_of(LINATTN_RULE_ADAMW, 0.5, 0);
    double state[2 * P] = {7, -8, 9, 3, 12, 0}, D[P] = {5, 6, 7};
    ck_assert_ok(linattn_optimizer_set_state(optimizer, state, 5, 3));
    ck_assert_ok(linattn_optimizer_preconditioner(optimizer, D));
    ck_assert_double_eq(D[0], 2);
    ck_assert_double_eq(D[1], 4);
    ck_assert_double_eq(D[2], 0);

    /* Every update a skip: there was none. What cannot be is told, and out is as it was. */
    ck_assert_ok(linattn_optimizer_set_state(optimizer, state, 5, 5));
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_EDEGENERATE, "no update yet");
    state[P + 1] = -1;
    ck_assert_ok(linattn_optimizer_set_state(optimizer, state, 5, 3));
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_ENONFINITE, "preconditioner[1] is ");
    state[P + 1] = 1.7e308; /* over 3/4 */
    ck_assert_ok(linattn_optimizer_set_state(optimizer, state, 5, 3));
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_ENONFINITE, "preconditioner[1] is inf");
    ck_assert_double_eq(D[0], 2);
    ck_assert_double_eq(D[1], 4);
    ck_assert_double_eq(D[2], 0);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* A checkpoint, loaded into a fresh optimizer, has the bits of the one that was saved. */
START_TEST(after_loading) {
    char path[] = "/tmp/linattn-preconditioner-XXXXXX";
    const double start[P] = {2, -1, 0.5};
    double saved[P], loaded[P];
    close(mkstemp(path));
    for (int again = 0; again < 2; again++) {
        problem f = problem_of(P);
        linattn_objective *objective = problem_objective(&f);
        linattn_optimizer *optimizer = optimizer_of(LINATTN_RULE_ADAM, 0.999, 1e-8);
        linattn_trainer *trainer = NULL;
        f.bad_draw = 4; /* one step is skipped */
        f.bad_gradient = NAN;
        ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, start, NULL));
        if (again) {
            ck_assert_status(linattn_optimizer_preconditioner(optimizer, loaded), LINATTN_EDEGENERATE, "no update yet");
            ck_assert_ok(linattn_trainer_load(trainer, path));
            ck_assert_ok(linattn_optimizer_preconditioner(optimizer, loaded));
        } else {
            ck_assert_ok(linattn_trainer_run(trainer, 9, NULL));
            ck_assert_ok(linattn_trainer_save(trainer, path));
            ck_assert_ok(linattn_optimizer_preconditioner(optimizer, saved));
        }
        ck_assert_uint_eq(linattn_optimizer_skip_count(optimizer), 1);
        linattn_trainer_destroy(trainer);
        linattn_optimizer_destroy(optimizer);
        linattn_objective_destroy(objective);
    }
    ck_assert_mem_eq(saved, loaded, sizeof saved);
    unlink(path);
}
END_TEST

static int custom_update(const linattn_update *update, void *user) {
    (void)update, (void)user;
    return 0;
}

START_TEST(refusals) {
    linattn_optimizer_options options;
    linattn_custom_rule custom;
    linattn_optimizer *optimizer = NULL;
    double D[P] = {5, 6, 7};
    ck_assert_status(linattn_optimizer_preconditioner(NULL, D), LINATTN_EINVAL, "optimizer is NULL");
    for (int32_t rule = LINATTN_RULE_ADAM; rule <= LINATTN_RULE_ADAMW; rule++) {
        optimizer = optimizer_of(rule, 0.999, 1e-8);
        ck_assert_status(linattn_optimizer_preconditioner(optimizer, NULL), LINATTN_EINVAL, "out is NULL");
        ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_EDEGENERATE, "no update yet");
        linattn_optimizer_destroy(optimizer);
    }
    optimizer = optimizer_of(LINATTN_RULE_SIGN, 0.999, 1e-8);
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_EUNSUPPORTED, "the rule \"sign\"");
    linattn_optimizer_destroy(optimizer);
    optimizer = optimizer_of(LINATTN_RULE_NORMALIZED_GD, 0.999, 1e-8);
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_EUNSUPPORTED, "the rule \"normalized_gd\"");
    linattn_optimizer_destroy(optimizer);
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    ck_assert_ok(linattn_custom_rule_init(&custom, sizeof custom));
    options.learning_rate = 1;
    custom.name = "mine";
    custom.update = custom_update;
    ck_assert_ok(linattn_optimizer_create_custom(&optimizer, &options, &custom, NULL, NULL, 0, P));
    ck_assert_status(linattn_optimizer_preconditioner(optimizer, D), LINATTN_EUNSUPPORTED, "the rule \"mine\"");
    linattn_optimizer_destroy(optimizer);
    for (size_t i = 0; i < P; i++) ck_assert_double_eq(D[i], 5 + (double)i);
}
END_TEST

static Suite *optimizer_preconditioner_suite(void) {
    Suite *suite = suite_create("optimizer_preconditioner");
    TCase *tc = tcase_create("optimizer_preconditioner");
    tcase_add_test(tc, adam_by_hand);
    tcase_add_test(tc, adam_against_sums_over_the_past);
    tcase_add_test(tc, it_is_what_a_step_divides_by);
    tcase_add_test(tc, sgd_divides_by_1);
    tcase_add_test(tc, after_set_state);
    tcase_add_test(tc, after_loading);
    tcase_add_test(tc, refusals);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(optimizer_preconditioner_suite)
