#include "prompt_case.h"

#include "complain.h"
#include "runs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* d >= n N in the last two: whatever the labels are, some p has loss 0. */
const prompt_case prompt_cases[PROMPT_CASES] = {
    [UNDER5] = {"under5", 200, 10, 5, LINATTN_PROMPT_GAUSSIAN},
    [UNDER20] = {"under20", 200, 10, 20, LINATTN_PROMPT_GAUSSIAN},
    [OVER] = {"over", 10, 5, 50, LINATTN_PROMPT_ORTHONORMAL},
    [OVER_GAUSSIAN] = {"over_gaussian", 10, 5, 100, LINATTN_PROMPT_GAUSSIAN},
};

const char *const prompt_profiles[PROMPT_PROFILES] = {"scaled", "log-uniform", "one active", "half active", "linear"};
const char *const prompt_colours[PROMPT_PROFILES] = {"#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#000000"};

int prompt_system_create(linattn_prompt **out, const prompt_system *system) {
    static const int32_t profiles[PROMPT_PROFILES] = {LINATTN_PROMPT_SCALED, LINATTN_PROMPT_LOG_UNIFORM, LINATTN_PROMPT_ACTIVE,
                                                      LINATTN_PROMPT_ACTIVE, LINATTN_PROMPT_SCALED};
    linattn_prompt_options options;
    const int status = linattn_prompt_options_init(&options, sizeof options);
    if (status != LINATTN_OK) return status;
    options.examples = system->sizes->examples;
    options.tokens = system->sizes->tokens;
    options.dim = system->sizes->dim;
    options.token_kind = system->sizes->token_kind;
    options.profile = profiles[system->profile];
    options.active = system->profile == HALF_ACTIVE ? options.tokens / 2 : 1;
    options.attention = system->profile == LINEAR ? LINATTN_PROMPT_LINEAR : LINATTN_PROMPT_SOFTMAX;
    options.sparsity = system->sparsity;
    options.temperature = system->temperature;
    options.seed = system->seed;
    return linattn_prompt_create(out, &options);
}

int prompt_step(const linattn_prompt *prompt, const double *teacher, double *step) {
    linattn_prompt_condition c = {.struct_size = sizeof c};
    double *origin = calloc(linattn_prompt_parameter_count(prompt), sizeof *origin);
    int status = origin == NULL ? LINATTN_ENOMEM : LINATTN_OK;
    if (status == LINATTN_OK) status = linattn_prompt_measure_condition(prompt, origin, NULL, &c);
    const double at_origin = c.largest;
    if (status == LINATTN_OK) status = linattn_prompt_measure_condition(prompt, teacher, NULL, &c);
    *step = 1 / fmax(at_origin, c.largest);
    free(origin);
    return status;
}

static void list_recipes(char *text, size_t size, unsigned known) {
    size_t length = (size_t)snprintf(text, size, "which systems (all); known:");
    for (size_t k = 0; k < PROMPT_CASES && length < size; k++)
        if (known >> k & 1) length += (size_t)snprintf(text + length, size - length, " %s", prompt_cases[k].name);
}

void prompt_settings_begin(prompt_settings *s, argument *table, unsigned known) {
    *s = (prompt_settings){.threads = runs_processors(), .folder = "out"};
    list_recipes(s->recipes, sizeof s->recipes, known);
    const argument rows[PROMPT_ARGUMENTS] = {
        [PROMPT_RECIPE] = {"--recipe", ARGUMENT_TEXT, &s->recipe, 0, s->recipes},
        [PROMPT_SEEDS] = {"--seeds", ARGUMENT_COUNT, &s->seeds, 10000, "systems of each kind, seeds 0, 1, ..."},
        [PROMPT_THREADS] = {"--threads", ARGUMENT_COUNT, &s->threads, LINATTN_MAX_THREADS, "systems at a time (one a processor)"},
        [PROMPT_OUT] = {"--out", ARGUMENT_TEXT, &s->folder, 0, "folder for the results, made if needed (out)"},
        [PROMPT_QUICK] = {"--quick", ARGUMENT_FLAG, &s->quick, 0, "a small job where not given otherwise"},
    };
    memcpy(table, rows, sizeof rows);
}

int prompt_settings_choose(prompt_settings *s, const char *program, unsigned known, uint64_t usual, uint64_t few) {
    if (s->seeds == 0) s->seeds = s->quick ? few : usual;
    for (size_t k = 0; k < PROMPT_CASES; k++)
        if ((known >> k & 1) != 0 && (s->recipe == NULL || strcmp(s->recipe, prompt_cases[k].name) == 0))
            s->chosen[s->chosen_count++] = k;
    if (s->chosen_count == 0) return complain(EXIT_USAGE, "--recipe is \"%.60s\"; %s", s->recipe, strstr(s->recipes, "known"));
    if (s->recipe == NULL)
        snprintf(s->name, sizeof s->name, "%s", program);
    else
        snprintf(s->name, sizeof s->name, "%s_%s", program, s->recipe);
    return ARGUMENTS_GO_ON;
}

int prompt_settings_run(const prompt_settings *s, int (*work)(void *user), void *user) {
    int status = output_folder(s->folder);
    if (status == 0) status = runs_catch_interrupt();
    if (status == 0) status = work(user);
    if (runs_interrupted()) status = complain(EXIT_INTERRUPTED, "interrupted; no file is left half written");
    runs_release_interrupt();
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout))) return complain(EXIT_FAILED, "standard output cannot be written");
    return status;
}

int prompt_open(const prompt_settings *s, const char *ending, const char *header, output *file) {
    char *path = output_path(s->folder, s->name, ending);
    const int status = path == NULL ? EXIT_FAILED : output_open(file, path);
    free(path);
    if (status == 0) output_text(file, header);
    return status;
}

void prompt_describe(const prompt_case *sizes, char *text, size_t size) {
    snprintf(text, size, "%s: N = %zu, n = %zu, d = %zu", sizes->name, sizes->examples, sizes->tokens, sizes->dim);
}

void prompt_cells(output *file, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        output_text(file, ",");
        if (isfinite(numbers[i])) output_number(file, numbers[i]);
    }
}
