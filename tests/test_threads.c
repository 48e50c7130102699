/* test_threads.c: what docs/threading.md promises: handles that do not change serve any number of threads, handles that do belong
 * to one thread at a time, messages to the thread that failed; nothing of it changes a bit, nor the program's own settings. */
#include "support/world.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 8, DIGEST = 64, STEPS = 5 };

static world shared;
static double serial[DIGEST];

/* Sums of what the calls give, one an entry, and how many there are. */
typedef struct digest {
    double sums[DIGEST];
    size_t count;
    int failed; /* a thread other than the test's cannot assert */
} digest;

static void add(digest *d, int status, const double *x, size_t count) {
    d->failed |= status != LINATTN_OK || d->count == DIGEST;
    if (d->failed) return;
    for (size_t i = 0; i < count; i++) d->sums[d->count] += x[i] * (double)(i + 1);
    d->count++;
}

/* Handles that do not change, all at once in every thread. */
static void use_shared(digest *d) {
    double x[WORLD_PROMPTS * (WORLD_N + 1) * (WORLD_N + 1)], q[4], loss;
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    linattn_batch *batch;
    const double p[WORLD_PROMPT_D] = {1, 2};
    add(d, linattn_model_predict(shared.model, shared.batch, shared.theta, x), x, WORLD_PROMPTS);
    add(d, linattn_model_attention(shared.model, shared.batch, shared.theta, 0, 0, x), x, 16);
    add(d, linattn_batch_create_from_sampler(&batch, shared.sampler, WORLD_PROMPTS, 7), NULL, 0);
    if (d->failed) return;
    add(d, linattn_batch_get_arrays(batch, x, NULL), x, WORLD_PROMPTS * (WORLD_N + 1) * (WORLD_D + 1));
    linattn_batch_destroy(batch);
    add(d, linattn_prompt_evaluate(shared.prompt, p, x, NULL, NULL, NULL), x, WORLD_EXAMPLES);
    add(d, linattn_theory_one_layer(shared.sampler, q, &loss), q, 4);
    add(d, linattn_recipe_find("setting2", &recipe), &recipe.gamma_shape, 1);
}

/* A trainer and diagnostics of the thread's own, on an objective that others clone too. */
static void use_own(digest *d) {
    const linattn_optimizer_options adam = world_adam_options();
    linattn_objective *f = NULL;
    linattn_optimizer *optimizer = NULL;
    linattn_trainer *trainer = NULL;
    linattn_diagnostics *measures = NULL;
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    double x[WORLD_P];
    add(d, linattn_objective_clone(&f, shared.sampled), NULL, 0);
    add(d, linattn_diagnostics_create(&measures, shared.sampled, NULL), NULL, 0);
    add(d, linattn_optimizer_create(&optimizer, &adam, NULL, 0, WORLD_P), NULL, 0);
    if (!d->failed) add(d, linattn_trainer_create(&trainer, f, optimizer, shared.theta, NULL), NULL, 0);
    if (!d->failed) {
        add(d, linattn_trainer_run(trainer, STEPS, NULL), NULL, 0);
        add(d, linattn_trainer_get_parameters(trainer, x), x, WORLD_P);
        add(d, linattn_diagnostics_spectrum(measures, 3, shared.theta, NULL, x, NULL, &spectrum), x, WORLD_P);
    }
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(optimizer);
    linattn_diagnostics_destroy(measures);
    linattn_objective_destroy(f);
}

/* What a thread's own failure says is there until its next one, whatever others do. */
static void *work(void *user) {
    digest *d = user;
    char own[64];
    snprintf(own, sizeof own, "index is %zu; allowed: 0 to ", 1000 + (size_t)(uintptr_t)d % 100000);
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    for (int round = 0; round < 10 && !d->failed; round++) {
        memset(d->sums, 0, sizeof d->sums);
        d->count = 0;
        d->failed |= linattn_recipe_get(1000 + (size_t)(uintptr_t)d % 100000, &recipe) != LINATTN_EINVAL;
        use_shared(d);
        d->failed |= strncmp(linattn_last_message(), own, strlen(own)) != 0;
        use_own(d);
    }
    return NULL;
}

START_TEST(what_does_not_change_is_shared) {
    static digest one, each[THREADS];
    pthread_t threads[THREADS];
    shared = world_open();
    work(&one);
    ck_assert_int_eq(one.failed, 0);
    memcpy(serial, one.sums, sizeof serial);
    for (size_t i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &each[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(each[i].failed, 0);
        ck_assert_uint_eq(each[i].count, one.count);
        ck_assert_mem_eq(each[i].sums, serial, sizeof serial);
    }
    world_close(&shared);
}
END_TEST

/* Handed from thread to thread, a trainer goes on as if it had stayed. */
static void *run_on(void *trainer) { return (void *)(intptr_t)linattn_trainer_run(trainer, STEPS, NULL); }

START_TEST(a_handle_may_move_between_threads) {
    double moved[WORLD_P], stayed[WORLD_P];
    world other = world_open();
    shared = world_open();
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        void *status;
        ck_assert_int_eq(pthread_create(&thread, NULL, run_on, shared.trainer), 0);
        ck_assert_int_eq(pthread_join(thread, &status), 0);
        ck_assert_ptr_null(status);
    }
    ck_assert_ok(linattn_trainer_run(other.trainer, 4 * STEPS, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(shared.trainer, moved));
    ck_assert_ok(linattn_trainer_get_parameters(other.trainer, stayed));
    ck_assert_mem_eq(moved, stayed, sizeof moved);
    world_close(&shared);
    world_close(&other);
}
END_TEST

static void *stop_soon(void *trainer) {
    usleep(20000);
    linattn_trainer_request_stop(trainer);
    return NULL;
}

START_TEST(another_thread_stops_a_run) {
    pthread_t thread;
    uint64_t done = 0;
    shared = world_open();
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_soon, shared.trainer), 0);
    ck_assert_int_eq(linattn_trainer_run(shared.trainer, UINT64_C(1) << 20, &done), LINATTN_STOP);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(linattn_trainer_step_count(shared.trainer), done);
    ck_assert_ok(linattn_trainer_run(shared.trainer, 1, NULL));
    world_close(&shared);
}
END_TEST

/* The thread counts of a BLAS or of OpenMP, where the process has such a thing; -1 otherwise. */
static int ask(const char *name) {
    int (*get)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, name);
    return get ? get() : -1;
}

START_TEST(case_B4_thread_counts_of_the_program_stay) {
    void (*set)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    void (*set_openmp)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set) set(2);
    if (set_openmp) set_openmp(3);
    const int blas = ask("openblas_get_num_threads"), openmp = ask("omp_get_max_threads");
    ck_assert(!set_openmp || openmp == 3);
    digest d = {.failed = 0};
    double eigenvalues[WORLD_P], theta[WORLD_P] = {NAN};
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    shared = world_open();
    use_shared(&d);
    use_own(&d);
    ck_assert_int_eq(d.failed, 0);
    ck_assert_int_eq(linattn_diagnostics_spectrum(shared.diagnostics, 0, theta, NULL, eigenvalues, NULL, &spectrum),
                     LINATTN_ENONFINITE);
    world_close(&shared);
    ck_assert_int_eq(ask("openblas_get_num_threads"), blas);
    ck_assert_int_eq(ask("omp_get_max_threads"), openmp);
}
END_TEST

static Suite *threads_suite(void) {
    Suite *suite = suite_create("threads");
    TCase *tc = tcase_create("threads");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, what_does_not_change_is_shared);
    tcase_add_test(tc, a_handle_may_move_between_threads);
    tcase_add_test(tc, another_thread_stops_a_run);
#ifndef __SANITIZE_THREAD__ /* which cannot follow the BLAS's threads */
    tcase_add_test(tc, case_B4_thread_counts_of_the_program_stay);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(threads_suite)
