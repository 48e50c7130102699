/* bench [NAME ...]: times the library's main work and prints CSV: name,size,threads,kernel,median_seconds,spread_seconds.
 *
 * Every kernel this machine can run is timed with one thread, and the fastest with two. `draw` is the drawing of a batch of 1000
 * prompts as a training step needs it; `gradient` the value and gradient of a batch in memory; `update` clipping and Adam; `step` all
 * three; `hessian` the whole Hessian of a batch in memory; `spectrum` that and its eigenvalues; `noise` 10000 gradient errors, each of
 * a fresh batch; `peak` 10^6 multiply-adds of doubles that stay in registers. The rows whose names end in a size show how the cost grows
 * with it, on the fastest kernel. Names on the command line choose what is run; one that ends in "_" stands for all that begin so. */
#include "bench/peak.h"
#include "bench/timing.h"
#include "common/allocate.h"
#include "sampler/prompts.h"

#include <linattn/linattn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *recipe;
    enum { DRAW, GRADIENT, UPDATE, STEP, HESSIAN, SPECTRUM, NOISE, PEAK, PROMPT } what;
    int32_t kind;                         /* enum linattn_batch_kind; tokens */
    size_t context, prompts, layers, dim; /* 0: the recipe's */
    int32_t attention;                    /* enum linattn_attention; linear */
    size_t ff_hidden;                     /* 0: no feed-forward blocks */
    int32_t form;                         /* enum linattn_form; block */
} row;

enum { NOISE_SAMPLES = 10000 };

static const row rows[] = {
    {"peak", "setting1", .what = PEAK},
    {"draw_setting1", "setting1", .what = DRAW},
    {"draw_moments_setting1", "setting1", .what = DRAW, .kind = LINATTN_BATCH_MOMENTS},
    {"draw_setting3", "setting3", .what = DRAW},
    {"gradient_setting1", "setting1", .what = GRADIENT},
    {"gradient_nonlinear", "nonlinear", .what = GRADIENT},
    {"gradient_wide", "wide", .what = GRADIENT},
    {"gradient_softmax", "setting1", .what = GRADIENT, .attention = LINATTN_ATTENTION_SOFTMAX},
    {"gradient_relu", "setting1", .what = GRADIENT, .attention = LINATTN_ATTENTION_RELU},
    {"gradient_ff", "setting1", .what = GRADIENT, .ff_hidden = 20},
    {"gradient_full", "setting1", .what = GRADIENT, .form = LINATTN_FORM_FULL},
    {"gradient_prompt", "prompt attention", .what = PROMPT, .context = 10, .prompts = 200, .dim = 20},
    {"update_setting1", "setting1", .what = UPDATE},
    {"update_wide", "wide", .what = UPDATE},
    {"step_setting1", "setting1", .what = STEP},
    {"step_setting2", "setting2", .what = STEP},
    {"step_setting3", "setting3", .what = STEP},
    {"step_wide", "wide", .what = STEP},
    {"step_softmax", "softmax", .what = STEP},
    {"step_moments_setting1", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS},
    {"step_moments_setting1_n200", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 200},
    {"hessian_setting1", "setting1", .what = HESSIAN},
    {"hessian_softmax", "setting1", .what = HESSIAN, .attention = LINATTN_ATTENTION_SOFTMAX},
    {"hessian_relu", "setting1", .what = HESSIAN, .attention = LINATTN_ATTENTION_RELU},
    {"hessian_full", "setting1", .what = HESSIAN, .form = LINATTN_FORM_FULL},
    {"spectrum_setting1", "setting1", .what = SPECTRUM},
    {"noise_setting1", "setting1", .what = NOISE},
    {"step_n5", "setting1", .what = STEP, .context = 5},
    {"step_n10", "setting1", .what = STEP, .context = 10},
    {"step_n40", "setting1", .what = STEP, .context = 40},
    {"step_n80", "setting1", .what = STEP, .context = 80},
    {"step_n160", "setting1", .what = STEP, .context = 160},
    {"gradient_softmax_n5", "softmax", .what = GRADIENT, .context = 5},
    {"gradient_softmax_n10", "softmax", .what = GRADIENT, .context = 10},
    {"gradient_softmax_n40", "softmax", .what = GRADIENT, .context = 40},
    {"gradient_softmax_n80", "softmax", .what = GRADIENT, .context = 80},
    {"gradient_softmax_n160", "softmax", .what = GRADIENT, .context = 160},
    {"step_moments_n5", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 5},
    {"step_moments_n10", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 10},
    {"step_moments_n40", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 40},
    {"step_moments_n80", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 80},
    {"step_moments_n160", "setting1", .what = STEP, .kind = LINATTN_BATCH_MOMENTS, .context = 160},
    {"gradient_B250", "setting1", .what = GRADIENT, .prompts = 250},
    {"gradient_B500", "setting1", .what = GRADIENT, .prompts = 500},
    {"gradient_B2000", "setting1", .what = GRADIENT, .prompts = 2000},
    {"gradient_B4000", "setting1", .what = GRADIENT, .prompts = 4000},
    {"gradient_L1", "setting1", .what = GRADIENT, .layers = 1},
    {"gradient_L2", "setting1", .what = GRADIENT, .layers = 2},
    {"gradient_L4", "setting1", .what = GRADIENT, .layers = 4},
    {"gradient_L6", "setting1", .what = GRADIENT, .layers = 6},
    {"gradient_L8", "setting1", .what = GRADIENT, .layers = 8},
    {"gradient_d2", "setting1", .what = GRADIENT, .dim = 2},
    {"gradient_d3", "setting1", .what = GRADIENT, .dim = 3},
    {"gradient_d8", "setting1", .what = GRADIENT, .dim = 8},
    {"gradient_d10", "setting1", .what = GRADIENT, .dim = 10},
    {"gradient_d20", "setting1", .what = GRADIENT, .dim = 20},
    {"hessian_B250", "setting1", .what = HESSIAN, .prompts = 250},
    {"hessian_B500", "setting1", .what = HESSIAN, .prompts = 500},
    {"hessian_B2000", "setting1", .what = HESSIAN, .prompts = 2000},
    {"hessian_B4000", "setting1", .what = HESSIAN, .prompts = 4000},
    {"hessian_L1", "setting1", .what = HESSIAN, .layers = 1},
    {"hessian_L2", "setting1", .what = HESSIAN, .layers = 2},
    {"hessian_L4", "setting1", .what = HESSIAN, .layers = 4},
    {"hessian_L6", "setting1", .what = HESSIAN, .layers = 6},
    {"hessian_L8", "setting1", .what = HESSIAN, .layers = 8},
    {"hessian_d2", "setting1", .what = HESSIAN, .dim = 2},
    {"hessian_d3", "setting1", .what = HESSIAN, .dim = 3},
    {"hessian_d8", "setting1", .what = HESSIAN, .dim = 8},
    {"hessian_d10", "setting1", .what = HESSIAN, .dim = 10},
};

typedef struct {
    linattn_recipe recipe;
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *objective;
    linattn_diagnostics *diagnostics;
    linattn_optimizer *optimizer;
    double *theta, *gradient, *hessian, *workspace; /* (p), (p), (p, p), as the sampler wants */
    double *errors;                                 /* (NOISE_SAMPLES) */
    linattn__prompts prompts;
    enum linattn__isa isa;
    int what;
} bench;

static int draw(void *context, uint64_t turn) {
    bench *b = context;
    linattn__sampler_draw(b->sampler, b->isa, turn, 0, b->prompts.blocks, &b->prompts, b->workspace);
    return 0;
}

static int gradient(void *context, uint64_t turn) {
    bench *b = context;
    double value;
    return linattn_objective_gradient(b->objective, b->what == GRADIENT ? 0 : turn, b->theta, &value, b->gradient);
}

static int step(void *context, uint64_t turn) {
    bench *b = context;
    const int status = gradient(context, turn);
    return status ? status : linattn_optimizer_step(b->optimizer, 0, b->gradient, b->theta, NULL);
}

static int update(void *context, uint64_t turn) {
    bench *b = context;
    (void)turn;
    return linattn_optimizer_step(b->optimizer, 0, b->gradient, b->theta, NULL);
}

static int peak(void *context, uint64_t turn) {
    const bench *b = context;
    return multiply_adds(b->isa, turn);
}

static int hessian(void *context, uint64_t turn) {
    bench *b = context;
    (void)turn;
    return linattn_objective_hessian(b->objective, 0, b->theta, b->hessian);
}

static int spectrum(void *context, uint64_t turn) {
    bench *b = context;
    linattn_spectrum out = {.struct_size = sizeof out};
    (void)turn;
    return linattn_diagnostics_spectrum(b->diagnostics, 0, b->theta, NULL, b->gradient, NULL, &out);
}

static int noise(void *context, uint64_t turn) {
    bench *b = context;
    linattn_gradient_error_options options;
    linattn_gradient_error out = {.struct_size = sizeof out};
    int status = linattn_gradient_error_options_init(&options, sizeof options);
    options.samples = NOISE_SAMPLES;
    options.first_draw = turn << 32;
    if (!status) status = linattn_diagnostics_gradient_error(b->diagnostics, b->theta, &options, b->errors, NULL, NULL, NULL, &out);
    return status;
}

/* Prompt attention: softmax, N examples of n tokens in d dimensions; its recipe has no layers. */
static int open_prompt(bench *b, const row *r, int32_t kernel, size_t threads) {
    linattn_prompt_options options;
    linattn_objective_options objective;
    linattn_prompt *prompt = NULL;
    b->recipe = (linattn_recipe){.context = r->context, .prompts = r->prompts, .dim = r->dim};
    int status = linattn_prompt_options_init(&options, sizeof options);
    if (!status) status = linattn_objective_options_init(&objective, sizeof objective);
    options.examples = r->prompts;
    options.tokens = r->context;
    options.dim = r->dim;
    objective.kernel = kernel;
    objective.threads = threads;
    if (!status) status = linattn_prompt_create(&prompt, &options);
    if (!status) status = linattn_objective_create_prompt(&b->objective, prompt, &objective);
    linattn_prompt_destroy(prompt);
    if (status) return status;
    b->theta = linattn__allocate(r->dim, sizeof(double));
    b->gradient = linattn__allocate(r->dim, sizeof(double));
    return b->theta && b->gradient ? LINATTN_OK : linattn__fail_memory("the bench");
}

/* Learning rates are small, so that parameters stay where they are and every turn costs the same. */
static int open_bench(bench *b, const row *r, int32_t kernel, size_t threads) {
    linattn_sampler_options sampler;
    linattn_model_options model;
    linattn_objective_options objective;
    linattn_diagnostics_options diagnostics;
    linattn_optimizer_options optimizer;
    memset(b, 0, sizeof *b);
    b->what = (int)r->what;
    if (r->what == PROMPT) return open_prompt(b, r, kernel, threads);
    b->recipe.struct_size = sizeof b->recipe;
    int status = linattn_recipe_find(r->recipe, &b->recipe);
    if (r->context) b->recipe.context = r->context;
    if (r->prompts) b->recipe.prompts = r->prompts;
    if (r->layers) b->recipe.layers = r->layers;
    if (r->dim) b->recipe.dim = r->dim;
    if (!status) status = linattn_recipe_sampler_options(&b->recipe, &sampler, sizeof sampler);
    if (!status) status = linattn_recipe_model_options(&b->recipe, &model, sizeof model);
    if (!status) status = linattn_recipe_optimizer_options(&b->recipe, LINATTN_RULE_ADAM, &optimizer, sizeof optimizer);
    if (!status) status = linattn_objective_options_init(&objective, sizeof objective);
    if (!status) status = linattn_diagnostics_options_init(&diagnostics, sizeof diagnostics);
    if (status) return status;
    diagnostics.threads = threads;
    sampler.kind = r->kind;
    if (r->attention) model.attention = r->attention;
    model.ff_hidden = r->ff_hidden;
    if (r->form) model.form = r->form;
    objective.kernel = kernel;
    objective.threads = threads;
    optimizer.learning_rate = 1e-12;
    if (!status) status = linattn_sampler_create(&b->sampler, &sampler);
    if (!status) status = linattn_model_create(&b->model, &model);
    if (!status) status = linattn_objective_create_sampled(&b->objective, b->model, b->sampler, b->recipe.prompts, &objective);
    if (!status) status = linattn_diagnostics_create(&b->diagnostics, b->objective, &diagnostics);
    const size_t p = linattn_model_parameter_count(b->model);
    if (!status) status = linattn_optimizer_create(&b->optimizer, &optimizer, NULL, 0, p);
    if (!status) status = linattn__prompts_create(&b->prompts, b->recipe.prompts, b->recipe.context, b->recipe.dim, 0);
    if (!status) status = linattn__isa_resolve(kernel, &b->isa);
    if (status) return status;
    b->theta = linattn__allocate(p, sizeof(double));
    b->gradient = linattn__allocate(p, sizeof(double));
    b->hessian = linattn__allocate(r->what == HESSIAN ? p * p : 1, sizeof(double));
    b->workspace = linattn__allocate(linattn__sampler_workspace(b->sampler), sizeof(double));
    b->errors = linattn__allocate(r->what == NOISE ? NOISE_SAMPLES : 1, sizeof(double));
    if (!b->theta || !b->gradient || !b->hessian || !b->workspace || !b->errors) return linattn__fail_memory("the bench");
    return linattn_model_init_parameters(b->model, 1, b->theta) || (r->what == UPDATE && gradient(b, 0));
}

static void close_bench(bench *b) {
    linattn_sampler_destroy(b->sampler);
    linattn_model_destroy(b->model);
    linattn_diagnostics_destroy(b->diagnostics);
    linattn_objective_destroy(b->objective);
    linattn_optimizer_destroy(b->optimizer);
    linattn__prompts_release(&b->prompts);
    linattn__release(b->theta);
    linattn__release(b->gradient);
    linattn__release(b->hessian);
    linattn__release(b->workspace);
    linattn__release(b->errors);
}

static int run(const row *r, int32_t kernel, size_t threads) {
    static const timed_work works[] = {draw, gradient, update, step, hessian, spectrum, noise, peak, gradient};
    bench b;
    timing t;
    int status = open_bench(&b, r, kernel, threads);
    if (!status) status = time_work(&t, r->what == NOISE ? 3 : 41, works[r->what], &b);
    if (!status)
        printf("%s,L%zu d%zu n%zu B%zu,%zu,%s,%.3e,%.1e\n", r->name, b.recipe.layers, b.recipe.dim, b.recipe.context,
               b.recipe.prompts, threads, linattn_kernel_name(kernel), t.median, t.spread);
    else
        fprintf(stderr, "bench: %s: %s\n", r->name, linattn_last_message());
    fflush(stdout);
    close_bench(&b);
    return status;
}

static int wanted(const row *r, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const size_t length = strlen(argv[i]);
        const int prefix = length > 0 && argv[i][length - 1] == '_';
        if (prefix ? strncmp(argv[i], r->name, length) == 0 : strcmp(argv[i], r->name) == 0) return 1;
    }
    return argc == 1;
}

int main(int argc, char **argv) {
    int32_t fastest = LINATTN_KERNEL_AVX512;
    int failed = 0;
    while (!linattn_kernel_available(fastest)) fastest--;
    puts("name,size,threads,kernel,median_seconds,spread_seconds");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!wanted(&rows[i], argc, argv)) continue;
        const int longer = rows[i].context && strcmp(rows[i].name, "step_moments_setting1_n200") != 0;
        const int sized = rows[i].prompts || rows[i].layers || rows[i].dim || longer,
                  slow = sized || rows[i].what == NOISE || rows[i].what == UPDATE;
        const int single = sized || rows[i].what == DRAW || rows[i].what == UPDATE || rows[i].what == PEAK;
        for (int32_t kernel = fastest; kernel >= (slow ? fastest : LINATTN_KERNEL_BASELINE); kernel--)
            if (linattn_kernel_available(kernel)) failed |= run(&rows[i], kernel, 1);
        if (!single) failed |= run(&rows[i], fastest, 2);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
