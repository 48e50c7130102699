/* The best transformer of one layer: against closed forms, against prompts, and heads compared with it. */
#include "support/doubles.h"
#include "support/suite.h"

#include <linattn/baseline.h>
#include <math.h>

enum { D = 5, N = 20, PROMPTS = 20000 };

static const double SCALES[D] = {1, 1, 0.5, 0.25, 1};

/* U D and U D^-1, U some rotation and D = diag(SCALES). */
static double rotation[D * D], covariate_factor[D * D], task_factor[D * D];

static double uniform(uint64_t *state) { return (double)(int64_t)random_bits(state) * 0x1p-63; }

static void set_factors(void) {
    uint64_t state = 11;
    for (size_t i = 0; i < D; i++) { /* rows made orthonormal one after another */
        double *row = rotation + i * D, norm = 0;
        for (size_t j = 0; j < D; j++) row[j] = uniform(&state);
        for (size_t k = 0; k < i; k++) {
            double product = 0;
            for (size_t j = 0; j < D; j++) product += row[j] * rotation[k * D + j];
            for (size_t j = 0; j < D; j++) row[j] -= product * rotation[k * D + j];
        }
        for (size_t j = 0; j < D; j++) norm += row[j] * row[j];
        for (size_t j = 0; j < D; j++) row[j] /= sqrt(norm);
    }
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            covariate_factor[i * D + j] = rotation[i * D + j] * SCALES[j];
            task_factor[i * D + j] = rotation[i * D + j] / SCALES[j];
        }
}

static linattn_sampler_options options_of(int32_t covariates) {
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = D;
    o.context = N;
    o.covariates = covariates;
    o.covariate_factor = covariate_factor;
    return o;
}

static linattn_sampler *sampler_of(const linattn_sampler_options *o) {
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_create(&sampler, o));
    return sampler;
}

/* Q = -U diag(q) U^T. */
static void check_Q(const double *Q, const double *q) {
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double wanted = 0;
            for (size_t e = 0; e < D; e++) wanted -= rotation[i * D + e] * q[e] * rotation[j * D + e];
            ck_assert_double_eq_tol(Q[i * D + j], wanted, 1e-12);
        }
}

/* Ahn et al., arXiv:2306.00297: with w = U D^-1 w0 the loss is d (d + 1) / (n + d + 1). */
START_TEST(rotated_covariates_with_inverse_weights) {
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_ROTATED);
    double Q[D * D], loss, q[D];
    o.task_factor = task_factor;
    linattn_sampler *sampler = sampler_of(&o);
    ck_assert_ok(linattn_theory_one_layer(sampler, Q, &loss));
    ck_assert_double_eq_tol(loss, 30.0 / 26, 1e-13);
    for (size_t e = 0; e < D; e++) q[e] = 20.0 / 26 / (SCALES[e] * SCALES[e]);
    check_Q(Q, q);
    ck_assert_ok(linattn_theory_one_layer(sampler, NULL, &loss));
    ck_assert_ok(linattn_theory_one_layer(sampler, Q, NULL));
    linattn_sampler_destroy(sampler);
}
END_TEST

/* With w ~ N(0, I) and eigenvalues lam of the covariance: sum of lam - lam^2 q, q = 1 / ((n + 1) lam / n + tr / n). */
START_TEST(rotated_covariates_with_normal_weights) {
    const linattn_sampler_options o = options_of(LINATTN_COVARIATES_ROTATED);
    double Q[D * D], loss, q[D], trace = 0, wanted = 0;
    linattn_sampler *sampler = sampler_of(&o);
    for (size_t e = 0; e < D; e++) trace += SCALES[e] * SCALES[e];
    for (size_t e = 0; e < D; e++) {
        const double lam = SCALES[e] * SCALES[e];
        q[e] = 1 / ((N + 1) * lam / N + trace / N);
        wanted += lam - lam * lam * q[e];
    }
    ck_assert_ok(linattn_theory_one_layer(sampler, Q, &loss));
    ck_assert_double_eq_tol(loss, wanted, 1e-13);
    check_Q(Q, q);
    linattn_sampler_destroy(sampler);
}
END_TEST

/* Gamma covariates of any scale: Q times the scale is the same, and the loss over it. With k = 1, d = 2, n = 5: rho = 1, so with
 * Omega = I a = 6/5, b = 2/5, and Q scale = -(2/(k 1)) / (8/5) = -1.25. */
START_TEST(any_scale_will_do) {
    static const double scales[] = {1, 1e155, 1e-161, 1e-170, 1e300};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        linattn_sampler_options o = options_of(LINATTN_COVARIATES_GAMMA);
        double Q[4], loss;
        o.dim = 2;
        o.context = 5;
        o.gamma_scale = scales[i];
        linattn_sampler *sampler = sampler_of(&o);
        ck_assert_ok(linattn_theory_one_layer(sampler, Q, &loss));
        ck_assert_double_eq_tol(Q[0] * scales[i], -1.25, 1e-13);
        ck_assert_double_eq_tol(Q[1] * scales[i], 0, 1e-13);
        ck_assert_double_eq_tol(loss / scales[i], 2 * 0.5 * (1 - 0.625), 1e-13);
        linattn_sampler_destroy(sampler);
    }
}
END_TEST

/* Samplers of all kinds that theory knows. */
static linattn_sampler_options varied(int which) {
    linattn_sampler_options o = options_of(which % 4);
    o.gamma_shape = 0.7;
    o.gamma_scale = 3;
    o.task_factor = which & 1 ? task_factor : NULL;
    if (which >= 4) {
        o.context = 3;
        o.noise_std = 0.8;
        o.noisy_target = which & 1;
        o.task = LINATTN_TASK_SPARSE_LINEAR;
        o.sparsity = 2;
    }
    return o;
}

typedef struct {
    double sum, squares;
} tally;

static void count(tally *t, double x) {
    t->sum += x;
    t->squares += x * x;
}

/* The mean is `wanted` within 5 standard errors. */
static void check_mean(const tally *t, double wanted) {
    const double mean = t->sum / PROMPTS, variance = t->squares / PROMPTS - mean * mean;
    ck_assert_double_eq_tol(mean, wanted, 5 * sqrt(variance / PROMPTS));
}

/* On prompts: the mean squared error is what theory tells, and its derivatives with respect to entries of Q vanish. */
START_TEST(prompts_agree) {
    static double tokens[PROMPTS * (N + 1) * (D + 1)], targets[PROMPTS];
    const linattn_sampler_options o = varied(_i);
    linattn_sampler *sampler = sampler_of(&o);
    linattn_batch *batch;
    double Q[D * D], loss;
    tally errors = {0}, slopes[D * D] = {0};
    ck_assert_ok(linattn_theory_one_layer(sampler, Q, &loss));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, PROMPTS, 0));
    ck_assert_ok(linattn_batch_get_arrays(batch, tokens, targets));
    for (size_t b = 0; b < PROMPTS; b++) {
        const double *prompt = tokens + b * (o.context + 1) * (D + 1), *query = prompt + o.context * (D + 1);
        double c[D] = {0}, prediction = 0;
        for (size_t t = 0; t < o.context; t++)
            for (size_t j = 0; j < D; j++) c[j] += prompt[t * (D + 1) + j] * prompt[t * (D + 1) + D] / (double)o.context;
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++) prediction -= query[i] * Q[i * D + j] * c[j];
        const double miss = prediction - targets[b];
        count(&errors, miss * miss);
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++) count(&slopes[i * D + j], miss * query[i] * c[j]);
    }
    check_mean(&errors, loss);
    for (size_t i = 0; i < D * D; i++) check_mean(&slopes[i], 0);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
}
END_TEST

/* ---- Comparison ---- */

static linattn_theory_distance compare(const linattn_model_options *shape, const linattn_sampler *sampler, const double *theta,
                                       size_t layer, size_t head) {
    linattn_theory_distance out = {.struct_size = sizeof out};
    linattn_model *model;
    ck_assert_ok(linattn_model_create(&model, shape));
    ck_assert_ok(linattn_theory_compare(model, sampler, theta, layer, head, &out));
    linattn_model_destroy(model);
    return out;
}

static linattn_model_options shape_of(size_t layers, size_t heads, int32_t form) {
    linattn_model_options o;
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = D;
    o.layers = layers;
    o.heads = heads;
    o.form = form;
    return o;
}

START_TEST(a_multiple_of_theory_is_told) {
    const linattn_sampler_options o = options_of(LINATTN_COVARIATES_ROTATED);
    linattn_sampler *sampler = sampler_of(&o);
    static double theta[2 * 2 * 2 * D * D]; /* two layers of two heads; the last head is set */
    double *P = theta + 6 * D * D, *Q = P + D * D, norm = 0;
    ck_assert_ok(linattn_theory_one_layer(sampler, Q, NULL));
    for (size_t i = 0; i < D * D; i++) norm += Q[i] * Q[i];
    for (size_t i = 0; i < D * D; i++) Q[i] *= 3;
    for (size_t i = 0; i < D; i++) P[i * (D + 1)] = -0.5;
    const linattn_model_options shape = shape_of(2, 2, LINATTN_FORM_BLOCK);
    linattn_theory_distance distance = compare(&shape, sampler, theta, 1, 1);
    ck_assert_double_eq_tol(distance.q_error, 2, 1e-13);
    ck_assert_double_eq_tol(distance.q_scale, 3, 1e-13);
    ck_assert_double_eq_tol(distance.q_distance, 0, 1e-13);
    ck_assert_double_eq_tol(distance.p_scale, -0.5, 1e-15);
    ck_assert_double_eq(distance.p_distance, 0);
    ck_assert_double_eq(distance.outside, 0);
    /* Q + E with E antisymmetric is at a right angle to the symmetric Q. */
    Q[1] += 3 * sqrt(norm) / sqrt(2);
    Q[D] -= 3 * sqrt(norm) / sqrt(2);
    P[1] = 0.5 * sqrt(D);
    distance = compare(&shape, sampler, theta, 1, 1);
    ck_assert_double_eq_tol(distance.q_error, sqrt(4 + 9), 1e-12);
    ck_assert_double_eq_tol(distance.q_scale, 3, 1e-12);
    ck_assert_double_eq_tol(distance.q_distance, sqrt(0.5), 1e-12);
    ck_assert_double_eq_tol(distance.p_distance, sqrt(0.5), 1e-12);
    distance = compare(&shape, sampler, theta, 0, 0); /* all 0 */
    ck_assert_double_eq(distance.q_error, 1);
    ck_assert_double_eq(distance.q_scale, 0);
    ck_assert(isnan(distance.q_distance) && isnan(distance.p_distance));
    linattn_sampler_destroy(sampler);
}
END_TEST

/* Full form: P's corner scales Q, and what block form has not is told; the same with Q = W_Q^T W_K, W_Q the identity. */
START_TEST(full_form_and_factors) {
    enum { K = D + 1 };
    const linattn_sampler_options o = options_of(LINATTN_COVARIATES_ROTATED);
    linattn_sampler *sampler = sampler_of(&o);
    double best[D * D], theta[3 * K * K] = {0}, squares = 0;
    double *P = theta, *W_Q = theta + K * K, *Q = theta + (_i ? 2 : 1) * K * K;
    ck_assert_ok(linattn_theory_one_layer(sampler, best, NULL));
    for (size_t i = 0; _i && i < K; i++) W_Q[i * (K + 1)] = 1;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            Q[i * K + j] = best[i * D + j] / 4;
            squares += Q[i * K + j] * Q[i * K + j];
        }
    P[K * K - 1] = 2;
    P[D] = 3;     /* a column that block form has not */
    Q[D * K] = 4; /* a row */
    linattn_model_options shape = shape_of(1, 1, LINATTN_FORM_FULL);
    shape.qk_rank = _i ? K : 0;
    const linattn_theory_distance distance = compare(&shape, sampler, theta, 0, 0);
    ck_assert_double_eq_tol(distance.q_error, 0.5, 1e-13);
    ck_assert_double_eq_tol(distance.q_scale, 0.5, 1e-13);
    ck_assert_double_eq_tol(distance.q_distance, 0, 1e-13);
    ck_assert_double_eq_tol(distance.outside, 5 / sqrt(squares + 4 + 25), 1e-13);
    linattn_sampler_destroy(sampler);
}
END_TEST

/* ---- Refusals ---- */

static int fill(uint64_t draw, size_t first, size_t count, double *tokens, double *targets, void *user) {
    (void)draw, (void)first, (void)count, (void)tokens, (void)targets, (void)user;
    return LINATTN_STOP;
}

/* o NULL: a custom sampler. */
static void refuse(const linattn_sampler_options *o, int status, const char *text) {
    linattn_sampler *sampler = o ? sampler_of(o) : NULL;
    if (!o) ck_assert_ok(linattn_sampler_create_custom(&sampler, D, N, fill, NULL));
    double Q[D * D] = {7}, loss = 7;
    ck_assert_status(linattn_theory_one_layer(sampler, Q, &loss), status, text);
    ck_assert_double_eq(Q[0], 7);
    ck_assert_double_eq(loss, 7);
    linattn_sampler_destroy(sampler);
}

START_TEST(what_theory_does_not_know_is_refused) {
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_NORMAL);
    double singular[D * D] = {1}, huge[D * D] = {1e200};
    o.task = LINATTN_TASK_SINE;
    refuse(&o, LINATTN_EUNSUPPORTED, "task is 2");
    o = options_of(LINATTN_COVARIATES_ROTATED);
    o.covariate_factor = singular;
    refuse(&o, LINATTN_EDEGENERATE, "covariate_factor has rank 1 of 5");
    memset(singular, 0, sizeof singular); /* no longer singular, but so small that Q, which goes with its square, is no double */
    for (size_t i = 0; i < D; i++) singular[i * (D + 1)] = 1e-170;
    refuse(&o, LINATTN_ENONFINITE, "Q[");
    o = options_of(LINATTN_COVARIATES_NORMAL);
    o.task_factor = huge;
    refuse(&o, LINATTN_ENONFINITE, "loss");
    o = options_of(LINATTN_COVARIATES_TABLE);
    o.covariate_table = huge;
    o.table_rows = D;
    refuse(&o, LINATTN_EUNSUPPORTED, "covariates are 4");
    refuse(NULL, LINATTN_EUNSUPPORTED, "function of the caller's");
    ck_assert_status(linattn_theory_one_layer(NULL, NULL, NULL), LINATTN_EINVAL, "sampler is NULL");
}
END_TEST

START_TEST(bad_comparisons_are_refused) {
    linattn_sampler_options o = options_of(LINATTN_COVARIATES_NORMAL);
    const linattn_model_options shape = shape_of(1, 1, LINATTN_FORM_BLOCK);
    linattn_sampler *sampler = sampler_of(&o), *other;
    linattn_model *model;
    linattn_theory_distance out = {.struct_size = sizeof out, .q_error = 7};
    double theta[2 * D * D] = {0};
    o.dim = 4;
    other = sampler_of(&o);
    ck_assert_ok(linattn_model_create(&model, &shape));
    ck_assert_status(linattn_theory_compare(NULL, sampler, theta, 0, 0, &out), LINATTN_EINVAL, "model is NULL");
    ck_assert_status(linattn_theory_compare(model, NULL, theta, 0, 0, &out), LINATTN_EINVAL, "sampler is NULL");
    ck_assert_status(linattn_theory_compare(model, sampler, NULL, 0, 0, &out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_theory_compare(model, sampler, theta, 1, 0, &out), LINATTN_EINVAL, "layer is 1");
    ck_assert_status(linattn_theory_compare(model, sampler, theta, 0, 1, &out), LINATTN_EINVAL, "head is 1");
    ck_assert_status(linattn_theory_compare(model, sampler, theta, 0, 0, NULL), LINATTN_EINVAL, "linattn_theory_distance");
    ck_assert_status(linattn_theory_compare(model, other, theta, 0, 0, &out), LINATTN_EMISMATCH, "dim 4");
    static const double nothing[D * D];
    o.dim = D;
    o.task_factor = nothing;
    linattn_sampler_destroy(other);
    other = sampler_of(&o);
    ck_assert_status(linattn_theory_compare(model, other, theta, 0, 0, &out), LINATTN_EDEGENERATE, "Q is 0");
    theta[3] = INFINITY;
    ck_assert_status(linattn_theory_compare(model, sampler, theta, 0, 0, &out), LINATTN_ENONFINITE, "theta[3] is inf");
    ck_assert_double_eq(out.q_error, 7);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
    linattn_sampler_destroy(other);
}
END_TEST

static Suite *theory_suite(void) {
    Suite *suite = suite_create("theory");
    TCase *tc = tcase_create("theory");
    tcase_set_timeout(tc, 600);
    tcase_add_unchecked_fixture(tc, set_factors, NULL);
    tcase_add_test(tc, rotated_covariates_with_inverse_weights);
    tcase_add_test(tc, rotated_covariates_with_normal_weights);
    tcase_add_test(tc, any_scale_will_do);
    tcase_add_loop_test(tc, prompts_agree, 0, 8);
    tcase_add_test(tc, a_multiple_of_theory_is_told);
    tcase_add_loop_test(tc, full_form_and_factors, 0, 2);
    tcase_add_test(tc, what_theory_does_not_know_is_refused);
    tcase_add_test(tc, bad_comparisons_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(theory_suite)
