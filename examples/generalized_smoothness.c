/* generalized_smoothness: does the loss curve more where its gradient is larger?
 *
 * Follows a run step by step and sets the curvature along each step, u^T H u, against the norm of the gradient, both on one
 * evaluation batch; and the Hessian's spectral norm at some steps. Fits a line through the logarithms and the (L0, L1) line of
 * Zhang et al. 2020, with intervals by a block bootstrap, as neighbouring steps are alike. */
#include "common/complain.h"
#include "common/plot.h"
#include "common/runs.h"
#include "common/smoothness.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPECTRAL_STRIDE = 20, BLOCK = 50, SPECTRAL_BLOCK = 5 /* spectral norms are rarer */ };

enum { ALONG, SPECTRAL, FITS };

typedef struct study {
    experiment e;
    uint64_t eval_prompts;
    const char *optimizer_name;
    size_t optimizer;
    uint64_t *stops;
    linattn_batch *batch;
    smoothness_plan plan;
    smoothness_curve *curves; /* (seeds) */
} study;

static int read_settings(study *s, int argc, char **argv) {
    static const experiment_defaults defaults = {
        .program = "generalized_smoothness", .seeds = 1, .steps = 2000, .quick_steps = 300};
    argument table[EXPERIMENT_ARGUMENTS + 2];
    *s = (study){.eval_prompts = 1000, .optimizer_name = "adam"};
    experiment_begin(&s->e, table);
    table[EXPERIMENT_SEEDS].help = "runs, seeds 0, 1, ... (1)";
    table[EXPERIMENT_STEPS].help = "steps of a run (2000); all but the last are measured";
    table[EXPERIMENT_QUICK].help = "300 steps where not given";
    table[EXPERIMENT_ARGUMENTS] = (argument){"--optimizer", ARGUMENT_TEXT, &s->optimizer_name, 0, "sgd or adam (adam)"};
    table[EXPERIMENT_ARGUMENTS + 1] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the evaluation batch (1000)"};
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Smoothness against gradient norm along a run; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    s->optimizer = experiment_optimizer(s->optimizer_name);
    if (s->optimizer == OPTIMIZERS) return EXIT_USAGE;
    const int made = experiment_make(&s->e, &defaults, 1u << s->optimizer);
    if (made != 0) return made;
    if (s->e.recipe.steps < 4) return complain(EXIT_USAGE, "--steps is %" PRIu64 "; allowed: 4 or more", s->e.recipe.steps);
    if (s->optimizer != ADAM) snprintf(s->e.name, sizeof s->e.name, "generalized_smoothness_%s_sgd", s->e.recipe.name);
    return ARGUMENTS_GO_ON;
}

static int make_plan(study *s) {
    s->plan.path.experiment = &s->e;
    s->plan.path.with_next = 1;
    s->plan.path.stops = s->stops = path_stops(1, s->e.recipe.steps - 2, &s->plan.path.stop_count);
    s->plan.spectral_stride = SPECTRAL_STRIDE;
    s->curves = calloc((size_t)s->e.seeds, sizeof *s->curves);
    if (s->stops == NULL) return EXIT_FAILED;
    if (s->curves == NULL) return complain(EXIT_FAILED, "no memory for the runs");
    if (linattn_batch_create_from_sampler(&s->batch, s->e.evaluation, (size_t)s->eval_prompts, 0) != LINATTN_OK)
        return complain(EXIT_FAILED, "%s", linattn_last_message());
    s->plan.batch = s->batch;
    return 0;
}

static int run_one(size_t index, void *context) {
    study *s = context;
    return smoothness_run(&s->plan, s->optimizer, index, &s->curves[index]);
}

/* The spectral norm is an empty field at the steps where it is not known. */
static int write_csv(const study *s) {
    output file;
    const int status = experiment_open(
        &s->e, ".csv", "recipe,optimizer,seed,step,smoothness,gradient_ratio,gradient_norm,zero_step,spectral_norm\n", &file);
    if (status != 0) return status;
    for (size_t seed = 0; seed < s->e.seeds; seed++)
        for (size_t i = 0; i < s->curves[seed].count; i++) {
            const smoothness_point *point = &s->curves[seed].points[i];
            const double reals[] = {point->smoothness, point->gradient_ratio, point->gradient_norm};
            experiment_row(&s->e, &file, s->optimizer, seed);
            output_text(&file, ",");
            output_count(&file, point->step);
            for (size_t r = 0; r < sizeof reals / sizeof *reals; r++) {
                output_text(&file, ",");
                output_number(&file, reals[r]);
            }
            output_text(&file, isnan(point->smoothness) ? ",1," : ",0,");
            if (!isnan(point->spectral_norm)) output_number(&file, point->spectral_norm);
            output_text(&file, "\n");
        }
    return output_close(&file);
}

/* ---- Results ----------------------------------------------------------------------------------------------------------------- */

/* A run as columns. */
typedef struct columns {
    size_t count[FITS];
    double *norms[FITS], *values[FITS], *steps[FITS]; /* (points) each; of SPECTRAL those where it is known */
    linattn_smoothness fit[FITS];
    int status[FITS]; /* of the fit */
} columns;

static void fill_columns(const smoothness_curve *curve, columns *c) {
    static const size_t blocks[FITS] = {BLOCK, SPECTRAL_BLOCK};
    c->count[ALONG] = c->count[SPECTRAL] = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const smoothness_point *point = &curve->points[i];
        const double values[FITS] = {point->smoothness, point->spectral_norm};
        for (size_t f = 0; f < FITS; f++) {
            if (f == SPECTRAL && isnan(values[f])) continue;
            c->norms[f][c->count[f]] = point->gradient_norm;
            c->values[f][c->count[f]] = values[f];
            c->steps[f][c->count[f]++] = (double)point->step;
        }
    }
    for (size_t f = 0; f < FITS; f++) {
        c->fit[f] = (linattn_smoothness){.struct_size = sizeof c->fit[f]};
        c->status[f] = linattn_smoothness_fit(c->norms[f], c->values[f], c->count[f], blocks[f], 0.95, NULL, &c->fit[f]);
    }
}

/* A row for each seed and fit: what the table says. */
static int write_fits(const study *s, columns *c) {
    output file;
    const int status = experiment_open(&s->e, "_fits.csv",
                                       "recipe,optimizer,seed,fit,slope,slope_low,slope_high,correlation,l0,l0_low,l0_high,l1,"
                                       "l1_low,l1_high,points,not_positive\n",
                                       &file);
    if (status != 0) return status;
    for (uint64_t seed = 0; seed < s->e.seeds; seed++) {
        fill_columns(&s->curves[seed], c);
        for (size_t f = 0; f < FITS; f++) {
            const linattn_smoothness *fit = &c->fit[f];
            const double numbers[] = {fit->slope,  fit->slope_low, fit->slope_high,    fit->correlation,
                                      fit->l0,     fit->l0_low,    fit->l0_high,       fit->l1,
                                      fit->l1_low, fit->l1_high,   (double)fit->count, (double)fit->nonpositive};
            if (c->status[f] != LINATTN_OK) continue;
            experiment_row(&s->e, &file, s->optimizer, seed);
            output_text(&file, f == ALONG ? ",along_steps" : ",spectral_norm");
            output_numbers(&file, numbers, sizeof numbers / sizeof *numbers);
        }
    }
    return output_close(&file);
}

static void print_interval(double middle, double low, double high, int width) {
    char text[64];
    if (isnan(low))
        snprintf(text, sizeof text, "%.3g", middle);
    else
        snprintf(text, sizeof text, "%.3g [%.3g, %.3g]", middle, low, high);
    printf(" %-*s", width, text);
}

static void print_fit(uint64_t seed, const columns *c, size_t f) {
    const linattn_smoothness *fit = &c->fit[f];
    printf("%-5" PRIu64 " %-14s", seed, f == ALONG ? "along steps" : "spectral norm");
    if (c->status[f] != LINATTN_OK) {
        printf(" no fit: too few points, or gradients that do not vary\n");
        return;
    }
    print_interval(fit->slope, fit->slope_low, fit->slope_high, 22);
    printf(" %-7.3f", fit->correlation);
    print_interval(fit->l0, fit->l0_low, fit->l0_high, 24);
    print_interval(fit->l1, fit->l1_low, fit->l1_high, 24);
    printf(" %-6zu %-5zu %zu\n", fit->count, fit->zero_steps, fit->nonpositive);
}

static int draw_picture(const study *s, const columns *c) {
    const linattn_smoothness *fit = &c->fit[ALONG];
    double line_x[2] = {INFINITY, 0}, line_y[2];
    char title[160], caption[200], recipe[120];
    for (size_t i = 0; i < c->count[ALONG]; i++) {
        line_x[0] = fmin(line_x[0], c->norms[ALONG][i]);
        line_x[1] = fmax(line_x[1], c->norms[ALONG][i]);
    }
    const int line = c->status[ALONG] == LINATTN_OK && isfinite(fit->slope) && line_x[0] > 0;
    for (size_t i = 0; i < 2; i++) line_y[i] = exp(fit->intercept + fit->slope * log(line_x[i]));
    const plot_series series[] = {
        {.kind = PLOT_DOTS,
         .label = "spectral norm",
         .colour = "#999999",
         .size = 0.9,
         .count = c->count[SPECTRAL],
         .x = c->norms[SPECTRAL],
         .y = c->values[SPECTRAL]},
        {.kind = PLOT_DOTS,
         .label = "along the step, uᵀHu",
         .size = 0.6,
         .colour = "#1f77b4",
         .count = c->count[ALONG],
         .x = c->norms[ALONG],
         .y = c->values[ALONG],
         .shade = c->steps[ALONG]},
        {.kind = PLOT_CURVE, .label = "line through uᵀHu", .colour = "#d62728", .count = 2, .x = line_x, .y = line_y}};
    const plot_panel panel = {.x_label = "gradient norm",
                              .y_label = "smoothness",
                              .series = series,
                              .count = line ? 3 : 2,
                              .shade_label = "step",
                              .log_x = 1,
                              .log_y = 1};
    experiment_describe(&s->e, recipe, sizeof recipe);
    snprintf(title, sizeof title, "Smoothness against gradient norm, %s", recipe);
    snprintf(caption, sizeof caption,
             "%s, seed 0, steps 0 to %" PRIu64 ", on one batch of %" PRIu64 " prompts; slope %.2f, %zu not above 0",
             experiment_optimizers[s->optimizer], s->stops[s->plan.path.stop_count - 1], s->eval_prompts, fit->slope,
             fit->nonpositive);
    const plot picture = {title, caption, &panel, 1, NULL};
    return plot_write(&picture, s->e.folder, s->e.name);
}

static int show(const study *s, double seconds) {
    const size_t points = s->plan.path.stop_count;
    double *room = calloc(3 * FITS * points, sizeof *room);
    columns c;
    char recipe[120];
    if (room == NULL) return complain(EXIT_FAILED, "no memory for the table");
    for (size_t f = 0; f < FITS; f++) {
        c.norms[f] = room + 3 * f * points;
        c.values[f] = c.norms[f] + points;
        c.steps[f] = c.values[f] + points;
    }
    experiment_describe(&s->e, recipe, sizeof recipe);
    printf("%s; smoothness against gradient norm along %s, %zu points, on %" PRIu64 " prompts\n\n", recipe,
           experiment_optimizers[s->optimizer], points, s->eval_prompts);
    printf("%-5s %-14s %-22s %-7s %-24s %-24s %-6s %-5s %s\n", "seed", "smoothness", "slope of logs", "corr.", "L0", "L1", "points",
           "zero", "not above 0");
    for (uint64_t seed = 0; seed < s->e.seeds; seed++) {
        fill_columns(&s->curves[seed], &c);
        for (size_t f = 0; f < FITS; f++) print_fit(seed, &c, f);
        if (s->curves[seed].end.diverged)
            printf("%-5" PRIu64 " diverged at step %" PRIu64 "; this is what there was before\n", seed,
                   s->curves[seed].end.diverged_at);
    }
    printf("\nIntervals: 95%%, moving-block bootstrap, blocks of %d points (spectral norm: %d points, %d steps apart).\n"
           "\"zero\": steps without a direction, in no fit. \"not above 0\": in the (L0, L1) line, not in the logarithmic one.\n"
           "Took %.1f s. Files: %s/%s.*\n",
           BLOCK, SPECTRAL_BLOCK, SPECTRAL_STRIDE, seconds, s->e.folder, s->e.name);
    int status = write_fits(s, &c);
    fill_columns(&s->curves[0], &c);
    if (status == 0 && c.count[ALONG] > 1) status = draw_picture(s, &c);
    free(room);
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout))) status = complain(EXIT_FAILED, "standard output cannot be written");
    return status;
}

/* ---- The job ----------------------------------------------------------------------------------------------------------------- */

static int work(void *user) {
    study *s = user;
    const size_t runs = (size_t)s->e.seeds;
    progress bar;
    int status = make_plan(s);
    if (status != 0) return status;
    progress_begin(&bar, runs * path_work(&s->plan.path));
    s->plan.path.bar = &bar;
    const double started = progress_clock();
    status = runs_execute(runs, (size_t)s->e.threads, run_one, s);
    progress_end(&bar);
    const double seconds = progress_clock() - started;
    if (status == 0) status = write_csv(s);
    if (status == 0) status = show(s, seconds);
    return status;
}

int main(int argc, char **argv) {
    study s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    for (size_t i = 0; s.curves != NULL && i < s.e.seeds; i++) smoothness_forget(&s.curves[i]);
    free(s.curves);
    free(s.stops);
    linattn_batch_destroy(s.batch);
    experiment_forget(&s.e);
    return status;
}
