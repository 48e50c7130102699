/* Calls that look right and would do harm: refused, or made harmless. */
#include "support/problem.h"
#include "support/suite.h"

#include <fenv.h>
#include <unistd.h>

static linattn_optimizer *adam_of(size_t p) {
    linattn_optimizer_options options;
    linattn_optimizer *optimizer = NULL;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = 0.1;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, p));
    return optimizer;
}

/* Two trainers of one optimizer: the one that it has run away from would write a checkpoint that nobody can load. */
START_TEST(a_trainer_out_of_step_does_not_save) {
    problem f = problem_of(2);
    linattn_objective *objective = problem_objective(&f);
    linattn_optimizer *optimizer = adam_of(2);
    linattn_trainer *a = NULL, *b = NULL;
    const double theta[2] = {1, 1};
    char path[] = "/tmp/linattn-misuse-XXXXXX";
    close(mkstemp(path));
    ck_assert_ok(linattn_trainer_create(&a, objective, optimizer, theta, NULL));
    ck_assert_ok(linattn_trainer_create(&b, objective, optimizer, theta, NULL));
    ck_assert_ok(linattn_trainer_run(a, 3, NULL));
    ck_assert_ok(linattn_trainer_save(a, path));
    ck_assert_status(linattn_trainer_save(b, path), LINATTN_EINVAL, "optimizer is at step 3 and its trainer at step 0");
    ck_assert_status(linattn_trainer_run(b, 1, NULL), LINATTN_EINVAL, "optimizer is at step 3");
    ck_assert_ok(linattn_trainer_load(a, path));
    ck_assert_uint_eq(linattn_trainer_step_count(a), 3);
    unlink(path);
    linattn_trainer_destroy(a);
    linattn_trainer_destroy(b);
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(objective);
}
END_TEST

/* A second moment below zero is no square: the step says so and moves nothing. */
START_TEST(a_negative_second_moment_is_noticed) {
    linattn_optimizer *optimizer = adam_of(1);
    const double state[2] = {0, -1}, gradient = 1;
    double theta = 1;
    ck_assert_ok(linattn_optimizer_set_state(optimizer, state, 5, 0));
    ck_assert_status(linattn_optimizer_step(optimizer, 1, &gradient, &theta, NULL), LINATTN_ENONFINITE, "theta[0] is nan");
    ck_assert_double_eq(theta, 1);
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), 5);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* Numbers as text do not depend on the caller's rounding mode, which stays what it was. */
START_TEST(rounding_modes_do_not_change_numbers) {
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (int i = 0; i < 4; i++) {
        char text[LINATTN_NUMBER_SIZE];
        double number = 0;
        fesetround(modes[i]);
        const int wrote = linattn_number_write(0.02, text), read = linattn_number_read("0.1", &number, NULL), mode = fegetround();
        fesetround(FE_TONEAREST);
        ck_assert_int_eq(wrote, LINATTN_OK);
        ck_assert_int_eq(read, LINATTN_OK);
        ck_assert_int_eq(mode, modes[i]);
        ck_assert_str_eq(text, "0.02");
        ck_assert(number == 0.1);
    }
}
END_TEST

static Suite *misuse_suite(void) {
    Suite *suite = suite_create("misuse");
    TCase *tc = tcase_create("misuse");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, a_trainer_out_of_step_does_not_save);
    tcase_add_test(tc, a_negative_second_moment_is_noticed);
    tcase_add_test(tc, rounding_modes_do_not_change_numbers);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(misuse_suite)
