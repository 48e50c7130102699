/* The model: options, tensor table, initialisation, predictions against the token-by-token reference. */
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static linattn_model_options good_options(void) {
    linattn_model_options options;
    ck_assert_ok(linattn_model_options_init(&options, sizeof options));
    options.dim = 5;
    options.layers = 3;
    return options;
}

#define ck_assert_refused(change, wanted, text)                                                                                    \
    do {                                                                                                                           \
        linattn_model_options options = good_options();                                                                            \
        linattn_model *model = (linattn_model *)&options;                                                                          \
        change;                                                                                                                    \
        ck_assert_status(linattn_model_create(&model, &options), wanted, text);                                                    \
        ck_assert_ptr_null(model);                                                                                                 \
    } while (0)

START_TEST(each_option_wrong_in_turn) {
    ck_assert_refused(options.dim = 0, LINATTN_EINVAL, "dim is 0; allowed: 1 to 1024");
    ck_assert_refused(options.dim = SIZE_MAX, LINATTN_EINVAL, "dim is 18446744073709551615");
    ck_assert_refused(options.layers = 0, LINATTN_EINVAL, "layers is 0; allowed: 1 to 256");
    ck_assert_refused(options.layers = 257, LINATTN_EINVAL, "layers is 257");
    ck_assert_refused(options.heads = 0, LINATTN_EINVAL, "heads is 0; allowed: 1 to 64");
    ck_assert_refused(options.heads = 65, LINATTN_EINVAL, "heads is 65");
    ck_assert_refused(options.attention = 7, LINATTN_EINVAL, "attention is 7");
    ck_assert_refused(options.attention = -1, LINATTN_EINVAL, "attention is -1");
    ck_assert_refused(options.form = 2, LINATTN_EINVAL, "form is 2");
    ck_assert_refused(options.init_std = -0.5, LINATTN_EINVAL, "init_std is -0.5");
    ck_assert_refused(options.init_std = NAN, LINATTN_EINVAL, "init_std is nan");
    ck_assert_refused(options.init_std = INFINITY, LINATTN_EINVAL, "init_std is inf");
    ck_assert_refused(options.qk_rank = 1025, LINATTN_EINVAL, "qk_rank is 1025; allowed: 0 (Q is free) to 1024");
    ck_assert_refused(options.mlp_hidden = 4097, LINATTN_EINVAL, "mlp_hidden is 4097; allowed: 0 (no front MLP) to 4096");
    ck_assert_refused(options.ff_hidden = 4097, LINATTN_EINVAL, "ff_hidden is 4097; allowed: 0 (no feed-forward blocks) to 4096");
    ck_assert_refused(options.ff_hidden = SIZE_MAX, LINATTN_EINVAL, "ff_hidden is 18446744073709551615");
    ck_assert_refused(options.struct_size = 8, LINATTN_EINVAL, "linattn_model_options");
    linattn_model_options options = good_options();
    linattn_model *model = NULL;
    ck_assert_status(linattn_model_create(NULL, &options), LINATTN_EINVAL, "out is NULL");
    ck_assert_int_eq(linattn_model_create(&model, NULL), LINATTN_EINVAL);
    ck_assert_status(linattn_model_options_init(NULL, sizeof options), LINATTN_EINVAL, "NULL");
}
END_TEST

START_TEST(null_handles) {
    double x = 1;
    linattn_tensor tensor = {.struct_size = sizeof tensor};
    ck_assert_uint_eq(linattn_model_parameter_count(NULL), 0);
    ck_assert_uint_eq(linattn_model_tensor_count(NULL), 0);
    ck_assert_status(linattn_model_get_tensor(NULL, 0, &tensor), LINATTN_EINVAL, "model is NULL");
    ck_assert_status(linattn_model_init_parameters(NULL, 0, &x), LINATTN_EINVAL, "model is NULL");
    ck_assert_status(linattn_model_predict(NULL, NULL, &x, &x), LINATTN_EINVAL, "model is NULL");
    ck_assert_double_eq(x, 1);
    linattn_model_destroy(NULL);
}
END_TEST

/* The largest sizes that are each allowed need no memory before parameters are asked for. */
START_TEST(largest_model) {
    linattn_model_options options = good_options();
    linattn_model *model = NULL;
    options.dim = LINATTN_MAX_DIM;
    options.layers = LINATTN_MAX_LAYERS;
    options.heads = LINATTN_MAX_HEADS;
    options.form = LINATTN_FORM_FULL;
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_uint_eq(linattn_model_parameter_count(model), (size_t)2 * 256 * 64 * 1025 * 1025);
    linattn_model_destroy(model);
    options.mlp_hidden = options.ff_hidden = LINATTN_MAX_HIDDEN;
    options.qk_rank = LINATTN_MAX_RANK;
    ck_assert_ok(linattn_model_create(&model, &options));
    const size_t front = 4096 * (2 * 1024 + 1) + 1024, block = 4096 * (2 * 1025 + 1) + 1025;
    const size_t heads = (size_t)64 * (1025 * 1025 + 2 * 1024 * 1025);
    ck_assert_uint_eq(linattn_model_parameter_count(model), front + 256 * (heads + block));
    linattn_tensor last = {.struct_size = sizeof last};
    ck_assert_ok(linattn_model_get_tensor(model, linattn_model_tensor_count(model) - 1, &last));
    ck_assert_str_eq(last.name, "layer255.ff.b2");
    ck_assert_uint_eq(last.offset + 1025, linattn_model_parameter_count(model));
    linattn_model_destroy(model);
}
END_TEST

START_TEST(tensor_table_covers_theta_in_order) {
    for (int full = 0; full <= 1; full++) {
        random_case c = random_case_open((reference_shape){3, 2, 4, 6, full}, 1, 1);
        const size_t side = full ? 5 : 4, count = linattn_model_tensor_count(c.model);
        size_t offset = 0;
        ck_assert_uint_eq(count, 12);
        for (size_t i = 0; i < count; i++) {
            linattn_tensor t = {.struct_size = sizeof t};
            char name[40];
            ck_assert_ok(linattn_model_get_tensor(c.model, i, &t));
            snprintf(name, sizeof name, "layer%d.head%d.%c", (int)i / 4, (int)i / 2 % 2, i % 2 ? 'Q' : 'P');
            ck_assert_str_eq(t.name, name);
            ck_assert_uint_eq(t.rows, side);
            ck_assert_uint_eq(t.columns, side);
            ck_assert_uint_eq(t.offset, offset);
            ck_assert_uint_eq(t.layer, i / 4);
            ck_assert_uint_eq(t.head, i / 2 % 2);
            ck_assert_int_eq(t.kind, i % 2 ? LINATTN_TENSOR_Q : LINATTN_TENSOR_P);
            offset += t.rows * t.columns;
        }
        ck_assert_uint_eq(offset, linattn_model_parameter_count(c.model));
        linattn_tensor t = {.struct_size = sizeof t, .rows = 77};
        ck_assert_status(linattn_model_get_tensor(c.model, count, &t), LINATTN_EINVAL, "index is 12; allowed: 0 to 11");
        ck_assert_uint_eq(t.rows, 77);
        ck_assert_status(linattn_model_get_tensor(c.model, 0, NULL), LINATTN_EINVAL, "NULL");
        random_case_close(&c);
    }
}
END_TEST

START_TEST(tensor_table_of_a_factored_model) {
    static const char *const parts[] = {"P", "WQ", "WK"};
    static const int32_t kinds[] = {LINATTN_TENSOR_P, LINATTN_TENSOR_WQ, LINATTN_TENSOR_WK};
    for (int full = 0; full <= 1; full++) {
        random_case c = random_case_open_model((reference_model){.shape = {3, 2, 4, 6, full}, .qk_rank = 3}, 1, 1);
        const size_t side = full ? 5 : 4, count = linattn_model_tensor_count(c.model);
        size_t offset = 0;
        ck_assert_uint_eq(count, 18);
        for (size_t i = 0; i < count; i++) {
            linattn_tensor t = {.struct_size = sizeof t};
            char name[40];
            ck_assert_ok(linattn_model_get_tensor(c.model, i, &t));
            snprintf(name, sizeof name, "layer%d.head%d.%s", (int)i / 6, (int)i / 3 % 2, parts[i % 3]);
            ck_assert_str_eq(t.name, name);
            ck_assert_uint_eq(t.rows, i % 3 ? 3 : side);
            ck_assert_uint_eq(t.columns, side);
            ck_assert_uint_eq(t.offset, offset);
            ck_assert_uint_eq(t.layer, i / 6);
            ck_assert_uint_eq(t.head, i / 3 % 2);
            ck_assert_int_eq(t.kind, kinds[i % 3]);
            offset += t.rows * t.columns;
        }
        ck_assert_uint_eq(offset, linattn_model_parameter_count(c.model));
        random_case_close(&c);
    }
}
END_TEST

START_TEST(tensor_table_of_a_front_mlp) {
    static const struct {
        const char *name;
        size_t rows, columns, offset;
        int32_t kind;
    } wanted[] = {{"front.W1", 6, 4, 0, LINATTN_TENSOR_W1},          {"front.b1", 6, 1, 24, LINATTN_TENSOR_B1},
                  {"front.W2", 4, 6, 30, LINATTN_TENSOR_W2},         {"front.b2", 4, 1, 54, LINATTN_TENSOR_B2},
                  {"layer0.head0.P", 4, 4, 58, LINATTN_TENSOR_P},    {"layer0.head0.WQ", 2, 4, 74, LINATTN_TENSOR_WQ},
                  {"layer0.head0.WK", 2, 4, 82, LINATTN_TENSOR_WK},  {"layer1.head0.P", 4, 4, 90, LINATTN_TENSOR_P},
                  {"layer1.head0.WQ", 2, 4, 106, LINATTN_TENSOR_WQ}, {"layer1.head0.WK", 2, 4, 114, LINATTN_TENSOR_WK}};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    random_case c = random_case_open_model((reference_model){.shape = {2, 1, 4, 6, 0}, .qk_rank = 2, .mlp_hidden = 6}, 1, 1);
    ck_assert_uint_eq(linattn_model_tensor_count(c.model), COUNT);
    ck_assert_uint_eq(linattn_model_parameter_count(c.model), 122);
    for (size_t i = 0; i < COUNT; i++) {
        linattn_tensor t = {.struct_size = sizeof t};
        ck_assert_ok(linattn_model_get_tensor(c.model, i, &t));
        ck_assert_str_eq(t.name, wanted[i].name);
        ck_assert(t.rows == wanted[i].rows && t.columns == wanted[i].columns && t.offset == wanted[i].offset);
        ck_assert(t.kind == wanted[i].kind && t.layer == (i > 6) && t.head == 0 && t.reserved == 0);
    }
    random_case_close(&c);
}
END_TEST

START_TEST(tensor_table_of_feed_forward_blocks) {
    static const struct {
        const char *name;
        size_t rows, columns, offset, layer, head;
        int32_t kind;
    } wanted[] = {{"front.W1", 2, 2, 0, 0, 0, LINATTN_TENSOR_W1},          {"front.b1", 2, 1, 4, 0, 0, LINATTN_TENSOR_B1},
                  {"front.W2", 2, 2, 6, 0, 0, LINATTN_TENSOR_W2},          {"front.b2", 2, 1, 10, 0, 0, LINATTN_TENSOR_B2},
                  {"layer0.head0.P", 2, 2, 12, 0, 0, LINATTN_TENSOR_P},    {"layer0.head0.Q", 2, 2, 16, 0, 0, LINATTN_TENSOR_Q},
                  {"layer0.head1.P", 2, 2, 20, 0, 1, LINATTN_TENSOR_P},    {"layer0.head1.Q", 2, 2, 24, 0, 1, LINATTN_TENSOR_Q},
                  {"layer0.ff.W1", 5, 3, 28, 0, 0, LINATTN_TENSOR_FF_W1},  {"layer0.ff.b1", 5, 1, 43, 0, 0, LINATTN_TENSOR_FF_B1},
                  {"layer0.ff.W2", 3, 5, 48, 0, 0, LINATTN_TENSOR_FF_W2},  {"layer0.ff.b2", 3, 1, 63, 0, 0, LINATTN_TENSOR_FF_B2},
                  {"layer1.head0.P", 2, 2, 66, 1, 0, LINATTN_TENSOR_P},    {"layer1.head0.Q", 2, 2, 70, 1, 0, LINATTN_TENSOR_Q},
                  {"layer1.head1.P", 2, 2, 74, 1, 1, LINATTN_TENSOR_P},    {"layer1.head1.Q", 2, 2, 78, 1, 1, LINATTN_TENSOR_Q},
                  {"layer1.ff.W1", 5, 3, 82, 1, 0, LINATTN_TENSOR_FF_W1},  {"layer1.ff.b1", 5, 1, 97, 1, 0, LINATTN_TENSOR_FF_B1},
                  {"layer1.ff.W2", 3, 5, 102, 1, 0, LINATTN_TENSOR_FF_W2}, {"layer1.ff.b2", 3, 1, 117, 1, 0, LINATTN_TENSOR_FF_B2}};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    random_case c = random_case_open_model((reference_model){.shape = {2, 2, 2, 6, 0}, .mlp_hidden = 2, .ff_hidden = 5}, 1, 1);
    linattn_tensor t = {.struct_size = sizeof t};
    ck_assert_uint_eq(linattn_model_tensor_count(c.model), COUNT);
    ck_assert_uint_eq(linattn_model_parameter_count(c.model), 120);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_ok(linattn_model_get_tensor(c.model, i, &t));
        ck_assert_str_eq(t.name, wanted[i].name);
        ck_assert(t.rows == wanted[i].rows && t.columns == wanted[i].columns && t.offset == wanted[i].offset);
        ck_assert(t.kind == wanted[i].kind && t.layer == wanted[i].layer && t.head == wanted[i].head && t.reserved == 0);
    }
    ck_assert_status(linattn_model_get_tensor(c.model, COUNT, &t), LINATTN_EINVAL, "index is 20; allowed: 0 to 19");
    random_case_close(&c);
}
END_TEST

/* Uniform between +-1/sqrt(inputs): the largest of m is above 0.9 but for a chance of 0.95^m, and the mean square is a third of the
 * bound's square within 4.5 standard errors. The other parameters are those of the model without an MLP. */
START_TEST(front_mlp_begins_uniform) {
    enum { H = 300 };
    linattn_model_options options = good_options();
    linattn_model *model = NULL, *plain = NULL;
    options.dim = 4;
    ck_assert_ok(linattn_model_create(&plain, &options));
    options.mlp_hidden = H;
    ck_assert_ok(linattn_model_create(&model, &options));
    const size_t p = linattn_model_parameter_count(model), rest = linattn_model_parameter_count(plain), in_1 = 5 * H;
    double *theta = malloc((p + rest) * sizeof *theta);
    ck_assert_ok(linattn_model_init_parameters(model, 9, theta));
    ck_assert_ok(linattn_model_init_parameters(plain, 9, theta + p));
    ck_assert_uint_eq(p - rest, 9 * H + 4);
    ck_assert_mem_eq(theta + p - rest, theta + p, rest * sizeof *theta);
    for (int part = 0; part < 2; part++) {
        const size_t first = part ? in_1 : 0, end = part ? p - rest : in_1;
        const double bound = 1 / sqrt(part ? H : 4), count = (double)(end - first);
        double least = 0, most = 0, square = 0;
        for (size_t i = first; i < end; i++) {
            least = fmin(least, theta[i] / bound);
            most = fmax(most, theta[i] / bound);
            square += theta[i] / bound * theta[i] / bound / count;
        }
        ck_assert(least >= -1 && most <= 1 && least < -0.9 && most > 0.9);
        ck_assert_double_eq_tol(square, 1.0 / 3, 4.5 * sqrt(4.0 / 45 / count));
    }
    free(theta);
    linattn_model_destroy(model);
    linattn_model_destroy(plain);
}
END_TEST

/* Feed-forward blocks begin like that too, each with numbers of its own, and leave the other parameters as they were. */
START_TEST(feed_forward_blocks_begin_uniform) {
    enum { H = 300, D = 4, K = D + 1, HEAD = 2 * D * D, IN_1 = H * K + H, BLOCK = IN_1 + K * H + K, L = 2 };
    static double theta[L * (HEAD + BLOCK)], rest[L * HEAD];
    linattn_model_options options = good_options();
    linattn_model *model = NULL, *plain = NULL;
    options.dim = D;
    options.layers = L;
    ck_assert_ok(linattn_model_create(&plain, &options));
    options.ff_hidden = H;
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_uint_eq(linattn_model_parameter_count(model), L * (HEAD + BLOCK));
    ck_assert_ok(linattn_model_init_parameters(model, 9, theta));
    ck_assert_ok(linattn_model_init_parameters(plain, 9, rest));
    for (size_t l = 0; l < L; l++) {
        const double *const layer = theta + l * (HEAD + BLOCK), *const block = layer + HEAD;
        ck_assert_mem_eq(layer, rest + l * HEAD, HEAD * sizeof *layer);
        for (int part = 0; part < 2; part++) {
            const size_t first = part ? IN_1 : 0, end = part ? BLOCK : IN_1;
            const double bound = 1 / sqrt(part ? H : K), count = (double)(end - first);
            double least = 0, most = 0, square = 0;
            for (size_t i = first; i < end; i++) {
                least = fmin(least, block[i] / bound);
                most = fmax(most, block[i] / bound);
                square += block[i] / bound * block[i] / bound / count;
            }
            ck_assert(least >= -1 && most <= 1 && least < -0.9 && most > 0.9);
            ck_assert_double_eq_tol(square, 1.0 / 3, 4.5 * sqrt(4.0 / 45 / count));
        }
    }
    ck_assert_double_ne(theta[HEAD], theta[HEAD + BLOCK + HEAD]);
    linattn_model_destroy(model);
    linattn_model_destroy(plain);
}
END_TEST

/* An options struct of the first release ends before qk_rank: Q is free. */
START_TEST(options_of_the_first_release) {
    linattn_model_options options;
    linattn_model *model = NULL;
    memset(&options, 0xff, sizeof options);
    ck_assert_ok(linattn_model_options_init(&options, offsetof(linattn_model_options, qk_rank)));
    options.dim = 5;
    options.layers = 3;
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_uint_eq(linattn_model_parameter_count(model), 150);
    linattn_model_destroy(model);
}
END_TEST

/* 100352 parameters: the sample standard deviation of normals with sd 0.05 is 0.05 within 0.0005, 4.5 standard errors. */
START_TEST(case_S3_init_std_is_a_standard_deviation) {
    linattn_model_options options = good_options();
    linattn_model *model = NULL;
    options.dim = 224;
    options.layers = 1;
    ck_assert_ok(linattn_model_create(&model, &options));
    const size_t p = linattn_model_parameter_count(model);
    double *theta = malloc(p * sizeof *theta), *again = malloc(p * sizeof *again), mean = 0, square = 0;
    ck_assert_ok(linattn_model_init_parameters(model, 42, theta));
    for (size_t i = 0; i < p; i++) mean += theta[i] / (double)p;
    for (size_t i = 0; i < p; i++) square += (theta[i] - mean) * (theta[i] - mean) / (double)(p - 1);
    ck_assert_double_eq_tol(sqrt(square), 0.05, 0.0005);
    ck_assert_double_eq_tol(mean, 0, 4 * 0.05 / sqrt((double)p));
    ck_assert_ok(linattn_model_init_parameters(model, 42, again));
    ck_assert_mem_eq(theta, again, p * sizeof *theta);
    ck_assert_ok(linattn_model_init_parameters(model, 43, again));
    ck_assert_double_ne(theta[0], again[0]);
    ck_assert_status(linattn_model_init_parameters(model, 1, NULL), LINATTN_EINVAL, "theta is NULL");
    free(theta);
    free(again);
    linattn_model_destroy(model);
}
END_TEST

START_TEST(predictions_agree_with_the_definition) {
    const reference_shape shapes[] = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 1},  {3, 1, 5, 20, 0}, {3, 1, 5, 20, 1}, {2, 3, 4, 7, 0},
                                      {2, 3, 4, 7, 1}, {2, 1, 20, 3, 0}, {2, 1, 10, 3, 0}, {4, 2, 6, 9, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        random_case c = random_case_open(shapes[i], 13, (unsigned)i);
        double wanted[13], got[13];
        reference_gradient(&c.shape, c.tokens, c.targets, c.prompts, c.theta, wanted, NULL);
        ck_assert_ok(linattn_model_predict(c.model, c.batch, c.theta, got));
        ck_assert_double_le(relative_distance(got, wanted, 13), 1e-13);
        random_case_close(&c);
    }
}
END_TEST

/* Attention sums over the context: its order says nothing. */
START_TEST(permuting_the_context_changes_nothing) {
    random_case c = random_case_open((reference_shape){3, 1, 5, 20, 1}, 5, 3);
    const size_t row = 6, prompt = 21 * row;
    double before[5], after[5], token[6];
    linattn_batch *reversed = NULL;
    ck_assert_ok(linattn_model_predict(c.model, c.batch, c.theta, before));
    for (size_t b = 0; b < 5; b++)
        for (size_t i = 0; i < 10; i++) {
            double *low = c.tokens + b * prompt + i * row, *high = c.tokens + b * prompt + (19 - i) * row;
            memcpy(token, low, sizeof token);
            memcpy(low, high, sizeof token);
            memcpy(high, token, sizeof token);
        }
    ck_assert_ok(linattn_batch_create_from_arrays(&reversed, c.tokens, c.targets, 5, 20, 5));
    ck_assert_ok(linattn_model_predict(c.model, reversed, c.theta, after));
    ck_assert_double_le(relative_distance(after, before, 5), 1e-13);
    linattn_batch_destroy(reversed);
    random_case_close(&c);
}
END_TEST

START_TEST(predict_refuses_what_does_not_fit) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 2, 1),
                other = random_case_open((reference_shape){2, 1, 4, 4, 0}, 2, 1);
    double out[2] = {7, 8};
    ck_assert_status(linattn_model_predict(c.model, other.batch, c.theta, out), LINATTN_EMISMATCH, "dim 4, the model 3");
    ck_assert_status(linattn_model_predict(c.model, NULL, c.theta, out), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_model_predict(c.model, c.batch, NULL, out), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_model_predict(c.model, c.batch, c.theta, NULL), LINATTN_EINVAL, "out is NULL");
    c.theta[3] = NAN;
    ck_assert_status(linattn_model_predict(c.model, c.batch, c.theta, out), LINATTN_ENONFINITE, "theta[3] is nan");
    ck_assert_double_eq(out[0], 7);
    ck_assert_double_eq(out[1], 8);
    random_case_close(&c);
    random_case_close(&other);
}
END_TEST

static Suite *model_suite(void) {
    Suite *suite = suite_create("model");
    TCase *tc = tcase_create("model");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, each_option_wrong_in_turn);
    tcase_add_test(tc, null_handles);
    tcase_add_test(tc, largest_model);
    tcase_add_test(tc, tensor_table_covers_theta_in_order);
    tcase_add_test(tc, tensor_table_of_a_factored_model);
    tcase_add_test(tc, tensor_table_of_a_front_mlp);
    tcase_add_test(tc, tensor_table_of_feed_forward_blocks);
    tcase_add_test(tc, front_mlp_begins_uniform);
    tcase_add_test(tc, feed_forward_blocks_begin_uniform);
    tcase_add_test(tc, options_of_the_first_release);
    tcase_add_test(tc, case_S3_init_std_is_a_standard_deviation);
    tcase_add_test(tc, predictions_agree_with_the_definition);
    tcase_add_test(tc, permuting_the_context_changes_nothing);
    tcase_add_test(tc, predict_refuses_what_does_not_fit);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(model_suite)
