#include "prompt_rules.h"

#include "complain.h"
#include "runs.h"
#include <math.h>
#include <stdlib.h>

const prompt_rule prompt_rules[PROMPT_RULES] = {
    [GD_INVERSE] = {"GD at 1/L", "#000000", LINATTN_RULE_SGD, 0, 0, 1, {1}, 1},
    [GD] = {"GD", "#7f7f7f", LINATTN_RULE_SGD, 0, 0, 1, {0.5, 1, 1.5, 2, 3, 4, 8, 16}, 8},
    [NORMALIZED] = {"normalised GD", "#1f77b4", LINATTN_RULE_NORMALIZED_GD, 1, 0, 0, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}, 7},
    [POLYAK] = {"Polyak", "#2ca02c", LINATTN_RULE_POLYAK, 0, 0, 0, {0.25, 0.5, 1, 1.5, 1.8}, 5},
    [SGD_BATCHES] = {"SGD", "#ff7f0e", LINATTN_RULE_SGD, 0, 1, 1, {0.03, 0.06, 0.125, 0.25, 0.5, 1, 2, 4}, 8},
    [ADAM_FULL] = {"Adam", "#d62728", LINATTN_RULE_ADAM, 0, 0, 0, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}, 6},
};

/* What a run holds. */
typedef struct run {
    linattn_prompt *prompt;
    linattn_objective *trained;
    linattn_objective *judge; /* all examples */
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    double *theta; /* (d), (d): p and p* */
    double *teacher;
    double length; /* |p*| */
} run;

static int make_optimizer(const prompt_plan *plan, run *r) {
    const prompt_rule *rule = &prompt_rules[plan->rule];
    linattn_optimizer_options options;
    double step = 1;
    int status = linattn_optimizer_options_init(&options, sizeof options);
    if (status == LINATTN_OK && rule->relative) status = prompt_step(r->prompt, r->teacher, &step);
    options.rule = rule->rule;
    options.learning_rate = plan->factor * step;
    options.schedule = rule->decaying ? LINATTN_SCHEDULE_COSINE : LINATTN_SCHEDULE_CONSTANT;
    options.decay_steps = plan->stops[plan->stop_count - 1];
    if (status != LINATTN_OK) return status;
    return linattn_optimizer_create(&r->optimizer, &options, NULL, 0, linattn_prompt_parameter_count(r->prompt));
}

static int make_run(const prompt_plan *plan, run *r) {
    const size_t dim = plan->system.sizes->dim, few = plan->system.sizes->examples / 10;
    linattn_trainer_options options;
    r->theta = calloc(2 * dim, sizeof *r->theta);
    if (r->theta == NULL) return LINATTN_ENOMEM;
    r->teacher = r->theta + dim;
    int status = linattn_trainer_options_init(&options, sizeof options);
    options.record_stride = 0;
    if (status == LINATTN_OK) status = prompt_system_create(&r->prompt, &plan->system);
    if (status == LINATTN_OK) status = linattn_prompt_get_arrays(r->prompt, NULL, NULL, NULL, r->teacher, NULL);
    if (status == LINATTN_OK) status = linattn_objective_create_prompt(&r->judge, r->prompt, NULL);
    if (status == LINATTN_OK && prompt_rules[plan->rule].minibatches)
        status = linattn_objective_create_prompt_dataset(&r->trained, r->prompt, few < 1 ? 1 : few, LINATTN_MINIBATCH_EPOCHS,
                                                         plan->system.seed, NULL);
    else if (status == LINATTN_OK)
        status = linattn_objective_create_prompt(&r->trained, r->prompt, NULL);
    if (status == LINATTN_OK) status = make_optimizer(plan, r);
    if (status == LINATTN_OK) status = linattn_trainer_create(&r->trainer, r->trained, r->optimizer, r->theta, &options);
    for (size_t j = 0; j < dim; j++) r->length = hypot(r->length, r->teacher[j]);
    return status;
}

static void forget_run(run *r) {
    linattn_trainer_destroy(r->trainer);
    linattn_optimizer_destroy(r->optimizer);
    linattn_objective_destroy(r->trained);
    linattn_objective_destroy(r->judge);
    linattn_prompt_destroy(r->prompt);
    free(r->theta);
}

static int look(const prompt_plan *plan, run *r, prompt_point *out) {
    int status = linattn_trainer_get_parameters(r->trainer, r->theta);
    if (status == LINATTN_OK) status = linattn_objective_value(r->judge, 0, r->theta, &out->loss);
    out->distance = out->seen = NAN;
    if (status != LINATTN_OK || !plan->distances) return status;
    status = linattn_prompt_distance(r->prompt, r->theta, &out->distance, &out->seen);
    out->distance /= r->length;
    out->seen /= r->length;
    return status;
}

int prompt_rule_run(const prompt_plan *plan, prompt_point *points) {
    run r = {.prompt = NULL};
    size_t at = 0;
    for (size_t i = 0; i < plan->stop_count; i++) points[i] = (prompt_point){INFINITY, INFINITY, INFINITY};
    int status = make_run(plan, &r);
    for (; at < plan->stop_count && status == LINATTN_OK; at++) {
        status = runs_train(r.trainer, plan->stops[at] - linattn_trainer_step_count(r.trainer));
        if (status == LINATTN_OK) status = look(plan, &r, &points[at]);
    }
    if (status == LINATTN_ENONFINITE && at > 0) points[at - 1] = (prompt_point){INFINITY, INFINITY, INFINITY};
    if (status < 0 && status != LINATTN_ENONFINITE)
        status = complain(EXIT_FAILED, "%s, %s, R = %g, %s: %s", plan->system.sizes->name, prompt_profiles[plan->system.profile],
                          plan->system.sparsity, prompt_rules[plan->rule].name, linattn_last_message());
    else
        status = 0;
    forget_run(&r);
    return status;
}
