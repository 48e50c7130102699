#include "conditioning.h"

#include "complain.h"
#include "estimate.h"
#include "runs.h"
#include <math.h>
#include <stdlib.h>

enum { HESSIAN_WORK = 45 /* a Hessian and its eigenvalues in training steps, for the progress bar */ };

const char *const conditioning_kinds[KINDS] = {"diagonal", "eigenvalues", "preconditioned"};

const measured *conditioning_at(const conditioning *s, size_t seed, size_t optimizer, size_t stop, size_t batch) {
    const size_t run = seed * OPTIMIZERS + optimizer;
    return stop < s->done[run] ? &s->results[(run * s->plan.stop_count + stop) * s->eval_batches + batch] : NULL;
}

double conditioning_typical(const conditioning *s, size_t optimizer, size_t stop, size_t kind, double *logs) {
    size_t count = 0;
    for (size_t i = 0; i < s->e.seeds * s->eval_batches; i++) {
        const measured *m = conditioning_at(s, i / s->eval_batches, optimizer, stop, i % s->eval_batches);
        if (m != NULL && isfinite(m->condition[kind])) logs[count++] = log(m->condition[kind]);
    }
    return exp(estimate_of(logs, count).mean);
}

/* Private to a run's thread. */
typedef struct judge {
    conditioning *all;
    size_t run;
    size_t p;
    linattn_objective *objective; /* evaluation */
    double *hessian;              /* (p, p) */
    double *values;               /* (p) */
    double *preconditioner;       /* (p) */
} judge;

/* By the eigenvalues of j->hessian, which are left in j->values. */
static int by_eigenvalues(judge *j, linattn_spectrum *spectrum, linattn_condition *condition) {
    const int status = linattn_matrix_spectrum(j->hessian, j->p, j->values, NULL, spectrum);
    if (status != LINATTN_OK) return status;
    return linattn_robust_condition(j->values, j->p, LINATTN_CONDITION_EIGENVALUES, LINATTN_MEDIAN_LOWER, condition);
}

static int measure_batch(judge *j, const path_point *at, size_t batch, int preconditioned, measured *out) {
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    linattn_condition diagonal = {.struct_size = sizeof diagonal}, condition = {.struct_size = sizeof condition};
    int status = linattn_objective_hessian(j->objective, batch, at->theta, j->hessian);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < j->p; i++) j->values[i] = j->hessian[i * j->p + i];
    status = linattn_robust_condition(j->values, j->p, LINATTN_CONDITION_DIAGONAL, LINATTN_MEDIAN_LOWER, &diagonal);
    if (status == LINATTN_OK) status = by_eigenvalues(j, &spectrum, &condition);
    if (status != LINATTN_OK) return status;
    *out = (measured){{diagonal.value, condition.value, NAN},
                      spectrum.smallest,
                      spectrum.largest,
                      condition.median,
                      condition.zeros,
                      condition.negatives};
    if (preconditioned) {
        status = linattn_matrix_precondition(j->hessian, j->p, j->preconditioner, j->hessian);
        if (status == LINATTN_OK) status = by_eigenvalues(j, &spectrum, &condition);
        out->condition[PRECONDITIONED] = condition.value;
    }
    return status;
}

static int measure(const path_point *at, void *user) {
    judge *j = user;
    conditioning *s = j->all;
    int status = LINATTN_OK, preconditioned = j->run % OPTIMIZERS == ADAM && at->step > 0; /* no D before the first update */
    if (preconditioned) status = linattn_optimizer_preconditioner(at->optimizer, j->preconditioner);
    measured *out = &s->results[(j->run * s->plan.stop_count + s->done[j->run]) * s->eval_batches];
    for (size_t batch = 0; batch < s->eval_batches && status == LINATTN_OK; batch++) {
        status = measure_batch(j, at, batch, preconditioned, &out[batch]);
        progress_add(s->plan.bar, HESSIAN_WORK);
    }
    if (status == LINATTN_OK) s->done[j->run]++;
    return status;
}

static int make_judge(judge *j) {
    const conditioning *s = j->all;
    linattn_objective_options options;
    const int status = linattn_objective_options_init(&options, sizeof options);
    options.progress = path_go_on;
    j->p = linattn_model_parameter_count(s->e.model);
    j->hessian = calloc(j->p * j->p, sizeof *j->hessian);
    j->values = calloc(j->p, sizeof *j->values);
    j->preconditioner = calloc(j->p, sizeof *j->preconditioner);
    if (j->hessian == NULL || j->values == NULL || j->preconditioner == NULL) return LINATTN_ENOMEM;
    if (status != LINATTN_OK) return status;
    return linattn_objective_create_sampled(&j->objective, s->e.model, s->e.evaluation, (size_t)s->eval_prompts, &options);
}

static int run_one(size_t index, void *context) {
    conditioning *s = context;
    judge j = {.all = s, .run = index};
    int status = make_judge(&j);
    if (status != LINATTN_OK)
        status = complain(EXIT_FAILED, "%s", status == LINATTN_ENOMEM ? "no memory for a run" : linattn_last_message());
    else
        status = path_run(&s->plan, index % OPTIMIZERS, index / OPTIMIZERS, measure, &j, &s->ends[index]);
    linattn_objective_destroy(j.objective);
    free(j.hessian);
    free(j.values);
    free(j.preconditioner);
    return status;
}

int conditioning_begin(conditioning *s) {
    const size_t runs = OPTIMIZERS * (size_t)s->e.seeds;
    s->plan.experiment = &s->e;
    s->plan.stops = s->stops;
    s->ends = calloc(runs, sizeof *s->ends);
    s->done = calloc(runs, sizeof *s->done);
    s->results = calloc(runs * s->plan.stop_count * s->eval_batches, sizeof *s->results);
    return s->ends == NULL || s->done == NULL || s->results == NULL ? complain(EXIT_FAILED, "no memory for the results") : 0;
}

void conditioning_forget(conditioning *s) {
    free(s->stops);
    free(s->ends);
    free(s->done);
    free(s->results);
    experiment_forget(&s->e);
}

int conditioning_run(conditioning *s) {
    const size_t runs = OPTIMIZERS * (size_t)s->e.seeds;
    progress bar;
    progress_begin(&bar, runs * (path_work(&s->plan) + s->plan.stop_count * s->eval_batches * HESSIAN_WORK));
    s->plan.bar = &bar;
    const int status = runs_execute(runs, (size_t)s->e.threads, run_one, s);
    progress_end(&bar);
    return status;
}
