/* softmax_vs_linear: is linear attention a fair stand-in for softmax attention, and does it matter how Q is written?
 *
 * Trains a recipe's transformer three times over, with linear attention, with linear attention whose Q is W_Q^T W_K, and with
 * softmax attention, each by SGD and Adam over several seeds, on the same batches. Along every run it measures loss, robust
 * condition numbers, directional smoothness, the stable rank of Q and how concentrated attention is (common/trajectory.h). Out come
 * a table, two CSV files and three pictures. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/runs.h"
#include "common/trajectory.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINEAR, FACTORED, SOFTMAX, VARIANTS };

static const char *const names[VARIANTS] = {"linear", "factored", "softmax"};
static const char *const titles[VARIANTS] = {"linear attention", "linear, Q = W_Q^T W_K", "softmax attention"};

typedef struct settings {
    experiment e;
    experiment of[VARIANTS]; /* the same with each one's model and rates */
    uint64_t eval_prompts, stride;
    linattn_batch *judges, *measured;
    uint64_t *stops;
    size_t stop_count;
    trajectory_plan plans[VARIANTS];
    trajectory *runs; /* (VARIANTS, OPTIMIZERS, seeds) */
    progress bar;
} settings;

enum {
    MEASURED_PROMPTS = 1000, /* as the paper's evaluation batch */
    SERIES = 24              /* most curves of a picture */
};

static int read_settings(settings *s, int argc, char **argv) {
    static const experiment_defaults defaults = {.program = "softmax_vs_linear", .quick_seeds = 2, .quick_steps = 300};
    enum { EVAL_PROMPTS, EVERY, OWN };
    argument table[EXPERIMENT_ARGUMENTS + OWN], *own = table + EXPERIMENT_ARGUMENTS;
    *s = (settings){.stride = 250};
    experiment_begin(&s->e, table);
    own[EVAL_PROMPTS] = (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the loss (20000)"};
    own[EVERY] = (argument){"--stride", ARGUMENT_COUNT, &s->stride, 1000000000, "steps between measurements (250)"};
    table[EXPERIMENT_RECIPE].help = "whose data and sizes are used (setting1); see adam_vs_sgd --help";
    table[EXPERIMENT_LR_SGD].help = "learning rate of SGD for all three (the recipe's; softmax: recipe softmax's)";
    table[EXPERIMENT_LR_ADAM].help = "learning rate of Adam for all three (likewise)";
    table[EXPERIMENT_QUICK].help = "2 seeds, 300 steps and 2000 prompts where not given";
    const int status = arguments_read(table, sizeof table / sizeof *table,
                                      "Trains transformers with linear and with softmax attention and measures them on the way; "
                                      "writes a table, CSV files and pictures.",
                                      argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->eval_prompts == 0) s->eval_prompts = s->e.quick ? 2000 : 20000;
    const int made = experiment_make(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

/* The experiment with another model; softmax takes the rates of its own recipe, whose data are those of setting 1. */
static int make_variant(settings *s, size_t v) {
    linattn_model_options shape;
    linattn_recipe softmax = {.struct_size = sizeof softmax};
    experiment *e = &s->of[v];
    *e = s->e;
    e->model = NULL;
    snprintf(e->recipe.name, sizeof e->recipe.name, "%s", names[v]);
    int status = linattn_recipe_model_options(&e->recipe, &shape, sizeof shape);
    if (v == FACTORED) shape.qk_rank = shape.form == LINATTN_FORM_FULL ? shape.dim + 1 : shape.dim;
    shape.attention = v == SOFTMAX ? LINATTN_ATTENTION_SOFTMAX : LINATTN_ATTENTION_LINEAR;
    if (status == LINATTN_OK && v == SOFTMAX) status = linattn_recipe_find("softmax", &softmax);
    if (v == SOFTMAX && s->e.rates[SGD] == 0) e->rules[SGD].learning_rate = softmax.sgd_learning_rate;
    if (v == SOFTMAX && s->e.rates[ADAM] == 0) e->rules[ADAM].learning_rate = softmax.adam_learning_rate;
    if (status == LINATTN_OK) status = linattn_model_create(&e->model, &shape);
    s->plans[v] = (trajectory_plan){
        {.experiment = e, .stops = s->stops, .stop_count = s->stop_count, .with_next = 1, .bar = &s->bar}, s->judges, s->measured};
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

static int prepare(settings *s) {
    s->stops = path_stops(s->stride, s->e.recipe.steps, &s->stop_count);
    s->runs = calloc(VARIANTS * OPTIMIZERS * (size_t)s->e.seeds, sizeof *s->runs);
    if (s->stops == NULL) return EXIT_FAILED;
    if (s->runs == NULL) return complain(EXIT_FAILED, "no memory for the runs");
    if (linattn_batch_create_from_sampler(&s->judges, s->e.evaluation, (size_t)s->eval_prompts, 0) != LINATTN_OK ||
        linattn_batch_create_from_sampler(&s->measured, s->e.evaluation, MEASURED_PROMPTS, 1) != LINATTN_OK)
        return complain(EXIT_FAILED, "%s", linattn_last_message());
    int status = 0;
    for (size_t v = 0; v < VARIANTS && status == 0; v++) status = make_variant(s, v);
    return status;
}

static void forget(settings *s) {
    for (size_t i = 0; s->runs != NULL && i < VARIANTS * OPTIMIZERS * s->e.seeds; i++) trajectory_forget(&s->runs[i]);
    for (size_t v = 0; v < VARIANTS; v++) linattn_model_destroy(s->of[v].model);
    free(s->runs);
    free(s->stops);
    linattn_batch_destroy(s->judges);
    linattn_batch_destroy(s->measured);
    experiment_forget(&s->e);
}

static const trajectory *run_of(const settings *s, size_t v, size_t k, size_t seed) {
    return &s->runs[(v * OPTIMIZERS + k) * s->e.seeds + seed];
}

/* The slowest first: with few runs at a time these must not come last. */
static int run_one(size_t index, void *context) {
    settings *s = context;
    const size_t each = OPTIMIZERS * (size_t)s->e.seeds, v = VARIANTS - 1 - index / each, k = index % OPTIMIZERS;
    const size_t seed = index % each / OPTIMIZERS;
    return trajectory_run(&s->plans[v], k, seed, (trajectory *)run_of(s, v, k, seed));
}

/* ---- What was measured, in the order of the file's columns ---- */

typedef struct quantity {
    const char *label;
    size_t offset; /* in a trajectory_point */
} quantity;

static const quantity quantities[] = {
    {"evaluation loss", offsetof(trajectory_point, loss)},
    {"gradient norm", offsetof(trajectory_point, gradient_norm)},
    {"robust condition number, diagonal", offsetof(trajectory_point, condition_diagonal)},
    {"robust condition number, eigenvalues", offsetof(trajectory_point, condition_eigenvalues)},
    {"directional smoothness", offsetof(trajectory_point, smoothness)},
    {"stable rank of Q", offsetof(trajectory_point, stable_rank)},
};
enum { LOSS, GRADIENT, DIAGONAL, EIGENVALUES, SMOOTHNESS, RANK, QUANTITIES };

static double value_of(const trajectory_point *point, size_t offset) {
    return *(const double *)(const void *)((const char *)point + offset);
}

/* What a row of either file begins with. */
static void write_run(const settings *s, output *file, size_t v, size_t k, size_t seed, uint64_t step) {
    experiment_row(&s->of[v], file, k, seed);
    output_text(file, ",");
    output_count(file, step);
}

static void write_points(const settings *s, output *file, size_t v, size_t k, size_t seed) {
    const trajectory *run = run_of(s, v, k, seed);
    for (size_t i = 0; i < run->count; i++) {
        double reals[QUANTITIES];
        for (size_t q = 0; q < QUANTITIES; q++) reals[q] = value_of(&run->points[i], quantities[q].offset);
        write_run(s, file, v, k, seed, run->points[i].step);
        output_numbers(file, reals, QUANTITIES);
    }
}

static size_t layers_of(const settings *s) {
    return s->e.recipe.layers < TRAJECTORY_LAYERS ? s->e.recipe.layers : TRAJECTORY_LAYERS;
}

static void write_attention(const settings *s, output *file, size_t v, size_t k, size_t seed) {
    const trajectory *run = run_of(s, v, k, seed);
    for (size_t i = 0; i < run->count; i++)
        for (size_t l = 0; l < layers_of(s); l++) {
            const trajectory_attention *a = &run->points[i].attention[l];
            const double reals[] = {a->entropy, a->largest, a->top_share, a->ratio, a->least};
            write_run(s, file, v, k, seed, run->points[i].step);
            output_text(file, ",");
            output_count(file, l);
            output_numbers(file, reals, sizeof reals / sizeof *reals);
        }
}

static int write_file(const settings *s, const char *ending, const char *header,
                      void (*rows)(const settings *s, output *file, size_t v, size_t k, size_t seed)) {
    output file;
    const int status = experiment_open(&s->e, ending, header, &file);
    if (status != 0) return status;
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t k = 0; k < OPTIMIZERS; k++)
            for (size_t seed = 0; seed < s->e.seeds; seed++) rows(s, &file, v, k, seed);
    return output_close(&file);
}

/* ---- Means over seeds ---- */

/* Logs, of the runs that did not diverge; smoothness, which may be negative, and ranks as they are. */
static int by_logs(size_t offset) { return offset != quantities[SMOOTHNESS].offset; }

/* Mean over seeds at the i-th stop: geometric where logs are taken. values: (seeds). */
static estimate mean_at(const settings *s, size_t v, size_t k, size_t i, size_t offset, double *values, double *scratch) {
    size_t count = 0;
    for (size_t seed = 0; seed < s->e.seeds; seed++) {
        const trajectory *run = run_of(s, v, k, seed);
        const double x = i < run->count && !run->end.diverged ? value_of(&run->points[i], offset) : NAN;
        if (isfinite(x) && (x > 0 || !by_logs(offset))) values[count++] = x;
    }
    return by_logs(offset) ? estimate_of_logs(values, count, scratch) : estimate_of(values, count);
}

/* ---- Pictures ---- */

typedef struct canvas {
    const settings *s;
    double *columns; /* room for SERIES curves of (stops) steps, means, lows and highs */
    double *values;  /* (2, seeds) */
    size_t used;     /* series */
    plot_series series[SERIES];
    plot_panel panels[VARIANTS];
} canvas;

/* Mean over seeds and its 95% interval, as one more curve. */
static void add_curve(canvas *c, size_t v, size_t k, size_t offset, const char *label, const char *colour, int dashed) {
    const size_t stops = c->s->stop_count;
    double *const x = c->columns + 4 * stops * c->used, *const y = x + stops, *const low = y + stops, *const high = low + stops;
    for (size_t i = 0; i < stops; i++) {
        const estimate all = mean_at(c->s, v, k, i, offset, c->values, c->values + c->s->e.seeds);
        x[i] = (double)c->s->stops[i];
        y[i] = all.mean;
        low[i] = all.low;
        high[i] = all.high;
    }
    c->series[c->used++] = (plot_series){.label = label,
                                         .colour = colour,
                                         .dashed = dashed,
                                         .count = stops,
                                         .x = x,
                                         .y = y,
                                         .low = c->s->e.seeds < 2 ? NULL : low,
                                         .high = high};
}

static int write_picture(canvas *c, const char *title, const char *ending, size_t panels) {
    char name[120], caption[200];
    snprintf(name, sizeof name, "%s%s", c->s->e.name, ending);
    snprintf(caption, sizeof caption, "mean over %" PRIu64 " seeds, band: its 95%% interval", c->s->e.seeds);
    const plot picture = {title, c->s->e.seeds > 1 ? caption : "one seed", c->panels, panels, NULL};
    c->used = 0;
    return plot_write(&picture, c->s->e.folder, name);
}

/* A panel for each kind of attention: loss of SGD and Adam. */
static int draw_losses(canvas *c) {
    char y_labels[VARIANTS][80];
    for (size_t v = 0; v < VARIANTS; v++) {
        plot_series *const first = &c->series[c->used];
        for (size_t k = 0; k < OPTIMIZERS; k++)
            add_curve(c, v, k, quantities[LOSS].offset, experiment_optimizers[k], experiment_colours[k], 0);
        snprintf(y_labels[v], sizeof y_labels[v], "loss, %s", titles[v]);
        c->panels[v] = (plot_panel){.x_label = "step", .y_label = y_labels[v], .series = first, .count = OPTIMIZERS, .log_y = 1};
    }
    return write_picture(c, "Linear and softmax attention: loss", "", VARIANTS);
}

/* A panel for each quantity: linear (full lines) and softmax (dashed). */
static int draw_diagnostics(canvas *c) {
    static const size_t shown[] = {DIAGONAL, EIGENVALUES, SMOOTHNESS};
    static const char *const labels[2][OPTIMIZERS] = {{"SGD, linear", "Adam, linear"}, {"SGD, softmax", "Adam, softmax"}};
    for (size_t i = 0; i < 3; i++) {
        plot_series *const first = &c->series[c->used];
        for (size_t dashed = 0; dashed < 2; dashed++)
            for (size_t k = 0; k < OPTIMIZERS; k++)
                add_curve(c, dashed ? SOFTMAX : LINEAR, k, quantities[shown[i]].offset, labels[dashed][k], experiment_colours[k],
                          (int)dashed);
        c->panels[i] = (plot_panel){.x_label = "step",
                                    .y_label = quantities[shown[i]].label,
                                    .series = first,
                                    .count = 2 * OPTIMIZERS,
                                    .log_y = shown[i] != SMOOTHNESS,
                                    .signed_y = shown[i] == SMOOTHNESS};
    }
    return write_picture(c, "Linear and softmax attention: curvature along training", "_diagnostics", 3);
}

/* Where a point holds a field of layer l's attention. */
static size_t in_layer(size_t field, size_t l) {
    return offsetof(trajectory_point, attention) + l * sizeof(trajectory_attention) + field;
}

/* A panel for each kind of attention: entropy, or the ratio of weights, by layer, under Adam (full lines) and SGD (dashed). */
static int draw_attention(canvas *c, int ratio) {
    static const char *const colours[] = {"#1b9e77", "#d95f02", "#7570b3", "#e7298a"};
    char labels[OPTIMIZERS][4][40], y_labels[VARIANTS][80];
    const size_t layers = layers_of(c->s) < 4 ? layers_of(c->s) : 4;
    const size_t field = ratio ? offsetof(trajectory_attention, ratio) : offsetof(trajectory_attention, entropy);
    for (size_t v = 0; v < VARIANTS; v++) {
        plot_series *const first = &c->series[c->used];
        for (size_t k = OPTIMIZERS; k-- > 0;)
            for (size_t l = 0; l < layers; l++) {
                snprintf(labels[k][l], sizeof labels[k][l], "layer %zu, %s", l + 1, experiment_optimizers[k]);
                add_curve(c, v, k, in_layer(field, l), labels[k][l], colours[l], k == SGD);
            }
        snprintf(y_labels[v], sizeof y_labels[v], "%s, %s", ratio ? "smallest over largest weight" : "entropy of attention",
                 names[v]);
        c->panels[v] = (plot_panel){.x_label = "step",
                                    .y_label = y_labels[v],
                                    .series = first,
                                    .count = OPTIMIZERS * layers,
                                    .log_y = ratio,
                                    .y_high = ratio ? 0 : log((double)c->s->e.recipe.context)};
    }
    return write_picture(
        c, ratio ? "Sparsity of the query's attention along training" : "Attention concentration of the query along training",
        ratio ? "_sparsity" : "_attention", VARIANTS);
}

static int draw(const settings *s) {
    canvas c = {.s = s};
    c.columns = calloc(SERIES * 4 * s->stop_count, sizeof *c.columns);
    c.values = calloc(2 * (size_t)s->e.seeds, sizeof *c.values);
    int status = c.columns && c.values ? 0 : complain(EXIT_FAILED, "no memory for the pictures");
    if (status == 0) status = draw_losses(&c);
    if (status == 0) status = draw_diagnostics(&c);
    if (status == 0) status = draw_attention(&c, 0);
    if (status == 0) status = draw_attention(&c, 1);
    free(c.columns);
    free(c.values);
    return status;
}

/* ---- The table ---- */

static void print_estimate(estimate e) {
    char text[ESTIMATE_TEXT];
    printf("  %-26s", estimate_print(e.mean, e.low, e.high, text));
}

/* A field of attention at the end, in every layer. */
static void print_layers(const settings *s, size_t field, double *values) {
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t k = 0; k < OPTIMIZERS; k++) {
            printf("%-22s  %-9s", titles[v], experiment_optimizers[k]);
            for (size_t l = 0; l < layers_of(s); l++)
                print_estimate(mean_at(s, v, k, s->stop_count - 1, in_layer(field, l), values, values + s->e.seeds));
            printf("\n");
        }
}

static int print_table(const settings *s, double seconds) {
    const size_t last = s->stop_count - 1;
    double *values = calloc(2 * (size_t)s->e.seeds, sizeof *values);
    if (values == NULL) return complain(EXIT_FAILED, "no memory for the table");
    char text[120];
    experiment_describe(&s->e, text, sizeof text);
    printf("%s, %" PRIu64 " steps, %" PRIu64 " seeds; at the end, mean over seeds [95%% interval]\n\n", text, s->e.recipe.steps,
           s->e.seeds);
    printf("%-22s  %-9s  %-7s  %-26s  %-26s  %-26s  %-26s  %s\n", "attention", "optimizer", "rate", "loss", "R by diagonal",
           "smoothness", "stable rank of Q", "diverged");
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t k = 0; k < OPTIMIZERS; k++) {
            static const size_t shown[] = {LOSS, DIAGONAL, SMOOTHNESS, RANK};
            size_t diverged = 0;
            for (size_t seed = 0; seed < s->e.seeds; seed++) diverged += run_of(s, v, k, seed)->end.diverged != 0;
            printf("%-22s  %-9s  %-7.4g", titles[v], experiment_optimizers[k], s->of[v].rules[k].learning_rate);
            for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
                print_estimate(mean_at(s, v, k, last, quantities[shown[i]].offset, values, values + s->e.seeds));
            printf("  %zu\n", diverged);
        }
    printf("\nEntropy of the query's attention over the context (ln n = %.3g), by layer\n\n", log((double)s->e.recipe.context));
    print_layers(s, offsetof(trajectory_attention, entropy), values);
    printf("\nSmallest over largest weight of the query's attention, median over prompts, by layer\n\n");
    print_layers(s, offsetof(trajectory_attention, ratio), values);
    free(values);
    printf("\nMeans of loss, R, rank and entropy are geometric. Loss on %" PRIu64 " prompts, the rest on %d others.\n"
           "Took %.1f s, up to %" PRIu64 " runs at a time. Files: %s/%s*\n",
           s->eval_prompts, MEASURED_PROMPTS, seconds, s->e.threads, s->e.folder, s->e.name);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

static int work(void *user) {
    settings *s = user;
    const size_t jobs = VARIANTS * OPTIMIZERS * (size_t)s->e.seeds;
    int status = prepare(s);
    if (status != 0) return status;
    progress_begin(&s->bar, jobs * trajectory_work(&s->plans[0]));
    const double started = progress_clock();
    status = runs_execute(jobs, (size_t)s->e.threads, run_one, s);
    const double seconds = progress_clock() - started;
    progress_end(&s->bar);
    if (status == 0)
        status = write_file(s, ".csv",
                            "attention,optimizer,seed,step,eval_loss,grad_norm,r_diagonal,r_eigenvalues,smoothness,stable_rank\n",
                            write_points);
    if (status == 0)
        status = write_file(s, "_attention.csv",
                            "attention,optimizer,seed,step,layer,entropy,largest,top3_share,smallest_to_largest,least_ratio\n",
                            write_attention);
    if (status == 0) status = draw(s);
    return status == 0 ? print_table(s, seconds) : status;
}

int main(int argc, char **argv) {
    settings s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    forget(&s);
    return status;
}
