/* prompt_case.h: the systems of prompt attention that the prompt_ programs look at, and what those programs are told. */
#ifndef EXAMPLES_PROMPT_CASE_H
#define EXAMPLES_PROMPT_CASE_H

#include "arguments.h"
#include "output.h"
#include <linattn/linattn.h>

/* Sizes and tokens: a recipe of these programs. */
typedef struct prompt_case {
    const char *name;
    size_t examples;
    size_t tokens;
    size_t dim;
    int32_t token_kind; /* enum linattn_prompt_tokens */
} prompt_case;

enum { UNDER5, UNDER20, OVER, OVER_GAUSSIAN, PROMPT_CASES };

extern const prompt_case prompt_cases[PROMPT_CASES];

/* How the teacher's attention is made sparse, and linear attention. */
enum { SCALED, LOG_UNIFORM, ONE_ACTIVE, HALF_ACTIVE, LINEAR, PROMPT_PROFILES };

extern const char *const prompt_profiles[PROMPT_PROFILES]; /* as in the files: "scaled", ..., "linear" */
extern const char *const prompt_colours[PROMPT_PROFILES];

typedef struct prompt_system {
    const prompt_case *sizes;
    size_t profile;
    double sparsity;
    double temperature;
    uint64_t seed;
} prompt_system;

/* Draws a system; linear attention has the teacher of SCALED. Returns a status of the library. */
int prompt_system_create(linattn_prompt **out, const prompt_system *system);

/* *step = 1/L, L the larger one of the largest eigenvalues of (1/N) G^T G at 0 and at the teacher (d). Returns a status of the
 * library. */
int prompt_step(const linattn_prompt *prompt, const double *teacher, double *step);

/* The rows of the options that are the same everywhere. */
enum { PROMPT_RECIPE, PROMPT_SEEDS, PROMPT_THREADS, PROMPT_OUT, PROMPT_QUICK, PROMPT_ARGUMENTS };

typedef struct prompt_settings {
    const char *recipe; /* NULL: all that the program is for */
    uint64_t seeds;
    uint64_t threads;
    const char *folder;
    int quick;
    size_t chosen[PROMPT_CASES]; /* (chosen_count), indices of prompt_cases */
    size_t chosen_count;
    char recipes[120]; /* text of --help */
    char name[96];     /* of the files: <program>, or <program>_<recipe> */
} prompt_settings;

/* Sets the defaults and fills the first PROMPT_ARGUMENTS rows of a table of options. known: bit k is set when the program is for
 * case k. */
void prompt_settings_begin(prompt_settings *s, argument *table, unsigned known);

/* Finds the recipes; seeds as given, or few with --quick, or usual. Returns ARGUMENTS_GO_ON, or EXIT_USAGE after a complaint. */
int prompt_settings_choose(prompt_settings *s, const char *program, unsigned known, uint64_t usual, uint64_t few);

/* Sees to the folder, then calls work(user) with SIGINT caught. Returns what the program is to return. */
int prompt_settings_run(const prompt_settings *s, int (*work)(void *user), void *user);

/* Begins <folder>/<name><ending> with its header line. Returns 0, or EXIT_FAILED after a complaint. */
int prompt_open(const prompt_settings *s, const char *ending, const char *header, output *file);

/* "under5: N = 200, n = 10, d = 5". */
void prompt_describe(const prompt_case *sizes, char *text, size_t size);

/* Each number after a comma; one that is not finite leaves its cell empty. */
void prompt_cells(output *file, const double *numbers, size_t count);

#endif
