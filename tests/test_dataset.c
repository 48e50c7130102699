/* test_dataset.c: minibatches of a fixed set of prompts: every prompt once in an epoch, all orders equally likely, the same for
 * a draw however it is come by. */
#include "common/allocate.h"
#include "objective/dataset.h"
#include "objective/objective.h"
#include "reference/reference_random.h"
#include "support/suite.h"
#include "support/two_layers.h"
#include <math.h>

enum { D = 2, CONTEXT = 3, NUMBERS = (CONTEXT + 1) * (D + 1), P = 2 * 2 * D * D, MOST = 40 };

/* Prompts of random tokens; the target of prompt i is 2^i. At theta = 0 predictions are 0, so the value times the number of prompts
 * is the sum of 4^i: it tells which prompts there were, and how often, as long as none is there four times (N < 26). */
static linattn_batch *make_batch(size_t count, double *tokens, double *targets) {
    linattn_sampler_options o;
    linattn_sampler *sampler;
    linattn_batch *drawn, *batch;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = D;
    o.context = CONTEXT;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_ok(linattn_batch_create_from_sampler(&drawn, sampler, count, 0));
    ck_assert_ok(linattn_batch_get_arrays(drawn, tokens, NULL));
    for (size_t i = 0; i < count; i++) targets[i] = ldexp(1, (int)i);
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, count, CONTEXT, D));
    linattn_batch_destroy(drawn);
    linattn_sampler_destroy(sampler);
    return batch;
}

typedef struct setting {
    double theta[P], tokens[MOST * NUMBERS], targets[MOST];
    linattn_model *model;
    linattn_batch *batch;
} setting;

static void open_setting(setting *s, size_t count, int32_t attention) {
    s->model = two_layers(D, attention, s->theta);
    s->batch = make_batch(count, s->tokens, s->targets);
}

static void close_setting(setting *s) {
    linattn_model_destroy(s->model);
    linattn_batch_destroy(s->batch);
}

static linattn_objective *dataset(const setting *s, size_t prompts, int32_t mode, uint64_t seed) {
    linattn_objective *f;
    ck_assert_ok(linattn_objective_create_dataset(&f, s->model, s->batch, prompts, mode, seed, NULL));
    return f;
}

/* How often each of n prompts is in a minibatch; returns the highest. */
static size_t members(linattn_objective *f, uint64_t draw, size_t prompts, size_t n, size_t *times) {
    static const double zero[P];
    double value;
    size_t most = 0;
    ck_assert_ok(linattn_objective_value(f, draw, zero, &value));
    uint64_t sum = (uint64_t)llround(value * (double)prompts);
    for (size_t i = 0; i < n; i++, sum /= 4) {
        times[i] = (size_t)(sum % 4);
        if (times[i] > 0) most = i;
    }
    return most;
}

START_TEST(epochs_take_each_prompt_once) {
    const size_t sizes[][2] = {{1, 1}, {7, 1}, {12, 3}, {12, 12}, {17, 5}, {20, 9}, {20, 11}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k][0], b = sizes[k][1], m = n / b;
        setting s;
        open_setting(&s, n, LINATTN_ATTENTION_LINEAR);
        linattn_objective *f = dataset(&s, b, LINATTN_MINIBATCH_EPOCHS, k);
        for (uint64_t epoch = 0; epoch < 30; epoch++) {
            size_t seen[MOST] = {0}, total = 0;
            for (uint64_t t = 0; t < m; t++) {
                size_t times[MOST] = {0};
                members(f, epoch * m + t, b, n, times);
                for (size_t i = 0; i < n; i++) seen[i] += times[i];
            }
            for (size_t i = 0; i < n; i++) {
                ck_assert_uint_le(seen[i], 1);
                total += seen[i];
            }
            ck_assert_uint_eq(total, m * b);
        }
        linattn_objective_destroy(f);
        close_setting(&s);
    }
}
END_TEST

/* Against a second derivation from the formula of docs/numerics.md. */
START_TEST(minibatches_are_those_of_the_formula) {
    const size_t sizes[][2] = {{1, 1}, {5, 2}, {11, 4}, {12, 12}, {25, 24}, {24, 1}};
    const uint64_t draws[] = {0, 1, 2, 7, 1000003, UINT64_C(1) << 48, UINT64_MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int32_t mode = 0; mode < 2; mode++) {
            const size_t n = sizes[k][0], b = sizes[k][1];
            const uint64_t seed = k == 0 ? UINT64_MAX : k;
            setting s;
            open_setting(&s, n, LINATTN_ATTENTION_LINEAR);
            linattn_objective *f = dataset(&s, b, mode, seed);
            for (size_t t = 0; t < sizeof draws / sizeof *draws; t++) {
                size_t times[MOST] = {0}, taken[MOST];
                double value, wanted = 0;
                static const double zero[P];
                reference_minibatch(seed, draws[t], n, b, mode == LINATTN_MINIBATCH_REPLACEMENT, taken);
                for (size_t i = 0; i < b; i++) wanted += s.targets[taken[i]] * s.targets[taken[i]];
                for (size_t i = 0; i < b; i++) times[taken[i]]++;
                for (size_t i = 0; i < n; i++) ck_assert(mode == LINATTN_MINIBATCH_REPLACEMENT || times[i] <= 1);
                ck_assert_ok(linattn_objective_value(f, draws[t], zero, &value));
                ck_assert_msg(fabs(value * (double)b - wanted) <= 1e-15 * wanted, "%zu of %zu, draw %llu", b, n,
                              (unsigned long long)draws[t]);
            }
            linattn_objective_destroy(f);
            close_setting(&s);
        }
}
END_TEST

/* The same for more prompts than uniforms are drawn at a time. */
static void note(void *user, size_t from, size_t to) { ((size_t *)user)[to] = from; }

START_TEST(long_orders_are_those_of_the_formula) {
    enum { ALL = 1300, TAKEN = 600 };
    size_t taken[TAKEN], wanted[TAKEN];
    for (int32_t mode = 0; mode < 2; mode++) {
        linattn__dataset set = {.size = ALL, .prompts = TAKEN, .mode = mode, .seed = 3};
        ck_assert_ok(linattn__dataset_open(&set));
        for (uint64_t draw = 0; draw < 5; draw++) {
            linattn__dataset_draw(&set, draw, note, taken);
            reference_minibatch(3, draw, ALL, TAKEN, mode, wanted);
            for (int i = 0; i < TAKEN; i++) ck_assert_uint_eq(taken[i], wanted[i]);
        }
        linattn__release(set.order);
    }
}
END_TEST

/* N = 4, one at a time: 24 orders, a chi-square of 23 degrees of freedom (49.7 at 1e-3); and the orders of neighbouring epochs. */
START_TEST(all_orders_are_equally_likely) {
    enum { N = 4, ORDERS = 24, EPOCHS = 24000 };
    static size_t seen[N * N * N * N], firsts[N][N];
    setting s;
    double chi = 0, chi_firsts = 0;
    size_t kinds = 0, last = 0;
    open_setting(&s, N, LINATTN_ATTENTION_LINEAR);
    linattn_objective *f = dataset(&s, 1, LINATTN_MINIBATCH_EPOCHS, 11);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        size_t code = 0, times[N], first = 0;
        for (uint64_t t = 0; t < N; t++) {
            const size_t one = members(f, epoch * N + t, 1, N, times);
            if (t == 0) first = one;
            code = code * N + one;
        }
        seen[code]++;
        if (epoch > 0) firsts[last][first]++;
        last = first;
    }
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        kinds += seen[i] > 0;
        if (seen[i] > 0) chi += pow((double)seen[i] - EPOCHS / (double)ORDERS, 2) / (EPOCHS / (double)ORDERS);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) chi_firsts += pow((double)firsts[i][j] - EPOCHS / 16.0, 2) / (EPOCHS / 16.0);
    ck_assert_uint_eq(kinds, ORDERS);
    ck_assert_msg(chi < 49.7, "chi-square is %g", chi);
    ck_assert_msg(chi_firsts < 37.7, "chi-square of pairs is %g", chi_firsts); /* 15 degrees of freedom */
    linattn_objective_destroy(f);
    close_setting(&s);
}
END_TEST

/* Two at a time out of 5: 25 ordered pairs, seen as 15 sets; a chi-square of 14 degrees of freedom (36.1 at 1e-3). */
START_TEST(replacement_takes_any_prompt) {
    enum { N = 5, DRAWS = 25000 };
    double seen[N][N] = {{0}}, chi = 0;
    setting s;
    open_setting(&s, N, LINATTN_ATTENTION_LINEAR);
    linattn_objective *f = dataset(&s, 2, LINATTN_MINIBATCH_REPLACEMENT, 5);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        size_t times[N], pair[2], count = 0;
        members(f, draw, 2, N, times);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < times[i]; k++) pair[count++] = i;
        ck_assert_uint_eq(count, 2);
        seen[pair[0]][pair[1]]++;
    }
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) {
            const double wanted = DRAWS / 25.0 * (i == j ? 1 : 2);
            chi += pow(seen[i][j] - wanted, 2) / wanted;
        }
    ck_assert_msg(chi < 36.1, "chi-square is %g", chi);
    linattn_objective_destroy(f);
    close_setting(&s);
}
END_TEST

/* A draw is the same alone, after others, in a clone, with threads; another seed gives another one. Derivatives are those of a
 * batch of the same prompts. */
START_TEST(a_draw_is_a_minibatch) {
    enum { N = 20, B = 9 };
    for (int32_t trial = 0; trial < 4; trial++) {
        const int32_t mode = trial % 2;
        setting s;
        open_setting(&s, N, trial / 2 ? LINATTN_ATTENTION_SOFTMAX : LINATTN_ATTENTION_LINEAR);
        linattn_objective_options threaded;
        ck_assert_ok(linattn_objective_options_init(&threaded, sizeof threaded));
        threaded.threads = 3;
        linattn_objective *f = dataset(&s, B, mode, 1), *other = dataset(&s, B, mode, 2), *clone, *threads;
        double forth[20], value, gradient[P], wanted[P], product[P], wanted_product[P], wanted_value;
        int different = 0;
        for (uint64_t t = 0; t < 20; t++) ck_assert_ok(linattn_objective_value(f, t, s.theta, &forth[t]));
        ck_assert_ok(linattn_objective_clone(&clone, f));
        ck_assert_ok(linattn_objective_create_dataset(&threads, s.model, s.batch, B, mode, 1, &threaded));
        for (uint64_t t = 20; t-- > 0;) {
            linattn_objective *const all[] = {f, clone, threads};
            for (int k = 0; k < 3; k++) {
                ck_assert_ok(linattn_objective_value(all[k], t, s.theta, &value));
                ck_assert(value == forth[t]);
            }
            ck_assert_ok(linattn_objective_value(other, t, s.theta, &value));
            different += value != forth[t];
        }
        ck_assert_int_ge(different, 18);
        /* The minibatch as a batch of its own. */
        double tokens[B * NUMBERS], targets[B];
        size_t taken[B];
        reference_minibatch(1, UINT64_MAX, N, B, mode == LINATTN_MINIBATCH_REPLACEMENT, taken);
        for (size_t i = 0; i < B; i++) {
            memcpy(tokens + i * NUMBERS, s.tokens + taken[i] * NUMBERS, NUMBERS * sizeof *tokens);
            targets[i] = s.targets[taken[i]];
        }
        linattn_batch *batch;
        linattn_objective *fixed;
        ck_assert_ok(linattn_batch_create_from_arrays(&batch, tokens, targets, B, CONTEXT, D));
        ck_assert_ok(linattn_objective_create_fixed(&fixed, s.model, batch, NULL));
        ck_assert_ok(linattn_objective_gradient(fixed, 0, s.theta, &wanted_value, wanted));
        ck_assert_ok(linattn_objective_gradient(f, UINT64_MAX, s.theta, &value, gradient));
        ck_assert_ok(linattn_objective_hvp(fixed, 0, s.theta, wanted, 1, wanted_product));
        ck_assert_ok(linattn_objective_hvp(f, UINT64_MAX, s.theta, wanted, 1, product));
        double largest = 0, largest_product = 0;
        for (int i = 0; i < P; i++) {
            largest = fmax(largest, fabs(wanted[i]));
            largest_product = fmax(largest_product, fabs(wanted_product[i]));
        }
        ck_assert(fabs(value - wanted_value) <= 1e-13 * wanted_value);
        for (int i = 0; i < P; i++) {
            ck_assert(fabs(gradient[i] - wanted[i]) <= 1e-12 * largest);
            ck_assert(fabs(product[i] - wanted_product[i]) <= 1e-12 * largest_product);
        }
        linattn_batch_destroy(batch);
        linattn_objective *const all[] = {fixed, f, other, clone, threads};
        for (int k = 0; k < 5; k++) linattn_objective_destroy(all[k]);
        close_setting(&s);
    }
}
END_TEST

/* The whole set without replacement is the fixed objective bit for bit, and the batch may go before the objective. */
START_TEST(the_whole_set_is_the_fixed_objective) {
    const int32_t kinds[] = {LINATTN_ATTENTION_LINEAR, LINATTN_ATTENTION_SOFTMAX};
    for (int k = 0; k < 2; k++) {
        setting s;
        open_setting(&s, MOST, kinds[k]);
        linattn_objective *whole = dataset(&s, MOST, LINATTN_MINIBATCH_EPOCHS, 9), *fixed;
        ck_assert_ok(linattn_objective_create_fixed(&fixed, s.model, s.batch, NULL));
        close_setting(&s);
        double value[2], gradient[2][P];
        for (uint64_t draw = 0; draw < 3; draw++) {
            ck_assert_ok(linattn_objective_gradient(whole, draw, s.theta, &value[0], gradient[0]));
            ck_assert_ok(linattn_objective_gradient(fixed, 0, s.theta, &value[1], gradient[1]));
            ck_assert(value[0] == value[1]);
            ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
        }
        linattn_objective_destroy(whole);
        linattn_objective_destroy(fixed);
    }
}
END_TEST

/* The fields that a checkpoint compares, digested. */
static int add_field(const char *field, uint64_t value, void *user) {
    uint64_t *digest = user;
    for (; *field; field++) *digest = linattn__digest_word(*digest, (unsigned char)*field);
    *digest = linattn__digest_word(*digest, value);
    return 0;
}

START_TEST(checkpoints_tell_data_sets_apart) {
    setting s;
    uint64_t digest[6];
    open_setting(&s, 10, LINATTN_ATTENTION_LINEAR);
    linattn_objective *all[6] = {dataset(&s, 4, LINATTN_MINIBATCH_EPOCHS, 0), dataset(&s, 5, LINATTN_MINIBATCH_EPOCHS, 0),
                                 dataset(&s, 4, LINATTN_MINIBATCH_REPLACEMENT, 0), dataset(&s, 4, LINATTN_MINIBATCH_EPOCHS, 1)};
    ck_assert_ok(linattn_objective_create_fixed(&all[4], s.model, s.batch, NULL));
    /* One prompt more, all zeros, as the lanes beyond the tenth are. */
    linattn_batch_destroy(s.batch);
    memset(s.tokens + 10 * NUMBERS, 0, NUMBERS * sizeof *s.tokens);
    s.targets[10] = 0;
    ck_assert_ok(linattn_batch_create_from_arrays(&s.batch, s.tokens, s.targets, 11, CONTEXT, D));
    all[5] = dataset(&s, 4, LINATTN_MINIBATCH_EPOCHS, 0);
    for (int i = 0; i < 6; i++) {
        digest[i] = LINATTN__DIGEST_BEGIN;
        ck_assert_ok(linattn__objective_describe(all[i], add_field, &digest[i]));
        for (int j = 0; j < i; j++) ck_assert(digest[i] != digest[j]);
    }
    for (int i = 0; i < 6; i++) linattn_objective_destroy(all[i]);
    close_setting(&s);
}
END_TEST

START_TEST(arguments) {
    setting s;
    open_setting(&s, 10, LINATTN_ATTENTION_LINEAR);
    linattn_objective *f = (linattn_objective *)(uintptr_t)1;
    linattn_model_options o;
    linattn_model *other;
    ck_assert_status(linattn_objective_create_dataset(NULL, s.model, s.batch, 5, 0, 0, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_objective_create_dataset(&f, NULL, s.batch, 5, 0, 0, NULL), LINATTN_EINVAL, "model is NULL");
    ck_assert_ptr_null(f);
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, NULL, 5, 0, 0, NULL), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, s.batch, 0, 0, 0, NULL), LINATTN_EINVAL,
                     "prompts is 0; allowed");
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, s.batch, 11, 0, 0, NULL), LINATTN_EINVAL,
                     "prompts is 11; allowed: 1 to 10, all there are");
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, s.batch, 5, 2, 0, NULL), LINATTN_EINVAL, "mode is 2; allowed");
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, s.batch, 5, -1, 0, NULL), LINATTN_EINVAL, "mode is -1");
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = D + 1;
    o.layers = 1;
    ck_assert_ok(linattn_model_create(&other, &o));
    ck_assert_status(linattn_objective_create_dataset(&f, other, s.batch, 5, 0, 0, NULL), LINATTN_EMISMATCH, "the batch has dim 2");
    linattn_model_destroy(other);
    close_setting(&s);
    open_setting(&s, 10, LINATTN_ATTENTION_SOFTMAX);
    linattn_sampler_options moments;
    linattn_sampler *sampler;
    linattn_batch *batch;
    ck_assert_ok(linattn_sampler_options_init(&moments, sizeof moments));
    moments.dim = D;
    moments.context = CONTEXT;
    moments.kind = LINATTN_BATCH_MOMENTS;
    ck_assert_ok(linattn_sampler_create(&sampler, &moments));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 10, 0));
    ck_assert_status(linattn_objective_create_dataset(&f, s.model, batch, 5, 0, 0, NULL), LINATTN_EUNSUPPORTED, "tokens");
    ck_assert_ptr_null(f);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    close_setting(&s);
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
START_TEST(each_allocation_fails) {
    long successes = 0;
    setting s;
    open_setting(&s, 10, LINATTN_ATTENTION_LINEAR);
    for (int status = LINATTN_ENOMEM; status != LINATTN_OK; successes++) {
        linattn_objective *f = NULL, *clone = NULL;
        double value;
        linattn__fail_allocation_after(successes);
        status = linattn_objective_create_dataset(&f, s.model, s.batch, 3, LINATTN_MINIBATCH_EPOCHS, 0, NULL);
        if (status == LINATTN_OK) status = linattn_objective_clone(&clone, f);
        if (status == LINATTN_OK) status = linattn_objective_value(clone, 5, s.theta, &value);
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory for ");
        linattn_objective_destroy(f);
        linattn_objective_destroy(clone);
    }
    ck_assert_int_gt(successes, 15);
    close_setting(&s);
}
END_TEST
#endif

static Suite *dataset_suite(void) {
    Suite *suite = suite_create("dataset");
    TCase *tc = tcase_create("dataset");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, epochs_take_each_prompt_once);
    tcase_add_test(tc, minibatches_are_those_of_the_formula);
    tcase_add_test(tc, long_orders_are_those_of_the_formula);
    tcase_add_test(tc, all_orders_are_equally_likely);
    tcase_add_test(tc, replacement_takes_any_prompt);
    tcase_add_test(tc, a_draw_is_a_minibatch);
    tcase_add_test(tc, the_whole_set_is_the_fixed_objective);
    tcase_add_test(tc, checkpoints_tell_data_sets_apart);
    tcase_add_test(tc, arguments);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tc, each_allocation_fails);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(dataset_suite)
