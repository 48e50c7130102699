/* options_rows.c: the table of options_rows.h. */
#include "support/options_rows.h"

world options_world;
#define w options_world

static double sum(const double *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += x[i];
    return total;
}

static void nothing(void *options) { (void)options; }

static int use_sampler(const void *options, double *made) {
    linattn_sampler *sampler;
    linattn_batch *batch;
    double tokens[5 * (WORLD_N + 1) * (WORLD_D + 1)];
    const int status = linattn_sampler_create(&sampler, options);
    if (status) return status;
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 5, 1));
    ck_assert_ok(linattn_batch_get_arrays(batch, tokens, NULL));
    *made = sum(tokens, sizeof tokens / sizeof *tokens);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    return status;
}
static void prepare_sampler(void *options) {
    linattn_sampler_options *o = options;
    o->dim = WORLD_D, o->context = WORLD_N;
}

static int use_model(const void *options, double *made) {
    linattn_model *model;
    const int status = linattn_model_create(&model, options);
    if (status) return status;
    const size_t p = linattn_model_parameter_count(model);
    double *theta = malloc(p * sizeof *theta);
    ck_assert_ok(linattn_model_init_parameters(model, 3, theta));
    *made = sum(theta, p);
    free(theta);
    linattn_model_destroy(model);
    return status;
}
static void prepare_model(void *options) {
    linattn_model_options *o = options;
    o->dim = WORLD_D, o->layers = 2;
}

/* Of an objective that a row has made. */
static int value_of(int status, linattn_objective *f, double *made) {
    if (status) return status;
    ck_assert_ok(linattn_objective_value(f, 1, w.theta, made));
    linattn_objective_destroy(f);
    return status;
}
static int use_objective(const void *options, double *made) {
    linattn_objective *f;
    const int status = linattn_objective_create_fixed(&f, w.model, w.batch, options);
    return value_of(status, f, made);
}

static problem the_problem;
static int use_callbacks(const void *options, double *made) {
    linattn_objective *f;
    the_problem = problem_of(((const linattn_objective_callbacks *)options)->parameter_count);
    const int status = linattn_objective_create_callbacks(&f, options, NULL, &the_problem);
    return value_of(status, f, made);
}
static void prepare_callbacks(void *options) {
    linattn_objective_callbacks *o = options;
    o->parameter_count = 2, o->gradient = problem_gradient;
}

/* One step from (1, 1) of an optimizer that a row has made. */
static int step_of(int status, linattn_optimizer *optimizer, double *made) {
    const double gradient[2] = {3, 4};
    double theta[2] = {1, 1};
    if (status) return status;
    const int stepped = linattn_optimizer_step(optimizer, 1, gradient, theta, NULL);
    if (!stepped) *made = theta[0] + 10 * theta[1];
    linattn_optimizer_destroy(optimizer);
    return stepped;
}
static int use_optimizer(const void *options, double *made) {
    linattn_optimizer *optimizer;
    const int status = linattn_optimizer_create(&optimizer, options, NULL, 0, 2);
    return step_of(status, optimizer, made);
}
static void prepare_optimizer(void *options) { ((linattn_optimizer_options *)options)->learning_rate = 0.5; }

static int no_update(const linattn_update *update, void *user) { return (void)update, (void)user, 0; }
static int use_rule(const void *options, double *made) {
    linattn_optimizer *optimizer;
    const linattn_optimizer_options plain = world_adam_options();
    const int status = linattn_optimizer_create_custom(&optimizer, &plain, options, NULL, NULL, 0, 2);
    return step_of(status, optimizer, made);
}
static void prepare_rule(void *options) { ((linattn_custom_rule *)options)->update = no_update; }

static int use_trainer(const void *options, double *made) {
    linattn_trainer *trainer;
    linattn_optimizer *optimizer;
    const linattn_optimizer_options adam = world_adam_options();
    ck_assert_ok(linattn_optimizer_create(&optimizer, &adam, NULL, 0, WORLD_P));
    const int status = linattn_trainer_create(&trainer, w.sampled, optimizer, w.theta, options);
    linattn_optimizer_destroy(optimizer);
    if (status) return status;
    ck_assert_ok(linattn_trainer_run(trainer, 3, NULL));
    *made = (double)linattn_trainer_record_count(trainer);
    linattn_trainer_destroy(trainer);
    return status;
}

static int use_baseline(const void *options, double *made) {
    double out[WORLD_PROMPTS];
    const int status = linattn_baseline_predict(w.batch, options, out);
    if (!status) *made = sum(out, WORLD_PROMPTS);
    return status;
}

static int use_diagnostics(const void *options, double *made) {
    linattn_diagnostics *diagnostics;
    const int status = linattn_diagnostics_create(&diagnostics, w.sampled, options);
    if (status) return status;
    *made = (double)linattn_diagnostics_parameter_count(diagnostics);
    linattn_diagnostics_destroy(diagnostics);
    return status;
}
static int use_curvature(const void *options, double *made) {
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    double eigenvalues[WORLD_P];
    const int status = linattn_diagnostics_spectrum(w.diagnostics, 1, w.theta, options, eigenvalues, NULL, &spectrum);
    if (!status) *made = sum(eigenvalues, WORLD_P);
    return status;
}
static int use_lanczos(const void *options, double *made) {
    linattn_extremes extremes = {.struct_size = sizeof extremes};
    const int status = linattn_diagnostics_extremes(w.diagnostics, 1, w.theta, options, NULL, NULL, &extremes);
    if (!status) *made = extremes.largest;
    return status;
}
static int use_gradient_error(const void *options, double *made) {
    linattn_gradient_error error = {.struct_size = sizeof error};
    double errors[1000], surrogate[WORLD_P];
    const int status = linattn_diagnostics_gradient_error(w.diagnostics, w.theta, options, errors, NULL, surrogate, NULL, &error);
    if (!status) *made = sum(errors, 1000);
    return status;
}
static int use_resampling(const void *options, double *made) {
    linattn_interval interval = {.struct_size = sizeof interval};
    const int status = linattn_sample_bootstrap(world_sample(), WORLD_SAMPLE, LINATTN_LOCATION_MEAN, 0.9, options, &interval);
    if (!status) *made = interval.low;
    return status;
}
static int use_prompt(const void *options, double *made) {
    linattn_prompt *prompt;
    double labels[WORLD_EXAMPLES];
    const int status = linattn_prompt_create(&prompt, options);
    if (status) return status;
    ck_assert_ok(linattn_prompt_get_arrays(prompt, NULL, NULL, NULL, NULL, labels));
    *made = sum(labels, WORLD_EXAMPLES);
    linattn_prompt_destroy(prompt);
    return status;
}
static void prepare_prompt(void *options) {
    linattn_prompt_options *o = options;
    o->examples = WORLD_EXAMPLES, o->tokens = WORLD_TOKENS, o->dim = WORLD_PROMPT_D;
}

#define OPTIONS(type, prepare, use)                                                                                                \
    static int init_##type(void *options, size_t size) { return type##_init(options, size); }
#define EACH_OPTIONS(row)                                                                                                          \
    row(linattn_sampler_options, prepare_sampler, use_sampler) row(linattn_model_options, prepare_model, use_model)                \
        row(linattn_objective_options, nothing, use_objective) row(linattn_objective_callbacks, prepare_callbacks, use_callbacks)  \
            row(linattn_optimizer_options, prepare_optimizer, use_optimizer) row(linattn_custom_rule, prepare_rule, use_rule)      \
                row(linattn_trainer_options, nothing, use_trainer) row(linattn_baseline_options, nothing, use_baseline)            \
                    row(linattn_diagnostics_options, nothing, use_diagnostics)                                                     \
                        row(linattn_curvature_options, nothing, use_curvature) row(linattn_lanczos_options, nothing, use_lanczos)  \
                            row(linattn_gradient_error_options, nothing, use_gradient_error)                                       \
                                row(linattn_resampling_options, nothing, use_resampling)                                           \
                                    row(linattn_prompt_options, prepare_prompt, use_prompt)
EACH_OPTIONS(OPTIONS)
#undef OPTIONS
#define OPTIONS(type, prepare, use) {#type, sizeof(type), init_##type, prepare, use},
const options_row options_rows[OPTIONS_ROWS] = {EACH_OPTIONS(OPTIONS)};

const options_row *options_row_of(const char *name) {
    for (size_t i = 0; i < OPTIONS_ROWS; i++)
        if (strcmp(options_rows[i].name, name) == 0) return &options_rows[i];
    return NULL;
}
