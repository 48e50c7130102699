#include "path.h"

#include "complain.h"
#include "runs.h"
#include <inttypes.h>
#include <stdlib.h>

enum { REPORT = 50 }; /* steps between two words to the progress bar */

/* What one run needs, all of it private to the run's thread. */
typedef struct run {
    const path_plan *plan;
    linattn_sampler *sampler;
    linattn_objective *objective;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    linattn_step_record record; /* of the last step */
    uint64_t reported;          /* steps that the progress bar knows of */
    double *theta;              /* (p) */
    double *next;               /* (p) */
} run;

uint64_t path_work(const path_plan *plan) { return plan->stops[plan->stop_count - 1] + (plan->with_next ? 1 : 0); }

static void report(run *r, uint64_t steps) {
    progress_add(r->plan->bar, steps - r->reported);
    r->reported = steps;
}

static int observe(const linattn_step_record *record, const double *theta, void *user) {
    (void)theta;
    run *r = user;
    r->record = *record;
    if ((record->step + 1) % REPORT == 0) report(r, record->step + 1);
    return LINATTN_OK;
}

/* On fresh prompts at every step, or on minibatches of a set that is drawn once. */
static int make_objective(run *r, uint64_t seed) {
    const experiment *e = r->plan->experiment;
    if (e->data_set == 0) return linattn_objective_create_sampled(&r->objective, e->model, r->sampler, e->recipe.prompts, NULL);
    linattn_batch *set;
    int status = linattn_batch_create_from_sampler(&set, r->sampler, (size_t)e->data_set, 0);
    if (status == LINATTN_OK)
        status =
            linattn_objective_create_dataset(&r->objective, e->model, set, e->recipe.prompts, LINATTN_MINIBATCH_EPOCHS, seed, NULL);
    linattn_batch_destroy(set);
    return status;
}

static int make(run *r, size_t k, uint64_t seed) {
    const experiment *e = r->plan->experiment;
    const size_t p = linattn_model_parameter_count(e->model);
    r->theta = calloc(p, sizeof *r->theta);
    r->next = calloc(p, sizeof *r->next);
    if (r->theta == NULL || r->next == NULL) return LINATTN_ENOMEM;
    linattn_sampler_options data = e->data;
    data.seed = seed;
    linattn_trainer_options options;
    int status = linattn_trainer_options_init(&options, sizeof options);
    options.record_stride = 0;
    options.observer = observe;
    options.user = r;
    if (status == LINATTN_OK) status = linattn_model_init_parameters(e->model, seed, r->theta);
    if (status == LINATTN_OK) status = linattn_sampler_create(&r->sampler, &data);
    if (status == LINATTN_OK) status = make_objective(r, seed);
    if (status == LINATTN_OK) status = linattn_optimizer_create(&r->optimizer, &e->rules[k], NULL, 0, p);
    if (status == LINATTN_OK) status = linattn_trainer_create(&r->trainer, r->objective, r->optimizer, r->theta, &options);
    return status;
}

static void unmake(run *r) {
    linattn_trainer_destroy(r->trainer);
    linattn_optimizer_destroy(r->optimizer);
    linattn_objective_destroy(r->objective);
    linattn_sampler_destroy(r->sampler);
    free(r->theta);
    free(r->next);
}

static int stop_at(run *r, uint64_t step, path_measure measure, void *user) {
    path_point at = {.step = step, .theta = r->theta, .optimizer = r->optimizer};
    int status = runs_train(r->trainer, step - linattn_trainer_step_count(r->trainer));
    if (status == LINATTN_OK) status = linattn_trainer_get_parameters(r->trainer, r->theta);
    if (r->plan->with_next) {
        if (status == LINATTN_OK) status = runs_train(r->trainer, 1);
        if (status == LINATTN_OK) status = linattn_trainer_get_parameters(r->trainer, r->next);
        at.next = r->next;
        at.record = &r->record;
    }
    return status == LINATTN_OK ? measure(&at, user) : status;
}

int path_run(const path_plan *plan, size_t k, uint64_t seed, path_measure measure, void *user, path_end *end) {
    const double started = progress_clock();
    *end = (path_end){0};
    run r = {.plan = plan};
    int status = make(&r, k, seed);
    for (size_t i = 0; i < plan->stop_count && status == LINATTN_OK; i++) {
        status = stop_at(&r, plan->stops[i], measure, user);
        if (status != LINATTN_ENONFINITE || r.trainer == NULL) continue;
        end->diverged = 1;
        end->diverged_at = linattn_trainer_step_count(r.trainer);
        if (plan->with_next && end->diverged_at > plan->stops[i]) end->diverged_at = plan->stops[i]; /* seen by the measuring */
    }
    if (end->diverged) status = LINATTN_OK;
    if (status == LINATTN_OK) report(&r, path_work(plan));
    end->seconds = progress_clock() - started;
    if (status == LINATTN_ENOMEM)
        complain(EXIT_FAILED, "seed %" PRIu64 ": no memory", seed);
    else if (status < 0)
        complain(EXIT_FAILED, "seed %" PRIu64 ": %s", seed, linattn_last_message());
    unmake(&r);
    return status < 0 ? EXIT_FAILED : 0;
}

uint64_t *path_stops(uint64_t stride, uint64_t last, size_t *count) {
    *count = (size_t)(last / stride) + (last % stride == 0 ? 1 : 2);
    uint64_t *stops = calloc(*count, sizeof *stops);
    if (stops == NULL) {
        complain(EXIT_FAILED, "no memory for %zu steps", *count);
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) stops[i] = i * stride < last ? i * stride : last;
    return stops;
}

int path_go_on(double fraction, void *user) {
    (void)fraction;
    (void)user;
    return runs_ending() ? LINATTN_STOP : LINATTN_OK;
}
