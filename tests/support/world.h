/* world.h: one of each handle, small, for tests that call everything once. */
#ifndef LINATTN_TESTS_WORLD_H
#define LINATTN_TESTS_WORLD_H

#include "support/problem.h"

/* Two threads where there may be. d = 2, n = 3, two layers in block form: 16 parameters; 20 prompts. Prompt attention: 3 examples of 4 tokens in 12 dimensions. */
enum { WORLD_D = 2, WORLD_N = 3, WORLD_P = 16, WORLD_PROMPTS = 20, WORLD_EXAMPLES = 3, WORLD_TOKENS = 4, WORLD_PROMPT_D = 12 };

typedef struct world {
    linattn_sampler *sampler;
    linattn_batch *batch;
    linattn_model *model;
    linattn_objective *fixed, *sampled;
    linattn_diagnostics *diagnostics;
    linattn_optimizer *adam;
    linattn_trainer *trainer; /* of sampled and adam */
    linattn_prompt *prompt;
    double theta[WORLD_P];
} world;

static inline linattn_optimizer_options world_adam_options(void) {
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = 0.01;
    return options;
}

static inline linattn_prompt_options world_prompt_options(void) {
    linattn_prompt_options options;
    ck_assert_ok(linattn_prompt_options_init(&options, sizeof options));
    options.examples = WORLD_EXAMPLES, options.tokens = WORLD_TOKENS, options.dim = WORLD_PROMPT_D;
    return options;
}

static inline world world_open(void) {
    world w;
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_objective_options with;
    linattn_diagnostics_options measuring;
    const linattn_optimizer_options rule = world_adam_options();
    const linattn_prompt_options prompt = world_prompt_options();
    ck_assert_ok(linattn_sampler_options_init(&data, sizeof data));
    ck_assert_ok(linattn_model_options_init(&shape, sizeof shape));
    ck_assert_ok(linattn_objective_options_init(&with, sizeof with));
    ck_assert_ok(linattn_diagnostics_options_init(&measuring, sizeof measuring));
    with.threads = measuring.threads = 2;
    data.dim = shape.dim = WORLD_D, data.context = WORLD_N, shape.layers = 2;
    ck_assert_ok(linattn_sampler_create(&w.sampler, &data));
    ck_assert_ok(linattn_batch_create_from_sampler(&w.batch, w.sampler, WORLD_PROMPTS, 1));
    ck_assert_ok(linattn_model_create(&w.model, &shape));
    ck_assert_uint_eq(linattn_model_parameter_count(w.model), WORLD_P);
    ck_assert_ok(linattn_model_init_parameters(w.model, 1, w.theta));
    ck_assert_ok(linattn_objective_create_fixed(&w.fixed, w.model, w.batch, NULL));
    ck_assert_ok(linattn_objective_create_sampled(&w.sampled, w.model, w.sampler, WORLD_PROMPTS, &with));
    ck_assert_ok(linattn_diagnostics_create(&w.diagnostics, w.sampled, &measuring));
    ck_assert_ok(linattn_optimizer_create(&w.adam, &rule, NULL, 0, WORLD_P));
    ck_assert_ok(linattn_trainer_create(&w.trainer, w.sampled, w.adam, w.theta, NULL));
    ck_assert_ok(linattn_prompt_create(&w.prompt, &prompt));
    return w;
}

static inline void world_close(world *w) {
    linattn_prompt_destroy(w->prompt);
    linattn_trainer_destroy(w->trainer);
    linattn_optimizer_destroy(w->adam);
    linattn_diagnostics_destroy(w->diagnostics);
    linattn_objective_destroy(w->sampled);
    linattn_objective_destroy(w->fixed);
    linattn_model_destroy(w->model);
    linattn_batch_destroy(w->batch);
    linattn_sampler_destroy(w->sampler);
}

/* A scattered sample of 40, no two alike. */
enum { WORLD_SAMPLE = 40 };
static inline const double *world_sample(void) {
    static double sample[WORLD_SAMPLE];
    for (size_t i = 0; i < WORLD_SAMPLE; i++) sample[i] = 2 + problem_target(i, 1) + 0.01 * (double)i;
    return sample;
}

#endif
