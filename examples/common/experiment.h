/* experiment.h: what every program of this folder is told: a recipe, its optimizers, how many runs, and where the results go. */
#ifndef EXAMPLES_EXPERIMENT_H
#define EXAMPLES_EXPERIMENT_H

#include "arguments.h"
#include "output.h"
#include <linattn/linattn.h>

enum { SGD, ADAM, OPTIMIZERS };

extern const char *const experiment_optimizers[OPTIMIZERS]; /* "SGD", "Adam" */
extern const char *const experiment_colours[OPTIMIZERS];

enum { EXPERIMENT_EVALUATION_SEED = 20231 }; /* of the batches that judge every run, whatever its own seed */

/* The rows of the options that are the same everywhere; a program may put another text in a row's help. */
enum {
    EXPERIMENT_RECIPE,
    EXPERIMENT_SEEDS,
    EXPERIMENT_STEPS,
    EXPERIMENT_THREADS,
    EXPERIMENT_OUT,
    EXPERIMENT_LR_SGD,
    EXPERIMENT_LR_ADAM,
    EXPERIMENT_BATCH,
    EXPERIMENT_QUICK,
    EXPERIMENT_ARGUMENTS
};

typedef struct experiment {
    /* As given; 0 or NULL where not. */
    const char *recipe_name;
    uint64_t seeds;
    uint64_t steps;
    uint64_t batch;
    double rates[OPTIMIZERS];
    int quick;
    uint64_t data_set;  /* batches are taken from so many prompts, drawn once a run; 0: fresh prompts at every step */
    uint64_t ff_hidden; /* units of a feed-forward block after each layer; 0: there is none */
    /* Ready for use. */
    uint64_t threads;
    const char *folder;
    char recipes[400];     /* text of --help */
    char name[96];         /* of the files */
    linattn_recipe recipe; /* with steps and prompts as chosen */
    linattn_optimizer_options rules[OPTIMIZERS];
    linattn_model *model;
    linattn_sampler_options data; /* of training; a run puts its seed in */
    linattn_sampler *evaluation;
} experiment;

/* Sets the defaults and fills the first EXPERIMENT_ARGUMENTS rows of a table of options. */
void experiment_begin(experiment *e, argument *table);

/* A program's own defaults for what was not given: seeds and steps in full and with --quick; 0 stands for the recipe's. */
typedef struct experiment_defaults {
    const char *program; /* the files are called <program>_<recipe> */
    uint64_t seeds, quick_seeds;
    uint64_t steps, quick_steps;
} experiment_defaults;

/* Finds the recipe, puts into it what was asked for, and makes model and evaluation sampler. needed: bit k is set when
 * optimizer k is used, which must then have a learning rate. Returns 0, or EXIT_USAGE or EXIT_FAILED after a complaint. */
int experiment_make(experiment *e, const experiment_defaults *defaults, unsigned needed);

/* The same in two steps, between which recipe and data may be changed. */
int experiment_choose(experiment *e, const experiment_defaults *defaults, unsigned needed);
int experiment_build(experiment *e);
void experiment_forget(experiment *e);

/* Everything after the options: sees to the folder, then calls work(user), which writes the results, with SIGINT caught. Returns
 * what the program is to return. */
int experiment_run(const experiment *e, int (*work)(void *user), void *user);

/* "setting1: L = 3, d = 5, n = 20", for titles and tables. */
void experiment_describe(const experiment *e, char *text, size_t size);

/* Begins <folder>/<name><ending> with its header line. Returns 0, or EXIT_FAILED after a complaint. */
int experiment_open(const experiment *e, const char *ending, const char *header, output *file);

/* The words that a row of results begins with: recipe, optimizer (left out when it is OPTIMIZERS), seed. */
void experiment_row(const experiment *e, output *file, size_t optimizer, uint64_t seed);

/* For --optimizer: "sgd" or "adam" in any case. Returns OPTIMIZERS after a complaint. */
size_t experiment_optimizer(const char *text);

#endif
