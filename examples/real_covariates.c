/* real_covariates: does Adam beat SGD when the covariates are those of a real table?
 *
 * In-context linear regression whose covariates are rows of a CSV file, each column standardised (mean 0, standard deviation 1 over
 * the rows); weights are fresh and normal for each prompt, as in the recipe, of which everything but covariates and dimension is
 * taken. A row is drawn with replacement, so a context may hold one twice. Says how the columns' covariance is conditioned, trains
 * with SGD and with Adam, and writes a table, a CSV file and a picture (common/comparison.h); --tune first looks for the rates. */
#include "common/comparison.h"
#include "common/complain.h"
#include "common/runs.h"
#include "common/table.h"
#include "common/tuning.h"
#include <ctype.h>
#include <inttypes.h>
#include <linattn/linattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    experiment e;
    const char *path;
    uint64_t columns, eval_prompts;
    int tune;
    table from;
    double *covariates; /* (rows, columns): the first columns of the table */
} settings;

static int read_settings(settings *s, int argc, char **argv) {
    static const experiment_defaults defaults = {
        .program = "real_covariates", .seeds = 6, .quick_seeds = 2, .steps = 2000, .quick_steps = 300};
    enum { TABLE, COLUMNS, TUNE, EVAL_PROMPTS, OWN };
    argument rows[EXPERIMENT_ARGUMENTS + OWN], *own = rows + EXPERIMENT_ARGUMENTS;
    *s = (settings){.path = "examples/data/wine.csv"};
    experiment_begin(&s->e, rows);
    own[TABLE] = (argument){"--table", ARGUMENT_TEXT, &s->path, 0, "CSV file, a line of names first (examples/data/wine.csv)"};
    own[COLUMNS] = (argument){"--columns", ARGUMENT_COUNT, &s->columns, LINATTN_MAX_DIM, "its first N columns are used (all)"};
    own[TUNE] = (argument){"--tune", ARGUMENT_FLAG, &s->tune, 0, "look for each optimizer's best rate on other seeds first"};
    own[EVAL_PROMPTS] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the evaluation batch (20000)"};
    rows[EXPERIMENT_RECIPE].help = "what all but the covariates is taken from (setting1); see adam_vs_sgd --help";
    rows[EXPERIMENT_SEEDS].help = "runs of each optimizer, seeds 0, 1, ... (6)";
    rows[EXPERIMENT_STEPS].help = "steps of each run (2000)";
    rows[EXPERIMENT_QUICK].help = "2 seeds, 300 steps and 2000 evaluation prompts where not given";
    const int status =
        arguments_read(rows, sizeof rows / sizeof *rows,
                       "Trains a linear transformer on the rows of a table with SGD and with Adam; writes a table, a "
                       "CSV file and a picture.",
                       argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->eval_prompts == 0) s->eval_prompts = s->e.quick ? 2000 : 20000;
    const int chosen = experiment_choose(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    return chosen == 0 ? ARGUMENTS_GO_ON : chosen;
}

/* "dir/wine.csv" with 13 columns: "wine_d13". */
static void name_after(const char *path, size_t columns, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *stem = slash == NULL ? path : slash + 1;
    char text[12];
    size_t length = 0;
    while (stem[length] != '\0' && stem[length] != '.' && length < sizeof text - 1) {
        text[length] = isalnum((unsigned char)stem[length]) ? stem[length] : '_';
        length++;
    }
    text[length] = '\0';
    snprintf(name, size, "%s_d%zu", length == 0 ? "table" : text, columns);
}

/* The table's first columns in the recipe's place. */
static int use_table(settings *s) {
    int status = table_read(&s->from, s->path);
    if (status != 0) return status;
    if (s->columns == 0) s->columns = s->from.columns;
    if (s->columns > s->from.columns || s->columns > LINATTN_MAX_DIM)
        return complain(EXIT_USAGE, "--columns is %" PRIu64 "; allowed: 1 to %zu, as \"%.200s\" has them", s->columns,
                        s->from.columns < LINATTN_MAX_DIM ? s->from.columns : LINATTN_MAX_DIM, s->path);
    experiment *e = &s->e;
    const size_t d = (size_t)s->columns;
    s->covariates = calloc(s->from.rows * d, sizeof *s->covariates);
    if (s->covariates == NULL) return complain(EXIT_FAILED, "no memory for the covariates");
    for (size_t i = 0; i < s->from.rows; i++)
        memcpy(s->covariates + i * d, s->from.cells + i * s->from.columns, d * sizeof *s->covariates);
    name_after(s->path, d, e->recipe.name, sizeof e->recipe.name);
    snprintf(e->name, sizeof e->name, "real_covariates_%s%s", e->recipe.name, s->tune ? "_tuned" : "");
    e->recipe.dim = e->data.dim = d;
    e->recipe.covariates = e->data.covariates = LINATTN_COVARIATES_TABLE;
    e->data.covariate_table = s->covariates;
    e->data.table_rows = s->from.rows;
    e->data.standardise = 1;
    return experiment_build(e);
}

/* Covariance of columns a and b of x (rows, d), with divisor rows. */
static double covariance(const double *x, size_t rows, size_t d, size_t a, size_t b) {
    double mean_a = 0, mean_b = 0, sum = 0;
    for (size_t i = 0; i < rows; i++) {
        mean_a += x[i * d + a] / (double)rows;
        mean_b += x[i * d + b] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++) sum += (x[i * d + a] - mean_a) * (x[i * d + b] - mean_b) / (double)rows;
    return sum;
}

/* Infinite when columns depend on each other. */
static double condition_number(const linattn_spectrum *of) { return of->zeros > 0 ? INFINITY : of->largest / of->smallest; }

/* The spectra of the columns' covariance, and of their covariance once they are standardised: their correlations. */
static int find_spectra(const settings *s, linattn_spectrum *given, linattn_spectrum *standardised) {
    const size_t d = (size_t)s->columns;
    double *matrix = calloc(2 * d * d, sizeof *matrix), *scaled = matrix + d * d;
    if (matrix == NULL) return complain(EXIT_FAILED, "no memory for the covariance");
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++) matrix[a * d + b] = matrix[b * d + a] = covariance(s->covariates, s->from.rows, d, a, b);
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++) scaled[a * d + b] = matrix[a * d + b] / (sqrt(matrix[a * d + a]) * sqrt(matrix[b * d + b]));
    *given = *standardised = (linattn_spectrum){.struct_size = sizeof *given};
    int status = linattn_matrix_spectrum(matrix, d, NULL, NULL, given);
    if (status == LINATTN_OK) status = linattn_matrix_spectrum(scaled, d, NULL, NULL, standardised);
    free(matrix);
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

static int print_covariates(const settings *s) {
    linattn_spectrum given, standardised;
    const int status = find_spectra(s, &given, &standardised);
    if (status != 0) return status;
    printf("%s: %zu rows; covariates: ", s->path, s->from.rows);
    for (size_t j = 0; j < s->columns; j++) printf("%s%s", j == 0 ? "" : ", ", s->from.names[j]);
    printf("\nCondition number of the columns' covariance: %.4g standardised (eigenvalues %.3g to %.3g), %.4g as they are\n\n",
           condition_number(&standardised), standardised.smallest, standardised.largest, condition_number(&given));
    return 0;
}

/* The rows of a table have outliers, and so have the second moments of short contexts: medians over prompts judge, as in the
 * heavy-tailed recipes of adam_vs_sgd. */
static int work(void *user) {
    settings *s = user;
    const comparison_plan plan = {
        .experiment = &s->e, .subject = "table", .heavy_tails = "Real rows have outliers", .eval_prompts = s->eval_prompts};
    int status = print_covariates(s);
    if (status == 0 && s->tune) status = tuning_choose(&s->e, s->eval_prompts);
    return status == 0 ? comparison_run(&plan) : status;
}

int main(int argc, char **argv) {
    settings s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) {
        status = use_table(&s);
        if (status == 0) status = experiment_run(&s.e, work, &s);
    }
    experiment_forget(&s.e);
    free(s.covariates);
    table_forget(&s.from);
    return status;
}
