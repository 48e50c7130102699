/* condition_number: is the loss better conditioned where Adam goes than where SGD goes?
 *
 * Trains a recipe with both optimizers over many seeds, each run on one thread, and measures the robust condition number R_med of
 * the Hessian: the largest magnitude over the median one, of the eigenvalues and of the diagonal. All runs are measured on the
 * same evaluation batches. The table crosses seeds with batches, since a batch of 1000 prompts is a noisy judge; --curve follows
 * R_med on the first batch along training. */
#include "common/complain.h"
#include "common/condition_table.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/runs.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE_STRIDE = 250 };

/* ---- Options ----------------------------------------------------------------------------------------------------------------- */

/* "750,1250" */
static int read_stops(conditioning *s) {
    size_t count = 0;
    s->stops = calloc(CONDITION_TABLE_STOPS, sizeof *s->stops);
    if (s->stops == NULL) return complain(EXIT_FAILED, "no memory");
    for (const char *text = s->at; text != NULL && count < CONDITION_TABLE_STOPS; count++) {
        char *end = NULL;
        const uint64_t step = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : UINT64_MAX;
        if (step > 1000000000 || (*end != ',' && *end != '\0') || (count > 0 && step <= s->stops[count - 1])) break;
        s->stops[count] = step;
        text = *end == ',' ? end + 1 : NULL;
        if (text != NULL) continue;
        s->plan.stop_count = count + 1;
        return 0;
    }
    return complain(EXIT_USAGE, "--at is \"%.60s\"; allowed: up to %d steps in rising order, such as 750,1250", s->at,
                    CONDITION_TABLE_STOPS);
}

static int choose_steps(conditioning *s, int steps_given) {
    if (s->curve && s->at != NULL)
        return complain(EXIT_USAGE, "--at is for the table; --curve measures every %d steps", CURVE_STRIDE);
    if (steps_given && s->at != NULL) return complain(EXIT_USAGE, "--steps and --at are both given; --at says all of it");
    if (s->curve && s->eval_batches > 1)
        return complain(EXIT_USAGE, "--eval-batches is for the table; --curve takes the first one");
    if (s->curve) {
        s->eval_batches = 1;
        s->stops = path_stops(CURVE_STRIDE, s->e.recipe.steps, &s->plan.stop_count);
        return s->stops == NULL ? EXIT_FAILED : 0;
    }
    if (steps_given) snprintf(s->last, sizeof s->last, "%" PRIu64, s->e.steps);
    if (s->at == NULL) s->at = steps_given ? s->last : "750,1250";
    if (s->eval_batches == 0) s->eval_batches = s->e.quick ? 3 : 20;
    return read_stops(s);
}

static int read_settings(conditioning *s, int argc, char **argv) {
    argument table[EXPERIMENT_ARGUMENTS + 4];
    *s = (conditioning){.eval_prompts = 1000};
    experiment_begin(&s->e, table);
    table[EXPERIMENT_SEEDS].help = "runs of each optimizer, seeds 0, 1, ... (100; with --curve 6)";
    table[EXPERIMENT_STEPS].help = "last step of --curve (the recipe's); the one step of the table";
    table[EXPERIMENT_QUICK].help = "4 seeds and 3 evaluation batches; 2 seeds and 1000 steps with --curve";
    table[EXPERIMENT_ARGUMENTS] = (argument){"--at", ARGUMENT_TEXT, &s->at, 0, "steps of the table (750,1250)"};
    table[EXPERIMENT_ARGUMENTS + 1] =
        (argument){"--eval-batches", ARGUMENT_COUNT, &s->eval_batches, 100000, "evaluation batches of the table (20)"};
    table[EXPERIMENT_ARGUMENTS + 2] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of an evaluation batch (1000)"};
    table[EXPERIMENT_ARGUMENTS + 3] =
        (argument){"--curve", ARGUMENT_FLAG, &s->curve, 0, "R_med along training instead of the table"};
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Robust condition numbers of the Hessian under SGD and Adam; writes a table, a CSV file and a "
                       "picture.",
                       argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    const int steps_given = s->e.steps != 0;
    const experiment_defaults defaults = {.program = "condition_number",
                                          .seeds = s->curve ? CONDITION_TABLE_SEEDS : 100,
                                          .quick_seeds = s->curve ? 2 : 4,
                                          .quick_steps = 1000};
    int made = experiment_make(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    if (made == 0) made = choose_steps(s, steps_given);
    if (s->curve) strncat(s->e.name, "_curve", sizeof s->e.name - strlen(s->e.name) - 1);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

/* ---- Results ----------------------------------------------------------------------------------------------------------------- */

static int write_csv(const conditioning *s) {
    output file;
    const int status = experiment_open(&s->e, ".csv",
                                       "recipe,optimizer,seed,step,batch,r_eigen,r_diagonal,smallest,largest,median_eigen,zeros,"
                                       "negatives,r_eigen_preconditioned\n",
                                       &file);
    if (status != 0) return status;
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < s->e.seeds; seed++)
            for (size_t i = 0; i < s->done[seed * OPTIMIZERS + k] * s->eval_batches; i++) {
                const size_t stop = i / s->eval_batches, batch = i % s->eval_batches;
                const measured *m = conditioning_at(s, seed, k, stop, batch);
                experiment_row(&s->e, &file, k, seed);
                const double numbers[] = {(double)s->stops[stop],
                                          (double)batch,
                                          m->condition[EIGENVALUES],
                                          m->condition[DIAGONAL],
                                          m->smallest,
                                          m->largest,
                                          m->median,
                                          (double)m->zeros,
                                          (double)m->negatives,
                                          m->condition[PRECONDITIONED]};
                output_numbers(&file, numbers, sizeof numbers / sizeof *numbers);
            }
    return output_close(&file);
}

static void print_diverged(const conditioning *s) {
    size_t count[OPTIMIZERS] = {0, 0};
    for (size_t i = 0; i < OPTIMIZERS * s->e.seeds; i++)
        if (s->ends[i].diverged) {
            count[i % OPTIMIZERS]++;
            printf("%s, seed %zu: diverged at step %" PRIu64 "\n", experiment_optimizers[i % OPTIMIZERS], i / OPTIMIZERS,
                   s->ends[i].diverged_at);
        }
    printf("Diverged: %zu runs of SGD, %zu of Adam%s\n", count[SGD], count[ADAM],
           count[SGD] + count[ADAM] == 0 ? "." : "; their seeds are left out of the ratios from then on.");
}

/* Mean over seeds of ln R_med along training, +- sd/2. columns: (4, stops); logs: (seeds). */
static plot_series make_curve(const conditioning *s, size_t optimizer, size_t kind, const char *label, double *columns,
                              double *logs) {
    const size_t stops = s->plan.stop_count;
    double *x = columns, *y = columns + stops, *low = columns + 2 * stops, *high = columns + 3 * stops;
    size_t count = 0;
    for (size_t stop = 0; stop < stops; stop++) {
        size_t runs = 0;
        for (size_t seed = 0; seed < s->e.seeds; seed++) {
            const measured *m = conditioning_at(s, seed, optimizer, stop, 0);
            const int finished = s->done[seed * OPTIMIZERS + optimizer] == stops;
            if (finished && m != NULL && isfinite(m->condition[kind])) logs[runs++] = log(m->condition[kind]);
        }
        if (runs == 0) continue;
        const estimate all = estimate_of(logs, runs);
        const double half = runs < 2 ? 0 : all.sd / 2;
        x[count] = (double)s->stops[stop];
        y[count] = exp(all.mean);
        low[count] = exp(all.mean - half);
        high[count++] = exp(all.mean + half);
    }
    return (plot_series){.label = label,
                         .colour = experiment_colours[optimizer],
                         .dashed = kind == PRECONDITIONED,
                         .count = count,
                         .x = x,
                         .y = y,
                         .low = low,
                         .high = high};
}

static int draw_curves(const conditioning *s) {
    const size_t stops = s->plan.stop_count;
    double *columns = calloc(5 * 4 * stops, sizeof *columns), *logs = calloc((size_t)s->e.seeds, sizeof *logs);
    char title[160], caption[200], recipe[120];
    if (columns == NULL || logs == NULL) {
        free(columns);
        free(logs);
        return complain(EXIT_FAILED, "no memory for the picture");
    }
    const plot_series diagonal[] = {make_curve(s, SGD, DIAGONAL, "SGD", columns, logs),
                                    make_curve(s, ADAM, DIAGONAL, "Adam", columns + 4 * stops, logs)};
    const plot_series eigen[] = {make_curve(s, SGD, EIGENVALUES, "SGD", columns + 8 * stops, logs),
                                 make_curve(s, ADAM, EIGENVALUES, "Adam", columns + 12 * stops, logs),
                                 make_curve(s, ADAM, PRECONDITIONED, "Adam, preconditioned", columns + 16 * stops, logs)};
    const plot_panel panels[] = {
        {.x_label = "step", .y_label = "R_med of the Hessian's diagonal", .series = diagonal, .count = 2, .log_y = 1},
        {.x_label = "step", .y_label = "R_med of the Hessian's eigenvalues", .series = eigen, .count = 3, .log_y = 1}};
    experiment_describe(&s->e, recipe, sizeof recipe);
    snprintf(title, sizeof title, "Robust condition numbers, %s", recipe);
    snprintf(caption, sizeof caption,
             "mean of logs over %" PRIu64 " seeds on one evaluation batch of %" PRIu64 " prompts, band ± sd/2", s->e.seeds,
             s->eval_prompts);
    int status = 0;
    if (diagonal[SGD].count + diagonal[ADAM].count == 0)
        complain(0, "note: every run diverged, so there is nothing to draw");
    else {
        const plot picture = {title, caption, panels, 2, NULL};
        status = plot_write(&picture, s->e.folder, s->e.name);
    }
    free(columns);
    free(logs);
    return status;
}

static int show_curves(const conditioning *s) {
    const size_t last = s->plan.stop_count - 1;
    char recipe[120];
    double *logs = calloc((size_t)s->e.seeds, sizeof *logs);
    if (logs == NULL) return complain(EXIT_FAILED, "no memory for the table");
    experiment_describe(&s->e, recipe, sizeof recipe);
    printf("%s; R_med along training on one evaluation batch of %" PRIu64 " prompts, %" PRIu64 " seeds\n\n", recipe,
           s->eval_prompts, s->e.seeds);
    printf("geometric means at step  %-12s %-10s %-10s\n", "numbers", "SGD", "Adam");
    for (size_t stop = 0; stop <= last; stop += last < 8 ? 1 : last / 8)
        for (size_t kind = 0; kind < COMPARED; kind++)
            printf("%-24" PRIu64 " %-12s %-10.4g %-10.4g\n", s->stops[stop], conditioning_kinds[kind],
                   conditioning_typical(s, SGD, stop, kind, logs), conditioning_typical(s, ADAM, stop, kind, logs));
    free(logs);
    return draw_curves(s);
}

/* ---- The job ----------------------------------------------------------------------------------------------------------------- */

static int work(void *user) {
    conditioning *s = user;
    const double started = progress_clock();
    int status = conditioning_begin(s);
    if (status == 0) status = conditioning_run(s);
    const double seconds = progress_clock() - started;
    if (status == 0) status = write_csv(s);
    if (status == 0) status = s->curve ? show_curves(s) : condition_table(s);
    if (status != 0) return status;
    print_diverged(s);
    printf("Took %.1f s, up to %" PRIu64 " runs at a time. Files: %s/%s.*\n", seconds, s->e.threads, s->e.folder, s->e.name);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

int main(int argc, char **argv) {
    conditioning s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    conditioning_forget(&s);
    return status;
}
