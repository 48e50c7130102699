/* observe: looks at the curvature while a model is trained. Every so many steps an observer measures the Hessian on a batch that
 * stays the same, prints a row and saves a checkpoint, from which --resume goes on to the same bits. Ctrl-C ends the run after the
 * step in progress. */
#include "common/arguments.h"
#include "common/complain.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    const char *recipe, *checkpoint;
    uint64_t steps, every;
    int quick, resume;
} settings;

typedef struct watch {
    linattn_trainer *trainer;
    linattn_diagnostics *diagnostics; /* of evaluation batches, of which 0 is used */
    const char *checkpoint;
} watch;

static linattn_trainer *interruptible;

static void stop(int signal) {
    (void)signal;
    linattn_trainer_request_stop(interruptible);
}

/* The observer of step t and theta_t; a checkpoint made here is at step t + 1. Its status becomes that of linattn_trainer_run, and
 * the failing call's message is kept. */
static int look(const linattn_step_record *record, const double *theta, void *user) {
    const watch *w = user;
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    linattn_condition eigenvalues = {.struct_size = sizeof eigenvalues}, diagonal = {.struct_size = sizeof diagonal};
    int status = linattn_diagnostics_spectrum(w->diagnostics, 0, theta, NULL, NULL, NULL, &spectrum);
    if (status == LINATTN_OK)
        status = linattn_diagnostics_robust_condition(w->diagnostics, 0, theta, NULL, &eigenvalues, &diagonal);
    if (status != LINATTN_OK) return status;
    printf("%6" PRIu64 " %10.4g %10.4g %11.4g %10.4g %10zu %12.4g %10.4g\n", record->step, record->value, record->gradient_norm,
           spectrum.smallest, spectrum.largest, spectrum.negatives, eigenvalues.value, diagonal.value);
    return w->checkpoint == NULL ? LINATTN_OK : linattn_trainer_save(w->trainer, w->checkpoint);
}

/* Makes the trainer, at step 0 with the parameters of seed 0, and what watches it. What they need lives on inside them. */
static int make(const linattn_recipe *recipe, uint64_t every, watch *w) {
    linattn_model_options shape;
    linattn_sampler_options data;
    linattn_optimizer_options rule;
    linattn_trainer_options options;
    linattn_model *model = NULL;
    linattn_sampler *training = NULL, *evaluation = NULL;
    linattn_objective *f = NULL, *judge = NULL;
    linattn_optimizer *optimizer = NULL;

    int status = linattn_recipe_model_options(recipe, &shape, sizeof shape);
    if (status == LINATTN_OK) status = linattn_model_create(&model, &shape);
    if (status == LINATTN_OK) status = linattn_recipe_sampler_options(recipe, &data, sizeof data);
    if (status == LINATTN_OK) status = linattn_sampler_create(&training, &data);
    data.stream = LINATTN_STREAM_EVALUATION; /* no draw of it is ever trained on */
    if (status == LINATTN_OK) status = linattn_sampler_create(&evaluation, &data);
    if (status == LINATTN_OK) status = linattn_objective_create_sampled(&f, model, training, recipe->prompts, NULL);
    if (status == LINATTN_OK) status = linattn_objective_create_sampled(&judge, model, evaluation, recipe->prompts, NULL);
    if (status == LINATTN_OK) status = linattn_diagnostics_create(&w->diagnostics, judge, NULL);

    const size_t p = linattn_model_parameter_count(model);
    double *theta = calloc(p + 1, sizeof *theta);
    if (status == LINATTN_OK) status = theta == NULL ? LINATTN_ENOMEM : linattn_model_init_parameters(model, 0, theta);
    if (status == LINATTN_OK) status = linattn_recipe_optimizer_options(recipe, LINATTN_RULE_ADAM, &rule, sizeof rule);
    if (status == LINATTN_OK) status = linattn_optimizer_create(&optimizer, &rule, NULL, 0, p);
    if (status == LINATTN_OK) status = linattn_trainer_options_init(&options, sizeof options);
    options.observer = look;
    options.observer_stride = every;
    options.user = w;
    if (status == LINATTN_OK) status = linattn_trainer_create(&w->trainer, f, optimizer, theta, &options);

    free(theta);
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(judge);
    linattn_objective_destroy(f);
    linattn_sampler_destroy(evaluation);
    linattn_sampler_destroy(training);
    linattn_model_destroy(model);
    return status;
}

/* Trains until `steps` steps have been taken, those before a checkpoint included. */
static int run(const settings *s, watch *w) {
    int status = s->resume ? linattn_trainer_load(w->trainer, s->checkpoint) : LINATTN_OK;
    if (status != LINATTN_OK) return status;
    const uint64_t before = linattn_trainer_step_count(w->trainer);
    interruptible = w->trainer;
    signal(SIGINT, stop);
    printf("%6s %10s %10s %11s %10s %10s %12s %10s\n", "step", "loss", "|gradient|", "smallest", "largest", "negatives",
           "R eigenvals", "R diagonal");
    status = linattn_trainer_run(w->trainer, s->steps > before ? s->steps - before : 0, NULL);
    signal(SIGINT, SIG_DFL); /* the handler must not meet a trainer that is gone */
    if (status < 0) return status;
    printf("at step %" PRIu64 "%s\n", linattn_trainer_step_count(w->trainer), status == LINATTN_STOP ? ", stopped" : "");
    const int saved = s->checkpoint == NULL ? LINATTN_OK : linattn_trainer_save(w->trainer, s->checkpoint);
    return saved == LINATTN_OK ? status : saved;
}

int main(int argc, char **argv) {
    settings s = {.recipe = "setting1"};
    const argument table[] = {
        {"--recipe", ARGUMENT_TEXT, &s.recipe, 0, "which experiment, trained with Adam (setting1)"},
        {"--steps", ARGUMENT_COUNT, &s.steps, 1000000000, "steps in all (2000)"},
        {"--every", ARGUMENT_COUNT, &s.every, 1000000000, "steps from one look to the next (200)"},
        {"--checkpoint", ARGUMENT_TEXT, &s.checkpoint, 0, "file to save to at each look and at the end (none)"},
        {"--resume", ARGUMENT_FLAG, &s.resume, 0, "go on from that file"},
        {"--quick", ARGUMENT_FLAG, &s.quick, 0, "100 steps, a look every 20, where not given"},
    };
    const int usage = arguments_read(table, sizeof table / sizeof *table, "Trains a model and watches its Hessian.", argc, argv);
    if (usage != ARGUMENTS_GO_ON) return usage;
    if (s.resume && s.checkpoint == NULL) return complain(EXIT_USAGE, "--resume needs --checkpoint TEXT");
    if (s.steps == 0) s.steps = s.quick ? 100 : 2000;
    if (s.every == 0) s.every = s.quick ? 20 : 200;
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    if (linattn_recipe_find(s.recipe, &recipe) != LINATTN_OK) return complain(EXIT_USAGE, "--recipe: %s", linattn_last_message());

    watch w = {.checkpoint = s.checkpoint};
    int status = make(&recipe, s.every, &w);
    if (status == LINATTN_OK) status = run(&s, &w);
    linattn_trainer_destroy(w.trainer);
    linattn_diagnostics_destroy(w.diagnostics);
    if (status == LINATTN_STOP) return EXIT_INTERRUPTED;
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s: %s", linattn_status_name(status), linattn_last_message());
}
