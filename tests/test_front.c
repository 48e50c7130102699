/* Linear attention behind a front MLP goes by moments: against the path of tokens, under every kernel, for shapes around the sizes
 * of strips and vectors; exact zeros; threads; samplers. Definition and differences are in test_parameters.c. */
#include "kernels/moment.h"
#include "kernels/token.h"
#include "sampler/prompts.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

/* Strips have 32 rows; 1000 tokens of 40 units are too many to be kept for any kernel, 300 of 33 for the widest. */
static const struct {
    reference_model model;
    size_t prompts;
} cases[] = {{{.shape = {1, 1, 1, 1, 0}, .mlp_hidden = 1}, 1},    {{.shape = {1, 1, 1, 1, 1}, .mlp_hidden = 1}, 9},
             {{.shape = {2, 1, 1, 3, 0}, .mlp_hidden = 33}, 7},   {{.shape = {1, 2, 3, 4, 1}, .mlp_hidden = 2}, 17},
             {{.shape = {1, 1, 5, 20, 0}, .mlp_hidden = 30}, 13}, {{.shape = {2, 1, 5, 1, 0}, .mlp_hidden = 8}, 3},
             {{.shape = {3, 1, 5, 20, 0}, .mlp_hidden = 30}, 9},  {{.shape = {3, 1, 5, 20, 1}, .mlp_hidden = 30}, 11},
             {{.shape = {4, 2, 5, 7, 0}, .mlp_hidden = 1}, 5},    {{.shape = {3, 2, 5, 31, 1}, .mlp_hidden = 33}, 2},
             {{.shape = {2, 3, 4, 32, 0}, .mlp_hidden = 5}, 9},   {{.shape = {2, 2, 2, 64, 1}, .mlp_hidden = 7}, 9},
             {{.shape = {3, 1, 10, 12, 0}, .mlp_hidden = 9}, 10}, {{.shape = {2, 1, 20, 5, 0}, .mlp_hidden = 3}, 9},
             {{.shape = {2, 1, 7, 9, 1}, .mlp_hidden = 16}, 65},  {{.shape = {2, 1, 5, 300, 1}, .mlp_hidden = 33}, 3},
             {{.shape = {2, 1, 2, 1000, 0}, .mlp_hidden = 40}, 1}};
enum { CASES = sizeof cases / sizeof *cases, DIRECTIONS = 3 };

/* A case's batch, shape and both paths' kernels. */
typedef struct {
    random_case c;
    linattn__data data;
    linattn__shape shape;
    const linattn__kernels *moment, *token;
    const linattn__hvp_kernels *moment_hvp, *token_hvp;
    double *work;
} both;

static both open_both(const random_case *c, enum linattn__isa isa) {
    const linattn__prompts *prompts = linattn__batch_prompts(c->batch);
    const reference_shape s = c->shape;
    both b = {.c = *c,
              .data = linattn__prompts_part(prompts, 0, prompts->blocks),
              .shape = {.layers = s.layers, .heads = s.heads, .dim = s.dim, .context = s.context, .full = s.full},
              .moment = linattn__moment_kernels(isa),
              .token = linattn__token_kernels(isa),
              .moment_hvp = linattn__moment_hvp_kernels(isa),
              .token_hvp = linattn__token_hvp_kernels(isa)};
    b.shape.hidden = c->reference.mlp_hidden;
    b.shape.attention = LINATTN_ATTENTION_LINEAR;
    ck_assert_ptr_eq(linattn__kernels_for(&b.shape, isa), b.moment);
    ck_assert_ptr_eq(linattn__hvp_kernels_for(&b.shape, isa), b.moment_hvp);
    const size_t sizes[] = {b.moment->workspace(&b.shape), b.token->workspace(&b.shape),
                            b.moment_hvp->workspace(&b.shape, DIRECTIONS), b.token_hvp->workspace(&b.shape, DIRECTIONS)};
    size_t most = 0;
    for (size_t i = 0; i < 4; i++) most = sizes[i] > most ? sizes[i] : most;
    b.work = numbers(most);
    return b;
}

START_TEST(gradients_and_predictions_agree_by_both_paths) {
    random_case c = random_case_open_model(cases[_i].model, cases[_i].prompts, (unsigned)_i);
    const size_t lanes = (c.prompts + 7) / 8 * 8;
    double *by_moments = numbers(c.p), *by_tokens = numbers(c.p), *predictions = numbers(2 * lanes);
    int compared = 0;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        enum linattn__isa isa;
        if (!linattn_kernel_available(kernel)) continue;
        ck_assert_ok(linattn__isa_resolve(kernel, &isa));
        both b = open_both(&c, isa);
        const double value = b.moment->sum_squares(&b.shape, c.theta, &b.data, by_moments, b.work);
        ck_assert(b.moment->sum_squares(&b.shape, c.theta, &b.data, NULL, b.work) == value);
        ck_assert_double_le(fabs(b.token->sum_squares(&b.shape, c.theta, &b.data, by_tokens, b.work) - value), 1e-13 * value);
        ck_assert_double_le(relative_distance(by_moments, by_tokens, c.p), 1e-12);
        b.moment->predict(&b.shape, c.theta, &b.data, predictions, b.work);
        b.token->predict(&b.shape, c.theta, &b.data, predictions + lanes, b.work);
        ck_assert_double_le(relative_distance(predictions, predictions + lanes, c.prompts), 1e-12);
        ck_assert(b.moment->count_kinks(&b.shape, c.theta, &b.data, b.work) == 0);
        free(b.work);
        compared++;
    }
    ck_assert_int_ge(compared, 1);
    free(by_moments);
    free(by_tokens);
    free(predictions);
    random_case_close(&c);
}
END_TEST

/* Directions that begin with a stage, and those of a stage alone: of the products the entries from that stage on are wanted, and
 * before it zeros. */
START_TEST(products_agree_by_both_paths_from_every_stage) {
    random_case c = random_case_open_model(cases[_i].model, cases[_i].prompts, (unsigned)_i + 50);
    const size_t p = c.p, front = linattn__network_size(c.reference.mlp_hidden, c.shape.dim), layer = (p - front) / c.shape.layers;
    double *u = numbers(DIRECTIONS * p), *by_moments = numbers(DIRECTIONS * p), *by_tokens = numbers(DIRECTIONS * p);
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        enum linattn__isa isa;
        if (!linattn_kernel_available(kernel)) continue;
        ck_assert_ok(linattn__isa_resolve(kernel, &isa));
        both b = open_both(&c, isa);
        for (size_t turn = 0; turn < 2 * (c.shape.layers + 1); turn++) {
            const size_t stage = turn / 2, begin = stage ? front + (stage - 1) * layer : 0;
            const size_t end = turn % 2 ? front + stage * layer : p;
            for (size_t i = 0; i < DIRECTIONS * p; i++) u[i] = i % p >= begin && i % p < end ? cos((double)(i * i % 997)) : 0;
            b.moment_hvp->hvp(&b.shape, c.theta, &b.data, u, DIRECTIONS, stage, turn % 2, by_moments, b.work);
            b.token_hvp->hvp(&b.shape, c.theta, &b.data, u, DIRECTIONS, stage, turn % 2, by_tokens, b.work);
            for (size_t k = 0; k < DIRECTIONS; k++) {
                double *const got = by_moments + k * p;
                ck_assert_double_le(relative_distance(got + begin, by_tokens + k * p + begin, p - begin), 1e-12);
                for (size_t i = 0; i < begin; i++) ck_assert(got[i] == 0);
            }
        }
        free(b.work);
    }
    free(u);
    free(by_moments);
    free(by_tokens);
    random_case_close(&c);
}
END_TEST

/* Units of W_1 = 0, b_1 = 0 are at their kink in every token, padding not counted, and give nothing to W_1 and b_1. */
START_TEST(kinks_are_counted_and_have_derivative_0) {
    random_case c = random_case_open_model(cases[_i].model, cases[_i].prompts, (unsigned)_i);
    const size_t d = c.shape.dim, h = c.reference.mlp_hidden, p = c.p;
    double *gradient = numbers(p);
    for (size_t j = 0; j < d; j++) c.theta[(h - 1) * d + j] = 0; /* the last unit's */
    c.theta[h * d + h - 1] = 0;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        enum linattn__isa isa;
        if (!linattn_kernel_available(kernel)) continue;
        ck_assert_ok(linattn__isa_resolve(kernel, &isa));
        both b = open_both(&c, isa);
        ck_assert(b.moment->count_kinks(&b.shape, c.theta, &b.data, b.work) == (double)(c.prompts * (c.shape.context + 1)));
        b.moment->sum_squares(&b.shape, c.theta, &b.data, gradient, b.work);
        for (size_t j = 0; j < d; j++) ck_assert(gradient[(h - 1) * d + j] == 0 && gradient[h * d + h + j * h + h - 1] == 0);
        ck_assert(gradient[h * d + h - 1] == 0);
        free(b.work);
    }
    free(gradient);
    random_case_close(&c);
}
END_TEST

/* As without an MLP: block form, the last layer's P; full form, all rows of it but the last. */
START_TEST(exact_zeros_are_exact) {
    random_case c = random_case_open_model(cases[_i].model, 9, (unsigned)_i);
    const size_t p = c.p, d = c.shape.dim, side = c.shape.full ? d + 1 : d;
    const size_t front = linattn__network_size(c.reference.mlp_hidden, d);
    double *gradient = numbers(p), *u = numbers(2 * p), *products = numbers(2 * p);
    for (size_t i = 0; i < 2 * p; i++) u[i] = i < p ? cos((double)i) : i < p + front;
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, gradient));
    ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u, 2, products));
    for (size_t h = 0; h < c.shape.heads; h++) {
        const size_t P = front + ((c.shape.layers - 1) * c.shape.heads + h) * 2 * side * side;
        for (size_t i = P; i < P + d * side; i++) ck_assert(gradient[i] == 0 && products[i] == 0 && products[p + i] == 0);
    }
    linattn_objective_destroy(f);
    free(gradient);
    free(u);
    free(products);
    random_case_close(&c);
}
END_TEST

/* 34 chunks are two rounds; the last chunk is short. */
START_TEST(threads_do_not_change_bits) {
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, 5, 5, _i}, .mlp_hidden = 3}, 2115, 7);
    const size_t p = c.p;
    double *one = numbers(p + p * p), *many = numbers(p + p * p);
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, threads);
        double *out = threads == 1 ? one : many;
        ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, out));
        ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, out + p));
        if (threads > 1) ck_assert_mem_eq(one, many, (p + p * p) * sizeof *one);
        linattn_objective_destroy(f);
    }
    free(one);
    free(many);
    random_case_close(&c);
}
END_TEST

/* A sampler draws tokens for it. */
START_TEST(a_sampled_objective_is_that_of_its_batch) {
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, 5, 6, 1}, .mlp_hidden = 4}, 1, 7);
    linattn_sampler_options options;
    linattn_sampler *sampler = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *sampled = NULL;
    double *wanted = numbers(c.p), *got = numbers(c.p), value = NAN, loss = 0;
    linattn_sampler_options_init(&options, sizeof options);
    options.dim = c.shape.dim;
    options.context = c.shape.context;
    ck_assert_ok(linattn_sampler_create(&sampler, &options));
    ck_assert_ok(linattn_objective_create_sampled(&sampled, c.model, sampler, 70, NULL));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 70, 3));
    linattn_objective *fixed = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_gradient(fixed, 0, c.theta, &loss, wanted));
    ck_assert_ok(linattn_objective_gradient(sampled, 3, c.theta, &value, got));
    ck_assert(value == loss);
    ck_assert_mem_eq(got, wanted, c.p * sizeof *got);
    linattn_objective_destroy(fixed);
    linattn_objective_destroy(sampled);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    free(wanted);
    free(got);
    random_case_close(&c);
}
END_TEST

static Suite *front_suite(void) {
    Suite *suite = suite_create("front");
    TCase *tc = tcase_create("front");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, gradients_and_predictions_agree_by_both_paths, 0, CASES);
    tcase_add_loop_test(tc, products_agree_by_both_paths_from_every_stage, 0, CASES);
    tcase_add_loop_test(tc, kinks_are_counted_and_have_derivative_0, 0, CASES);
    tcase_add_loop_test(tc, exact_zeros_are_exact, 0, CASES);
    tcase_add_loop_test(tc, threads_do_not_change_bits, 0, 2);
    tcase_add_test(tc, a_sampled_objective_is_that_of_its_batch);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(front_suite)
