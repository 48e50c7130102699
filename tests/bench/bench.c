/* bench [NAME ...]: times the library's main work and prints CSV: name,size,threads,kernel,median_seconds,spread_seconds.
 *
 * Every kernel this machine can run is timed with one thread, and the fastest with two. `draw` is the drawing of a batch of 1000
 * prompts as a training step needs it; `gradient` the value and gradient of a batch in memory; `step` both and an Adam update;
 * `hessian` the whole Hessian of a batch in memory. Names on the command line choose what is run. */
#include "bench/timing.h"
#include "common/allocate.h"
#include "sampler/prompts.h"

#include <linattn/linattn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *recipe;
    enum { DRAW, GRADIENT, STEP, HESSIAN } what;
    int32_t kind;   /* enum linattn_batch_kind */
    size_t context; /* 0: the recipe's */
} row;

static const row rows[] = {
    {"draw_setting1", "setting1", DRAW, LINATTN_BATCH_TOKENS, 0},
    {"draw_moments_setting1", "setting1", DRAW, LINATTN_BATCH_MOMENTS, 0},
    {"draw_setting3", "setting3", DRAW, LINATTN_BATCH_TOKENS, 0},
    {"gradient_setting1", "setting1", GRADIENT, LINATTN_BATCH_TOKENS, 0},
    {"gradient_wide", "wide", GRADIENT, LINATTN_BATCH_TOKENS, 0},
    {"step_setting1", "setting1", STEP, LINATTN_BATCH_TOKENS, 0},
    {"step_setting2", "setting2", STEP, LINATTN_BATCH_TOKENS, 0},
    {"step_setting3", "setting3", STEP, LINATTN_BATCH_TOKENS, 0},
    {"step_wide", "wide", STEP, LINATTN_BATCH_TOKENS, 0},
    {"step_moments_setting1", "setting1", STEP, LINATTN_BATCH_MOMENTS, 0},
    {"step_moments_setting1_n200", "setting1", STEP, LINATTN_BATCH_MOMENTS, 200},
    {"hessian_setting1", "setting1", HESSIAN, LINATTN_BATCH_TOKENS, 0},
};

typedef struct {
    linattn_recipe recipe;
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *objective;
    linattn_optimizer *optimizer;
    double *theta, *gradient, *hessian, *workspace; /* (p), (p), (p, p), as the sampler wants */
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

static int hessian(void *context, uint64_t turn) {
    bench *b = context;
    (void)turn;
    return linattn_objective_hessian(b->objective, 0, b->theta, b->hessian);
}

/* Learning rates are small, so that parameters stay where they are and every turn costs the same. */
static int open_bench(bench *b, const row *r, int32_t kernel, size_t threads) {
    linattn_sampler_options sampler;
    linattn_model_options model;
    linattn_objective_options objective;
    linattn_optimizer_options optimizer;
    memset(b, 0, sizeof *b);
    b->what = r->what;
    b->recipe.struct_size = sizeof b->recipe;
    int status = linattn_recipe_find(r->recipe, &b->recipe);
    if (!status && r->context) b->recipe.context = r->context;
    if (!status) status = linattn_recipe_sampler_options(&b->recipe, &sampler, sizeof sampler);
    if (!status) status = linattn_recipe_model_options(&b->recipe, &model, sizeof model);
    if (!status) status = linattn_recipe_optimizer_options(&b->recipe, LINATTN_RULE_ADAM, &optimizer, sizeof optimizer);
    if (!status) status = linattn_objective_options_init(&objective, sizeof objective);
    if (status) return status;
    sampler.kind = r->kind;
    objective.kernel = kernel;
    objective.threads = threads;
    optimizer.learning_rate = 1e-12;
    if (!status) status = linattn_sampler_create(&b->sampler, &sampler);
    if (!status) status = linattn_model_create(&b->model, &model);
    if (!status) status = linattn_objective_create_sampled(&b->objective, b->model, b->sampler, b->recipe.prompts, &objective);
    const size_t p = linattn_model_parameter_count(b->model);
    if (!status) status = linattn_optimizer_create(&b->optimizer, &optimizer, NULL, 0, p);
    if (!status) status = linattn__prompts_create(&b->prompts, b->recipe.prompts, b->recipe.context, b->recipe.dim, 0);
    if (!status) status = linattn__isa_resolve(kernel, &b->isa);
    if (status) return status;
    b->theta = linattn__allocate(p, sizeof(double));
    b->gradient = linattn__allocate(p, sizeof(double));
    b->hessian = linattn__allocate(r->what == HESSIAN ? p * p : 1, sizeof(double));
    b->workspace = linattn__allocate(linattn__sampler_workspace(b->sampler), sizeof(double));
    if (!b->theta || !b->gradient || !b->hessian || !b->workspace) return linattn__fail_memory("the bench");
    return linattn_model_init_parameters(b->model, 1, b->theta);
}

static void close_bench(bench *b) {
    linattn_sampler_destroy(b->sampler);
    linattn_model_destroy(b->model);
    linattn_objective_destroy(b->objective);
    linattn_optimizer_destroy(b->optimizer);
    linattn__prompts_release(&b->prompts);
    linattn__release(b->theta);
    linattn__release(b->gradient);
    linattn__release(b->hessian);
    linattn__release(b->workspace);
}

static int run(const row *r, int32_t kernel, size_t threads) {
    static const timed_work works[] = {[DRAW] = draw, [GRADIENT] = gradient, [STEP] = step, [HESSIAN] = hessian};
    bench b;
    timing t;
    int status = open_bench(&b, r, kernel, threads);
    if (!status) status = time_work(&t, works[r->what], &b);
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
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], r->name) == 0) return 1;
    return argc == 1;
}

int main(int argc, char **argv) {
    int32_t fastest = LINATTN_KERNEL_AVX512;
    int failed = 0;
    while (!linattn_kernel_available(fastest)) fastest--;
    puts("name,size,threads,kernel,median_seconds,spread_seconds");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!wanted(&rows[i], argc, argv)) continue;
        for (int32_t kernel = fastest; kernel >= LINATTN_KERNEL_BASELINE; kernel--)
            if (linattn_kernel_available(kernel)) failed |= run(&rows[i], kernel, 1);
        if (rows[i].what != DRAW) failed |= run(&rows[i], fastest, 2);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
