/* adam_vs_sgd: does Adam beat SGD on the smallest transformer?
 *
 * Trains a recipe with both optimizers over several seeds, each run on one thread and several runs at a time. Out come a table, a
 * CSV file and a picture (common/comparison.h). */
#include "common/comparison.h"
#include "common/complain.h"
#include "common/runs.h"
#include <linattn/linattn.h>

typedef struct settings {
    experiment e;
    uint64_t eval_prompts;
} settings;

static int read_settings(settings *s, int argc, char **argv) {
    static const experiment_defaults defaults = {.program = "adam_vs_sgd", .quick_seeds = 2, .quick_steps = 600};
    argument table[EXPERIMENT_ARGUMENTS + 1];
    *s = (settings){.eval_prompts = 0};
    experiment_begin(&s->e, table);
    table[EXPERIMENT_ARGUMENTS] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the evaluation batch (100000)"};
    table[EXPERIMENT_QUICK].help = "2 seeds, 600 steps and 10000 evaluation prompts where not given";
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Trains a linear transformer with SGD and with Adam; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->eval_prompts == 0) s->eval_prompts = s->e.quick ? 10000 : 100000;
    const int made = experiment_make(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

/* A few prompts decide the mean of the squared error: covariates are heavy-tailed, or contexts so short that the normal ones'
 * second moments are (setting 2 late in training: the loss on 100000 prompts is thousands of times that on most batches of 1000).
 */
static int heavy_tailed(const linattn_recipe *r) { return r->covariates == LINATTN_COVARIATES_GAMMA || r->context <= r->dim; }

int main(int argc, char **argv) {
    settings s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) {
        const comparison_plan plan = {.experiment = &s.e,
                                      .subject = "recipe",
                                      .heavy_tails = heavy_tailed(&s.e.recipe) ? "The covariates are heavy-tailed" : NULL,
                                      .eval_prompts = s.eval_prompts};
        status = output_folder(s.e.folder);
        if (status == 0) status = runs_catch_interrupt();
        if (status == 0) status = comparison_run(&plan);
        if (runs_interrupted()) status = complain(EXIT_INTERRUPTED, "interrupted; no file is left half written");
        runs_release_interrupt();
    }
    experiment_forget(&s.e);
    return status;
}
