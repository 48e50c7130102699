/* Attention weights against their definition in plain loops, and what is refused. */
#include "support/suite.h"

#include <math.h>

enum {
    D = 3,
    K = D + 1,
    N = 6,
    ROWS = N + 1,
    PROMPTS = 11,
    LAYERS = 2,
    HEADS = 2,
    HIDDEN = 4,
    KINDS = 4,
    COUNT = PROMPTS * ROWS * ROWS
};

static const int32_t kinds[KINDS] = {LINATTN_ATTENTION_LINEAR, LINATTN_ATTENTION_SOFTMAX, LINATTN_ATTENTION_SOFTMAX_CONTEXT,
                                     LINATTN_ATTENTION_RELU};

static double tokens[PROMPTS * ROWS * K], theta[300], weights[COUNT];

static linattn_batch *make_batch(int32_t kind, size_t dim) {
    linattn_sampler_options o;
    linattn_sampler *sampler;
    linattn_batch *batch;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = dim;
    o.context = N;
    o.kind = kind;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, PROMPTS, 0));
    linattn_sampler_destroy(sampler);
    return batch;
}

/* Full form, so that P and Q are what the definition says. */
static linattn_model *make_model(int32_t attention, size_t hidden, size_t ff_hidden) {
    linattn_model_options o;
    linattn_model *model;
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = D;
    o.layers = LAYERS;
    o.heads = HEADS;
    o.form = LINATTN_FORM_FULL;
    o.attention = attention;
    o.mlp_hidden = hidden;
    o.ff_hidden = ff_hidden;
    o.init_std = 0.5;
    ck_assert_ok(linattn_model_create(&model, &o));
    ck_assert_uint_le(linattn_model_parameter_count(model), sizeof theta / sizeof *theta);
    ck_assert_ok(linattn_model_init_parameters(model, 5, theta));
    return model;
}

/* A (ROWS, ROWS) of a head from Z (ROWS, K); the query's column only where the kind reads it. */
static void define_A(int32_t attention, const double *Z, const double *Q, double *A) {
    const size_t keys = attention == LINATTN_ATTENTION_SOFTMAX ? ROWS : N;
    for (size_t i = 0; i < ROWS; i++) {
        double *row = A + i * ROWS, sum = 0;
        for (size_t j = 0; j < ROWS; j++) {
            double score = 0;
            for (size_t a = 0; a < K; a++)
                for (size_t b = 0; b < K; b++) score += Z[i * K + a] * Q[a * K + b] * Z[j * K + b];
            if (attention == LINATTN_ATTENTION_RELU) score = fmax(score, 0);
            const int softmax = attention == LINATTN_ATTENTION_SOFTMAX || attention == LINATTN_ATTENTION_SOFTMAX_CONTEXT;
            row[j] = j >= keys ? 0 : softmax ? exp(score) : score;
            sum += row[j];
            if (softmax && j + 1 == ROWS)
                for (size_t m = 0; m < ROWS; m++) row[m] /= sum;
        }
    }
}

/* Z <- Z + (1/n) sum over heads of (M A) Z P^T. heads: P and Q of each. */
static void define_layer(int32_t attention, const double *heads, double *Z) {
    double A[ROWS * ROWS], next[ROWS * K];
    memcpy(next, Z, sizeof next);
    for (size_t h = 0; h < HEADS; h++, heads += 2 * K * K) {
        define_A(attention, Z, heads + K * K, A);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < N; j++)
                for (size_t a = 0; a < K; a++)
                    for (size_t b = 0; b < K; b++) next[i * K + a] += A[i * ROWS + j] * Z[j * K + b] * heads[a * K + b] / N;
    }
    memcpy(Z, next, sizeof next);
}

/* x <- keep x + W_2 relu(W_1 x + b_1) + b_2 of the first `size` entries of every token. */
static void define_mlp(const double *mlp, size_t size, int keep, double *Z) {
    const double *W_1 = mlp, *b_1 = W_1 + HIDDEN * size, *W_2 = b_1 + HIDDEN, *b_2 = W_2 + size * HIDDEN;
    for (size_t i = 0; i < ROWS; i++) {
        double unit[HIDDEN];
        for (size_t h = 0; h < HIDDEN; h++) {
            unit[h] = b_1[h];
            for (size_t j = 0; j < size; j++) unit[h] += W_1[h * size + j] * Z[i * K + j];
        }
        for (size_t j = 0; j < size; j++) {
            Z[i * K + j] = keep * Z[i * K + j] + b_2[j];
            for (size_t h = 0; h < HIDDEN; h++) Z[i * K + j] += W_2[j * HIDDEN + h] * fmax(unit[h], 0);
        }
    }
}

START_TEST(weights_are_as_defined) {
    const int32_t attention = kinds[_i % KINDS];
    const size_t hidden = _i / KINDS == 1 ? HIDDEN : 0, ff = _i / KINDS == 2 ? HIDDEN : 0, pair = 2 * K * K;
    const double *const heads = theta + (hidden ? 2 * HIDDEN * D + HIDDEN + D : 0);
    const size_t layer_size = HEADS * pair + (ff ? 2 * HIDDEN * K + HIDDEN + K : 0);
    linattn_batch *batch = make_batch(LINATTN_BATCH_TOKENS, D);
    linattn_model *model = make_model(attention, hidden, ff);
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t head = 0; head < HEADS; head++) {
            ck_assert_ok(linattn_batch_get_arrays(batch, tokens, NULL));
            ck_assert_ok(linattn_model_attention(model, batch, theta, layer, head, weights));
            for (size_t b = 0; b < PROMPTS; b++) {
                double *Z = tokens + b * ROWS * K, A[ROWS * ROWS];
                if (hidden) define_mlp(theta, D, 0, Z);
                if (layer == 1) define_layer(attention, heads, Z);
                if (layer == 1 && ff) define_mlp(heads + HEADS * pair, K, 1, Z);
                define_A(attention, Z, heads + layer * layer_size + head * pair + K * K, A);
                for (size_t i = 0; i < ROWS * ROWS; i++)
                    ck_assert_double_eq_tol(weights[b * ROWS * ROWS + i], A[i], 1e-12 * (1 + fabs(A[i])));
            }
        }
    linattn_model_destroy(model);
    linattn_batch_destroy(batch);
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    linattn_batch *batch = make_batch(LINATTN_BATCH_TOKENS, D), *moments = make_batch(LINATTN_BATCH_MOMENTS, D);
    linattn_batch *other = make_batch(LINATTN_BATCH_TOKENS, D + 1);
    linattn_model *model = make_model(LINATTN_ATTENTION_LINEAR, 0, 0);
    weights[0] = 7;
    ck_assert_status(linattn_model_attention(NULL, batch, theta, 0, 0, weights), LINATTN_EINVAL, "model is NULL");
    ck_assert_status(linattn_model_attention(model, NULL, theta, 0, 0, weights), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_model_attention(model, batch, NULL, 0, 0, weights), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_model_attention(model, batch, theta, 0, 0, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_model_attention(model, batch, theta, LAYERS, 0, weights), LINATTN_EINVAL, "layer is 2");
    ck_assert_status(linattn_model_attention(model, batch, theta, 0, HEADS, weights), LINATTN_EINVAL, "head is 2");
    ck_assert_status(linattn_model_attention(model, moments, theta, 0, 0, weights), LINATTN_EUNSUPPORTED, "kind moments");
    ck_assert_status(linattn_model_attention(model, other, theta, 0, 0, weights), LINATTN_EMISMATCH, "dim 4");
    theta[2] = NAN;
    ck_assert_status(linattn_model_attention(model, batch, theta, 0, 0, weights), LINATTN_ENONFINITE, "theta[2] is nan");
    ck_assert_double_eq(weights[0], 7);
    linattn_model_destroy(model);
    linattn_batch_destroy(batch);
    linattn_batch_destroy(moments);
    linattn_batch_destroy(other);
}
END_TEST

static Suite *attention_suite(void) {
    Suite *suite = suite_create("attention");
    TCase *tc = tcase_create("attention");
    tcase_add_loop_test(tc, weights_are_as_defined, 0, 3 * KINDS);
    tcase_add_test(tc, bad_arguments_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(attention_suite)
