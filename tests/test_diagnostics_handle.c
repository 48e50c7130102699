/* The diagnostics handle: progress, observers, sizes and versions of structs. */
#include "support/quadratic.h"
#include "support/random_case.h"
#include "support/suite.h"

static linattn_spectrum spectrum(void) { return (linattn_spectrum){.struct_size = sizeof(linattn_spectrum)}; }
static linattn_condition condition(void) { return (linattn_condition){.struct_size = sizeof(linattn_condition)}; }

static const double known[9] = {2, 1, 0, 1, 3, 0, 0, 0, -4}, point[3] = {0.1, -0.2, 0.3};

typedef struct {
    linattn_diagnostics *d;
    double last;
    int calls, stop_at, nested;
} watcher;

static int watch(double fraction, void *user) {
    watcher *w = user;
    linattn_spectrum out = spectrum();
    const double theta[36] = {0};
    ck_assert_double_ge(fraction, w->last);
    ck_assert_double_le(fraction, 1);
    w->last = fraction;
    w->calls++;
    w->nested = linattn_diagnostics_spectrum(w->d, 0, theta, NULL, NULL, NULL, &out);
    return w->calls == w->stop_at ? LINATTN_STOP : 0;
}

/* Progress goes up, can stop the call, and cannot use the handle. */
START_TEST(progress_is_called_and_obeyed) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 5000, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    watcher w = {0};
    linattn_diagnostics_options with;
    linattn_gradient_error_options noise;
    linattn_gradient_error error = {.struct_size = sizeof error};
    linattn_heterogeneity blocks = {.struct_size = sizeof blocks};
    linattn_extremes extremes = {.struct_size = sizeof extremes};
    linattn_lanczos_options lanczos;
    linattn_spectrum out = spectrum();
    const size_t boundaries[3] = {0, 18, 36};
    double errors[300];
    ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
    ck_assert_ok(linattn_gradient_error_options_init(&noise, sizeof noise));
    ck_assert_ok(linattn_lanczos_options_init(&lanczos, sizeof lanczos));
    noise.samples = 300;
    with.progress = watch;
    with.user = &w;
    ck_assert_ok(linattn_diagnostics_create(&w.d, f, &with));
    double next[36], ratios[3];
    const double fractions[3] = {1, 0.5, 0.1};
    for (int i = 0; i < 36; i++) next[i] = c.theta[i] + 0.01;
    for (int call = 0; call < 6; call++)
        for (int stop = 0; stop < 2; stop++) {
            int status = 0;
            w.last = 0;
            w.calls = 0;
            w.stop_at = stop ? 2 : 0;
            if (call == 0) status = linattn_diagnostics_spectrum(w.d, 0, c.theta, NULL, NULL, NULL, &out);
            if (call == 1) status = linattn_diagnostics_gradient_error(w.d, c.theta, &noise, errors, NULL, NULL, NULL, &error);
            if (call == 2) status = linattn_diagnostics_heterogeneity(w.d, 0, c.theta, boundaries, 2, NULL, 0.1, NULL, &blocks);
            if (call == 3) status = linattn_diagnostics_extremes(w.d, 0, c.theta, NULL, NULL, NULL, &extremes);
            if (call == 4) status = linattn_diagnostics_gradient_ratios(w.d, 0, c.theta, next, fractions, 3, ratios);
            if (call == 5) status = linattn_diagnostics_directional_smoothness(w.d, 0, c.theta, next, ratios);
            ck_assert_int_eq(status, stop ? LINATTN_STOP : LINATTN_OK);
            ck_assert_int_eq(w.nested, LINATTN_EINVAL);
            ck_assert_int_ge(w.calls, 2);
            if (stop) ck_assert_int_eq(w.calls, 2);
            if (!stop) ck_assert_double_gt(w.last, 0.4);
        }
    linattn_diagnostics_destroy(w.d);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* A trainer's observer measures on a fixed batch, at a stride, and the run is what it would have been. */
typedef struct {
    linattn_diagnostics *d;
    double condition[4];
    int count;
} measured;

static int observe(const linattn_step_record *record, const double *theta, void *user) {
    measured *m = user;
    linattn_condition by_diagonal = condition();
    ck_assert_uint_eq(record->step, (uint64_t)(5 * m->count));
    const int status = linattn_diagnostics_robust_condition(m->d, 0, theta, NULL, NULL, &by_diagonal);
    if (status == LINATTN_OK) m->condition[m->count++] = by_diagonal.value;
    return status;
}

START_TEST(an_observer_may_measure) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 30, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    double with[36], without[36];
    measured m = {0};
    ck_assert_ok(linattn_diagnostics_create(&m.d, f, NULL));
    for (int turn = 0; turn < 2; turn++) {
        linattn_optimizer_options rule;
        linattn_optimizer *optimizer;
        linattn_trainer_options options;
        linattn_trainer *trainer;
        ck_assert_ok(linattn_optimizer_options_init(&rule, sizeof rule));
        ck_assert_ok(linattn_trainer_options_init(&options, sizeof options));
        rule.learning_rate = 0.01;
        options.observer_stride = 5;
        options.observer = turn ? NULL : observe;
        options.user = &m;
        ck_assert_ok(linattn_optimizer_create(&optimizer, &rule, NULL, 0, 36));
        ck_assert_ok(linattn_trainer_create(&trainer, f, optimizer, c.theta, &options));
        ck_assert_ok(linattn_trainer_run(trainer, 16, NULL));
        ck_assert_ok(linattn_trainer_get_parameters(trainer, turn ? without : with));
        linattn_trainer_destroy(trainer);
        linattn_optimizer_destroy(optimizer);
    }
    ck_assert_int_eq(m.count, 4);
    ck_assert_mem_eq(with, without, sizeof with);
    ck_assert_double_ne(m.condition[0], m.condition[3]);
    linattn_diagnostics_destroy(m.d);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* A newer program's structs: what this library does not know must be 0. */
START_TEST(structs_of_a_newer_version) {
    struct {
        linattn_curvature_options known;
        uint64_t more;
    } o = {.more = 1};
    struct {
        linattn_spectrum known;
        uint64_t more;
    } out = {.known.struct_size = sizeof out, .more = 7};
    quadratic f = quadratic_of(3, known);
    linattn_diagnostics *d = quadratic_diagnostics(&f, LINATTN_HVP_EXACT);
    ck_assert_ok(linattn_curvature_options_init(&o.known, sizeof o));
    ck_assert_ok(linattn_diagnostics_spectrum(d, 0, point, &o.known, NULL, NULL, &out.known));
    ck_assert_uint_eq(out.more, 0);
    o.more = 1;
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, point, &o.known, NULL, NULL, &out.known), LINATTN_EVERSION,
                     "linattn_curvature_options");
    linattn_diagnostics_destroy(d);
}
END_TEST

/* More than LAPACK can count is refused before anything is computed. */
static int never_called(uint64_t draw, const double *theta, const double *directions, size_t count, double *out, void *user) {
    (void)draw, (void)theta, (void)directions, (void)count, (void)out;
    ++*(int *)user;
    return 0;
}

static int no_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    (void)draw, (void)theta, (void)value, (void)gradient;
    ++*(int *)user;
    return 0;
}

START_TEST(too_large_for_lapack) {
    enum { P = 50000 };
    int calls = 0;
    double *theta = calloc(P, sizeof *theta), vectors;
    linattn_objective_callbacks callbacks;
    linattn_objective *f;
    linattn_diagnostics *d;
    linattn_spectrum out = spectrum();
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = P;
    callbacks.gradient = no_gradient;
    callbacks.hvp = never_called;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, NULL, &calls));
    ck_assert_ok(linattn_diagnostics_create(&d, f, NULL));
    ck_assert_status(linattn_diagnostics_spectrum(d, 0, theta, NULL, NULL, &vectors, &out), LINATTN_EOVERFLOW, "p is 50000");
    ck_assert_int_eq(calls, 0);
    linattn_diagnostics_destroy(d);
    linattn_objective_destroy(f);
    free(theta);
}
END_TEST

static Suite *diagnostics_handle_suite(void) {
    Suite *suite = suite_create("diagnostics handle");
    TCase *tests = tcase_create("handle");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, progress_is_called_and_obeyed);
    tcase_add_test(tests, an_observer_may_measure);
    tcase_add_test(tests, structs_of_a_newer_version);
    tcase_add_test(tests, too_large_for_lapack);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(diagnostics_handle_suite)
