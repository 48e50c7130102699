/* prompt_condition: is it the sparsity of attention that makes the local problem ill-conditioned?
 *
 * Condition numbers of (1/N) G^T G at the teacher p*, against R, the ratio of the smallest to the largest coefficient, which the
 * teacher is made to have by several profiles; with the bounds that hold for d >= n N, and with what else could explain them: how
 * far |b_i|^2 = |J_i u_i|^2 spreads over examples. docs/prompt-attention.md has the formulas. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/progress.h"
#include "common/prompt_case.h"
#include "common/prompt_finding.h"
#include "common/ranking.h"
#include "common/runs.h"
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const double ratios[] = {1, 0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16, 1e-18, 1e-20};

enum { RATIOS = sizeof ratios / sizeof *ratios, KNOWN = 1 << UNDER5 | 1 << UNDER20 | 1 << OVER | 1 << OVER_GAUSSIAN };
static const double fit_below = 1.001e-3; /* R of the points that the slope is fitted to */

enum { FIELDS = sizeof(prompt_finding) / sizeof(double) };

typedef struct study {
    prompt_settings s;
    prompt_finding *findings; /* (cases, profiles, seeds, RATIOS) */
    progress bar;
} study;

static int read_settings(study *s, int argc, char **argv) {
    argument table[PROMPT_ARGUMENTS];
    *s = (study){.findings = NULL};
    prompt_settings_begin(&s->s, table, KNOWN);
    table[PROMPT_SEEDS].help = "systems of each kind, seeds 0, 1, ... (20)";
    const int status = arguments_read(
        table, sizeof table / sizeof *table,
        "Condition numbers of prompt attention against its sparsity; writes tables, CSV files and pictures.", argc, argv);
    return status == ARGUMENTS_GO_ON ? prompt_settings_choose(&s->s, "prompt_condition", KNOWN, 20, 3) : status;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------------------- */

static prompt_finding *finding_of(const study *s, size_t c, size_t profile, size_t seed, size_t r) {
    return &s->findings[((c * PROMPT_PROFILES + profile) * (size_t)s->s.seeds + seed) * RATIOS + r];
}

/* All R of a case, profile and seed. */
static int run_one(size_t index, void *context) {
    study *s = context;
    const size_t seeds = (size_t)s->s.seeds, c = index / seeds / PROMPT_PROFILES, profile = index / seeds % PROMPT_PROFILES;
    const prompt_case *sizes = &prompt_cases[s->s.chosen[c]];
    const size_t count = sizes->examples * sizes->tokens;
    double *room = malloc((sizes->dim + 2 * count) * sizeof *room);
    int status = room == NULL ? complain(EXIT_FAILED, "no memory for a system") : 0;
    for (size_t r = 0; r < RATIOS && status == 0 && !runs_ending(); r++) {
        const prompt_system system = {sizes, profile, ratios[r], 1, index % seeds};
        linattn_prompt *prompt = NULL;
        status = prompt_system_create(&prompt, &system);
        if (status == LINATTN_OK)
            status = prompt_measure(&system, prompt, room, room + sizes->dim, room + sizes->dim + count,
                                    finding_of(s, c, profile, system.seed, r));
        if (status != LINATTN_OK)
            status = complain(EXIT_FAILED, "%s, %s, R = %g: %s", sizes->name, prompt_profiles[profile], ratios[r],
                              linattn_last_message());
        linattn_prompt_destroy(prompt);
        progress_add(&s->bar, 1);
    }
    free(room);
    return status;
}

/* ---- What the numbers say ---- */

/* Of one field over seeds; values: (2 seeds), scratch. Geometric. */
static estimate over_seeds(const study *s, size_t c, size_t profile, size_t r, size_t offset, double *values) {
    const size_t seeds = (size_t)s->s.seeds;
    size_t count = 0;
    for (size_t seed = 0; seed < seeds; seed++) {
        const double value = *(const double *)((const char *)finding_of(s, c, profile, seed, r) + offset);
        if (isfinite(value) && value > 0) values[count++] = value;
    }
    return estimate_of_logs(values, count, values + seeds);
}

/* Two laws of small R: kappa like (ln 1/R)^c, and kappa like R^-c. */
enum { OF_LOGARITHM, OF_RATIO, LAWS };

/* Their exponent c: slope of ln kappa against ln ln(1/R), or against ln(1/R), a line for each seed; mean over seeds. */
static estimate exponent_of(const study *s, size_t c, size_t profile, size_t law, double *values) {
    size_t fitted = 0;
    for (size_t seed = 0; seed < s->s.seeds; seed++) {
        double x[RATIOS], y[RATIOS];
        size_t count = 0;
        for (size_t r = 0; r < RATIOS; r++) {
            const prompt_finding *f = finding_of(s, c, profile, seed, r);
            if (f->ratio > fit_below) continue;
            x[count] = law == OF_LOGARITHM ? log(-log(f->ratio)) : -log(f->ratio);
            y[count++] = log(f->condition);
        }
        linattn_line line = {.struct_size = sizeof line};
        if (linattn_line_fit(x, y, count, &line) == LINATTN_OK) values[fitted++] = line.slope;
    }
    return estimate_of(values, fitted);
}

/* Rank correlation of kappa and another field, over softmax's profiles, R and seeds of a case. */
static double correlation_of(const study *s, size_t c, size_t offset) {
    const size_t count = LINEAR * (size_t)s->s.seeds * RATIOS; /* LINEAR is the last profile */
    const prompt_finding *all = finding_of(s, c, 0, 0, 0);
    double *x = malloc(2 * count * sizeof *x);
    if (x == NULL) return NAN;
    for (size_t i = 0; i < count; i++) {
        x[i] = *(const double *)((const char *)&all[i] + offset);
        x[count + i] = all[i].condition;
    }
    const double result = rank_correlation(x, x + count, count);
    free(x);
    return result;
}

/* How often a bound is above what it bounds, and how often it is not; rounding is let through. */
static void check_bounds(const study *s, size_t c, size_t *checked, size_t *crossed) {
    const size_t count = PROMPT_PROFILES * (size_t)s->s.seeds * RATIOS;
    const prompt_finding *all = finding_of(s, c, 0, 0, 0);
    *checked = *crossed = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(all[i].bound)) continue;
        ++*checked;
        *crossed += all[i].condition > all[i].bound * (1 + 1e-9) || all[i].bound > all[i].ratio_bound * (1 + 1e-9);
    }
}

/* ---- Results ----------------------------------------------------------------------------------------------------------------- */

static void row_begins(const study *s, output *file, size_t c, size_t profile) {
    output_text(file, prompt_cases[s->s.chosen[c]].name);
    output_text(file, ",");
    output_text(file, prompt_profiles[profile]);
}

static int write_systems(const study *s) {
    output file;
    const int status = prompt_open(&s->s, ".csv",
                                   "recipe,profile,seed,asked_ratio,ratio_median,ratio_smallest,condition,bound,ratio_bound,spread,"
                                   "effective_examples\n",
                                   &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++)
            for (size_t seed = 0; seed < s->s.seeds; seed++)
                for (size_t r = 0; r < RATIOS; r++) {
                    row_begins(s, &file, c, profile);
                    output_text(&file, ",");
                    output_count(&file, seed);
                    prompt_cells(&file, &ratios[r], 1);
                    prompt_cells(&file, &finding_of(s, c, profile, seed, r)->ratio, FIELDS);
                    output_text(&file, "\n");
                }
    return output_close(&file);
}

/* Geometric means over seeds, with intervals. */
static int write_summary(const study *s, double *values) {
    output file;
    const int status = prompt_open(&s->s, "_summary.csv",
                                   "recipe,profile,asked_ratio,seeds,ratio_median,condition,condition_low,condition_high,bound,"
                                   "ratio_bound,spread,effective_examples\n",
                                   &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++)
            for (size_t r = 0; r < RATIOS; r++) {
                const estimate k = over_seeds(s, c, profile, r, offsetof(prompt_finding, condition), values);
                const double numbers[] = {over_seeds(s, c, profile, r, offsetof(prompt_finding, ratio), values).mean,
                                          k.mean,
                                          k.low,
                                          k.high,
                                          over_seeds(s, c, profile, r, offsetof(prompt_finding, bound), values).mean,
                                          over_seeds(s, c, profile, r, offsetof(prompt_finding, ratio_bound), values).mean,
                                          over_seeds(s, c, profile, r, offsetof(prompt_finding, spread), values).mean,
                                          over_seeds(s, c, profile, r, offsetof(prompt_finding, effective), values).mean};
                row_begins(s, &file, c, profile);
                prompt_cells(&file, &ratios[r], 1);
                output_text(&file, ",");
                output_count(&file, k.count);
                prompt_cells(&file, numbers, sizeof numbers / sizeof *numbers);
                output_text(&file, "\n");
            }
    return output_close(&file);
}

static int write_fits(const study *s, double *values) {
    output file;
    const int status = prompt_open(&s->s, "_fits.csv",
                                   "recipe,profile,seeds,log_exponent,log_exponent_low,log_exponent_high,ratio_exponent,ratio_"
                                   "exponent_low,ratio_exponent_high\n",
                                   &file);
    if (status != 0) return status;
    for (size_t c = 0; c < s->s.chosen_count; c++)
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++) {
            const estimate e = exponent_of(s, c, profile, OF_LOGARITHM, values),
                           power = exponent_of(s, c, profile, OF_RATIO, values);
            row_begins(s, &file, c, profile);
            output_text(&file, ",");
            output_count(&file, e.count);
            prompt_cells(&file, (const double[]){e.mean, e.low, e.high, power.mean, power.low, power.high}, 6);
            output_text(&file, "\n");
        }
    return output_close(&file);
}

/* Geometric means over seeds of R, kappa with its interval, and the bound in R. */
typedef struct curve {
    double x[RATIOS], y[RATIOS], low[RATIOS], high[RATIOS], bound[RATIOS];
} curve;

static void fill_curve(const study *s, size_t c, size_t profile, curve *out, double *values) {
    for (size_t r = 0; r < RATIOS; r++) {
        const estimate k = over_seeds(s, c, profile, r, offsetof(prompt_finding, condition), values);
        out->x[r] = over_seeds(s, c, profile, r, offsetof(prompt_finding, ratio), values).mean;
        out->y[r] = k.mean;
        out->low[r] = k.low;
        out->high[r] = k.high;
        out->bound[r] = over_seeds(s, c, profile, r, offsetof(prompt_finding, bound), values).mean;
    }
}

static int draw_ratios(const study *s, double *values) {
    curve *curves = calloc(PROMPT_CASES * PROMPT_PROFILES, sizeof *curves);
    plot_series series[PROMPT_CASES][PROMPT_PROFILES + 1];
    plot_panel panels[PROMPT_CASES];
    char labels[PROMPT_CASES][80], caption[160];
    if (curves == NULL) return complain(EXIT_FAILED, "no memory for the picture");
    for (size_t c = 0; c < s->s.chosen_count; c++) {
        for (size_t profile = 0; profile < PROMPT_PROFILES; profile++) {
            curve *k = &curves[c * PROMPT_PROFILES + profile];
            fill_curve(s, c, profile, k, values);
            series[c][profile] = (plot_series){.label = prompt_profiles[profile],
                                               .colour = prompt_colours[profile],
                                               .count = RATIOS,
                                               .x = k->x,
                                               .y = k->y,
                                               .low = s->s.seeds > 1 ? k->low : NULL,
                                               .high = s->s.seeds > 1 ? k->high : NULL};
        }
        const curve *scaled = &curves[c * PROMPT_PROFILES + SCALED];
        const int bounded = !isnan(scaled->bound[0]);
        series[c][PROMPT_PROFILES] = (plot_series){.label = "bound, scaled",
                                                   .colour = prompt_colours[SCALED],
                                                   .dashed = 1,
                                                   .count = bounded ? RATIOS : 0,
                                                   .x = scaled->x,
                                                   .y = scaled->bound};
        prompt_describe(&prompt_cases[s->s.chosen[c]], labels[c], sizeof labels[c]);
        panels[c] = (plot_panel){.x_label = "R, smallest over largest coefficient",
                                 .y_label = labels[c],
                                 .series = series[c],
                                 .count = PROMPT_PROFILES + (bounded ? 1 : 0),
                                 .log_x = 1,
                                 .log_y = 1};
    }
    snprintf(caption, sizeof caption, "geometric mean over %" PRIu64 " seeds, band: its 95%% interval; R: median over examples",
             s->s.seeds);
    const plot picture = {"Condition number at the teacher against its sparsity", caption, panels, s->s.chosen_count, NULL};
    const int status = plot_write(&picture, s->s.folder, s->s.name);
    free(curves);
    return status;
}

/* kappa against how unevenly |b|^2 spreads, a dot for each system. */
static int draw_spread(const study *s) {
    const size_t each = (size_t)s->s.seeds * RATIOS;
    double *room = malloc(2 * s->s.chosen_count * LINEAR * each * sizeof *room), *at = room;
    plot_series series[PROMPT_CASES][LINEAR];
    plot_panel panels[PROMPT_CASES];
    char labels[PROMPT_CASES][80];
    if (room == NULL) return complain(EXIT_FAILED, "no memory for the picture");
    for (size_t c = 0; c < s->s.chosen_count; c++) {
        for (size_t profile = 0; profile < LINEAR; profile++) {
            double *x = at, *y = at + each;
            at += 2 * each;
            for (size_t i = 0; i < each; i++) {
                const prompt_finding *f = finding_of(s, c, profile, 0, 0) + i;
                x[i] = f->spread;
                y[i] = f->condition;
            }
            series[c][profile] = (plot_series){.kind = PLOT_DOTS,
                                               .label = prompt_profiles[profile],
                                               .colour = prompt_colours[profile],
                                               .size = 0.5,
                                               .count = each,
                                               .x = x,
                                               .y = y};
        }
        prompt_describe(&prompt_cases[s->s.chosen[c]], labels[c], sizeof labels[c]);
        panels[c] = (plot_panel){.x_label = "largest over smallest |b|² of the examples",
                                 .y_label = labels[c],
                                 .series = series[c],
                                 .count = LINEAR,
                                 .log_x = 1,
                                 .log_y = 1};
    }
    char name[120];
    snprintf(name, sizeof name, "%s_spread", s->s.name);
    const plot picture = {"Condition number against the spread of |b|² over examples", "softmax; a dot for each system, all R",
                          panels, s->s.chosen_count, NULL};
    const int status = plot_write(&picture, s->s.folder, name);
    free(room);
    return status;
}

static void print_case(const study *s, size_t c, double *values) {
    static const size_t shown[] = {0, 4, 6, 9, 13}; /* of ratios */
    char text[ESTIMATE_TEXT];
    size_t checked, crossed;
    prompt_describe(&prompt_cases[s->s.chosen[c]], text, sizeof text);
    printf("%s\n%-12s", text, "");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) printf("  R %-19.0e", ratios[shown[i]]);
    printf("  %-22s  exponent of 1/R\n", "exponent of ln 1/R");
    for (size_t profile = 0; profile < PROMPT_PROFILES; profile++) {
        printf("%-12s", prompt_profiles[profile]);
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            const estimate k = over_seeds(s, c, profile, shown[i], offsetof(prompt_finding, condition), values);
            printf("  %-21s", estimate_print(k.mean, k.low, k.high, text));
        }
        for (size_t law = 0; law < LAWS; law++) {
            const estimate e = exponent_of(s, c, profile, law, values);
            printf(law == OF_LOGARITHM ? "  %-22s" : "  %s", estimate_print(e.mean, e.low, e.high, text));
        }
        printf("\n");
    }
    check_bounds(s, c, &checked, &crossed);
    printf("Rank correlation of the condition number, over the four profiles of softmax: with 1/R %.2f, with the spread of |b|^2 "
           "%.2f, with "
           "N over the examples that matter %.2f\n",
           -correlation_of(s, c, offsetof(prompt_finding, ratio)), correlation_of(s, c, offsetof(prompt_finding, spread)),
           -correlation_of(s, c, offsetof(prompt_finding, effective)));
    if (checked > 0)
        printf("Bounds crossed in %zu of %zu systems.\n\n", crossed, checked);
    else
        printf("d < n N: there is no bound.\n\n");
}

static int work(void *user) {
    study *s = user;
    const size_t jobs = s->s.chosen_count * PROMPT_PROFILES * (size_t)s->s.seeds;
    double *values = malloc(2 * (size_t)s->s.seeds * sizeof *values);
    s->findings = calloc(jobs * RATIOS, sizeof *s->findings);
    int status = values == NULL || s->findings == NULL ? complain(EXIT_FAILED, "no memory for the results") : 0;
    progress_begin(&s->bar, jobs * RATIOS);
    const double started = progress_clock();
    if (status == 0) status = runs_execute(jobs, (size_t)s->s.threads, run_one, s);
    progress_end(&s->bar);
    if (status == 0) status = write_systems(s);
    if (status == 0) status = write_summary(s, values);
    if (status == 0) status = write_fits(s, values);
    if (status == 0) status = draw_ratios(s, values);
    if (status == 0) status = draw_spread(s);
    if (status == 0) {
        printf("Condition number of (1/N) G^T G at the teacher: geometric mean over %" PRIu64 " seeds [95%% interval]\n\n",
               s->s.seeds);
        for (size_t c = 0; c < s->s.chosen_count; c++) print_case(s, c, values);
        printf("R is what the profile was asked for; linear attention has the teacher of `scaled`. Exponents are of R <= 1e-3.\n"
               "Took %.1f s. Files: %s/%s*\n",
               progress_clock() - started, s->s.folder, s->s.name);
    }
    free(values);
    free(s->findings);
    return status;
}

int main(int argc, char **argv) {
    study s;
    const int status = read_settings(&s, argc, argv);
    return status == ARGUMENTS_GO_ON ? prompt_settings_run(&s.s, work, &s) : status;
}
