/* test_statistics_tests.c: quantile functions, Q-Q plot, tests of normality and of two samples. Numbers to 15 digits were
 * computed by mpmath with 40 digits from the definitions in docs/statistics.md, unless a comment says otherwise. */
#include "support/suite.h"
#include <float.h>
#include <math.h>

static const double X[12] = {2.5, -1.25, 0.75, 3.5, 9.0, -0.5, 1.125, 4.25, 0.0625, 2.0, -3.75, 1.5};
static const double Y[7] = {0.5, 1.75, -2.0, 3.25, 5.5, 2.25, -0.125};

static void near(double got, double wanted, double tolerance) {
    ck_assert_msg(fabs(got - wanted) <= tolerance * fabs(wanted), "%.17g, wanted %.17g", got, wanted);
}

/* `got` is a share of `all` draws of probability p, within 4 standard deviations and the + 1 of a p-value. */
static void near_share(double got, double p, size_t all) {
    const double n = (double)all, room = 4 * sqrt(p * (1 - p) / n) + 1 / n;
    ck_assert_msg(fabs(got - p) <= room, "%g, wanted %g +- %g", got, p, room);
}

static linattn_resampling_options resampling(size_t resamples, uint64_t seed) {
    linattn_resampling_options o;
    ck_assert_ok(linattn_resampling_options_init(&o, sizeof o));
    o.resamples = resamples;
    o.seed = seed;
    return o;
}

START_TEST(normal_quantiles) {
    const double table[][2] = {{1e-300, -37.0470962993611992}, {5e-324, -38.4674056171443463},     {1e-20, -9.26234008979840758},
                               {1e-5, -4.26489079392282461},   {0.025, -1.95996398454005421},      {0.2, -0.841621233572914166},
                               {0.3, -0.524400512708040816},   {0.4999, -0.000250662830088007492}, {0.75, 0.674489750196081743},
                               {0.975, 1.95996398454005386},   {1 - 0x1p-53, 8.20953615160138686}};
    double x = 7;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_ok(linattn_normal_quantile(table[i][0], &x));
        near(x, table[i][1], 2e-15);
    }
    ck_assert_ok(linattn_normal_quantile(0.5, &x));
    ck_assert_double_eq(x, 0);
    ck_assert_status(linattn_normal_quantile(0, &x), LINATTN_EINVAL, "p is 0");
    ck_assert_status(linattn_normal_quantile(1, &x), LINATTN_EINVAL, "p is 1");
    ck_assert_status(linattn_normal_quantile(NAN, &x), LINATTN_EINVAL, "p is nan");
    ck_assert_status(linattn_normal_quantile(0.5, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_double_eq(x, 0);
}
END_TEST

/* The quantile undoes erfc, at 4000 places from 1e-300 to 1/2. */
START_TEST(normal_quantiles_undo_the_distribution) {
    for (int i = 0; i < 4000; i++) {
        const double p = 0.5 * pow(2e-300, i / 3999.0);
        double x;
        ck_assert_ok(linattn_normal_quantile(p, &x));
        near(0.5 * erfc(-x / sqrt(2)), p, 1e-15 * (4 + x * x)); /* d log P / d log x is about x^2 */
    }
}
END_TEST

START_TEST(student_quantiles) {
    const double table[][3] = {
        {0.025, 1, 12.7062047361747039},      {0.025, 2, 4.30265272974946372},  {0.025, 5, 2.57058183563631547},
        {0.025, 10, 2.22813885198627472},     {0.025, 29, 2.04522964213270427}, {0.025, 1000, 1.96233908082640846},
        {1e-10, 3, 2225.76928468309319},      {0.4, 7.5, 0.262501898804294648}, {0.001, 0.5, 102849.11563017555},
        {0.005, 123456, 2.57586912841898764}, {1e-4, 2e6, 3.71902338009767603}, {0.499, 2.5, 0.00276389626906538254}};
    double t;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_ok(linattn_student_quantile(table[i][0], table[i][1], &t));
        near(t, -table[i][2], table[i][1] < 2000 ? 1e-13 : 1e-12);
        ck_assert_ok(linattn_student_quantile(1 - table[i][0], table[i][1], &t));
        near(t, table[i][2], table[i][0] < 1e-6 ? 1e-6 : 1e-12); /* 1 - p has lost its last digits */
    }
    /* Closed forms: 1 and 2 degrees of freedom. */
    for (double p = 0.01; p < 0.995; p += 0.07) {
        ck_assert_ok(linattn_student_quantile(p, 1, &t));
        near(t, tan(acos(-1) * (p - 0.5)), 2e-13);
        ck_assert_ok(linattn_student_quantile(p, 2, &t));
        near(t, (2 * p - 1) / sqrt(2 * p * (1 - p)), 2e-13);
    }
    ck_assert_ok(linattn_student_quantile(0.5, 3, &t));
    ck_assert_double_eq(t, 0);
    ck_assert_ok(linattn_student_quantile(1e-300, 1e-3, &t));
    ck_assert(isinf(t) && t < 0);
    ck_assert_status(linattn_student_quantile(0.5, 0, &t), LINATTN_EINVAL, "freedom is 0");
    ck_assert_status(linattn_student_quantile(0.5, INFINITY, &t), LINATTN_EINVAL, "freedom is inf");
    ck_assert_status(linattn_student_quantile(1.5, 1, &t), LINATTN_EINVAL, "p is 1.5");
}
END_TEST

/* Where the expansion for large degrees of freedom begins, both ways give the same. */
START_TEST(student_quantiles_join) {
    const double p[] = {1e-12, 1e-4, 0.025, 0.3, 0.49};
    for (int i = 0; i < 5; i++) {
        double below, above;
        ck_assert_ok(linattn_student_quantile(p[i], 99999.9999999, &below));
        ck_assert_ok(linattn_student_quantile(p[i], 100000, &above));
        near(below, above, 2e-12);
    }
}
END_TEST

START_TEST(normal_plot_after_filliben) {
    double quantiles[12], ordered[12];
    linattn_normal_plot plot = {.struct_size = sizeof plot};
    ck_assert_ok(linattn_sample_normal_plot(X, 12, quantiles, ordered, &plot));
    near(plot.correlation, 0.961780238988364867, 1e-14);
    near(plot.slope, 3.29285076839078676, 1e-14);
    near(plot.intercept, 1.59895833333333333, 1e-14);
    near(quantiles[0], -1.58815464296626731, 1e-14);
    near(quantiles[1], -1.09814975468589192, 1e-14);
    near(quantiles[10], 1.09814975468589192, 1e-14);
    ck_assert_double_eq(ordered[0], -3.75);
    ck_assert_double_eq(ordered[11], 9);
    /* Normal quantiles themselves lie on their line, 5 sd from a mean of 3. */
    for (int i = 0; i < 12; i++) ordered[i] = 3 + 5 * quantiles[i];
    ck_assert_ok(linattn_sample_normal_plot(ordered, 12, NULL, NULL, &plot));
    near(plot.correlation, 1, 1e-14);
    near(plot.slope, 5, 1e-14);
    near(plot.intercept, 3, 1e-14);
    ck_assert_ok(linattn_sample_normal_plot(X, 2, NULL, NULL, &plot));
    near(plot.correlation, 1, 1e-15);
    ck_assert_status(linattn_sample_normal_plot(X, 1, NULL, NULL, &plot), LINATTN_EDEGENERATE, "sample has 1 numbers");
    const double same[] = {4, 4};
    ck_assert_status(linattn_sample_normal_plot(same, 2, NULL, NULL, &plot), LINATTN_EDEGENERATE, "equal");
}
END_TEST

START_TEST(distances_from_the_normal_distribution) {
    linattn_normality n = {.struct_size = sizeof n};
    ck_assert_ok(linattn_sample_normality(X, 12, NULL, &n));
    near(n.kolmogorov_smirnov, 0.138261414434962431, 1e-13);
    near(n.anderson_darling, 0.307062338127133828, 1e-12);
    near(n.anderson_darling_star, 0.331051583293316159, 1e-12);
    ck_assert(isnan(n.kolmogorov_smirnov_p) && isnan(n.anderson_darling_simulated_p));
    ck_assert_ok(linattn_sample_normality(X, 7, NULL, &n));
    ck_assert(isnan(n.anderson_darling_p));
    ck_assert_status(linattn_sample_normality(X, 2, NULL, &n), LINATTN_EDEGENERATE, "sample has 2 numbers");
    const double same[] = {4, 4, 4};
    ck_assert_status(linattn_sample_normality(same, 3, NULL, &n), LINATTN_EDEGENERATE, "equal");
}
END_TEST

/* Published critical values: Lilliefors' D for 20 numbers, 0.192 at 5% (simulated since: 0.1920), and A*^2 = 0.752 at 5%, 1.035
 * at 1%, 0.631 at 10% (Stephens). A sample whose D or A*^2 is moved through them by one outlier shows p on both sides. */
START_TEST(p_values_agree_with_published_critical_values) {
    enum { N = 20, B = 4000 };
    const linattn_resampling_options o = resampling(B, 3);
    double x[N], before = 0, before_p = 1;
    int crossed = 0;
    for (int step = 0; step < 60 && !crossed; step++) {
        linattn_normality n = {.struct_size = sizeof n};
        for (int i = 0; i < N; i++) ck_assert_ok(linattn_normal_quantile((i + 0.5) / N, &x[i]));
        x[N - 1] += 0.15 * step;
        ck_assert_ok(linattn_sample_normality(x, N, NULL, &n));
        if (n.kolmogorov_smirnov >= 0.192) {
            ck_assert_ok(linattn_sample_normality(x, N, &o, &n));
            ck_assert_msg(n.kolmogorov_smirnov_p <= 0.05 + 4 * sqrt(0.05 * 0.95 / B), "p %g", n.kolmogorov_smirnov_p);
            ck_assert_msg(before_p >= 0.05 - 4 * sqrt(0.05 * 0.95 / B), "p %g at D %g", before_p, before);
            crossed = 1;
        } else if (n.kolmogorov_smirnov > 0.18) {
            before = n.kolmogorov_smirnov;
            ck_assert_ok(linattn_sample_normality(x, N, &o, &n));
            before_p = n.kolmogorov_smirnov_p;
        }
        const double a = n.anderson_darling_star, p = n.anderson_darling_p;
        if (fabs(a - 0.631) > 0.01 && p > 0.01) ck_assert_msg((a > 0.631) == (p < 0.1), "A* %g p %g", a, p);
        if (fabs(a - 0.752) > 0.01) ck_assert_msg((a > 0.752) == (p < 0.05), "A* %g p %g", a, p);
        if (fabs(a - 1.035) > 0.02) ck_assert_msg((a > 1.035) == (p < 0.01), "A* %g p %g", a, p);
    }
    ck_assert(crossed);
}
END_TEST

/* The formula of D'Agostino and Stephens against simulation, at many A*^2. */
START_TEST(both_p_values_of_anderson_darling_agree) {
    const linattn_resampling_options o = resampling(2000, 5);
    double x[30];
    for (int step = 0; step < 8; step++) {
        linattn_normality n = {.struct_size = sizeof n};
        for (int i = 0; i < 30; i++) {
            ck_assert_ok(linattn_normal_quantile((i + 0.5) / 30, &x[i]));
            x[i] = exp(0.09 * (step + 1) * x[i]);
        }
        ck_assert_ok(linattn_sample_normality(x, 30, &o, &n));
        const double p = n.anderson_darling_p;
        ck_assert_msg(fabs(n.anderson_darling_simulated_p - p) < 0.02 + 4 * sqrt(p * (1 - p) / 2000), "%g by formula, %g simulated",
                      p, n.anderson_darling_simulated_p);
    }
}
END_TEST

/* 3000 equal numbers and one far off: z = 54.76, where Phi(-z) underflows. log Phi(-54.76) = -1504.3 or so keeps A^2 finite. */
START_TEST(one_far_number_gives_a_finite_distance) {
    enum { N = 3000 };
    double *x = calloc(N, sizeof *x);
    linattn_normality n = {.struct_size = sizeof n};
    x[17] = 1e300;
    ck_assert_ok(linattn_sample_normality(x, N, NULL, &n));
    ck_assert(isfinite(n.anderson_darling) && n.anderson_darling > 1000);
    ck_assert(n.anderson_darling_p > 0 && n.anderson_darling_p < 1e-20);
    /* All but one at z = -1/sqrt N: D = 1 - 1/N - Phi(z). */
    near(n.kolmogorov_smirnov, 1 - 1.0 / N - 0.5 * erfc(1 / sqrt(2.0 * N)), 1e-10);
    free(x);
}
END_TEST

START_TEST(distances_between_two_samples) {
    linattn_comparison c = {.struct_size = sizeof c};
    ck_assert_ok(linattn_samples_compare(X, 12, Y, 7, NULL, &c));
    near(c.kolmogorov_smirnov, 13.0 / 84, 1e-15); /* exact fractions */
    near(c.wasserstein, 379.0 / 448, 1e-14);
    near(c.mean_difference, 0.009672619047619048, 1e-12);
    ck_assert(isnan(c.wasserstein_p));
    const double far[] = {DBL_MAX}, near_zero[] = {-DBL_MAX / 2, DBL_MAX / 2};
    ck_assert_ok(linattn_samples_compare(far, 1, near_zero, 2, NULL, &c));
    near(c.wasserstein, DBL_MAX, 1e-15);
    ck_assert_double_eq(c.kolmogorov_smirnov, 1);
}
END_TEST

/* All 462 divisions of these 11 numbers were counted, in exact arithmetic: 50 reach D = 2/3, 14 reach W_1 = 13/6, 14 the
 * difference of means. */
START_TEST(permutation_p_values_against_all_divisions) {
    enum { B = 20000 };
    const double a[] = {1.0, 2.5, 0.5, 3.0, 1.75}, b[] = {4.0, 2.75, 5.5, 3.25, 6.0, 2.0};
    for (uint64_t seed = 0; seed < 3; seed++) {
        const linattn_resampling_options o = resampling(B, seed);
        linattn_comparison c = {.struct_size = sizeof c}, again = c;
        ck_assert_ok(linattn_samples_compare(a, 5, b, 6, &o, &c));
        near(c.kolmogorov_smirnov, 2.0 / 3, 1e-15);
        near(c.wasserstein, 13.0 / 6, 1e-14);
        near_share(c.kolmogorov_smirnov_p, 50.0 / 462, B);
        near_share(c.wasserstein_p, 14.0 / 462, B);
        near_share(c.mean_difference_p, 14.0 / 462, B);
        ck_assert_ok(linattn_samples_compare(b, 6, a, 5, &o, &again));
        near_share(again.wasserstein_p, 14.0 / 462, B);
        ck_assert_double_eq(again.mean_difference, -c.mean_difference);
    }
}
END_TEST

START_TEST(equal_samples_do_not_differ) {
    const linattn_resampling_options o = resampling(50, 1);
    const double same[] = {0.1, 0.1, 0.1};
    linattn_comparison c = {.struct_size = sizeof c};
    ck_assert_ok(linattn_samples_compare(same, 3, same, 1, &o, &c));
    ck_assert(c.kolmogorov_smirnov == 0 && c.wasserstein == 0 && c.mean_difference == 0);
    ck_assert(c.kolmogorov_smirnov_p == 1 && c.wasserstein_p == 1 && c.mean_difference_p == 1);
    ck_assert_ok(linattn_samples_compare(X, 12, X, 12, &o, &c));
    ck_assert(c.kolmogorov_smirnov_p == 1 && c.wasserstein_p == 1 && c.mean_difference_p == 1);
}
END_TEST

static Suite *statistics_tests_suite(void) {
    Suite *suite = suite_create("statistics_tests");
    TCase *tc = tcase_create("statistics_tests");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, normal_quantiles);
    tcase_add_test(tc, normal_quantiles_undo_the_distribution);
    tcase_add_test(tc, student_quantiles);
    tcase_add_test(tc, student_quantiles_join);
    tcase_add_test(tc, normal_plot_after_filliben);
    tcase_add_test(tc, distances_from_the_normal_distribution);
    tcase_add_test(tc, p_values_agree_with_published_critical_values);
    tcase_add_test(tc, both_p_values_of_anderson_darling_agree);
    tcase_add_test(tc, one_far_number_gives_a_finite_distance);
    tcase_add_test(tc, distances_between_two_samples);
    tcase_add_test(tc, permutation_p_values_against_all_divisions);
    tcase_add_test(tc, equal_samples_do_not_differ);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(statistics_tests_suite)
