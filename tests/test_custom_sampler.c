/* test_custom_sampler.c: samplers of the caller's function: the same numbers as any other, on the calling thread alone, whatever it
 * returns passed on. */
#include "common/allocate.h"
#include "support/suite.h"
#include "support/two_layers.h"
#include <math.h>
#include <pthread.h>

/* More prompts than one call of the function takes. */
enum { D = 5, N = 20, NUMBERS = (N + 1) * (D + 1), PROMPTS = 1100, P = 2 * 2 * D * D };

/* A function that answers with the prompts of another sampler. */
typedef struct source {
    linattn_sampler *sampler;
    pthread_t thread;
    size_t calls, prompts;
    int returns;      /* status */
    size_t good;      /* calls that do not return it yet */
    long leave_out;   /* a number of the tokens, from the end of the targets if negative; NONE: none */
    int from_another; /* calls that came on another thread */
    linattn_objective *used;
} source;

enum { NONE = 1 << 30 };

static int fill(uint64_t draw, size_t first, size_t prompts, double *tokens, double *targets, void *user) {
    source *s = user;
    linattn_batch *batch;
    s->calls++;
    s->prompts += prompts;
    s->from_another += !pthread_equal(pthread_self(), s->thread);
    for (size_t i = 0; i < prompts * NUMBERS; i++) ck_assert(isnan(tokens[i]));
    for (size_t i = 0; i < prompts; i++) ck_assert(isnan(targets[i]));
    if (s->used) {
        double value, theta[P] = {0};
        return linattn_objective_value(s->used, draw, theta, &value);
    }
    if (s->returns != LINATTN_OK && s->calls > s->good) return s->returns;
    double *all = malloc((first + prompts) * NUMBERS * sizeof *all), *all_targets = malloc((first + prompts) * sizeof *all_targets);
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, s->sampler, first + prompts, draw));
    ck_assert_ok(linattn_batch_get_arrays(batch, all, all_targets));
    memcpy(tokens, all + first * NUMBERS, prompts * NUMBERS * sizeof *all);
    memcpy(targets, all_targets + first, prompts * sizeof *all_targets);
    if (s->leave_out < 0) targets[(long)prompts + s->leave_out] = NAN;
    if (s->leave_out >= 0 && s->leave_out < NONE) tokens[s->leave_out] = NAN;
    linattn_batch_destroy(batch);
    free(all);
    free(all_targets);
    return LINATTN_OK;
}

static source make_source(void) {
    source s = {.thread = pthread_self(), .leave_out = NONE};
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = D;
    o.context = N;
    o.seed = 3;
    ck_assert_ok(linattn_sampler_create(&s.sampler, &o));
    return s;
}

static linattn_sampler *make_custom(source *s) {
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_create_custom(&sampler, D, N, fill, s));
    return sampler;
}

static linattn_objective *make_objective(const linattn_model *model, const linattn_sampler *sampler, size_t prompts, size_t threads,
                                         int32_t kernel) {
    linattn_objective_options o;
    linattn_objective *objective;
    ck_assert_ok(linattn_objective_options_init(&o, sizeof o));
    o.threads = threads;
    o.kernel = kernel;
    ck_assert_ok(linattn_objective_create_sampled(&objective, model, sampler, prompts, &o));
    return objective;
}

START_TEST(batches_are_what_the_function_gave) {
    const size_t sizes[] = {1, 8, 13, PROMPTS};
    source s = make_source();
    linattn_sampler *custom = make_custom(&s);
    ck_assert_uint_eq(linattn_sampler_dim(custom), D);
    ck_assert_uint_eq(linattn_sampler_context(custom), N);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t count = sizes[i], square = (D + 1) * (D + 1);
        double *x[2], *y[2], *m[2], *q[2];
        for (int k = 0; k < 2; k++) {
            linattn_batch *batch;
            x[k] = malloc(count * NUMBERS * sizeof(double));
            y[k] = malloc(count * sizeof(double));
            m[k] = malloc(count * square * sizeof(double));
            q[k] = malloc(count * (D + 1) * sizeof(double));
            ck_assert_ok(linattn_batch_create_from_sampler(&batch, k ? custom : s.sampler, count, UINT64_MAX - i));
            ck_assert_ok(linattn_batch_get_arrays(batch, x[k], y[k]));
            ck_assert_ok(linattn_batch_get_moments(batch, m[k], q[k]));
            linattn_batch_destroy(batch);
        }
        ck_assert_mem_eq(x[0], x[1], count * NUMBERS * sizeof(double));
        ck_assert_mem_eq(y[0], y[1], count * sizeof(double));
        ck_assert_mem_eq(m[0], m[1], count * square * sizeof(double));
        ck_assert_mem_eq(q[0], q[1], count * (D + 1) * sizeof(double));
        for (int k = 0; k < 2; k++) free(x[k]), free(y[k]), free(m[k]), free(q[k]);
    }
    linattn_sampler_destroy(custom);
    linattn_sampler_destroy(s.sampler);
}
END_TEST

/* Value, gradient and Hessian-vector products are those of the sampler behind the function; a draw kept is not asked for again. */
static void check_agreement(source *s, const linattn_sampler *custom, const linattn_model *model, const double theta[P]) {
    double value[2], gradient[2][P], product[2][P];
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        linattn_objective *wanted = make_objective(model, s->sampler, PROMPTS, 1, kernel);
        for (size_t threads = 1; threads <= 3; threads += 2) {
            linattn_objective *first = make_objective(model, custom, PROMPTS, threads, kernel), *f;
            ck_assert_ok(linattn_objective_clone(&f, first));
            linattn_objective_destroy(first);
            for (uint64_t draw = 0; draw < 2; draw++) {
                s->calls = s->prompts = 0;
                ck_assert_ok(linattn_objective_gradient(wanted, draw, theta, &value[0], gradient[0]));
                ck_assert_ok(linattn_objective_gradient(f, draw, theta, &value[1], gradient[1]));
                ck_assert_ok(linattn_objective_hvp(wanted, draw, theta, gradient[0], 1, product[0]));
                ck_assert_ok(linattn_objective_hvp(f, draw, theta, gradient[1], 1, product[1]));
                ck_assert(value[0] == value[1]);
                ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
                ck_assert_mem_eq(product[0], product[1], sizeof product[0]);
                ck_assert_uint_eq(s->prompts, PROMPTS);
                ck_assert_uint_eq(s->calls, 2);
            }
            linattn_objective_destroy(f);
        }
        linattn_objective_destroy(wanted);
    }
}

START_TEST(objectives_agree_and_stay_on_the_thread) {
    source s = make_source();
    linattn_sampler *custom = make_custom(&s);
    double theta[P];
    linattn_model *softmax = two_layers(D, LINATTN_ATTENTION_SOFTMAX, theta);
    check_agreement(&s, custom, softmax, theta);
    linattn_model_destroy(softmax);
    linattn_model *model = two_layers(D, LINATTN_ATTENTION_LINEAR, theta);
    check_agreement(&s, custom, model, theta);
    /* Diagnostics that take many draws at once do not take these. */
    linattn_objective *f = make_objective(model, custom, 16, 2, LINATTN_KERNEL_AUTO);
    linattn_diagnostics *d;
    linattn_diagnostics_options options;
    ck_assert_ok(linattn_diagnostics_options_init(&options, sizeof options));
    options.threads = 3;
    ck_assert_ok(linattn_diagnostics_create(&d, f, &options));
    linattn_gradient_error_options measured;
    linattn_gradient_error report = {.struct_size = sizeof report};
    ck_assert_ok(linattn_gradient_error_options_init(&measured, sizeof measured));
    measured.samples = 40;
    measured.reference_draws = 10;
    double errors[40];
    ck_assert_ok(linattn_diagnostics_gradient_error(d, theta, &measured, errors, NULL, NULL, NULL, &report));
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    ck_assert_int_eq(s.from_another, 0);
    linattn_model_destroy(model);
    linattn_sampler_destroy(custom);
    linattn_sampler_destroy(s.sampler);
}
END_TEST

START_TEST(what_the_function_returns_is_passed_on) {
    source s = make_source();
    linattn_sampler *custom = make_custom(&s);
    double theta[P], value = 17, gradient[P] = {18}, before;
    linattn_model *model = two_layers(D, LINATTN_ATTENTION_LINEAR, theta);
    linattn_objective *f = make_objective(model, custom, 10, 2, LINATTN_KERNEL_AUTO);
    linattn_batch *batch;
    ck_assert_ok(linattn_objective_value(f, 1, theta, &before));
    const int given[] = {LINATTN_STOP, -12345, LINATTN_ENOMEM, 7};
    for (int i = 0; i < 4; i++) {
        const int wanted = i == 3 ? LINATTN_EINVAL : given[i];
        s.returns = given[i];
        ck_assert_int_eq(linattn_objective_gradient(f, 2, theta, &value, gradient), wanted);
        ck_assert(value == 17 && gradient[0] == 18);
        batch = (linattn_batch *)(uintptr_t)1;
        ck_assert_int_eq(linattn_batch_create_from_sampler(&batch, custom, 9, 0), wanted);
        ck_assert_ptr_null(batch);
        if (i == 3) ck_assert_ptr_nonnull(strstr(linattn_last_message(), "fill"));
    }
    /* In the middle of a batch. */
    linattn_objective *large = make_objective(model, custom, PROMPTS, 2, LINATTN_KERNEL_AUTO);
    double whole, large_before;
    s.returns = LINATTN_OK;
    ck_assert_ok(linattn_objective_value(large, 1, theta, &large_before));
    s.returns = -12345;
    for (int again = 0; again < 2; again++) {
        s.calls = 0;
        s.good = 1;
        ck_assert_int_eq(linattn_objective_value(large, 2, theta, &value), -12345);
        ck_assert_uint_eq(s.calls, 2);
        ck_assert(value == 17);
    }
    s.returns = LINATTN_OK;
    s.good = 0;
    ck_assert_ok(linattn_objective_value(large, 1, theta, &whole));
    ck_assert(whole == large_before);
    linattn_objective_destroy(large);
    s.leave_out = 3 * NUMBERS + 2 * (D + 1) + 1;
    ck_assert_status(linattn_objective_value(f, 2, theta, &value), LINATTN_ENONFINITE,
                     "the callback fill's token of prompt 3, row 2, entry 1, is nan; allowed: finite numbers");
    s.leave_out = -1;
    ck_assert_status(linattn_objective_value(f, 2, theta, &value), LINATTN_ENONFINITE,
                     "the callback fill's target of prompt 9 is nan");
    ck_assert_status(linattn_batch_create_from_sampler(&batch, custom, 9, 0), LINATTN_ENONFINITE,
                     "fill's target of prompt 8 is nan");
    s.leave_out = NONE;
    s.used = f;
    ck_assert_status(linattn_objective_value(f, 2, theta, &value), LINATTN_EINVAL, "in a call");
    s.used = NULL;
    ck_assert(value == 17);
    ck_assert_ok(linattn_objective_value(f, 1, theta, &value)); /* nothing half drawn is kept */
    ck_assert(value == before);
    linattn_objective_destroy(f);
    linattn_model_destroy(model);
    linattn_sampler_destroy(custom);
    linattn_sampler_destroy(s.sampler);
}
END_TEST

START_TEST(arguments) {
    linattn_sampler *sampler = (linattn_sampler *)(uintptr_t)1;
    source s = {0};
    ck_assert_status(linattn_sampler_create_custom(NULL, D, N, fill, &s), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_sampler_create_custom(&sampler, D, N, NULL, &s), LINATTN_EINVAL, "fill is NULL");
    ck_assert_ptr_null(sampler);
    ck_assert_status(linattn_sampler_create_custom(&sampler, 0, N, fill, &s), LINATTN_EINVAL, "dim is 0; allowed: 1 to 1024");
    ck_assert_status(linattn_sampler_create_custom(&sampler, 1025, N, fill, &s), LINATTN_EINVAL, "dim is 1025");
    ck_assert_status(linattn_sampler_create_custom(&sampler, D, 0, fill, &s), LINATTN_EINVAL, "context is 0; allowed");
    ck_assert_status(linattn_sampler_create_custom(&sampler, D, SIZE_MAX, fill, &s), LINATTN_EINVAL, "context is");
    ck_assert_ok(linattn_sampler_create_custom(&sampler, D, N, fill, NULL));
    linattn_sampler_destroy(sampler);
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
static int fill_plainly(uint64_t draw, size_t first, size_t prompts, double *tokens, double *targets, void *user) {
    for (size_t i = 0; i < prompts * NUMBERS; i++) tokens[i] = 1;
    for (size_t i = 0; i < prompts; i++) targets[i] = 1;
    return (void)draw, (void)first, (void)user, LINATTN_OK;
}

static int use_everything(const linattn_model *model, const double *theta) {
    linattn_sampler *custom = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *f = NULL;
    double value;
    int status = linattn_sampler_create_custom(&custom, D, N, fill_plainly, NULL);
    if (status == LINATTN_OK) status = linattn_batch_create_from_sampler(&batch, custom, 3, 0);
    if (status == LINATTN_OK) status = linattn_objective_create_sampled(&f, model, custom, 3, NULL);
    if (status == LINATTN_OK) status = linattn_objective_value(f, 0, theta, &value);
    linattn_objective_destroy(f);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(custom);
    return status;
}

START_TEST(each_allocation_fails) {
    long successes = 0;
    double theta[P];
    linattn_model *model = two_layers(D, LINATTN_ATTENTION_LINEAR, theta);
    for (int status = LINATTN_ENOMEM; status != LINATTN_OK; successes++) {
        linattn__fail_allocation_after(successes);
        status = use_everything(model, theta);
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory for ");
    }
    ck_assert_int_gt(successes, 10);
    linattn_model_destroy(model);
}
END_TEST
#endif

static Suite *custom_sampler_suite(void) {
    Suite *suite = suite_create("custom_sampler");
    TCase *tc = tcase_create("custom_sampler");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, batches_are_what_the_function_gave);
    tcase_add_test(tc, objectives_agree_and_stay_on_the_thread);
    tcase_add_test(tc, what_the_function_returns_is_passed_on);
    tcase_add_test(tc, arguments);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tc, each_allocation_fails);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(custom_sampler_suite)
