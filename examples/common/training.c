#include "training.h"

#include "complain.h"
#include "runs.h"
#include "summary.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* What one run needs, all of it private to the run's thread. */
typedef struct run {
    const training_plan *plan;
    training_curve *curve;
    linattn_sampler *sampler;
    linattn_objective *objective; /* training */
    linattn_objective *judge;     /* evaluation */
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    uint64_t reported; /* steps that the progress bar knows of */
    double *theta;     /* (p) */
    double *gradient;  /* (p) */
    double *targets;   /* (prompts of median_over) */
    double *errors;    /* (prompts of median_over) */
} run;

static training_point *append(training_curve *curve) {
    if (curve->count == curve->room) {
        const size_t room = 2 * curve->room + 64;
        training_point *points = realloc(curve->points, room * sizeof *points);
        if (points == NULL) return NULL;
        curve->points = points;
        curve->room = room;
    }
    return &curve->points[curve->count];
}

static int median_error(run *r, const double *theta, double *median) {
    *median = NAN;
    if (r->plan->median_over == NULL) return LINATTN_OK;
    const int status = linattn_model_predict(r->plan->model, r->plan->median_over, theta, r->errors);
    if (status != LINATTN_OK) return status;
    const size_t prompts = linattn_batch_prompts(r->plan->median_over);
    for (size_t i = 0; i < prompts; i++) r->errors[i] = (r->errors[i] - r->targets[i]) * (r->errors[i] - r->targets[i]);
    *median = summary_median(r->errors, prompts);
    return LINATTN_OK;
}

/* Appends the point of a step whose training side is known. LINATTN_ENONFINITE: the evaluation overflows. */
static int add_point(run *r, const linattn_step_record *record, const double *theta) {
    training_point *point = append(r->curve);
    if (point == NULL) return LINATTN_ENOMEM;
    *point = (training_point){.step = record->step,
                              .train_loss = record->value,
                              .gradient_norm = record->gradient_norm,
                              .learning_rate = record->learning_rate,
                              .clipped = record->clipped};
    int status = linattn_objective_value(r->judge, 0, theta, &point->eval_loss);
    if (status == LINATTN_OK) status = median_error(r, theta, &point->eval_median);
    if (status == LINATTN_OK) r->curve->count++;
    if (status == LINATTN_ENONFINITE) r->curve->diverged_at = record->step;
    return status;
}

static int observe(const linattn_step_record *record, const double *theta, void *user) {
    run *r = user;
    const int status = add_point(r, record, theta);
    const uint64_t left = r->plan->steps - record->step, passed = left < r->plan->stride ? left : r->plan->stride;
    r->reported += passed;
    progress_add(r->plan->bar, passed);
    return status;
}

/* The last point: the step is not taken, so its batch is evaluated here as the trainer would. */
static int add_last_point(run *r, double clip_threshold) {
    const uint64_t step = r->plan->steps;
    linattn_step_record record = {.step = step, .learning_rate = linattn_optimizer_learning_rate(r->optimizer, step)};
    int status = linattn_trainer_get_parameters(r->trainer, r->theta);
    if (status == LINATTN_OK) status = linattn_objective_gradient(r->objective, step, r->theta, &record.value, r->gradient);
    if (status == LINATTN_ENONFINITE) r->curve->diverged_at = step;
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < linattn_model_parameter_count(r->plan->model); i++)
        record.gradient_norm = hypot(record.gradient_norm, r->gradient[i]); /* no overflow before the norm itself */
    record.clipped = record.gradient_norm > clip_threshold;
    return add_point(r, &record, r->theta);
}

/* A long evaluation ends soon after an interrupt. */
static int go_on(double fraction, void *user) {
    (void)fraction;
    (void)user;
    return runs_ending() ? LINATTN_STOP : LINATTN_OK;
}

static int make_judge(run *r) {
    linattn_objective_options options;
    const int status = linattn_objective_options_init(&options, sizeof options);
    if (status != LINATTN_OK) return status;
    options.progress = go_on;
    return linattn_objective_create_sampled(&r->judge, r->plan->model, r->plan->evaluation, r->plan->eval_prompts, &options);
}

static int make(run *r, const linattn_optimizer_options *rule, uint64_t seed) {
    const training_plan *plan = r->plan;
    const size_t p = linattn_model_parameter_count(plan->model);
    r->theta = calloc(p, sizeof *r->theta);
    r->gradient = calloc(p, sizeof *r->gradient);
    if (r->theta == NULL || r->gradient == NULL) return LINATTN_ENOMEM;
    if (plan->median_over != NULL) {
        const size_t prompts = linattn_batch_prompts(plan->median_over);
        r->targets = calloc(prompts, sizeof *r->targets);
        r->errors = calloc(prompts, sizeof *r->errors);
        if (r->targets == NULL || r->errors == NULL) return LINATTN_ENOMEM;
        const int status = linattn_batch_get_arrays(plan->median_over, NULL, r->targets);
        if (status != LINATTN_OK) return status;
    }
    linattn_sampler_options data = plan->data;
    data.seed = seed;
    linattn_trainer_options options;
    int status = linattn_trainer_options_init(&options, sizeof options);
    options.record_stride = 0;
    options.observer_stride = plan->stride;
    options.observer = observe;
    options.user = r;
    if (status == LINATTN_OK) status = linattn_model_init_parameters(plan->model, seed, r->theta);
    if (status == LINATTN_OK) status = linattn_sampler_create(&r->sampler, &data);
    if (status == LINATTN_OK)
        status = linattn_objective_create_sampled(&r->objective, plan->model, r->sampler, plan->prompts, NULL);
    if (status == LINATTN_OK) status = make_judge(r);
    if (status == LINATTN_OK) status = linattn_optimizer_create(&r->optimizer, rule, NULL, 0, p);
    if (status == LINATTN_OK) status = linattn_trainer_create(&r->trainer, r->objective, r->optimizer, r->theta, &options);
    return status;
}

static void unmake(run *r) {
    linattn_trainer_destroy(r->trainer);
    linattn_optimizer_destroy(r->optimizer);
    linattn_objective_destroy(r->judge);
    linattn_objective_destroy(r->objective);
    linattn_sampler_destroy(r->sampler);
    free(r->theta);
    free(r->gradient);
    free(r->targets);
    free(r->errors);
}

int training_run(const training_plan *plan, const linattn_optimizer_options *rule, uint64_t seed, training_curve *curve) {
    const double started = progress_clock();
    *curve = (training_curve){.diverged_at = UINT64_MAX};
    run r = {.plan = plan, .curve = curve};
    int status = make(&r, rule, seed);
    if (status == LINATTN_OK) {
        status = runs_train(r.trainer, plan->steps);
        if (status == LINATTN_OK) status = add_last_point(&r, rule->clip == LINATTN_CLIP_NONE ? INFINITY : rule->clip_threshold);
        if (status == LINATTN_ENONFINITE) {
            curve->diverged = 1;
            if (curve->diverged_at == UINT64_MAX) curve->diverged_at = linattn_trainer_step_count(r.trainer);
            progress_add(plan->bar, plan->steps - r.reported);
            status = LINATTN_OK;
        }
    }
    curve->seconds = progress_clock() - started;
    if (status == LINATTN_ENOMEM)
        complain(EXIT_FAILED, "seed %" PRIu64 ": no memory", seed);
    else if (status < 0)
        complain(EXIT_FAILED, "seed %" PRIu64 ": %s", seed, linattn_last_message());
    unmake(&r);
    return status < 0 ? EXIT_FAILED : 0;
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
