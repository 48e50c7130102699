/* Objectives: options, draws, clones, callbacks, progress, and what a failure leaves behind. */
#include "objective/objective.h"
#include "support/problem.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>

static linattn_sampler *sampler_of(size_t dim, size_t context, int32_t covariates) {
    linattn_sampler_options options;
    linattn_sampler *sampler = NULL;
    ck_assert_ok(linattn_sampler_options_init(&options, sizeof options));
    options.dim = dim;
    options.context = context;
    options.seed = 11;
    options.covariates = covariates;
    options.gamma_shape = 0.5;
    ck_assert_ok(linattn_sampler_create(&sampler, &options));
    return sampler;
}

static linattn_objective *sampled(const random_case *c, size_t prompts, size_t threads, int32_t kernel) {
    linattn_objective_options options;
    linattn_objective *f = NULL;
    linattn_sampler *sampler = sampler_of(c->shape.dim, c->shape.context, LINATTN_COVARIATES_GAMMA);
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    options.threads = threads;
    options.kernel = kernel;
    ck_assert_ok(linattn_objective_create_sampled(&f, c->model, sampler, prompts, &options));
    linattn_sampler_destroy(sampler);
    return f;
}

#define ck_assert_refused(change, wanted, text)                                                                                    \
    do {                                                                                                                           \
        linattn_objective_options options;                                                                                         \
        linattn_objective *f = (linattn_objective *)&options;                                                                      \
        ck_assert_ok(linattn_objective_options_init(&options, sizeof options));                                                    \
        change;                                                                                                                    \
        ck_assert_status(linattn_objective_create_fixed(&f, c.model, c.batch, &options), wanted, text);                            \
        ck_assert_ptr_null(f);                                                                                                     \
    } while (0)

START_TEST(each_option_wrong_in_turn) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 2, 1);
    ck_assert_refused(options.threads = 0, LINATTN_EINVAL, "threads is 0; allowed: 1 to 256");
    ck_assert_refused(options.threads = 10000, LINATTN_EINVAL, "threads is 10000");
    ck_assert_refused(options.kernel = 9, LINATTN_EINVAL, "kernel is 9");
    ck_assert_refused(options.kernel = -1, LINATTN_EINVAL, "kernel is -1");
    ck_assert_refused(options.reserved = 1, LINATTN_EINVAL, "reserved");
    ck_assert_refused(options.struct_size = 3, LINATTN_EINVAL, "linattn_objective_options");
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++)
        if (!linattn_kernel_available(kernel)) ck_assert_refused(options.kernel = kernel, LINATTN_EUNSUPPORTED, "kernel");
    random_case_close(&c);
}
END_TEST

START_TEST(arguments_wrong_in_turn) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 2, 1);
    linattn_sampler *sampler = sampler_of(4, 4, LINATTN_COVARIATES_NORMAL), *good = sampler_of(3, 4, LINATTN_COVARIATES_NORMAL);
    linattn_objective *f = NULL;
    ck_assert_status(linattn_objective_create_fixed(NULL, c.model, c.batch, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_objective_create_fixed(&f, NULL, c.batch, NULL), LINATTN_EINVAL, "model is NULL");
    ck_assert_status(linattn_objective_create_fixed(&f, c.model, NULL, NULL), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, NULL, 1, NULL), LINATTN_EINVAL, "sampler is NULL");
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, sampler, 1, NULL), LINATTN_EMISMATCH, "dim 4, the model 3");
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, good, 0, NULL), LINATTN_EINVAL, "prompts is 0");
    ck_assert_status(linattn_objective_create_sampled(&f, c.model, good, SIZE_MAX, NULL), LINATTN_EINVAL, "prompts is 1844");
    ck_assert_ptr_null(f);

    f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    double value = 7, gradient[36] = {8};
    ck_assert_status(linattn_objective_value(NULL, 0, c.theta, &value), LINATTN_EINVAL, "objective is NULL");
    ck_assert_status(linattn_objective_value(f, 0, NULL, &value), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_objective_value(f, 0, c.theta, NULL), LINATTN_EINVAL, "value is NULL");
    ck_assert_status(linattn_objective_gradient(f, 0, c.theta, &value, NULL), LINATTN_EINVAL, "gradient is NULL");
    c.theta[5] = INFINITY;
    ck_assert_status(linattn_objective_gradient(f, 0, c.theta, &value, gradient), LINATTN_ENONFINITE, "theta[5] is inf");
    for (size_t i = 0; i < c.p; i++) c.theta[i] = 1e200; /* each finite, the loss is not */
    ck_assert_int_eq(linattn_objective_gradient(f, 0, c.theta, &value, gradient), LINATTN_ENONFINITE);
    ck_assert_double_eq(value, 7);
    ck_assert_double_eq(gradient[0], 8);
    ck_assert_uint_eq(linattn_objective_parameter_count(NULL), 0);
    ck_assert_uint_eq(linattn_objective_parameter_count(f), 36);
    ck_assert_status(linattn_objective_clone(NULL, f), LINATTN_EINVAL, "out is NULL");
    linattn_objective *copy = f;
    ck_assert_status(linattn_objective_clone(&copy, NULL), LINATTN_EINVAL, "objective is NULL");
    ck_assert_ptr_null(copy);
    linattn_objective_destroy(NULL);
    linattn_objective_destroy(f);
    linattn_sampler_destroy(sampler);
    linattn_sampler_destroy(good);
    random_case_close(&c);
}
END_TEST

/* A draw means the batch that the sampler makes of it. */
START_TEST(sampled_equals_the_fixed_batch_of_its_draw) {
    const uint64_t draws[] = {0, 1, 77, UINT64_C(1) << 32, UINT64_C(1) << 48, UINT64_MAX};
    random_case c = random_case_open((reference_shape){3, 1, 5, 20, 0}, 1, 1);
    linattn_objective *f = sampled(&c, 203, 2, LINATTN_KERNEL_AUTO);
    linattn_sampler *sampler = sampler_of(5, 20, LINATTN_COVARIATES_GAMMA);
    double values[6], value, *a = malloc(c.p * sizeof *a), *b = malloc(c.p * sizeof *b);
    for (size_t i = 0; i < 6; i++) {
        linattn_batch *batch = NULL;
        ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 203, draws[i]));
        linattn_objective *g = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
        ck_assert_ok(linattn_objective_gradient(f, draws[i], c.theta, &values[i], a));
        ck_assert_ok(linattn_objective_gradient(g, 5, c.theta, &value, b));
        ck_assert(value == values[i]);
        ck_assert_mem_eq(a, b, c.p * sizeof *a);
        ck_assert_ok(linattn_objective_value(f, draws[i], c.theta, &value)); /* again, from what is kept */
        ck_assert(value == values[i]);
        for (size_t j = 0; j < i; j++) ck_assert(values[i] != values[j]);
        linattn_objective_destroy(g);
        linattn_batch_destroy(batch);
    }
    free(a);
    free(b);
    linattn_sampler_destroy(sampler);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

START_TEST(clones_are_equal_and_independent) {
    random_case c = random_case_open((reference_shape){2, 2, 5, 9, 1}, 1, 1);
    linattn_objective *f = sampled(&c, 130, 2, LINATTN_KERNEL_BASELINE), *g = NULL, *fixed = NULL, *fixed_clone = NULL;
    double x, y;
    ck_assert_ok(linattn_objective_value(f, 3, c.theta, &x));
    ck_assert_ok(linattn_objective_clone(&g, f));
    ck_assert_ok(linattn_objective_value(g, 9, c.theta, &y));
    ck_assert_ok(linattn_objective_value(f, 3, c.theta, &y));
    ck_assert(x == y);
    linattn_objective_destroy(f);
    ck_assert_ok(linattn_objective_value(g, 3, c.theta, &y));
    ck_assert(x == y);
    linattn_objective_destroy(g);
    fixed = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_clone(&fixed_clone, fixed));
    ck_assert_ok(linattn_objective_value(fixed, 0, c.theta, &x));
    linattn_objective_destroy(fixed);
    ck_assert_ok(linattn_objective_value(fixed_clone, 1, c.theta, &y));
    ck_assert(x == y);
    linattn_objective_destroy(fixed_clone);
    random_case_close(&c);
}
END_TEST

/* sum of (i + 1) (x_i - draw)^2 */
typedef struct {
    int returned, writes, calls;
} quadratic;

static int quadratic_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    quadratic *q = user;
    q->calls++;
    if (!q->writes) return q->returned;
    *value = 0;
    for (int i = 0; i < 3; i++) {
        const double miss = theta[i] - (double)draw;
        *value += (i + 1) * miss * miss;
        if (i < q->writes) gradient[i] = 2 * (i + 1) * miss;
    }
    return q->returned;
}

static linattn_objective *quadratic_objective(quadratic *q, const linattn_objective_options *options) {
    linattn_objective_callbacks callbacks;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 3;
    callbacks.gradient = quadratic_gradient;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, options, q));
    return f;
}

START_TEST(callbacks_are_an_objective) {
    quadratic q = {0, 3, 0};
    const double theta[3] = {1, 2, 3};
    double value, gradient[3];
    linattn_objective *f = quadratic_objective(&q, NULL), *g = NULL;
    ck_assert_ok(linattn_objective_clone(&g, f));
    linattn_objective_destroy(f);
    ck_assert_ok(linattn_objective_gradient(g, 1, theta, &value, gradient));
    ck_assert_double_eq(value, 14); /* 1*0 + 2*1 + 3*4 */
    ck_assert_double_eq(gradient[2], 12);
    ck_assert_ok(linattn_objective_value(g, 2, theta, &value)); /* no value callback: taken from the gradient's */
    ck_assert_double_eq(value, 4);
    ck_assert_int_eq(q.calls, 2);
    linattn_derivative_report report = {.struct_size = sizeof report};
    ck_assert_ok(linattn_objective_check_derivatives(g, 1, theta, 1e-5, &report));
    ck_assert_double_le(report.gradient_error, 1e-9);
    linattn_objective_destroy(g);
}
END_TEST

static int own_value(uint64_t draw, const double *theta, double *value, void *user) {
    (void)user;
    *value = theta[0] + 100;
    return draw == 7 ? LINATTN_EFORMAT : LINATTN_OK;
}

/* A value of its own serves calls for the value alone; those with a gradient take both from `gradient`. */
START_TEST(a_value_callback_serves_values) {
    problem p = problem_of(2);
    linattn_objective_callbacks callbacks;
    linattn_objective *f;
    const double theta[2] = {3, 4};
    double alone = 0, with_gradient = 0, gradient[2];
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 2, callbacks.gradient = problem_gradient, callbacks.value = own_value;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, NULL, &p));
    ck_assert_ok(linattn_objective_value(f, 1, theta, &alone));
    ck_assert_double_eq(alone, 103);
    ck_assert_uint_eq(p.calls, 0);
    ck_assert_ok(linattn_objective_gradient(f, 1, theta, &with_gradient, gradient));
    ck_assert(with_gradient != 103 && p.calls == 1);
    ck_assert_status(linattn_objective_value(f, 7, theta, &alone), LINATTN_EFORMAT, "value");
    ck_assert_double_eq(alone, 103);
    linattn_objective_destroy(f);
}
END_TEST

START_TEST(callbacks_that_fail) {
    const double theta[3] = {1, 2, 3};
    const struct {
        int returned, writes, wanted;
        const char *text;
    } cases[] = {{-77, 3, -77, "gradient returned -77"},
                 {LINATTN_STOP, 3, LINATTN_STOP, ""},
                 {5, 3, LINATTN_EINVAL, "gradient returned 5"},
                 {0, 0, LINATTN_ENONFINITE, "value"},
                 {0, 2, LINATTN_ENONFINITE, "gradient[2] is nan"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quadratic q = {cases[i].returned, cases[i].writes, 0};
        linattn_objective *f = quadratic_objective(&q, NULL);
        double value = 7, gradient[3] = {7, 8, 9};
        ck_assert_status(linattn_objective_gradient(f, 1, theta, &value, gradient), cases[i].wanted, cases[i].text);
        ck_assert_double_eq(value, 7);
        ck_assert_double_eq(gradient[0], 7);
        linattn_objective_destroy(f);
    }
    linattn_objective_callbacks callbacks;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.gradient = quadratic_gradient;
    ck_assert_status(linattn_objective_create_callbacks(&f, &callbacks, NULL, NULL), LINATTN_EINVAL, "parameter_count is 0");
    callbacks.parameter_count = 3;
    callbacks.gradient = NULL;
    ck_assert_status(linattn_objective_create_callbacks(&f, &callbacks, NULL, NULL), LINATTN_EINVAL, "gradient");
    ck_assert_status(linattn_objective_create_callbacks(&f, NULL, NULL, NULL), LINATTN_EINVAL, "NULL");
    ck_assert_ptr_null(f);
}
END_TEST

static int wrong_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    const int status = quadratic_gradient(draw, theta, value, gradient, user);
    gradient[1] += 3;
    return status;
}

START_TEST(a_wrong_gradient_is_found) {
    quadratic q = {0, 3, 0};
    const double theta[3] = {1, 2, 3};
    linattn_objective_callbacks callbacks;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 3;
    callbacks.gradient = wrong_gradient;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, NULL, &q));
    linattn_derivative_report report = {.struct_size = sizeof report};
    ck_assert_ok(linattn_objective_check_derivatives(f, 0, theta, 1e-5, &report)); /* gradient (2, 8, 18), given (2, 11, 18) */
    ck_assert_uint_eq(report.worst, 1);
    ck_assert_double_eq(report.analytic, 11);
    ck_assert_double_eq_tol(report.difference, 8, 1e-8);
    ck_assert_double_eq_tol(report.gradient_error, 3.0 / 18, 1e-8);
    ck_assert_status(linattn_objective_check_derivatives(f, 0, theta, 0, &report), LINATTN_EINVAL, "step is 0");
    ck_assert_status(linattn_objective_check_derivatives(f, 0, theta, NAN, &report), LINATTN_EINVAL, "step is nan");
    ck_assert_status(linattn_objective_check_derivatives(f, 0, theta, 1e-5, NULL), LINATTN_EINVAL, "NULL");
    linattn_objective_destroy(f);
}
END_TEST

typedef struct {
    int calls, stop_at, returned;
    double last;
} watcher;

static int watch(double fraction, void *user) {
    watcher *w = user;
    ck_assert_double_ge(fraction, w->last);
    ck_assert_double_le(fraction, 1);
    w->last = fraction;
    return ++w->calls == w->stop_at ? w->returned : 0;
}

/* A long call asks between rounds of chunks; a stopped draw is drawn again by the next call. */
START_TEST(progress_can_stop_a_call) {
    const int returned[] = {LINATTN_STOP, -5};
    random_case c = random_case_open((reference_shape){1, 1, 2, 2, 0}, 1, 1);
    for (int i = 0; i < 2; i++) {
        watcher w = {0, 2, returned[i], 0};
        linattn_objective_options options;
        linattn_objective *f = NULL;
        linattn_sampler *sampler = sampler_of(2, 2, LINATTN_COVARIATES_NORMAL);
        ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
        options.progress = watch;
        options.user = &w;
        ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, 10000, &options));
        double value = 7, again = 8;
        ck_assert_int_eq(linattn_objective_value(f, 1, c.theta, &value), returned[i]);
        ck_assert_double_eq(value, 7);
        ck_assert_int_eq(w.calls, 2);
        w = (watcher){0, -1, 0, 0};
        ck_assert_ok(linattn_objective_value(f, 1, c.theta, &value));
        ck_assert_int_eq(w.calls, 4); /* 157 chunks are five rounds */
        linattn_objective_destroy(f);
        ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, 10000, NULL));
        ck_assert_ok(linattn_objective_value(f, 1, c.theta, &again));
        ck_assert(value == again);
        linattn_objective_destroy(f);
        linattn_sampler_destroy(sampler);
    }
    random_case_close(&c);
}
END_TEST

/* An h that rounding swallows would compare a number with itself. */
START_TEST(a_vanishing_step_is_refused) {
    quadratic q = {0, 3, 0};
    const double theta[3] = {0, 1, 0};
    linattn_objective *f = quadratic_objective(&q, NULL);
    linattn_derivative_report report = {.struct_size = sizeof report, .worst = 77};
    ck_assert_status(linattn_objective_check_derivatives(f, 0, theta, 1e-300, &report), LINATTN_EDEGENERATE, "theta[1]");
    ck_assert_uint_eq(report.worst, 77);
    linattn_objective_destroy(f);
}
END_TEST

typedef struct {
    linattn_objective *objective;
    const double *theta;
    int calls;
} intruder;

static int use_the_same_objective(double fraction, void *user) {
    intruder *i = user;
    double value = fraction;
    i->calls++;
    ck_assert_status(linattn_objective_value(i->objective, 9, i->theta, &value), LINATTN_EINVAL, "in a call");
    return 0;
}

START_TEST(callbacks_cannot_use_the_objective_that_calls) {
    random_case c = random_case_open((reference_shape){1, 1, 2, 3, 0}, 1, 1);
    linattn_sampler *sampler = sampler_of(2, 3, LINATTN_COVARIATES_NORMAL);
    linattn_objective_options options;
    intruder i = {NULL, c.theta, 0};
    double first, second;
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    options.progress = use_the_same_objective;
    options.user = &i;
    ck_assert_ok(linattn_objective_create_sampled(&i.objective, c.model, sampler, 3000, &options));
    ck_assert_ok(linattn_objective_value(i.objective, 5, c.theta, &first));
    ck_assert_ok(linattn_objective_value(i.objective, 5, c.theta, &second));
    ck_assert_int_eq(i.calls, 2);
    ck_assert(first == second);
    linattn_objective_destroy(i.objective);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);
}
END_TEST

typedef struct {
    linattn_objective *objective;
    const double *theta;
    double *hessian;
    int status;
} measurement;

static void *measure(void *user) {
    measurement *m = user;
    m->status = linattn_objective_hessian(m->objective, 4, m->theta, m->hessian);
    return NULL;
}

/* Clones with options of their own are the same function; those of a model work in several threads at once. */
START_TEST(clones_with_other_options) {
    enum { CLONES = 3, P = 36 };
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 1, 1);
    linattn_sampler *sampler = sampler_of(3, 4, LINATTN_COVARIATES_NORMAL);
    watcher w = {0, -1, 0, 0};
    linattn_objective_options options;
    linattn_objective *f = NULL, *g = NULL;
    double wanted[P * P], hessians[CLONES][P * P];
    measurement measurements[CLONES];
    pthread_t threads[CLONES];
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    options.threads = 2;
    options.progress = watch;
    options.user = &w;
    ck_assert_ok(linattn_objective_create_sampled(&f, c.model, sampler, 3000, &options));
    ck_assert_ok(linattn_objective_hessian(f, 4, c.theta, wanted));
    ck_assert_int_gt(w.calls, 0);
    ck_assert_int_eq(f->concurrent, 1);
    w.calls = 0;
    for (size_t i = 0; i < CLONES; i++) {
        measurements[i] = (measurement){NULL, c.theta, hessians[i], LINATTN_EINVAL};
        ck_assert_ok(linattn__objective_clone_with(&measurements[i].objective, f, NULL));
        ck_assert_uint_eq(measurements[i].objective->options.threads, 1);
    }
    for (size_t i = 0; i < CLONES; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, measure, &measurements[i]), 0);
    for (size_t i = 0; i < CLONES; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_ok(measurements[i].status);
        ck_assert_mem_eq(hessians[i], wanted, sizeof wanted);
        linattn_objective_destroy(measurements[i].objective);
    }
    ck_assert_int_eq(w.calls, 0); /* the progress of the original is not theirs */
    options.threads = 300;
    g = f;
    ck_assert_status(linattn__objective_clone_with(&g, f, &options), LINATTN_EINVAL, "threads is 300");
    ck_assert_ptr_null(g);
    linattn_objective_destroy(f);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);

    quadratic q = {0, 3, 0};
    const double theta[3] = {1, 2, 3};
    double value;
    options.threads = 7;
    f = quadratic_objective(&q, NULL);
    ck_assert_ok(linattn__objective_clone_with(&g, f, &options));
    linattn_objective_destroy(f);
    ck_assert_int_eq(g->concurrent, 0); /* the caller's functions run on the caller's thread */
    ck_assert_ptr_eq(g->options.user, &w);
    ck_assert_ok(linattn_objective_value(g, 1, theta, &value));
    ck_assert_double_eq(value, 14);
    linattn_objective_destroy(g);
}
END_TEST

static Suite *objective_suite(void) {
    Suite *suite = suite_create("objective");
    TCase *tc = tcase_create("objective");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, each_option_wrong_in_turn);
    tcase_add_test(tc, arguments_wrong_in_turn);
    tcase_add_test(tc, sampled_equals_the_fixed_batch_of_its_draw);
    tcase_add_test(tc, clones_are_equal_and_independent);
    tcase_add_test(tc, clones_with_other_options);
    tcase_add_test(tc, callbacks_are_an_objective);
    tcase_add_test(tc, a_value_callback_serves_values);
    tcase_add_test(tc, callbacks_that_fail);
    tcase_add_test(tc, a_wrong_gradient_is_found);
    tcase_add_test(tc, progress_can_stop_a_call);
    tcase_add_test(tc, a_vanishing_step_is_refused);
    tcase_add_test(tc, callbacks_cannot_use_the_objective_that_calls);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(objective_suite)
