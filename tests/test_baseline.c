/* Baselines against plain elimination, against the transformers that they are, and what is refused. */
#include "support/suite.h"

#include <linattn/baseline.h>
#include <math.h>

enum { PROMPTS = 40, MAX_DIM = 8, MAX_CONTEXT = 30, STEPS = 3 };

static double predictions[PROMPTS], tokens[PROMPTS * (MAX_CONTEXT + 1) * (MAX_DIM + 1)], targets[PROMPTS];

static const double FACTOR[] = {0.5, 0.2, -0.3, 0.1, 1.5, 0.4, 0.2, -0.6, 0.9}, RATES[STEPS] = {0.3, 0.7, -0.1};

static linattn_batch *make_batch(size_t dim, size_t context, double noise, int32_t kind) {
    linattn_sampler_options o;
    linattn_sampler *sampler;
    linattn_batch *batch;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = dim;
    o.context = context;
    o.noise_std = noise;
    o.kind = kind;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, PROMPTS, 3));
    if (kind == LINATTN_BATCH_TOKENS) ck_assert_ok(linattn_batch_get_arrays(batch, tokens, targets));
    linattn_sampler_destroy(sampler);
    return batch;
}

static linattn_baseline_options options_of(int32_t baseline) {
    linattn_baseline_options o;
    ck_assert_ok(linattn_baseline_options_init(&o, sizeof o));
    o.baseline = baseline;
    o.rates = RATES;
    return o;
}

/* A x = b by Gaussian elimination with pivots, A (count, count), both overwritten, x in b. */
static void eliminate(long double *A, long double *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t pivot = i;
        for (size_t r = i; r < count; r++)
            if (fabsl(A[r * count + i]) > fabsl(A[pivot * count + i])) pivot = r;
        for (size_t j = 0; j < count; j++) {
            const long double kept = A[i * count + j];
            A[i * count + j] = A[pivot * count + j];
            A[pivot * count + j] = kept;
        }
        const long double kept = b[i];
        b[i] = b[pivot];
        b[pivot] = kept;
        for (size_t r = i + 1; r < count; r++) {
            const long double share = A[r * count + i] / A[i * count + i];
            for (size_t j = i; j < count; j++) A[r * count + j] -= share * A[i * count + j];
            b[r] -= share * b[i];
        }
    }
    for (size_t i = count; i-- > 0;) {
        for (size_t j = i + 1; j < count; j++) b[i] -= A[i * count + j] * b[j];
        b[i] /= A[i * count + i];
    }
}

/* The same prediction by duality: x_query^T K a with K = G G^T and (X K X^T + lambda I) a = y, n <= d or lambda > 0. */
static double dual_prediction(size_t b, size_t d, size_t n, const double *G, double lambda) {
    static long double gram[MAX_CONTEXT * MAX_CONTEXT], a[MAX_CONTEXT];
    static double features[(MAX_CONTEXT + 1) * MAX_DIM];
    const double *prompt = tokens + b * (n + 1) * (d + 1);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j < d; j++) {
            features[i * d + j] = G ? 0 : prompt[i * (d + 1) + j];
            for (size_t k = 0; G && k < d; k++) features[i * d + j] += G[k * d + j] * prompt[i * (d + 1) + k];
        }
    for (size_t i = 0; i < n; i++) {
        a[i] = prompt[i * (d + 1) + d];
        for (size_t k = 0; k < n; k++) {
            gram[i * n + k] = i == k ? lambda : 0;
            for (size_t j = 0; j < d; j++) gram[i * n + k] += (long double)features[i * d + j] * features[k * d + j];
        }
    }
    eliminate(gram, a, n);
    long double prediction = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) prediction += a[i] * features[i * d + j] * features[n * d + j];
    return (double)prediction;
}

START_TEST(least_squares_finds_noiseless_weights) {
    linattn_batch *batch = make_batch(5, 20, 0, LINATTN_BATCH_TOKENS);
    const linattn_baseline_options o = options_of(LINATTN_BASELINE_LEAST_SQUARES);
    ck_assert_ok(linattn_baseline_predict(batch, &o, predictions));
    for (size_t b = 0; b < PROMPTS; b++) ck_assert_double_eq_tol(predictions[b], targets[b], 1e-12);
    linattn_batch_destroy(batch);
}
END_TEST

/* Fewer tokens than covariates: the shortest weights; more: ridge; with and without a factor. */
START_TEST(least_squares_and_ridge_agree_with_their_dual) {
    static const struct {
        size_t dim, context;
        double lambda;
        int factor;
    } cases[] = {{8, 3, 0, 0}, {8, 8, 0, 0},    {5, 20, 0.25, 0}, {1, 1, 0, 0},
                 {1, 1, 2, 0}, {3, 10, 0.5, 1}, {3, 2, 0, 1},     {8, 3, 1e-6, 0}};
    linattn_baseline_options o = options_of(LINATTN_BASELINE_LEAST_SQUARES);
    const size_t d = cases[_i].dim, n = cases[_i].context;
    linattn_batch *batch = make_batch(d, n, 0.5, LINATTN_BATCH_TOKENS);
    o.lambda = cases[_i].lambda;
    o.task_factor = cases[_i].factor ? FACTOR : NULL;
    ck_assert_ok(linattn_baseline_predict(batch, &o, predictions));
    for (size_t b = 0; b < PROMPTS; b++) {
        const double wanted = dual_prediction(b, d, n, o.task_factor, o.lambda);
        ck_assert_double_eq_tol(predictions[b], wanted, 1e-9 * (1 + fabs(wanted)));
    }
    linattn_batch_destroy(batch);
}
END_TEST

/* A linear transformer whose layers have P_x = 0 and Q_x = -rate M is gradient descent, whatever kind the batch is of. */
START_TEST(gradient_descent_is_a_transformer) {
    const int with_factor = _i & 1;
    linattn_batch *batch = make_batch(3, 7, 0.5, _i & 2 ? LINATTN_BATCH_MOMENTS : LINATTN_BATCH_TOKENS);
    linattn_model_options shape;
    linattn_model *model;
    double theta[STEPS * 2 * 9] = {0}, wanted[PROMPTS];
    ck_assert_ok(linattn_model_options_init(&shape, sizeof shape));
    shape.dim = 3;
    shape.layers = STEPS;
    ck_assert_ok(linattn_model_create(&model, &shape));
    for (size_t l = 0; l < STEPS; l++)
        for (size_t i = 0; i < 9; i++) theta[18 * l + 9 + i] = -RATES[l] * (with_factor ? FACTOR[i] : i % 4 == 0);
    ck_assert_ok(linattn_model_predict(model, batch, theta, wanted));
    linattn_baseline_options o = options_of(LINATTN_BASELINE_GRADIENT_DESCENT);
    o.steps = STEPS;
    o.preconditioner = with_factor ? FACTOR : NULL;
    ck_assert_ok(linattn_baseline_predict(batch, &o, predictions));
    for (size_t b = 0; b < PROMPTS; b++) ck_assert_double_eq_tol(predictions[b], wanted[b], 1e-12 * (1 + fabs(wanted[b])));
    linattn_model_destroy(model);
    linattn_batch_destroy(batch);
}
END_TEST

START_TEST(gradient_descent_ends_at_least_squares) {
    enum { MANY = 4000 };
    static double rates[MANY], wanted[PROMPTS];
    linattn_batch *batch = make_batch(2, 30, 0.5, LINATTN_BATCH_TOKENS);
    linattn_baseline_options o = options_of(LINATTN_BASELINE_LEAST_SQUARES);
    ck_assert_ok(linattn_baseline_predict(batch, &o, wanted));
    for (size_t t = 0; t < MANY; t++) rates[t] = 0.3;
    o = options_of(LINATTN_BASELINE_GRADIENT_DESCENT);
    o.steps = MANY;
    o.rates = rates;
    ck_assert_ok(linattn_baseline_predict(batch, &o, predictions));
    for (size_t b = 0; b < PROMPTS; b++) ck_assert_double_eq_tol(predictions[b], wanted[b], 1e-12);
    linattn_batch_destroy(batch);
}
END_TEST

static int stop_at_half(double fraction, void *user) {
    double *last = user;
    ck_assert_double_ge(fraction, *last);
    ck_assert_double_le(fraction, 1);
    *last = fraction;
    return fraction >= 0.5 ? LINATTN_STOP : 0;
}

START_TEST(progress_may_stop) {
    enum { MANY = 1 << 17 };
    static double rates[MANY];
    double last = 0;
    linattn_batch *batch = make_batch(5, 20, 0, LINATTN_BATCH_MOMENTS);
    linattn_baseline_options o = options_of(LINATTN_BASELINE_GRADIENT_DESCENT);
    o.steps = MANY;
    o.rates = rates;
    o.progress = stop_at_half;
    o.user = &last;
    predictions[0] = 7;
    ck_assert_int_eq(linattn_baseline_predict(batch, &o, predictions), LINATTN_STOP);
    ck_assert_double_eq(predictions[0], 7);
    ck_assert_double_eq_tol(last, 0.5, 0.1);
    linattn_batch_destroy(batch);
}
END_TEST

START_TEST(bad_options_are_refused) {
    linattn_batch *batch = make_batch(3, 7, 0, LINATTN_BATCH_TOKENS), *moments = make_batch(3, 7, 0, LINATTN_BATCH_MOMENTS);
    const double bad[9] = {0, 0, 0, 0, NAN};
    const linattn_baseline_options squares = options_of(LINATTN_BASELINE_LEAST_SQUARES);
    const linattn_baseline_options descent = options_of(LINATTN_BASELINE_GRADIENT_DESCENT);
    linattn_baseline_options o = squares;
    predictions[0] = 7;
    ck_assert_status(linattn_baseline_options_init(NULL, sizeof o), LINATTN_EINVAL, "linattn_baseline_options");
    ck_assert_status(linattn_baseline_predict(NULL, &o, predictions), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_baseline_predict(batch, NULL, predictions), LINATTN_EINVAL, "linattn_baseline_options");
    ck_assert_status(linattn_baseline_predict(batch, &o, NULL), LINATTN_EINVAL, "out is NULL");
#define REFUSED(base, change, status, text)                                                                                        \
    o = base;                                                                                                                      \
    o.change;                                                                                                                      \
    ck_assert_status(linattn_baseline_predict(batch, &o, predictions), status, text)
    REFUSED(squares, baseline = 2, LINATTN_EINVAL, "baseline is 2");
    REFUSED(squares, baseline = -1, LINATTN_EINVAL, "baseline is -1");
    REFUSED(squares, reserved = 1, LINATTN_EINVAL, "reserved is 1");
    REFUSED(squares, struct_size = 3, LINATTN_EINVAL, "struct_size");
    REFUSED(squares, lambda = -1, LINATTN_EINVAL, "lambda is -1");
    REFUSED(squares, lambda = NAN, LINATTN_EINVAL, "lambda is nan");
    REFUSED(squares, lambda = INFINITY, LINATTN_EINVAL, "lambda is inf");
    REFUSED(squares, task_factor = bad, LINATTN_ENONFINITE, "task_factor[4] is nan");
    REFUSED(descent, steps = 0, LINATTN_EINVAL, "steps is 0");
    REFUSED(descent, steps = LINATTN_MAX_BASELINE_STEPS + 1, LINATTN_EINVAL, "steps is 1048577");
    REFUSED(descent, rates = NULL, LINATTN_EINVAL, "rates is NULL");
    REFUSED(descent, rates = bad + 4, LINATTN_ENONFINITE, "rates[0] is nan");
    REFUSED(descent, preconditioner = bad, LINATTN_ENONFINITE, "preconditioner[4] is nan");
    ck_assert_status(linattn_baseline_predict(moments, &squares, predictions), LINATTN_EUNSUPPORTED, "needs tokens");
    linattn_batch_destroy(batch);
    batch = make_batch(3, 7, 1.7e308, LINATTN_BATCH_TOKENS); /* noise that overflows in some responses */
    ck_assert_status(linattn_baseline_predict(batch, &squares, predictions), LINATTN_ENONFINITE, "prompt ");
    ck_assert_double_eq(predictions[0], 7);
    linattn_batch_destroy(batch);
    linattn_batch_destroy(moments);
}
END_TEST

static Suite *baseline_suite(void) {
    Suite *suite = suite_create("baseline");
    TCase *tc = tcase_create("baseline");
    tcase_add_test(tc, least_squares_finds_noiseless_weights);
    tcase_add_loop_test(tc, least_squares_and_ridge_agree_with_their_dual, 0, 8);
    tcase_add_loop_test(tc, gradient_descent_is_a_transformer, 0, 4);
    tcase_add_test(tc, gradient_descent_ends_at_least_squares);
    tcase_add_test(tc, progress_may_stop);
    tcase_add_test(tc, bad_options_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(baseline_suite)
