/* test_fingerprint.c: a checkpoint tells what its run's data and model were; a trainer that differs in one option is refused, and the
 * message names the option. */
#include "support/world.h"
#include <unistd.h>

static char path[] = "/tmp/linattn-fingerprint-XXXXXX";
static const double factor[4] = {2, 1, 0, 3}, other_factor[4] = {2, 1, 0, 4}, rows[8] = {1, 2, 3, 5, 8, 13, 21, 34};

static void make_file(void) { close(mkstemp(path)); }
static void remove_file(void) { unlink(path); }

typedef struct setting {
    linattn_sampler_options data;
    linattn_model_options shape;
    size_t prompts;
} setting;

static setting usual(void) {
    setting s = {.prompts = 9};
    ck_assert_ok(linattn_sampler_options_init(&s.data, sizeof s.data));
    ck_assert_ok(linattn_model_options_init(&s.shape, sizeof s.shape));
    s.data.dim = s.shape.dim = 2, s.data.context = 3, s.shape.layers = 2;
    return s;
}

static linattn_trainer *trainer_of(const setting *s) {
    const linattn_optimizer_options adam = world_adam_options();
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *f;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    ck_assert_ok(linattn_sampler_create(&sampler, &s->data));
    ck_assert_ok(linattn_model_create(&model, &s->shape));
    ck_assert_ok(linattn_objective_create_sampled(&f, model, sampler, s->prompts, NULL));
    const size_t p = linattn_model_parameter_count(model);
    double *theta = calloc(p, sizeof *theta);
    ck_assert_ok(linattn_optimizer_create(&optimizer, &adam, NULL, 0, p));
    ck_assert_ok(linattn_trainer_create(&trainer, f, optimizer, theta, NULL));
    free(theta);
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(f);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
    return trainer;
}

/* What the one saves, the other refuses by `text`, and the one takes. */
static void differ(const setting *one, const setting *other, const char *text) {
    linattn_trainer *first = trainer_of(one), *second = trainer_of(other);
    ck_assert_ok(linattn_trainer_run(first, 2, NULL));
    ck_assert_ok(linattn_trainer_save(first, path));
    ck_assert_status(linattn_trainer_load(second, path), LINATTN_EMISMATCH, text);
    ck_assert_uint_eq(linattn_trainer_step_count(second), 0);
    ck_assert_ok(linattn_trainer_load(first, path));
    linattn_trainer_destroy(first);
    linattn_trainer_destroy(second);
}

#define DIFFERS(change, text)                                                                                                      \
    do {                                                                                                                           \
        const setting one = usual();                                                                                               \
        setting o = one;                                                                                                           \
        change;                                                                                                                    \
        differ(&one, &o, text);                                                                                                    \
    } while (0)

START_TEST(one_option_differs) {
    DIFFERS(o.prompts = 10, "objective.prompts is 9 in");
    DIFFERS(o.data.context = 4, "sampler.context is 3 in");
    DIFFERS(o.data.seed = 5, "sampler.seed is 0 in");
    DIFFERS(o.data.covariates = LINATTN_COVARIATES_SPHERE, "sampler.covariates is 0 in");
    DIFFERS(o.data.task = LINATTN_TASK_SINE, "sampler.task is 0 in");
    DIFFERS(o.data.kind = LINATTN_BATCH_MOMENTS, "sampler.kind is 0 in");
    DIFFERS(o.data.stream = LINATTN_STREAM_NOISE, "sampler.stream is 0 in");
    DIFFERS(o.data.noise_std = 0.5, "sampler.noise_std is 0 in");
    DIFFERS((o.data.noise_std = 0, o.data.noisy_target = 1), "sampler.noisy_target is 0 in");
    DIFFERS(o.data.task_factor = factor, "sampler.task_factor.digest is 0 in");
    DIFFERS(o.shape.attention = LINATTN_ATTENTION_SOFTMAX, "model.attention is 0 in");
}
END_TEST

/* Options that are read for some kinds of data only: the first change makes the kind, the second differs. */
#define DIFFERS_WHEN(kind, change, text)                                                                                           \
    do {                                                                                                                           \
        setting o = usual();                                                                                                       \
        kind;                                                                                                                      \
        const setting one = o;                                                                                                     \
        change;                                                                                                                    \
        differ(&one, &o, text);                                                                                                    \
    } while (0)

START_TEST(an_option_of_some_kind_differs) {
    DIFFERS_WHEN(o.data.covariates = LINATTN_COVARIATES_GAMMA, o.data.gamma_shape = 2, "sampler.gamma_shape is");
    DIFFERS_WHEN(o.data.covariates = LINATTN_COVARIATES_GAMMA, o.data.gamma_scale = 2, "sampler.gamma_scale is");
    DIFFERS_WHEN((o.data.covariates = LINATTN_COVARIATES_ROTATED, o.data.covariate_factor = factor),
                 o.data.covariate_factor = other_factor, "sampler.covariate_factor.digest is");
    DIFFERS_WHEN((o.data.task = LINATTN_TASK_SPARSE_LINEAR, o.data.sparsity = 1), o.data.sparsity = 2, "sampler.sparsity is 1 in");
    DIFFERS_WHEN(o.data.task = LINATTN_TASK_RELU_NETWORK, o.data.hidden = 3, "sampler.hidden is 10 in");
    DIFFERS_WHEN(o.data.task = LINATTN_TASK_FIXED_MLP, o.data.network_seed = 3, "sampler.network_seed is 0 in");
    DIFFERS_WHEN((o.data.covariates = LINATTN_COVARIATES_TABLE, o.data.covariate_table = rows, o.data.table_rows = 3),
                 o.data.table_rows = 4, "sampler.table_rows is 3 in");
    DIFFERS_WHEN((o.data.covariates = LINATTN_COVARIATES_TABLE, o.data.covariate_table = rows, o.data.table_rows = 3),
                 o.data.covariate_table = rows + 2, "sampler.covariate_table.digest is");
    DIFFERS_WHEN((o.data.covariates = LINATTN_COVARIATES_TABLE, o.data.covariate_table = rows, o.data.table_rows = 3),
                 o.data.standardise = 1, "sampler.covariate_table.digest is");
}
END_TEST

/* A gamma shape, a hidden size or a table that is not read is no difference. */
START_TEST(what_is_not_read_does_not_count) {
    const setting one = usual();
    setting other = one;
    other.data.gamma_shape = 3, other.data.hidden = 7, other.data.network_seed = 5, other.data.table_rows = 9;
    linattn_trainer *first = trainer_of(&one), *second = trainer_of(&other);
    ck_assert_ok(linattn_trainer_run(first, 2, NULL));
    ck_assert_ok(linattn_trainer_save(first, path));
    ck_assert_ok(linattn_trainer_load(second, path));
    ck_assert_uint_eq(linattn_trainer_step_count(second), 2);
    linattn_trainer_destroy(first);
    linattn_trainer_destroy(second);
}
END_TEST

static Suite *fingerprint_suite(void) {
    Suite *suite = suite_create("fingerprint");
    TCase *tc = tcase_create("fingerprint");
    tcase_add_checked_fixture(tc, make_file, remove_file);
    tcase_add_test(tc, one_option_differs);
    tcase_add_test(tc, an_option_of_some_kind_differs);
    tcase_add_test(tc, what_is_not_read_does_not_count);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(fingerprint_suite)
