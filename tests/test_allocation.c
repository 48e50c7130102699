/* test_allocation.c: every public function with its k-th allocation failing, k = 0, 1, 2, ..., until it succeeds. Each time:
 * LINATTN_ENOMEM and a message, outputs as they were, nothing made; the same call then gives, on the same handles, what it gives in an undisturbed
 * world; and in the end no memory is left. Functions that take none are called with every allocation failing.
 * What LAPACKE, the C library and pthread_create take themselves is not ours to fail (test_pool.c has threads that cannot start).
 * Needs an allocator that can be told to fail: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/world.h"

#include <stdio.h>
#include <unistd.h>

#ifdef LINATTN_FAIL_ALLOCATION

enum { OUT = 1 << 12, UNTOUCHED = 7 };

static world w;
static double *out; /* (OUT), where every call puts what it computes */

static const double rates[2] = {0.1, 0.2}, matrix[4] = {2, 1, 1, 3}, pair[2] = {1, 3}, weights[3] = {0.5, 0.25, 0.25};
static const size_t boundaries[3] = {0, 8, WORLD_P};
static const double prompt_theta[WORLD_PROMPT_D] = {1, 2};
static char path[] = "/tmp/linattn-allocation-XXXXXX"; /* a checkpoint, made once */

/* ---- Calls ------------------------------------------------------------------------------------------------------------------ */
/* What a call made is destroyed again; on failure there is none. */
#define MAKES(object, call)                                                                                                        \
    do {                                                                                                                           \
        linattn_##object *made = (void *)(uintptr_t)1;                                                                             \
        const int status = call;                                                                                                   \
        if (status)                                                                                                                \
            ck_assert_ptr_null(made);                                                                                              \
        else                                                                                                                       \
            linattn_##object##_destroy(made);                                                                                      \
        return status;                                                                                                             \
    } while (0)

/* A result struct, whose field goes to out[0]. */
#define FILLS(type, field, call)                                                                                                   \
    do {                                                                                                                           \
        linattn_##type result = {.struct_size = sizeof result};                                                                    \
        const int status = call;                                                                                                   \
        if (!status) out[0] = (double)result.field;                                                                                \
        return status;                                                                                                             \
    } while (0)

/* A value that cannot fail. */
#define GIVES(value) return out[0] = (double)(value), LINATTN_OK
#define INITS(type)                                                                                                                \
    do {                                                                                                                           \
        linattn_##type o;                                                                                                          \
        return linattn_##type##_init(&o, sizeof o);                                                                                \
    } while (0)

static int fill(uint64_t draw, size_t first, size_t prompts, double *tokens, double *targets, void *user) {
    (void)draw, (void)first, (void)user;
    for (size_t i = 0; i < prompts * (WORLD_N + 1) * (WORLD_D + 1); i++) tokens[i] = problem_target(i, 3);
    for (size_t i = 0; i < prompts; i++) targets[i] = problem_target(i, 4);
    return 0;
}
static int half(const linattn_update *update, void *user) {
    (void)user;
    for (size_t i = 0; i < update->p; i++) update->theta[i] /= 2;
    return 0;
}
static linattn_optimizer_options adam(void) { return world_adam_options(); }

/* A trainer that loads and saves: what it is made of is as when the file was written. */
static int saves(const char *to) {
    const int status = linattn_trainer_save(w.trainer, to);
    if (!status) out[0] = 1;
    return status;
}

static int with_callbacks(linattn_objective **made) {
    static problem f;
    linattn_objective_callbacks callbacks;
    f = problem_of(2);
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = 2, callbacks.gradient = problem_gradient;
    return linattn_objective_create_callbacks(made, &callbacks, NULL, &f);
}

static int with_rule(linattn_optimizer **made) {
    const linattn_optimizer_options plain = adam();
    linattn_custom_rule rule;
    ck_assert_ok(linattn_custom_rule_init(&rule, sizeof rule));
    rule.update = half, rule.state_count = 3, rule.name = "half";
    return linattn_optimizer_create_custom(made, &plain, &rule, NULL, NULL, 0, 2);
}

static int create_sampler(linattn_sampler **made) {
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = 2, o.context = 3, o.covariates = LINATTN_COVARIATES_TABLE, o.covariate_table = matrix, o.table_rows = 2,
    o.standardise = 1;
    o.task_factor = matrix;
    return linattn_sampler_create(made, &o);
}
static int create_model(linattn_model **made) {
    linattn_model_options o;
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = 2, o.layers = 2, o.mlp_hidden = 3, o.ff_hidden = 2, o.qk_rank = 1;
    return linattn_model_create(made, &o);
}
static int create_optimizer(linattn_optimizer **made) {
    const linattn_optimizer_options o = adam();
    linattn_tensor tensors[2] = {{.struct_size = sizeof *tensors}, {.struct_size = sizeof *tensors}};
    ck_assert_ok(linattn_model_get_tensor(w.model, 0, &tensors[0]));
    ck_assert_ok(linattn_model_get_tensor(w.model, 1, &tensors[1]));
    return linattn_optimizer_create(made, &o, tensors, 2, WORLD_P);
}
static int create_prompt(linattn_prompt **made) {
    linattn_prompt_options o = world_prompt_options();
    o.token_kind = LINATTN_PROMPT_ORTHONORMAL, o.key_map = LINATTN_PROMPT_ORTHOGONAL;
    return linattn_prompt_create(made, &o);
}
static int create_prompt_from_arrays(linattn_prompt **made) {
    static double tokens[WORLD_EXAMPLES * WORLD_TOKENS * WORLD_PROMPT_D], value[WORLD_PROMPT_D], teacher[WORLD_PROMPT_D];
    const linattn_prompt_options o = world_prompt_options();
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) tokens[i] = problem_target(i, 5);
    value[0] = 1;
    return linattn_prompt_create_from_arrays(made, &o, tokens, NULL, value, teacher, NULL);
}
static int gradient_error(void) {
    linattn_gradient_error_options o;
    ck_assert_ok(linattn_gradient_error_options_init(&o, sizeof o));
    o.samples = 8, o.surrogates = 4;
    FILLS(gradient_error, mean_error_norm,
          linattn_diagnostics_gradient_error(w.diagnostics, w.theta, &o, out + 8, NULL, out + 16, out + 32, &result));
}
static int baselines(void) {
    linattn_baseline_options o;
    double both[2 * WORLD_PROMPTS];
    int status = LINATTN_OK;
    ck_assert_ok(linattn_baseline_options_init(&o, sizeof o));
    o.lambda = 0.5, o.steps = 2, o.rates = rates;
    for (int32_t i = 0; i < 2 && !status; i++) {
        o.baseline = i;
        status = linattn_baseline_predict(w.batch, &o, both + i * WORLD_PROMPTS);
    }
    if (!status) memcpy(out, both, sizeof both);
    return status;
}
static int line_bootstrap(void) {
    linattn_interval slope = {.struct_size = sizeof slope};
    FILLS(interval, low, linattn_line_bootstrap(world_sample(), world_sample(), WORLD_SAMPLE, 2, 0.9, NULL, &result, &slope));
}
static int robust_condition(void) {
    linattn_condition diagonal = {.struct_size = sizeof diagonal};
    FILLS(condition, value, linattn_diagnostics_robust_condition(w.diagnostics, 0, w.theta, NULL, &result, &diagonal));
}
static int histogram(void) {
    uint64_t counts[4];
    FILLS(histogram, below, linattn_sample_histogram(world_sample(), WORLD_SAMPLE, 1, 2, 4, counts, out + 8, &result));
}
static int set_state(void) {
    const double state[2 * WORLD_P] = {0};
    return linattn_optimizer_set_state(w.adam, state, 3, 1);
}
static int preconditioner(void) {
    double theta[WORLD_P] = {0};
    ck_assert_ok(linattn_optimizer_step(w.adam, 1, w.theta, theta, NULL));
    return linattn_optimizer_preconditioner(w.adam, out);
}
static int get_state(void) {
    uint64_t steps, skips;
    return linattn_optimizer_get_state(w.adam, out, &steps, &skips);
}
static int find_recipe(int which) {
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    ck_assert_ok(linattn_recipe_find("setting1", &recipe));
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_optimizer_options rule;
    if (which == 0) return linattn_recipe_sampler_options(&recipe, &data, sizeof data);
    if (which == 1) return linattn_recipe_model_options(&recipe, &shape, sizeof shape);
    return linattn_recipe_optimizer_options(&recipe, LINATTN_RULE_ADAM, &rule, sizeof rule);
}
static int read_number(void) {
    size_t used;
    return linattn_number_read("1.5", out, &used);
}
static int write_number(void) {
    char text[LINATTN_NUMBER_SIZE];
    return linattn_number_write(0.1, text);
}
static int blas_info(void) {
    char text[LINATTN_BLAS_INFO_SIZE];
    return linattn_blas_info(text);
}
static int records(void) { FILLS(step_record, step, linattn_trainer_get_records(w.trainer, 0, 0, sizeof result, &result)); }
static int run(void) {
    uint64_t done = 0;
    const int status = linattn_trainer_run(w.trainer, 3, &done);
    if (!status) ck_assert_ok(linattn_trainer_get_parameters(w.trainer, out));
    return status;
}

/* ---- The table -------------------------------------------------------------------------------------------------------------- */
/* TAKES: memory, at least when the handles are new. NONE: none, ever. */
#define TABLE(TAKES, NONE)                                                                                                         \
    NONE(linattn_baseline_options_init, INITS(baseline_options))                                                                   \
    NONE(linattn_curvature_options_init, INITS(curvature_options))                                                                 \
    NONE(linattn_custom_rule_init, INITS(custom_rule))                                                                             \
    NONE(linattn_diagnostics_options_init, INITS(diagnostics_options))                                                             \
    NONE(linattn_gradient_error_options_init, INITS(gradient_error_options))                                                       \
    NONE(linattn_lanczos_options_init, INITS(lanczos_options))                                                                     \
    NONE(linattn_model_options_init, INITS(model_options))                                                                         \
    NONE(linattn_objective_callbacks_init, INITS(objective_callbacks))                                                             \
    NONE(linattn_objective_options_init, INITS(objective_options))                                                                 \
    NONE(linattn_optimizer_options_init, INITS(optimizer_options))                                                                 \
    NONE(linattn_prompt_options_init, INITS(prompt_options))                                                                       \
    NONE(linattn_resampling_options_init, INITS(resampling_options))                                                               \
    NONE(linattn_sampler_options_init, INITS(sampler_options))                                                                     \
    NONE(linattn_trainer_options_init, INITS(trainer_options))                                                                     \
    NONE(linattn_batch_context, GIVES(linattn_batch_context(w.batch)))                                                             \
    NONE(linattn_batch_dim, GIVES(linattn_batch_dim(w.batch)))                                                                     \
    NONE(linattn_batch_prompts, GIVES(linattn_batch_prompts(w.batch)))                                                             \
    NONE(linattn_build_info, GIVES(linattn_build_info() != NULL))                                                                  \
    NONE(linattn_diagnostics_hvp_kind, GIVES(linattn_diagnostics_hvp_kind(w.diagnostics)))                                         \
    NONE(linattn_diagnostics_parameter_count, GIVES(linattn_diagnostics_parameter_count(w.diagnostics)))                           \
    NONE(linattn_kernel_available, GIVES(linattn_kernel_available(LINATTN_KERNEL_BASELINE)))                                       \
    NONE(linattn_kernel_name, GIVES(linattn_kernel_name(0) != NULL))                                                               \
    NONE(linattn_last_message, GIVES(linattn_last_message() != NULL))                                                              \
    NONE(linattn_model_parameter_count, GIVES(linattn_model_parameter_count(w.model)))                                             \
    NONE(linattn_model_tensor_count, GIVES(linattn_model_tensor_count(w.model)))                                                   \
    NONE(linattn_objective_hessian_workspace, GIVES(linattn_objective_hessian_workspace(w.sampled)))                               \
    NONE(linattn_objective_hvp_kind, GIVES(linattn_objective_hvp_kind(w.sampled)))                                                 \
    NONE(linattn_objective_parameter_count, GIVES(linattn_objective_parameter_count(w.sampled)))                                   \
    NONE(linattn_optimizer_learning_rate, GIVES(linattn_optimizer_learning_rate(w.adam, 3)))                                       \
    NONE(linattn_optimizer_skip_count, GIVES(linattn_optimizer_skip_count(w.adam)))                                                \
    NONE(linattn_optimizer_state_count, GIVES(linattn_optimizer_state_count(w.adam)))                                              \
    NONE(linattn_optimizer_step_count, GIVES(linattn_optimizer_step_count(w.adam)))                                                \
    NONE(linattn_prompt_dim, GIVES(linattn_prompt_dim(w.prompt)))                                                                  \
    NONE(linattn_prompt_examples, GIVES(linattn_prompt_examples(w.prompt)))                                                        \
    NONE(linattn_prompt_parameter_count, GIVES(linattn_prompt_parameter_count(w.prompt)))                                          \
    NONE(linattn_prompt_tokens, GIVES(linattn_prompt_tokens(w.prompt)))                                                            \
    NONE(linattn_recipe_count, GIVES(linattn_recipe_count()))                                                                      \
    NONE(linattn_recipe_source, GIVES(linattn_recipe_source(0, "layers") != NULL))                                                 \
    NONE(linattn_sampler_context, GIVES(linattn_sampler_context(w.sampler)))                                                       \
    NONE(linattn_sampler_dim, GIVES(linattn_sampler_dim(w.sampler)))                                                               \
    NONE(linattn_status_name, GIVES(linattn_status_name(0) != NULL))                                                               \
    NONE(linattn_trainer_parameter_count, GIVES(linattn_trainer_parameter_count(w.trainer)))                                       \
    NONE(linattn_trainer_record_count, GIVES(linattn_trainer_record_count(w.trainer)))                                             \
    NONE(linattn_trainer_request_stop, linattn_trainer_request_stop(w.trainer); GIVES(1))                                          \
    NONE(linattn_trainer_step_count, GIVES(linattn_trainer_step_count(w.trainer)))                                                 \
    NONE(linattn_version_number, GIVES(linattn_version_number()))                                                                  \
    NONE(linattn_version_string, GIVES(linattn_version_string() != NULL))                                                          \
    NONE(linattn_batch_destroy, linattn_batch_destroy(NULL); GIVES(1))                                                             \
    NONE(linattn_diagnostics_destroy, linattn_diagnostics_destroy(NULL); GIVES(1))                                                 \
    NONE(linattn_model_destroy, linattn_model_destroy(NULL); GIVES(1))                                                             \
    NONE(linattn_objective_destroy, linattn_objective_destroy(NULL); GIVES(1))                                                     \
    NONE(linattn_optimizer_destroy, linattn_optimizer_destroy(NULL); GIVES(1))                                                     \
    NONE(linattn_prompt_destroy, linattn_prompt_destroy(NULL); GIVES(1))                                                           \
    NONE(linattn_sampler_destroy, linattn_sampler_destroy(NULL); GIVES(1))                                                         \
    NONE(linattn_trainer_destroy, linattn_trainer_destroy(NULL); GIVES(1))                                                         \
    NONE(linattn_batch_get_arrays, return linattn_batch_get_arrays(w.batch, out, out + OUT / 2))                                   \
    NONE(linattn_batch_get_moments, return linattn_batch_get_moments(w.batch, out, out + OUT / 2))                                 \
    NONE(linattn_blas_info, return blas_info())                                                                                    \
    NONE(linattn_model_get_tensor, FILLS(tensor, rows, linattn_model_get_tensor(w.model, 0, &result)))                             \
    NONE(linattn_model_init_parameters, return linattn_model_init_parameters(w.model, 1, out))                                     \
    NONE(linattn_normal_quantile, return linattn_normal_quantile(0.3, out))                                                        \
    NONE(linattn_student_quantile, return linattn_student_quantile(0.3, 5, out))                                                   \
    NONE(linattn_number_read, return read_number())                                                                                \
    NONE(linattn_number_write, return write_number())                                                                              \
    NONE(linattn_optimizer_get_state, return get_state())                                                                          \
    NONE(linattn_optimizer_set_state, return set_state())                                                                          \
    NONE(linattn_optimizer_preconditioner, return preconditioner())                                                                \
    NONE(linattn_prompt_get_arrays, return linattn_prompt_get_arrays(w.prompt, out, NULL, NULL, NULL, NULL))                       \
    NONE(linattn_recipe_find, FILLS(recipe, layers, linattn_recipe_find("setting1", &result)))                                     \
    NONE(linattn_recipe_get, FILLS(recipe, layers, linattn_recipe_get(0, &result)))                                                \
    NONE(linattn_recipe_model_options, return find_recipe(1))                                                                      \
    NONE(linattn_recipe_optimizer_options, return find_recipe(2))                                                                  \
    NONE(linattn_recipe_sampler_options, return find_recipe(0))                                                                    \
    TAKES(linattn_sample_interval, FILLS(interval, low, linattn_sample_interval(world_sample(), WORLD_SAMPLE, 0.9, &result)))      \
    NONE(linattn_share_interval, FILLS(interval, low, linattn_share_interval(3, 10, 0.9, &result)))                                \
    NONE(linattn_sample_histogram, return histogram())                                                                             \
    TAKES(linattn_line_fit, FILLS(line, slope, linattn_line_fit(world_sample(), world_sample(), WORLD_SAMPLE, &result)))           \
    NONE(linattn_spectrum_density, return linattn_spectrum_density(pair, NULL, 2, 0.1, rates, 2, out))                             \
    TAKES(linattn_matrix_precondition, return linattn_matrix_precondition(matrix, 2, pair, out))                                   \
    NONE(linattn_trainer_get_parameters, return linattn_trainer_get_parameters(w.trainer, out))                                    \
    NONE(linattn_trainer_get_records, return records())                                                                            \
    TAKES(linattn_sampler_create, MAKES(sampler, create_sampler(&made)))                                                           \
    TAKES(linattn_sampler_create_custom, MAKES(sampler, linattn_sampler_create_custom(&made, 2, 3, fill, NULL)))                   \
    TAKES(linattn_batch_create_from_sampler, MAKES(batch, linattn_batch_create_from_sampler(&made, w.sampler, 9, 1)))              \
    TAKES(linattn_batch_create_from_arrays, MAKES(batch, linattn_batch_create_from_arrays(&made, w.theta, pair, 2, 1, 1)))         \
    TAKES(linattn_model_create, MAKES(model, create_model(&made)))                                                                 \
    TAKES(linattn_model_predict, return linattn_model_predict(w.model, w.batch, w.theta, out))                                     \
    TAKES(linattn_model_attention, return linattn_model_attention(w.model, w.batch, w.theta, 1, 0, out))                           \
    TAKES(linattn_objective_create_fixed, MAKES(objective, linattn_objective_create_fixed(&made, w.model, w.batch, NULL)))         \
    TAKES(linattn_objective_create_sampled,                                                                                        \
          MAKES(objective, linattn_objective_create_sampled(&made, w.model, w.sampler, 9, NULL)))                                  \
    TAKES(linattn_objective_create_dataset,                                                                                        \
          MAKES(objective, linattn_objective_create_dataset(&made, w.model, w.batch, 5, LINATTN_MINIBATCH_EPOCHS, 1, NULL)))       \
    TAKES(linattn_objective_create_callbacks, MAKES(objective, with_callbacks(&made)))                                             \
    TAKES(linattn_objective_create_prompt, MAKES(objective, linattn_objective_create_prompt(&made, w.prompt, NULL)))               \
    TAKES(linattn_objective_create_prompt_dataset,                                                                                 \
          MAKES(objective, linattn_objective_create_prompt_dataset(&made, w.prompt, 2, LINATTN_MINIBATCH_EPOCHS, 1, NULL)))        \
    TAKES(linattn_objective_clone, MAKES(objective, linattn_objective_clone(&made, w.sampled)))                                    \
    NONE(linattn_objective_value, return linattn_objective_value(w.sampled, 1, w.theta, out))                                      \
    NONE(linattn_objective_gradient, return linattn_objective_gradient(w.sampled, 1, w.theta, out, out + 1))                       \
    TAKES(linattn_objective_hvp, return linattn_objective_hvp(w.sampled, 1, w.theta, w.theta, 1, out))                             \
    TAKES(linattn_objective_hessian, return linattn_objective_hessian(w.sampled, 1, w.theta, out))                                 \
    TAKES(linattn_objective_hessian_block, return linattn_objective_hessian_block(w.sampled, 1, w.theta, 3, 7, out))               \
    TAKES(linattn_objective_hessian_diagonal, return linattn_objective_hessian_diagonal(w.sampled, 1, w.theta, 3, 7, out))         \
    TAKES(linattn_objective_check_derivatives,                                                                                     \
          FILLS(derivative_report, gradient_error, linattn_objective_check_derivatives(w.sampled, 1, w.theta, 1e-5, &result)))     \
    TAKES(linattn_optimizer_create, MAKES(optimizer, create_optimizer(&made)))                                                     \
    TAKES(linattn_optimizer_create_custom, MAKES(optimizer, with_rule(&made)))                                                     \
    NONE(linattn_optimizer_step, memcpy(out, w.theta, sizeof w.theta);                                                             \
         return linattn_optimizer_step(w.adam, 1, w.theta, out, NULL))                                                             \
    TAKES(linattn_trainer_create, MAKES(trainer, linattn_trainer_create(&made, w.sampled, w.adam, w.theta, NULL)))                 \
    TAKES(linattn_trainer_run, return run())                                                                                       \
    TAKES(linattn_trainer_save, return saves("/tmp/linattn-allocation-save"))                                                      \
    TAKES(linattn_trainer_load, return linattn_trainer_load(w.trainer, path))                                                      \
    TAKES(linattn_diagnostics_create, MAKES(diagnostics, linattn_diagnostics_create(&made, w.sampled, NULL)))                      \
    TAKES(linattn_diagnostics_spectrum,                                                                                            \
          FILLS(spectrum, trace, linattn_diagnostics_spectrum(w.diagnostics, 0, w.theta, NULL, out + 8, out + 64, &result)))       \
    TAKES(linattn_diagnostics_robust_condition, return robust_condition())                                                         \
    TAKES(linattn_diagnostics_heterogeneity,                                                                                       \
          FILLS(heterogeneity, largest_distance,                                                                                   \
                linattn_diagnostics_heterogeneity(w.diagnostics, 0, w.theta, boundaries, 2, NULL, 0.1, out + 8, &result)))         \
    TAKES(linattn_diagnostics_extremes,                                                                                            \
          FILLS(extremes, largest, linattn_diagnostics_extremes(w.diagnostics, 0, w.theta, NULL, NULL, NULL, &result)))            \
    TAKES(linattn_diagnostics_gradient_error, return gradient_error())                                                             \
    TAKES(linattn_diagnostics_directional_smoothness,                                                                              \
          return linattn_diagnostics_directional_smoothness(w.diagnostics, 0, w.theta, world_sample(), out))                       \
    TAKES(linattn_diagnostics_gradient_ratios,                                                                                     \
          return linattn_diagnostics_gradient_ratios(w.diagnostics, 0, w.theta, world_sample(), rates, 2, out))                    \
    TAKES(linattn_smoothness_fit,                                                                                                  \
          FILLS(smoothness, l0, linattn_smoothness_fit(world_sample(), world_sample(), WORLD_SAMPLE, 2, 0.9, NULL, &result)))      \
    TAKES(linattn_attention_concentration,                                                                                         \
          FILLS(concentration, entropy, linattn_attention_concentration(weights, 1, 3, 3, 1, &result)))                            \
    TAKES(linattn_baseline_predict, return baselines())                                                                            \
    TAKES(linattn_theory_one_layer, return linattn_theory_one_layer(w.sampler, out, out + 8))                                      \
    TAKES(linattn_theory_compare,                                                                                                  \
          FILLS(theory_distance, q_error, linattn_theory_compare(w.model, w.sampler, w.theta, 0, 0, &result)))                     \
    TAKES(linattn_matrix_spectrum, FILLS(spectrum, trace, linattn_matrix_spectrum(matrix, 2, out + 8, out + 16, &result)))         \
    TAKES(linattn_robust_condition,                                                                                                \
          FILLS(condition, value, linattn_robust_condition(pair, 2, LINATTN_CONDITION_DIAGONAL, LINATTN_MEDIAN_LOWER, &result)))   \
    TAKES(linattn_spectra_compare, FILLS(spectra_distance, divergence, linattn_spectra_compare(pair, 2, rates, 2, 0.1, &result)))  \
    TAKES(linattn_sample_median, return linattn_sample_median(world_sample(), WORLD_SAMPLE, LINATTN_MEDIAN_LOWER, out))            \
    TAKES(linattn_sample_quantiles, return linattn_sample_quantiles(world_sample(), WORLD_SAMPLE, rates, 2, out))                  \
    TAKES(linattn_sample_moments, FILLS(moments, variance, linattn_sample_moments(world_sample(), WORLD_SAMPLE, NULL, &result)))   \
    TAKES(                                                                                                                         \
        linattn_sample_bootstrap,                                                                                                  \
        FILLS(interval, low, linattn_sample_bootstrap(world_sample(), WORLD_SAMPLE, LINATTN_LOCATION_MEDIAN, 0.9, NULL, &result))) \
    TAKES(linattn_series_bootstrap,                                                                                                \
          FILLS(interval, low, linattn_series_bootstrap(world_sample(), WORLD_SAMPLE, 2, 0.9, NULL, &result)))                     \
    TAKES(linattn_line_bootstrap, return line_bootstrap())                                                                         \
    TAKES(linattn_series_rate, FILLS(line, slope, linattn_series_rate(world_sample(), WORLD_SAMPLE, 100, 1e-10, &result)))         \
    TAKES(linattn_sample_normal_plot,                                                                                              \
          FILLS(normal_plot, correlation, linattn_sample_normal_plot(world_sample(), WORLD_SAMPLE, out + 8, out + 64, &result)))   \
    TAKES(linattn_sample_normality,                                                                                                \
          FILLS(normality, anderson_darling, linattn_sample_normality(world_sample(), WORLD_SAMPLE, NULL, &result)))               \
    TAKES(linattn_samples_compare, FILLS(comparison, kolmogorov_smirnov,                                                           \
                                         linattn_samples_compare(world_sample(), 20, world_sample() + 20, 20, NULL, &result)))     \
    TAKES(linattn_sample_tail, FILLS(tail, alpha, linattn_sample_tail(world_sample(), WORLD_SAMPLE, 5, 20, NULL, &result)))        \
    TAKES(linattn_prompt_create, MAKES(prompt, create_prompt(&made)))                                                              \
    TAKES(linattn_prompt_create_from_arrays, MAKES(prompt, create_prompt_from_arrays(&made)))                                      \
    TAKES(linattn_prompt_evaluate, return linattn_prompt_evaluate(w.prompt, prompt_theta, out, out + 8, out + 64, NULL))           \
    TAKES(linattn_prompt_gauss_newton, return linattn_prompt_gauss_newton(w.prompt, prompt_theta, out))                            \
    TAKES(linattn_prompt_softmax_spectrum, return linattn_prompt_softmax_spectrum(w.prompt, prompt_theta, 0, out))                 \
    TAKES(linattn_prompt_measure_condition,                                                                                        \
          FILLS(prompt_condition, condition, linattn_prompt_measure_condition(w.prompt, prompt_theta, out + 8, &result)))          \
    TAKES(linattn_prompt_distance, return linattn_prompt_distance(w.prompt, prompt_theta, out, out + 1))                           \
    TAKES(linattn_prompt_predict_rate, return linattn_prompt_predict_rate(w.prompt, prompt_theta, 0.01, out))

typedef struct row {
    const char *name;
    int takes;
    int (*call)(void);
} row;
#define DEFINE(name, ...)                                                                                                          \
    static int call_##name(void) { __VA_ARGS__; }
#define TAKING(name, ...)      {#name, 1, call_##name},
#define TAKING_NONE(name, ...) {#name, 0, call_##name},
TABLE(DEFINE, DEFINE)
static const row table[] = {TABLE(TAKING, TAKING_NONE)};
enum { ROWS = sizeof table / sizeof *table };

/* ---- The tests -------------------------------------------------------------------------------------------------------------- */
static void forget_out(void) {
    for (size_t i = 0; i < OUT; i++) out[i] = UNTOUCHED;
}

/* What the call gives in an undisturbed world. */
static void undisturbed(const row *r, double *wanted) {
    w = world_open();
    forget_out();
    ck_assert_msg(r->call() == LINATTN_OK, "%s: %s", r->name, linattn_last_message());
    memcpy(wanted, out, OUT * sizeof *out);
    world_close(&w);
}

START_TEST(every_allocation_may_fail) {
    const row *r = &table[_i];
    static double room[OUT], wanted[OUT];
    out = room;
    undisturbed(r, wanted);
    const long pieces = linattn__allocated_pieces();
    int status = LINATTN_ENOMEM;
    long k = 0;
    for (; status != LINATTN_OK; k++) {
        ck_assert_int_lt(k, 1000);
        w = world_open();
        forget_out();
        const size_t bytes = linattn__allocated_bytes();
        linattn__fail_allocation_after(k);
        status = r->call();
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) {
            ck_assert_msg(r->takes, "%s takes memory: %s", r->name, linattn_last_message());
            ck_assert_status(status, LINATTN_ENOMEM, "no memory for ");
            for (size_t i = 0; i < OUT; i++) ck_assert_double_eq(out[i], UNTOUCHED);
            ck_assert_ok(r->call());
        } else if (!r->takes) {
            ck_assert_uint_eq(linattn__allocated_bytes(), bytes);
        }
        ck_assert_mem_eq(out, wanted, OUT * sizeof *out);
        world_close(&w);
        ck_assert_int_eq(linattn__allocated_pieces(), pieces);
    }
    ck_assert_msg(!r->takes == (k == 1), "%s took memory %ld times", r->name, k - 1);
}
END_TEST

/* The ledger lists every public function. */
START_TEST(no_function_is_missing_here) {
    char name[128];
    size_t found = 0;
    FILE *ledger = fopen("tests/abi/symbols.txt", "r");
    ck_assert_msg(ledger != NULL, "run from the top folder");
    while (fscanf(ledger, "%127s", name) == 1) {
        int known = 0;
        for (size_t i = 0; i < ROWS; i++) known |= strcmp(table[i].name, name) == 0;
        ck_assert_msg(known, "%s has no row in this file", name);
        found++;
    }
    fclose(ledger);
    ck_assert_uint_eq(found, ROWS);
}
END_TEST

static void write_checkpoint(void) {
    w = world_open();
    close(mkstemp(path));
    ck_assert_ok(linattn_trainer_save(w.trainer, path));
    world_close(&w);
}
static void remove_files(void) {
    unlink(path);
    unlink("/tmp/linattn-allocation-save");
}

static Suite *allocation_suite(void) {
    Suite *suite = suite_create("allocation");
    TCase *tc = tcase_create("allocation");
    tcase_set_timeout(tc, 600);
    tcase_add_unchecked_fixture(tc, write_checkpoint, remove_files);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, ROWS);
    tcase_add_test(tc, no_function_is_missing_here);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(allocation_suite)
#endif
