/* What holds for every model: each kind of attention in each form, with one head and two, Q free and factored, without networks,
 * with a front MLP, with feed-forward blocks and with both; and a few sizes besides. Against the definition, differences, itself
 * with its prompts cut and its context turned, and under every kernel and number of threads. */
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>

enum { KINDS = 4, COMBINATIONS = KINDS * 2 * 2 * 2 * 4 };

/* Layers, d and n of combinations, in turn; their number divides none of the others. */
static const size_t sizes[][3] = {{1, 1, 1}, {2, 3, 4}, {3, 2, 5}, {2, 1, 3}, {1, 3, 7}, {2, 2, 2}, {4, 2, 6}};

/* d = 5 is a size that kernels know; A of 93 tokens in 8 heads is not kept between the passes; four heads have more parameters than
 * one pass takes directions. Of the last LARGE cases there are no Hessians. */
static const reference_model others[] = {
    {.shape = {3, 1, 5, 20, 0}},
    {.shape = {3, 1, 5, 20, 1}},
    {.shape = {8, 1, 5, 9, 0}},
    {.shape = {2, 4, 4, 3, 1}},
    {.shape = {2, 1, 7, 1, 1}},
    {.shape = {1, 2, 5, 4, 1}},
    {.shape = {5, 1, 6, 5, 0}},
    {.shape = {6, 1, 2, 5, 1}},
    {.shape = {2, 3, 4, 7, 1}},
    {.shape = {2, 3, 4, 7, 0}},
    {.shape = {3, 1, 5, 9, 0}, .attention = 1},
    {.shape = {1, 1, 5, 7, 1}, .attention = 2, .ff_hidden = 1},
    {.shape = {3, 1, 5, 9, 0}, .attention = 3, .ff_hidden = 6},
    {.shape = {2, 1, 5, 6, 1}, .attention = 3, .mlp_hidden = 3, .qk_rank = 5},
    {.shape = {2, 2, 5, 6, 1}, .attention = 1, .mlp_hidden = 7, .ff_hidden = 5, .qk_rank = 2},
    {.shape = {2, 1, 5, 9, 0}, .attention = 0, .ff_hidden = 17},
    {.shape = {1, 1, 10, 13, 0}, .attention = 1, .ff_hidden = 9},
    {.shape = {4, 2, 1, 92, 0}, .attention = 1},
    {.shape = {4, 2, 1, 92, 0}, .attention = 3, .ff_hidden = 2},
    {.shape = {4, 2, 1, 92, 1}, .attention = 2, .mlp_hidden = 2},
    {.shape = {2, 1, 20, 30, 0}},
    {.shape = {3, 2, 10, 12, 0}},
};
enum { LARGE = 2, CASES = COMBINATIONS + sizeof others / sizeof *others, HESSIANS = CASES - LARGE };

static reference_model model_of(int i) {
    if (i >= COMBINATIONS) return others[i - COMBINATIONS];
    const size_t at = (size_t)i, turn = at % 5, factored = at / 16 % 2, networks = at / 32, *size = sizes[at % 7];
    return (reference_model){.shape = {size[0], 1 + at / 8 % 2, size[1], size[2], i / 4 % 2},
                             .attention = i % KINDS,
                             .qk_rank = factored ? 1 + turn % 3 : 0,
                             .mlp_hidden = networks % 2 ? 1 + turn : 0,
                             .ff_hidden = networks / 2 ? 5 - turn : 0};
}

/* The batch sizes are those at which blocks of 8 and chunks of 64 begin and end. */
START_TEST(every_kernel_agrees_with_the_definition) {
    static const size_t prompts[] = {1, 7, 8, 9, 17, 63, 64, 65, 130};
    random_case c = random_case_open_model(model_of(_i), prompts[_i % 9], (unsigned)_i);
    double *wanted = numbers(c.p), *got = numbers(c.p), *first = numbers(c.p), *predictions = numbers(2 * c.prompts);
    const double loss =
        reference_model_gradient(&c.reference, c.tokens, c.targets, c.prompts, c.theta, predictions + c.prompts, wanted);
    int compared = 0;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        ck_assert_double_le(fabs(random_case_gradient(&c, NULL, kernel, 1, got) - loss), 1e-13 * loss);
        ck_assert_double_le(relative_distance(got, wanted, c.p), 1e-12);
        if (!compared++) memcpy(first, got, c.p * sizeof *first);
        ck_assert_double_le(relative_distance(got, first, c.p), 1e-13);
    }
    ck_assert_int_ge(compared, 1);
    ck_assert_ok(linattn_model_predict(c.model, c.batch, c.theta, predictions));
    ck_assert_double_le(relative_distance(predictions, predictions + c.prompts, c.prompts), 1e-12);
    free(wanted);
    free(got);
    free(first);
    free(predictions);
    random_case_close(&c);
}
END_TEST

/* h = 1e-6: at 1e-5 the third derivative of eight layers already shows (1.5e-6 of the largest entry, falling as h^2). Where the
 * gradient is small beside the value, differences carry the rounding of the value. */
START_TEST(gradient_agrees_with_differences) {
    random_case c = random_case_open_model(model_of(_i), 9, (unsigned)_i + 1000);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_derivative_report report = {.struct_size = sizeof report};
    double *gradient = numbers(c.p), value, largest = 0;
    ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, &value, gradient));
    for (size_t i = 0; i < c.p; i++) largest = fmax(largest, fabs(gradient[i]));
    ck_assert_ok(linattn_objective_check_derivatives(f, 0, c.theta, 1e-6, &report));
    ck_assert_double_le(report.gradient_error, 1e-7 + 4e-16 * value / (1e-6 * largest));
    ck_assert_uint_eq(report.kinks, 0);
    free(gradient);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* Rows of the Hessian by central differences of the gradient. */
static void differences_of_gradients(const random_case *c, double h, double *out) {
    linattn_objective *f = random_case_objective(c, NULL, LINATTN_KERNEL_AUTO, 1);
    double *low = numbers(c->p);
    for (size_t i = 0; i < c->p; i++) {
        const double centre = c->theta[i];
        c->theta[i] = centre - h;
        ck_assert_ok(linattn_objective_gradient(f, 0, c->theta, NULL, low));
        c->theta[i] = centre + h;
        ck_assert_ok(linattn_objective_gradient(f, 0, c->theta, NULL, out + i * c->p));
        c->theta[i] = centre;
        for (size_t j = 0; j < c->p; j++) out[i * c->p + j] = (out[i * c->p + j] - low[j]) / (2 * h);
    }
    free(low);
    linattn_objective_destroy(f);
}

/* h = 2e-6: at 1e-5 the fourth derivative of six layers shows; N2 asks for 1e-6 of the largest entry. A product with directions
 * that touch all layers is H u, and several directions in one call are the same bits as one by one. */
START_TEST(case_N2_hessian_agrees_with_differences) {
    random_case c = random_case_open_model(model_of(_i), 9, (unsigned)_i);
    const size_t p = c.p;
    double *hessian = numbers(p * p), *difference = numbers(p * p), *first = numbers(p * p);
    double *u = numbers(3 * p), *out = numbers(3 * p), *wanted = numbers(3 * p), *one = numbers(p);
    int compared = 0;
    differences_of_gradients(&c, 2e-6, difference);
    for (size_t i = 0; i < 3 * p; i++) u[i] = sin((double)(i * i % 1009));
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        linattn_objective *f = random_case_objective(&c, NULL, kernel, 1);
        ck_assert_int_eq(linattn_objective_hvp_kind(f), LINATTN_HVP_EXACT);
        ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
        ck_assert_double_le(relative_distance(hessian, difference, p * p), 1e-8);
        if (!compared++) memcpy(first, hessian, p * p * sizeof *first);
        ck_assert_double_le(relative_distance(hessian, first, p * p), 1e-13);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < i; j++) ck_assert(hessian[i * p + j] == hessian[j * p + i]); /* bit for bit (case N5) */
        ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u, 3, out));
        memset(wanted, 0, 3 * p * sizeof *wanted);
        for (size_t k = 0; k < 3; k++) {
            for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < p; j++) wanted[k * p + i] += hessian[i * p + j] * u[k * p + j];
            ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u + k * p, 1, one));
            ck_assert_mem_eq(one, out + k * p, p * sizeof *one);
        }
        ck_assert_double_le(relative_distance(out, wanted, 3 * p), 1e-12);
        linattn_objective_destroy(f);
    }
    free(hessian);
    free(difference);
    free(first);
    free(u);
    free(out);
    free(wanted);
    free(one);
    random_case_close(&c);
}
END_TEST

/* Whether entry (row, column) of a tensor changes nothing but entries of the last layer's Z' that nobody reads: of P in block form
 * all, in full form all rows but the last; with feed-forward blocks it is those rows of W_2 and b_2 instead. */
static int is_dead(const random_case *c, const linattn_tensor *t, size_t row) {
    if (t->layer + 1 < c->shape.layers) return 0;
    if (t->kind == LINATTN_TENSOR_P) return c->reference.ff_hidden == 0 && row < c->shape.dim;
    return (t->kind == LINATTN_TENSOR_FF_W2 || t->kind == LINATTN_TENSOR_FF_B2) && row < c->shape.dim;
}

/* And at L = 1 in full form the last row of Q meets the query's last entry alone, which is 0. */
START_TEST(exact_zeros_are_exact) {
    random_case c = random_case_open_model(model_of(_i), 9, (unsigned)_i);
    const size_t p = c.p, d = c.shape.dim;
    double *gradient = numbers(p), *hessian = numbers(p * p), living = 0;
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, gradient));
    ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, hessian));
    for (size_t tensor = 0; tensor < linattn_model_tensor_count(c.model); tensor++) {
        linattn_tensor t = {.struct_size = sizeof t};
        ck_assert_ok(linattn_model_get_tensor(c.model, tensor, &t));
        for (size_t i = t.offset; i < t.offset + t.rows * t.columns; i++) {
            const size_t row = (i - t.offset) / t.columns;
            const int dead = is_dead(&c, &t, row), unread = c.shape.layers == 1 && t.kind == LINATTN_TENSOR_Q && row == d;
            if (dead || unread) ck_assert(gradient[i] == 0);
            if (t.kind == LINATTN_TENSOR_P && !dead && c.reference.attention != LINATTN_ATTENTION_RELU) living += gradient[i] != 0;
            for (size_t j = 0; dead && j < p; j++) ck_assert(hessian[i * p + j] == 0 && hessian[j * p + i] == 0);
        }
    }
    const int some = c.shape.full || c.shape.layers > 1 || c.reference.ff_hidden; /* of P, not all is dead */
    if (some && c.reference.attention != LINATTN_ATTENTION_RELU) ck_assert_double_gt(living, 0);
    linattn_objective_destroy(f);
    free(gradient);
    free(hessian);
    random_case_close(&c);
}
END_TEST

/* Context tokens are a set: any order gives the same but for rounding. */
START_TEST(order_of_the_context_does_not_matter) {
    random_case c = random_case_open_model(model_of(_i), 9, (unsigned)_i + 20);
    const size_t n = c.shape.context, k = c.shape.dim + 1;
    double *turned = numbers(9 * (n + 1) * k), *wanted = numbers(c.p), *got = numbers(c.p);
    memcpy(turned, c.tokens, 9 * (n + 1) * k * sizeof *turned);
    for (size_t b = 0; b < 9; b++)
        for (size_t i = 0; i < n; i++)
            memcpy(turned + (b * (n + 1) + i) * k, c.tokens + (b * (n + 1) + (n - 1 - i)) * k, k * sizeof *turned);
    linattn_batch *batch = NULL;
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, turned, c.targets, 9, n, c.shape.dim));
    const double value = random_case_gradient(&c, NULL, LINATTN_KERNEL_AUTO, 1, wanted);
    ck_assert_double_le(fabs(random_case_gradient(&c, batch, LINATTN_KERNEL_AUTO, 1, got) - value), 1e-13 * value);
    ck_assert_double_le(relative_distance(got, wanted, c.p), 1e-12);
    linattn_batch_destroy(batch);
    free(turned);
    free(wanted);
    free(got);
    random_case_close(&c);
}
END_TEST

START_TEST(batch_is_the_mean_of_its_prompts) {
    enum { PROMPTS = 11 };
    random_case c = random_case_open_model(model_of(_i), PROMPTS, (unsigned)_i + 30);
    const size_t numbers_of_one = (c.shape.context + 1) * (c.shape.dim + 1);
    double *whole = numbers(c.p), *sum = numbers(c.p), *part = numbers(c.p), value = 0;
    const double loss = random_case_gradient(&c, NULL, LINATTN_KERNEL_AUTO, 1, whole);
    for (size_t b = 0; b < PROMPTS; b++) {
        linattn_batch *batch = NULL;
        ck_assert_ok(linattn_batch_create_from_arrays(&batch, c.tokens + b * numbers_of_one, c.targets + b, 1, c.shape.context,
                                                      c.shape.dim));
        value += random_case_gradient(&c, batch, LINATTN_KERNEL_AUTO, 1, part) / PROMPTS;
        for (size_t i = 0; i < c.p; i++) sum[i] += part[i] / PROMPTS;
        linattn_batch_destroy(batch);
    }
    ck_assert_double_le(fabs(value - loss), 1e-13 * loss);
    ck_assert_double_le(relative_distance(sum, whole, c.p), 1e-12);
    free(whole);
    free(sum);
    free(part);
    random_case_close(&c);
}
END_TEST

/* Five chunks, of which the last is short. */
START_TEST(threads_do_not_change_bits) {
    random_case c = random_case_open_model(model_of(_i), 259, 7);
    const size_t p = c.p;
    double *one = numbers(4 * p), *many = numbers(4 * p), *u = numbers(3 * p);
    for (size_t i = 0; i < 3 * p; i++) u[i] = cos((double)(i * i % 997));
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, threads);
        double *out = threads == 1 ? one : many;
        ck_assert_ok(linattn_objective_gradient(f, 0, c.theta, NULL, out));
        ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, u, 3, out + p));
        if (threads > 1) ck_assert_mem_eq(one, many, 4 * p * sizeof *one);
        linattn_objective_destroy(f);
    }
    free(one);
    free(many);
    free(u);
    random_case_close(&c);
}
END_TEST

static Suite *conformance_suite(void) {
    Suite *suite = suite_create("conformance");
    TCase *tc = tcase_create("conformance");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, every_kernel_agrees_with_the_definition, 0, CASES);
    tcase_add_loop_test(tc, gradient_agrees_with_differences, 0, CASES);
    tcase_add_loop_test(tc, case_N2_hessian_agrees_with_differences, 0, HESSIANS);
    tcase_add_loop_test(tc, exact_zeros_are_exact, 0, HESSIANS);
    tcase_add_loop_test(tc, order_of_the_context_does_not_matter, 0, CASES);
    tcase_add_loop_test(tc, batch_is_the_mean_of_its_prompts, 0, CASES);
    tcase_add_loop_test(tc, threads_do_not_change_bits, 0, CASES);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(conformance_suite)
