/* adam_vs_sgd: does Adam beat SGD on the smallest transformer?
 *
 * Trains a recipe with both optimizers over several seeds, each run on one thread and several runs at a time. SGD and Adam of a
 * seed begin at the same parameters and see the same batches; one evaluation batch judges all runs. Out come a table, a CSV file
 * and a picture in the form of the paper: log loss against step, mean over seeds and a band. */
#include "common/arguments.h"
#include "common/complain.h"
#include "common/output.h"
#include "common/plot.h"
#include "common/progress.h"
#include "common/runs.h"
#include "common/summary.h"
#include "common/training.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SGD, ADAM, OPTIMIZERS };

static const struct {
    const char *name;
    const char *option;
    int32_t rule;
    const char *colour;
} optimizers[OPTIMIZERS] = {{"SGD", "--lr-sgd", LINATTN_RULE_SGD, "#000000"}, {"Adam", "--lr-adam", LINATTN_RULE_ADAM, "#d62728"}};

enum {
    STRIDE = 50,             /* steps between evaluations */
    MILESTONE = 2000,        /* a step whose loss is printed beside the last one */
    EVALUATION_SEED = 20231, /* of the batch that judges every run, whatever its own seed */
    MEDIAN_PROMPTS = 10000   /* the median over prompts is taken over this many of them */
};

typedef struct settings {
    linattn_recipe recipe;
    uint64_t seeds;
    uint64_t threads;
    uint64_t eval_prompts;
    const char *folder;
    char name[64]; /* of the files */
    linattn_optimizer_options rules[OPTIMIZERS];
} settings;

typedef struct comparison {
    const settings *chosen;
    training_plan plan;
    training_curve *curves; /* (seeds, OPTIMIZERS) */
} comparison;

static const training_curve *curve_of(const comparison *c, size_t seed, size_t optimizer) {
    return &c->curves[seed * OPTIMIZERS + optimizer];
}

/* For --help. */
static void list_recipes(char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "which experiment (setting1); known:");
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    for (size_t i = 0; linattn_recipe_get(i, &recipe) == LINATTN_OK && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, " %s", recipe.name);
}

/* The recipe's values, then what --quick changes, then what was asked for. */
static int read_settings(settings *s, int argc, char **argv) {
    const char *recipe = "setting1";
    uint64_t seeds = 0, steps = 0, batch = 0, eval_prompts = 0;
    double rates[OPTIMIZERS] = {0, 0};
    int quick = 0;
    char recipes[400];
    list_recipes(recipes, sizeof recipes);
    *s = (settings){.threads = runs_processors(), .folder = "out"};
    const argument table[] = {
        {"--recipe", ARGUMENT_TEXT, &recipe, 0, recipes},
        {"--seeds", ARGUMENT_COUNT, &seeds, 10000, "runs of each optimizer, seeds 0, 1, ... (the recipe's)"},
        {"--steps", ARGUMENT_COUNT, &steps, 1000000000, "steps of each run (the recipe's)"},
        {"--threads", ARGUMENT_COUNT, &s->threads, LINATTN_MAX_THREADS, "runs at a time (one a processor)"},
        {"--out", ARGUMENT_TEXT, &s->folder, 0, "folder for the results, made if needed (out)"},
        {"--lr-sgd", ARGUMENT_REAL, &rates[SGD], 0, "learning rate of SGD (the recipe's)"},
        {"--lr-adam", ARGUMENT_REAL, &rates[ADAM], 0, "learning rate of Adam (the recipe's)"},
        {"--batch", ARGUMENT_COUNT, &batch, UINT32_MAX, "prompts of a training batch (the recipe's)"},
        {"--eval-prompts", ARGUMENT_COUNT, &eval_prompts, UINT32_MAX, "prompts of the evaluation batch (100000)"},
        {"--quick", ARGUMENT_FLAG, &quick, 0, "2 seeds, 600 steps and 10000 evaluation prompts where not given"},
    };
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Trains a linear transformer with SGD and with Adam; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;

    s->recipe.struct_size = sizeof s->recipe;
    if (linattn_recipe_find(recipe, &s->recipe) != LINATTN_OK) return complain(EXIT_USAGE, "--recipe: %s", linattn_last_message());
    s->seeds = seeds != 0 ? seeds : quick ? 2 : s->recipe.seeds;
    s->recipe.steps = steps != 0 ? steps : quick ? 600 : s->recipe.steps;
    s->eval_prompts = eval_prompts != 0 ? eval_prompts : quick ? 10000 : 100000;
    if (batch != 0) s->recipe.prompts = (size_t)batch;
    snprintf(s->name, sizeof s->name, "adam_vs_sgd_%s", s->recipe.name);
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        linattn_optimizer_options *rule = &s->rules[k];
        if (linattn_recipe_optimizer_options(&s->recipe, optimizers[k].rule, rule, sizeof *rule) != LINATTN_OK)
            return complain(EXIT_FAILED, "%s", linattn_last_message());
        if (rates[k] != 0) rule->learning_rate = rates[k];
        if (isnan(rule->learning_rate))
            return complain(EXIT_USAGE, "recipe %s has no tuned learning rate for %s: give %s X", s->recipe.name,
                            optimizers[k].name, optimizers[k].option);
    }
    return ARGUMENTS_GO_ON;
}

/* A few prompts decide the mean of the squared error: covariates are heavy-tailed, or contexts so short that the normal ones'
 * second moments are (setting 2 late in training: the loss on 100000 prompts is thousands of times that on most batches of 1000).
 * */
static int heavy_tailed(const settings *s) {
    return s->recipe.covariates == LINATTN_COVARIATES_GAMMA || s->recipe.context <= s->recipe.dim;
}

/* The immutable things that all runs share. */
typedef struct shared {
    linattn_model *model;
    linattn_sampler *evaluation;
    linattn_batch *median_over; /* the first prompts of the evaluation batch; NULL when the mean is good enough */
} shared;

static void destroy_shared(shared *all) {
    linattn_batch_destroy(all->median_over);
    linattn_sampler_destroy(all->evaluation);
    linattn_model_destroy(all->model);
}

static int make_plan(training_plan *plan, shared *all, const settings *s) {
    linattn_model_options shape;
    const size_t few = s->eval_prompts < MEDIAN_PROMPTS ? (size_t)s->eval_prompts : MEDIAN_PROMPTS;
    int status = linattn_recipe_model_options(&s->recipe, &shape, sizeof shape);
    if (status == LINATTN_OK) status = linattn_recipe_sampler_options(&s->recipe, &plan->data, sizeof plan->data);
    if (status == LINATTN_OK) status = linattn_model_create(&all->model, &shape);
    linattn_sampler_options evaluation = plan->data;
    evaluation.stream = LINATTN_STREAM_EVALUATION;
    evaluation.seed = EVALUATION_SEED;
    if (status == LINATTN_OK) status = linattn_sampler_create(&all->evaluation, &evaluation);
    if (status == LINATTN_OK && heavy_tailed(s))
        status = linattn_batch_create_from_sampler(&all->median_over, all->evaluation, few, 0);
    if (status != LINATTN_OK) return complain(EXIT_FAILED, "%s", linattn_last_message());
    plan->model = all->model;
    plan->evaluation = all->evaluation;
    plan->median_over = all->median_over;
    plan->prompts = s->recipe.prompts;
    plan->eval_prompts = (size_t)s->eval_prompts;
    plan->steps = s->recipe.steps;
    plan->stride = STRIDE;
    return 0;
}

static int run_one(size_t index, void *context) {
    comparison *c = context;
    return training_run(&c->plan, &c->chosen->rules[index % OPTIMIZERS], index / OPTIMIZERS, &c->curves[index]);
}

static int write_csv(const comparison *c, int medians) {
    const settings *s = c->chosen;
    output file;
    char *path = output_path(s->folder, s->name, medians ? "_medians.csv" : ".csv");
    int status = path == NULL ? EXIT_FAILED : output_open(&file, path);
    free(path);
    if (status != 0) return status;
    output_text(&file, medians ? "recipe,optimizer,seed,step,median_error\n"
                               : "recipe,optimizer,seed,step,train_loss,eval_loss,grad_norm,clipped,learning_rate\n");
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < s->seeds; seed++) {
            const training_curve *curve = curve_of(c, seed, k);
            for (size_t i = 0; i < curve->count; i++) {
                const training_point *point = &curve->points[i];
                const double reals[] = {point->train_loss, point->eval_loss, point->gradient_norm, (double)point->clipped,
                                        point->learning_rate};
                output_text(&file, s->recipe.name);
                output_text(&file, ",");
                output_text(&file, optimizers[k].name);
                output_text(&file, ",");
                output_count(&file, seed);
                output_text(&file, ",");
                output_count(&file, point->step);
                for (size_t r = 0; r < (medians ? 1 : sizeof reals / sizeof *reals); r++) {
                    output_text(&file, ",");
                    output_number(&file, medians ? point->eval_median : reals[r]);
                }
                output_text(&file, "\n");
            }
        }
    return output_close(&file);
}

/* log10 of the evaluation loss (or of its median over prompts) at a step, of the runs of an optimizer that did not diverge:
 * out (seeds). Returns how many. */
static size_t logs_at(const comparison *c, size_t optimizer, uint64_t step, int medians, double *out) {
    size_t count = 0;
    for (size_t seed = 0; seed < c->chosen->seeds; seed++) {
        const training_curve *curve = curve_of(c, seed, optimizer);
        const training_point *point = curve->diverged ? NULL : training_at(curve, step);
        if (point != NULL) out[count++] = log10(medians ? point->eval_median : point->eval_loss);
    }
    return count;
}

static size_t survivors(const comparison *c, size_t optimizer, const training_curve **any) {
    size_t count = 0;
    for (size_t seed = 0; seed < c->chosen->seeds; seed++)
        if (!curve_of(c, seed, optimizer)->diverged) {
            count++;
            *any = curve_of(c, seed, optimizer);
        }
    return count;
}

enum { X, MIDDLE, LOW, HIGH, COLUMNS };

/* Mean over seeds of the log loss, or of the log median error, with the band mean +- sd/4. columns: room for (COLUMNS, points of
 * a run); logs: (seeds). */
static plot_curve make_curve(const comparison *c, size_t optimizer, int medians, char label[80], double *columns, double *logs) {
    const training_curve *any = NULL;
    const size_t seeds = c->chosen->seeds, finished = survivors(c, optimizer, &any), count = any == NULL ? 0 : any->count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t step = any->points[i].step;
        const size_t runs = logs_at(c, optimizer, step, medians, logs);
        const double spread = runs < 2 ? 0 : summary_sd(logs, runs) / 4;
        const double middle = summary_mean(logs, runs);
        columns[X * count + i] = (double)step;
        columns[MIDDLE * count + i] = pow(10, middle);
        columns[LOW * count + i] = pow(10, middle - spread);
        columns[HIGH * count + i] = pow(10, middle + spread);
    }
    snprintf(label, 80, "%s%s", optimizers[optimizer].name, medians ? ", median over prompts" : "");
    if (finished < seeds && !medians)
        snprintf(label, 80, "%s (%zu of %zu runs diverged)", optimizers[optimizer].name, seeds - finished, seeds);
    return (plot_curve){.label = label,
                        .colour = optimizers[optimizer].colour,
                        .dashed = medians,
                        .count = count,
                        .x = columns,
                        .middle = columns + MIDDLE * count,
                        .low = seeds < 2 ? NULL : columns + LOW * count,
                        .high = columns + HIGH * count};
}

static int draw_picture(const comparison *c) {
    enum { MOST = 2 * OPTIMIZERS };
    const settings *s = c->chosen;
    const size_t room = COLUMNS * (size_t)(s->recipe.steps / STRIDE + 2);
    const training_curve *any = NULL;
    plot_curve curves[MOST];
    char labels[MOST][80], title[160], caption[200];
    if (survivors(c, SGD, &any) + survivors(c, ADAM, &any) == 0) {
        complain(0, "note: every run diverged, so there is nothing to draw");
        return 0;
    }
    double *columns = calloc(MOST * room, sizeof *columns), *logs = calloc((size_t)s->seeds, sizeof *logs);
    if (columns == NULL || logs == NULL) {
        free(columns);
        free(logs);
        return complain(EXIT_FAILED, "no memory for the picture");
    }
    size_t count = 0;
    for (int medians = 0; medians <= heavy_tailed(s); medians++)
        for (size_t k = 0; k < OPTIMIZERS; k++, count++)
            curves[count] = make_curve(c, k, medians, labels[count], columns + count * room, logs);
    snprintf(title, sizeof title, "Linear transformer, %s: L = %zu, d = %zu, n = %zu", s->recipe.name, s->recipe.layers,
             s->recipe.dim, s->recipe.context);
    snprintf(caption, sizeof caption, "%slog loss over %" PRIu64 " seed%s on %" PRIu64 " prompts%s%s",
             s->seeds > 1 ? "mean of " : "", s->seeds, s->seeds > 1 ? "s" : "", s->eval_prompts,
             s->seeds > 1 ? ", band ± sd/4" : "", heavy_tailed(s) ? "; heavy tails: read the medians" : "");
    const plot picture = {title, caption, "step", "evaluation loss", curves, count, 1};
    const int status = plot_write(&picture, s->folder, s->name);
    free(columns);
    free(logs);
    return status;
}

/* "0.00112  [0.00105, 0.0012]": the mean of the logs and its interval, as losses. */
static void print_loss(const double *logs, size_t count) {
    char text[64] = "-";
    const double mean = summary_mean(logs, count), half = summary_half_width(logs, count, 0.95);
    if (count == 1) snprintf(text, sizeof text, "%.3g", pow(10, mean));
    if (count > 1) snprintf(text, sizeof text, "%.3g [%.3g, %.3g]", pow(10, mean), pow(10, mean - half), pow(10, mean + half));
    printf("  %-32s", text);
}

static void print_row(const comparison *c, size_t k, double *logs) {
    const settings *s = c->chosen;
    const training_curve *any = NULL;
    double seconds = 0;
    for (size_t seed = 0; seed < s->seeds; seed++) seconds += curve_of(c, seed, k)->seconds;
    printf("%-9s  %-8.4g", optimizers[k].name, s->rules[k].learning_rate);
    if (s->recipe.steps > MILESTONE) print_loss(logs, logs_at(c, k, MILESTONE, 0, logs));
    print_loss(logs, logs_at(c, k, s->recipe.steps, 0, logs));
    if (heavy_tailed(s)) print_loss(logs, logs_at(c, k, s->recipe.steps, 1, logs));
    printf("  %8zu  %11.2f\n", (size_t)s->seeds - survivors(c, k, &any), seconds / (double)s->seeds);
}

/* Both optimizers of a seed saw the same batches, so seeds are compared in pairs. */
static void print_ratio(const comparison *c, double *logs) {
    const int medians = heavy_tailed(c->chosen);
    size_t pairs = 0;
    for (size_t seed = 0; seed < c->chosen->seeds; seed++) {
        const training_point *sgd = training_at(curve_of(c, seed, SGD), c->chosen->recipe.steps);
        const training_point *adam = training_at(curve_of(c, seed, ADAM), c->chosen->recipe.steps);
        if (sgd == NULL || adam == NULL) continue;
        logs[pairs++] = medians ? log10(sgd->eval_median / adam->eval_median) : log10(sgd->eval_loss / adam->eval_loss);
    }
    if (pairs == 0) return;
    const double mean = summary_mean(logs, pairs), half = summary_half_width(logs, pairs, 0.95);
    printf("\n%s of SGD over that of Adam: %.3g", medians ? "Median error" : "Final loss", pow(10, mean));
    if (pairs > 1) printf(" [%.3g, %.3g]", pow(10, mean - half), pow(10, mean + half));
    printf(" over %zu seed%s\n", pairs, pairs == 1 ? "" : "s");
}

static void print_diverged(const comparison *c) {
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < c->chosen->seeds; seed++) {
            const training_curve *curve = curve_of(c, seed, k);
            if (curve->diverged)
                printf("%s, seed %zu: diverged at step %" PRIu64 ", left out of the means\n", optimizers[k].name, seed,
                       curve->diverged_at);
        }
}

static int print_table(const comparison *c, double seconds) {
    const settings *s = c->chosen;
    double *logs = calloc((size_t)s->seeds, sizeof *logs);
    if (logs == NULL) return complain(EXIT_FAILED, "no memory for the table");
    char milestone[32];
    snprintf(milestone, sizeof milestone, "loss at step %d", MILESTONE);
    printf("%s: L = %zu, d = %zu, n = %zu, batches of %zu prompts, %" PRIu64 " steps, %" PRIu64 " seed%s, evaluated on %" PRIu64
           " prompts\n\n",
           s->recipe.name, s->recipe.layers, s->recipe.dim, s->recipe.context, s->recipe.prompts, s->recipe.steps, s->seeds,
           s->seeds == 1 ? "" : "s", s->eval_prompts);
    printf("%-9s  %-8s", "optimizer", "rate");
    if (s->recipe.steps > MILESTONE) printf("  %-32s", milestone);
    printf("  %-32s", "final loss");
    if (heavy_tailed(s)) printf("  %-32s", "median error");
    printf("  %8s  %11s\n", "diverged", "seconds/run");
    for (size_t k = 0; k < OPTIMIZERS; k++) print_row(c, k, logs);
    print_ratio(c, logs);
    print_diverged(c);
    free(logs);
    printf("Losses: 10^(mean over seeds of log10 of the evaluation loss), [95%% interval by Student's t on the logs].\n");
    if (heavy_tailed(s))
        printf(
            "The covariates are heavy-tailed: a few prompts decide the loss, and its sample mean is not reliable. Median error:\n"
            "the same for the median over %" PRIu64 " prompts of (prediction - target)^2 at the end.\n",
            s->eval_prompts < MEDIAN_PROMPTS ? s->eval_prompts : MEDIAN_PROMPTS);
    printf("Took %.1f s, up to %" PRIu64 " runs at a time. Files: %s/%s.*\n", seconds, s->threads, s->folder, s->name);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

/* Trains, then writes everything. */
static int compare_optimizers(comparison *c) {
    const settings *s = c->chosen;
    const size_t jobs = OPTIMIZERS * (size_t)s->seeds;
    progress bar;
    progress_begin(&bar, jobs * s->recipe.steps);
    c->plan.bar = &bar;
    const double started = progress_clock();
    int status = runs_execute(jobs, (size_t)s->threads, run_one, c);
    const double seconds = progress_clock() - started;
    progress_end(&bar);
    if (status == 0) status = write_csv(c, 0);
    if (status == 0 && heavy_tailed(s)) status = write_csv(c, 1);
    if (status == 0) status = draw_picture(c);
    if (status == 0) status = print_table(c, seconds);
    return status;
}

int main(int argc, char **argv) {
    settings s;
    int status = read_settings(&s, argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    status = output_folder(s.folder);
    if (status == 0) status = runs_catch_interrupt();
    if (status != 0) return status;

    shared all = {0};
    comparison c = {.chosen = &s};
    c.curves = calloc(OPTIMIZERS * (size_t)s.seeds, sizeof *c.curves);
    if (c.curves == NULL) status = complain(EXIT_FAILED, "no memory for the runs");
    if (status == 0) status = make_plan(&c.plan, &all, &s);
    if (status == 0) status = compare_optimizers(&c);
    if (runs_interrupted()) status = complain(EXIT_INTERRUPTED, "interrupted; no file is left half written");

    for (size_t i = 0; c.curves != NULL && i < OPTIMIZERS * s.seeds; i++) training_forget(&c.curves[i]);
    free(c.curves);
    destroy_shared(&all);
    runs_release_interrupt();
    return status;
}
