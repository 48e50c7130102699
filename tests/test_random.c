/* test_random.c: Philox, elementary functions, uniforms, normals and gammas, one number at a time. */
#include "random/random.h"
#include "reference/reference_random.h"
#include "support/distribution.h"
#include "support/suite.h"
#include <float.h>
#include <math.h>

static void check_philox(uint32_t c, uint32_t k, const uint32_t wanted[4]) {
    const uint32_t key[2] = {k, k}, counter[4] = {c, c, c, c};
    uint32_t out[4];
    linattn__philox(key, counter, out);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(out[i], wanted[i]);
}

/* The vectors published with Random123 for philox4x32-10. */
START_TEST(philox_published_vectors) {
    check_philox(0, 0, (const uint32_t[4]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check_philox(0xffffffff, 0xffffffff, (const uint32_t[4]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    const uint32_t key[2] = {0xa4093822, 0x299f31d0}, counter[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
    const uint32_t wanted[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    uint32_t out[4];
    linattn__philox(key, counter, out);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(out[i], wanted[i]);
    reference_philox(key, counter, out);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(out[i], wanted[i]);
}
END_TEST

/* |got - wanted| in units of the last place of wanted. */
static double ulps(double got, long double wanted) {
    const double nearest = fabs((double)wanted);
    return (double)(fabsl((long double)got - wanted) / (nextafter(nearest, INFINITY) - nearest));
}

/* Points spread over the exponents from 2^low to 2^high. */
static double spread(uint64_t i, double low, double high) {
    double u;
    linattn__stream stream;
    linattn__stream_open(&stream, 1, 0, LINATTN__PURPOSE_RESAMPLING);
    linattn__random_uniforms(&stream, LINATTN__KIND_INDICES, 0, i, 1, &u);
    return exp2(low + (high - low) * u);
}

START_TEST(log_within_two_ulps) {
    const double special[] = {0x1p-53, 1 - 0x1p-53, 0x1.6a09e667f3bccp-1,   0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcep-1, 0.5,
                              2,       0x1p-1022,   0x1.fffffffffffffp1023, 1 + 0x1p-52};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        ck_assert_msg(ulps(linattn__random_log(special[i]), logl(special[i])) <= 2, "log(%a)", special[i]);
    ck_assert(linattn__random_log(1) == 0);
    for (uint64_t i = 0; i < 20000; i++) {
        const double wide = spread(i, -1000, 1000), narrow = spread(i, -0.6, 0.6);
        ck_assert_msg(ulps(linattn__random_log(wide), logl(wide)) <= 2, "log(%a)", wide);
        ck_assert_msg(ulps(linattn__random_log(narrow), logl(narrow)) <= 2, "log(%a)", narrow);
    }
}
END_TEST

START_TEST(exp_within_two_ulps) {
    ck_assert(linattn__random_exp(0) == 1);
    ck_assert(linattn__random_exp(-0x1p-1074) == 1);
    ck_assert(linattn__random_exp(-708) > 0);
    ck_assert(linattn__random_exp(-708.0000001) == 0);
    ck_assert(linattn__random_exp(-1e300) == 0);
    ck_assert(linattn__random_exp(-INFINITY) == 0);
    for (uint64_t i = 0; i < 20000; i++) {
        const double x = -spread(i, -30, log2(708));
        ck_assert_msg(ulps(linattn__random_exp(x), expl(x)) <= 2, "exp(%a)", x);
    }
}
END_TEST

/* At fractions u = (2 k + 1)/2^53 of a turn, near every eighth (where the quadrant changes, or a function is 0) and elsewhere. */
START_TEST(cos_sin_within_two_ulps) {
    const uint64_t all = (UINT64_C(1) << 52) - 1;
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t near = ((i / 2 % 8) << 49) + i / 16 - 600, far = (i * UINT64_C(0x9e3779b97f4a7c15)) >> 12;
        const uint64_t k = (i % 2 ? near : far) & all;
        const double u = ldexp((double)(2 * k + 1), -53);
        /* The truth by reflection into |angle| <= pi/4, exact in integers, where libm has nothing to cancel. */
        const int64_t turns = (int64_t)(2 * k + 1), quarter = INT64_C(1) << 51, q = (turns + quarter / 2) / quarter;
        const long double angle = 2 * acosl(-1) * ldexpl((long double)(turns - q * quarter), -53);
        const long double c = cosl(angle), s = sinl(angle), truth[5][2] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}, {c, s}};
        double cosine, sine;
        linattn__random_cos_sin(u, &cosine, &sine);
        ck_assert_msg(ulps(cosine, truth[q][0]) <= 2, "cos(2 pi %a)", u);
        ck_assert_msg(ulps(sine, truth[q][1]) <= 2, "sin(2 pi %a)", u);
    }
}
END_TEST

/* Every other argument is as near as can be to a multiple of pi/2, where a reduction would lose the digits. */
START_TEST(sin_is_accurate) {
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t far = i * UINT64_C(0x9e3779b97f4a7c15);
        const double size = ldexp(1 + (double)(far >> 12) * 0x1p-52, (int)(i / 4 % 60) - 12), quarter = acos(-1) / 2;
        const double x = (i % 2 ? size : nearbyint(size / quarter) * quarter) * (i / 2 % 2 ? 1 : -1);
        const double y = linattn__random_sin(x);
        const long double truth = sinl((long double)x);
        if (fabs(x) <= 64 && truth != 0) ck_assert_msg(ulps(y, truth) <= 3, "sin(%a)", x);
        ck_assert_msg(fabsl((long double)y - truth) <= 2.3e-16L || fabs(x) >= 0x1p47, "sin(%a)", x);
        ck_assert(linattn__random_sin(-x) == -y);
    }
    ck_assert(linattn__random_sin(0) == 0 && linattn__random_sin(0x1p-1000) == 0x1p-1000);
    ck_assert(linattn__random_sin(1e300) == 0 && linattn__random_sin(-DBL_MAX) == 0);
    ck_assert(isnan(linattn__random_sin(INFINITY)) && isnan(linattn__random_sin(-INFINITY)) && isnan(linattn__random_sin(NAN)));
}
END_TEST

static void open_training(linattn__stream *stream, uint64_t seed, uint64_t draw) {
    linattn__stream_open(stream, seed, draw, LINATTN_STREAM_TRAINING);
}

/* Emulators compute long double with the precision of double, and the reference is then no better than what it judges. */
static long double reference_error(void) {
    volatile long double one = 1, little = 0x1p-60L;
    return one + little != one ? 1e-14L : 1e-12L;
}

/* Another implementation, other arithmetic: uniforms exactly, the rest to 1e-14. */
static void check_reference(uint64_t seed, uint64_t draw, unsigned purpose, unsigned kind, uint32_t prompt, size_t count) {
    double *x = malloc(count * sizeof *x);
    linattn__stream stream;
    const reference_place place = {seed, draw, purpose * 16 + kind, prompt};
    const long double error = reference_error();
    linattn__stream_open(&stream, seed, draw, purpose);
    linattn__random_uniforms(&stream, kind, prompt, 0, count, x);
    for (size_t v = 0; v < count; v++) ck_assert(x[v] == (double)reference_uniform(place, v));
    linattn__random_normals(&stream, kind, prompt, 0, count, x);
    for (size_t v = 0; v < count; v++) {
        const long double wanted = reference_normal(place, v);
        ck_assert_msg(fabsl(x[v] - wanted) <= error * fabsl(wanted), "normal %zu: %a, not %La", v, x[v], wanted);
    }
    const double shapes[] = {0.1, 0.5, 1, 1.5, 2.5, 10, 1000, 0.01};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        linattn__gamma gamma;
        linattn__gamma_open(&gamma, shapes[i]);
        linattn__random_gammas(&stream, kind, kind + 1, prompt, &gamma, 0, count, x);
        for (size_t v = 0; v < count; v++) {
            const long double wanted = reference_gamma(place, purpose * 16 + kind + 1, shapes[i], v);
            /* An error of one unit in log U / k, which nears 700, is one of 700 in the power. */
            const long double room = shapes[i] < 1 ? error * (1 + fabsl(logl(wanted))) : error;
            if (wanted > 1e-300L)
                ck_assert_msg(fabsl(x[v] - wanted) <= room * wanted, "gamma %zu: %a, not %La", v, x[v], wanted);
            else
                ck_assert(x[v] <= 1.1e-300);
        }
    }
    free(x);
}

START_TEST(reference_agrees) {
    check_reference(42, 0, 0, LINATTN__KIND_COVARIATES, 0, 2000);
    check_reference(UINT64_MAX, UINT64_MAX, 1, LINATTN__KIND_NOISE, UINT32_MAX, 200);
    check_reference(UINT64_C(0x123456789abcdef0), UINT64_C(0xffffffffffff), LINATTN__PURPOSE_INITIALISATION, 0, 77, 200);
    check_reference(0, UINT64_C(1) << 48, LINATTN_STREAM_NOISE, LINATTN__KIND_RADII, 3, 200);
}
END_TEST

/* Any variate can be had alone. */
START_TEST(variates_do_not_depend_on_the_call) {
    enum { COUNT = 50 };
    double all[COUNT], one;
    linattn__stream stream;
    linattn__gamma gamma;
    open_training(&stream, 9, 3);
    linattn__gamma_open(&gamma, 0.3);
    linattn__random_normals(&stream, LINATTN__KIND_TASK, 5, 0, COUNT, all);
    for (size_t v = 0; v < COUNT; v++) {
        linattn__random_normals(&stream, LINATTN__KIND_TASK, 5, v, 1, &one);
        ck_assert(one == all[v]);
    }
    linattn__random_gammas(&stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, 5, &gamma, 0, COUNT, all);
    for (size_t v = COUNT; v-- > 0;) {
        linattn__random_gammas(&stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, 5, &gamma, v, 1, &one);
        ck_assert(one == all[v]);
    }
}
END_TEST

/* Beyond 2^32 blocks variates go on in the next prompt's blocks. */
START_TEST(many_variates_continue) {
    double a[2], b[2];
    linattn__stream stream;
    open_training(&stream, 1, 0);
    linattn__random_normals(&stream, 0, 0, UINT64_C(1) << 33, 2, a);
    linattn__random_normals(&stream, 0, 1, 0, 2, b);
    ck_assert(a[0] == b[0] && a[1] == b[1]);
    linattn__random_normals(&stream, 0, 0, (UINT64_C(1) << 33) - 2, 2, a);
    ck_assert(a[0] != b[0]);
}
END_TEST

/* Each of the 64 bits of a draw and of a seed counts. */
START_TEST(every_bit_of_seed_and_draw_counts) {
    double first[129];
    for (int i = 0; i < 129; i++) {
        linattn__stream stream;
        const uint64_t bit = UINT64_C(1) << i % 64;
        open_training(&stream, i < 64 ? bit : 0, i >= 64 && i < 128 ? bit : 0);
        linattn__random_uniforms(&stream, 0, 0, 0, 1, &first[i]);
        for (int j = 0; j < i; j++) ck_assert_msg(first[i] != first[j], "%d and %d", i, j);
    }
}
END_TEST

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

START_TEST(case_R4_streams_are_independent) {
    enum { COUNT = 100000 };
    const struct {
        uint64_t seed;
        unsigned kind;
    } streams[] = {{7, LINATTN__KIND_COVARIATES}, {7, LINATTN__KIND_TASK}, {8, LINATTN__KIND_COVARIATES}, {8, LINATTN__KIND_TASK}};
    double *x[4], *all = malloc(4 * COUNT * sizeof *all);
    for (int i = 0; i < 4; i++) {
        linattn__stream stream;
        x[i] = malloc((COUNT + 1) * sizeof **x);
        open_training(&stream, streams[i].seed, 0);
        linattn__random_normals(&stream, streams[i].kind, 0, 0, COUNT + 1, x[i]);
        memcpy(all + i * COUNT, x[i], COUNT * sizeof *all);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            for (int lag = i == j; lag < 2; lag++) {
                double sum = 0;
                for (size_t k = 0; k < COUNT; k++) sum += x[i][k] * x[j][k + (size_t)lag];
                ck_assert_msg(fabs(sum / COUNT) < 0.02, "correlation of %d and %d at lag %d is %g", i, j, lag, sum / COUNT);
            }
    /* Equal values, let alone blocks of four, would be neighbours. */
    qsort(all, 4 * COUNT, sizeof *all, compare);
    for (size_t k = 1; k < 4 * COUNT; k++) ck_assert(all[k] != all[k - 1]);
    for (int i = 0; i < 4; i++) free(x[i]);
    free(all);
}
END_TEST

static double uniform_cdf(double x) { return x; }
static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double exponential_cdf(double x) { return -expm1(-x); }
static double half_cdf(double x) { return erf(sqrt(x)); }         /* gamma(1/2) */
static double two_cdf(double x) { return 1 - exp(-x) * (1 + x); } /* gamma(2) */
static double ten_cdf(double x) {                                 /* gamma(10) */
    double term = 1, sum = 1;
    for (int i = 1; i < 10; i++) sum += term *= x / i;
    return 1 - exp(-x) * sum;
}
static double three_halves_cdf(double x) { return erf(sqrt(x)) - 2 * sqrt(x / acos(-1)) * exp(-x); } /* gamma(3/2) */

enum { SAMPLE = 30000 };

START_TEST(kolmogorov_smirnov_uniform_and_normal) {
    double *x = malloc(SAMPLE * sizeof *x);
    linattn__stream stream;
    open_training(&stream, 11, 5);
    linattn__random_uniforms(&stream, 0, 0, 0, SAMPLE, x);
    for (size_t i = 0; i < SAMPLE; i++) ck_assert(x[i] > 0 && x[i] < 1);
    ck_assert_double_gt(ks_one_sample(x, SAMPLE, uniform_cdf), 1e-3);
    linattn__random_normals(&stream, 0, 0, 0, SAMPLE, x);
    ck_assert_double_gt(ks_one_sample(x, SAMPLE, normal_cdf), 1e-3);
    free(x);
}
END_TEST

START_TEST(kolmogorov_smirnov_gamma) {
    const struct {
        double shape;
        double (*cdf)(double);
    } row[] = {{1, exponential_cdf}, {0.5, half_cdf}, {1.5, three_halves_cdf}, {2, two_cdf}, {10, ten_cdf}};
    double *x = malloc(SAMPLE * sizeof *x);
    linattn__stream stream;
    open_training(&stream, 12, 5);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        linattn__gamma gamma;
        linattn__gamma_open(&gamma, row[i].shape);
        linattn__random_gammas(&stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, (uint32_t)i, &gamma, 0, SAMPLE, x);
        const double p = ks_one_sample(x, SAMPLE, row[i].cdf);
        ck_assert_msg(p > 1e-3, "shape %g: p = %g", row[i].shape, p);
    }
    free(x);
}
END_TEST

/* Mean k, variance k, for every size of k. */
START_TEST(gamma_moments) {
    const double shapes[] = {1e-3, 0.01, 0.1, 0.9, 1, 3.3, 100, 1e6, 0x1p39, 0x1p41, 1e20, 1e300};
    double *x = malloc(SAMPLE * sizeof *x);
    linattn__stream stream;
    open_training(&stream, 13, 5);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const double k = shapes[i], n = SAMPLE;
        double mean = 0, square = 0;
        linattn__gamma gamma;
        linattn__gamma_open(&gamma, k);
        linattn__random_gammas(&stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, (uint32_t)i, &gamma, 0, SAMPLE, x);
        for (size_t v = 0; v < SAMPLE; v++) {
            const double z = (x[v] - k) / sqrt(k); /* mean 0, variance 1, fourth moment 3 + 6/k */
            ck_assert(isfinite(x[v]) && x[v] >= 0);
            mean += z / n;
            square += z * z / n;
        }
        if (k > 1e15) { /* the spread nears a unit in the last place */
            ck_assert_msg(fabs(mean) <= 1e-15 * sqrt(k) + 0.1, "shape %g: standardised mean %g", k, mean);
            continue;
        }
        ck_assert_msg(fabs(mean) < 4 / sqrt(n), "shape %g: standardised mean %g", k, mean);
        ck_assert_msg(fabs(square - 1) < 4 * sqrt((2 + 6 / k) / n), "shape %g: standardised variance %g", k, square);
    }
    free(x);
}
END_TEST

static Suite *random_suite(void) {
    Suite *suite = suite_create("random");
    TCase *tc = tcase_create("random");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, philox_published_vectors);
    tcase_add_test(tc, log_within_two_ulps);
    tcase_add_test(tc, exp_within_two_ulps);
    tcase_add_test(tc, cos_sin_within_two_ulps);
    tcase_add_test(tc, sin_is_accurate);
    tcase_add_test(tc, reference_agrees);
    tcase_add_test(tc, variates_do_not_depend_on_the_call);
    tcase_add_test(tc, many_variates_continue);
    tcase_add_test(tc, every_bit_of_seed_and_draw_counts);
    tcase_add_test(tc, case_R4_streams_are_independent);
    tcase_add_test(tc, kolmogorov_smirnov_uniform_and_normal);
    tcase_add_test(tc, kolmogorov_smirnov_gamma);
    tcase_add_test(tc, gamma_moments);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(random_suite)
