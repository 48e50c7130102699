/* prompt_descent: prompt attention trained from p = 0 by several rules: the loss, and how far p is from the teacher.
 *
 * Dense and sparse teachers, softmax and linear attention, more parameters than examples and fewer. Every rule has the best of a few
 * learning rates, tried on other seeds: the one that gets to the target loss in the fewest steps, or to the lowest loss. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/progress.h"
#include "common/prompt_case.h"
#include "common/prompt_rules.h"
#include "common/runs.h"
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 4, TUNING_SEEDS = 3, TUNING_FIRST_SEED = 1000000, MOST_STOPS = 160, A_DECADE = 12 };
enum { KNOWN = 1 << UNDER5 | 1 << UNDER20 | 1 << OVER | 1 << OVER_GAUSSIAN };

static const double target = 1e-6; /* a loss */

/* What is learned; the teacher is that of `scaled`. */
typedef struct task {
    const char *name;
    size_t profile; /* SCALED or LINEAR */
    double sparsity;
} task;
/* After each dense one its sparse one. */
static const task tasks[TASKS] = {{"softmax dense", SCALED, 0.3},
                                  {"softmax sparse", SCALED, 1e-3},
                                  {"linear dense", LINEAR, 0.3},
                                  {"linear sparse", LINEAR, 1e-3}};

typedef struct study {
    prompt_settings s;
    uint64_t steps;
    uint64_t stops[MOST_STOPS];
    size_t stop_count;
    double *scores;       /* (cases, TASKS, PROMPT_RULES, PROMPT_FACTORS, TUNING_SEEDS); see score_of */
    prompt_point *points; /* (cases, TASKS, PROMPT_RULES, seeds, stop_count) */
    progress bar;
} study;

/* 0, then about A_DECADE a decade, and the last step. */
static void plan_stops(study *s) {
    s->stops[0] = 0;
    s->stop_count = 1;
    for (size_t i = 0; s->stop_count < MOST_STOPS - 1; i++) {
        const uint64_t stop = (uint64_t)llround(pow(10, (double)i / A_DECADE));
        if (stop >= s->steps) break;
        if (stop > s->stops[s->stop_count - 1]) s->stops[s->stop_count++] = stop;
    }
    s->stops[s->stop_count++] = s->steps;
}

static int read_settings(study *s, int argc, char **argv) {
    argument table[PROMPT_ARGUMENTS + 1];
    *s = (study){.scores = NULL};
    prompt_settings_begin(&s->s, table, KNOWN);
    table[PROMPT_RECIPE].help = "which systems: under5, under20, over or over_gaussian (under20 and over)";
    table[PROMPT_SEEDS].help = "runs of each rule, seeds 0, 1, ... (10)";
    table[PROMPT_ARGUMENTS] = (argument){"--steps", ARGUMENT_COUNT, &s->steps, 1000000000, "steps of each run (10000)"};
    int status = arguments_read(table, sizeof table / sizeof *table,
                                "Prompt attention trained by several rules; writes tables, CSV files and pictures.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->steps == 0) s->steps = s->s.quick ? 300 : 10000;
    plan_stops(s);
    return prompt_settings_choose(&s->s, "prompt_descent", s->s.recipe == NULL ? 1 << UNDER20 | 1 << OVER : KNOWN, 10, 2);
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------------------- */

static prompt_point *points_of(const study *s, size_t c, size_t k, size_t rule, size_t seed) {
    return &s->points[(((c * TASKS + k) * PROMPT_RULES + rule) * (size_t)s->s.seeds + seed) * s->stop_count];
}
static double *scores_of(const study *s, size_t c, size_t k, size_t rule, size_t factor) {
    return &s->scores[(((c * TASKS + k) * PROMPT_RULES + rule) * PROMPT_FACTORS + factor) * TUNING_SEEDS];
}

/* The first stop at which the loss is at the target; Inf: none. */
static double steps_to_target(const study *s, const prompt_point *points) {
    for (size_t i = 0; i < s->stop_count; i++)
        if (points[i].loss <= target) return (double)s->stops[i];
    return INFINITY;
}

/* log10 of the steps to the target, and where it is not reached more, by as many decades as the last loss is above it. */
static double score_of(const study *s, const prompt_point *points) {
    const double steps = steps_to_target(s, points), last = points[s->stop_count - 1].loss;
    if (isfinite(steps)) return log10(fmax(steps, 1));
    return log10((double)s->steps) + fmax(log10(last / target), 0);
}

static double mean_score(const study *s, size_t c, size_t k, size_t rule, size_t factor) {
    double sum = 0;
    for (size_t seed = 0; seed < TUNING_SEEDS; seed++) sum += scores_of(s, c, k, rule, factor)[seed];
    return sum / TUNING_SEEDS;
}

static size_t best_factor(const study *s, size_t c, size_t k, size_t rule) {
    size_t best = 0;
    for (size_t i = 1; i < prompt_rules[rule].count; i++)
        if (mean_score(s, c, k, rule, i) < mean_score(s, c, k, rule, best)) best = i;
    return best;
}

static prompt_plan plan_of(const study *s, size_t c, size_t k, size_t rule, size_t factor, uint64_t seed) {
    return (prompt_plan){.system = {&prompt_cases[s->s.chosen[c]], tasks[k].profile, tasks[k].sparsity, 1, seed},
                         .rule = rule,
                         .factor = prompt_rules[rule].factors[factor],
                         .stops = s->stops,
                         .stop_count = s->stop_count};
}

static int tune_one(size_t index, void *context) {
    study *s = context;
    const size_t seed = index % TUNING_SEEDS, factor = index / TUNING_SEEDS % PROMPT_FACTORS;
    const size_t rule = index / TUNING_SEEDS / PROMPT_FACTORS % PROMPT_RULES;
    const size_t k = index / TUNING_SEEDS / PROMPT_FACTORS / PROMPT_RULES % TASKS;
    const size_t c = index / TUNING_SEEDS / PROMPT_FACTORS / PROMPT_RULES / TASKS;
    prompt_point points[MOST_STOPS];
    progress_add(&s->bar, 1);
    if (factor >= prompt_rules[rule].count || prompt_rules[rule].count == 1) return 0;
    const prompt_plan plan = plan_of(s, c, k, rule, factor, TUNING_FIRST_SEED + seed);
    const int status = prompt_rule_run(&plan, points);
    scores_of(s, c, k, rule, factor)[seed] = score_of(s, points);
    return status;
}

static int run_one(size_t index, void *context) {
    study *s = context;
    const size_t seeds = (size_t)s->s.seeds, seed = index % seeds, rule = index / seeds % PROMPT_RULES;
    const size_t k = index / seeds / PROMPT_RULES % TASKS, c = index / seeds / PROMPT_RULES / TASKS;
    prompt_plan plan = plan_of(s, c, k, rule, best_factor(s, c, k, rule), seed);
    plan.distances = 1;
    progress_add(&s->bar, 1);
    return prompt_rule_run(&plan, points_of(s, c, k, rule, seed));
}

/* ---- Results ------------------------------------------------------------------------------------------------------------------- */

static const double smallest = 1e-32; /* losses below are rounding, or 0, and stand for this in means */

/* Geometric mean over the seeds that did not diverge. values: (2 seeds), scratch. */
static estimate over_seeds(const study *s, size_t c, size_t k, size_t rule, size_t stop, size_t offset, double *values) {
    size_t count = 0;
    for (size_t seed = 0; seed < s->s.seeds; seed++) {
        const double x = *(const double *)((const char *)&points_of(s, c, k, rule, seed)[stop] + offset);
        if (isfinite(x)) values[count++] = fmax(x, smallest);
    }
    return estimate_of_logs(values, count, values + s->s.seeds);
}

/* Steps to the target: of the seeds that reach it. */
static estimate reaching(const study *s, size_t c, size_t k, size_t rule, double *values) {
    size_t count = 0;
    for (size_t seed = 0; seed < s->s.seeds; seed++) {
        const double steps = steps_to_target(s, points_of(s, c, k, rule, seed));
        if (isfinite(steps)) values[count++] = fmax(steps, 1);
    }
    return estimate_of_logs(values, count, values + s->s.seeds);
}

/* How many times the steps of the dense task, seed by seed, the sparse one takes. */
static estimate slowdown(const study *s, size_t c, size_t dense, size_t rule, double *values) {
    size_t count = 0;
    for (size_t seed = 0; seed < s->s.seeds; seed++) {
        const double few = steps_to_target(s, points_of(s, c, dense, rule, seed));
        const double many = steps_to_target(s, points_of(s, c, dense + 1, rule, seed));
        if (isfinite(few) && isfinite(many)) values[count++] = fmax(many, 1) / fmax(few, 1);
    }
    return estimate_of_logs(values, count, values + s->s.seeds);
}

static void row_begins(const study *s, output *file, size_t c, size_t k, size_t rule) {
    const char *const words[] = {prompt_cases[s->s.chosen[c]].name, ",", tasks[k].name, ",", prompt_rules[rule].name, ","};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) output_text(file, words[i]);
}

static int write_points(const study *s) {
    output file;
    const int status = prompt_open(&s->s, ".csv", "recipe,task,rule,seed,step,loss,distance,distance_seen\n", &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t k = 0; k < TASKS; k++)
            for (size_t rule = 0; rule < PROMPT_RULES; rule++)
                for (size_t seed = 0; seed < s->s.seeds; seed++)
                    for (size_t i = 0; i < s->stop_count; i++) {
                        row_begins(s, &file, c, k, rule);
                        output_count(&file, seed);
                        output_text(&file, ",");
                        output_count(&file, s->stops[i]);
                        prompt_cells(&file, &points_of(s, c, k, rule, seed)[i].loss, sizeof(prompt_point) / sizeof(double));
                        output_text(&file, "\n");
                    }
    return output_close(&file);
}

static int write_summary(const study *s, double *values) {
    static const size_t fields[] = {offsetof(prompt_point, loss), offsetof(prompt_point, distance), offsetof(prompt_point, seen)};
    output file;
    const int status =
        prompt_open(&s->s, "_summary.csv",
                    "recipe,task,rule,seeds,reached,learning_rate,relative,steps_to_target,steps_low,steps_high,loss,"
                    "loss_low,loss_high,distance,distance_low,distance_high,seen,seen_low,seen_high\n",
                    &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t k = 0; k < TASKS; k++)
            for (size_t rule = 0; rule < PROMPT_RULES; rule++) {
                const estimate steps = reaching(s, c, k, rule, values);
                row_begins(s, &file, c, k, rule);
                output_count(&file, s->s.seeds);
                output_text(&file, ",");
                output_count(&file, steps.count);
                prompt_cells(&file, &prompt_rules[rule].factors[best_factor(s, c, k, rule)], 1);
                output_text(&file, prompt_rules[rule].relative ? ",1" : ",0");
                prompt_cells(&file, (const double[]){steps.mean, steps.low, steps.high}, 3);
                for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                    const estimate e = over_seeds(s, c, k, rule, s->stop_count - 1, fields[i], values);
                    prompt_cells(&file, (const double[]){e.mean, e.low, e.high}, 3);
                }
                output_text(&file, "\n");
            }
    return output_close(&file);
}

static int write_slowdowns(const study *s, double *values) {
    output file;
    const int status =
        prompt_open(&s->s, "_slowdown.csv", "recipe,attention,rule,seeds,slowdown,slowdown_low,slowdown_high\n", &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t k = 0; k < TASKS; k += 2)
            for (size_t rule = 0; rule < PROMPT_RULES; rule++) {
                const estimate e = slowdown(s, c, k, rule, values);
                output_text(&file, prompt_cases[s->s.chosen[c]].name);
                output_text(&file, tasks[k].profile == LINEAR ? ",linear," : ",softmax,");
                output_text(&file, prompt_rules[rule].name);
                output_text(&file, ",");
                output_count(&file, e.count);
                prompt_cells(&file, (const double[]){e.mean, e.low, e.high}, 3);
                output_text(&file, "\n");
            }
    return output_close(&file);
}

/* One curve of a picture; room: (3, stop_count). Step 0 has no place on a logarithmic axis. */
static plot_series curve_of(const study *s, size_t c, size_t k, size_t rule, size_t offset, const double *x, double *room,
                            double *values) {
    const size_t count = s->stop_count - 1;
    for (size_t i = 0; i < count; i++) {
        const estimate e = over_seeds(s, c, k, rule, i + 1, offset, values);
        room[i] = e.mean;
        room[count + i] = e.low;
        room[2 * count + i] = e.high;
    }
    const int banded = s->s.seeds > 1 && offset != offsetof(prompt_point, distance);
    return (plot_series){.label = offset == offsetof(prompt_point, distance) ? NULL : prompt_rules[rule].name,
                         .colour = prompt_rules[rule].colour,
                         .dashed = offset == offsetof(prompt_point, distance),
                         .count = count,
                         .x = x,
                         .y = room,
                         .low = banded ? room + count : NULL,
                         .high = banded ? room + 2 * count : NULL};
}

/* A panel for each task. Distances: full, of what examples see; dashed, where it differs, of all. */
static int draw(const study *s, size_t c, int distances, double *values) {
    const size_t count = s->stop_count - 1, dim = prompt_cases[s->s.chosen[c]].dim;
    const int both = distances && dim >= prompt_cases[s->s.chosen[c]].examples;
    double *room = malloc((count + TASKS * 2 * PROMPT_RULES * 3 * count) * sizeof *room), *at = room + count;
    plot_series series[TASKS][2 * PROMPT_RULES];
    plot_panel panels[TASKS];
    char name[120], title[160], sizes[80], labels[TASKS][60], caption[160];
    if (room == NULL) return complain(EXIT_FAILED, "no memory for the picture");
    for (size_t i = 0; i < count; i++) room[i] = (double)s->stops[i + 1];
    for (size_t k = 0; k < TASKS; k++) {
        size_t used = 0;
        for (size_t rule = 0; rule < PROMPT_RULES; rule++)
            for (int all = 0; all <= both; all++, at += 3 * count)
                series[k][used++] = curve_of(s, c, k, rule,
                                             all         ? offsetof(prompt_point, distance)
                                             : distances ? offsetof(prompt_point, seen)
                                                         : offsetof(prompt_point, loss),
                                             room, at, values);
        snprintf(labels[k], sizeof labels[k], "%s, %s", distances ? "|p - p*| / |p*|" : "loss", tasks[k].name);
        panels[k] =
            (plot_panel){.x_label = "step", .y_label = labels[k], .series = series[k], .count = used, .log_x = 1, .log_y = 1};
    }
    prompt_describe(&prompt_cases[s->s.chosen[c]], sizes, sizeof sizes);
    snprintf(title, sizeof title, "%s in training, %s", distances ? "Distance from the teacher" : "Loss", sizes);
    snprintf(caption, sizeof caption, "geometric mean over %" PRIu64 " seeds, band: its 95%% interval%s", s->s.seeds,
             both ? "; dashed: with the directions that no example sees" : "");
    snprintf(name, sizeof name, "%s%s%s%s", s->s.name, s->s.recipe == NULL ? "_" : "",
             s->s.recipe == NULL ? prompt_cases[s->s.chosen[c]].name : "", distances ? "_distance" : "");
    const plot picture = {title, caption, panels, TASKS, NULL};
    const int status = plot_write(&picture, s->s.folder, name);
    free(room);
    return status;
}

static void print_rate(const study *s, size_t c, size_t k, size_t rule) {
    const prompt_rule *of = &prompt_rules[rule];
    const size_t best = best_factor(s, c, k, rule);
    const int at_end = of->count > 1 && (best == 0 || best == of->count - 1);
    char text[32];
    snprintf(text, sizeof text, "%g%s%s", of->factors[best], of->relative ? "/L" : "", at_end ? " (end)" : "");
    printf("  %-14s", text);
}

static void print_case(const study *s, size_t c, double *values) {
    const size_t last = s->stop_count - 1;
    char text[ESTIMATE_TEXT];
    prompt_describe(&prompt_cases[s->s.chosen[c]], text, sizeof text);
    printf("%s\n%-14s  %-14s  %-14s  %-9s  %-26s  %-30s  %-24s  %s\n", text, "task", "rule", "rate", "reached", "steps to it",
           "last loss", "|p - p*| / |p*|", "of what is seen");
    for (size_t k = 0; k < TASKS; k++)
        for (size_t rule = 0; rule < PROMPT_RULES; rule++) {
            const estimate steps = reaching(s, c, k, rule, values);
            printf("%-14s  %-14s", tasks[k].name, prompt_rules[rule].name);
            print_rate(s, c, k, rule);
            printf("  %2zu of %-4" PRIu64, steps.count, s->s.seeds);
            printf("  %-26s", estimate_print(steps.mean, steps.low, steps.high, text));
            const estimate loss = over_seeds(s, c, k, rule, last, offsetof(prompt_point, loss), values);
            printf("  %-30s", estimate_print(loss.mean, loss.low, loss.high, text));
            const estimate all = over_seeds(s, c, k, rule, last, offsetof(prompt_point, distance), values);
            printf("  %-24s", estimate_print(all.mean, all.low, all.high, text));
            const estimate seen = over_seeds(s, c, k, rule, last, offsetof(prompt_point, seen), values);
            printf("  %s\n", estimate_print(seen.mean, seen.low, seen.high, text));
        }
    printf("\n%-14s  %-26s  %s\n", "", "sparse over dense, softmax", "linear");
    for (size_t rule = 0; rule < PROMPT_RULES; rule++) {
        const estimate softmax = slowdown(s, c, 0, rule, values);
        printf("%-14s  %-26s", prompt_rules[rule].name, estimate_print(softmax.mean, softmax.low, softmax.high, text));
        const estimate linear = slowdown(s, c, 2, rule, values);
        printf("  %s\n", estimate_print(linear.mean, linear.low, linear.high, text));
    }
    printf("\n");
}

static void print_tables(const study *s, double seconds, double *values) {
    printf("Prompt attention from p = 0, %" PRIu64
           " steps; the target is a loss of %g; geometric means over seeds [95%% interval]\n\n",
           s->steps, target);
    for (size_t c = 0; c < s->s.chosen_count; c++) print_case(s, c, values);
    printf(
        "Rates: the best on %d other seeds, by steps to the target, or by the last loss (end: the first or last that was tried).\n"
        "L: largest eigenvalue of (1/N) G^T G at 0 or p*. Steps are looked at %d times a decade. SGD: batches of N/10; Adam and "
        "the "
        "others: all N.\nTook %.1f s. Files: %s/%s*\n",
        TUNING_SEEDS, A_DECADE, seconds, s->s.folder, s->s.name);
}

static int work(void *user) {
    study *s = user;
    const size_t kinds = s->s.chosen_count * TASKS * PROMPT_RULES, trials = kinds * PROMPT_FACTORS * TUNING_SEEDS;
    const size_t jobs = kinds * (size_t)s->s.seeds;
    double *values = malloc(2 * (size_t)s->s.seeds * sizeof *values);
    s->scores = calloc(trials, sizeof *s->scores);
    s->points = calloc(jobs * s->stop_count, sizeof *s->points);
    int status = values && s->scores && s->points ? 0 : complain(EXIT_FAILED, "no memory for the results");
    progress_begin(&s->bar, trials + jobs);
    const double started = progress_clock();
    if (status == 0) status = runs_execute(trials, (size_t)s->s.threads, tune_one, s);
    if (status == 0) status = runs_execute(jobs, (size_t)s->s.threads, run_one, s);
    const double seconds = progress_clock() - started;
    progress_end(&s->bar);
    if (status == 0) status = write_points(s);
    if (status == 0) status = write_summary(s, values);
    if (status == 0) status = write_slowdowns(s, values);
    for (size_t c = 0; c < s->s.chosen_count && status == 0; c++) {
        status = draw(s, c, 0, values);
        if (status == 0) status = draw(s, c, 1, values);
    }
    if (status == 0) print_tables(s, seconds, values);
    free(values);
    free(s->scores);
    free(s->points);
    return status;
}

int main(int argc, char **argv) {
    study s;
    const int status = read_settings(&s, argc, argv);
    return status == ARGUMENTS_GO_ON ? prompt_settings_run(&s.s, work, &s) : status;
}
