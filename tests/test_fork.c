/* test_fork.c: children of a process that has handles and threads. A child has the handles but not the threads: it makes new ones,
 * and what it computes has the same bits. docs/threading.md has what is promised. Not for the thread sanitizer,
 * which cannot follow threads born after a fork. */
#include "support/world.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's part returns 0 when all is well; a hang ends it. */
static void in_a_child(int (*part)(void *), void *user) {
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(60);
        _exit(part(user));
    }
    int ended;
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "the child ended with %d", ended);
}

/* ---- Hessian and eigenvalues, p = 200, two threads ------------------------------------------------------------------------- */
enum { P = 200 };
typedef struct curvature {
    linattn_diagnostics *diagnostics;
    double theta[P], eigenvalues[P], again[P];
} curvature;

static int measure(void *user) {
    curvature *c = user;
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    if (linattn_diagnostics_spectrum(c->diagnostics, 1, c->theta, NULL, c->again, NULL, &spectrum)) return 1;
    return memcmp(c->again, c->eigenvalues, sizeof c->again) != 0;
}

START_TEST(case_B3_parent_child_parent) {
    static curvature c;
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_diagnostics_options with;
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *f;
    ck_assert_ok(linattn_sampler_options_init(&data, sizeof data));
    ck_assert_ok(linattn_model_options_init(&shape, sizeof shape));
    ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
    data.dim = shape.dim = 10, data.context = 20, shape.layers = 1, with.threads = 2;
    ck_assert_ok(linattn_sampler_create(&sampler, &data));
    ck_assert_ok(linattn_model_create(&model, &shape));
    ck_assert_ok(linattn_objective_create_sampled(&f, model, sampler, 300, NULL));
    ck_assert_ok(linattn_diagnostics_create(&c.diagnostics, f, &with));
    ck_assert_uint_eq(linattn_model_parameter_count(model), P);
    ck_assert_ok(linattn_model_init_parameters(model, 1, c.theta));
    ck_assert_ok(linattn_diagnostics_spectrum(c.diagnostics, 1, c.theta, NULL, c.eigenvalues, NULL, &spectrum));
    for (int round = 0; round < 3; round++) {
        in_a_child(measure, &c);
        ck_assert_int_eq(measure(&c), 0);
    }
    linattn_diagnostics_destroy(c.diagnostics);
    linattn_objective_destroy(f);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
}
END_TEST

/* ---- Every handle ---------------------------------------------------------------------------------------------------------- */
typedef struct family {
    world w;
    double wanted[WORLD_P]; /* theta after five steps more */
} family;

static int train_and_leave(void *user) {
    family *f = user;
    double theta[WORLD_P];
    if (linattn_trainer_run(f->w.trainer, 5, NULL) || linattn_trainer_get_parameters(f->w.trainer, theta)) return 1;
    if (memcmp(theta, f->wanted, sizeof theta) != 0) return 2;
    world_close(&f->w);
    return 0;
}

/* The child's steps are its own: the parent's trainer is where it was, and ends where the child's did. */
START_TEST(a_child_goes_on_with_every_handle) {
    static family f;
    world undisturbed = world_open();
    f.w = world_open();
    ck_assert_ok(linattn_trainer_run(undisturbed.trainer, 8, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(undisturbed.trainer, f.wanted));
    ck_assert_ok(linattn_trainer_run(f.w.trainer, 3, NULL));
    in_a_child(train_and_leave, &f);
    ck_assert_uint_eq(linattn_trainer_step_count(f.w.trainer), 3);
    ck_assert_int_eq(train_and_leave(&f), 0);
    world_close(&undisturbed);
}
END_TEST

/* ---- In the middle of a call ----------------------------------------------------------------------------------------------- */
static int fork_once(double fraction, void *user) {
    pid_t *child = user;
    if (*child < 0 && fraction > 0) *child = fork();
    if (*child == 0) alarm(60);
    return 0;
}

/* The child finishes the very call in whose middle it was born, without its parent's worker threads. */
START_TEST(a_fork_in_the_middle_of_a_call) {
    world w = world_open();
    linattn_objective_options with;
    linattn_objective *f;
    double alone, value;
    pid_t child = 1;
    ck_assert_ok(linattn_objective_options_init(&with, sizeof with));
    with.threads = 2, with.progress = fork_once, with.user = &child;
    ck_assert_ok(linattn_objective_create_sampled(&f, w.model, w.sampler, 5000, &with));
    ck_assert_ok(linattn_objective_value(f, 1, w.theta, &alone));
    ck_assert_ok(linattn_objective_value(f, 2, w.theta, &value));
    child = -1;
    const int status = linattn_objective_value(f, 1, w.theta, &value);
    if (child == 0) {
        linattn_objective_destroy(f);
        _exit(status == LINATTN_OK && value == alone ? 0 : 1);
    }
    int ended;
    ck_assert(status == LINATTN_OK && value == alone && waitpid(child, &ended, 0) == child);
    linattn_objective_destroy(f);
    ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "the child ended with %d", ended);
    world_close(&w);
}
END_TEST

static Suite *fork_suite(void) {
    Suite *suite = suite_create("fork");
    TCase *tc = tcase_create("fork");
    tcase_set_tags(tc, LINATTN_TEST_PROCESSES);
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_B3_parent_child_parent);
    tcase_add_test(tc, a_child_goes_on_with_every_handle);
    tcase_add_test(tc, a_fork_in_the_middle_of_a_call);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(fork_suite)
