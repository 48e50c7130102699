/* test_crossed.c: what the examples make of many runs: means and intervals, and ratios of seeds crossed with batches. */
#include "../examples/common/crossed.c"
#include "../examples/common/estimate.c"
#include "support/suite.h"

START_TEST(interval_of_a_known_sample) {
    /* mean 5, sum of squared deviations 4 + 1 + 0 + 1 + 4 = 10, sd sqrt(2.5), half width t_{0.95, 4} sqrt(2.5 / 5) */
    const double x[] = {3, 4, 5, 6, 7}, half = 2.7764451 * sqrt(0.5);
    const estimate e = estimate_of(x, 5);
    ck_assert_uint_eq(e.count, 5);
    ck_assert_double_eq(e.mean, 5);
    ck_assert_double_eq_tol(e.sd, sqrt(2.5), 1e-15);
    ck_assert_double_eq_tol(e.low, 5 - half, 1e-6);
    ck_assert_double_eq_tol(e.high, 5 + half, 1e-6);
}
END_TEST

/* ln of 1, e^2, e^4 is 0, 2, 4: mean 2, sd 2, half width t_{0.95, 2} 2 / sqrt 3, t = 0.95 sqrt(2 / (1 - 0.95^2)). */
START_TEST(interval_of_logs) {
    const double x[] = {1, exp(2), exp(4)}, half = 0.95 * sqrt(2 / (1 - 0.95 * 0.95)) * 2 / sqrt(3);
    double scratch[3];
    const estimate e = estimate_of_logs(x, 3, scratch);
    ck_assert_double_eq_tol(e.mean, exp(2), 1e-14 * exp(2));
    ck_assert_double_eq_tol(e.sd, 2, 1e-14);
    ck_assert_double_eq_tol(log(e.low), 2 - half, 1e-10);
    ck_assert_double_eq_tol(log(e.high), 2 + half, 1e-10);
}
END_TEST

START_TEST(too_few_numbers_have_no_answer) {
    const double one = 2;
    char text[ESTIMATE_TEXT];
    ck_assert(isnan(estimate_of(&one, 0).mean));
    ck_assert(isnan(estimate_median(&one, 0)));
    const estimate e = estimate_of(&one, 1);
    ck_assert_double_eq(e.mean, 2);
    ck_assert(isnan(e.sd) && isnan(e.low) && isnan(e.high));
    ck_assert_str_eq(estimate_print(e.mean, e.low, e.high, text), "2");
    ck_assert_str_eq(estimate_print(NAN, 1, 2, text), "-");
    ck_assert_str_eq(estimate_print(1.5, 1, 2.25, text), "1.5 [1, 2.25]");
}
END_TEST

/* Rows and columns without a rest: MS of seeds 4, of batches 1. */
START_TEST(parts_of_an_additive_table) {
    const double logs[] = {1, 2, 3, 4};
    double ratios[2], scratch[2];
    crossed c;
    crossed_analyse(logs, 2, 2, ratios, scratch, &c);
    ck_assert_double_eq_tol(ratios[0], exp(1.5), 1e-14);
    ck_assert_double_eq_tol(ratios[1], exp(3.5), 1e-13);
    ck_assert_double_eq_tol(c.geometric.mean, exp(2.5), 1e-13);
    ck_assert_double_eq_tol(c.plain.mean, (exp(1.5) + exp(3.5)) / 2, 1e-13);
    ck_assert_double_eq_tol(c.sd_seeds, sqrt(2), 1e-14);
    ck_assert_double_eq_tol(c.sd_batches, sqrt(0.5), 1e-14);
    ck_assert_double_eq_tol(c.sd_rest, 0, 1e-14);
    ck_assert_int_eq(c.negative, 0);
    ck_assert_double_eq(c.above.estimate, 1);
}
END_TEST

/* Nothing but rest: MS of seeds and batches 0, of the rest 1, so that both estimates are -1/2. */
START_TEST(negative_parts_are_zero_and_told) {
    const double logs[] = {1, 0, 0, 1};
    double ratios[2], scratch[2];
    crossed c;
    crossed_analyse(logs, 2, 2, ratios, scratch, &c);
    ck_assert_double_eq(c.sd_seeds, 0);
    ck_assert_double_eq(c.sd_batches, 0);
    ck_assert_double_eq_tol(c.sd_rest, 1, 1e-14);
    ck_assert_int_eq(c.negative, 1);
}
END_TEST

/* Batches alone: MS 2 with 2 degrees of freedom, the mean's variance 2 / 6; seeds alike say nothing of it. */
START_TEST(batches_widen_the_interval) {
    const double logs[] = {0, 1, 2, 0, 1, 2}, half = 0.95 * sqrt(2 / (1 - 0.95 * 0.95)) / sqrt(3);
    double ratios[2], scratch[2];
    crossed c;
    crossed_analyse(logs, 2, 3, ratios, scratch, &c);
    ck_assert_double_eq_tol(c.geometric.low, exp(1), 1e-14);
    ck_assert_double_eq_tol(c.geometric.high, exp(1), 1e-14);
    ck_assert_double_eq_tol(log(c.wide_low), 1 - half, 1e-10);
    ck_assert_double_eq_tol(log(c.wide_high), 1 + half, 1e-10);
}
END_TEST

START_TEST(one_seed_or_one_batch_has_no_parts) {
    const double logs[] = {-0.5, 0.25};
    double ratios[2], scratch[2];
    crossed c;
    crossed_analyse(logs, 1, 2, ratios, scratch, &c);
    ck_assert_double_eq_tol(c.geometric.mean, exp(-0.125), 1e-15);
    ck_assert(isnan(c.sd_seeds) && isnan(c.bca.low) && isnan(c.geometric.low));
    ck_assert_double_eq(c.above.estimate, 0);
    crossed_analyse(logs, 2, 1, ratios, scratch, &c);
    ck_assert(isnan(c.sd_batches) && isfinite(c.geometric.low) && isfinite(c.bca.low));
    ck_assert(isnan(c.wide_low) && isnan(c.wide_high)); /* one batch says nothing about others */
    ck_assert_double_eq(c.above.estimate, 0.5);
}
END_TEST

static Suite *crossed_suite(void) {
    Suite *suite = suite_create("crossed");
    TCase *tcase = tcase_create("crossed");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, interval_of_a_known_sample);
    tcase_add_test(tcase, interval_of_logs);
    tcase_add_test(tcase, too_few_numbers_have_no_answer);
    tcase_add_test(tcase, parts_of_an_additive_table);
    tcase_add_test(tcase, negative_parts_are_zero_and_told);
    tcase_add_test(tcase, batches_widen_the_interval);
    tcase_add_test(tcase, one_seed_or_one_batch_has_no_parts);
    suite_add_tcase(suite, tcase);
    return suite;
}

LINATTN_TEST_MAIN(crossed_suite)
