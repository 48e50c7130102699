/* Q = W_Q^T W_K as parameters, the front MLP and feed-forward blocks: against models without them. What holds for every model is in
 * test_conformance.c. */
#include "objective/objective.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* With W_Q = I, theta is a free Q = W_K: value, gradient and Hessian of the rest are those of the model with free Q. */
START_TEST(identity_factor_is_a_free_q) {
    enum { D = 3, FREE = 2 * D * D, FACTORED = 3 * D * D };
    random_case free_q = random_case_open((reference_shape){1, 1, D, 5, 0}, 9, 4);
    random_case factored = random_case_open_model((reference_model){.shape = {1, 1, D, 5, 0}, .qk_rank = D}, 9, 4);
    linattn_objective *f = random_case_objective(&free_q, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_objective *g = random_case_objective(&factored, NULL, LINATTN_KERNEL_AUTO, 1);
    double fg[FREE], gg[FACTORED], fh[FREE * FREE], gh[FACTORED * FACTORED], fv = 0, gv = 1;
    for (size_t i = 0; i < D * D; i++) {
        factored.theta[i] = free_q.theta[i];
        factored.theta[D * D + i] = i % (D + 1) == 0;
        factored.theta[2 * D * D + i] = free_q.theta[D * D + i];
    }
    ck_assert_uint_eq(factored.p, FACTORED);
    ck_assert_ok(linattn_objective_gradient(f, 0, free_q.theta, &fv, fg));
    ck_assert_ok(linattn_objective_gradient(g, 0, factored.theta, &gv, gg));
    ck_assert_ok(linattn_objective_hessian(f, 0, free_q.theta, fh));
    ck_assert_ok(linattn_objective_hessian(g, 0, factored.theta, gh));
    ck_assert(fv == gv);
    ck_assert_double_le(relative_distance(gg + 2 * D * D, fg + D * D, D * D), 1e-14);
    for (size_t i = 0; i < D * D; i++)
        ck_assert_double_le(relative_distance(gh + (2 * D * D + i) * FACTORED + 2 * D * D, fh + (D * D + i) * FREE + D * D, D * D),
                            1e-14);
    linattn_objective_destroy(f);
    linattn_objective_destroy(g);
    random_case_close(&free_q);
    random_case_close(&factored);
}
END_TEST

/* W_1 = (I; -I), W_2 = (I, -I), no biases: relu(x) - relu(-x) = x, and the model is the one without an MLP.
 * With W_1 = 0 every unit of every token is at its kink. */
START_TEST(identity_mlp_is_none) {
    enum { D = 3, H = 2 * D, FRONT = 2 * H * D + H + D, REST = 4 * D * D };
    random_case plain = random_case_open((reference_shape){2, 1, D, 5, 0}, 9, 4);
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, D, 5, 0}, .mlp_hidden = H}, 9, 4);
    linattn_objective *f = random_case_objective(&plain, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_objective *g = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_derivative_report report = {.struct_size = sizeof report};
    double wanted[REST], got[FRONT + REST], value = 0, loss = 1;
    memset(c.theta, 0, FRONT * sizeof *c.theta);
    for (size_t j = 0; j < D; j++) {
        c.theta[j * D + j] = c.theta[H * D + H + j * H + j] = 1;
        c.theta[(D + j) * D + j] = c.theta[H * D + H + j * H + D + j] = -1;
    }
    memcpy(c.theta + FRONT, plain.theta, REST * sizeof *c.theta);
    ck_assert_uint_eq(c.p, FRONT + REST);
    ck_assert_ok(linattn_objective_gradient(f, 0, plain.theta, &loss, wanted));
    ck_assert_ok(linattn_objective_gradient(g, 0, c.theta, &value, got));
    ck_assert_double_le(fabs(value - loss), 1e-14 * loss);
    ck_assert_double_le(relative_distance(got + FRONT, wanted, REST), 1e-13);
    memset(c.theta, 0, H * D * sizeof *c.theta);
    ck_assert_ok(linattn_objective_check_derivatives(g, 0, c.theta, 1e-5, &report));
    ck_assert_uint_eq(report.kinks, 9 * 6 * H);
    linattn_objective_destroy(f);
    linattn_objective_destroy(g);
    random_case_close(&plain);
    random_case_close(&c);
}
END_TEST

/* With W_2 = b_2 = 0 a feed-forward block adds nothing, and what remains is the model without. With W_1 = b_1 = 0 every unit of
 * every token is at its kink, in the last layer of the query's. */
START_TEST(zero_block_is_none) {
    enum { D = 3, H = 4, K = D + 1, BLOCK = 2 * H * K + H + K, HEAD = 2 * D * D, REST = 2 * HEAD, ALL = REST + 2 * BLOCK };
    random_case plain = random_case_open((reference_shape){2, 1, D, 5, 0}, 9, 4);
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, D, 5, 0}, .ff_hidden = H}, 9, 4);
    linattn_objective *f = random_case_objective(&plain, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_objective *g = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_derivative_report report = {.struct_size = sizeof report};
    double wanted[REST], got[ALL], value = 0, loss = 1;
    ck_assert_uint_eq(c.p, ALL);
    for (size_t l = 0; l < 2; l++) {
        double *const layer = c.theta + l * (HEAD + BLOCK), *const W_2 = layer + HEAD + H * K + H;
        memcpy(layer, plain.theta + l * HEAD, HEAD * sizeof *layer);
        memset(W_2, 0, (K * H + K) * sizeof *W_2);
    }
    ck_assert_ok(linattn_objective_gradient(f, 0, plain.theta, &loss, wanted));
    ck_assert_ok(linattn_objective_gradient(g, 0, c.theta, &value, got));
    ck_assert_double_le(fabs(value - loss), 1e-14 * loss);
    for (size_t l = 0; l < 2; l++) ck_assert_double_le(relative_distance(got + l * (HEAD + BLOCK), wanted + l * HEAD, HEAD), 1e-13);
    for (size_t i = 0; i < H * K + H; i++) ck_assert(got[HEAD + i] == 0);
    for (size_t l = 0; l < 2; l++) memset(c.theta + l * (HEAD + BLOCK) + HEAD, 0, (H * K + H) * sizeof *c.theta);
    ck_assert_ok(linattn_objective_check_derivatives(g, 0, c.theta, 1e-5, &report));
    ck_assert_uint_eq(report.kinks, 9 * (6 + 1) * H);
    linattn_objective_destroy(f);
    linattn_objective_destroy(g);
    random_case_close(&plain);
    random_case_close(&c);
}
END_TEST

/* One layer, d = n = B = 1, h = 2: token (1, 2), query (3, 0), target 6. Attention with P = 0 makes (3, 6 q) of the query, q = 1/2,
 * the units are r = relu(3 + 6 q - 1) = 5 and relu(-3) = 0, and minus the prediction is z = 6 q + 2 r + 0.5 = 18 q + 4.5 = 13.5.
 * With the miss m = -z - 6 the derivatives of the loss m^2 are -2 m times the slopes of z: 18 for q, 2 for b_1, and so on. */
START_TEST(block_on_the_toy) {
    enum { COUNT = 14 };
    const double tokens[4] = {1, 2, 3, 0}, target = 6, m = -19.5;
    const double theta[COUNT] = {0, 0.5, /* W_1 */ 1, 1, -1, 0, /* b_1 */ -1, 0, /* W_2 */ 7, 7, 2, 5, /* b_2 */ 4, 0.5};
    const double slopes[COUNT] = {2 * 1.5, 18, 2 * 3, 2 * 3, 0, 0, 2, 0, 0, 0, 5, 0, 0, 1};
    double value, prediction, gradient[COUNT], hessian[COUNT * COUNT];
    random_case c = random_case_open_model((reference_model){.shape = {1, 1, 1, 1, 0}, .ff_hidden = 2}, 1, 1);
    linattn_batch *batch = NULL;
    ck_assert_uint_eq(c.p, COUNT);
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, &target, 1, 1, 1));
    linattn_objective *f = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_model_predict(c.model, batch, theta, &prediction));
    ck_assert_double_eq(prediction, -13.5);
    ck_assert_ok(linattn_objective_gradient(f, 0, theta, &value, gradient));
    ck_assert_ok(linattn_objective_hessian(f, 0, theta, hessian));
    ck_assert_double_eq_tol(value, m * m, 1e-12);
    for (size_t i = 0; i < COUNT; i++) ck_assert_double_eq_tol(gradient[i], -2 * m * slopes[i], 1e-12);
    /* q and q; q and the last row's W_2 of the first unit, whose slope is r; b_2 and b_2 */
    ck_assert_double_eq_tol(hessian[1 * COUNT + 1], 2 * 18 * 18, 1e-11);
    ck_assert_double_eq_tol(hessian[1 * COUNT + 10], 2 * 18 * 5 - 2 * m * 6, 1e-11);
    ck_assert_double_eq_tol(hessian[13 * COUNT + 13], 2, 1e-13);
    linattn_objective_destroy(f);
    linattn_batch_destroy(batch);
    random_case_close(&c);
}
END_TEST

typedef struct {
    const char *name;
    uint64_t value;
    int found;
} field;

static int look_for(const char *name, uint64_t value, void *user) {
    field *f = user;
    if (strcmp(name, f->name) != 0) return LINATTN_OK;
    f->found++;
    f->value = value;
    return LINATTN_OK;
}

static field described(const linattn_objective *f, const char *name) {
    field wanted = {.name = name};
    ck_assert_ok(linattn__objective_describe(f, look_for, &wanted));
    return wanted;
}

/* What a checkpoint compares. Tokens (1, 2), (1, 2) and (1, 2), (-1, -2) have the same second moments: the same batch to linear
 * attention, another one to softmax. */
START_TEST(fingerprints_tell_models_and_tokens_apart) {
    static const reference_model kinds[] = {
        {.shape = {1, 1, 1, 2, 0}},
        {.shape = {1, 1, 1, 2, 0}, .attention = LINATTN_ATTENTION_SOFTMAX, .qk_rank = 3},
        {.shape = {1, 1, 1, 2, 0}, .mlp_hidden = 2},
        {.shape = {1, 1, 1, 2, 0}, .ff_hidden = 3},
    };
    const double tokens[] = {1, 2, 1, 2, 3, 0}, mirrored[] = {1, 2, -1, -2, 3, 0}, target = 1;
    linattn_batch *batches[2];
    ck_assert_ok(linattn_batch_create_from_arrays(&batches[0], tokens, &target, 1, 2, 1));
    ck_assert_ok(linattn_batch_create_from_arrays(&batches[1], mirrored, &target, 1, 2, 1));
    for (size_t i = 0; i < 4; i++) {
        random_case c = random_case_open_model(kinds[i], 1, 1);
        uint64_t digests[2];
        for (size_t b = 0; b < 2; b++) {
            linattn_objective *f = random_case_objective(&c, batches[b], LINATTN_KERNEL_AUTO, 1);
            const field rank = described(f, "model.qk_rank"), hidden = described(f, "model.mlp_hidden");
            const field ff = described(f, "model.ff_hidden");
            digests[b] = described(f, "batch.digest").value;
            ck_assert_uint_eq(described(f, "model.attention").value, (uint64_t)kinds[i].attention);
            ck_assert(rank.found == (i == 1) && rank.value == kinds[i].qk_rank);
            ck_assert(hidden.found == (i == 2) && hidden.value == kinds[i].mlp_hidden);
            ck_assert(ff.found == (i == 3) && ff.value == kinds[i].ff_hidden);
            linattn_objective_destroy(f);
        }
        ck_assert((digests[0] == digests[1]) == (i == 0));
        random_case_close(&c);
    }
    linattn_batch_destroy(batches[0]);
    linattn_batch_destroy(batches[1]);
}
END_TEST

static Suite *parameters_suite(void) {
    Suite *suite = suite_create("parameters");
    TCase *tc = tcase_create("parameters");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, identity_factor_is_a_free_q);
    tcase_add_test(tc, identity_mlp_is_none);
    tcase_add_test(tc, zero_block_is_none);
    tcase_add_test(tc, block_on_the_toy);
    tcase_add_test(tc, fingerprints_tell_models_and_tokens_apart);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(parameters_suite)
