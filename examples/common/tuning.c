#include "tuning.h"

#include "complain.h"
#include "estimate.h"
#include "results.h"
#include "runs.h"
#include "training.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    size_t optimizer;
    result run; /* as far as it is known beforehand */
} job;

typedef struct tuning {
    const tuning_plan *chosen;
    linattn_sampler *evaluation;
    linattn_batch *median_over;
    results file;
    job *jobs; /* (job_count): the runs that are not in the file */
    size_t job_count;
    progress bar;
    int first[OPTIMIZERS]; /* rates are low times 10^(i/3), rounded to 1, 2, 5, i = first to last */
    int last[OPTIMIZERS];
} tuning;

/* low times 1, 2, 5, 10, ..., rid of the rounding errors of 0.001 * 20. */
static double rate_of(double low, int i) {
    static const double digits[] = {1, 2, 5};
    char text[32];
    const int decade = (i + 300) / 3 - 100, digit = (i + 300) % 3;
    snprintf(text, sizeof text, "%.12g", low * digits[digit] * pow(10, decade));
    return strtod(text, NULL);
}

static result describe(const tuning *t, size_t k, int rate, uint64_t seed) {
    const experiment *e = t->chosen->experiment;
    result run = {.learning_rate = rate_of(t->chosen->low[k], rate), .seed = TUNING_FIRST_SEED + seed, .steps = e->recipe.steps};
    snprintf(run.recipe, sizeof run.recipe, "%s", e->recipe.name);
    snprintf(run.optimizer, sizeof run.optimizer, "%s", experiment_optimizers[k]);
    return run;
}

/* Trains one run and adds it to the file. A run that is cut short, as the set ends, is not added. */
static int run_one(size_t index, void *context) {
    tuning *t = context;
    const job *of = &t->jobs[index];
    result run = of->run;
    experiment trial = *t->chosen->experiment;
    trial.evaluation = t->evaluation;
    trial.rules[of->optimizer].learning_rate = run.learning_rate;
    const training_plan plan = {
        .path = {.experiment = &trial, .stops = &run.steps, .stop_count = 1, .with_next = 1, .bar = &t->bar},
        .eval_prompts = (size_t)t->chosen->eval_prompts,
        .median_over = t->median_over};
    training_curve curve;
    int status = training_run(&plan, of->optimizer, run.seed, &curve);
    const training_point *end = training_at(&curve, run.steps);
    run.diverged = curve.end.diverged;
    run.diverged_at = curve.end.diverged_at;
    run.seconds = curve.end.seconds;
    if (end != NULL) {
        run.final_loss = end->eval_loss;
        run.final_median = end->eval_median;
    }
    if (status == 0 && (run.diverged || end != NULL)) status = results_add(&t->file, &run);
    training_forget(&curve);
    return status;
}

/* The runs that the file does not have yet. */
static int collect_jobs(tuning *t) {
    const tuning_plan *plan = t->chosen;
    t->job_count = 0;
    for (size_t k = 0; k < OPTIMIZERS; k++)
        for (int i = t->first[k]; i <= t->last[k] && plan->low[k] != 0; i++)
            for (uint64_t seed = 0; seed < plan->seeds; seed++) {
                const job next = {k, describe(t, k, i, seed)};
                if (results_find(&t->file, &next.run) != NULL) continue;
                job *more = realloc(t->jobs, (t->job_count + 1) * sizeof *more);
                if (more == NULL) return complain(EXIT_FAILED, "no memory for the runs");
                t->jobs = more;
                t->jobs[t->job_count++] = next;
            }
    return 0;
}

static int run_jobs(tuning *t) {
    const int status = collect_jobs(t);
    if (status != 0 || t->job_count == 0) return status;
    progress_begin(&t->bar, t->job_count * (t->chosen->experiment->recipe.steps + 1));
    const int ended = runs_execute(t->job_count, (size_t)t->chosen->experiment->threads, run_one, t);
    progress_end(&t->bar);
    return ended;
}

/* logs: (seeds). */
static tuning_point judge(const tuning *t, size_t k, int rate, double *logs) {
    size_t diverged = 0;
    for (uint64_t seed = 0; seed < t->chosen->seeds; seed++) {
        const result wanted = describe(t, k, rate, seed), *run = results_find(&t->file, &wanted);
        diverged += run->diverged != 0;
        logs[seed] = log10(run->final_median);
    }
    tuning_point point = {rate_of(t->chosen->low[k], rate), INFINITY, NAN, NAN, diverged};
    if (diverged > 0) return point;
    const estimate all = estimate_of(logs, (size_t)t->chosen->seeds);
    point.error = pow(10, all.mean);
    point.low = pow(10, all.low);
    point.high = pow(10, all.high);
    return point;
}

static int fill_curves(const tuning *t, tuning_curve curves[OPTIMIZERS]) {
    double *logs = calloc((size_t)t->chosen->seeds, sizeof *logs);
    if (logs == NULL) return complain(EXIT_FAILED, "no memory for the errors");
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        tuning_curve *curve = &curves[k];
        *curve = (tuning_curve){.count = 0};
        for (int i = t->first[k]; i <= t->last[k] && t->chosen->low[k] != 0; i++)
            curve->points[curve->count++] = judge(t, k, i, logs);
        curve->best = curve->count;
        for (size_t i = 0; i < curve->count; i++)
            if (curve->points[i].error < (curve->best == curve->count ? INFINITY : curve->points[curve->best].error))
                curve->best = i;
    }
    free(logs);
    return 0;
}

/* One more rate beyond a best that is the first or the last. Returns how many were added. */
static int extend(tuning *t, const tuning_curve curves[OPTIMIZERS]) {
    int added = 0;
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        const tuning_curve *curve = &curves[k];
        if (curve->best == curve->count) continue; /* left out, or diverges everywhere */
        if (curve->best == 0 && t->first[k] > -TUNING_BEYOND) t->first[k]--, added++;
        if (curve->best == curve->count - 1 && t->last[k] < (int)t->chosen->rates - 1 + TUNING_BEYOND) t->last[k]++, added++;
    }
    return added;
}

/* All that shapes a run of this experiment, but what is in the columns of its line. */
static void describe_sweep(const tuning_plan *plan, char *text, size_t size) {
    const experiment *e = plan->experiment;
    const linattn_recipe *r = &e->recipe;
    const uint32_t table = results_checksum(0, e->data.covariate_table,
                                            e->data.table_rows * (e->data.covariate_table == NULL ? 0 : r->dim) * sizeof(double));
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"layers", (double)r->layers},
                   {"dim", (double)r->dim},
                   {"context", (double)r->context},
                   {"prompts", (double)r->prompts},
                   {"covariates", r->covariates},
                   {"gamma_shape", r->gamma_shape},
                   {"gamma_scale", r->gamma_scale},
                   {"task", r->task},
                   {"hidden", (double)r->hidden},
                   {"attention", r->attention},
                   {"form", r->form},
                   {"mlp_hidden", (double)r->mlp_hidden},
                   {"ff_hidden", (double)e->ff_hidden},
                   {"init_std", r->init_std},
                   {"clip_threshold", r->clip_threshold},
                   {"sgd_momentum", r->sgd_momentum},
                   {"adam_beta1", r->adam_beta1},
                   {"adam_beta2", r->adam_beta2},
                   {"adam_epsilon", r->adam_epsilon},
                   {"data_set", (double)e->data_set},
                   {"table", table},
                   {"table_rows", (double)e->data.table_rows},
                   {"steps", (double)r->steps},
                   {"eval_prompts", (double)plan->eval_prompts},
                   {"eval_seed", TUNING_EVALUATION_SEED}};
    size_t length = (size_t)snprintf(text, size, "# recipe %s\n", r->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && length < size; i++) {
        char number[LINATTN_NUMBER_SIZE];
        linattn_number_write(numbers[i].value, number);
        length += (size_t)snprintf(text + length, size - length, "# %s %s\n", numbers[i].key, number);
    }
}

static int open_file(tuning *t) {
    const experiment *e = t->chosen->experiment;
    char ending[48], sweep[2048];
    snprintf(ending, sizeof ending, "_runs%" PRIu64 ".csv", e->recipe.steps);
    describe_sweep(t->chosen, sweep, sizeof sweep);
    char *path = output_path(e->folder, e->name, ending);
    const int status = path == NULL ? EXIT_FAILED : results_open(&t->file, path, sweep);
    free(path);
    return status;
}

static int make_evaluation(tuning *t) {
    const uint64_t prompts = t->chosen->eval_prompts;
    linattn_sampler_options other = t->chosen->experiment->data;
    other.stream = LINATTN_STREAM_EVALUATION;
    other.seed = TUNING_EVALUATION_SEED;
    int status = linattn_sampler_create(&t->evaluation, &other);
    if (status == LINATTN_OK)
        status = linattn_batch_create_from_sampler(
            &t->median_over, t->evaluation, prompts < TRAINING_MEDIAN_PROMPTS ? (size_t)prompts : TRAINING_MEDIAN_PROMPTS, 0);
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

int tuning_run(const tuning_plan *plan, tuning_curve curves[OPTIMIZERS]) {
    tuning t = {.chosen = plan};
    for (size_t k = 0; k < OPTIMIZERS; k++) t.last[k] = (int)plan->rates - 1;
    int status = open_file(&t);
    if (status != 0) return status;
    status = make_evaluation(&t);
    do {
        if (status == 0) status = run_jobs(&t);
        if (status == 0) status = fill_curves(&t, curves);
    } while (status == 0 && extend(&t, curves) > 0);
    free(t.jobs);
    linattn_batch_destroy(t.median_over);
    linattn_sampler_destroy(t.evaluation);
    results_close(&t.file);
    return status;
}

static void print_numbers(const char *first, const char *label, const tuning_curve *curve, int errors) {
    printf("%-9s  %-8s", first, label);
    for (size_t i = 0; i < curve->count; i++) {
        const tuning_point *point = &curve->points[i];
        if (errors && point->diverged > 0)
            printf("  %-8s", "diverged");
        else
            printf(errors ? "  %-8.3g" : "  %-8.4g", errors ? point->error : point->rate);
    }
    printf("\n");
}

void tuning_print(const tuning_plan *plan, const tuning_curve curves[OPTIMIZERS]) {
    printf("Learning rates, tried on %" PRIu64 " other seed%s: 10^(mean over them of log10 of the final median error)\n\n",
           plan->seeds, plan->seeds == 1 ? "" : "s");
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        const tuning_curve *curve = &curves[k];
        if (curve->count == 0) continue;
        print_numbers(experiment_optimizers[k], "rate", curve, 0);
        print_numbers("", "median", curve, 1);
        if (curve->best == 0 || curve->best == curve->count - 1)
            printf("The best rate of %s is at the end of those that were tried.\n", experiment_optimizers[k]);
        else if (curve->best < curve->count && curve->points[curve->best + 1].diverged > 0)
            printf("The best rate of %s is the last before runs diverge.\n", experiment_optimizers[k]);
    }
    printf("\n");
}

int tuning_choose(experiment *e, uint64_t eval_prompts) {
    tuning_plan plan = {.experiment = e, .eval_prompts = eval_prompts, .seeds = 3, .rates = 7};
    tuning_curve curves[OPTIMIZERS];
    for (size_t k = 0; k < OPTIMIZERS; k++) plan.low[k] = e->rules[k].learning_rate / 10;
    int status = tuning_run(&plan, curves);
    if (status == 0) tuning_print(&plan, curves);
    for (size_t k = 0; status == 0 && k < OPTIMIZERS; k++) {
        if (curves[k].best == curves[k].count)
            status = complain(EXIT_FAILED, "%s diverges at every rate that was tried", experiment_optimizers[k]);
        else
            e->rules[k].learning_rate = curves[k].points[curves[k].best].rate;
    }
    return status;
}
