/* Q = W_Q^T W_K as parameters, and the front MLP: against the definition, differences, models without them, and under every
 * kernel. */
#include "objective/objective.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* The ranks are 1, below, equal to and above the size of Q. */
static const reference_model models[] = {
    {.shape = {1, 1, 1, 1, 0}, .qk_rank = 1},
    {.shape = {1, 1, 1, 1, 1}, .qk_rank = 1},
    {.shape = {1, 2, 3, 4, 1}, .qk_rank = 2},
    {.shape = {2, 1, 3, 4, 0}, .qk_rank = 3},
    {.shape = {2, 2, 3, 5, 1}, .qk_rank = 5},
    {.shape = {3, 1, 5, 6, 0}, .qk_rank = 2},
    {.shape = {3, 2, 2, 5, 0}, .qk_rank = 1},
    {.shape = {2, 2, 3, 5, 1}, .qk_rank = 2, .attention = LINATTN_ATTENTION_SOFTMAX},
    {.shape = {2, 1, 4, 6, 0}, .qk_rank = 2, .attention = LINATTN_ATTENTION_SOFTMAX_CONTEXT},
    {.shape = {3, 1, 5, 6, 0}, .qk_rank = 3, .attention = LINATTN_ATTENTION_RELU},
    {.shape = {1, 1, 1, 1, 0}, .mlp_hidden = 1},
    {.shape = {1, 1, 3, 4, 1}, .mlp_hidden = 5},
    {.shape = {2, 2, 3, 5, 0}, .mlp_hidden = 4},
    {.shape = {3, 1, 5, 9, 0}, .mlp_hidden = 7, .attention = LINATTN_ATTENTION_RELU},
    {.shape = {2, 1, 5, 6, 1}, .mlp_hidden = 3, .attention = LINATTN_ATTENTION_SOFTMAX_CONTEXT},
    {.shape = {2, 2, 2, 5, 1}, .mlp_hidden = 3, .qk_rank = 2, .attention = LINATTN_ATTENTION_SOFTMAX},
};
enum { MODELS = sizeof models / sizeof *models };

static double *numbers(size_t count) {
    double *x = calloc(count, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

START_TEST(gradient_agrees_with_the_definition) {
    random_case c = random_case_open_model(models[_i], 70, (unsigned)_i);
    double *wanted = numbers(c.p), *got = numbers(c.p), *one = numbers(c.p), *predictions = numbers(140), value = NAN;
    const double loss = reference_model_gradient(&c.reference, c.tokens, c.targets, 70, c.theta, predictions, wanted);
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        for (size_t threads = 1; threads <= 2; threads++) {
            linattn_objective *f = random_case_objective(&c, NULL, kernel, threads);
            ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, &value, got));
            ck_assert_double_le(fabs(value - loss), 1e-13 * loss);
            ck_assert_double_le(relative_distance(got, wanted, c.p), 1e-12);
            if (threads == 1) memcpy(one, got, c.p * sizeof *one);
            ck_assert_mem_eq(got, one, c.p * sizeof *one);
            linattn_objective_destroy(f);
        }
    }
    ck_assert_ok(linattn_model_predict(c.model, c.batch, c.theta, predictions + 70));
    ck_assert_double_le(relative_distance(predictions + 70, predictions, 70), 1e-13);
    free(wanted);
    free(got);
    free(one);
    free(predictions);
    random_case_close(&c);
}
END_TEST

START_TEST(gradient_agrees_with_differences) {
    random_case c = random_case_open_model(models[_i], 9, (unsigned)_i + 10);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_derivative_report report = {.struct_size = sizeof report};
    ck_assert_ok(linattn_objective_check_derivatives(f, 0, c.theta, 1e-6, &report));
    ck_assert_double_le(report.gradient_error, 1e-7);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

START_TEST(hessian_agrees_with_differences) {
    random_case c = random_case_open_model(models[_i], 9, (unsigned)_i + 20);
    const size_t p = c.p;
    const double h = 1e-5;
    double *hessian = numbers(p * p), *difference = numbers(p * p), *low = numbers(p), *u = numbers(2 * p), *out = numbers(2 * p);
    double *wanted = numbers(2 * p);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 2);
    for (size_t i = 0; i < p; i++) {
        const double centre = c.theta[i];
        c.theta[i] = centre - h;
        ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, low));
        c.theta[i] = centre + h;
        ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, difference + i * p));
        c.theta[i] = centre;
        for (size_t j = 0; j < p; j++) difference[i * p + j] = (difference[i * p + j] - low[j]) / (2 * h);
    }
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        linattn_objective *each = random_case_objective(&c, NULL, kernel, 1);
        ck_assert_ok(linattn_objective_hessian(each, 0, c.theta, hessian));
        ck_assert_double_le(relative_distance(hessian, difference, p * p), 1e-8);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < i; j++) ck_assert(hessian[i * p + j] == hessian[j * p + i]);
        linattn_objective_destroy(each);
    }
    for (size_t i = 0; i < 2 * p; i++) u[i] = sin((double)(i * i % 1009));
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++) wanted[k * p + i] += hessian[i * p + j] * u[k * p + j];
    ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u, 2, out));
    ck_assert_double_le(relative_distance(out, wanted, 2 * p), 1e-12);
    linattn_objective_destroy(f);
    free(hessian);
    free(difference);
    free(low);
    free(u);
    free(out);
    free(wanted);
    random_case_close(&c);
}
END_TEST

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

/* W_1 = (I; -I), W_2 = (I, -I), no biases: relu(x) - relu(-x) = x, and the model is the one without an MLP, which goes by moments.
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
    };
    const double tokens[] = {1, 2, 1, 2, 3, 0}, mirrored[] = {1, 2, -1, -2, 3, 0}, target = 1;
    linattn_batch *batches[2];
    ck_assert_ok(linattn_batch_create_from_arrays(&batches[0], tokens, &target, 1, 2, 1));
    ck_assert_ok(linattn_batch_create_from_arrays(&batches[1], mirrored, &target, 1, 2, 1));
    for (size_t i = 0; i < 3; i++) {
        random_case c = random_case_open_model(kinds[i], 1, 1);
        uint64_t digests[2];
        for (size_t b = 0; b < 2; b++) {
            linattn_objective *f = random_case_objective(&c, batches[b], LINATTN_KERNEL_AUTO, 1);
            const field rank = described(f, "model.qk_rank"), hidden = described(f, "model.mlp_hidden");
            digests[b] = described(f, "batch.digest").value;
            ck_assert_uint_eq(described(f, "model.attention").value, (uint64_t)kinds[i].attention);
            ck_assert(rank.found == (i == 1) && rank.value == kinds[i].qk_rank);
            ck_assert(hidden.found == (i == 2) && hidden.value == kinds[i].mlp_hidden);
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
    tcase_add_loop_test(tc, gradient_agrees_with_the_definition, 0, MODELS);
    tcase_add_loop_test(tc, gradient_agrees_with_differences, 0, MODELS);
    tcase_add_loop_test(tc, hessian_agrees_with_differences, 0, MODELS);
    tcase_add_test(tc, identity_factor_is_a_free_q);
    tcase_add_test(tc, identity_mlp_is_none);
    tcase_add_test(tc, fingerprints_tell_models_and_tokens_apart);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(parameters_suite)
