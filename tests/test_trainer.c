/* test_trainer.c: runs, records, observers, requests to stop, runs that diverge. */
#include "support/problem.h"
#include <pthread.h>
#include <signal.h>

enum { P = 3 };
static const double START[P] = {2, -1, 0.5};

static linattn_optimizer *adam(double learning_rate, int32_t nonfinite) {
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = learning_rate;
    options.clip = LINATTN_CLIP_GLOBAL_NORM;
    options.nonfinite = nonfinite;
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, P));
    return optimizer;
}

static linattn_trainer_options trainer_options(void) {
    linattn_trainer_options options;
    ck_assert_ok(linattn_trainer_options_init(&options, sizeof options));
    return options;
}

/* A trainer that is the only owner of its objective and optimizer. */
static linattn_trainer *trainer_of(problem *f, linattn_optimizer *optimizer, const linattn_trainer_options *options) {
    linattn_objective *objective = problem_objective(f);
    linattn_trainer *trainer;
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, START, options));
    linattn_objective_destroy(objective);
    linattn_optimizer_destroy(optimizer);
    return trainer;
}

static linattn_trainer *plain_trainer(problem *f) { return trainer_of(f, adam(0.1, LINATTN_NONFINITE_FAIL), NULL); }

static void assert_at(const linattn_trainer *trainer, uint64_t step, const double *theta) {
    double now[P];
    ck_assert_uint_eq(linattn_trainer_step_count(trainer), step);
    ck_assert_ok(linattn_trainer_get_parameters(trainer, now));
    ck_assert_mem_eq(now, theta, sizeof now);
}

/* theta after `steps` steps of objective and optimizer called by hand. */
static void by_hand(uint64_t steps, double *theta, linattn_step_record *records) {
    problem f = problem_of(P);
    linattn_optimizer *optimizer = adam(0.1, LINATTN_NONFINITE_FAIL);
    memcpy(theta, START, sizeof START);
    for (uint64_t t = 0; t < steps; t++) {
        double value, gradient[P];
        ck_assert_int_eq(problem_gradient(t, theta, &value, gradient, &f), 0);
        records[t] = (linattn_step_record){.struct_size = sizeof *records};
        ck_assert_ok(linattn_optimizer_step(optimizer, value, gradient, theta, &records[t]));
    }
    linattn_optimizer_destroy(optimizer);
}

START_TEST(steps_equal_single_steps_equal_hand) {
    enum { STEPS = 100 };
    linattn_step_record hand[STEPS], records[STEPS];
    double theta[P];
    by_hand(STEPS, theta, hand);
    for (uint64_t stride = 1; stride <= STEPS; stride = stride * 3 + 1) {
        problem f = problem_of(P);
        linattn_trainer *trainer = plain_trainer(&f);
        uint64_t total = 0;
        while (total < STEPS) {
            uint64_t done;
            ck_assert_ok(linattn_trainer_run(trainer, stride < STEPS - total ? stride : STEPS - total, &done));
            total += done;
        }
        ck_assert_uint_eq(f.calls, STEPS);
        assert_at(trainer, STEPS, theta);
        ck_assert_uint_eq(linattn_trainer_record_count(trainer), STEPS);
        memset(records, 0xff, sizeof records);
        ck_assert_ok(linattn_trainer_get_records(trainer, 0, STEPS, sizeof *records, records));
        ck_assert_mem_eq(records, hand, sizeof records);
        linattn_trainer_destroy(trainer);
    }
}
END_TEST

START_TEST(records_at_a_stride) {
    static const struct {
        uint64_t stride, steps;
        size_t kept;
    } CASES[] = {{0, 20, 0}, {1, 20, 20}, {7, 20, 3}, {7, 21, 3}, {7, 22, 4}, {100, 20, 1}, {UINT64_MAX, 20, 1}, {5, 0, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        problem f = problem_of(P);
        linattn_trainer_options options = trainer_options();
        options.record_stride = CASES[i].stride;
        linattn_trainer *trainer = trainer_of(&f, adam(0.1, LINATTN_NONFINITE_FAIL), &options);
        ck_assert_ok(linattn_trainer_run(trainer, CASES[i].steps / 2, NULL));
        ck_assert_ok(linattn_trainer_run(trainer, CASES[i].steps - CASES[i].steps / 2, NULL));
        ck_assert_uint_eq(linattn_trainer_record_count(trainer), CASES[i].kept);
        for (size_t k = 0; k < CASES[i].kept; k++) {
            linattn_step_record record;
            ck_assert_ok(linattn_trainer_get_records(trainer, k, 1, sizeof record, &record));
            ck_assert(record.step == k * CASES[i].stride && record.struct_size == sizeof record && record.value > 0);
        }
        linattn_trainer_destroy(trainer);
    }
}
END_TEST

START_TEST(get_records_ranges) {
    problem f = problem_of(P);
    linattn_trainer *trainer = plain_trainer(&f);
    struct {
        linattn_step_record record;
        double later[2];
    } newer[3];
    linattn_step_record record;
    ck_assert_ok(linattn_trainer_run(trainer, 5, NULL));
    memset(newer, 0xff, sizeof newer);
    ck_assert_ok(linattn_trainer_get_records(trainer, 2, 3, sizeof newer[0], &newer[0].record));
    for (uint64_t i = 0; i < 3; i++)
        ck_assert(newer[i].record.step == 2 + i && newer[i].record.struct_size == sizeof newer[0] && newer[i].later[1] == 0);
    ck_assert_ok(linattn_trainer_get_records(trainer, 5, 0, sizeof record, NULL));
    ck_assert_status(linattn_trainer_get_records(trainer, 5, 1, sizeof record, &record), LINATTN_EINVAL, "of the 5 kept");
    ck_assert_status(linattn_trainer_get_records(trainer, 1, SIZE_MAX, sizeof record, &record), LINATTN_EINVAL, "of the 5 kept");
    ck_assert_status(linattn_trainer_get_records(trainer, 0, 1, 8, &record), LINATTN_EINVAL, "linattn_step_record");
    ck_assert_status(linattn_trainer_get_records(trainer, 0, 1, sizeof record, NULL), LINATTN_EINVAL, "records is NULL");
    ck_assert_status(linattn_trainer_get_records(NULL, 0, 1, sizeof record, &record), LINATTN_EINVAL, "trainer is NULL");
    linattn_trainer_destroy(trainer);
}
END_TEST

/* What an observer saw, and what it is to return. */
typedef struct watcher {
    uint64_t calls, stop_at;
    int status;
    linattn_step_record hand[10];
    linattn_trainer *trainer;
} watcher;

static int watch(const linattn_step_record *record, const double *theta, void *user) {
    watcher *w = user;
    w->calls++;
    ck_assert_mem_eq(record, &w->hand[record->step], sizeof *record);
    /* theta is theta_t: the value at it is the record's */
    problem f = problem_of(P);
    double value, gradient[P];
    problem_gradient(record->step, theta, &value, gradient, &f);
    ck_assert_double_eq(value, record->value);
    /* while the trainer has step t behind it */
    ck_assert_uint_eq(linattn_trainer_step_count(w->trainer), record->step + 1);
    return record->step == w->stop_at ? w->status : 0;
}

/* Step number 3 of 10 is the one with index 2. */
START_TEST(observer_ends_the_run) {
    static const int STATUSES[][2] = {
        {LINATTN_STOP, LINATTN_STOP}, {-3, -3}, {-1000, -1000}, {LINATTN_ENONFINITE, LINATTN_ENONFINITE}, {2, LINATTN_EINVAL}};
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        watcher w = {.stop_at = 2, .status = STATUSES[i][0]};
        double theta[P];
        uint64_t done = 99;
        by_hand(10, theta, w.hand);
        problem f = problem_of(P);
        linattn_trainer_options options = trainer_options();
        options.observer = watch;
        options.user = &w;
        linattn_trainer *trainer = trainer_of(&f, adam(0.1, LINATTN_NONFINITE_FAIL), &options);
        w.trainer = trainer;
        ck_assert_status(linattn_trainer_run(trainer, 10, &done), STATUSES[i][1], "");
        ck_assert(done == 3 && f.calls == 3 && w.calls == 3 && linattn_trainer_record_count(trainer) == 3);
        ck_assert_uint_eq(linattn_trainer_step_count(trainer), 3);
        ck_assert_ok(linattn_trainer_run(trainer, 7, &done));
        ck_assert(done == 7 && f.calls == 10 && w.calls == 10);
        assert_at(trainer, 10, theta);
        linattn_trainer_destroy(trainer);
    }
}
END_TEST

START_TEST(observer_at_a_stride) {
    watcher w = {.stop_at = UINT64_MAX};
    double theta[P];
    by_hand(10, theta, w.hand);
    problem f = problem_of(P);
    linattn_trainer_options options = trainer_options();
    options.observer = watch;
    options.observer_stride = 4;
    options.user = &w;
    linattn_trainer *trainer = trainer_of(&f, adam(0.1, LINATTN_NONFINITE_FAIL), &options);
    w.trainer = trainer;
    ck_assert_ok(linattn_trainer_run(trainer, 10, NULL));
    ck_assert_uint_eq(w.calls, 3); /* 0, 4, 8 */
    assert_at(trainer, 10, theta);
    linattn_trainer_destroy(trainer);
}
END_TEST

static int run_again(const linattn_step_record *record, const double *theta, void *user) {
    (void)record, (void)theta;
    linattn_trainer **trainer = user;
    ck_assert_status(linattn_trainer_run(*trainer, 1, NULL), LINATTN_EINVAL, "is running");
    ck_assert_status(linattn_trainer_load(*trainer, "nowhere"), LINATTN_EINVAL, "is running");
    return 0;
}

START_TEST(observer_cannot_run) {
    problem f = problem_of(P);
    linattn_trainer_options options = trainer_options();
    linattn_trainer *trainer;
    options.observer = run_again;
    options.user = &trainer;
    trainer = trainer_of(&f, adam(0.1, LINATTN_NONFINITE_FAIL), &options);
    ck_assert_ok(linattn_trainer_run(trainer, 2, NULL));
    ck_assert_uint_eq(f.calls, 2);
    linattn_trainer_destroy(trainer);
}
END_TEST

/* A failing objective leaves the last completed step; the next call draws the same batch again and ends where an undisturbed run
 * does. */
static void check_failure(problem bad, int status, const char *message) {
    linattn_step_record hand[10];
    double before[P], after[P];
    by_hand(6, before, hand);
    by_hand(10, after, hand);
    problem f = bad;
    f.bad_draw = 6;
    linattn_trainer *trainer = plain_trainer(&f);
    for (int attempt = 0; attempt < 2; attempt++) {
        uint64_t done = 99;
        ck_assert_status(linattn_trainer_run(trainer, 10, &done), status, message);
        ck_assert_uint_eq(done, attempt == 0 ? 6 : 0);
        assert_at(trainer, 6, before);
        ck_assert_uint_eq(linattn_trainer_record_count(trainer), 6);
    }
    f.bad_draw = UINT64_MAX;
    ck_assert_ok(linattn_trainer_run(trainer, 4, NULL));
    assert_at(trainer, 10, after);
    ck_assert_uint_eq(f.calls, 12);
    linattn_trainer_destroy(trainer);
}

START_TEST(objective_that_fails) {
    problem f = problem_of(P);
    f.status = -77;
    check_failure(f, -77, "-77");
    f.status = LINATTN_STOP;
    check_failure(f, LINATTN_STOP, "");
    f.status = LINATTN_ENOMEM;
    check_failure(f, LINATTN_ENOMEM, "");
}
END_TEST

START_TEST(divergence_tells_the_step) {
    problem f = problem_of(P);
    f.bad_gradient = NAN;
    check_failure(f, LINATTN_ENONFINITE, "the run diverged at step 6: gradient[");
    f.bad_gradient = -INFINITY;
    check_failure(f, LINATTN_ENONFINITE, "] is -inf");
    f.bad_gradient = 0, f.bad_value = INFINITY;
    check_failure(f, LINATTN_ENONFINITE, "the run diverged at step 6: value");
    f.bad_value = NAN;
    check_failure(f, LINATTN_ENONFINITE, "the run diverged at step 6: value");
}
END_TEST

/* A finite gradient whose update leaves the doubles. */
START_TEST(divergence_of_the_update) {
    problem f = problem_of(P);
    f.bad_draw = 2;
    f.bad_gradient = 1e200;
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM; /* which squares it */
    options.learning_rate = 0.1;
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, P));
    linattn_trainer *trainer = trainer_of(&f, optimizer, NULL);
    double before[P];
    uint64_t done;
    ck_assert_ok(linattn_trainer_run(trainer, 2, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, before));
    ck_assert_status(linattn_trainer_run(trainer, 5, &done), LINATTN_ENONFINITE, "the run diverged at step 2: ");
    ck_assert_uint_eq(done, 0);
    assert_at(trainer, 2, before);
    linattn_trainer_destroy(trainer);
}
END_TEST

/* theta doubles in size and changes sign at each step until the value is no double. */
START_TEST(gradient_descent_that_diverges) {
    problem f = problem_of(1);
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.learning_rate = 3;
    linattn_optimizer *optimizer;
    linattn_objective *objective = problem_objective(&f);
    linattn_trainer *trainer;
    const double start = 1;
    double theta;
    uint64_t done;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 1));
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, &start, NULL));
    ck_assert_status(linattn_trainer_run(trainer, 5000, &done), LINATTN_ENONFINITE, "the run diverged");
    ck_assert(done > 500 && done < 520); /* theta^2 = 4^t passes 2^1024 near t = 512 */
    ck_assert_uint_eq(linattn_trainer_record_count(trainer), done);
    ck_assert_ok(linattn_trainer_get_parameters(trainer, &theta));
    ck_assert(isfinite(theta) && fabs(theta) > 1e150);
    linattn_trainer_destroy(trainer);
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), done); /* still readable */
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(objective);
}
END_TEST

START_TEST(skipping_goes_on) {
    problem f = problem_of(P);
    f.bad_draw = 4;
    f.bad_gradient = INFINITY;
    linattn_objective *objective = problem_objective(&f);
    linattn_optimizer *optimizer = adam(0.1, LINATTN_NONFINITE_SKIP);
    linattn_trainer *trainer;
    linattn_step_record records[10];
    double before[P], now[P];
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, START, NULL));
    ck_assert_ok(linattn_trainer_run(trainer, 4, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, before));
    ck_assert_ok(linattn_trainer_run(trainer, 1, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, now));
    ck_assert_mem_eq(now, before, sizeof now);
    ck_assert_ok(linattn_trainer_run(trainer, 5, NULL));
    ck_assert(linattn_optimizer_step_count(optimizer) == 10 && linattn_optimizer_skip_count(optimizer) == 1);
    ck_assert_ok(linattn_trainer_get_records(trainer, 0, 10, sizeof *records, records));
    for (uint64_t t = 0; t < 10; t++)
        ck_assert(records[t].step == t && records[t].skipped == (t == 4) && isnan(records[t].value) == (t == 4));
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(objective);
}
END_TEST

static linattn_trainer *volatile interrupted; /* what the signal handler stops */

static void handle_signal(int number) {
    (void)number;
    linattn_trainer_request_stop(interrupted);
}

static void raise_at_20(uint64_t draw, void *user) {
    (void)user;
    if (draw == 20) raise(SIGUSR1);
}

START_TEST(stop_from_a_signal_handler) {
    problem f = problem_of(P);
    f.hook = raise_at_20;
    linattn_trainer *trainer = plain_trainer(&f);
    interrupted = trainer;
    struct sigaction action = {.sa_handler = handle_signal}, old;
    ck_assert_int_eq(sigaction(SIGUSR1, &action, &old), 0);
    uint64_t done;
    ck_assert_status(linattn_trainer_run(trainer, 1000, &done), LINATTN_STOP, "");
    ck_assert(done == 21 && linattn_trainer_step_count(trainer) == 21); /* the step in progress is completed */
    ck_assert_ok(linattn_trainer_run(trainer, 1000, &done));            /* a request stops one run */
    ck_assert_uint_eq(done, 1000);
    ck_assert_int_eq(sigaction(SIGUSR1, &old, NULL), 0);
    linattn_trainer_destroy(trainer);
}
END_TEST

typedef struct handshake {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    int begun;
    linattn_trainer *trainer;
} handshake;

static void tell_begun(uint64_t draw, void *user) {
    handshake *h = user;
    if (draw != 10) return;
    pthread_mutex_lock(&h->mutex);
    h->begun = 1;
    pthread_cond_signal(&h->moved);
    pthread_mutex_unlock(&h->mutex);
}

static void *stop_when_begun(void *user) {
    handshake *h = user;
    pthread_mutex_lock(&h->mutex);
    while (!h->begun) pthread_cond_wait(&h->moved, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
    linattn_trainer_request_stop(h->trainer);
    return NULL;
}

START_TEST(stop_from_another_thread) {
    handshake h = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL};
    problem f = problem_of(P);
    f.hook = tell_begun;
    f.user = &h;
    linattn_trainer_options options = trainer_options();
    options.record_stride = 0;
    linattn_trainer *trainer = trainer_of(&f, adam(0.1, LINATTN_NONFINITE_FAIL), &options);
    h.trainer = trainer;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_when_begun, &h), 0);
    uint64_t done;
    ck_assert_status(linattn_trainer_run(trainer, UINT64_MAX, &done), LINATTN_STOP, ""); /* without end, but for the request */
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(done > 10 && done == linattn_trainer_step_count(trainer) && done == f.calls);
    linattn_trainer_destroy(trainer);
}
END_TEST

/* A request is for the run in progress, or else for the next one; it is never lost and never counts twice. */
START_TEST(stop_between_runs) {
    problem f = problem_of(P);
    linattn_trainer *trainer = plain_trainer(&f);
    uint64_t done;
    linattn_trainer_request_stop(NULL);
    linattn_trainer_request_stop(trainer);
    linattn_trainer_request_stop(trainer);
    ck_assert_status(linattn_trainer_run(trainer, 5, &done), LINATTN_STOP, "");
    ck_assert(done == 0 && f.calls == 0);
    ck_assert_ok(linattn_trainer_run(trainer, 5, &done));
    ck_assert_uint_eq(done, 5);
    linattn_trainer_destroy(trainer);
}
END_TEST

START_TEST(wrong_arguments) {
    problem f = problem_of(P), other = problem_of(P + 1);
    linattn_objective *objective = problem_objective(&f), *larger = problem_objective(&other);
    linattn_optimizer *optimizer = adam(0.1, LINATTN_NONFINITE_FAIL), *used = adam(0.1, LINATTN_NONFINITE_FAIL);
    linattn_trainer_options options = trainer_options();
    linattn_trainer *trainer = (linattn_trainer *)&options;
    double theta[P + 1] = {0, 0, INFINITY}, gradient[P] = {1, 1, 1}, moved[P] = {0};
#define REFUSED(call, status, message)                                                                                             \
    do {                                                                                                                           \
        trainer = (linattn_trainer *)&options;                                                                                     \
        ck_assert_status(call, status, message);                                                                                   \
        ck_assert_ptr_null(trainer);                                                                                               \
    } while (0)
    ck_assert_status(linattn_trainer_options_init(NULL, sizeof options), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_trainer_create(NULL, objective, optimizer, START, NULL), LINATTN_EINVAL, "out is NULL");
    REFUSED(linattn_trainer_create(&trainer, NULL, optimizer, START, NULL), LINATTN_EINVAL, "objective is NULL");
    REFUSED(linattn_trainer_create(&trainer, objective, NULL, START, NULL), LINATTN_EINVAL, "optimizer is NULL");
    REFUSED(linattn_trainer_create(&trainer, objective, optimizer, NULL, NULL), LINATTN_EINVAL, "theta is NULL");
    REFUSED(linattn_trainer_create(&trainer, objective, optimizer, theta, NULL), LINATTN_ENONFINITE, "theta[2] is inf");
    REFUSED(linattn_trainer_create(&trainer, larger, optimizer, theta, NULL), LINATTN_EMISMATCH,
            "4 parameters and the optimizer 3");
    options.observer_stride = 0;
    REFUSED(linattn_trainer_create(&trainer, objective, optimizer, START, &options), LINATTN_EINVAL, "observer_stride is 0");
    options = trainer_options();
    options.struct_size = 1;
    REFUSED(linattn_trainer_create(&trainer, objective, optimizer, START, &options), LINATTN_EINVAL, "linattn_trainer_options");
    ck_assert_ok(linattn_optimizer_step(used, 0, gradient, moved, NULL));
    REFUSED(linattn_trainer_create(&trainer, objective, used, START, NULL), LINATTN_EINVAL, "step count is 1");

    uint64_t done = 7;
    ck_assert_status(linattn_trainer_run(NULL, 1, &done), LINATTN_EINVAL, "trainer is NULL");
    ck_assert_status(linattn_trainer_get_parameters(NULL, theta), LINATTN_EINVAL, "trainer is NULL");
    ck_assert(linattn_trainer_step_count(NULL) == 0 && linattn_trainer_parameter_count(NULL) == 0 &&
              linattn_trainer_record_count(NULL) == 0);
    linattn_trainer_destroy(NULL);

    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, START, NULL));
    ck_assert_uint_eq(linattn_trainer_parameter_count(trainer), P);
    ck_assert_status(linattn_trainer_get_parameters(trainer, NULL), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_trainer_run(trainer, UINT64_MAX, &done), LINATTN_EOVERFLOW, "record_stride");
    ck_assert_ok(linattn_trainer_run(trainer, 2, &done));
    ck_assert_status(linattn_trainer_run(trainer, UINT64_MAX, &done), LINATTN_EOVERFLOW, "after step 2");
    ck_assert_uint_eq(done, 0);
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, gradient, moved, NULL)); /* behind the trainer's back */
    ck_assert_status(linattn_trainer_run(trainer, 1, &done), LINATTN_EINVAL, "optimizer is at step 3 and its trainer at step 2");
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(optimizer);
    linattn_optimizer_destroy(used);
    linattn_objective_destroy(objective);
    linattn_objective_destroy(larger);
}
END_TEST

static Suite *trainer_suite(void) {
    Suite *suite = suite_create("trainer");
    TCase *tc = tcase_create("runs");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, steps_equal_single_steps_equal_hand);
    tcase_add_test(tc, records_at_a_stride);
    tcase_add_test(tc, get_records_ranges);
    tcase_add_test(tc, observer_ends_the_run);
    tcase_add_test(tc, observer_at_a_stride);
    tcase_add_test(tc, observer_cannot_run);
    tcase_add_test(tc, objective_that_fails);
    tcase_add_test(tc, divergence_tells_the_step);
    tcase_add_test(tc, divergence_of_the_update);
    tcase_add_test(tc, gradient_descent_that_diverges);
    tcase_add_test(tc, skipping_goes_on);
    tcase_add_test(tc, stop_from_a_signal_handler);
    tcase_add_test(tc, stop_from_another_thread);
    tcase_add_test(tc, stop_between_runs);
    tcase_add_test(tc, wrong_arguments);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(trainer_suite)
