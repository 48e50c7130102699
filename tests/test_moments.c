/* test_moments.c: drawing C_0 directly against drawing tokens and summing. */
#include "random/random.h"
#include "support/distribution.h"
#include "support/suite.h"
#include <math.h>

enum { MAX_D = 5, MAX_ENTRIES = (MAX_D + 1) * (MAX_D + 1), SAMPLE = 20000 };

static const double F[MAX_D * MAX_D] = {1, 0, 0, 0, 0.5, 0.25, 2, 0, 0, 0, -1, 0.5, 0.1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1};
static const double G[MAX_D * MAX_D] = {1, 0.5, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 1, 0, 0, 0.5};

typedef struct setting {
    const char *name;
    size_t context, dim;
    int32_t covariates;
    double noise;
    int32_t noisy_target;
    int task;
} setting;

static const setting SETTINGS[] = {
    {"setting 1", 20, 5, LINATTN_COVARIATES_NORMAL, 0, 0, 0},
    {"setting 2, n = d", 5, 5, LINATTN_COVARIATES_NORMAL, 0, 0, 0},
    {"n < d", 2, 5, LINATTN_COVARIATES_NORMAL, 0, 0, 0},
    {"n < d with noise", 3, 5, LINATTN_COVARIATES_NORMAL, 0.7, 1, 0},
    {"noise", 20, 5, LINATTN_COVARIATES_NORMAL, 0.7, 1, 0},
    {"noise beyond the span has one dimension", 4, 3, LINATTN_COVARIATES_NORMAL, 2, 0, 0},
    {"one token, one covariate", 1, 1, LINATTN_COVARIATES_NORMAL, 0.5, 0, 0},
    {"one covariate", 7, 1, LINATTN_COVARIATES_NORMAL, 0.5, 1, 0},
    {"rotated, task, noise", 9, 5, LINATTN_COVARIATES_ROTATED, 0.3, 1, 1},
    {"rotated, n < d", 3, 5, LINATTN_COVARIATES_ROTATED, 0.3, 0, 1},
    {"gamma with k = d/2", 8, 5, LINATTN_COVARIATES_GAMMA, 0, 0, 0},
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static linattn_batch *draw(const setting *s, int32_t kind, uint64_t seed, size_t prompts) {
    linattn_sampler_options o;
    linattn_sampler *sampler;
    linattn_batch *batch;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = s->dim;
    o.context = s->context;
    o.seed = seed;
    o.kind = kind;
    o.covariates = s->covariates;
    o.gamma_shape = (double)s->dim / 2;
    o.gamma_scale = 0.75;
    o.noise_std = s->noise;
    o.noisy_target = s->noisy_target;
    o.covariate_factor = F;
    o.task_factor = s->task ? G : NULL;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, prompts, 0));
    linattn_sampler_destroy(sampler);
    return batch;
}

static double *moments_of(const linattn_batch *batch) {
    const size_t width = linattn_batch_dim(batch) + 1;
    double *moments = malloc(linattn_batch_prompts(batch) * width * width * sizeof *moments);
    ck_assert_ok(linattn_batch_get_moments(batch, moments, NULL));
    return moments;
}

/* Means of two samples (count, stride), of x or x^2, differ by less than 4 standard errors. */
static void check_means(const char *name, size_t entry, int power, const double *a, const double *b, size_t stride) {
    double sum[2] = {0}, square[2] = {0};
    for (size_t i = 0; i < SAMPLE; i++)
        for (int k = 0; k < 2; k++) {
            const double x = (k ? b : a)[i * stride], y = power == 2 ? x * x : x;
            sum[k] += y / SAMPLE;
            square[k] += y * y / SAMPLE;
        }
    const double error = sqrt((square[0] - sum[0] * sum[0] + square[1] - sum[1] * sum[1]) / SAMPLE);
    ck_assert_msg(fabs(sum[0] - sum[1]) <= 4 * error + 1e-12, "%s, entry %zu, power %d: %g and %g +- %g", name, entry, power,
                  sum[0], sum[1], error);
}

static void check_distributions(const char *name, size_t entry, const double *a, const double *b, size_t stride) {
    static double x[SAMPLE], y[SAMPLE];
    for (size_t i = 0; i < SAMPLE; i++) {
        x[i] = a[i * stride];
        y[i] = b[i * stride];
    }
    const double p = ks_two_sample(x, SAMPLE, y, SAMPLE);
    ck_assert_msg(p > 1e-4, "%s, entry %zu: p = %g", name, entry, p);
}

START_TEST(moments_equal_tokens_in_distribution) {
    const setting *s = &SETTINGS[_i];
    const size_t entries = (s->dim + 1) * (s->dim + 1);
    linattn_batch *direct = draw(s, LINATTN_BATCH_MOMENTS, 31, SAMPLE), *summed = draw(s, LINATTN_BATCH_TOKENS, 32, SAMPLE);
    double *a = moments_of(direct), *b = moments_of(summed), *mixed = malloc(2 * SAMPLE * sizeof *mixed);
    for (size_t e = 0; e < entries; e++) {
        check_means(s->name, e, 1, a + e, b + e, entries);
        check_means(s->name, e, 2, a + e, b + e, entries);
        check_distributions(s->name, e, a + e, b + e, entries);
    }
    /* Jointly: random combinations of all entries. */
    for (uint32_t k = 0; k < 10; k++) {
        double weight[MAX_ENTRIES];
        linattn__stream stream;
        linattn__stream_open(&stream, 99, 0, LINATTN__PURPOSE_RESAMPLING);
        linattn__random_normals(&stream, 0, k, 0, entries, weight);
        for (size_t i = 0; i < SAMPLE; i++) {
            mixed[i] = mixed[SAMPLE + i] = 0;
            for (size_t e = 0; e < entries; e++) {
                mixed[i] += weight[e] * a[i * entries + e];
                mixed[SAMPLE + i] += weight[e] * b[i * entries + e];
            }
        }
        check_means(s->name, 100 + k, 1, mixed, mixed + SAMPLE, 1);
        check_means(s->name, 100 + k, 2, mixed, mixed + SAMPLE, 1);
        check_distributions(s->name, 100 + k, mixed, mixed + SAMPLE, 1);
    }
    free(mixed);
    free(a);
    free(b);
    linattn_batch_destroy(direct);
    linattn_batch_destroy(summed);
}
END_TEST

/* (prediction - target)^2 of a two-layer model away from its initialisation. */
static void losses(const linattn_batch *batch, double *loss) {
    linattn_model_options o;
    linattn_model *model;
    static double theta[4 * MAX_D * MAX_D], targets[SAMPLE];
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = linattn_batch_dim(batch);
    o.layers = 2;
    o.init_std = 0.3;
    ck_assert_ok(linattn_model_create(&model, &o));
    ck_assert_ok(linattn_model_init_parameters(model, 5, theta));
    ck_assert_ok(linattn_model_predict(model, batch, theta, loss));
    ck_assert_ok(linattn_batch_get_arrays(batch, NULL, targets));
    for (size_t i = 0; i < SAMPLE; i++) loss[i] = (loss[i] - targets[i]) * (loss[i] - targets[i]);
    linattn_model_destroy(model);
}

START_TEST(losses_equal_in_distribution) {
    static double a[SAMPLE], b[SAMPLE];
    const setting *s = &SETTINGS[_i];
    linattn_batch *direct = draw(s, LINATTN_BATCH_MOMENTS, 41, SAMPLE), *summed = draw(s, LINATTN_BATCH_TOKENS, 42, SAMPLE);
    losses(direct, a);
    losses(summed, b);
    check_means(s->name, 0, 1, a, b, 1);
    check_distributions(s->name, 0, a, b, 1);
    linattn_batch_destroy(direct);
    linattn_batch_destroy(summed);
}
END_TEST

/* Query and target are those of the same prompt in token mode. */
START_TEST(query_and_target_are_those_of_tokens) {
    enum { PROMPTS = 21 };
    const setting *s = &SETTINGS[_i];
    double query[2][PROMPTS * (MAX_D + 1)], target[2][PROMPTS];
    for (int kind = 0; kind < 2; kind++) {
        linattn_batch *batch = draw(s, kind, 51, PROMPTS);
        ck_assert_ok(linattn_batch_get_moments(batch, NULL, query[kind]));
        ck_assert_ok(linattn_batch_get_arrays(batch, NULL, target[kind]));
        linattn_batch_destroy(batch);
    }
    ck_assert(memcmp(query[0], query[1], PROMPTS * (s->dim + 1) * sizeof(double)) == 0);
    ck_assert(memcmp(target[0], target[1], sizeof target[0]) == 0);
}
END_TEST

/* Without noise C_xy = C_xx w and C_yy = w^T C_xx w, w being the prompt's weights. */
START_TEST(without_noise_responses_follow_the_task) {
    enum { PROMPTS = 21 };
    setting s = SETTINGS[_i];
    const size_t d = s.dim, width = d + 1;
    linattn__stream stream;
    s.noise = 0;
    s.task = 0;
    linattn_batch *batch = draw(&s, LINATTN_BATCH_MOMENTS, 61, PROMPTS);
    double *moments = moments_of(batch);
    linattn__stream_open(&stream, 61, 0, LINATTN_STREAM_TRAINING);
    for (uint32_t b = 0; b < PROMPTS; b++) {
        const double *c = moments + b * width * width;
        double w[MAX_D], largest = 0, square = 0;
        linattn__random_normals(&stream, LINATTN__KIND_TASK, b, 0, d, w);
        for (size_t i = 0; i < width * width; i++) largest = fmax(largest, fabs(c[i]));
        for (size_t i = 0; i < d; i++) {
            double cross = 0;
            for (size_t j = 0; j < d; j++) cross += c[i * width + j] * w[j];
            ck_assert_msg(fabs(cross - c[d * width + i]) <= 1e-13 * largest, "%s: %g, not %g", s.name, c[d * width + i], cross);
            square += w[i] * cross;
        }
        ck_assert_msg(fabs(square - c[d * width + d]) <= 1e-13 * largest, "%s: %g, not %g", s.name, c[d * width + d], square);
    }
    free(moments);
    linattn_batch_destroy(batch);
}
END_TEST

/* C_xx ~ Wishart_d(I, n): E C_ij = n I_ij, Var C_ij = n (1 + I_ij); larger d than the rest of this file. */
START_TEST(wishart_moments) {
    static const size_t shapes[][2] = {{40, 40}, {3, 40}, {500, 12}, {1, 7}};
    for (size_t k = 0; k < 4; k++) {
        enum { PROMPTS = 4000 };
        const size_t n = shapes[k][0], d = shapes[k][1], width = d + 1;
        const setting s = {"Wishart", n, d, LINATTN_COVARIATES_NORMAL, 0, 0, 0};
        linattn_batch *batch = draw(&s, LINATTN_BATCH_MOMENTS, 71, PROMPTS);
        double *moments = moments_of(batch), chi = 0;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++) {
                const double mean = i == j ? (double)n : 0, error = sqrt((double)n * (i == j ? 2 : 1) / PROMPTS);
                double sum = 0;
                for (size_t b = 0; b < PROMPTS; b++) sum += moments[(b * width + i) * width + j] / PROMPTS;
                ck_assert_msg(fabs(sum - mean) <= 4.5 * error, "n %zu, d %zu: C[%zu][%zu] has mean %g", n, d, i, j, sum);
                chi += (sum - mean) * (sum - mean) / (error * error);
            }
        /* Together too: entries are uncorrelated, so this is nearly a chi-square of d (d+1)/2. */
        const double degrees = (double)(d * (d + 1)) / 2;
        ck_assert_msg(fabs(chi - degrees) <= 4 * sqrt(2 * degrees), "n %zu, d %zu: chi-square %g of %g", n, d, chi, degrees);
        free(moments);
        linattn_batch_destroy(batch);
    }
}
END_TEST

static Suite *moments_suite(void) {
    Suite *suite = suite_create("moments");
    TCase *tc = tcase_create("moments");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, moments_equal_tokens_in_distribution, 0, SETTING_COUNT);
    tcase_add_loop_test(tc, losses_equal_in_distribution, 0, SETTING_COUNT);
    tcase_add_loop_test(tc, query_and_target_are_those_of_tokens, 0, SETTING_COUNT);
    tcase_add_loop_test(tc, without_noise_responses_follow_the_task, 0, SETTING_COUNT);
    tcase_add_test(tc, wishart_moments);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(moments_suite)
