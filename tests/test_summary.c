/* test_summary.c: what the examples make of several runs: means, intervals, medians. */
#include "../examples/common/summary.c"
#include "support/suite.h"

/* Quantiles of Student's t as published in any table, three decimals. */
START_TEST(t_quantiles_are_the_published_ones) {
    static const struct {
        size_t freedom;
        double level, quantile;
    } table[] = {{1, 0.95, 12.706}, {2, 0.95, 4.303},  {3, 0.95, 3.182},  {4, 0.95, 2.776},   {5, 0.95, 2.571},  {6, 0.95, 2.447},
                 {9, 0.95, 2.262},  {10, 0.95, 2.228}, {30, 0.95, 2.042}, {120, 0.95, 1.980}, {1, 0.90, 6.314},  {5, 0.90, 2.015},
                 {1, 0.99, 63.657}, {5, 0.99, 4.032},  {8, 0.99, 3.355},  {60, 0.99, 2.660},  {15, 0.99, 2.947}, {1, 0.5, 1.000}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_double_eq_tol(summary_t(table[i].level, table[i].freedom), table[i].quantile, 5.0001e-4);
}
END_TEST

/* One degree of freedom is Cauchy's law: P(|T| <= t) = (2/pi) atan t. Two: P = t / sqrt(t^2 + 2). */
START_TEST(t_quantiles_have_closed_forms_for_one_and_two) {
    for (double level = 0.05; level < 1; level += 0.05) {
        const double cauchy = tan(level * acos(-1) / 2), second = level * sqrt(2 / (1 - level * level));
        ck_assert_double_eq_tol(summary_t(level, 1) / cauchy, 1, 1e-12);
        ck_assert_double_eq_tol(summary_t(level, 2) / second, 1, 1e-12);
    }
}
END_TEST

START_TEST(interval_of_a_known_sample) {
    /* mean 5, sum of squared deviations 4 + 1 + 0 + 1 + 4 = 10, sd sqrt(2.5), half width t_{0.95, 4} sqrt(2.5 / 5) */
    const double x[] = {3, 4, 5, 6, 7};
    ck_assert_double_eq(summary_mean(x, 5), 5);
    ck_assert_double_eq_tol(summary_sd(x, 5), sqrt(2.5), 1e-15);
    ck_assert_double_eq_tol(summary_half_width(x, 5, 0.95), 2.7764451 * sqrt(0.5), 1e-6);
}
END_TEST

START_TEST(median_of_odd_and_even_counts) {
    double odd[] = {9, -1, 4}, even[] = {10, 1, 4, 2};
    ck_assert_double_eq(summary_median(odd, 3), 4);
    ck_assert_double_eq(summary_median(even, 4), 3);
}
END_TEST

START_TEST(too_few_runs_have_no_answer) {
    double one = 2;
    ck_assert(isnan(summary_mean(&one, 0)));
    ck_assert(isnan(summary_median(&one, 0)));
    ck_assert(isnan(summary_sd(&one, 1)));
    ck_assert(isnan(summary_half_width(&one, 1, 0.95)));
    ck_assert_double_eq(summary_mean(&one, 1), 2);
}
END_TEST

static Suite *summary_suite(void) {
    Suite *suite = suite_create("summary");
    TCase *tcase = tcase_create("summary");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, t_quantiles_are_the_published_ones);
    tcase_add_test(tcase, t_quantiles_have_closed_forms_for_one_and_two);
    tcase_add_test(tcase, interval_of_a_known_sample);
    tcase_add_test(tcase, median_of_odd_and_even_counts);
    tcase_add_test(tcase, too_few_runs_have_no_answer);
    suite_add_tcase(suite, tcase);
    return suite;
}

LINATTN_TEST_MAIN(summary_suite)
