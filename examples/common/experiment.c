#include "experiment.h"

#include "complain.h"
#include "runs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const experiment_optimizers[OPTIMIZERS] = {"SGD", "Adam"};
const char *const experiment_colours[OPTIMIZERS] = {"#000000", "#d62728"};
static const char *const rate_options[OPTIMIZERS] = {"--lr-sgd", "--lr-adam"};
static const int32_t rules[OPTIMIZERS] = {LINATTN_RULE_SGD, LINATTN_RULE_ADAM};

static void list_recipes(char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "which experiment (setting1); known:");
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    for (size_t i = 0; linattn_recipe_get(i, &recipe) == LINATTN_OK && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, " %s", recipe.name);
}

void experiment_begin(experiment *e, argument *table) {
    *e = (experiment){.recipe_name = "setting1", .threads = runs_processors(), .folder = "out"};
    list_recipes(e->recipes, sizeof e->recipes);
    const argument rows[EXPERIMENT_ARGUMENTS] = {
        [EXPERIMENT_RECIPE] = {"--recipe", ARGUMENT_TEXT, &e->recipe_name, 0, e->recipes},
        [EXPERIMENT_SEEDS] = {"--seeds", ARGUMENT_COUNT, &e->seeds, 10000,
                              "runs of each optimizer, seeds 0, 1, ... (the recipe's)"},
        [EXPERIMENT_STEPS] = {"--steps", ARGUMENT_COUNT, &e->steps, 1000000000, "steps of each run (the recipe's)"},
        [EXPERIMENT_THREADS] = {"--threads", ARGUMENT_COUNT, &e->threads, LINATTN_MAX_THREADS, "runs at a time (one a processor)"},
        [EXPERIMENT_OUT] = {"--out", ARGUMENT_TEXT, &e->folder, 0, "folder for the results, made if needed (out)"},
        [EXPERIMENT_LR_SGD] = {"--lr-sgd", ARGUMENT_REAL, &e->rates[SGD], 0, "learning rate of SGD (the recipe's)"},
        [EXPERIMENT_LR_ADAM] = {"--lr-adam", ARGUMENT_REAL, &e->rates[ADAM], 0, "learning rate of Adam (the recipe's)"},
        [EXPERIMENT_BATCH] = {"--batch", ARGUMENT_COUNT, &e->batch, UINT32_MAX, "prompts of a training batch (the recipe's)"},
        [EXPERIMENT_QUICK] = {"--quick", ARGUMENT_FLAG, &e->quick, 0, "a small job where not given otherwise"},
    };
    memcpy(table, rows, sizeof rows);
}

static uint64_t choose(uint64_t given, int quick, uint64_t few, uint64_t usual, uint64_t of_recipe) {
    if (given != 0) return given;
    if (quick && few != 0) return few;
    return usual != 0 ? usual : of_recipe;
}

static int choose_rules(experiment *e, unsigned needed) {
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        linattn_optimizer_options *rule = &e->rules[k];
        if (linattn_recipe_optimizer_options(&e->recipe, rules[k], rule, sizeof *rule) != LINATTN_OK)
            return complain(EXIT_FAILED, "%s", linattn_last_message());
        if (e->rates[k] != 0) rule->learning_rate = e->rates[k];
        if (isnan(rule->learning_rate) && (needed >> k & 1) != 0)
            return complain(EXIT_USAGE, "recipe %s has no tuned learning rate for %s: give %s X", e->recipe.name,
                            experiment_optimizers[k], rate_options[k]);
    }
    return 0;
}

int experiment_choose(experiment *e, const experiment_defaults *defaults, unsigned needed) {
    e->recipe.struct_size = sizeof e->recipe;
    if (linattn_recipe_find(e->recipe_name, &e->recipe) != LINATTN_OK)
        return complain(EXIT_USAGE, "--recipe: %s", linattn_last_message());
    e->seeds = choose(e->seeds, e->quick, defaults->quick_seeds, defaults->seeds, e->recipe.seeds);
    e->recipe.steps = choose(e->steps, e->quick, defaults->quick_steps, defaults->steps, e->recipe.steps);
    if (e->batch != 0) e->recipe.prompts = (size_t)e->batch;
    snprintf(e->name, sizeof e->name, "%s_%s", defaults->program, e->recipe.name);
    if (linattn_recipe_sampler_options(&e->recipe, &e->data, sizeof e->data) != LINATTN_OK)
        return complain(EXIT_FAILED, "%s", linattn_last_message());
    return choose_rules(e, needed);
}

int experiment_build(experiment *e) {
    linattn_model_options shape;
    int status = linattn_recipe_model_options(&e->recipe, &shape, sizeof shape);
    shape.ff_hidden = (size_t)e->ff_hidden;
    if (status == LINATTN_OK) status = linattn_model_create(&e->model, &shape);
    linattn_sampler_options evaluation = e->data;
    evaluation.stream = LINATTN_STREAM_EVALUATION;
    evaluation.seed = EXPERIMENT_EVALUATION_SEED;
    if (status == LINATTN_OK) status = linattn_sampler_create(&e->evaluation, &evaluation);
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

int experiment_make(experiment *e, const experiment_defaults *defaults, unsigned needed) {
    const int status = experiment_choose(e, defaults, needed);
    return status == 0 ? experiment_build(e) : status;
}

void experiment_forget(experiment *e) {
    linattn_sampler_destroy(e->evaluation);
    linattn_model_destroy(e->model);
}

int experiment_run(const experiment *e, int (*work)(void *user), void *user) {
    int status = output_folder(e->folder);
    if (status == 0) status = runs_catch_interrupt();
    if (status == 0) status = work(user);
    if (runs_interrupted()) status = complain(EXIT_INTERRUPTED, "interrupted; no file is left half written");
    runs_release_interrupt();
    return status;
}

void experiment_describe(const experiment *e, char *text, size_t size) {
    snprintf(text, size, "%s: L = %zu, d = %zu, n = %zu", e->recipe.name, e->recipe.layers, e->recipe.dim, e->recipe.context);
}

int experiment_open(const experiment *e, const char *ending, const char *header, output *file) {
    char *path = output_path(e->folder, e->name, ending);
    const int status = path == NULL ? EXIT_FAILED : output_open(file, path);
    free(path);
    if (status == 0) output_text(file, header);
    return status;
}

void experiment_row(const experiment *e, output *file, size_t optimizer, uint64_t seed) {
    output_text(file, e->recipe.name);
    output_text(file, ",");
    if (optimizer < OPTIMIZERS) {
        output_text(file, experiment_optimizers[optimizer]);
        output_text(file, ",");
    }
    output_count(file, seed);
}

size_t experiment_optimizer(const char *text) {
    for (size_t k = 0; k < OPTIMIZERS; k++)
        if (strcasecmp(text, experiment_optimizers[k]) == 0) return k;
    complain(EXIT_USAGE, "--optimizer is \"%.60s\"; allowed: sgd or adam", text);
    return OPTIMIZERS;
}
