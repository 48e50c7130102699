/* adam_vs_sgd: does Adam beat SGD on the smallest transformer?
 *
 * Trains a recipe with both optimizers over several seeds, each run on one thread and several runs at a time. Out come a table, a
 * CSV file and a picture (common/comparison.h); --tune first looks for the learning rates (common/tuning.h). */
#include "common/comparison.h"
#include "common/complain.h"
#include "common/runs.h"
#include "common/tuning.h"
#include <inttypes.h>
#include <linattn/linattn.h>
#include <stdio.h>
#include <string.h>

typedef struct settings {
    experiment e;
    uint64_t eval_prompts;
    int tune;
} settings;

/* Files of a variant do not replace the recipe's: "adam_vs_sgd_setting1_ff24_full4000_tuned". */
static void name_variant(settings *s) {
    char name[sizeof s->e.name], ff[16] = "", set[16] = "";
    if (s->e.ff_hidden > 0) snprintf(ff, sizeof ff, "_ff%u", (unsigned)s->e.ff_hidden);
    const char *kind = s->e.recipe.prompts == s->e.data_set ? "_full" : "_set"; /* batch */
    if (s->e.data_set > 0) snprintf(set, sizeof set, "%s%u", kind, (unsigned)s->e.data_set);
    memcpy(name, s->e.name, sizeof name);
    snprintf(s->e.name, sizeof s->e.name, "%.40s%s%s%s", name, ff, set, s->tune ? "_tuned" : "");
}

static int read_settings(settings *s, int argc, char **argv) {
    static const experiment_defaults defaults = {.program = "adam_vs_sgd", .quick_seeds = 2, .quick_steps = 600};
    enum { EVAL_PROMPTS, TUNE, DATA_SET, FF_HIDDEN, OWN };
    argument table[EXPERIMENT_ARGUMENTS + OWN], *own = table + EXPERIMENT_ARGUMENTS;
    *s = (settings){.eval_prompts = 0};
    experiment_begin(&s->e, table);
    own[TUNE] = (argument){"--tune", ARGUMENT_FLAG, &s->tune, 0, "look for each optimizer's best rate on other seeds first"};
    own[EVAL_PROMPTS] =
        (argument){"--eval-prompts", ARGUMENT_COUNT, &s->eval_prompts, UINT32_MAX, "prompts of the evaluation batch (100000)"};
    own[DATA_SET] =
        (argument){"--data-set", ARGUMENT_COUNT, &s->e.data_set, UINT32_MAX,
                   "take batches from so many prompts, drawn once a run (fresh ones); with as many a batch: full batch"};
    own[FF_HIDDEN] = (argument){"--ff-hidden", ARGUMENT_COUNT, &s->e.ff_hidden, LINATTN_MAX_HIDDEN,
                                "units of a feed-forward block after each layer (there is none)"};
    table[EXPERIMENT_QUICK].help = "2 seeds, 600 steps and 10000 evaluation prompts where not given";
    const int status =
        arguments_read(table, sizeof table / sizeof *table,
                       "Trains a linear transformer with SGD and with Adam; writes a table, a CSV file and a picture.", argc, argv);
    if (status != ARGUMENTS_GO_ON) return status;
    if (s->eval_prompts == 0) s->eval_prompts = s->e.quick ? 10000 : 100000;
    const int made = experiment_make(&s->e, &defaults, 1u << SGD | 1u << ADAM);
    if (made == 0 && s->e.data_set > 0 && s->e.recipe.prompts > s->e.data_set)
        return complain(EXIT_USAGE, "--batch is %zu; allowed: 1 to --data-set, which is %" PRIu64, s->e.recipe.prompts,
                        s->e.data_set);
    name_variant(s);
    return made == 0 ? ARGUMENTS_GO_ON : made;
}

/* A few prompts decide the mean of the squared error: covariates are heavy-tailed, or contexts so short that the normal ones'
 * second moments are (setting 2 late in training: the loss on 100000 prompts is thousands of times that on most batches of 1000).
 */
static const char *heavy_tails(const linattn_recipe *r) {
    if (r->covariates == LINATTN_COVARIATES_GAMMA) return "The covariates are heavy-tailed";
    return r->context <= r->dim ? "So short a context has heavy-tailed second moments" : NULL;
}

static int work(void *user) {
    settings *s = user;
    const comparison_plan plan = {
        .experiment = &s->e, .subject = "recipe", .heavy_tails = heavy_tails(&s->e.recipe), .eval_prompts = s->eval_prompts};
    const int status = s->tune ? tuning_choose(&s->e, s->eval_prompts) : 0;
    return status == 0 ? comparison_run(&plan) : status;
}

int main(int argc, char **argv) {
    settings s;
    int status = read_settings(&s, argc, argv);
    if (status == ARGUMENTS_GO_ON) status = experiment_run(&s.e, work, &s);
    experiment_forget(&s.e);
    return status;
}
