/* tune: which learning rate is the best for SGD and for Adam?
 *
 * For each recipe both optimizers are trained at ten rates on a logarithmic grid, over a few seeds (common/tuning.h has the rule).
 * A sweep that ends early, however it does, goes on where it was when the same command is given again. Out come for each recipe a
 * CSV file with a line a run, one with a line a rate, and a picture of error against rate; and a table. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/experiment.h"
#include "common/plot.h"
#include "common/tuning.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECIPES = 32, MOST_RATES = TUNING_MOST_RATES - 2 * TUNING_BEYOND };

typedef struct settings {
    experiment given; /* what was asked for, before a recipe is looked up */
    uint64_t eval_prompts, rates;
    double low;
    const char *optimizer;
    size_t count;
    char names[MOST_RECIPES][24];
    experiment e[MOST_RECIPES];
    tuning_curve curves[MOST_RECIPES][OPTIMIZERS];
} settings;

/* "depth2,depth4" into names. */
static int split_recipes(settings *s) {
    for (const char *rest = s->given.recipe_name; rest != NULL; s->count++) {
        const char *comma = strchr(rest, ',');
        const size_t length = comma == NULL ? strlen(rest) : (size_t)(comma - rest);
        if (s->count == MOST_RECIPES) return complain(EXIT_USAGE, "--recipe names more than %d recipes", MOST_RECIPES);
        /* A name that is too long stays unknown when it is cut. */
        snprintf(s->names[s->count], sizeof s->names[0], "%.*s", (int)(length < 23 ? length : 23), rest);
        for (size_t i = 0; i < s->count; i++)
            if (strcmp(s->names[i], s->names[s->count]) == 0)
                return complain(EXIT_USAGE, "--recipe names \"%s\" twice", s->names[i]);
        rest = comma == NULL ? NULL : comma + 1;
    }
    return 0;
}

static int make_experiments(settings *s) {
    static const experiment_defaults defaults = {
        .program = "tune", .seeds = 3, .quick_seeds = 2, .steps = 2000, .quick_steps = 200};
    int status = split_recipes(s);
    for (size_t i = 0; status == 0 && i < s->count; i++) {
        s->e[i] = s->given;
        s->e[i].recipe_name = s->names[i];
        status = experiment_make(&s->e[i], &defaults, 0);
    }
    return status;
}

static int read_settings(settings *s, int argc, char **argv) {
    enum { OPTIMIZER, EVAL_PROMPTS, OWN };
    argument table[EXPERIMENT_ARGUMENTS + OWN], *own = table + EXPERIMENT_ARGUMENTS;
    experiment_begin(&s->given, table);
    own[OPTIMIZER] = (argument){"--optimizer", ARGUMENT_TEXT, &s->optimizer, 0, "sgd or adam alone (both)"};
    own[EVAL_PROMPTS] = (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX,
                                   "prompts that judge a run; medians are over 10000 (10000)"};
    table[EXPERIMENT_LR_SGD] =
        (argument){"--lr-low", ARGUMENT_REAL, &s->low, 0, "the lowest rate: 1, 2, 5, 10, 20, ... times it are tried (0.001)"};
    table[EXPERIMENT_LR_ADAM] =
        (argument){"--rates", ARGUMENT_COUNT, &s->rates, MOST_RATES, "how many, before any are added at an end (10)"};
    table[EXPERIMENT_SEEDS].help = "runs at each rate, seeds 1000000, 1000001, ... (3)";
    table[EXPERIMENT_STEPS].help = "steps of each run (2000)";
    table[EXPERIMENT_QUICK].help = "2 seeds, 200 steps and 2000 evaluation prompts where not given";
    const int status = arguments_read(table, sizeof table / sizeof *table,
                                      "Trains recipes (--recipe a,b,...) at ten learning rates; writes the runs, the errors and a "
                                      "picture, and says which rate is best. Goes on where a run of the same command ended.",
                                      argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->eval_prompts == 0) s->eval_prompts = s->given.quick ? 2000 : 10000;
    if (s->optimizer != NULL && experiment_optimizer(s->optimizer) == OPTIMIZERS) return EXIT_USAGE;
    const int made = make_experiments(s);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

static tuning_plan plan_of(settings *s, size_t i) {
    tuning_plan plan = {.experiment = &s->e[i], .eval_prompts = s->eval_prompts, .seeds = s->e[i].seeds, .rates = (size_t)s->rates};
    for (size_t k = 0; k < OPTIMIZERS; k++)
        if (s->optimizer == NULL || experiment_optimizer(s->optimizer) == k) plan.low[k] = s->low;
    return plan;
}

static int write_csv(const experiment *e, const tuning_curve curves[OPTIMIZERS]) {
    output file;
    const int status =
        experiment_open(e, ".csv", "recipe,optimizer,learning_rate,median_error,low,high,seeds,diverged,best\n", &file);
    if (status != 0) return status;
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t i = 0; i < curves[k].count; i++) {
            const tuning_point *point = &curves[k].points[i];
            const double numbers[] = {point->error, point->low, point->high};
            output_text(&file, e->recipe.name);
            output_text(&file, ",");
            output_text(&file, experiment_optimizers[k]);
            output_text(&file, ",");
            output_number(&file, point->rate);
            for (size_t j = 0; j < 3; j++) { /* empty: there is none */
                output_text(&file, ",");
                if (isfinite(numbers[j])) output_number(&file, numbers[j]);
            }
            output_text(&file, ",");
            output_count(&file, e->seeds);
            output_text(&file, ",");
            output_count(&file, point->diverged);
            output_text(&file, i == curves[k].best ? ",1\n" : ",0\n");
        }
    return output_close(&file);
}

typedef struct columns {
    double rates[TUNING_MOST_RATES], errors[TUNING_MOST_RATES], low[TUNING_MOST_RATES], high[TUNING_MOST_RATES];
    double out_rates[TUNING_MOST_RATES], out_heights[TUNING_MOST_RATES]; /* where runs diverge */
    char label[64];
    plot_series series[3];
    plot_guide guide;
} columns;

/* Error against rate with its interval, grey dots at the upper edge where runs diverge, and a line at the best rate. Errors of 1e4
 * times the best and more are of no use: they are left outside. */
static plot_panel make_panel(const tuning_curve *curve, size_t k, uint64_t seeds, columns *c) {
    const tuning_point *best = &curve->points[curve->best];
    double highest = 0;
    size_t out = 0, count = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const tuning_point *point = &curve->points[i];
        c->rates[i] = point->rate;
        c->errors[i] = point->error;
        c->low[i] = point->low;
        c->high[i] = point->high;
        if (point->diverged > 0) c->out_rates[out++] = point->rate;
        if (point->diverged == 0) highest = fmax(highest, point->error);
    }
    const double top = 5 * fmin(highest, 1e4 * best->error);
    for (size_t i = 0; i < out; i++) c->out_heights[i] = top / 1.5;
    snprintf(c->label, sizeof c->label, "%s, best at %.4g", experiment_optimizers[k], best->rate);
    const plot_series curve_of = {
        .colour = experiment_colours[k], .count = curve->count, .x = c->rates, .y = c->errors, .low = NULL, .high = c->high};
    plot_series dots = curve_of;
    dots.kind = PLOT_DOTS;
    dots.label = c->label;
    if (seeds > 1) dots.low = c->low;
    c->series[count++] = curve_of;
    c->series[count++] = dots;
    if (out > 0)
        c->series[count++] = (plot_series){.kind = PLOT_DOTS,
                                           .label = "a run diverges",
                                           .colour = "#999999",
                                           .count = out,
                                           .x = c->out_rates,
                                           .y = c->out_heights};
    c->guide = (plot_guide){1, best->rate};
    return (plot_panel){.x_label = "learning rate",
                        .y_label = "median squared error",
                        .series = c->series,
                        .count = count,
                        .guides = &c->guide,
                        .guide_count = 1,
                        .log_x = 1,
                        .log_y = 1,
                        .y_low = best->error / 10,
                        .y_high = top};
}

static int draw_picture(const experiment *e, const tuning_curve curves[OPTIMIZERS]) {
    columns c[OPTIMIZERS];
    plot_panel panels[OPTIMIZERS];
    char title[160], caption[200];
    size_t count = 0;
    for (size_t k = 0; k < OPTIMIZERS; k++)
        if (curves[k].best < curves[k].count) {
            panels[count] = make_panel(&curves[k], k, e->seeds, &c[count]);
            count++;
        }
    if (count == 0) {
        complain(0, "note: %s diverges at every rate, so there is nothing to draw", e->recipe.name);
        return 0;
    }
    snprintf(title, sizeof title, "Learning rates, %s: L = %zu, d = %zu, n = %zu", e->recipe.name, e->recipe.layers, e->recipe.dim,
             e->recipe.context);
    snprintf(caption, sizeof caption,
             "median over prompts of the squared error after %" PRIu64 " steps; geometric mean over %" PRIu64 " seed%s%s",
             e->recipe.steps, e->seeds, e->seeds == 1 ? "" : "s", e->seeds > 1 ? ", 95% interval" : "");
    const plot picture = {title, caption, panels, count, NULL};
    return plot_write(&picture, e->folder, e->name);
}

static void print_row(const experiment *e, size_t k, const tuning_curve *curve) {
    char text[ESTIMATE_TEXT], ends[48];
    size_t diverged = 0;
    for (size_t i = 0; i < curve->count; i++) diverged += curve->points[i].diverged;
    snprintf(ends, sizeof ends, "%.4g to %.4g", curve->points[0].rate, curve->points[curve->count - 1].rate);
    printf("%-10s  %-9s", e->recipe.name, experiment_optimizers[k]);
    if (curve->best == curve->count)
        printf("  %-9s  %-30s", "none", "every rate diverges");
    else
        printf("  %-9.4g  %-30s", curve->points[curve->best].rate,
               estimate_print(curve->points[curve->best].error, curve->points[curve->best].low, curve->points[curve->best].high,
                              text));
    printf("  %-16s  %zu of %zu\n", ends, diverged, curve->count * (size_t)e->seeds);
}

static int print_table(const settings *s) {
    printf("%-10s  %-9s  %-9s  %-30s  %-16s  %s\n", "recipe", "optimizer", "best rate", "its median error", "rates tried",
           "runs diverged");
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < OPTIMIZERS; k++)
            if (s->curves[i][k].count > 0) print_row(&s->e[i], k, &s->curves[i][k]);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

static int work(void *user) {
    settings *s = user;
    int status = 0;
    for (size_t i = 0; i < s->count && status == 0; i++) {
        const tuning_plan plan = plan_of(s, i);
        status = tuning_run(&plan, s->curves[i]);
        if (status == 0) status = write_csv(&s->e[i], s->curves[i]);
        if (status == 0) status = draw_picture(&s->e[i], s->curves[i]);
        if (status != 0) break;
        printf("%s: ", s->e[i].recipe.name);
        tuning_print(&plan, s->curves[i]);
    }
    return status == 0 ? print_table(s) : status;
}

int main(int argc, char **argv) {
    static settings s = {.low = 0.001, .rates = 10};
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.given, work, &s);
    for (size_t i = 0; i < s.count; i++) experiment_forget(&s.e[i]);
    return status;
}
