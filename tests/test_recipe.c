/* test_recipe.c: the table of published experiments, written down a second time, and what is made from it. */
#include "support/suite.h"
#include <math.h>
#include <stdint.h>

static const struct {
    const char *name;
    size_t layers, dim, context;
    int32_t covariates;
    double clip, sgd, adam;
} PUBLISHED[] = {
    {"setting1", 3, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.02, 0.02},
    {"setting2", 3, 5, 5, LINATTN_COVARIATES_NORMAL, 1, 0.01, 0.005},
    {"setting3", 3, 5, 20, LINATTN_COVARIATES_GAMMA, 1, 0.02, 0.02},
    {"sphere", 3, 5, 20, LINATTN_COVARIATES_SPHERE, 0.1, 5, 0.1},
    {"depth2", 2, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.05, 0.05},
    {"depth4", 4, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.2, 0.02},
    {"depth6", 6, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.1, 0.01},
    {"depth8", 8, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.1, 0.01},
    {"wide", 8, 20, 60, LINATTN_COVARIATES_NORMAL, 1, 0.05, 0.005},
    {"nonlinear", 3, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.05, 0.01},
    {"softmax", 3, 5, 20, LINATTN_COVARIATES_NORMAL, 1, 0.2, 0.02},
};
enum { COUNT = sizeof PUBLISHED / sizeof PUBLISHED[0] };

START_TEST(values) {
    ck_assert_uint_eq(linattn_recipe_count(), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        linattn_recipe r = {.struct_size = sizeof r}, found = {.struct_size = sizeof r};
        ck_assert_ok(linattn_recipe_get(i, &r));
        ck_assert_str_eq(r.name, PUBLISHED[i].name);
        ck_assert(r.layers == PUBLISHED[i].layers && r.dim == PUBLISHED[i].dim && r.context == PUBLISHED[i].context);
        const int nonlinear = strcmp(r.name, "nonlinear") == 0, softmax = strcmp(r.name, "softmax") == 0;
        ck_assert(r.covariates == PUBLISHED[i].covariates && r.steps == 10000);
        ck_assert(r.form == (nonlinear ? LINATTN_FORM_FULL : LINATTN_FORM_BLOCK) && r.init_std == (nonlinear ? 0.1 : 0.05));
        ck_assert(r.prompts == (nonlinear ? 2000 : 1000) && r.seeds == (nonlinear ? 5 : 6));
        ck_assert(r.attention == (softmax ? LINATTN_ATTENTION_SOFTMAX : LINATTN_ATTENTION_LINEAR));
        ck_assert(r.task == (nonlinear ? LINATTN_TASK_FIXED_MLP : LINATTN_TASK_LINEAR) && r.mlp_hidden == (nonlinear ? 30 : 0));
        if (nonlinear) ck_assert_uint_eq(r.hidden, 10);
        ck_assert(r.clip_threshold == PUBLISHED[i].clip && r.sgd_momentum == 0.9 && r.adam_epsilon == 1e-8);
        ck_assert(r.adam_beta1 == 0.9 && r.adam_beta2 == 0.9);
        ck_assert(r.sgd_learning_rate == PUBLISHED[i].sgd && r.adam_learning_rate == PUBLISHED[i].adam);
        if (r.covariates == LINATTN_COVARIATES_GAMMA) ck_assert(r.gamma_shape == 0.1 && r.gamma_scale == 10);
        ck_assert_ok(linattn_recipe_find(r.name, &found));
        ck_assert_mem_eq(&found, &r, sizeof r);
    }
}
END_TEST

START_TEST(every_field_has_a_source) {
    static const char *const FIELDS[] = {"name",
                                         "layers",
                                         "dim",
                                         "context",
                                         "prompts",
                                         "seeds",
                                         "steps",
                                         "covariates",
                                         "form",
                                         "gamma_shape",
                                         "gamma_scale",
                                         "init_std",
                                         "clip_threshold",
                                         "sgd_learning_rate",
                                         "sgd_momentum",
                                         "adam_learning_rate",
                                         "adam_beta1",
                                         "adam_beta2",
                                         "adam_epsilon",
                                         "attention",
                                         "task",
                                         "mlp_hidden",
                                         "hidden"};
    /* the fields after struct_size, so that a new one is missed here */
    ck_assert_uint_eq(sizeof FIELDS / sizeof FIELDS[0], 23);
    ck_assert_uint_eq(sizeof(linattn_recipe), sizeof(size_t) + 24 + 7 * sizeof(size_t) + 8 + 4 * 4 + 10 * sizeof(double));
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < sizeof FIELDS / sizeof FIELDS[0]; k++) {
            const char *text = linattn_recipe_source(i, FIELDS[k]);
            ck_assert_msg(text != NULL && strlen(text) > 10 && strchr(text, '\n') == NULL, "recipe %zu, field %s", i, FIELDS[k]);
        }
        const char *name = PUBLISHED[i].name;
        const int here = strncmp(name, "depth", 5) == 0 || strcmp(name, "wide") == 0 || strcmp(name, "softmax") == 0;
        ck_assert_int_eq(here, strstr(linattn_recipe_source(i, "sgd_learning_rate"), "tuned here") != NULL);
        ck_assert_int_eq(here, strstr(linattn_recipe_source(i, "adam_learning_rate"), "tuned here") != NULL);
    }
    ck_assert_ptr_nonnull(strstr(linattn_recipe_source(3, "clip_threshold"), "1 for all"));
    ck_assert_ptr_null(strstr(linattn_recipe_source(0, "clip_threshold"), "1 for all"));
    ck_assert_ptr_null(linattn_recipe_source(COUNT, "dim"));
    ck_assert_ptr_null(linattn_recipe_source(SIZE_MAX, "dim"));
    ck_assert_ptr_null(linattn_recipe_source(0, "dimension"));
    ck_assert_ptr_null(linattn_recipe_source(0, "struct_size"));
    ck_assert_ptr_null(linattn_recipe_source(0, NULL));
}
END_TEST

START_TEST(refusals) {
    linattn_recipe r = {.struct_size = sizeof r, .layers = 77};
    ck_assert_status(linattn_recipe_get(COUNT, &r), LINATTN_EINVAL, "index is 11; allowed: 0 to 10");
    ck_assert_status(linattn_recipe_get(0, NULL), LINATTN_EINVAL, "linattn_recipe");
    ck_assert_status(linattn_recipe_find("settings1", &r), LINATTN_EINVAL, "name is \"settings1\"");
    for (size_t i = 0; i < COUNT; i++) ck_assert_ptr_nonnull(strstr(linattn_last_message(), PUBLISHED[i].name));
    ck_assert_status(linattn_recipe_find("", &r), LINATTN_EINVAL, "name is \"\"");
    ck_assert_status(linattn_recipe_find(NULL, &r), LINATTN_EINVAL, "name is NULL");
    ck_assert_status(linattn_recipe_find("wide", NULL), LINATTN_EINVAL, "linattn_recipe");
    ck_assert_uint_eq(r.layers, 77);
    r.struct_size = 0;
    ck_assert_status(linattn_recipe_get(0, &r), LINATTN_EINVAL, "struct_size");
}
END_TEST

/* The options create what the recipe says, and refuse a learning rate that nobody has chosen. */
START_TEST(options_of_every_recipe) {
    for (size_t i = 0; i < COUNT; i++) {
        linattn_recipe r = {.struct_size = sizeof r};
        linattn_sampler_options sampler_options;
        linattn_model_options model_options;
        linattn_sampler *sampler;
        linattn_model *model;
        ck_assert_ok(linattn_recipe_get(i, &r));
        ck_assert_ok(linattn_recipe_sampler_options(&r, &sampler_options, sizeof sampler_options));
        ck_assert_ok(linattn_sampler_create(&sampler, &sampler_options));
        ck_assert(linattn_sampler_dim(sampler) == r.dim && linattn_sampler_context(sampler) == r.context);
        ck_assert(sampler_options.covariates == r.covariates && sampler_options.noise_std == 0 && sampler_options.seed == 0);
        ck_assert(sampler_options.gamma_shape == r.gamma_shape && sampler_options.gamma_scale == r.gamma_scale);
        ck_assert_ok(linattn_recipe_model_options(&r, &model_options, sizeof model_options));
        ck_assert(model_options.heads == 1 && model_options.init_std == r.init_std);
        ck_assert_ok(linattn_model_create(&model, &model_options));
        ck_assert_uint_eq(linattn_model_parameter_count(model),
                          strcmp(r.name, "nonlinear") == 0 ? 335 + 2 * 3 * 36 : 2 * r.layers * r.dim * r.dim);
        ck_assert(model_options.attention == r.attention && sampler_options.task == r.task && sampler_options.hidden == r.hidden);
        for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_ADAM; rule++) {
            linattn_optimizer_options options;
            linattn_optimizer *optimizer;
            const double learning_rate = rule == LINATTN_RULE_SGD ? r.sgd_learning_rate : r.adam_learning_rate;
            ck_assert_ok(linattn_recipe_optimizer_options(&r, rule, &options, sizeof options));
            ck_assert(options.rule == rule && options.clip == LINATTN_CLIP_GLOBAL_NORM &&
                      options.clip_threshold == r.clip_threshold);
            ck_assert(options.learning_rate == learning_rate && options.weight_decay == 0);
            if (rule == LINATTN_RULE_SGD)
                ck_assert(options.momentum == 0.9 && options.nesterov == 0 && options.dampening == 0);
            else
                ck_assert(options.beta1 == 0.9 && options.beta2 == 0.9 && options.epsilon == 1e-8);
            ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 10));
            linattn_optimizer_destroy(optimizer);
            linattn_recipe own = r; /* of a user's, without rates */
            own.sgd_learning_rate = own.adam_learning_rate = NAN;
            ck_assert_ok(linattn_recipe_optimizer_options(&own, rule, &options, sizeof options));
            ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, 10), LINATTN_EINVAL, "recipe is not tuned");
        }
        linattn_model_destroy(model);
        linattn_sampler_destroy(sampler);
    }
}
END_TEST

START_TEST(options_refusals) {
    linattn_recipe r = {.struct_size = sizeof r};
    linattn_sampler_options sampler;
    linattn_model_options model;
    linattn_optimizer_options optimizer = {.struct_size = 123};
    ck_assert_ok(linattn_recipe_get(0, &r));
    ck_assert_status(linattn_recipe_sampler_options(NULL, &sampler, sizeof sampler), LINATTN_EINVAL, "recipe is NULL");
    ck_assert_status(linattn_recipe_model_options(NULL, &model, sizeof model), LINATTN_EINVAL, "recipe is NULL");
    ck_assert_status(linattn_recipe_optimizer_options(NULL, 0, &optimizer, sizeof optimizer), LINATTN_EINVAL, "recipe is NULL");
    ck_assert_status(linattn_recipe_sampler_options(&r, NULL, sizeof sampler), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_recipe_model_options(&r, NULL, sizeof model), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_recipe_optimizer_options(&r, 0, NULL, sizeof optimizer), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_recipe_sampler_options(&r, &sampler, 8), LINATTN_EINVAL, "linattn_sampler_options");
    ck_assert_status(linattn_recipe_optimizer_options(&r, LINATTN_RULE_ADAMW, &optimizer, sizeof optimizer), LINATTN_EINVAL,
                     "rule is 2; allowed: 0 (sgd), 1 (adam)");
    ck_assert_uint_eq(optimizer.struct_size, 123);
    r.struct_size = 2;
    ck_assert_status(linattn_recipe_model_options(&r, &model, sizeof model), LINATTN_EINVAL, "linattn_recipe");
}
END_TEST

static Suite *recipe_suite(void) {
    Suite *suite = suite_create("recipe");
    TCase *tc = tcase_create("recipes");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, values);
    tcase_add_test(tc, every_field_has_a_source);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, options_of_every_recipe);
    tcase_add_test(tc, options_refusals);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(recipe_suite)
