/* test_checkpoint.c: k + m steps are the bits of k steps, saving, loading in a new process, and m steps. */
#include "support/problem.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 256, FIRST = 50, ALL = 100 };

static char folder[PATH - 64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/linattn_checkpoint_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void) {
    static const char *const FILES[] = {"half", "whole", "resumed", "losses"};
    char path[PATH];
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        remove(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *in_folder(const char *name, char *path) {
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

/* A run as its kind says: the rule, and either callbacks or a linear transformer with so many threads. */
typedef struct kind {
    int32_t rule;
    size_t threads; /* 0: callbacks */
} kind;

static linattn_objective *transformer(size_t threads, size_t *p, double *theta) {
    linattn_sampler_options sampler_options;
    linattn_model_options model_options;
    linattn_objective_options objective_options;
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *objective;
    ck_assert_ok(linattn_sampler_options_init(&sampler_options, sizeof sampler_options));
    sampler_options.dim = 3;
    sampler_options.context = 8;
    sampler_options.seed = UINT64_C(0x8000000000000005);
    ck_assert_ok(linattn_sampler_create(&sampler, &sampler_options));
    ck_assert_ok(linattn_model_options_init(&model_options, sizeof model_options));
    model_options.dim = 3;
    model_options.layers = 3;
    ck_assert_ok(linattn_model_create(&model, &model_options));
    ck_assert_ok(linattn_objective_options_init(&objective_options, sizeof objective_options));
    objective_options.threads = threads;
    objective_options.kernel = LINATTN_KERNEL_BASELINE; /* bits differ between kernels, and an emulator offers fewer of them */
    ck_assert_ok(linattn_objective_create_sampled(&objective, model, sampler, 200, &objective_options));
    ck_assert_ok(linattn_model_init_parameters(model, 1, theta));
    *p = linattn_model_parameter_count(model);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
    return objective;
}

enum { MOST = 54 }; /* 2 L d^2 parameters of the transformer */

static problem shared_problem;

/* A learning rate that drops at step 50, clipping that is felt, and a gradient that is skipped once (callbacks only). */
static linattn_trainer *trainer_of(kind k) {
    double theta[MOST] = {3, -2, 1};
    size_t p = 3;
    shared_problem = problem_of(p);
    shared_problem.bad_draw = 30;
    shared_problem.bad_gradient = NAN;
    linattn_objective *objective = k.threads ? transformer(k.threads, &p, theta) : problem_objective(&shared_problem);
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = k.rule;
    options.learning_rate = 0.02;
    options.momentum = 0.9;
    options.beta2 = 0.9;
    options.clip = LINATTN_CLIP_GLOBAL_NORM;
    options.clip_threshold = 0.5;
    options.nonfinite = LINATTN_NONFINITE_SKIP;
    options.schedule = LINATTN_SCHEDULE_STEP;
    options.decay_steps = 50;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, p));
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, theta, NULL));
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(objective);
    return trainer;
}

static void write_records(const linattn_trainer *trainer, const char *path) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < linattn_trainer_record_count(trainer); i++) {
        linattn_step_record record;
        ck_assert_ok(linattn_trainer_get_records(trainer, i, 1, sizeof record, &record));
        ck_assert_uint_eq(fwrite(&record, sizeof record, 1, file), 1);
    }
    ck_assert_int_eq(fclose(file), 0);
}

static size_t read_all(const char *path, unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t count = fread(bytes, 1, size, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(count > 0 && count < size);
    return count;
}

static kind resumed_kind; /* of the new process, from its arguments */

/* The new process: loads "half", does the second half, saves "resumed" and its losses. */
START_TEST(resume) {
    char path[PATH];
    linattn_trainer *trainer = trainer_of(resumed_kind);
    ck_assert_ok(linattn_trainer_load(trainer, in_folder("half", path)));
    ck_assert_ok(linattn_trainer_run(trainer, ALL - FIRST, NULL));
    ck_assert_ok(linattn_trainer_save(trainer, in_folder("resumed", path)));
    write_records(trainer, in_folder("losses", path));
    linattn_trainer_destroy(trainer);
}
END_TEST

static void resume_in_new_process(kind k) {
    char program[PATH], rule[16], threads[16];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    ck_assert(length > 0);
    program[length] = '\0';
    snprintf(rule, sizeof rule, "%d", k.rule);
    snprintf(threads, sizeof threads, "%zu", k.threads);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        execl(program, program, "resume", rule, threads, folder, (char *)NULL);
        _exit(9);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

enum { ROOM = 1 << 16 };

/* Saved by the first half of one trainer, finished by another process; compared with a trainer that never stopped. */
static void check_resume(kind first, kind second) {
    static unsigned char whole[ROOM], resumed[ROOM];
    char path[PATH];
    linattn_trainer *trainer = trainer_of(first);
    ck_assert_ok(linattn_trainer_run(trainer, FIRST, NULL));
    ck_assert_ok(linattn_trainer_save(trainer, in_folder("half", path)));
    ck_assert_ok(linattn_trainer_run(trainer, ALL - FIRST, NULL)); /* saving has changed nothing */
    ck_assert_ok(linattn_trainer_save(trainer, in_folder("whole", path)));
    resume_in_new_process(second);

    /* parameters, m, v, step and skips are all in the file */
    const size_t size = read_all(in_folder("whole", path), whole, sizeof whole);
    ck_assert_uint_eq(read_all(in_folder("resumed", path), resumed, sizeof resumed), size);
    ck_assert_mem_eq(whole, resumed, size);

    /* one record a step, from step 50 on, with the decayed learning rate */
    const size_t bytes = read_all(in_folder("losses", path), resumed, sizeof resumed);
    ck_assert_uint_eq(bytes, (ALL - FIRST) * sizeof(linattn_step_record));
    for (size_t i = 0; i < ALL - FIRST; i++) {
        linattn_step_record there, here;
        memcpy(&there, resumed + i * sizeof there, sizeof there);
        ck_assert_ok(linattn_trainer_get_records(trainer, FIRST + i, 1, sizeof here, &here));
        ck_assert_mem_eq(&here, &there, sizeof here);
        ck_assert_uint_eq(there.step, FIRST + i);
        ck_assert_double_eq(there.learning_rate, 0.02 * 0.1);
    }
    linattn_step_record before;
    ck_assert_ok(linattn_trainer_get_records(trainer, FIRST - 1, 1, sizeof before, &before));
    ck_assert(before.step == FIRST - 1 && before.learning_rate == 0.02);
    linattn_trainer_destroy(trainer);
}

START_TEST(case_R1_R3_resume_in_a_new_process) {
    make_folder();
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_POLYAK; rule += rule == LINATTN_RULE_NORMALIZED_GD ? 2 : 1)
        check_resume((kind){rule, 0}, (kind){rule, 0});
    remove_folder();
}
END_TEST

START_TEST(case_R1_R3_resume_a_transformer) {
    make_folder();
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_ADAM; rule++) check_resume((kind){rule, 1}, (kind){rule, 2});
    remove_folder();
}
END_TEST

/* The same bits whatever a BLAS is told about threads, and for every thread count of the objective. */
START_TEST(case_R2_same_bits_for_every_thread_count) {
    static const char *const BLAS_THREADS[] = {"1", "2", "8"};
    double first[MOST], theta[MOST];
    linattn_step_record last, record;
    for (size_t i = 0; i < 3; i++) {
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            ck_assert_int_eq(setenv("OPENBLAS_NUM_THREADS", BLAS_THREADS[i], 1), 0);
            linattn_trainer *trainer = trainer_of((kind){LINATTN_RULE_ADAM, threads});
            ck_assert_ok(linattn_trainer_run(trainer, 200, NULL));
            ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
            ck_assert_ok(linattn_trainer_get_records(trainer, 199, 1, sizeof record, &record));
            if (i == 0 && threads == 1) {
                memcpy(first, theta, sizeof theta);
                last = record;
            }
            ck_assert_mem_eq(theta, first, sizeof theta);
            ck_assert_mem_eq(&record, &last, sizeof record);
            linattn_trainer_destroy(trainer);
        }
    }
}
END_TEST

/* A saved position can be gone back to, and the records then begin anew. */
START_TEST(going_back) {
    make_folder();
    char path[PATH];
    double half[3], whole[3], theta[3];
    linattn_trainer *trainer = trainer_of((kind){LINATTN_RULE_ADAM, 0});
    ck_assert_ok(linattn_trainer_run(trainer, 20, NULL));
    ck_assert_ok(linattn_trainer_save(trainer, in_folder("half", path)));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, half));
    ck_assert_ok(linattn_trainer_run(trainer, 20, NULL)); /* past the skipped step */
    ck_assert_ok(linattn_trainer_get_parameters(trainer, whole));
    ck_assert_ok(linattn_trainer_load(trainer, path));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
    ck_assert_mem_eq(theta, half, sizeof theta);
    ck_assert(linattn_trainer_step_count(trainer) == 20 && linattn_trainer_record_count(trainer) == 0);
    ck_assert_ok(linattn_trainer_run(trainer, 20, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
    ck_assert_mem_eq(theta, whole, sizeof theta);
    linattn_step_record record;
    ck_assert_ok(linattn_trainer_get_records(trainer, 0, 1, sizeof record, &record));
    ck_assert_uint_eq(record.step, 20);
    linattn_trainer_destroy(trainer);
    remove_folder();
}
END_TEST

/* A custom rule's memory is kept too. */
static int heavy_ball(const linattn_update *update, void *user) {
    (void)user;
    for (size_t i = 0; i < update->p; i++) {
        update->state[i] = 0.5 * update->state[i] + update->gradient[i];
        update->theta[i] -= update->learning_rate * update->state[i];
    }
    return 0;
}

static linattn_trainer *custom_trainer(problem *f, const char *name) {
    linattn_optimizer_options options;
    linattn_custom_rule rule;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    const double start[3] = {1, 2, 3};
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.learning_rate = 0.1;
    ck_assert_ok(linattn_custom_rule_init(&rule, sizeof rule));
    rule.state_count = 3;
    rule.name = name;
    rule.update = heavy_ball;
    ck_assert_ok(linattn_optimizer_create_custom(&optimizer, &options, &rule, NULL, NULL, 0, 3));
    linattn_objective *objective = problem_objective(f);
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, start, NULL));
    linattn_objective_destroy(objective);
    linattn_optimizer_destroy(optimizer);
    return trainer;
}

START_TEST(custom_rule_resumes) {
    make_folder();
    char path[PATH];
    double theta[3], resumed[3];
    problem f = problem_of(3);
    linattn_trainer *first = custom_trainer(&f, "heavy ball"), *second = custom_trainer(&f, "heavy ball"),
                    *other = custom_trainer(&f, "polyak");
    ck_assert_ok(linattn_trainer_run(first, 7, NULL));
    ck_assert_ok(linattn_trainer_save(first, in_folder("half", path)));
    ck_assert_ok(linattn_trainer_run(first, 7, NULL));
    ck_assert_ok(linattn_trainer_load(second, path));
    ck_assert_ok(linattn_trainer_run(second, 7, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(first, theta));
    ck_assert_ok(linattn_trainer_get_parameters(second, resumed));
    ck_assert_mem_eq(theta, resumed, sizeof theta);
    ck_assert_status(linattn_trainer_load(other, path), LINATTN_EMISMATCH, "rule is \"heavy ball\"");
    ck_assert_ptr_nonnull(strstr(linattn_last_message(), "\"polyak\" here"));
    linattn_trainer_destroy(first);
    linattn_trainer_destroy(second);
    linattn_trainer_destroy(other);
    remove_folder();
}
END_TEST

static Suite *checkpoint_suite(void) {
    Suite *suite = suite_create("checkpoint");
    TCase *new_process = tcase_create("resume in a new process"), *tc = tcase_create("resume");
    tcase_set_tags(new_process, LINATTN_TEST_PROCESSES);
    tcase_set_timeout(new_process, 600);
    tcase_add_test(new_process, case_R1_R3_resume_in_a_new_process);
    tcase_add_test(new_process, case_R1_R3_resume_a_transformer);
    suite_add_tcase(suite, new_process);
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_R2_same_bits_for_every_thread_count);
    tcase_add_test(tc, going_back);
    tcase_add_test(tc, custom_rule_resumes);
    suite_add_tcase(suite, tc);
    return suite;
}

static Suite *new_process_suite(void) {
    Suite *suite = suite_create("the new process");
    TCase *tc = tcase_create("resume");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, resume);
    suite_add_tcase(suite, tc);
    return suite;
}

/* Not LINATTN_TEST_MAIN: the program is also the new process. */
int main(int argc, char **argv) {
    const int new_process = argc == 5 && strcmp(argv[1], "resume") == 0;
    if (new_process) {
        resumed_kind = (kind){(int32_t)atoi(argv[2]), (size_t)atoi(argv[3])};
        snprintf(folder, sizeof folder, "%s", argv[4]);
    }
    SRunner *runner = srunner_create(new_process ? new_process_suite() : checkpoint_suite());
    if (new_process) srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, new_process ? CK_SILENT : CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
