/* test_statistics_intervals.c: bootstrap errors, intervals and how often they cover, resampling options, bad input, no memory. */
#include "common/allocate.h"
#include "support/suite.h"
#include <math.h>

static const double X[12] = {2.5, -1.25, 0.75, 3.5, 9.0, -0.5, 1.125, 4.25, 0.0625, 2.0, -3.75, 1.5};

static void near(double got, double wanted, double tolerance) {
    ck_assert_msg(fabs(got - wanted) <= tolerance * fabs(wanted), "%.17g, wanted %.17g", got, wanted);
}

static linattn_resampling_options resampling(size_t resamples, uint64_t seed) {
    linattn_resampling_options o;
    ck_assert_ok(linattn_resampling_options_init(&o, sizeof o));
    ck_assert_uint_eq(o.resamples, 2000);
    o.resamples = resamples;
    o.seed = seed;
    return o;
}

/* A small generator of the test's own (xorshift64*), so that simulations do not lean on the library's draws. */
static uint64_t state;

static double uniform(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((double)(state * UINT64_C(2685821657736338717) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) {
    const double radius = sqrt(-2 * log(uniform()));
    return radius * cos(2 * acos(-1) * uniform());
}

/* scipy.stats.t.interval and binomtest(...).proportion_ci(method='wilson'). */
START_TEST(intervals_by_formula) {
    linattn_interval i = {.struct_size = sizeof i};
    ck_assert_ok(linattn_sample_interval(X, 12, 0.95, &i));
    near(i.estimate, 1.59895833333333333, 1e-14);
    near(i.low, -0.4179096112010303, 1e-12);
    near(i.high, 3.615826277867697, 1e-13);
    near(i.error, 3.17432194949018231 / sqrt(12), 1e-14);
    ck_assert_double_eq(i.level, 0.95);
    ck_assert_ok(linattn_share_interval(7, 20, 0.95, &i));
    near(i.low, 0.1811918241010821, 1e-14);
    near(i.high, 0.5671457233147637, 1e-14);
    near(i.error, sqrt(0.35 * 0.65 / 20), 1e-14);
    ck_assert_ok(linattn_share_interval(0, 10, 0.95, &i));
    ck_assert_double_eq(i.low, 0);
    near(i.high, 0.27753279986288926, 1e-14);
    ck_assert_ok(linattn_share_interval(10, 10, 0.95, &i));
    ck_assert_double_eq(i.high, 1);
    near(i.low, 1 - 0.27753279986288926, 1e-14);
}
END_TEST

START_TEST(intervals_of_hardly_any_numbers) {
    const double same[] = {0.1, 0.1, 0.1}, two[] = {1, 3};
    linattn_interval i = {.struct_size = sizeof i};
    ck_assert_ok(linattn_sample_interval(same, 3, 0.9, &i));
    ck_assert(i.estimate == 0.1 && i.low == 0.1 && i.high == 0.1 && i.error == 0);
    for (int32_t location = 0; location < 2; location++) {
        ck_assert_ok(linattn_sample_bootstrap(same, 3, location, 0.9, NULL, &i));
        ck_assert(i.estimate == 0.1 && i.low == 0.1 && i.high == 0.1 && i.error == 0);
        ck_assert_ok(linattn_sample_bootstrap(two, 2, location, 0.9, NULL, &i));
        ck_assert(i.estimate == 2 && i.low == 1 && i.high == 3);
    }
    ck_assert_ok(linattn_series_bootstrap(same, 3, 2, 0.9, NULL, &i));
    ck_assert(i.estimate == 0.1 && i.low == 0.1 && i.high == 0.1);
    ck_assert_ok(linattn_sample_interval(two, 2, 0.5, &i));
    near(i.high, 3, 1e-13); /* one degree of freedom: the upper quartile of Cauchy's distribution is 1 */
    ck_assert_status(linattn_sample_interval(two, 1, 0.5, &i), LINATTN_EDEGENERATE, "sample has 1 numbers");
    ck_assert_status(linattn_sample_bootstrap(two, 1, 0, 0.5, NULL, &i), LINATTN_EDEGENERATE, "sample has 1 numbers");
    ck_assert_status(linattn_share_interval(0, 0, 0.5, &i), LINATTN_EDEGENERATE, "trials is 0");
    ck_assert_status(linattn_share_interval(2, 1, 0.5, &i), LINATTN_EINVAL, "successes is 2");
}
END_TEST

/* scipy.stats.bootstrap, method BCa, 200000 resamples: mean (0.11458, 3.625), median (-0.21875, 3.0); end points of this small
 * sample move by up to 0.05 with the seed. */
START_TEST(bootstrap_against_another_program) {
    const linattn_resampling_options o = resampling(20000, 11);
    linattn_interval i = {.struct_size = sizeof i};
    ck_assert_ok(linattn_sample_bootstrap(X, 12, LINATTN_LOCATION_MEAN, 0.95, &o, &i));
    near(i.estimate, 1.59895833333333333, 1e-14);
    ck_assert_msg(fabs(i.low - 0.11458) < 0.08 && fabs(i.high - 3.625) < 0.08, "%g to %g", i.low, i.high);
    near(i.error, 3.17432194949018231 * sqrt(11) / 12, 0.02); /* exact: sd with 12 below, over sqrt 12 */
    ck_assert_ok(linattn_sample_bootstrap(X, 12, LINATTN_LOCATION_MEDIAN, 0.95, &o, &i));
    ck_assert_double_eq(i.estimate, 1.3125);
    ck_assert_msg(fabs(i.low + 0.21875) < 0.3 && fabs(i.high - 3) < 0.3, "%g to %g", i.low, i.high);
}
END_TEST

/* (0, 9, 10): a resample's median is 0, 9, 10 with probabilities 7/27, 13/27, 7/27, so z_0 = 0. Leaving one out gives the medians
 * 9.5, 5, 4.5, so a = -0.0655. At z = 0.66 the ends are read at Phi(-0.690) = 0.245 < 7/27 and Phi(0.633) = 0.737 < 20/27: at 0 and
 * 9. With a = 0, or of the other sign, they would be 0 or 9, and 10. */
START_TEST(bootstrap_of_a_median_by_hand) {
    const linattn_resampling_options o = resampling(500000, 6);
    const double x[] = {10, 0, 9}, level = erf(0.66 / sqrt(2));
    linattn_interval i = {.struct_size = sizeof i};
    ck_assert_ok(linattn_sample_bootstrap(x, 3, LINATTN_LOCATION_MEDIAN, level, &o, &i));
    ck_assert_double_eq(i.estimate, 9);
    ck_assert_double_eq(i.low, 0);
    ck_assert_double_eq(i.high, 9);
    near(i.error, sqrt(13.0 / 27 * 81 + 7.0 / 27 * 100 - pow(13.0 / 27 * 9 + 7.0 / 27 * 10, 2)), 0.01);
}
END_TEST

/* The sd over resamples of a mean is known: sqrt(m_2 / n). And of a large normal sample so are those of skewness, kurtosis:
 * sqrt(6/n), sqrt(24/n). */
START_TEST(bootstrap_errors_of_moments) {
    enum { N = 4000 };
    const linattn_resampling_options o = resampling(400, 8);
    double *x = malloc(N * sizeof *x);
    linattn_moments m = {.struct_size = sizeof m};
    state = 77;
    for (int i = 0; i < N; i++) x[i] = 1e6 + 1e-3 * normal();
    ck_assert_ok(linattn_sample_moments(x, N, &o, &m));
    near(m.mean_error, m.sd * sqrt((N - 1.0) / N / N), 0.15); /* 400 resamples: sd known to 1/sqrt(800), 4 times */
    near(m.variance_error, m.variance * sqrt(2.0 / N), 0.25);
    near(m.sd_error, m.sd * sqrt(0.5 / N), 0.25);
    near(m.skewness_error, sqrt(6.0 / N), 0.25);
    near(m.kurtosis_error, sqrt(24.0 / N), 0.4);
    ck_assert(m.moment5_error > m.kurtosis_error && m.moment6_error > m.moment5_error);
    ck_assert(!m.sixth_dominated && m.sixth_share < 0.3);
    free(x);
}
END_TEST

/* `hits` of `trials` intervals of the given level covered: within 4 sd of the binomial and `bias` known beforehand. */
static void check_coverage(const char *what, int hits, int trials, double level, double bias) {
    const double share = (double)hits / trials, room = 4 * sqrt(level * (1 - level) / trials);
    ck_assert_msg(share >= level - room - bias && share <= level + room, "%s covered %g, wanted %g +- %g", what, share, level,
                  room);
}

/* Student's interval is exact for normal numbers; BCa errs by O(1/n), about 2% here; Wilson's wavers by about 2%. */
START_TEST(intervals_cover) {
    enum { TRIALS = 600, N = 30 };
    const linattn_resampling_options o = resampling(300, 1);
    int student = 0, mean = 0, median = 0, wilson = 0;
    state = 12345;
    for (int t = 0; t < TRIALS; t++) {
        double x[N];
        uint64_t successes = 0;
        linattn_interval i = {.struct_size = sizeof i};
        for (int k = 0; k < N; k++) x[k] = 5 + 2 * normal();
        ck_assert_ok(linattn_sample_interval(x, 5, 0.9, &i));
        student += i.low <= 5 && 5 <= i.high;
        ck_assert_ok(linattn_sample_bootstrap(x, N, LINATTN_LOCATION_MEDIAN, 0.9, &o, &i));
        median += i.low <= 5 && 5 <= i.high;
        for (int k = 0; k < N; k++) x[k] = -log(uniform());
        ck_assert_ok(linattn_sample_bootstrap(x, N, LINATTN_LOCATION_MEAN, 0.9, &o, &i));
        mean += i.low <= 1 && 1 <= i.high;
        for (int k = 0; k < 50; k++) successes += uniform() < 0.13;
        ck_assert_ok(linattn_share_interval(successes, 50, 0.9, &i));
        wilson += i.low <= 0.13 && 0.13 <= i.high;
    }
    check_coverage("Student", student, TRIALS, 0.9, 0);
    check_coverage("BCa of a mean", mean, TRIALS, 0.9, 0.03);
    check_coverage("BCa of a median", median, TRIALS, 0.9, 0.03);
    check_coverage("Wilson", wilson, TRIALS, 0.9, 0.02);
}
END_TEST

/* An autoregressive series, correlation 0.6^k at distance k: its mean varies four times as much as that of independent numbers,
 * which blocks of 25 see but for about 1/25 of it, and blocks of 1 do not. */
START_TEST(block_bootstrap_covers_where_the_plain_one_does_not) {
    enum { TRIALS = 300, N = 400 };
    const linattn_resampling_options o = resampling(200, 2);
    int blocks = 0, plain = 0, slopes = 0, intercepts = 0;
    state = 999;
    for (int t = 0; t < TRIALS; t++) {
        double x[N], y[N], noise = normal() / 0.8;
        linattn_interval i = {.struct_size = sizeof i}, j = i;
        for (int k = 0; k < N; k++) {
            noise = 0.6 * noise + normal();
            y[k] = 3 + noise;
            x[k] = 10 + normal() + sin(k / 20.0);
        }
        ck_assert_ok(linattn_series_bootstrap(y, N, 25, 0.9, &o, &i));
        blocks += i.low <= 3 && 3 <= i.high;
        ck_assert_ok(linattn_series_bootstrap(y, N, 1, 0.9, &o, &i));
        plain += i.low <= 3 && 3 <= i.high;
        for (int k = 0; k < N; k++) y[k] += 2 * x[k];
        ck_assert_ok(linattn_line_bootstrap(x, y, N, 25, 0.9, &o, &i, &j));
        intercepts += i.low <= 3 && 3 <= i.high;
        slopes += j.low <= 2 && 2 <= j.high;
    }
    check_coverage("blocks", blocks, TRIALS, 0.9, 0.05);
    check_coverage("intercepts", intercepts, TRIALS, 0.9, 0.05);
    check_coverage("slopes", slopes, TRIALS, 0.9, 0.05);
    ck_assert_msg(plain < 0.75 * TRIALS, "single numbers covered %d of %d", plain, TRIALS);
}
END_TEST

START_TEST(line_bootstrap_of_points_on_a_line) {
    const double x[] = {1, 2, 4, 7, 8, 9}, y[] = {3, 5, 9, 15, 17, 19}, steps[] = {1, 1, 1, 1, 1, 1, 1, 2};
    linattn_interval a = {.struct_size = sizeof a}, b = a;
    ck_assert_ok(linattn_line_bootstrap(x, y, 6, 2, 0.95, NULL, &a, &b));
    ck_assert(fabs(a.low - 1) < 1e-13 && fabs(a.high - 1) < 1e-13 && fabs(b.low - 2) < 1e-13 && fabs(b.high - 2) < 1e-13);
    ck_assert_double_eq(b.estimate, 2);
    ck_assert_ok(linattn_line_bootstrap(x, y, 6, 2, 0.95, NULL, NULL, &b));
    ck_assert_status(linattn_line_bootstrap(x, y, 6, 2, 0.95, NULL, NULL, NULL), LINATTN_EINVAL, "both NULL");
    ck_assert_status(linattn_line_bootstrap(steps, steps, 7, 1, 0.95, NULL, &a, &b), LINATTN_EDEGENERATE, "all x are equal");
    /* A block of 4 holds the only step in 1 of 5 places; two of them in 9 of 25. */
    ck_assert_status(linattn_line_bootstrap(steps, steps, 8, 4, 0.95, NULL, &a, &b), LINATTN_EDEGENERATE, "resamples");
    ck_assert_status(linattn_line_bootstrap(x, y, 6, 6, 0.95, NULL, &a, &b), LINATTN_EINVAL, "block is 6");
    ck_assert_status(linattn_series_bootstrap(x, 6, 0, 0.95, NULL, &a), LINATTN_EINVAL, "block is 0");
}
END_TEST

START_TEST(same_seed_same_bits) {
    linattn_resampling_options o = resampling(150, 4);
    linattn_moments m = {.struct_size = sizeof m}, n = m;
    linattn_interval i = {.struct_size = sizeof i}, j = i;
    ck_assert_ok(linattn_sample_moments(X, 12, &o, &m));
    ck_assert_ok(linattn_sample_moments(X, 12, &o, &n));
    ck_assert_mem_eq(&m, &n, sizeof m);
    ck_assert_ok(linattn_sample_bootstrap(X, 12, 0, 0.9, &o, &i));
    ck_assert_ok(linattn_sample_bootstrap(X, 12, 0, 0.9, &o, &j));
    ck_assert_mem_eq(&i, &j, sizeof i);
    o.seed = 5;
    ck_assert_ok(linattn_sample_moments(X, 12, &o, &n));
    ck_assert(m.mean_error != n.mean_error);
    ck_assert_double_eq(m.mean, n.mean);
}
END_TEST

static int stop_half_way(double fraction, void *user) {
    ++*(int *)user;
    ck_assert(fraction >= 0 && fraction <= 1);
    return fraction >= 0.5 ? LINATTN_STOP : 0;
}

static int nonsense(double fraction, void *user) {
    (void)user;
    return fraction >= 0 ? 42 : 0;
}

/* Every call with options, on a sample that suits them all; outputs go to one place. */
enum { CALLS = 6 };
static linattn_moments moments = {.struct_size = sizeof moments};
static linattn_interval interval = {.struct_size = sizeof interval};
static linattn_normality normality = {.struct_size = sizeof normality};
static linattn_comparison comparison = {.struct_size = sizeof comparison};

static int call(int which, const double *x, size_t count, const linattn_resampling_options *o) {
    switch (which) {
    case 0:
        return linattn_sample_moments(x, count, o, &moments);
    case 1:
        return linattn_sample_bootstrap(x, count, LINATTN_LOCATION_MEDIAN, 0.9, o, &interval);
    case 2:
        return linattn_series_bootstrap(x, count, 1, 0.9, o, &interval);
    case 3:
        return linattn_line_bootstrap(x, x, count, 1, 0.9, o, &interval, NULL);
    case 4:
        return linattn_sample_normality(x, count, o, &normality);
    default:
        return linattn_samples_compare(x, count, x, count, o, &comparison);
    }
}

/* A call that draws many numbers asks more often than 100 times: the second time comes before a hundredth is done. */
static int stop_second_time(double fraction, void *user) {
    *(double *)user = fraction;
    return fraction > 0 ? LINATTN_STOP : 0;
}

START_TEST(progress_is_called_often_enough) {
    enum { COUNT = 4000 };
    static double x[COUNT];
    linattn_resampling_options o = resampling(1 << 16, 0);
    linattn_interval out = {.struct_size = sizeof out};
    double fraction = 0;
    for (int i = 0; i < COUNT; i++) x[i] = i;
    o.progress = stop_second_time;
    o.user = &fraction;
    ck_assert_int_eq(linattn_series_bootstrap(x, 2, 1, 0.9, &o, &out), LINATTN_STOP);
    ck_assert_double_eq_tol(fraction, 0.01, 1e-4);
    ck_assert_int_eq(linattn_series_bootstrap(x, COUNT, 1, 0.9, &o, &out), LINATTN_STOP);
    ck_assert_double_lt(fraction, 0.005);
}
END_TEST

START_TEST(progress_can_stop_every_call) {
    for (int which = 0; which < CALLS; which++) {
        linattn_resampling_options o = resampling(1000, 0);
        int calls = 0;
        interval.estimate = moments.mean = normality.anderson_darling = comparison.wasserstein = 17;
        o.progress = stop_half_way;
        o.user = &calls;
        ck_assert_int_eq(call(which, X, 12, &o), LINATTN_STOP);
        ck_assert_int_eq(calls, 51);
        ck_assert(interval.estimate == 17 && moments.mean == 17 && normality.anderson_darling == 17 &&
                  comparison.wasserstein == 17);
        o.progress = nonsense;
        ck_assert_status(call(which, X, 12, &o), LINATTN_EINVAL, "progress returned is 42");
    }
}
END_TEST

START_TEST(bad_input_is_named) {
    const double holes[] = {1, 2, NAN, 4}, large[] = {1, INFINITY, 3, 4};
    for (int which = 0; which < CALLS; which++) {
        linattn_resampling_options o = resampling(0, 0);
        ck_assert_status(call(which, X, 12, &o), LINATTN_EINVAL, "resamples is 0");
        o.resamples = (size_t)LINATTN_MAX_RESAMPLES + 1;
        ck_assert_status(call(which, X, 12, &o), LINATTN_EINVAL, "resamples is 16777217");
        o.resamples = 200;
        ck_assert_status(call(which, holes, 4, &o), LINATTN_ENONFINITE, "[2] is nan");
        ck_assert_status(call(which, large, 4, &o), LINATTN_ENONFINITE, "[1] is inf");
        ck_assert_status(call(which, X, 0, &o), LINATTN_EDEGENERATE, "has 0 numbers");
        ck_assert_status(call(which, NULL, 4, &o), LINATTN_EINVAL, "is NULL");
        if (sizeof(size_t) > 4) ck_assert_status(call(which, X, ((size_t)1 << 31 << 9) + 1, &o), LINATTN_EOVERFLOW, "2^40");
        o.struct_size = 3;
        ck_assert_status(call(which, X, 12, &o), LINATTN_EINVAL, "struct_size");
    }
    double out = 17;
    linattn_normal_plot plot = {.struct_size = sizeof plot};
    linattn_tail tail = {.struct_size = sizeof tail};
    linattn_line line = {.struct_size = sizeof line};
    linattn_histogram histogram = {.struct_size = sizeof histogram};
    uint64_t counts[2] = {17, 17};
    ck_assert_status(linattn_sample_median(holes, 4, 0, &out), LINATTN_ENONFINITE, "sample[2]");
    ck_assert_status(linattn_sample_median(X, 0, 0, &out), LINATTN_EDEGENERATE, "sample has 0 numbers");
    ck_assert_status(linattn_sample_quantiles(holes, 4, &out, 1, &out), LINATTN_ENONFINITE, "sample[2]");
    ck_assert_status(linattn_sample_histogram(holes, 4, 0, 1, 2, counts, NULL, &histogram), LINATTN_ENONFINITE, "sample[2]");
    ck_assert_status(linattn_sample_histogram(X, 0, 0, 1, 2, counts, NULL, &histogram), LINATTN_EDEGENERATE, "0 numbers");
    ck_assert_status(linattn_sample_normal_plot(holes, 4, NULL, NULL, &plot), LINATTN_ENONFINITE, "sample[2]");
    ck_assert_status(linattn_sample_tail(holes, 4, 0, 0, NULL, &tail), LINATTN_ENONFINITE, "sample[2]");
    ck_assert_status(linattn_line_fit(X, holes, 4, &line), LINATTN_ENONFINITE, "y[2]");
    ck_assert_status(linattn_line_fit(X, X, 12, NULL), LINATTN_EINVAL, "linattn_line is NULL");
    ck_assert_double_eq(out, 17);
    ck_assert(counts[0] == 17 && counts[1] == 17);
    const double levels[] = {0, 1, -1, NAN};
    for (int i = 0; i < 4; i++) {
        ck_assert_status(linattn_sample_interval(X, 12, levels[i], &interval), LINATTN_EINVAL, "level is");
        ck_assert_status(linattn_share_interval(1, 2, levels[i], &interval), LINATTN_EINVAL, "level is");
        ck_assert_status(linattn_sample_bootstrap(X, 12, 0, levels[i], NULL, &interval), LINATTN_EINVAL, "level is");
        ck_assert_status(linattn_series_bootstrap(X, 12, 3, levels[i], NULL, &interval), LINATTN_EINVAL, "level is");
    }
    ck_assert_status(linattn_sample_bootstrap(X, 12, 2, 0.9, NULL, &interval), LINATTN_EINVAL, "location is 2");
    ck_assert_status(linattn_resampling_options_init(NULL, 8), LINATTN_EINVAL, "NULL");
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
START_TEST(no_memory_is_a_status) {
    for (int which = 0; which < CALLS; which++) {
        const linattn_resampling_options o = resampling(100, 0);
        int status = LINATTN_ENOMEM;
        for (long successes = 0; status == LINATTN_ENOMEM; successes++) {
            ck_assert(successes < 10);
            linattn__fail_allocation_after(successes);
            status = call(which, X, 12, &o);
            linattn__fail_allocation_after(-1);
            if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory");
            ck_assert(status == LINATTN_ENOMEM || successes > 0);
        }
        ck_assert_int_eq(status, LINATTN_OK);
    }
}
END_TEST
#endif

static Suite *statistics_intervals_suite(void) {
    Suite *suite = suite_create("statistics_intervals");
    TCase *tc = tcase_create("statistics_intervals");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, intervals_by_formula);
    tcase_add_test(tc, intervals_of_hardly_any_numbers);
    tcase_add_test(tc, bootstrap_against_another_program);
    tcase_add_test(tc, bootstrap_of_a_median_by_hand);
    tcase_add_test(tc, bootstrap_errors_of_moments);
    tcase_add_test(tc, intervals_cover);
    tcase_add_test(tc, block_bootstrap_covers_where_the_plain_one_does_not);
    tcase_add_test(tc, line_bootstrap_of_points_on_a_line);
    tcase_add_test(tc, same_seed_same_bits);
    tcase_add_test(tc, progress_is_called_often_enough);
    tcase_add_test(tc, progress_can_stop_every_call);
    tcase_add_test(tc, bad_input_is_named);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tc, no_memory_is_a_status);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(statistics_intervals_suite)
