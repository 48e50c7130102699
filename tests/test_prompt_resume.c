/* test_prompt_resume.c: runs on prompt attention resume to the same bits, and a checkpoint of another system is refused by name. */
#include "support/world.h"
#include <unistd.h>

enum { P = WORLD_PROMPT_D };
static char path[] = "/tmp/linattn-prompt-resume-XXXXXX";

static void make_file(void) { close(mkstemp(path)); }
static void remove_file(void) { unlink(path); }

/* From (0.1, 0.1, ...) by Adam; examples 0: all of them at every step. */
static linattn_trainer *trainer_of(const linattn_prompt_options *options, size_t examples, uint64_t seed) {
    const linattn_optimizer_options adam = world_adam_options();
    linattn_prompt *prompt;
    linattn_objective *f;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    double theta[2 * P];
    for (size_t i = 0; i < 2 * P; i++) theta[i] = 0.1;
    ck_assert_ok(linattn_prompt_create(&prompt, options));
    const size_t p = linattn_prompt_parameter_count(prompt);
    if (examples == 0)
        ck_assert_ok(linattn_objective_create_prompt(&f, prompt, NULL));
    else
        ck_assert_ok(linattn_objective_create_prompt_dataset(&f, prompt, examples, LINATTN_MINIBATCH_EPOCHS, seed, NULL));
    ck_assert_ok(linattn_optimizer_create(&optimizer, &adam, NULL, 0, p));
    ck_assert_ok(linattn_trainer_create(&trainer, f, optimizer, theta, NULL));
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(f);
    linattn_prompt_destroy(prompt);
    return trainer;
}

static void resume(const linattn_prompt_options *options, size_t examples) {
    double straight[2 * P] = {0}, resumed[2 * P] = {0};
    linattn_trainer *whole = trainer_of(options, examples, 3), *first = trainer_of(options, examples, 3),
                    *second = trainer_of(options, examples, 3);
    ck_assert_ok(linattn_trainer_run(whole, 12, NULL));
    ck_assert_ok(linattn_trainer_run(first, 5, NULL));
    ck_assert_ok(linattn_trainer_save(first, path));
    ck_assert_ok(linattn_trainer_load(second, path));
    ck_assert_ok(linattn_trainer_run(second, 7, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(whole, straight));
    ck_assert_ok(linattn_trainer_get_parameters(second, resumed));
    ck_assert_mem_eq(straight, resumed, sizeof straight);
    ck_assert(straight[0] != 0.1);
    linattn_trainer_destroy(whole);
    linattn_trainer_destroy(first);
    linattn_trainer_destroy(second);
}

START_TEST(runs_resume) {
    linattn_prompt_options options = world_prompt_options();
    resume(&options, 0);
    resume(&options, 2);
    options.train_value = 1;
    resume(&options, 0);
    options.attention = LINATTN_PROMPT_LINEAR;
    resume(&options, 0);
}
END_TEST

START_TEST(another_system_is_named) {
    const linattn_prompt_options options = world_prompt_options();
    linattn_trainer *trainer = trainer_of(&options, 0, 3);
    ck_assert_ok(linattn_trainer_save(trainer, path));
    linattn_trainer_destroy(trainer);
#define DIFFERS(field, value, text)                                                                                                \
    do {                                                                                                                           \
        linattn_prompt_options other = options;                                                                                    \
        other.field = value;                                                                                                       \
        trainer = trainer_of(&other, 0, 3);                                                                                        \
        ck_assert_status(linattn_trainer_load(trainer, path), LINATTN_EMISMATCH, text);                                            \
        ck_assert_uint_eq(linattn_trainer_step_count(trainer), 0);                                                                 \
        linattn_trainer_destroy(trainer);                                                                                          \
    } while (0)
    DIFFERS(temperature, 2, "prompt.temperature is 1 in");
    DIFFERS(attention, LINATTN_PROMPT_LINEAR, "prompt.attention is 0 in");
    DIFFERS(loss, LINATTN_PROMPT_LOGISTIC, "prompt.loss is 0 in");
    DIFFERS(examples, 2, "is 3 in");
    DIFFERS(tokens, 3, "prompt.tokens is 4 in");
    DIFFERS(seed, 1, "prompt.digest is");
    DIFFERS(noise, 0.5, "prompt.digest is");
    trainer = trainer_of(&options, 2, 3); /* minibatches */
    ck_assert_status(linattn_trainer_load(trainer, path), LINATTN_EMISMATCH, "objective.kind is 4 in");
    linattn_trainer_destroy(trainer);
    trainer = trainer_of(&options, 2, 3);
    ck_assert_ok(linattn_trainer_save(trainer, path));
    linattn_trainer_destroy(trainer);
    trainer = trainer_of(&options, 2, 4);
    ck_assert_status(linattn_trainer_load(trainer, path), LINATTN_EMISMATCH, "seed is 3 in");
    linattn_trainer_destroy(trainer);
}
END_TEST

static Suite *prompt_resume_suite(void) {
    Suite *suite = suite_create("prompt resume");
    TCase *tc = tcase_create("resume");
    tcase_add_checked_fixture(tc, make_file, remove_file);
    tcase_add_test(tc, runs_resume);
    tcase_add_test(tc, another_system_is_named);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(prompt_resume_suite)
