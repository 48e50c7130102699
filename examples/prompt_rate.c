/* prompt_rate: does the condition number tell how fast gradient descent ends?
 *
 * Gradient descent from p = 0 with step 1/L on over-parameterised systems without noise. The rate at which the loss falls from
 * 1e-12 to 1e-20 is held against the one that the singular values of G predict: at p_inf, where gradient descent ends, and at the
 * teacher p*. Then the same over temperatures. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/progress.h"
#include "common/prompt_case.h"
#include "common/prompt_follow.h"
#include "common/runs.h"
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const double ratios[] = {0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6}; /* at R = 1 the descent begins at a solution */
static const double temperatures[] = {0.1, 0.2, 0.5, 1, 2, 5, 10};

enum {
    RATIOS = sizeof ratios / sizeof *ratios,
    TEMPERATURES = sizeof temperatures / sizeof *temperatures,
    KNOWN = 1 << OVER | 1 << OVER_GAUSSIAN
};

/* What stays as it is when the temperature changes, with the profile `scaled`. */
enum { SAME_SPARSITY, SAME_TEACHER, WAYS };
static const char *const ways[WAYS] = {"same sparsity", "same teacher"};
static const double temperature_ratio = 0.3; /* R at T = 1 */

typedef struct study {
    prompt_settings s;
    uint64_t steps;
    prompt_descent *descents; /* (PROMPT_PROFILES, RATIOS, seeds), then (WAYS, TEMPERATURES, seeds) */
    size_t main_count;
    size_t count;
    progress bar;
} study;

static int read_settings(study *s, int argc, char **argv) {
    argument table[PROMPT_ARGUMENTS + 1];
    *s = (study){.descents = NULL};
    prompt_settings_begin(&s->s, table, KNOWN);
    table[PROMPT_RECIPE].help = "which systems, over or over_gaussian (over)";
    table[PROMPT_SEEDS].help = "systems of each kind, seeds 0, 1, ... (5)";
    table[PROMPT_ARGUMENTS] =
        (argument){"--steps", ARGUMENT_COUNT, &s->steps, 1000000000, "steps after which a descent is given up (2000000)"};
    int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "The rate of gradient descent on prompt attention, measured and predicted; writes tables, CSV files and "
                       "pictures.",
                       argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->steps == 0) s->steps = s->s.quick ? 20000 : 2000000;
    if (s->s.recipe == NULL) s->s.recipe = prompt_cases[OVER].name;
    return prompt_settings_choose(&s->s, "prompt_rate", KNOWN, 5, 1);
}

/* ---- A descent ----------------------------------------------------------------------------------------------------------------- */

static int run_one(size_t index, void *context) {
    study *s = context;
    /* Long descents are those of small R, which come last: the last ones first. */
    prompt_descent *d = &s->descents[s->count - 1 - index];
    const prompt_case *sizes = d->system.sizes;
    double *room = calloc(3 * sizes->dim + sizes->examples * sizes->tokens, sizeof *room);
    if (room == NULL) return complain(EXIT_FAILED, "no memory for a system");
    linattn_prompt *prompt = NULL;
    int status = prompt_system_create(&prompt, &d->system);
    if (status == LINATTN_OK) status = prompt_follow(prompt, s->steps, room, d);
    if (status != LINATTN_OK)
        status =
            complain(EXIT_FAILED, "%s, %s, R = %g, T = %g, seed %" PRIu64 ": %s", sizes->name, prompt_profiles[d->system.profile],
                     d->system.sparsity, d->system.temperature, d->system.seed, linattn_last_message());
    linattn_prompt_destroy(prompt);
    free(room);
    progress_add(&s->bar, 1);
    return status;
}

/* The descents of a profile and R, one for each seed; or of a way and a temperature. */
static prompt_descent *descents_of(const study *s, size_t profile, size_t r) {
    return &s->descents[(profile * RATIOS + r) * (size_t)s->s.seeds];
}
static prompt_descent *heated(const study *s, size_t way, size_t t) {
    return &s->descents[s->main_count + (way * TEMPERATURES + t) * (size_t)s->s.seeds];
}

static int plan(study *s) {
    const size_t seeds = (size_t)s->s.seeds;
    const prompt_case *sizes = &prompt_cases[s->s.chosen[0]];
    s->main_count = PROMPT_PROFILES * RATIOS * seeds;
    s->count = s->main_count + WAYS * TEMPERATURES * seeds;
    s->descents = calloc(s->count, sizeof *s->descents);
    if (s->descents == NULL) return complain(EXIT_FAILED, "no memory for the results");
    for (size_t seed = 0; seed < seeds; seed++) {
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++)
            for (size_t r = 0; r < RATIOS; r++)
                descents_of(s, profile, r)[seed].system = (prompt_system){sizes, profile, ratios[r], 1, seed};
        for (size_t t = 0; t < TEMPERATURES; t++) {
            const double heat = temperatures[t], cooled = pow(temperature_ratio, 1 / heat); /* |p*| is T ln(1/R) times a constant */
            heated(s, SAME_SPARSITY, t)[seed].system = (prompt_system){sizes, SCALED, temperature_ratio, heat, seed};
            heated(s, SAME_TEACHER, t)[seed].system = (prompt_system){sizes, SCALED, cooled, heat, seed};
        }
    }
    return 0;
}

/* ---- Results ------------------------------------------------------------------------------------------------------------------- */

static void write_descent(output *file, const prompt_descent *d) {
    const double numbers[] = {d->system.temperature, d->system.sparsity,   d->ratio_teacher, d->ratio,
                              d->condition_teacher,  d->condition,         d->learning_rate, d->rate,
                              d->predicted,          d->predicted_teacher, d->loss};
    output_text(file, d->system.sizes->name);
    output_text(file, ",");
    output_text(file, prompt_profiles[d->system.profile]);
    output_text(file, ",");
    output_count(file, d->system.seed);
    prompt_cells(file, numbers, sizeof numbers / sizeof *numbers);
    output_text(file, ",");
    output_count(file, d->steps);
    output_text(file, d->converged ? ",1\n" : ",0\n");
}

static int write_descents(const study *s) {
    static const char header[] =
        "recipe,profile,seed,temperature,asked_ratio,ratio_teacher,ratio_end,condition_teacher,condition_end,"
        "learning_rate,rate,predicted_end,predicted_teacher,loss,steps,converged\n";
    output file;
    int status = prompt_open(&s->s, ".csv", header, &file);
    if (status != 0) return status;
    for (size_t i = 0; i < s->main_count; i++) write_descent(&file, &s->descents[i]);
    status = output_close(&file);
    if (status == 0) status = prompt_open(&s->s, "_temperature.csv", header, &file);
    if (status != 0) return status;
    for (size_t i = s->main_count; i < s->count; i++) write_descent(&file, &s->descents[i]);
    return output_close(&file);
}

/* Over the seeds that converged, or all at the teacher: geometric mean of a / b; NO_FIELD stands for 1. values: (2 seeds), scratch. */
enum { NO_FIELD = 0 };
static estimate over_seeds(const study *s, const prompt_descent *d, size_t a, size_t b, double *values) {
    size_t count = 0;
    for (size_t seed = 0; seed < s->s.seeds; seed++) {
        const char *at = (const char *)&d[seed];
        const double value = *(const double *)(at + a) / (b == NO_FIELD ? 1 : *(const double *)(at + b));
        const int counts = d[seed].converged || a == offsetof(prompt_descent, condition_teacher);
        if (counts && isfinite(value) && value > 0) values[count++] = value;
    }
    estimate e = estimate_of_logs(values, count, values + s->s.seeds);
    if (count < s->s.seeds) e.low = e.high = NAN; /* those that converge are not like the others */
    return e;
}

static void write_summary_row(const study *s, output *file, const prompt_descent *d, double *values) {
    const estimate rate = over_seeds(s, d, offsetof(prompt_descent, rate), NO_FIELD, values);
    const estimate end = over_seeds(s, d, offsetof(prompt_descent, condition), NO_FIELD, values);
    const estimate quotient = over_seeds(s, d, offsetof(prompt_descent, rate), offsetof(prompt_descent, predicted), values);
    const double numbers[] = {
        over_seeds(s, d, offsetof(prompt_descent, condition_teacher), NO_FIELD, values).mean,
        end.mean,
        end.low,
        end.high,
        rate.mean,
        rate.low,
        rate.high,
        quotient.mean,
        quotient.low,
        quotient.high,
        over_seeds(s, d, offsetof(prompt_descent, rate), offsetof(prompt_descent, predicted_teacher), values).mean};
    output_text(file, d->system.sizes->name);
    output_text(file, ",");
    output_text(file, prompt_profiles[d->system.profile]);
    prompt_cells(file, (const double[]){d->system.temperature, d->system.sparsity}, 2);
    output_text(file, ",");
    output_count(file, s->s.seeds);
    output_text(file, ",");
    output_count(file, rate.count);
    prompt_cells(file, numbers, sizeof numbers / sizeof *numbers);
    output_text(file, "\n");
}

static int write_summary(const study *s, double *values) {
    output file;
    const int status = prompt_open(&s->s, "_summary.csv",
                                   "recipe,profile,temperature,asked_ratio,seeds,converged,condition_teacher,condition_end,"
                                   "condition_end_low,condition_end_high,rate,rate_low,rate_high,measured_over_predicted,"
                                   "measured_over_predicted_low,measured_over_predicted_high,measured_over_predicted_teacher\n",
                                   &file);
    if (status != 0) return status;
    for (size_t i = 0; i < s->count; i += (size_t)s->s.seeds) write_summary_row(s, &file, &s->descents[i], values);
    return output_close(&file);
}

/* Dots of one profile: predicted rate at `field` across, measured up. */
static size_t fill_dots(const study *s, size_t profile, size_t field, double *x, double *y) {
    size_t count = 0;
    for (size_t i = 0; i < s->main_count; i++) {
        const prompt_descent *d = &s->descents[i];
        if (d->system.profile != profile || !d->converged) continue;
        x[count] = *(const double *)((const char *)d + field);
        y[count++] = d->rate;
    }
    return count;
}

static int draw_rates(const study *s) {
    static const size_t fields[] = {offsetof(prompt_descent, predicted), offsetof(prompt_descent, predicted_teacher)};
    static const char *const labels[] = {"rate predicted where the descent ends", "rate predicted at the teacher"};
    static const double ends[] = {1e-6, 1};
    double *room = malloc(4 * PROMPT_PROFILES * s->main_count * sizeof *room), *at = room;
    plot_series dots[2][PROMPT_PROFILES + 1];
    plot_panel panels[2];
    char caption[160];
    if (room == NULL) return complain(EXIT_FAILED, "no memory for the picture");
    for (size_t p = 0; p < 2; p++) {
        dots[p][0] = (plot_series){.label = "equal", .colour = "#999999", .count = 2, .x = ends, .y = ends};
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++, at += 2 * s->main_count)
            dots[p][profile + 1] = (plot_series){.kind = PLOT_DOTS,
                                                 .label = prompt_profiles[profile],
                                                 .colour = prompt_colours[profile],
                                                 .size = 0.7,
                                                 .count = fill_dots(s, profile, fields[p], at, at + s->main_count),
                                                 .x = at,
                                                 .y = at + s->main_count};
        panels[p] = (plot_panel){.x_label = labels[p],
                                 .y_label = "measured rate",
                                 .series = dots[p],
                                 .count = PROMPT_PROFILES + 1,
                                 .log_x = 1,
                                 .log_y = 1};
    }
    snprintf(caption, sizeof caption,
             "ln(loss before / loss after) of a step, losses 1e-12 to 1e-20; %" PRIu64 " seeds, R 0.3 to 1e-6", s->s.seeds);
    const plot picture = {"Gradient descent with step 1/L from p = 0: measured and predicted rates", caption, panels, 2, NULL};
    const int status = plot_write(&picture, s->s.folder, s->s.name);
    free(room);
    return status;
}

static int draw_temperatures(const study *s, double *values) {
    static const size_t fields[] = {offsetof(prompt_descent, condition), offsetof(prompt_descent, rate)};
    static const char *const labels[] = {"condition number where the descent ends", "measured rate"};
    static const char *const colours[WAYS] = {"#000000", "#d62728"};
    double y[2][WAYS][TEMPERATURES], low[2][WAYS][TEMPERATURES], high[2][WAYS][TEMPERATURES];
    plot_series curves[2][WAYS];
    plot_panel panels[2];
    char name[120];
    size_t drawn = 0;
    for (size_t p = 0; p < 2; p++) {
        for (size_t way = 0; way < WAYS; way++) {
            for (size_t t = 0; t < TEMPERATURES; t++) {
                const estimate e = over_seeds(s, heated(s, way, t), fields[p], NO_FIELD, values);
                y[p][way][t] = e.count == s->s.seeds ? e.mean : NAN;
                drawn += e.count == s->s.seeds;
                low[p][way][t] = e.low;
                high[p][way][t] = e.high;
            }
            curves[p][way] = (plot_series){.label = ways[way],
                                           .colour = colours[way],
                                           .count = TEMPERATURES,
                                           .x = temperatures,
                                           .y = y[p][way],
                                           .low = s->s.seeds > 1 ? low[p][way] : NULL,
                                           .high = s->s.seeds > 1 ? high[p][way] : NULL};
        }
        panels[p] = (plot_panel){
            .x_label = "temperature T", .y_label = labels[p], .series = curves[p], .count = WAYS, .log_x = 1, .log_y = 1};
    }
    if (drawn == 0) return 0; /* --steps is too small for any: gnuplot draws no empty panel */
    snprintf(name, sizeof name, "%s_temperature", s->s.name);
    const plot picture = {"Temperature, with the teacher's sparsity or the teacher kept", "scaled, R = 0.3 at T = 1, step 1/L",
                          panels, 2, NULL};
    return plot_write(&picture, s->s.folder, name);
}

static void print_rows(const study *s, const prompt_descent *d, const char *first, double number, double *values) {
    char text[ESTIMATE_TEXT];
    const estimate teacher = over_seeds(s, d, offsetof(prompt_descent, condition_teacher), NO_FIELD, values);
    const estimate end = over_seeds(s, d, offsetof(prompt_descent, condition), NO_FIELD, values);
    const estimate rate = over_seeds(s, d, offsetof(prompt_descent, rate), NO_FIELD, values);
    const estimate right = over_seeds(s, d, offsetof(prompt_descent, rate), offsetof(prompt_descent, predicted), values);
    printf("%-14s  %-6.0e  %zu of %-4" PRIu64, first, number, rate.count, s->s.seeds);
    printf("  %-24s", estimate_print(teacher.mean, teacher.low, teacher.high, text));
    printf("  %-24s", estimate_print(end.mean, end.low, end.high, text));
    printf("  %-30s", estimate_print(rate.mean, rate.low, rate.high, text));
    if (rate.count > 0)
        printf("  %.4f\n", right.mean);
    else
        printf("  -\n");
}

/* How many rates are as predicted, and which are not. */
static void print_errors(const study *s) {
    size_t converged = 0, right = 0;
    for (size_t i = 0; i < s->main_count; i++) {
        const prompt_descent *d = &s->descents[i];
        if (!d->converged) continue;
        converged++;
        if (fabs(d->rate / d->predicted - 1) <= 0.05)
            right++;
        else
            printf("%s, R = %g, seed %" PRIu64 ", done after %" PRIu64
                   " steps: the measured rate is %.3f times the predicted one.\n",
                   prompt_profiles[d->system.profile], d->system.sparsity, d->system.seed, d->steps, d->rate / d->predicted);
    }
    printf("%zu of %zu descents got below a loss of %.0e; %zu of their rates are within 5%% of those predicted where they end.\n",
           converged, s->main_count, prompt_window_low, right);
}

static void print_tables(const study *s, double seconds, double *values) {
    printf("Gradient descent from p = 0 with step 1/L, up to %" PRIu64
           " steps; geometric means over the seeds that converged [95%% "
           "interval where all did]\n\n",
           s->steps);
    printf("%-14s  %-6s  %-9s  %-24s  %-24s  %-30s  %s\n", "profile", "R", "converged", "kappa at the teacher", "kappa at the end",
           "rate", "over predicted");
    for (size_t profile = 0; profile < PROMPT_PROFILES; profile++)
        for (size_t r = 0; r < RATIOS; r++) print_rows(s, descents_of(s, profile, r), prompt_profiles[profile], ratios[r], values);
    printf("\n%-14s  %-6s\n", "temperature", "T");
    for (size_t way = 0; way < WAYS; way++)
        for (size_t t = 0; t < TEMPERATURES; t++) print_rows(s, heated(s, way, t), ways[way], temperatures[t], values);
    printf("\n");
    print_errors(s);
    printf("Took %.1f s. Files: %s/%s*\n", seconds, s->s.folder, s->s.name);
}

static int work(void *user) {
    study *s = user;
    double *values = malloc(2 * (size_t)s->s.seeds * sizeof *values);
    int status = values == NULL ? complain(EXIT_FAILED, "no memory for the results") : plan(s);
    progress_begin(&s->bar, s->count);
    const double started = progress_clock();
    if (status == 0) status = runs_execute(s->count, (size_t)s->s.threads, run_one, s);
    const double seconds = progress_clock() - started;
    progress_end(&s->bar);
    if (status == 0) status = write_descents(s);
    if (status == 0) status = write_summary(s, values);
    if (status == 0) status = draw_rates(s);
    if (status == 0) status = draw_temperatures(s, values);
    if (status == 0) print_tables(s, seconds, values);
    free(values);
    free(s->descents);
    return status;
}

int main(int argc, char **argv) {
    study s;
    const int status = read_settings(&s, argc, argv);
    return status == ARGUMENTS_GO_ON ? prompt_settings_run(&s.s, work, &s) : status;
}
