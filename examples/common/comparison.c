#include "comparison.h"

#include "complain.h"
#include "estimate.h"
#include "plot.h"
#include "runs.h"
#include "training.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STRIDE = 50,     /* steps between evaluations */
    MILESTONE = 2000 /* a step whose loss is printed beside the last one */
};

typedef struct comparison {
    const comparison_plan *chosen;
    const experiment *e;
    training_plan plan;
    linattn_batch *median_over; /* the first prompts of the evaluation batch; NULL when the mean is good enough */
    uint64_t *stops;
    training_curve *curves; /* (seeds, OPTIMIZERS) */
} comparison;

static const training_curve *curve_of(const comparison *c, size_t seed, size_t optimizer) {
    return &c->curves[seed * OPTIMIZERS + optimizer];
}

static int make_plan(comparison *c) {
    training_plan *plan = &c->plan;
    const size_t few =
        c->chosen->eval_prompts < TRAINING_MEDIAN_PROMPTS ? (size_t)c->chosen->eval_prompts : TRAINING_MEDIAN_PROMPTS;
    plan->path.experiment = c->e;
    plan->path.with_next = 1;
    plan->path.stops = c->stops = path_stops(STRIDE, c->e->recipe.steps, &plan->path.stop_count);
    c->curves = calloc(OPTIMIZERS * (size_t)c->e->seeds, sizeof *c->curves);
    if (c->stops == NULL) return EXIT_FAILED;
    if (c->curves == NULL) return complain(EXIT_FAILED, "no memory for the runs");
    plan->eval_prompts = (size_t)c->chosen->eval_prompts;
    if (c->chosen->heavy_tails != NULL &&
        linattn_batch_create_from_sampler(&c->median_over, c->e->evaluation, few, 0) != LINATTN_OK)
        return complain(EXIT_FAILED, "%s", linattn_last_message());
    plan->median_over = c->median_over;
    return 0;
}

static void forget(comparison *c) {
    for (size_t i = 0; c->curves != NULL && i < OPTIMIZERS * (size_t)c->e->seeds; i++) training_forget(&c->curves[i]);
    free(c->curves);
    free(c->stops);
    linattn_batch_destroy(c->median_over);
}

static int run_one(size_t index, void *context) {
    comparison *c = context;
    return training_run(&c->plan, index % OPTIMIZERS, index / OPTIMIZERS, &c->curves[index]);
}

static int write_csv(const comparison *c, int medians) {
    output file;
    const int status = experiment_open(c->e, medians ? "_medians.csv" : ".csv", c->chosen->subject, &file);
    if (status != 0) return status;
    output_text(&file, medians ? ",optimizer,seed,step,median_error\n"
                               : ",optimizer,seed,step,train_loss,eval_loss,grad_norm,clipped,learning_rate\n");
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < c->e->seeds; seed++) {
            const training_curve *curve = curve_of(c, seed, k);
            for (size_t i = 0; i < curve->count; i++) {
                const training_point *point = &curve->points[i];
                const double reals[] = {point->train_loss, point->eval_loss, point->gradient_norm, (double)point->clipped,
                                        point->learning_rate};
                experiment_row(c->e, &file, k, seed);
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
    for (size_t seed = 0; seed < c->e->seeds; seed++) {
        const training_curve *curve = curve_of(c, seed, optimizer);
        const training_point *point = curve->end.diverged ? NULL : training_at(curve, step);
        if (point != NULL) out[count++] = log10(medians ? point->eval_median : point->eval_loss);
    }
    return count;
}

static size_t survivors(const comparison *c, size_t optimizer, const training_curve **any) {
    size_t count = 0;
    for (size_t seed = 0; seed < c->e->seeds; seed++)
        if (!curve_of(c, seed, optimizer)->end.diverged) {
            count++;
            *any = curve_of(c, seed, optimizer);
        }
    return count;
}

enum { X, MIDDLE, LOW, HIGH, COLUMNS };

/* Mean over seeds of the log loss, or of the log median error, with the band mean +- sd/4. columns: room for (COLUMNS, points of
 * a run); logs: (seeds). */
static plot_series make_curve(const comparison *c, size_t optimizer, int medians, char label[80], double *columns, double *logs) {
    const training_curve *any = NULL;
    const size_t seeds = c->e->seeds, finished = survivors(c, optimizer, &any), count = any == NULL ? 0 : any->count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t step = any->points[i].step;
        const size_t runs = logs_at(c, optimizer, step, medians, logs);
        const estimate all = estimate_of(logs, runs);
        const double spread = runs < 2 ? 0 : all.sd / 4;
        columns[X * count + i] = (double)step;
        columns[MIDDLE * count + i] = pow(10, all.mean);
        columns[LOW * count + i] = pow(10, all.mean - spread);
        columns[HIGH * count + i] = pow(10, all.mean + spread);
    }
    snprintf(label, 80, "%s%s", experiment_optimizers[optimizer], medians ? ", median over prompts" : "");
    if (finished < seeds && !medians)
        snprintf(label, 80, "%s (%zu of %zu runs diverged)", experiment_optimizers[optimizer], seeds - finished, seeds);
    return (plot_series){.label = label,
                         .colour = experiment_colours[optimizer],
                         .dashed = medians,
                         .count = count,
                         .x = columns,
                         .y = columns + MIDDLE * count,
                         .low = seeds < 2 ? NULL : columns + LOW * count,
                         .high = columns + HIGH * count};
}

static int draw_picture(const comparison *c) {
    enum { MOST = 2 * OPTIMIZERS };
    const size_t room = COLUMNS * (size_t)(c->e->recipe.steps / STRIDE + 2);
    const training_curve *any = NULL;
    plot_series curves[MOST];
    char labels[MOST][80], title[160], caption[200];
    if (survivors(c, SGD, &any) + survivors(c, ADAM, &any) == 0) {
        complain(0, "note: every run diverged, so there is nothing to draw");
        return 0;
    }
    double *columns = calloc(MOST * room, sizeof *columns), *logs = calloc((size_t)c->e->seeds, sizeof *logs);
    if (columns == NULL || logs == NULL) {
        free(columns);
        free(logs);
        return complain(EXIT_FAILED, "no memory for the picture");
    }
    size_t count = 0;
    for (int medians = 0; medians <= (c->chosen->heavy_tails != NULL); medians++)
        for (size_t k = 0; k < OPTIMIZERS; k++, count++)
            curves[count] = make_curve(c, k, medians, labels[count], columns + count * room, logs);
    snprintf(title, sizeof title, "Linear transformer, %s: L = %zu, d = %zu, n = %zu", c->e->recipe.name, c->e->recipe.layers,
             c->e->recipe.dim, c->e->recipe.context);
    snprintf(caption, sizeof caption, "%slog loss over %" PRIu64 " seed%s on %" PRIu64 " prompts%s%s",
             c->e->seeds > 1 ? "mean of " : "", c->e->seeds, c->e->seeds > 1 ? "s" : "", c->chosen->eval_prompts,
             c->e->seeds > 1 ? ", band ± sd/4" : "", c->chosen->heavy_tails != NULL ? "; heavy tails: read the medians" : "");
    const plot_panel panel = {.x_label = "step", .y_label = "evaluation loss", .series = curves, .count = count, .log_y = 1};
    const plot picture = {title, caption, &panel, 1, NULL};
    const int status = plot_write(&picture, c->e->folder, c->e->name);
    free(columns);
    free(logs);
    return status;
}

/* "0.00112 [0.00105, 0.0012]": the mean of the logs and its interval, as losses. */
static void print_loss(const double *logs, size_t count) {
    char text[ESTIMATE_TEXT];
    const estimate all = estimate_of(logs, count);
    printf("  %-32s", estimate_print(pow(10, all.mean), pow(10, all.low), pow(10, all.high), text));
}

static void print_row(const comparison *c, size_t k, double *logs) {
    const training_curve *any = NULL;
    double seconds = 0;
    for (size_t seed = 0; seed < c->e->seeds; seed++) seconds += curve_of(c, seed, k)->end.seconds;
    printf("%-9s  %-8.4g", experiment_optimizers[k], c->e->rules[k].learning_rate);
    if (c->e->recipe.steps > MILESTONE) print_loss(logs, logs_at(c, k, MILESTONE, 0, logs));
    print_loss(logs, logs_at(c, k, c->e->recipe.steps, 0, logs));
    if (c->chosen->heavy_tails != NULL) print_loss(logs, logs_at(c, k, c->e->recipe.steps, 1, logs));
    printf("  %8zu  %11.2f\n", (size_t)c->e->seeds - survivors(c, k, &any), seconds / (double)c->e->seeds);
}

/* Both optimizers of a seed saw the same batches, so seeds are compared in pairs. */
static void print_ratio(const comparison *c, double *logs) {
    const int medians = c->chosen->heavy_tails != NULL;
    size_t pairs = 0;
    for (size_t seed = 0; seed < c->e->seeds; seed++) {
        const training_point *sgd = training_at(curve_of(c, seed, SGD), c->e->recipe.steps);
        const training_point *adam = training_at(curve_of(c, seed, ADAM), c->e->recipe.steps);
        if (sgd == NULL || adam == NULL) continue;
        logs[pairs++] = medians ? log10(sgd->eval_median / adam->eval_median) : log10(sgd->eval_loss / adam->eval_loss);
    }
    if (pairs == 0) return;
    char text[ESTIMATE_TEXT];
    const estimate all = estimate_of(logs, pairs);
    printf("\n%s of SGD over that of Adam: %s over %zu seed%s\n", medians ? "Median error" : "Final loss",
           estimate_print(pow(10, all.mean), pow(10, all.low), pow(10, all.high), text), pairs, pairs == 1 ? "" : "s");
}

static void print_diverged(const comparison *c) {
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < c->e->seeds; seed++) {
            const training_curve *curve = curve_of(c, seed, k);
            if (curve->end.diverged)
                printf("%s, seed %zu: diverged at step %" PRIu64 ", left out of the means\n", experiment_optimizers[k], seed,
                       curve->end.diverged_at);
        }
}

static int print_table(const comparison *c, double seconds) {
    double *logs = calloc((size_t)c->e->seeds, sizeof *logs);
    if (logs == NULL) return complain(EXIT_FAILED, "no memory for the table");
    char milestone[32];
    snprintf(milestone, sizeof milestone, "loss at step %d", MILESTONE);
    printf("%s: L = %zu, d = %zu, n = %zu, batches of %zu prompts, %" PRIu64 " steps, %" PRIu64 " seed%s, evaluated on %" PRIu64
           " prompts\n\n",
           c->e->recipe.name, c->e->recipe.layers, c->e->recipe.dim, c->e->recipe.context, c->e->recipe.prompts, c->e->recipe.steps,
           c->e->seeds, c->e->seeds == 1 ? "" : "s", c->chosen->eval_prompts);
    printf("%-9s  %-8s", "optimizer", "rate");
    if (c->e->recipe.steps > MILESTONE) printf("  %-32s", milestone);
    printf("  %-32s", "final loss");
    if (c->chosen->heavy_tails != NULL) printf("  %-32s", "median error");
    printf("  %8s  %11s\n", "diverged", "seconds/run");
    for (size_t k = 0; k < OPTIMIZERS; k++) print_row(c, k, logs);
    print_ratio(c, logs);
    print_diverged(c);
    free(logs);
    printf("Losses: 10^(mean over seeds of log10 of the evaluation loss), [95%% interval by Student's t on the logs].\n");
    if (c->chosen->heavy_tails != NULL)
        printf("%s: a few prompts decide the loss, and its sample mean is not reliable. Median error:\n"
               "the same for the median over %" PRIu64 " prompts of (prediction - target)^2 at the end.\n",
               c->chosen->heavy_tails,
               c->chosen->eval_prompts < TRAINING_MEDIAN_PROMPTS ? c->chosen->eval_prompts : TRAINING_MEDIAN_PROMPTS);
    printf("Took %.1f s, up to %" PRIu64 " runs at a time. Files: %s/%s.*\n", seconds, c->e->threads, c->e->folder, c->e->name);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

/* Trains, then writes everything. */
static int compare_optimizers(comparison *c) {
    const size_t jobs = OPTIMIZERS * (size_t)c->e->seeds;
    progress bar;
    progress_begin(&bar, jobs * path_work(&c->plan.path));
    c->plan.path.bar = &bar;
    const double started = progress_clock();
    int status = runs_execute(jobs, (size_t)c->e->threads, run_one, c);
    const double seconds = progress_clock() - started;
    progress_end(&bar);
    if (status == 0) status = write_csv(c, 0);
    if (status == 0 && c->chosen->heavy_tails != NULL) status = write_csv(c, 1);
    if (status == 0) status = draw_picture(c);
    if (status == 0) status = print_table(c, seconds);
    return status;
}

int comparison_run(const comparison_plan *plan) {
    comparison c = {.chosen = plan, .e = plan->experiment};
    int status = make_plan(&c);
    if (status == 0) status = compare_optimizers(&c);
    forget(&c);
    return status;
}
