/* test_hostile.c: programs that do everything wrong that a C program can and stay defined: sizes no machine has, callbacks that
 * misbehave, odd moments to let go. Each ends in a status and one line, or as if it were polite. */
#include "support/problem.h"
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Memory that there is not is NULL under the sanitizers too, as it is without them. */
LINATTN_API const char *__asan_default_options(void), *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* Asserts a status and a message that holds `text` and is one line, as every failure's must be. */
#define ck_assert_refused(call, wanted, text)                                                                                      \
    do {                                                                                                                           \
        ck_assert_status(call, wanted, text);                                                                                      \
        ck_assert(strpbrk(linattn_last_message(), "\n\r\t") == NULL && strlen(linattn_last_message()) < 512);                      \
    } while (0)

typedef struct shape {
    size_t dim, context, layers, heads, prompts;
    int32_t kind;
} shape;

static linattn_sampler *sampler_of(shape s) {
    linattn_sampler_options options;
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_options_init(&options, sizeof options));
    options.dim = s.dim, options.context = s.context, options.kind = s.kind, options.seed = UINT64_MAX;
    ck_assert_ok(linattn_sampler_create(&sampler, &options));
    return sampler;
}

static linattn_model *model_of(shape s) {
    linattn_model_options options;
    linattn_model *model;
    ck_assert_ok(linattn_model_options_init(&options, sizeof options));
    options.dim = s.dim, options.layers = s.layers, options.heads = s.heads;
    options.init_std = 0.01 / (double)s.layers;
    ck_assert_ok(linattn_model_create(&model, &options));
    return model;
}

/* The only owner of its model and sampler. */
static linattn_objective *objective_of(shape s, size_t threads, linattn_progress progress, void *user) {
    linattn_model *model = model_of(s);
    linattn_sampler *sampler = sampler_of(s);
    linattn_objective_options options;
    linattn_objective *objective;
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    options.threads = threads, options.progress = progress, options.user = user;
    ck_assert_ok(linattn_objective_create_sampled(&objective, model, sampler, s.prompts, &options));
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
    return objective;
}

static linattn_optimizer *optimizer_of(int32_t rule, size_t p) {
    linattn_optimizer_options options;
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = rule, options.learning_rate = 0.01, options.clip = LINATTN_CLIP_GLOBAL_NORM;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, p));
    return optimizer;
}

static const shape SMALL = {.dim = 2, .context = 3, .layers = 2, .heads = 1, .prompts = 70};

START_TEST(sizes_that_no_machine_has) {
    const shape vast = {.dim = 1024, .context = 1 << 22, .layers = 1, .heads = 1};
    const shape moments = {.dim = 1024, .context = 1 << 22, .kind = LINATTN_BATCH_MOMENTS};
    linattn_sampler *tokens = sampler_of(vast), *fewer = sampler_of(moments);
    linattn_model *model = model_of(vast);
    linattn_batch *batch = (linattn_batch *)(uintptr_t)1;
    linattn_objective *objective = (linattn_objective *)(uintptr_t)1;
    ck_assert_refused(linattn_batch_create_from_sampler(&batch, tokens, UINT32_MAX, 0), LINATTN_EOVERFLOW, "4299162625 numbers");
    ck_assert_refused(linattn_batch_create_from_sampler(&batch, tokens, 100000, 0), LINATTN_ENOMEM, "no memory for tokens");
    ck_assert_refused(linattn_batch_create_from_sampler(&batch, fewer, UINT32_MAX, 0), LINATTN_ENOMEM, "no memory for moments");
    ck_assert_ptr_null(batch);
    ck_assert_refused(linattn_objective_create_sampled(&objective, model, fewer, UINT32_MAX, NULL), LINATTN_ENOMEM, "no memory");
    ck_assert_ptr_null(objective);
    linattn_model_destroy(model);
    linattn_sampler_destroy(tokens);
    linattn_sampler_destroy(fewer);

    /* few parameters and tokens, but 17 TB of units */
    const shape narrow = {.dim = 1, .context = 1 << 18, .layers = 1, .heads = 1};
    linattn_model_options options;
    ck_assert_ok(linattn_model_options_init(&options, sizeof options));
    options.dim = 1;
    options.layers = LINATTN_MAX_LAYERS;
    options.ff_hidden = LINATTN_MAX_HIDDEN;
    ck_assert_ok(linattn_model_create(&model, &options));
    linattn_sampler *sampler = sampler_of(narrow);
    ck_assert_refused(linattn_objective_create_sampled(&objective, model, sampler, 1, NULL), LINATTN_ENOMEM, "no memory");
    ck_assert_ptr_null(objective);
    linattn_sampler_destroy(sampler);
    linattn_model_destroy(model);
}
END_TEST

static const int ODD[] = {-1, -4, -13, INT32_MIN, 2, 77, INT32_MAX};
enum { ODD_COUNT = sizeof ODD / sizeof *ODD };
static int status_of(int returned) { return returned < 0 ? returned : LINATTN_EINVAL; }

static int odd_progress(double fraction, void *user) { return fraction >= 0 && fraction <= 1 ? *(const int *)user : 0; }

static int odd_update(const linattn_update *update, void *user) {
    for (size_t i = 0; i < update->p; i++) update->theta[i] = NAN;
    update->state[0] = INFINITY;
    return *(const int *)user;
}

START_TEST(callbacks_return_odd_numbers) {
    double theta[16] = {0}, value = 7, gradient[16] = {8}, state = 7;
    shape many = SMALL;
    many.prompts = 2100; /* two rounds of chunks: progress is called between them */
    linattn_derivative_report report = {.struct_size = sizeof report, .worst = 99};
    for (size_t i = 0; i < ODD_COUNT; i++) {
        linattn_objective *f = objective_of(many, 2, odd_progress, (void *)(uintptr_t)&ODD[i]);
        ck_assert_refused(linattn_objective_gradient(f, 0, theta, &value, gradient), status_of(ODD[i]), "progress returned");
        ck_assert_refused(linattn_objective_check_derivatives(f, 0, theta, 1e-5, &report), status_of(ODD[i]), "progress returned");
        ck_assert(value == 7 && gradient[0] == 8 && report.worst == 99);
        linattn_objective_destroy(f);

        linattn_optimizer_options options;
        linattn_custom_rule rule;
        linattn_optimizer *optimizer;
        ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
        ck_assert_ok(linattn_custom_rule_init(&rule, sizeof rule));
        options.learning_rate = 1;
        rule.update = odd_update, rule.state_count = 1, rule.name = "two\nlines \xff";
        ck_assert_ok(linattn_optimizer_create_custom(&optimizer, &options, &rule, (void *)(uintptr_t)&ODD[i], NULL, 0, 16));
        ck_assert_refused(linattn_optimizer_step(optimizer, 1, gradient, theta, NULL), status_of(ODD[i]), "two?lines ?");
        ck_assert_ok(linattn_optimizer_get_state(optimizer, &state, NULL, NULL));
        ck_assert(theta[0] == 0 && theta[15] == 0 && state == 0 && linattn_optimizer_step_count(optimizer) == 0);
        linattn_optimizer_destroy(optimizer);
    }
}
END_TEST

typedef struct guest {
    linattn_objective *objective;
    linattn_optimizer *optimizer;
    int returned;
} guest;

/* Lets go of the caller's handles in the middle of the run, after having used the objective for something else. */
static int leave(const linattn_step_record *record, const double *theta, void *user) {
    guest *g = user;
    double value;
    if (record->step != 1) return 0;
    ck_assert_ok(linattn_objective_value(g->objective, UINT64_MAX, theta, &value));
    linattn_objective_destroy(g->objective);
    linattn_optimizer_destroy(g->optimizer);
    return g->returned;
}

START_TEST(observers_let_go_and_return_odd_numbers) {
    linattn_trainer_options options;
    ck_assert_ok(linattn_trainer_options_init(&options, sizeof options));
    for (size_t i = 0; i < ODD_COUNT; i++) {
        guest g = {objective_of(SMALL, 2, NULL, NULL), optimizer_of(LINATTN_RULE_ADAM, 16), ODD[i]};
        linattn_optimizer *adam = optimizer_of(LINATTN_RULE_ADAM, 16);
        linattn_trainer *trainer, *undisturbed;
        double theta[16] = {0}, wanted[16] = {0};
        uint64_t done = 0;
        options.observer = leave, options.user = &g;
        ck_assert_ok(linattn_trainer_create(&trainer, g.objective, g.optimizer, theta, &options));
        ck_assert_ok(linattn_trainer_create(&undisturbed, g.objective, adam, theta, NULL));
        ck_assert_refused(linattn_trainer_run(trainer, 5, &done), status_of(ODD[i]), "observer returned");
        ck_assert(done == 2 && linattn_trainer_step_count(trainer) == 2 && linattn_trainer_record_count(trainer) == 2);
        ck_assert_ok(linattn_trainer_run(trainer, 3, NULL));
        ck_assert_ok(linattn_trainer_run(undisturbed, 5, NULL));
        ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
        ck_assert_ok(linattn_trainer_get_parameters(undisturbed, wanted));
        ck_assert_mem_eq(theta, wanted, sizeof theta);
        linattn_trainer_destroy(trainer);
        linattn_trainer_destroy(undisturbed);
        linattn_optimizer_destroy(adam);
    }
}
END_TEST

/* A whole run: draws, gradients on two threads, every rule, a checkpoint, a failure. Returns what came of it. */
static double whole_run(void) {
    double theta[16] = {0}, sum = 0;
    char path[] = "/tmp/linattn-hostile-XXXXXX";
    close(mkstemp(path));
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_POLYAK; rule += rule == LINATTN_RULE_NORMALIZED_GD ? 2 : 1) {
        linattn_objective *f = objective_of(SMALL, 2, NULL, NULL);
        linattn_optimizer *optimizer = optimizer_of(rule, 16);
        linattn_trainer *trainer;
        ck_assert_ok(linattn_trainer_create(&trainer, f, optimizer, theta, NULL));
        ck_assert_ok(linattn_trainer_run(trainer, 3, NULL));
        ck_assert_ok(linattn_trainer_save(trainer, path));
        ck_assert_ok(linattn_trainer_load(trainer, path));
        ck_assert_status(linattn_trainer_load(trainer, "no such\nfile"), LINATTN_EIO, "no such?file");
        ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
        for (size_t i = 0; i < 16; i++) sum += theta[i] * (double)(i + 1);
        linattn_trainer_destroy(trainer);
        linattn_optimizer_destroy(optimizer);
        linattn_objective_destroy(f);
    }
    unlink(path);
    return sum;
}

/* Trapped floating-point exceptions end a program at its first NaN: the library makes none on the way to finite results. And it
 * leaves rounding, traps, signals, locale and output alone, on success and on failure. */
START_TEST(a_program_that_traps_exceptions_and_is_left_as_it_was) {
    const double plain = whole_run();
    char locale[256] = "";
    strncat(locale, setlocale(LC_ALL, NULL), sizeof locale - 1);
    FILE *output = tmpfile();
    sigset_t original, before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &before, &original), 0);
    fflush(NULL);
    const int out = dup(1), err = dup(2);
    dup2(fileno(output), 1);
    dup2(fileno(output), 2);
    feclearexcept(FE_ALL_EXCEPT);                            /* or they trap at once */
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); /* where the machine has traps */
    const int traps = fegetexcept(), rounding = fesetround(FE_TOWARDZERO) ? FE_TONEAREST : FE_TOWARDZERO;
    (void)whole_run();
    const int left = fegetexcept(), rounds = fegetround();
    fesetround(FE_TONEAREST);
    const double trapped = whole_run();
    fedisableexcept(FE_ALL_EXCEPT);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    ck_assert_int_eq(close(out) + close(err) + lseek(fileno(output), 0, SEEK_END), 0);
    fclose(output);
    ck_assert(trapped == plain && left == traps && rounds == rounding);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &original, &after), 0);
    ck_assert(sigismember(&after, SIGUSR2) == 1 && sigismember(&after, SIGUSR1) == 0 && sigismember(&after, SIGALRM) == 0);
    ck_assert_str_eq(setlocale(LC_ALL, NULL), locale);
}
END_TEST

static Suite *hostile_suite(void) {
    Suite *suite = suite_create("hostile");
    TCase *tests = tcase_create("hostile");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, sizes_that_no_machine_has);
    tcase_add_test(tests, callbacks_return_odd_numbers);
    tcase_add_test(tests, observers_let_go_and_return_odd_numbers);
    tcase_add_test(tests, a_program_that_traps_exceptions_and_is_left_as_it_was);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(hostile_suite)
