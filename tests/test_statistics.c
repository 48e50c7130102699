/* test_statistics.c: what is computed from a sample by formula: moments, order, histogram, line, tail. Numbers to 15 digits were
 * computed by mpmath with 40 digits from the definitions in docs/statistics.md, unless a comment says otherwise. */
#include "support/suite.h"
#include <float.h>
#include <math.h>

static const double X[12] = {2.5, -1.25, 0.75, 3.5, 9.0, -0.5, 1.125, 4.25, 0.0625, 2.0, -3.75, 1.5};

/* Relative to the larger of |wanted| and 1e-300. */
static void near(double got, double wanted, double tolerance) {
    ck_assert_msg(fabs(got - wanted) <= tolerance * fmax(fabs(wanted), 1e-300), "%.17g, wanted %.17g", got, wanted);
}

static linattn_moments moments_of(const double *x, size_t count) {
    linattn_moments m = {.struct_size = sizeof m};
    ck_assert_ok(linattn_sample_moments(x, count, NULL, &m));
    return m;
}

START_TEST(moments_of_twelve_numbers) {
    const linattn_moments m = moments_of(X, 12);
    ck_assert_uint_eq(m.count, 12);
    near(m.mean, 1.59895833333333333, 1e-15);
    near(m.variance, 10.0763198390151515, 1e-14);
    near(m.sd, 3.17432194949018231, 1e-14);
    near(m.skewness, 0.718202369694618525, 1e-13);
    near(m.excess_kurtosis, 0.881218010057625641, 1e-13);
    near(m.moment5, 5.70339445290763095, 1e-13);
    near(m.moment6, 19.9650315591695687, 1e-13);
    near(m.sixth_share, 0.870493831833238236, 1e-13);
    ck_assert_int_eq(m.sixth_dominated, 1);
    ck_assert(isnan(m.mean_error) && isnan(m.moment6_error));
}
END_TEST

/* The midpoints of n cells of (0, 1): moments of the uniform distribution but for O(1/n^2), 9/5 - 3 and 27/7. */
START_TEST(moments_of_uniform_midpoints) {
    enum { N = 20000 };
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++) x[i] = (i + 0.5) / N;
    const linattn_moments m = moments_of(x, N);
    near(m.mean, 0.5, 1e-14);
    near(m.variance * (N - 1) / N, 1.0 / 12 * (1 - 1.0 / N / N), 1e-12);
    ck_assert(fabs(m.skewness) < 1e-12 && fabs(m.moment5) < 1e-12);
    near(m.excess_kurtosis, -1.2, 1e-7);
    near(m.moment6, 27.0 / 7, 1e-7);
    ck_assert_int_eq(m.sixth_dominated, 0);
    free(x);
}
END_TEST

/* Far from 0, near the ends of the range of doubles, and in tiny units: the same standardised moments. */
START_TEST(moments_do_not_depend_on_place_and_unit) {
    const linattn_moments m = moments_of(X, 12);
    const double shifts[] = {0x1p40, -0x1p40, 0, 0, 0}, units[] = {1, 1, 0x1p1019, 0x1p-1060, -0x1p900};
    for (int k = 0; k < 5; k++) {
        double x[12];
        for (int i = 0; i < 12; i++) x[i] = X[i] * units[k] + shifts[k];
        const linattn_moments n = moments_of(x, 12);
        const double sign = units[k] < 0 ? -1 : 1;
        near(n.mean, m.mean * units[k] + shifts[k], 1e-14);
        near(n.sd, m.sd * fabs(units[k]), 1e-13);
        near(n.skewness, sign * m.skewness, 1e-13);
        near(n.excess_kurtosis, m.excess_kurtosis, 1e-12);
        near(n.moment5, sign * m.moment5, 1e-13);
        near(n.moment6, m.moment6, 1e-13);
    }
    const double far[] = {-DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
    near(moments_of(far, 4).mean, DBL_MAX / 2, 1e-15);
    ck_assert(isinf(moments_of(far, 4).variance));
    near(moments_of(far, 4).skewness, -2 / sqrt(3), 1e-14); /* three at 1, one at -3, over sqrt 3 */
}
END_TEST

START_TEST(moments_of_samples_that_are_hardly_any) {
    const double same[] = {0.1, 0.1, 0.1}, two[] = {1, 3};
    linattn_moments m = moments_of(same, 1);
    ck_assert_double_eq(m.mean, 0.1);
    ck_assert(isnan(m.variance) && isnan(m.sd) && isnan(m.skewness) && isnan(m.sixth_share) && !m.sixth_dominated);
    m = moments_of(same, 3);
    ck_assert_double_eq(m.mean, 0.1);
    ck_assert_double_eq(m.variance, 0);
    ck_assert(isnan(m.skewness) && isnan(m.moment6));
    m = moments_of(two, 2);
    ck_assert_double_eq(m.variance, 2);
    ck_assert_double_eq(m.skewness, 0);
    near(m.excess_kurtosis, -2, 1e-15);
    near(m.moment6, 1, 1e-15);
}
END_TEST

START_TEST(case_D1_medians_of_an_even_count) {
    const double x[] = {4, 1, 3, 2}, y[] = {-4, -1, -3, -2}, far[] = {DBL_MAX, -DBL_MAX};
    double median;
    ck_assert_ok(linattn_sample_median(x, 4, LINATTN_MEDIAN_LOWER, &median));
    ck_assert_double_eq(median, 2);
    ck_assert_double_eq(4 / median, 2.0);
    ck_assert_ok(linattn_sample_median(x, 4, LINATTN_MEDIAN_MEAN, &median));
    ck_assert_double_eq(median, 2.5);
    ck_assert_double_eq(4 / median, 1.6);
    ck_assert_ok(linattn_sample_median(y, 4, LINATTN_MEDIAN_LOWER, &median));
    ck_assert_double_eq(median, -3);
    ck_assert_ok(linattn_sample_median(far, 2, LINATTN_MEDIAN_MEAN, &median));
    ck_assert_double_eq(median, 0);
    for (int32_t rule = 0; rule < 2; rule++) {
        ck_assert_ok(linattn_sample_median(x, 3, rule, &median));
        ck_assert_double_eq(median, 3);
        ck_assert_ok(linattn_sample_median(x, 1, rule, &median));
        ck_assert_double_eq(median, 4);
    }
    ck_assert_status(linattn_sample_median(x, 4, 2, &median), LINATTN_EINVAL, "rule is 2");
}
END_TEST

/* numpy.quantile, whose default is type 7. */
START_TEST(quantiles_interpolate) {
    const double p[] = {1, 0, 0.1, 0.25, 0.5, 0.9}, wanted[] = {9, -3.75, -1.175, -0.078125, 1.3125, 4.175};
    double got[6];
    ck_assert_ok(linattn_sample_quantiles(X, 12, p, 6, got));
    for (int i = 0; i < 6; i++) near(got[i], wanted[i], 1e-14);
    ck_assert_ok(linattn_sample_quantiles(X, 1, p, 6, got));
    for (int i = 0; i < 6; i++) ck_assert_double_eq(got[i], 2.5);
    const double bad[] = {0.5, 1.5};
    ck_assert_status(linattn_sample_quantiles(X, 12, bad, 2, got), LINATTN_EINVAL, "1.5");
    ck_assert_double_eq(got[0], 2.5);
    ck_assert_status(linattn_sample_quantiles(X, 12, p, 0, got), LINATTN_EINVAL, "quantiles is 0");
}
END_TEST

START_TEST(histogram_counts_every_number) {
    const double x[] = {-1, 0, 0.1, 0.3, 0.5, 0.75, 1, 1, 1.5, 7};
    uint64_t counts[4];
    double edges[5];
    linattn_histogram h = {.struct_size = sizeof h};
    ck_assert_ok(linattn_sample_histogram(x, 10, 0, 1, 4, counts, edges, &h));
    const uint64_t wanted[] = {2, 1, 1, 3}; /* 1/2 and 3/4 belong to the bin above, 1 to the last one */
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(counts[i], wanted[i]);
    for (int i = 0; i < 5; i++) ck_assert_double_eq(edges[i], i / 4.0);
    ck_assert(h.below == 1 && h.inside == 7 && h.above == 2);
    ck_assert_ok(linattn_sample_histogram(x, 10, NAN, NAN, 4, counts, NULL, &h));
    ck_assert(h.low == -1 && h.high == 7 && h.inside == 10 && h.below == 0 && h.above == 0);
    ck_assert_uint_eq(counts[0], 6);
    ck_assert_uint_eq(counts[3], 1);
    ck_assert_status(linattn_sample_histogram(x, 10, 1, 1, 4, counts, NULL, &h), LINATTN_EINVAL, "high is 1");
    ck_assert_status(linattn_sample_histogram(x, 10, NAN, 1, 4, counts, NULL, &h), LINATTN_EINVAL, "low is nan");
    ck_assert_status(linattn_sample_histogram(x, 10, 0, 1, 0, counts, NULL, &h), LINATTN_EINVAL, "bins is 0");
    ck_assert_status(linattn_sample_histogram(x, 10, 0, 1, 4, NULL, NULL, &h), LINATTN_EINVAL, "counts is NULL");
}
END_TEST

/* The edges that are given out are the rule, also where they round: each edge lies in the bin that it begins. */
START_TEST(histogram_agrees_with_its_edges) {
    const double ranges[][2] = {{0, 0.3}, {-0.7, 1.1}, {1e15, 1e15 + 3}, {-DBL_MAX, DBL_MAX}, {0, 5e-323}};
    enum { BINS = 49 };
    for (int r = 0; r < 5; r++) {
        double edges[BINS + 1];
        uint64_t counts[BINS];
        linattn_histogram h = {.struct_size = sizeof h};
        ck_assert_ok(linattn_sample_histogram(X, 12, ranges[r][0], ranges[r][1], BINS, counts, edges, &h));
        for (int i = 0; i < BINS; i++) {
            ck_assert_ok(linattn_sample_histogram(&edges[i], 1, ranges[r][0], ranges[r][1], BINS, counts, NULL, &h));
            int place = i;
            while (place + 1 < BINS && edges[place + 1] <= edges[i]) place++; /* empty bins where doubles are too few */
            ck_assert_uint_eq(h.inside, 1);
            ck_assert_uint_eq(counts[place], 1);
        }
    }
}
END_TEST

START_TEST(histogram_of_equal_numbers) {
    const double x[] = {3, 3, 3}, largest[] = {DBL_MAX};
    uint64_t counts[3];
    linattn_histogram h = {.struct_size = sizeof h};
    ck_assert_ok(linattn_sample_histogram(x, 3, NAN, NAN, 3, counts, NULL, &h));
    ck_assert(h.low == 1.5 && h.high == 4.5 && counts[1] == 3 && h.inside == 3);
    ck_assert_ok(linattn_sample_histogram(largest, 1, NAN, NAN, 3, counts, NULL, &h));
    ck_assert(h.inside == 1 && h.high == DBL_MAX && counts[2] == 1);
}
END_TEST

START_TEST(case_D11_line_through_points) {
    const double x[] = {1, 2, 4}, y[] = {3, 5, 9}, same[] = {2, 2, 2};
    linattn_line line = {.struct_size = sizeof line};
    ck_assert_ok(linattn_line_fit(x, y, 3, &line));
    ck_assert_double_eq(line.intercept, 1);
    ck_assert_double_eq(line.slope, 2);
    ck_assert_double_eq(line.r_squared, 1);
    ck_assert_double_eq(line.slope_error, 0);
    line.slope = 17;
    ck_assert_status(linattn_line_fit(same, y, 3, &line), LINATTN_EDEGENERATE, "all x are equal");
    ck_assert_double_eq(line.slope, 17);
    ck_assert_ok(linattn_line_fit(x, same, 3, &line));
    ck_assert_double_eq(line.slope, 0);
    ck_assert_double_eq(line.intercept, 2);
    ck_assert(isnan(line.r_squared));
    ck_assert_ok(linattn_line_fit(x, y, 2, &line));
    ck_assert_double_eq(line.slope, 2);
    ck_assert(isnan(line.slope_error) && isnan(line.residual_sd));
    ck_assert_status(linattn_line_fit(x, y, 1, &line), LINATTN_EDEGENERATE, "x has 1 numbers");
}
END_TEST

/* scipy.stats.linregress. */
START_TEST(line_with_errors) {
    const double x[] = {1, 2, 3.5, 4, 6}, y[] = {2.1, 3.9, 6.2, 8.8, 11.5};
    const double units[][2] = {{1, 1}, {0x1p900, 0x1p-1000}, {0x1p-700, 0x1p800}};
    for (int k = 0; k < 3; k++) {
        double u[5], v[5];
        linattn_line line = {.struct_size = sizeof line};
        for (int i = 0; i < 5; i++) u[i] = x[i] * units[k][0], v[i] = y[i] * units[k][1];
        ck_assert_ok(linattn_line_fit(u, v, 5, &line));
        near(line.intercept, 0.13412162162162122 * units[k][1], 2e-14);
        near(line.intercept_error, 0.6668344706789027 * units[k][1], 1e-13);
        near(line.r_squared, 0.9873043056301383 * 0.9873043056301383, 1e-13);
        if (k > 0) continue; /* slopes that no double holds */
        near(line.slope, 1.9290540540540542, 1e-14);
        near(line.slope_error, 0.17918149467805614, 1e-13);
    }
}
END_TEST

static linattn_tail tail_of(const double *x, size_t count, size_t first, size_t last) {
    linattn_tail t = {.struct_size = sizeof t};
    ck_assert_ok(linattn_sample_tail(x, count, first, last, NULL, &t));
    return t;
}

/* x_(i) = c^(-i): the mean of ln(x_(i)/x_(k+1)) over i <= k is ln(c) (k + 1)/2, so alpha_k = 2/((k + 1) ln c). */
START_TEST(tail_of_a_geometric_sample) {
    double x[40], alphas[20];
    linattn_tail t = {.struct_size = sizeof t};
    for (int i = 0; i < 40; i++) x[(i * 7) % 40] = ldexp(1, -(i + 1));
    ck_assert_ok(linattn_sample_tail(x, 40, 3, 20, alphas, &t));
    for (int k = 3; k <= 20; k++) near(alphas[k - 3], 2 / ((k + 1) * log(2)), 1e-14);
    near(t.alpha_first, alphas[0], 0);
    near(t.alpha_last, alphas[17], 0);
    near(t.relative_range, log(21.0 / 4), 1e-14);
    ck_assert(!t.plateau && isnan(t.alpha) && isnan(t.error));
}
END_TEST

/* Quantiles of Pareto's distribution of exponent 3 at (i - 1/2)/n from above: alpha_k is k over a sum of logarithms that does not
 * depend on n, and close to 3. */
START_TEST(tail_of_pareto_quantiles) {
    enum { N = 20000, K = 200 };
    double *x = malloc(N * sizeof *x), sum = 0;
    for (int i = 0; i < N; i++) x[i] = pow((i + 0.5) / N, -1.0 / 3);
    const linattn_tail t = tail_of(x, N, 0, 0);
    ck_assert_uint_eq(t.first, 20);
    ck_assert_uint_eq(t.last, K);
    for (int i = 1; i <= K; i++) sum += log((K + 0.5) / (i - 0.5)) / 3;
    near(t.alpha, K / sum, 1e-12);
    near(t.alpha, 3, 0.01);
    near(t.error, t.alpha / sqrt(K), 1e-14);
    ck_assert(t.plateau == 1);
    free(x);
}
END_TEST

/* A normal sample has no tail index: its estimates go on falling. Student's t with 3 degrees of freedom has index 3. */
START_TEST(tail_verdicts_of_normal_and_student) {
    enum { N = 100000 };
    double *normal = malloc(N * sizeof *normal), *student = malloc(N * sizeof *student);
    for (int i = 0; i < N; i++) {
        ck_assert_ok(linattn_normal_quantile((i + 0.5) / N, &normal[i]));
        student[i] = 0;
        if (i >= N - N / 50) ck_assert_ok(linattn_student_quantile((i + 0.5) / N, 3, &student[i]));
    }
    linattn_tail t = tail_of(normal, N, 0, 0);
    ck_assert(!t.plateau && isnan(t.alpha));
    ck_assert(t.alpha_first > t.alpha_last);
    t = tail_of(student, N, 0, 0);
    ck_assert(t.plateau);
    ck_assert_msg(fabs(t.alpha - 3) < 0.3, "alpha is %g", t.alpha);
    ck_assert_ok(linattn_sample_tail(student, N, 12, 40, NULL, &t));
    ck_assert(!t.plateau); /* too short a range to tell */
    free(normal);
    free(student);
}
END_TEST

START_TEST(tails_that_are_none) {
    const double x[] = {1, 2, 3, 3, 3, -1}, same[] = {2, 2, 2};
    linattn_tail t = {.struct_size = sizeof t};
    ck_assert_status(linattn_sample_tail(x, 6, 1, 5, NULL, &t), LINATTN_EDEGENERATE, "not positive");
    ck_assert_status(linattn_sample_tail(x, 6, 2, 3, NULL, &t), LINATTN_EDEGENERATE, "largest numbers are equal");
    ck_assert_status(linattn_sample_tail(same, 3, 0, 0, NULL, &t), LINATTN_EDEGENERATE, "largest numbers are equal");
    ck_assert_status(linattn_sample_tail(x, 1, 0, 0, NULL, &t), LINATTN_EDEGENERATE, "sample has 1 numbers");
    ck_assert_status(linattn_sample_tail(x, 6, 1, 6, NULL, &t), LINATTN_EINVAL, "last is 6");
    ck_assert_status(linattn_sample_tail(x, 6, 4, 3, NULL, &t), LINATTN_EINVAL, "first is 4");
    ck_assert_status(linattn_sample_tail(x, 6, 0, 3, NULL, &t), LINATTN_EINVAL, "first is 0");
    ck_assert_ok(linattn_sample_tail(x, 6, 3, 4, NULL, &t));
    near(t.alpha_last, 4 / log(54), 1e-14); /* 3, 3, 3 and 2 over 1 */
}
END_TEST

static Suite *statistics_suite(void) {
    Suite *suite = suite_create("statistics");
    TCase *tc = tcase_create("statistics");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, moments_of_twelve_numbers);
    tcase_add_test(tc, moments_of_uniform_midpoints);
    tcase_add_test(tc, moments_do_not_depend_on_place_and_unit);
    tcase_add_test(tc, moments_of_samples_that_are_hardly_any);
    tcase_add_test(tc, case_D1_medians_of_an_even_count);
    tcase_add_test(tc, quantiles_interpolate);
    tcase_add_test(tc, histogram_counts_every_number);
    tcase_add_test(tc, histogram_agrees_with_its_edges);
    tcase_add_test(tc, histogram_of_equal_numbers);
    tcase_add_test(tc, case_D11_line_through_points);
    tcase_add_test(tc, line_with_errors);
    tcase_add_test(tc, tail_of_a_geometric_sample);
    tcase_add_test(tc, tail_of_pareto_quantiles);
    tcase_add_test(tc, tail_verdicts_of_normal_and_student);
    tcase_add_test(tc, tails_that_are_none);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(statistics_suite)
