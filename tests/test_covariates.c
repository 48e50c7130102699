/* test_covariates.c: a million tokens of each distribution against its moments, within 4 standard errors, and against exact
 * distribution functions. */
#include "support/distribution.h"
#include "support/suite.h"
#include <math.h>

enum { D = 5, TOKENS = 1000, PROMPTS = 1000, COUNT = TOKENS * PROMPTS };

static double *draw_tokens(const linattn_sampler_options *options, size_t prompts) {
    linattn_sampler *sampler;
    linattn_batch *batch;
    double *tokens = malloc(prompts * (options->context + 1) * (options->dim + 1) * sizeof *tokens);
    ck_assert_ok(linattn_sampler_create(&sampler, options));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, prompts, 1));
    ck_assert_ok(linattn_batch_get_arrays(batch, tokens, NULL));
    linattn_sampler_destroy(sampler);
    linattn_batch_destroy(batch);
    return tokens;
}

static linattn_sampler_options options_of(int32_t covariates, double shape, double scale, size_t dim, size_t context) {
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = dim;
    o.context = context;
    o.seed = 2024;
    o.covariates = covariates;
    o.gamma_shape = shape;
    o.gamma_scale = scale;
    return o;
}

/* The mean of `count` numbers whose mean is `mean` and variance `variance` is within 4 standard errors. */
static void check_mean(const char *what, double sum, double count, double mean, double variance) {
    const double error = sqrt(variance / count), got = sum / count;
    ck_assert_msg(fabs(got - mean) <= 4 * error + 1e-12 * fabs(mean), "%s is %.10g, not %.10g +- %.2g", what, got, mean, error);
}

typedef struct sums {
    double x[D], xx[D][D], u[D], uu[D][D], u4[D], u22[D][D], r2, r4, next[D];
} sums;

static void add(sums *s, const double *x, const double *next) {
    double r2 = 0;
    for (int i = 0; i < D; i++) r2 += x[i] * x[i];
    s->r2 += r2;
    s->r4 += r2 * r2;
    for (int i = 0; i < D; i++) {
        const double u = r2 > 0 ? x[i] / sqrt(r2) : 0;
        s->x[i] += x[i];
        s->u[i] += u;
        s->u4[i] += u * u * u * u;
        s->next[i] += x[i] * next[i];
        for (int j = 0; j < i; j++) {
            const double v = r2 > 0 ? x[j] / sqrt(r2) : 0;
            s->xx[i][j] += x[i] * x[j];
            s->uu[i][j] += u * v;
            s->u22[i][j] += u * u * v * v;
        }
        s->xx[i][i] += x[i] * x[i];
        s->uu[i][i] += u * u;
    }
}

/* |x|^2 has the moments of k theta and directions are uniform: E u_i^2 = 1/d, E u_i^4 = 3/(d (d+2)), E u_i^2 u_j^2 = 1/(d (d+2)),
 * E u_i^6 = 15/(d (d+2) (d+4)), E u_i^8 = 105/(d (d+2) (d+4) (d+6)), E u_i^4 u_j^4 = 9/(the same). */
static void check_isotropic(int32_t covariates, double r2, double r4, double r6, double r8, double k, double theta) {
    const linattn_sampler_options o = options_of(covariates, k, theta, D, TOKENS - 1);
    double *tokens = draw_tokens(&o, PROMPTS);
    const double n = COUNT, d = D, d2 = d * (d + 2), d4 = d2 * (d + 4) * (d + 6);
    sums s = {0};
    for (size_t i = 0; i < COUNT; i++) add(&s, tokens + i * (D + 1), tokens + (i + 1) % COUNT * (D + 1));
    check_mean("E |x|^2", s.r2, n, r2, r4 - r2 * r2);
    check_mean("E |x|^4", s.r4, n, r4, r8 - r4 * r4);
    /* The fourth central moment gives the error of the variance, which is far below that of E |x|^4. */
    const double central = r8 - 4 * r6 * r2 + 6 * r4 * r2 * r2 - 3 * r2 * r2 * r2 * r2, variance = r4 - r2 * r2;
    check_mean("Var |x|^2", s.r4 - s.r2 * s.r2 / n, n, variance, fmax(central - variance * variance, 0) + 1e-20);
    for (int i = 0; i < D; i++) {
        check_mean("E x_i", s.x[i], n, 0, r2 / d);
        check_mean("E u_i", s.u[i], n, 0, 1 / d);
        check_mean("E u_i^2", s.uu[i][i], n, 1 / d, 3 / d2 - 1 / (d * d));
        check_mean("E u_i^4", s.u4[i], n, 3 / d2, 105 / d4 - 9 / (d2 * d2));
        check_mean("E x_i^2", s.xx[i][i], n, r2 / d, 3 * r4 / d2 - r2 * r2 / (d * d));
        check_mean("E x_i(t) x_i(t+1)", s.next[i], n, 0, r2 * r2 / (d * d));
        for (int j = 0; j < i; j++) {
            check_mean("E x_i x_j", s.xx[i][j], n, 0, r4 / d2);
            check_mean("E u_i u_j", s.uu[i][j], n, 0, 1 / d2);
            check_mean("E u_i^2 u_j^2", s.u22[i][j], n, 1 / d2, 9 / d4 - 1 / (d2 * d2));
        }
    }
    free(tokens);
}

/* Raw moments of Gamma(k, theta). */
static void check_gamma(int32_t covariates, double k, double theta) {
    const double r2 = k * theta, r4 = r2 * (k + 1) * theta, r6 = r4 * (k + 2) * theta, r8 = r6 * (k + 3) * theta;
    check_isotropic(covariates, r2, r4, r6, r8, k, theta);
}

START_TEST(normal_moments) { check_gamma(LINATTN_COVARIATES_NORMAL, D / 2.0, 2); } /* |x|^2 is a chi-square */
END_TEST
START_TEST(sphere_moments) { check_isotropic(LINATTN_COVARIATES_SPHERE, 1, 1, 1, 1, 1, 1); }
END_TEST
START_TEST(gamma_moments_published) { check_gamma(LINATTN_COVARIATES_GAMMA, 0.1, 10); }
END_TEST
/* x underflows where U^(1/(2k)) does: U < exp(-708 * 0.02) = 7e-7, too seldom to see. */
START_TEST(gamma_moments_heavy) { check_gamma(LINATTN_COVARIATES_GAMMA, 0.01, 100); }
END_TEST
START_TEST(gamma_moments_light) { check_gamma(LINATTN_COVARIATES_GAMMA, 7.5, 0.25); }
END_TEST

/* E x x^T = F F^T; the fourth moments give the errors: Var x_i x_j = S_ii S_jj + S_ij^2. */
START_TEST(rotated_moments) {
    static const double f[D * D] = {1, 0, 0, 0, 0.5, 0.25, 2, 0, 0, 0, -1, 0.5, 0.1, 0, 0, 0, 0, 3, 1, 0, 1, 1, 1, 1, 1};
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_ROTATED, 1, 1, D, TOKENS - 1);
    double s[D][D] = {{0}}, sum[D][D] = {{0}};
    o.covariate_factor = f;
    double *tokens = draw_tokens(&o, PROMPTS);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++) s[i][j] += f[i * D + k] * f[j * D + k];
    for (size_t t = 0; t < COUNT; t++)
        for (int i = 0; i < D; i++)
            for (int j = 0; j <= i; j++) sum[i][j] += tokens[t * (D + 1) + (size_t)i] * tokens[t * (D + 1) + (size_t)j];
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) check_mean("E x_i x_j", sum[i][j], COUNT, s[i][j], s[i][i] * s[j][j] + s[i][j] * s[i][j]);
    free(tokens);
}
END_TEST

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }
/* Of a chi-square with 5 degrees of freedom. */
static double chi5_cdf(double x) { return erf(sqrt(x / 2)) - sqrt(2 * x / acos(-1)) * exp(-x / 2) * (1 + x / 3); }
static double flat_cdf(double x) { return (x + 1) / 2; }

enum { SAMPLE = 100000 };

START_TEST(gamma_with_shape_half_dim_is_normal) {
    const linattn_sampler_options o = options_of(LINATTN_COVARIATES_GAMMA, 2.5, 2, D, 99);
    double *tokens = draw_tokens(&o, SAMPLE / 100), *x = malloc(SAMPLE * sizeof *x);
    for (int column = 0; column <= D; column++) { /* the last: |x|^2 */
        for (size_t t = 0; t < SAMPLE; t++) {
            const double *row = tokens + t * (D + 1);
            x[t] = 0;
            for (int j = 0; j < D; j++) x[t] += row[j] * row[j];
            if (column < D) x[t] = row[column];
        }
        const double p = ks_one_sample(x, SAMPLE, column < D ? normal_cdf : chi5_cdf);
        ck_assert_msg(p > 1e-3, "column %d: p = %g", column, p);
    }
    free(tokens);
    free(x);
}
END_TEST

/* Archimedes: on the sphere in three dimensions each coordinate is uniform on (-1, 1). In one, x = +-1 exactly. */
START_TEST(sphere_coordinates) {
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_SPHERE, 1, 1, 3, 99);
    double *tokens = draw_tokens(&o, SAMPLE / 100), *x = malloc(SAMPLE * sizeof *x), sum = 0;
    for (size_t t = 0; t < SAMPLE; t++) x[t] = tokens[4 * t + 1];
    ck_assert_double_gt(ks_one_sample(x, SAMPLE, flat_cdf), 1e-3);
    free(tokens);
    o.dim = 1;
    tokens = draw_tokens(&o, SAMPLE / 100);
    for (size_t t = 0; t < SAMPLE; t++) {
        ck_assert(fabs(tokens[2 * t]) == 1);
        sum += tokens[2 * t];
    }
    check_mean("E sign", sum, SAMPLE, 0, 1);
    free(tokens);
    free(x);
}
END_TEST

/* Every row equally often, a chi-square of 6 degrees of freedom (22.5 at 1e-3), and
 * every pair of neighbouring tokens, one of 48 (84.0). */
START_TEST(table_rows) {
    enum { ROWS = 7, CONTEXT = 99, EACH = CONTEXT + 1 };
    double table[ROWS * 2], seen[ROWS] = {0}, pairs[ROWS][ROWS] = {{0}}, chi = 0, chi_pairs = 0;
    for (int i = 0; i < ROWS; i++) {
        table[2 * i] = i;
        table[2 * i + 1] = i * i + 0.5;
    }
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_TABLE, 1, 1, 2, CONTEXT);
    o.covariate_table = table;
    o.table_rows = ROWS;
    double *tokens = draw_tokens(&o, SAMPLE / EACH);
    for (size_t t = 0; t < SAMPLE; t++) {
        const double *row = tokens + 3 * t;
        ck_assert(row[1] == row[0] * row[0] + 0.5);
        seen[(int)row[0]]++;
        if (t % EACH < CONTEXT) pairs[(int)row[0]][(int)row[3]]++;
    }
    for (int i = 0; i < ROWS; i++) chi += pow(seen[i] - SAMPLE / (double)ROWS, 2) / (SAMPLE / (double)ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            const double wanted = SAMPLE / (double)EACH * CONTEXT / (ROWS * ROWS);
            chi_pairs += pow(pairs[i][j] - wanted, 2) / wanted;
        }
    ck_assert_msg(chi < 22.5, "chi-square is %g", chi);
    ck_assert_msg(chi_pairs < 84.1, "chi-square of pairs is %g", chi_pairs);
    free(tokens);
}
END_TEST

/* Columns 1, 2, 4, 9 (mean 4, variance 9.5), the same times 1e300 and -1e-300. The caller's table may go. */
START_TEST(table_standardised) {
    enum { ROWS = 4, TABLE_D = 3 };
    const double size[TABLE_D] = {1, 1e300, -1e-300}, x[ROWS] = {1, 2, 4, 9};
    double *table = malloc(ROWS * TABLE_D * sizeof *table);
    for (int i = 0; i < ROWS * TABLE_D; i++) table[i] = x[i / TABLE_D] * size[i % TABLE_D];
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_TABLE, 1, 1, TABLE_D, 99);
    o.covariate_table = table;
    o.table_rows = ROWS;
    o.standardise = 1;
    linattn_sampler *sampler;
    linattn_batch *batch;
    double *tokens = malloc(100 * (TABLE_D + 1) * sizeof *tokens);
    int seen = 0;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    free(table);
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 1, 0));
    ck_assert_ok(linattn_batch_get_arrays(batch, tokens, NULL));
    for (int t = 0; t < 100; t++) {
        const double *row = tokens + t * (TABLE_D + 1);
        int k = 0;
        while (k < ROWS && !(fabs(row[0] - (x[k] - 4) / sqrt(9.5)) <= 1e-15)) k++;
        ck_assert_int_lt(k, ROWS);
        ck_assert(fabs(row[1] - row[0]) <= 1e-15 && fabs(row[2] + row[0]) <= 1e-15);
        seen |= 1 << k;
    }
    ck_assert_int_eq(seen, 15);
    free(tokens);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
}
END_TEST

/* d = 1: every response of a prompt is w x with one normal w. */
START_TEST(task_is_one_normal_weight) {
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_SPHERE, 1, 1, 1, 3);
    double *tokens = draw_tokens(&o, SAMPLE), *w = malloc(SAMPLE * sizeof *w);
    for (size_t b = 0; b < SAMPLE; b++) {
        const double *row = tokens + b * 8;
        w[b] = row[1] / row[0];
        ck_assert(row[3] / row[2] == w[b] && row[5] / row[4] == w[b]);
    }
    ck_assert_double_gt(ks_one_sample(w, SAMPLE, normal_cdf), 1e-3);
    free(tokens);
    free(w);
}
END_TEST

static Suite *covariates_suite(void) {
    Suite *suite = suite_create("covariates");
    TCase *tc = tcase_create("covariates");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, normal_moments);
    tcase_add_test(tc, sphere_moments);
    tcase_add_test(tc, gamma_moments_published);
    tcase_add_test(tc, gamma_moments_heavy);
    tcase_add_test(tc, gamma_moments_light);
    tcase_add_test(tc, rotated_moments);
    tcase_add_test(tc, gamma_with_shape_half_dim_is_normal);
    tcase_add_test(tc, sphere_coordinates);
    tcase_add_test(tc, table_rows);
    tcase_add_test(tc, table_standardised);
    tcase_add_test(tc, task_is_one_normal_weight);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(covariates_suite)
