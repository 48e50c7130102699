/* The kinds of attention, on the token path: against closed forms and the moment path. What holds for every model is in
 * test_conformance.c. */
#include "kernels/moment.h"
#include "kernels/token.h"
#include "sampler/prompts.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* The last is too long for A to be kept between the passes. */
static const reference_shape shapes[] = {{1, 1, 1, 1, 0},   {1, 1, 1, 1, 1},  {1, 2, 3, 4, 0},  {1, 1, 5, 7, 1}, {2, 1, 2, 3, 0},
                                         {2, 2, 3, 5, 1},   {3, 1, 5, 20, 0}, {3, 1, 5, 9, 1},  {2, 2, 4, 6, 0}, {4, 1, 2, 8, 0},
                                         {2, 1, 10, 13, 0}, {2, 3, 2, 2, 1},  {2, 1, 1, 260, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes, KINDS = 4 };

/* Linear attention by tokens is linear attention by moments. */
START_TEST(token_path_agrees_with_moment_path) {
    const reference_model model = {.shape = shapes[_i]};
    random_case c = random_case_open_model(model, 9, (unsigned)_i + 10);
    const linattn__prompts *prompts = linattn__batch_prompts(c.batch);
    const linattn__data data = linattn__prompts_part(prompts, 0, prompts->blocks);
    const linattn__shape s = {.layers = model.shape.layers,
                              .heads = model.shape.heads,
                              .dim = model.shape.dim,
                              .context = model.shape.context,
                              .full = model.shape.full,
                              .attention = LINATTN_ATTENTION_LINEAR};
    double *by_moments = numbers(4 * c.p), *by_tokens = numbers(4 * c.p), *u = numbers(3 * c.p);
    for (size_t i = 0; i < 3 * c.p; i++) u[i] = cos((double)(i * i % 997));
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        enum linattn__isa isa;
        if (!linattn_kernel_available(kernel)) continue;
        ck_assert_ok(linattn__isa_resolve(kernel, &isa));
        const linattn__kernels *m = linattn__moment_kernels(isa), *t = linattn__token_kernels(isa);
        const linattn__hvp_kernels *mh = linattn__moment_hvp_kernels(isa), *th = linattn__token_hvp_kernels(isa);
        const size_t sizes[] = {m->workspace(&s), t->workspace(&s), mh->workspace(&s, 3), th->workspace(&s, 3)};
        size_t most = 0;
        for (size_t i = 0; i < 4; i++) most = sizes[i] > most ? sizes[i] : most;
        double *work = aligned_alloc(64, (most * sizeof *work + 63) / 64 * 64);
        ck_assert_ptr_nonnull(work);
        const double value = m->sum_squares(&s, c.theta, &data, by_moments, work);
        ck_assert_double_le(fabs(t->sum_squares(&s, c.theta, &data, by_tokens, work) - value), 1e-13 * value);
        ck_assert_double_eq(t->count_kinks(&s, c.theta, &data, work), 0);
        mh->hvp(&s, c.theta, &data, u, 3, 0, 0, by_moments + c.p, work);
        th->hvp(&s, c.theta, &data, u, 3, 0, 0, by_tokens + c.p, work);
        ck_assert_double_le(relative_distance(by_tokens, by_moments, c.p), 1e-12);
        ck_assert_double_le(relative_distance(by_tokens + c.p, by_moments + c.p, 3 * c.p), 1e-12);
        free(work);
    }
    free(by_moments);
    free(by_tokens);
    free(u);
    random_case_close(&c);
}
END_TEST

/* One layer, d = n = B = 1: token (1, 2), query 3, target 6. */
static void toy(int32_t attention, double q, size_t copies, double *value, double *gradient, double *hessian) {
    linattn_model_options options;
    linattn_model_options_init(&options, sizeof options);
    options.dim = options.layers = 1;
    options.attention = attention;
    linattn_model *model = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *f = NULL;
    double tokens[7 * 4], targets[7], theta[2] = {0.7, q};
    for (size_t b = 0; b < copies; b++) {
        const double token[4] = {1, 2, 3, 0};
        memcpy(tokens + 4 * b, token, sizeof token);
        targets[b] = 6;
    }
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, copies, 1, 1));
    ck_assert_ok(linattn_objective_create_fixed(&f, model, batch, NULL));
    ck_assert_ok(linattn_objective_gradient(f, 0, theta, value, gradient));
    ck_assert_ok(linattn_objective_hessian(f, 0, theta, hessian));
    linattn_model_destroy(model);
    linattn_batch_destroy(batch);
    linattn_objective_destroy(f);
}

/* Scores 3 q (context) and 9 q (query): the prediction is -2 a, a = 3 q, 1 / (1 + exp(6 q)), 1 or max(3 q, 0). */
START_TEST(case_S2_kinds_differ_on_the_toy) {
    double value, gradient[2], hessian[4];
    for (size_t copies = 1; copies <= 7; copies += 6) {
        toy(LINATTN_ATTENTION_LINEAR, 0, copies, &value, gradient, hessian);
        ck_assert_double_eq(value, 36);
        toy(LINATTN_ATTENTION_SOFTMAX, 0, copies, &value, gradient, hessian);
        ck_assert_double_eq(value, 49);
        ck_assert_double_eq(gradient[0], 0);
        ck_assert_double_eq_tol(gradient[1], 2 * 7 * 2 * -1.5, 1e-13); /* a' = -6 a (1 - a) */
        ck_assert_double_eq_tol(hessian[3], 2 * 3.0 * 3.0, 1e-12);     /* a'' = 0 at a = 1/2 */
        toy(LINATTN_ATTENTION_SOFTMAX_CONTEXT, 0, copies, &value, gradient, hessian);
        ck_assert_double_eq(value, 64);
        ck_assert(gradient[1] == 0 && hessian[3] == 0);
        toy(LINATTN_ATTENTION_RELU, 1, copies, &value, gradient, hessian);
        ck_assert_double_eq(value, 144);
        ck_assert_double_eq(gradient[1], 144);
        ck_assert_double_eq(hessian[3], 72);
        toy(LINATTN_ATTENTION_RELU, -1, copies, &value, gradient, hessian);
        ck_assert_double_eq(value, 36);
        ck_assert(gradient[1] == 0 && hessian[3] == 0);
    }
}
END_TEST

/* With Q = 0 every ReLU score is at its kink: there the derivative is 0, so the prediction is 0 and nothing moves it. Rows of the
 * layers but the last, times keys, and the query's row of the last are all there is to count; padding does not. */
START_TEST(case_N8_kinks_have_derivative_0_and_are_counted) {
    enum { PROMPTS = 83 }; /* two chunks and a broken block */
    random_case c =
        random_case_open_model((reference_model){.shape = {2, 2, 3, 5, 0}, .attention = LINATTN_ATTENTION_RELU}, PROMPTS, 3);
    const size_t p = c.p;
    double *gradient = numbers(p), *hessian = numbers(p * p), value = NAN, wanted = 0;
    for (size_t t = 1; t < 8; t += 2)
        for (size_t i = 0; i < 9; i++) c.theta[t * 9 + i] = 0;
    for (size_t b = 0; b < PROMPTS; b++) wanted += c.targets[b] * c.targets[b] / PROMPTS;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        linattn_objective *f = random_case_objective(&c, NULL, kernel, 2);
        linattn_derivative_report report = {.struct_size = sizeof report};
        ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, &value, gradient));
        ck_assert_double_eq_tol(value, wanted, 1e-14);
        ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
        for (size_t i = 0; i < p; i++) ck_assert(gradient[i] == 0);
        for (size_t i = 0; i < p * p; i++) ck_assert(hessian[i] == 0);
        ck_assert_ok(linattn_objective_check_derivatives(f, 0, c.theta, 1e-5, &report));
        ck_assert_uint_eq(report.kinks, PROMPTS * 2 * (6 * 5 + 5));
        report.struct_size = offsetof(linattn_derivative_report, kinks); /* a program of the first release */
        report.kinks = 12345;
        ck_assert_ok(linattn_objective_check_derivatives(f, 0, c.theta, 1e-5, &report));
        ck_assert_uint_eq(report.kinks, 12345);
        linattn_objective_destroy(f);
    }
    free(gradient);
    free(hessian);
    random_case_close(&c);
}
END_TEST

/* Scores far apart make softmax choose the largest: a = 1 there, and what exp would overflow on does no harm. */
START_TEST(large_scores_choose_the_largest) {
    random_case c =
        random_case_open_model((reference_model){.shape = {1, 1, 1, 3, 0}, .attention = LINATTN_ATTENTION_SOFTMAX_CONTEXT}, 1, 1);
    const double tokens[8] = {0.5, 1, -2, 3, 1, 5, 4, 0};
    const double target = 1;
    double prediction, theta[2] = {0, 1e6}, gradient[2];
    linattn_batch *batch = NULL;
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, &target, 1, 3, 1));
    ck_assert_ok(linattn_model_predict(c.model, batch, theta, &prediction));
    ck_assert_double_eq_tol(prediction, -5.0 / 3, 1e-15);
    theta[1] = -1e6;
    ck_assert_ok(linattn_model_predict(c.model, batch, theta, &prediction));
    ck_assert_double_eq_tol(prediction, -3.0 / 3, 1e-15);
    linattn_objective *f = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_gradient(f, 0, theta, NULL, gradient));
    ck_assert(gradient[1] == 0);
    theta[1] = 1e308; /* the scores overflow */
    ck_assert_status(linattn_objective_gradient(f, 0, theta, NULL, gradient), LINATTN_ENONFINITE, "value");
    linattn_objective_destroy(f);
    linattn_batch_destroy(batch);
    random_case_close(&c);
}
END_TEST

static linattn_sampler *sampler_of(const random_case *c, int32_t kind) {
    linattn_sampler_options options;
    linattn_sampler *sampler = NULL;
    linattn_sampler_options_init(&options, sizeof options);
    options.dim = c->shape.dim;
    options.context = c->shape.context;
    options.kind = kind;
    ck_assert_ok(linattn_sampler_create(&sampler, &options));
    return sampler;
}

/* A model on a sampler is the model on the batch of the same draw, and draws anew when the draw changes. */
START_TEST(a_sampled_objective_is_that_of_its_batches) {
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, 3, 6, 0}, .attention = _i}, 1, 7);
    linattn_sampler *sampler = sampler_of(&c, LINATTN_BATCH_TOKENS);
    linattn_objective *sampled = NULL, *clone = NULL;
    double *wanted = numbers(c.p), *got = numbers(c.p), value = NAN;
    ck_assert_ok(linattn_objective_create_sampled(&sampled, c.model, sampler, 70, NULL));
    ck_assert_ok(linattn_objective_clone(&clone, sampled));
    for (uint64_t turn = 0; turn < 4; turn++) {
        const uint64_t draw = turn / 2 * 11;
        linattn_batch *batch = NULL;
        ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 70, draw));
        const double loss = random_case_gradient(&c, batch, LINATTN_KERNEL_AUTO, 1, wanted);
        ck_assert_ok(linattn_objective_gradient(turn == 3 ? clone : sampled, draw, c.theta, &value, got));
        ck_assert(value == loss);
        ck_assert_mem_eq(got, wanted, c.p * sizeof *got);
        linattn_batch_destroy(batch);
    }
    linattn_objective_destroy(sampled);
    linattn_objective_destroy(clone);
    linattn_sampler_destroy(sampler);
    free(wanted);
    free(got);
    random_case_close(&c);
}
END_TEST

START_TEST(moments_are_refused) {
    static const char *const names[] = {"", "attention is 1 (softmax)", "attention is 2 (softmax_context)",
                                        "attention is 3 (relu)"};
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, 3, 6, 0}, .attention = _i}, 1, 7);
    linattn_sampler *sampler = sampler_of(&c, LINATTN_BATCH_MOMENTS);
    linattn_batch *batch = NULL;
    linattn_objective *f = (linattn_objective *)&batch;
    double prediction[2] = {5, 5};
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 2, 0));
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, sampler, 2, NULL), LINATTN_EUNSUPPORTED, names[_i]);
    ck_assert_ptr_null(f);
    ck_assert_status(linattn_objective_create_fixed(&f, c.model, batch, NULL), LINATTN_EUNSUPPORTED, names[_i]);
    ck_assert_status(linattn_objective_create_fixed(&f, c.model, batch, NULL), LINATTN_EUNSUPPORTED, "batch is of kind moments");
    ck_assert_status(linattn_model_predict(c.model, batch, c.theta, prediction), LINATTN_EUNSUPPORTED, names[_i]);
    ck_assert(prediction[0] == 5);
    random_case_close(&c);
    c = random_case_open_model((reference_model){.shape = {2, 1, 3, 6, 0}, .mlp_hidden = 2}, 1, 7);
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, sampler, 2, NULL), LINATTN_EUNSUPPORTED, "mlp_hidden is 2");
    ck_assert_status(linattn_objective_create_fixed(&f, c.model, batch, NULL), LINATTN_EUNSUPPORTED, "mlp_hidden is 2");
    ck_assert_status(linattn_model_predict(c.model, batch, c.theta, prediction), LINATTN_EUNSUPPORTED, "mlp_hidden is 2");
    random_case_close(&c);
    c = random_case_open_model((reference_model){.shape = {2, 1, 3, 6, 0}, .ff_hidden = 3}, 1, 7);
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, sampler, 2, NULL), LINATTN_EUNSUPPORTED, "ff_hidden is 3");
    ck_assert_status(linattn_objective_create_fixed(&f, c.model, batch, NULL), LINATTN_EUNSUPPORTED, "or ff_hidden 0");
    ck_assert_status(linattn_model_predict(c.model, batch, c.theta, prediction), LINATTN_EUNSUPPORTED, "ff_hidden is 3");
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);
}
END_TEST

static Suite *token_suite(void) {
    Suite *suite = suite_create("token");
    TCase *tc = tcase_create("token");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, token_path_agrees_with_moment_path, 0, SHAPES);
    tcase_add_test(tc, case_S2_kinds_differ_on_the_toy);
    tcase_add_test(tc, case_N8_kinks_have_derivative_0_and_are_counted);
    tcase_add_test(tc, large_scores_choose_the_largest);
    tcase_add_loop_test(tc, a_sampled_objective_is_that_of_its_batches, 0, KINDS);
    tcase_add_loop_test(tc, moments_are_refused, 1, KINDS);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(token_suite)
