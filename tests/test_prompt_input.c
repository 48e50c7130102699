/* test_prompt_input.c: prompt attention given what it cannot use: a status, a message that names it, and nothing touched. */
#include "common/allocate.h"
#include "support/suite.h"
#include <math.h>

static linattn_prompt_options good(void) {
    linattn_prompt_options o;
    ck_assert_ok(linattn_prompt_options_init(&o, sizeof o));
    o.examples = 3;
    o.tokens = 4;
    o.dim = 5;
    return o;
}

static void refused(const linattn_prompt_options *o, int status, const char *text) {
    linattn_prompt *prompt = (linattn_prompt *)&status;
    ck_assert_status(linattn_prompt_create(&prompt, o), status, text);
    ck_assert_ptr_null(prompt);
}

/* Each option at its worst; the message names it and what is allowed. */
START_TEST(options_each_set_bad) {
#define BAD(field, bad, text)                                                                                                      \
    do {                                                                                                                           \
        linattn_prompt_options o_ = good();                                                                                        \
        o_.field = bad;                                                                                                            \
        refused(&o_, LINATTN_EINVAL, text);                                                                                        \
    } while (0)
    BAD(examples, 0, "examples is 0; allowed: 1 to 4294967295");
    BAD(examples, (size_t)UINT32_MAX + 1, "examples is 4294967296");
    BAD(tokens, 0, "tokens is 0; allowed: 1 to");
    BAD(tokens, SIZE_MAX, "tokens is 18446744073709551615");
    BAD(dim, 0, "dim is 0; allowed: 1 to");
    BAD(dim, SIZE_MAX, "dim is 18446744073709551615");
    BAD(attention, 2, "attention is 2; allowed: 0 (softmax), 1 (linear)");
    BAD(attention, -1, "attention is -1");
    BAD(loss, 2, "loss is 2; allowed: 0 (squared), 1 (logistic)");
    BAD(train_value, 2, "train_value is 2; allowed: 0, 1");
    BAD(token_kind, 2, "token_kind is 2; allowed: 0 (Gaussian), 1 (orthonormal)");
    BAD(key_map, -1, "key_map is -1; allowed: 0 (identity), 1 (orthogonal)");
    BAD(profile, 3, "profile is 3; allowed: 0 (scaled), 1 (log-uniform), 2 (active)");
    const double ratios[] = {0, -1, 1.5, 1e-301, NAN, INFINITY};
    for (size_t i = 0; i < 6; i++) BAD(sparsity, ratios[i], "allowed: 1e-300 to 1");
    const double temperatures[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) BAD(temperature, temperatures[i], "allowed: finite numbers above 0");
    const double noises[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) BAD(noise, noises[i], "allowed: finite numbers from 0 on");
    linattn_prompt_options o = good();
    o.profile = LINATTN_PROMPT_ACTIVE;
    o.active = 5;
    refused(&o, LINATTN_EINVAL, "active is 5 of 4 tokens; allowed: 1 to 4");
    o.active = 0;
    refused(&o, LINATTN_EINVAL, "active is 0 of 4 tokens");
    o.active = 4;
    refused(&o, LINATTN_EINVAL, "active is 4, all tokens, with a sparsity below 1; allowed: 1 to 3");
    o.sparsity = 1;
    linattn_prompt *prompt;
    ck_assert_ok(linattn_prompt_create(&prompt, &o));
    linattn_prompt_destroy(prompt);
    o = good();
    o.tokens = 1;
    refused(&o, LINATTN_EINVAL, "sparsity is 0.1; allowed: 1 for examples of 1 token");
    o = good();
    o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
    o.dim = 11;
    refused(&o, LINATTN_EINVAL, "dim is 11; allowed with orthonormal keys: at least examples * tokens = 3 * 4");
    o.examples = UINT32_MAX;
    o.tokens = 1 << 24;
    refused(&o, LINATTN_EINVAL, "orthonormal keys: at least");
    o.token_kind = LINATTN_PROMPT_GAUSSIAN;
    o.dim = 1 << 24;
    refused(&o, LINATTN_EOVERFLOW, "do not fit in the address space");
    refused(NULL, LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_prompt_create(NULL, &o), LINATTN_EINVAL, "out is NULL");
}
END_TEST

START_TEST(arrays_that_cannot_be) {
    linattn_prompt_options o = good();
    double tokens[60] = {0}, map[25] = {0}, value[5] = {0}, teacher[5] = {0}, labels[3] = {1, -1, 1};
    linattn_prompt *prompt;
#define MAKE(tokens, map, value, teacher, labels)                                                                                  \
    linattn_prompt_create_from_arrays(&prompt, &o, tokens, map, value, teacher, labels)
    ck_assert_status(MAKE(NULL, NULL, value, NULL, labels), LINATTN_EINVAL, "tokens is NULL");
    ck_assert_status(MAKE(tokens, NULL, NULL, NULL, labels), LINATTN_EINVAL, "value is NULL");
    ck_assert_status(MAKE(tokens, NULL, value, NULL, NULL), LINATTN_EINVAL, "labels and teacher are both NULL");
    double *const arrays[] = {tokens, map, value, teacher, labels};
    const char *const names[] = {"tokens[2] is nan", "key_map[2] is nan", "value[2] is nan", "teacher[2] is nan",
                                 "labels[2] is nan"};
    for (int i = 0; i < 5; i++) {
        const double kept = arrays[i][2];
        arrays[i][2] = NAN;
        ck_assert_status(MAKE(tokens, map, value, teacher, labels), LINATTN_ENONFINITE, names[i]);
        ck_assert_ptr_null(prompt);
        arrays[i][2] = kept;
    }
    o.loss = LINATTN_PROMPT_LOGISTIC;
    labels[1] = 0.5;
    ck_assert_status(MAKE(tokens, map, value, NULL, labels), LINATTN_EINVAL,
                     "labels[1] is 0.5; allowed: 1 and -1 with logistic loss");
    labels[1] = -1;
    ck_assert_ok(MAKE(tokens, map, value, NULL, labels));
    double distance = 7;
    ck_assert_status(linattn_prompt_distance(prompt, value, &distance, NULL), LINATTN_EUNSUPPORTED, "without a teacher");
    ck_assert_status(linattn_prompt_get_arrays(prompt, NULL, NULL, NULL, &distance, NULL), LINATTN_EUNSUPPORTED, "without one");
    ck_assert_double_eq(distance, 7);
    linattn_prompt_destroy(prompt);
    /* Keys, responses and labels that would overflow. */
    tokens[0] = map[0] = value[0] = 1e300;
    ck_assert_status(MAKE(tokens, map, teacher, NULL, labels), LINATTN_ENONFINITE, "keys[0] is inf");
    ck_assert_status(MAKE(tokens, NULL, value, NULL, labels), LINATTN_ENONFINITE, "responses[0] is inf");
}
END_TEST

START_TEST(measures_given_what_they_cannot_use) {
    linattn_prompt_options o = good();
    linattn_prompt *prompt, *linear, *logistic;
    double theta[5] = {0}, out[60], bad[5] = {0, NAN, 0, 0, 0};
    linattn_prompt_condition c = {.struct_size = sizeof c}, small = {.struct_size = 1};
    ck_assert_ok(linattn_prompt_create(&prompt, &o));
    o.attention = LINATTN_PROMPT_LINEAR;
    ck_assert_ok(linattn_prompt_create(&linear, &o));
    o.loss = LINATTN_PROMPT_LOGISTIC;
    ck_assert_ok(linattn_prompt_create(&logistic, &o));
    for (int i = 0; i < 60; i++) out[i] = 7;
#define EACH(prompt, theta, status, text)                                                                                          \
    do {                                                                                                                           \
        ck_assert_status(linattn_prompt_evaluate(prompt, theta, out, out, out, out), status, text);                                \
        ck_assert_status(linattn_prompt_gauss_newton(prompt, theta, out), status, text);                                           \
        ck_assert_status(linattn_prompt_softmax_spectrum(prompt, theta, 0, out), status, text);                                    \
        ck_assert_status(linattn_prompt_measure_condition(prompt, theta, out, &c), status, text);                                  \
        ck_assert_status(linattn_prompt_distance(prompt, theta, out, out), status, text);                                          \
        ck_assert_status(linattn_prompt_predict_rate(prompt, theta, 1, out), status, text);                                        \
    } while (0)
    EACH(NULL, theta, LINATTN_EINVAL, "prompt is NULL");
    EACH(prompt, NULL, LINATTN_EINVAL, "theta is NULL");
    EACH(prompt, bad, LINATTN_ENONFINITE, "theta[1] is nan");
    ck_assert_status(linattn_prompt_gauss_newton(prompt, theta, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_prompt_softmax_spectrum(prompt, theta, 3, out), LINATTN_EINVAL, "example is 3; allowed: 0 to 2");
    ck_assert_status(linattn_prompt_softmax_spectrum(linear, theta, 0, out), LINATTN_EUNSUPPORTED, "no softmax Jacobian");
    ck_assert_status(linattn_prompt_measure_condition(prompt, theta, out, NULL), LINATTN_EINVAL, "NULL");
    ck_assert_status(linattn_prompt_measure_condition(prompt, theta, out, &small), LINATTN_EINVAL, "struct_size");
    const double rates[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        ck_assert_status(linattn_prompt_predict_rate(prompt, theta, rates[i], out), LINATTN_EINVAL, "learning_rate is");
    ck_assert_status(linattn_prompt_predict_rate(logistic, theta, 1, out), LINATTN_EUNSUPPORTED, "logistic loss");
    for (int i = 0; i < 60; i++) ck_assert_double_eq(out[i], 7);
    ck_assert_ok(linattn_prompt_evaluate(prompt, theta, NULL, NULL, NULL, NULL));
    ck_assert_uint_eq(linattn_prompt_examples(NULL) + linattn_prompt_tokens(NULL) + linattn_prompt_dim(NULL), 0);
    ck_assert_uint_eq(linattn_prompt_parameter_count(NULL), 0);
    ck_assert_status(linattn_prompt_get_arrays(NULL, out, NULL, NULL, NULL, NULL), LINATTN_EINVAL, "prompt is NULL");
    linattn_prompt_destroy(prompt);
    linattn_prompt_destroy(linear);
    linattn_prompt_destroy(logistic);
}
END_TEST

START_TEST(objectives_given_what_they_cannot_use) {
    linattn_prompt_options o = good();
    linattn_prompt *prompt;
    linattn_objective *f;
    linattn_objective_options options;
    ck_assert_ok(linattn_prompt_create(&prompt, &o));
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    ck_assert_status(linattn_objective_create_prompt(NULL, prompt, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_objective_create_prompt(&f, NULL, NULL), LINATTN_EINVAL, "prompt is NULL");
    ck_assert_status(linattn_objective_create_prompt_dataset(&f, NULL, 1, 0, 0, NULL), LINATTN_EINVAL, "prompt is NULL");
    ck_assert_status(linattn_objective_create_prompt_dataset(&f, prompt, 0, 0, 0, NULL), LINATTN_EINVAL, "examples is 0");
    ck_assert_status(linattn_objective_create_prompt_dataset(&f, prompt, 4, 0, 0, NULL), LINATTN_EINVAL, "allowed: 1 to 3");
    ck_assert_status(linattn_objective_create_prompt_dataset(&f, prompt, 1, 2, 0, NULL), LINATTN_EINVAL, "mode is 2");
    options.threads = 0;
    ck_assert_status(linattn_objective_create_prompt(&f, prompt, &options), LINATTN_EINVAL, "threads is 0");
    ck_assert_ptr_null(f);
    linattn_prompt_destroy(prompt);
}
END_TEST

/* Making orthonormal keys can be watched, and ended. */
static int stop_late(double fraction, void *user) {
    double *last = user;
    ck_assert(fraction >= *last && fraction <= 1);
    *last = fraction;
    return fraction > 0.3 ? LINATTN_STOP : 0;
}

START_TEST(progress) {
    linattn_prompt_options o = good();
    linattn_prompt *prompt;
    double last = 0;
    o.examples = 30;
    o.dim = 120;
    o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
    o.progress = stop_late;
    o.user = &last;
    ck_assert_int_eq(linattn_prompt_create(&prompt, &o), LINATTN_STOP);
    ck_assert_ptr_null(prompt);
    ck_assert_double_gt(last, 0.3);
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
/* A whole life, ending at the first failure. */
static int live(void) {
    linattn_prompt_options o = good();
    linattn_prompt *prompt = NULL, *again = NULL;
    linattn_objective *f = NULL, *part = NULL, *clone = NULL;
    linattn_prompt_condition c = {.struct_size = sizeof c};
    linattn_line line = {.struct_size = sizeof line};
    double theta[10] = {0}, g[10], h[100], tokens[60], value[5], teacher[5], eigenvalues[4], distance, rate;
    double series[3] = {3, 2, 1}, map[25] = {0};
    o.key_map = LINATTN_PROMPT_ORTHOGONAL;
    o.train_value = 1;
    int status = linattn_prompt_create(&prompt, &o);
    if (status == LINATTN_OK) status = linattn_prompt_get_arrays(prompt, tokens, NULL, value, teacher, NULL);
    if (status == LINATTN_OK) status = linattn_prompt_create_from_arrays(&again, &o, tokens, map, value, teacher, NULL);
    if (status == LINATTN_OK) status = linattn_objective_create_prompt(&f, again, NULL);
    if (status == LINATTN_OK) status = linattn_objective_create_prompt_dataset(&part, prompt, 2, 0, 1, NULL);
    if (status == LINATTN_OK) status = linattn_objective_clone(&clone, part);
    if (status == LINATTN_OK) status = linattn_objective_gradient(f, 0, theta, NULL, g);
    if (status == LINATTN_OK) status = linattn_objective_hessian(clone, 1, theta, h);
    if (status == LINATTN_OK) status = linattn_prompt_gauss_newton(prompt, theta, h);
    if (status == LINATTN_OK) status = linattn_prompt_softmax_spectrum(prompt, theta, 0, eigenvalues);
    theta[7] = 1;
    if (status == LINATTN_OK) status = linattn_prompt_measure_condition(prompt, theta, NULL, &c);
    if (status == LINATTN_OK) status = linattn_prompt_distance(prompt, theta, &distance, &rate);
    if (status == LINATTN_OK) status = linattn_prompt_predict_rate(prompt, theta, 0.1, &rate);
    if (status == LINATTN_OK) status = linattn_series_rate(series, 3, 9, 0.5, &line);
    linattn_objective_destroy(clone);
    linattn_objective_destroy(part);
    linattn_objective_destroy(f);
    linattn_prompt_destroy(again);
    linattn_prompt_destroy(prompt);
    return status;
}

START_TEST(every_allocation_fails) {
    int status = LINATTN_ENOMEM;
    long k = 0;
    for (; status != LINATTN_OK; k++) {
        ck_assert_int_lt(k, 500);
        linattn__fail_allocation_after(k);
        status = live();
        ck_assert(status == LINATTN_OK || status == LINATTN_ENOMEM);
    }
    linattn__fail_allocation_after(-1);
    ck_assert_int_gt(k, 60);
}
END_TEST
#endif

static Suite *prompt_input_suite(void) {
    Suite *suite = suite_create("prompt input");
    TCase *tests = tcase_create("prompt input");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, options_each_set_bad);
    tcase_add_test(tests, arrays_that_cannot_be);
    tcase_add_test(tests, measures_given_what_they_cannot_use);
    tcase_add_test(tests, objectives_given_what_they_cannot_use);
    tcase_add_test(tests, progress);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tests, every_allocation_fails);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(prompt_input_suite)
