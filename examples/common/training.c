#include "training.h"

#include "complain.h"
#include "estimate.h"
#include <math.h>
#include <stdlib.h>

/* Judges a run; private to the run's thread. */
typedef struct judge {
    const training_plan *plan;
    training_curve *curve;
    linattn_objective *objective; /* evaluation */
    double *targets;              /* (prompts of median_over) */
    double *errors;               /* (prompts of median_over) */
} judge;

static int median_error(judge *j, const double *theta, double *median) {
    *median = NAN;
    if (j->plan->median_over == NULL) return LINATTN_OK;
    const int status = linattn_model_predict(j->plan->path.experiment->model, j->plan->median_over, theta, j->errors);
    if (status != LINATTN_OK) return status;
    const size_t prompts = linattn_batch_prompts(j->plan->median_over);
    for (size_t i = 0; i < prompts; i++) j->errors[i] = (j->errors[i] - j->targets[i]) * (j->errors[i] - j->targets[i]);
    *median = estimate_median(j->errors, prompts);
    return isfinite(*median) ? LINATTN_OK : LINATTN_ENONFINITE;
}

static int add_point(const path_point *at, void *user) {
    judge *j = user;
    training_point *point = &j->curve->points[j->curve->count];
    *point = (training_point){.step = at->step,
                              .train_loss = at->record->value,
                              .gradient_norm = at->record->gradient_norm,
                              .learning_rate = at->record->learning_rate,
                              .clipped = at->record->clipped};
    int status = linattn_objective_value(j->objective, 0, at->theta, &point->eval_loss);
    if (status == LINATTN_OK) status = median_error(j, at->theta, &point->eval_median);
    if (status == LINATTN_OK) j->curve->count++;
    return status;
}

static int make(judge *j) {
    const training_plan *plan = j->plan;
    linattn_objective_options options;
    int status = linattn_objective_options_init(&options, sizeof options);
    options.progress = path_go_on;
    j->curve->points = calloc(plan->path.stop_count, sizeof *j->curve->points);
    if (j->curve->points == NULL) return LINATTN_ENOMEM;
    if (plan->median_over != NULL) {
        const size_t prompts = linattn_batch_prompts(plan->median_over);
        j->targets = calloc(prompts, sizeof *j->targets);
        j->errors = calloc(prompts, sizeof *j->errors);
        if (j->targets == NULL || j->errors == NULL) return LINATTN_ENOMEM;
        status = linattn_batch_get_arrays(plan->median_over, NULL, j->targets);
    }
    if (status == LINATTN_OK)
        status = linattn_objective_create_sampled(&j->objective, plan->path.experiment->model, plan->path.experiment->evaluation,
                                                  plan->eval_prompts, &options);
    return status;
}

int training_run(const training_plan *plan, size_t optimizer, uint64_t seed, training_curve *curve) {
    *curve = (training_curve){0};
    judge j = {.plan = plan, .curve = curve};
    int status = make(&j);
    if (status != LINATTN_OK)
        status = complain(EXIT_FAILED, "%s", status == LINATTN_ENOMEM ? "no memory for a run" : linattn_last_message());
    else
        status = path_run(&plan->path, optimizer, seed, add_point, &j, &curve->end);
    linattn_objective_destroy(j.objective);
    free(j.targets);
    free(j.errors);
    return status;
}

void training_forget(training_curve *curve) {
    free(curve->points);
    *curve = (training_curve){0};
}

const training_point *training_at(const training_curve *curve, uint64_t step) {
    size_t low = 0, high = curve->count; /* steps ascend */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (curve->points[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < curve->count && curve->points[low].step == step ? &curve->points[low] : NULL;
}
