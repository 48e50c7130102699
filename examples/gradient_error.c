/* gradient_error: how stochastic gradients err, and how heavy the tail of their error is.
 *
 * At parameters of a recipe, the initial ones or those after some training, many batches give a gradient each; the error is its
 * distance from the mean gradient of 100 other batches. A norm is never normal, so the errors are also compared with those of a
 * Gaussian surrogate: noise of the same mean and covariance. */
#include "common/complain.h"
#include "common/estimate.h"
#include "common/noise.h"
#include "common/path.h"
#include "common/plot.h"
#include "common/runs.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_DRAWS = 100, BINS = 100 };

static const char *const names[SAMPLES] = {"measured", "surrogate"};

typedef struct study {
    experiment e;
    uint64_t samples;
    uint64_t after; /* this many training steps */
    const char *optimizer_name;
    size_t optimizer;
    noise_finding *findings; /* (seeds) */
    progress bar;
    uint64_t reported; /* units of the bar of the current seed */
} study;

enum { UNITS = 1000 }; /* of the bar, for each seed */

static int read_settings(study *s, int argc, char **argv) {
    argument table[EXPERIMENT_ARGUMENTS + 2];
    *s = (study){.optimizer_name = "adam"};
    experiment_begin(&s->e, table);
    table[EXPERIMENT_SEEDS].help = "initialisations, seeds 0, 1, ... (1)";
    table[EXPERIMENT_STEPS] =
        (argument){"--steps", ARGUMENT_COUNT, &s->after, 1000000000, "measure after so many training steps (at initialisation)"};
    table[EXPERIMENT_THREADS].help = "threads (one a processor)";
    table[EXPERIMENT_BATCH].help = "prompts of a batch (the recipe's)";
    table[EXPERIMENT_QUICK].help = "1000 samples where not given";
    table[EXPERIMENT_ARGUMENTS] =
        (argument){"--samples", ARGUMENT_COUNT, &s->samples, 100000000, "batches that are measured (10000)"};
    table[EXPERIMENT_ARGUMENTS + 1] =
        (argument){"--optimizer", ARGUMENT_TEXT, &s->optimizer_name, 0, "sgd or adam, read with --steps (adam)"};
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Errors of stochastic gradients and their tail; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->samples == 0) s->samples = s->e.quick ? 1000 : 10000;
    if (s->samples < 20) return complain(EXIT_USAGE, "--samples is %" PRIu64 "; allowed: 20 or more", s->samples);
    s->optimizer = experiment_optimizer(s->optimizer_name);
    if (s->optimizer == OPTIMIZERS) return EXIT_USAGE;
    const experiment_defaults defaults = {.program = "gradient_error", .seeds = 1};
    const int made = experiment_make(&s->e, &defaults, s->after > 0 ? 1u << s->optimizer : 0);
    if (made == 0 && s->after > 0)
        snprintf(s->e.name, sizeof s->e.name, "gradient_error_%s_%s%" PRIu64, s->e.recipe.name,
                 s->optimizer == SGD ? "sgd" : "adam", s->after);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------------------- */

typedef struct place {
    double *theta; /* (p) */
    size_t p;
} place;

static int copy_parameters(const path_point *at, void *user) {
    const place *to = user;
    memcpy(to->theta, at->theta, to->p * sizeof *to->theta);
    return LINATTN_OK;
}

/* Initial parameters, or those after some steps. */
static int find_parameters(study *s, uint64_t seed, const place *to) {
    if (s->after == 0) {
        if (linattn_model_init_parameters(s->e.model, seed, to->theta) == LINATTN_OK) return 0;
        return complain(EXIT_FAILED, "seed %" PRIu64 ": %s", seed, linattn_last_message());
    }
    path_end end;
    const path_plan plan = {&s->e, &s->after, 1, 0, &s->bar};
    const int status = path_run(&plan, s->optimizer, seed, copy_parameters, (void *)to, &end);
    if (status == 0 && end.diverged)
        return complain(EXIT_FAILED, "seed %" PRIu64 " diverged at step %" PRIu64 "; choose an earlier --steps or a lower rate",
                        seed, end.diverged_at);
    return status;
}

static int show_progress(double fraction, void *user) {
    study *s = user;
    const uint64_t now = (uint64_t)(fraction * UNITS);
    if (now > s->reported) progress_add(&s->bar, now - s->reported);
    s->reported = now > s->reported ? now : s->reported;
    return path_go_on(fraction, NULL);
}

static int measure(study *s, uint64_t seed, const double *theta, noise_finding *f) {
    linattn_sampler_options data = s->e.data;
    linattn_sampler *sampler = NULL;
    linattn_objective *objective = NULL;
    linattn_diagnostics *diagnostics = NULL;
    linattn_diagnostics_options options;
    linattn_gradient_error_options asked;
    data.stream = LINATTN_STREAM_NOISE;
    data.seed = seed;
    f->facts = (linattn_gradient_error){.struct_size = sizeof f->facts};
    int status = linattn_diagnostics_options_init(&options, sizeof options);
    if (status == LINATTN_OK) status = linattn_gradient_error_options_init(&asked, sizeof asked);
    options.threads = (size_t)s->e.threads;
    options.progress = show_progress;
    options.user = s;
    asked.samples = (size_t)s->samples;
    asked.reference_draws = REFERENCE_DRAWS;
    asked.surrogates = (size_t)s->samples;
    asked.seed = seed;
    s->reported = 0;
    if (status == LINATTN_OK) status = linattn_sampler_create(&sampler, &data);
    if (status == LINATTN_OK) status = linattn_objective_create_sampled(&objective, s->e.model, sampler, s->e.recipe.prompts, NULL);
    if (status == LINATTN_OK) status = linattn_diagnostics_create(&diagnostics, objective, &options);
    if (status == LINATTN_OK)
        status = linattn_diagnostics_gradient_error(diagnostics, theta, &asked, f->errors[MEASURED], NULL, f->errors[SURROGATE],
                                                    NULL, &f->facts);
    linattn_diagnostics_destroy(diagnostics);
    linattn_objective_destroy(objective);
    linattn_sampler_destroy(sampler);
    return status;
}

static int measure_all(study *s) {
    const size_t p = linattn_model_parameter_count(s->e.model), count = (size_t)s->samples;
    const place theta = {calloc(p, sizeof(double)), p};
    s->findings = calloc((size_t)s->e.seeds, sizeof *s->findings);
    int status = theta.theta == NULL || s->findings == NULL ? complain(EXIT_FAILED, "no memory") : 0;
    for (uint64_t seed = 0; seed < s->e.seeds && status == 0; seed++) {
        noise_finding *f = &s->findings[seed];
        for (size_t k = 0; k < SAMPLES; k++) f->errors[k] = calloc(count, sizeof *f->errors[k]);
        if (f->errors[MEASURED] == NULL || f->errors[SURROGATE] == NULL)
            status = complain(EXIT_FAILED, "no memory for the samples");
        if (status == 0) status = find_parameters(s, seed, &theta);
        if (status != 0 || runs_ending()) break;
        status = measure(s, seed, theta.theta, f);
        if (status == LINATTN_OK) status = noise_describe(f, count);
        if (status < 0) status = complain(EXIT_FAILED, "seed %" PRIu64 ": %s", seed, linattn_last_message());
    }
    free(theta.theta);
    return runs_interrupted() ? EXIT_INTERRUPTED : status;
}

/* ---- Results ----------------------------------------------------------------------------------------------------------------- */

static int write_csv(const study *s) {
    output file;
    const int status = experiment_open(&s->e, ".csv", "recipe,seed,sample,measured,surrogate,measure\n", &file);
    if (status != 0) return status;
    for (uint64_t seed = 0; seed < s->e.seeds; seed++)
        for (size_t i = 0; i < s->samples; i++) {
            experiment_row(&s->e, &file, OPTIMIZERS, seed);
            output_text(&file, ",");
            output_count(&file, i);
            for (size_t k = 0; k < SAMPLES; k++) {
                output_text(&file, ",");
                output_number(&file, s->findings[seed].errors[k][i]);
            }
            output_text(&file, ",norm\n"); /* |e|, not its square */
        }
    return output_close(&file);
}

/* A row for each seed: what the table says of it. */
static int write_summary(const study *s) {
    output file;
    const int status = experiment_open(&s->e, "_summary.csv",
                                       "recipe,seed,mean,sd,skewness,excess_kurtosis,sixth_dominated,surrogate_mean,surrogate_sd,"
                                       "surrogate_skewness,surrogate_excess_kurtosis,ks_distance,ks_p\n",
                                       &file);
    if (status != 0) return status;
    for (uint64_t seed = 0; seed < s->e.seeds; seed++) {
        const noise_finding *f = &s->findings[seed];
        const linattn_moments *m = &f->moments[MEASURED], *g = &f->moments[SURROGATE];
        const double numbers[] = {m->mean,
                                  m->sd,
                                  m->skewness,
                                  m->excess_kurtosis,
                                  (double)m->sixth_dominated,
                                  g->mean,
                                  g->sd,
                                  g->skewness,
                                  g->excess_kurtosis,
                                  f->comparison.kolmogorov_smirnov,
                                  f->comparison.kolmogorov_smirnov_p};
        experiment_row(&s->e, &file, OPTIMIZERS, seed);
        output_numbers(&file, numbers, sizeof numbers / sizeof *numbers);
    }
    return output_close(&file);
}

static void describe_place(const study *s, char *text, size_t size) {
    if (s->after == 0)
        snprintf(text, size, "at initialisation");
    else
        snprintf(text, size, "after %" PRIu64 " steps of %s", s->after, experiment_optimizers[s->optimizer]);
}

/* Room for everything that is drawn of one seed. */
typedef struct drawing {
    double edges[BINS + 1], middles[BINS], heights[SAMPLES][BINS];
    double line_x[2], line_y[2];
    double *quantiles[SAMPLES], *ordered[SAMPLES]; /* (samples) */
    size_t kept[SAMPLES];
} drawing;

static int fill_drawing(const study *s, drawing *d) {
    const noise_finding *f = &s->findings[0];
    const size_t count = (size_t)s->samples;
    uint64_t counts[BINS];
    linattn_histogram histogram = {.struct_size = sizeof histogram};
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < SAMPLES; k++)
        for (size_t i = 0; i < count; i++) {
            low = fmin(low, f->errors[k][i]);
            high = fmax(high, f->errors[k][i]);
        }
    for (size_t k = 0; k < SAMPLES; k++) {
        linattn_normal_plot line = {.struct_size = sizeof line};
        int status = linattn_sample_histogram(f->errors[k], count, low, high, BINS, counts, d->edges, &histogram);
        if (status == LINATTN_OK) status = linattn_sample_normal_plot(f->errors[k], count, d->quantiles[k], d->ordered[k], &line);
        if (status != LINATTN_OK) return complain(EXIT_FAILED, "%s", linattn_last_message());
        for (size_t i = 0; i < BINS; i++) {
            d->heights[k][i] = (double)counts[i];
            d->middles[i] = 0.5 * (d->edges[i] + d->edges[i + 1]);
        }
        d->kept[k] = noise_thin(d->quantiles[k], d->ordered[k], count);
    }
    for (size_t end = 0; end < 2; end++) {
        d->line_x[end] = d->quantiles[MEASURED][end == 0 ? 0 : d->kept[MEASURED] - 1];
        d->line_y[end] = f->line[MEASURED].intercept + f->line[MEASURED].slope * d->line_x[end];
    }
    return 0;
}

static int draw(const study *s, const drawing *d) {
    const plot_series bars[] = {
        {.kind = PLOT_BARS, .label = "measured", .colour = "#1f77b4", .count = BINS, .x = d->edges, .y = d->heights[MEASURED]},
        {.kind = PLOT_CURVE,
         .label = "Gaussian noise of the same mean and covariance",
         .colour = "#000000",
         .count = BINS,
         .x = d->middles,
         .y = d->heights[SURROGATE]}};
    const plot_series dots[] = {{.kind = PLOT_DOTS,
                                 .colour = "#999999",
                                 .size = 0.5,
                                 .count = d->kept[SURROGATE],
                                 .x = d->quantiles[SURROGATE],
                                 .y = d->ordered[SURROGATE]},
                                {.kind = PLOT_DOTS,
                                 .colour = "#1f77b4",
                                 .size = 0.5,
                                 .count = d->kept[MEASURED],
                                 .x = d->quantiles[MEASURED],
                                 .y = d->ordered[MEASURED]},
                                {.kind = PLOT_CURVE, .colour = "#d62728", .count = 2, .x = d->line_x, .y = d->line_y}};
    const plot_panel panel = {.x_label = "norm of the gradient error", .y_label = "batches", .series = bars, .count = 2};
    const plot_panel inset = {.x_label = "normal quantile", .y_label = "ordered norms", .series = dots, .count = 3};
    char title[200], caption[200], recipe[120], place_text[64];
    experiment_describe(&s->e, recipe, sizeof recipe);
    describe_place(s, place_text, sizeof place_text);
    snprintf(title, sizeof title, "Gradient error %s, %s", place_text, recipe);
    snprintf(caption, sizeof caption, "%" PRIu64 " batches of %zu prompts, seed 0; inset: normal Q-Q plot, grey: Gaussian noise",
             s->samples, s->e.recipe.prompts);
    const plot picture = {title, caption, &panel, 1, &inset};
    return plot_write(&picture, s->e.folder, s->e.name);
}

static int draw_picture(const study *s) {
    const size_t count = (size_t)s->samples;
    drawing *d = calloc(1, sizeof *d);
    double *room = calloc(2 * SAMPLES * count, sizeof *room);
    int status = d == NULL || room == NULL ? complain(EXIT_FAILED, "no memory for the picture") : 0;
    for (size_t k = 0; k < SAMPLES && status == 0; k++) {
        d->quantiles[k] = room + 2 * k * count;
        d->ordered[k] = d->quantiles[k] + count;
    }
    if (status == 0) status = fill_drawing(s, d);
    if (status == 0) status = draw(s, d);
    free(d);
    free(room);
    return status;
}

/* "0.61 (0.05)": a number and its bootstrap error. */
static void print_with_error(double value, double error) {
    char text[48];
    snprintf(text, sizeof text, "%.3g (%.2g)", value, error);
    printf(" %-15s", text);
}

static void print_tail(uint64_t seed, const noise_finding *f) {
    if (f->tail_status != LINATTN_OK)
        printf("  seed %" PRIu64 ": no estimate\n", seed);
    else if (f->tail.plateau)
        printf("  seed %" PRIu64 ": %.2f, standard error %.2f, from the %zu largest\n", seed, f->tail.alpha, f->tail.error,
               f->tail.last);
    else if (f->tail.first < 10 || f->tail.last < 4 * f->tail.first)
        printf("  seed %" PRIu64 ": too few samples to tell, 4000 are wanted\n", seed);
    else
        printf("  seed %" PRIu64 ": no tail index: estimates from %.3g to %.3g over the %zu to %zu largest do not agree\n", seed,
               f->tail.alpha_min, f->tail.alpha_max, f->tail.first, f->tail.last);
}

static void print_over_seeds(const study *s, double *numbers) {
    const size_t seeds = (size_t)s->e.seeds;
    static const char *const what[] = {"mean", "skewness", "excess kurtosis", "the surrogate's excess kurtosis", "KS distance"};
    printf("\nOver %zu seeds, mean [95%% interval by Student's t]:\n", seeds);
    for (size_t w = 0; w < sizeof what / sizeof *what; w++) {
        char text[ESTIMATE_TEXT];
        for (size_t i = 0; i < seeds; i++) {
            const noise_finding *f = &s->findings[i];
            const double all[] = {f->moments[MEASURED].mean, f->moments[MEASURED].skewness, f->moments[MEASURED].excess_kurtosis,
                                  f->moments[SURROGATE].excess_kurtosis, f->comparison.kolmogorov_smirnov};
            numbers[i] = all[w];
        }
        const estimate e = estimate_of(numbers, seeds);
        printf("  %-32s %s\n", what[w], estimate_print(e.mean, e.low, e.high, text));
    }
}

static void print_seed(const study *s, uint64_t seed) {
    const noise_finding *f = &s->findings[seed];
    for (size_t k = 0; k < SAMPLES; k++) {
        const linattn_moments *m = &f->moments[k];
        printf("%-5" PRIu64 " %-10s %-9.4g %-14.4g %-9.3g", seed, names[k], m->mean, m->mean * sqrt((double)s->e.recipe.prompts),
               m->sd);
        print_with_error(m->skewness, m->skewness_error);
        print_with_error(m->excess_kurtosis, m->kurtosis_error);
        printf(" %.4f\n", f->line[k].correlation);
    }
    const double p = f->comparison.kolmogorov_smirnov_p;
    printf("%-5" PRIu64 " apart by   KS distance %.3g (permutation p %s %.2g); %s %.3g, %s %.3g%s\n", seed,
           f->comparison.kolmogorov_smirnov, p > 1.0 / (NOISE_PERMUTATIONS + 1) ? "=" : "<=", p, "|reference|",
           f->facts.reference_norm, "|mean error|", f->facts.mean_error_norm,
           f->moments[MEASURED].sixth_dominated ? "; a few of the largest decide the higher moments" : "");
}

static int print_table(const study *s, double seconds) {
    char recipe[120], place_text[64];
    double *numbers = calloc((size_t)s->e.seeds, sizeof *numbers);
    if (numbers == NULL) return complain(EXIT_FAILED, "no memory for the table");
    experiment_describe(&s->e, recipe, sizeof recipe);
    describe_place(s, place_text, sizeof place_text);
    printf("%s; norms of the gradient error %s, %" PRIu64 " batches of %zu prompts, reference of %d batches\n\n", recipe,
           place_text, s->samples, s->e.recipe.prompts, REFERENCE_DRAWS);
    printf("%-5s %-10s %-9s %-14s %-9s %-15s %-15s %s\n", "seed", "sample", "mean", "mean*sqrt(B)", "sd", "skewness",
           "excess kurtosis", "Q-Q correlation");
    for (uint64_t seed = 0; seed < s->e.seeds; seed++) print_seed(s, seed);
    if (s->e.seeds > 1) print_over_seeds(s, numbers);
    printf("\nTail index by Hill's estimator, P(norm > x) ~ x^(-index). It is not shift-invariant and says little of a norm whose "
           "bulk\n"
           "is far from 0; a large index is a light tail:\n");
    for (uint64_t seed = 0; seed < s->e.seeds; seed++) print_tail(seed, &s->findings[seed]);
    printf("Surrogate: Gaussian noise of the errors' mean and covariance. In brackets: bootstrap standard errors. mean*sqrt(B)\n"
           "does not change with the batch size where errors average out.\n"
           "Took %.1f s. Files: %s/%s.*\n",
           seconds, s->e.folder, s->e.name);
    free(numbers);
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return 0;
}

static int work(void *user) {
    study *s = user;
    const double started = progress_clock();
    progress_begin(&s->bar, s->e.seeds * (UNITS + s->after));
    int status = measure_all(s);
    progress_end(&s->bar);
    const double seconds = progress_clock() - started;
    if (status == 0) status = write_csv(s);
    if (status == 0) status = write_summary(s);
    if (status == 0) status = draw_picture(s);
    if (status == 0) status = print_table(s, seconds);
    return status;
}

int main(int argc, char **argv) {
    study s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    for (uint64_t seed = 0; s.findings != NULL && seed < s.e.seeds; seed++)
        for (size_t k = 0; k < SAMPLES; k++) free(s.findings[seed].errors[k]);
    free(s.findings);
    experiment_forget(&s.e);
    return status;
}
