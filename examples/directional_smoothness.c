/* directional_smoothness: how curved the loss is along the steps of SGD and of Adam.
 *
 * Trains a recipe with both optimizers over several seeds, each run on one thread, and measures u^T H u on one evaluation batch,
 * u being the direction of the step that is about to be taken. The number has a sign: where it is negative the loss curves
 * downwards along the step. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/plot.h"
#include "common/runs.h"
#include "common/smoothness.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct study {
    experiment e;
    uint64_t stride;
    uint64_t eval_prompts;
    uint64_t *stops;
    linattn_batch *batch;
    smoothness_plan plan;
    smoothness_curve *curves; /* (seeds, OPTIMIZERS) */
} study;

static const smoothness_curve *curve_of(const study *s, size_t seed, size_t optimizer) {
    return &s->curves[seed * OPTIMIZERS + optimizer];
}

static int read_settings(study *s, int argc, char **argv) {
    static const experiment_defaults defaults = {.program = "directional_smoothness", .quick_seeds = 2, .quick_steps = 600};
    argument table[EXPERIMENT_ARGUMENTS + 2];
    *s = (study){.stride = 50, .eval_prompts = 1000};
    experiment_begin(&s->e, table);
    table[EXPERIMENT_QUICK].help = "2 seeds and 600 steps where not given";
    table[EXPERIMENT_ARGUMENTS] = (argument){"--stride", ARGUMENT_COUNT, &s->stride, 1000000000, "steps between measurements (50)"};
    table[EXPERIMENT_ARGUMENTS + 1] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the evaluation batch (1000)"};
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Curvature along the steps of SGD and of Adam; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    const int made = experiment_make(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

static int make_plan(study *s) {
    s->plan.path.experiment = &s->e;
    s->plan.path.with_next = 1;
    s->plan.path.stops = s->stops = path_stops(s->stride, s->e.recipe.steps, &s->plan.path.stop_count);
    s->curves = calloc(OPTIMIZERS * (size_t)s->e.seeds, sizeof *s->curves);
    if (s->stops == NULL) return EXIT_FAILED;
    if (s->curves == NULL) return complain(EXIT_FAILED, "no memory for the runs");
    if (linattn_batch_create_from_sampler(&s->batch, s->e.evaluation, (size_t)s->eval_prompts, 0) != LINATTN_OK)
        return complain(EXIT_FAILED, "%s", linattn_last_message());
    s->plan.batch = s->batch;
    return 0;
}

static int run_one(size_t index, void *context) {
    study *s = context;
    return smoothness_run(&s->plan, index % OPTIMIZERS, index / OPTIMIZERS, &s->curves[index]);
}

static int write_csv(const study *s) {
    output file;
    const int status =
        experiment_open(&s->e, ".csv", "recipe,optimizer,seed,step,smoothness,gradient_ratio,gradient_norm,zero_step\n", &file);
    if (status != 0) return status;
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (size_t seed = 0; seed < s->e.seeds; seed++)
            for (size_t i = 0; i < curve_of(s, seed, k)->count; i++) {
                const smoothness_point *point = &curve_of(s, seed, k)->points[i];
                const double reals[] = {point->smoothness, point->gradient_ratio, point->gradient_norm};
                experiment_row(&s->e, &file, k, seed);
                output_text(&file, ",");
                output_count(&file, point->step);
                for (size_t r = 0; r < sizeof reals / sizeof *reals; r++) {
                    output_text(&file, ",");
                    output_number(&file, reals[r]);
                }
                output_text(&file, isnan(point->smoothness) ? ",1\n" : ",0\n");
            }
    return output_close(&file);
}

/* ---- Table ------------------------------------------------------------------------------------------------------------------- */

/* The second half of one run. */
typedef struct half {
    size_t count; /* with a smoothness */
    size_t negatives;
    size_t zero_steps;
    double median;    /* with signs; NaN when the run diverged */
    double geometric; /* of those above 0 */
} half;

/* scratch: (points of a run). */
static half second_half(const study *s, size_t seed, size_t optimizer, double *scratch) {
    const smoothness_curve *curve = curve_of(s, seed, optimizer);
    half h = {.median = NAN, .geometric = NAN};
    if (curve->end.diverged) return h;
    for (size_t i = 0; i < curve->count; i++) {
        const smoothness_point *point = &curve->points[i];
        if (2 * point->step < s->e.recipe.steps) continue;
        if (isnan(point->smoothness))
            h.zero_steps++;
        else
            scratch[h.count++] = point->smoothness;
    }
    h.median = estimate_median(scratch, h.count);
    size_t positive = 0;
    for (size_t i = 0; i < h.count; i++) {
        if (scratch[i] < 0) h.negatives++;
        if (scratch[i] > 0) scratch[positive++] = log(scratch[i]);
    }
    h.geometric = exp(estimate_of(scratch, positive).mean);
    return h;
}

/* One number a seed, of which those that are finite and above 0 count. */
static void print_positive(const double *numbers, size_t seeds, double *scratch) {
    char text[ESTIMATE_TEXT];
    size_t count = 0;
    for (size_t seed = 0; seed < seeds; seed++)
        if (numbers[seed] > 0 && isfinite(numbers[seed])) scratch[count++] = log(numbers[seed]);
    const estimate e = estimate_of(scratch, count);
    printf(" %-26s", estimate_print(exp(e.mean), exp(e.low), exp(e.high), text));
}

static int print_table(const study *s, double seconds) {
    enum { MEDIAN, GEOMETRIC, WHAT };
    const size_t seeds = (size_t)s->e.seeds;
    double *numbers = calloc(OPTIMIZERS * WHAT * seeds, sizeof *numbers);
    double *scratch = calloc(s->plan.path.stop_count + seeds, sizeof *scratch);
    char recipe[120];
    if (numbers == NULL || scratch == NULL) {
        free(numbers);
        free(scratch);
        return complain(EXIT_FAILED, "no memory for the table");
    }
    experiment_describe(&s->e, recipe, sizeof recipe);
    printf("%s; u^T H u along the steps, %" PRIu64 " seed%s, second half of %" PRIu64 " steps, every %" PRIu64 "th, on %" PRIu64
           " prompts\n\n",
           recipe, s->e.seeds, s->e.seeds == 1 ? "" : "s", s->e.recipe.steps, s->stride, s->eval_prompts);
    printf("%-16s %-26s %-26s %-14s %-11s %s\n", "optimizer", "median", "geometric mean, u^T H u > 0", "negative", "zero steps",
           "diverged");
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        size_t count = 0, negatives = 0, zeros = 0, diverged = 0;
        double *of[WHAT] = {numbers + (k * WHAT + MEDIAN) * seeds, numbers + (k * WHAT + GEOMETRIC) * seeds};
        for (size_t seed = 0; seed < seeds; seed++) {
            const half h = second_half(s, seed, k, scratch);
            of[MEDIAN][seed] = h.median;
            of[GEOMETRIC][seed] = h.geometric;
            count += h.count;
            negatives += h.negatives;
            zeros += h.zero_steps;
            if (curve_of(s, seed, k)->end.diverged) diverged++;
        }
        char share[48];
        snprintf(share, sizeof share, "%zu of %zu", negatives, count);
        printf("%-16s", experiment_optimizers[k]);
        for (size_t w = 0; w < WHAT; w++) print_positive(of[w], seeds, scratch);
        printf(" %-14s %-11zu %zu\n", share, zeros, diverged);
    }
    printf("%-16s", "SGD / Adam");
    for (size_t w = 0; w < WHAT; w++) {
        double *sgd = numbers + (SGD * WHAT + w) * seeds;
        const double *adam = numbers + (ADAM * WHAT + w) * seeds;
        for (size_t seed = 0; seed < seeds; seed++) sgd[seed] = sgd[seed] > 0 && adam[seed] > 0 ? sgd[seed] / adam[seed] : NAN;
        print_positive(sgd, seeds, scratch);
    }
    free(numbers);
    free(scratch);
    printf(
        "\n\nGeometric means over seeds, [95%% interval by Student's t on logs]; seeds whose number is not above 0 are left out.\n"
        "Took %.1f s, up to %" PRIu64 " runs at a time. Files: %s/%s.*\n",
        seconds, s->e.threads, s->e.folder, s->e.name);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

/* ---- Picture ----------------------------------------------------------------------------------------------------------------- */

/* How many numbers of an optimizer there are, and how many of them are negative. */
static size_t count_numbers(const study *s, size_t optimizer, size_t *negatives) {
    size_t count = 0;
    *negatives = 0;
    for (size_t seed = 0; seed < s->e.seeds; seed++) {
        const smoothness_curve *curve = curve_of(s, seed, optimizer);
        for (size_t i = 0; i < curve->count && !curve->end.diverged; i++) {
            if (!isnan(curve->points[i].smoothness)) count++;
            if (curve->points[i].smoothness < 0) ++*negatives;
        }
    }
    return count;
}

enum { X, MIDDLE, LOW, HIGH, COLUMNS };

/* Logarithmic axis: mean over seeds of the logs and the band +- sd/2, without what is not above 0. Axis with signs: median and
 * quartiles. columns: (COLUMNS, stops); scratch: (seeds). */
static plot_series make_curve(const study *s, size_t optimizer, int logs, char label[96], double *columns, double *scratch) {
    const size_t stops = s->plan.path.stop_count;
    size_t count = 0, negatives;
    const size_t numbers = count_numbers(s, optimizer, &negatives);
    for (size_t stop = 0; stop < stops; stop++) {
        size_t runs = 0;
        for (size_t seed = 0; seed < s->e.seeds; seed++) {
            const smoothness_curve *curve = curve_of(s, seed, optimizer);
            const double value = curve->end.diverged ? NAN : curve->points[stop].smoothness;
            if (logs ? value > 0 : !isnan(value)) scratch[runs++] = logs ? log(value) : value;
        }
        if (runs == 0) continue;
        double band[] = {0, 0, 0};
        if (logs) {
            const estimate all = estimate_of(scratch, runs);
            const double spread = runs < 2 ? 0 : all.sd / 2;
            for (size_t i = 0; i < 3; i++) band[i] = exp(all.mean + ((double)i - 1) * spread);
        } else {
            const double quartiles[] = {0.25, 0.5, 0.75};
            linattn_sample_quantiles(scratch, runs, quartiles, 3, band);
        }
        columns[X * stops + count] = (double)s->stops[stop];
        columns[LOW * stops + count] = band[0];
        columns[MIDDLE * stops + count] = band[1];
        columns[HIGH * stops + count++] = band[2];
    }
    snprintf(label, 96, "%s (%zu of %zu negative)", experiment_optimizers[optimizer], negatives, numbers);
    return (plot_series){.label = label,
                         .colour = experiment_colours[optimizer],
                         .count = count,
                         .x = columns,
                         .y = columns + MIDDLE * stops,
                         .low = columns + LOW * stops,
                         .high = columns + HIGH * stops};
}

/* A logarithmic axis as long as that hides little: at most one number in ten is not above 0. */
static int draw_picture(const study *s) {
    const size_t room = COLUMNS * s->plan.path.stop_count;
    double *columns = calloc(OPTIMIZERS * room, sizeof *columns), *scratch = calloc((size_t)s->e.seeds, sizeof *scratch);
    char labels[OPTIMIZERS][96], title[160], caption[200], recipe[120];
    plot_series series[OPTIMIZERS];
    plot_guide zero = {0, 0};
    int logs = 1, status = 0;
    size_t drawn = 0;
    if (columns == NULL || scratch == NULL) status = complain(EXIT_FAILED, "no memory for the picture");
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        size_t negatives;
        const size_t numbers = count_numbers(s, k, &negatives);
        if (10 * negatives > numbers) logs = 0;
    }
    for (size_t k = 0; k < OPTIMIZERS && status == 0; k++) {
        series[k] = make_curve(s, k, logs, labels[k], columns + k * room, scratch);
        drawn += series[k].count;
    }
    experiment_describe(&s->e, recipe, sizeof recipe);
    snprintf(title, sizeof title, "Directional smoothness, %s", recipe);
    snprintf(caption, sizeof caption, "%s over %" PRIu64 " seeds on one batch of %" PRIu64 " prompts, band: %s",
             logs ? "mean of logs" : "median", s->e.seeds, s->eval_prompts,
             logs ? "± sd/2; negative numbers left out" : "quartiles");
    const plot_panel panel = {.x_label = "step",
                              .y_label = "curvature along the step, uᵀHu",
                              .series = series,
                              .count = OPTIMIZERS,
                              .guides = &zero,
                              .guide_count = logs ? 0 : 1,
                              .log_y = logs,
                              .signed_y = !logs};
    const plot picture = {title, caption, &panel, 1, NULL};
    if (status == 0 && drawn > 0) status = plot_write(&picture, s->e.folder, s->e.name);
    if (status == 0 && drawn == 0) complain(0, "note: every run diverged, so there is nothing to draw");
    free(columns);
    free(scratch);
    return status;
}

/* ---- The job ----------------------------------------------------------------------------------------------------------------- */

static int work(void *user) {
    study *s = user;
    const size_t runs = OPTIMIZERS * (size_t)s->e.seeds;
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
    if (status == 0) status = draw_picture(s);
    if (status == 0) status = print_table(s, seconds);
    return status;
}

int main(int argc, char **argv) {
    study s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    for (size_t i = 0; s.curves != NULL && i < OPTIMIZERS * s.e.seeds; i++) smoothness_forget(&s.curves[i]);
    free(s.curves);
    free(s.stops);
    linattn_batch_destroy(s.batch);
    experiment_forget(&s.e);
    return status;
}
