#include "tuning.h"

#include "complain.h"
#include "runs.h"
#include "training.h"
#include <math.h>
#include <stdio.h>

static const double factors[] = {0.1, 0.2, 0.5, 1, 2, 5, 10};

enum { FACTORS = sizeof factors / sizeof *factors, JOBS = FACTORS * OPTIMIZERS * TUNING_SEEDS };

typedef struct tuning {
    experiment trials[FACTORS]; /* the experiment with other rates and another evaluation batch */
    training_plan plans[FACTORS];
    double logs[FACTORS][OPTIMIZERS][TUNING_SEEDS]; /* log10 of the final median error; infinite: diverged */
    linattn_sampler *evaluation;
    linattn_batch *median_over;
} tuning;

/* A job's place in logs. */
static size_t factor_of(size_t index) { return index / (OPTIMIZERS * TUNING_SEEDS); }
static size_t optimizer_of(size_t index) { return index / TUNING_SEEDS % OPTIMIZERS; }

static int run_one(size_t index, void *context) {
    tuning *t = context;
    const size_t i = factor_of(index), k = optimizer_of(index), seed = index % TUNING_SEEDS;
    training_curve curve;
    const int status = training_run(&t->plans[i], k, TUNING_FIRST_SEED + seed, &curve);
    const training_point *last = curve.end.diverged ? NULL : training_at(&curve, t->trials[i].recipe.steps);
    t->logs[i][k][seed] = last == NULL ? INFINITY : log10(last->eval_median);
    training_forget(&curve);
    return status;
}

static double mean_log(const tuning *t, size_t i, size_t k) {
    double sum = 0;
    for (size_t seed = 0; seed < TUNING_SEEDS; seed++) sum += t->logs[i][k][seed];
    return sum / TUNING_SEEDS;
}

static size_t best(const tuning *t, size_t k) {
    size_t found = 0;
    for (size_t i = 1; i < FACTORS; i++)
        if (mean_log(t, i, k) < mean_log(t, found, k)) found = i;
    return found;
}

static void print(const tuning *t) {
    printf("Learning rates, tried on %d other seeds: 10^(mean over them of log10 of the final median error)\n\n", TUNING_SEEDS);
    for (size_t k = 0; k < OPTIMIZERS; k++) {
        printf("%-9s  %-8s", experiment_optimizers[k], "rate");
        for (size_t i = 0; i < FACTORS; i++) printf("  %-8.4g", t->trials[i].rules[k].learning_rate);
        printf("\n%-9s  %-8s", "", "median");
        for (size_t i = 0; i < FACTORS; i++) {
            if (isfinite(mean_log(t, i, k)))
                printf("  %-8.3g", pow(10, mean_log(t, i, k)));
            else
                printf("  %-8s", "diverged");
        }
        printf("\n");
    }
    for (size_t k = 0; k < OPTIMIZERS; k++)
        if (best(t, k) == 0 || best(t, k) == FACTORS - 1)
            printf("The best rate of %s is at the end of those that were tried.\n", experiment_optimizers[k]);
    printf("\n");
}

static int prepare(tuning *t, const experiment *e, uint64_t eval_prompts, progress *bar) {
    const size_t few = eval_prompts < TRAINING_MEDIAN_PROMPTS ? (size_t)eval_prompts : TRAINING_MEDIAN_PROMPTS;
    linattn_sampler_options other = e->data;
    other.stream = LINATTN_STREAM_EVALUATION;
    other.seed = TUNING_EVALUATION_SEED;
    int status = linattn_sampler_create(&t->evaluation, &other);
    if (status == LINATTN_OK) status = linattn_batch_create_from_sampler(&t->median_over, t->evaluation, few, 0);
    for (size_t i = 0; i < FACTORS; i++) {
        t->trials[i] = *e;
        t->trials[i].evaluation = t->evaluation;
        for (size_t k = 0; k < OPTIMIZERS; k++) t->trials[i].rules[k].learning_rate *= factors[i];
        t->plans[i] = (training_plan){
            .path = {.experiment = &t->trials[i], .stops = &e->recipe.steps, .stop_count = 1, .with_next = 1, .bar = bar},
            .eval_prompts = (size_t)eval_prompts,
            .median_over = t->median_over};
    }
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

int tuning_run(experiment *e, uint64_t eval_prompts) {
    tuning t = {.evaluation = NULL};
    progress bar;
    int status = prepare(&t, e, eval_prompts, &bar);
    if (status == 0) {
        progress_begin(&bar, JOBS * path_work(&t.plans[0].path));
        status = runs_execute(JOBS, (size_t)e->threads, run_one, &t);
        progress_end(&bar);
    }
    if (status == 0) print(&t);
    for (size_t k = 0; status == 0 && k < OPTIMIZERS; k++)
        if (!isfinite(mean_log(&t, best(&t, k), k)))
            status = complain(EXIT_FAILED, "%s diverges at every rate that was tried", experiment_optimizers[k]);
    if (status == 0) {
        for (size_t k = 0; k < OPTIMIZERS; k++) e->rules[k] = t.trials[best(&t, k)].rules[k];
    }
    linattn_batch_destroy(t.median_over);
    linattn_sampler_destroy(t.evaluation);
    return status;
}
