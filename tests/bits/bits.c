/* bits.c (Case R6): prints the bits of the first random numbers of seed 42 and compares them with those pinned in pinned.h; exits
 * with 1 when one differs. Needs neither files nor other libraries, so that it runs wherever the library does, emulated machines included.
 * `bits --table` prints pinned.h anew: only ever to be used when numbers are added. */
#include "common/allocate.h"
#include "objective/dataset.h"
#include "random/random.h"
#include <linattn/linattn.h>
#include <stdio.h>
#include <string.h>

typedef struct pinned {
    const char *name;
    uint64_t bits;
} pinned;

static const pinned table[] = {
#include "pinned.h"
};

enum { COUNT = 16, SEED = 42, D = 5, N = 3, PROMPTS = 9 };

static int print_table;
static size_t position;
static int differences;

static void show(const char *name, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++, position++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        if (print_table) {
            printf("{\"%s\", UINT64_C(0x%016llx)},\n", name, (unsigned long long)bits);
            continue;
        }
        const int known = position < sizeof table / sizeof *table && strcmp(table[position].name, name) == 0;
        const int same = known && table[position].bits == bits;
        printf("%s %zu %016llx%s\n", name, i, (unsigned long long)bits, same ? "" : " DIFFERS");
        differences += !same;
    }
}

static void show_variates(void) {
    const double shapes[] = {0.1, 1, 2.5};
    const char *const names[] = {"gamma(0.1)", "gamma(1)", "gamma(2.5)"};
    double x[COUNT];
    linattn__stream stream;
    linattn__stream_open(&stream, SEED, 0, LINATTN_STREAM_TRAINING);
    linattn__random_uniforms(&stream, LINATTN__KIND_COVARIATES, 0, 0, COUNT, x);
    show("uniform", x, COUNT);
    linattn__random_normals(&stream, LINATTN__KIND_COVARIATES, 0, 0, COUNT, x);
    show("normal", x, COUNT);
    for (int i = 0; i < 3; i++) {
        linattn__gamma gamma;
        linattn__gamma_open(&gamma, shapes[i]);
        linattn__random_gammas(&stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, 0, &gamma, 0, COUNT, x);
        show(names[i], x, COUNT);
    }
    linattn__stream_open(&stream, UINT64_MAX, UINT64_MAX, LINATTN_STREAM_NOISE);
    linattn__random_normals(&stream, LINATTN__KIND_TASK, UINT32_MAX, 0, COUNT, x);
    show("normal of the last seed, draw and prompt", x, COUNT);
}

static int show_batch(const char *name, const linattn_sampler_options *options) {
    double numbers[PROMPTS * (N + 1) * (D + 1)], targets[PROMPTS], moments[PROMPTS * (D + 1) * (D + 1)];
    linattn_sampler *sampler;
    linattn_batch *batch;
    if (linattn_sampler_create(&sampler, options) != LINATTN_OK) return 1;
    if (linattn_batch_create_from_sampler(&batch, sampler, PROMPTS, 7) != LINATTN_OK) return 1;
    if (linattn_batch_get_arrays(batch, options->kind == LINATTN_BATCH_TOKENS ? numbers : NULL, targets) != LINATTN_OK) return 1;
    if (linattn_batch_get_moments(batch, moments, NULL) != LINATTN_OK) return 1;
    /* The first prompt, and the last, which is alone in its block. */
    if (options->kind == LINATTN_BATCH_TOKENS) show(name, numbers, (N + 1) * (D + 1));
    if (options->kind == LINATTN_BATCH_MOMENTS) show(name, moments, (D + 1) * (D + 1));
    show(name, moments + (PROMPTS - 1) * (D + 1) * (D + 1), (D + 1) * (D + 1));
    show(name, targets, PROMPTS);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    return 0;
}

static int show_batches(void) {
    static const double factor[D * D] = {1, 0, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 0.25, 1, 0, 0, 0.125, 0, 0, 2, 0, 0, 0, 3, 0, 0.75};
    linattn_sampler_options options;
    int failed = linattn_sampler_options_init(&options, sizeof options) != LINATTN_OK;
    options.dim = D;
    options.context = N;
    options.seed = SEED;
    options.noise_std = 0.1;
    options.covariate_factor = factor;
    options.gamma_shape = 0.1;
    options.gamma_scale = 10;
    options.sparsity = 2;
    options.hidden = 3;
    options.network_seed = SEED + 1;
    options.covariate_table = factor;
    options.table_rows = D;
    options.standardise = 1;
    const struct {
        const char *name;
        int32_t covariates, kind, task;
    } row[] = {{"normal prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_LINEAR},
               {"sphere prompts", LINATTN_COVARIATES_SPHERE, LINATTN_BATCH_TOKENS, LINATTN_TASK_LINEAR},
               {"gamma prompts", LINATTN_COVARIATES_GAMMA, LINATTN_BATCH_TOKENS, LINATTN_TASK_LINEAR},
               {"rotated prompts", LINATTN_COVARIATES_ROTATED, LINATTN_BATCH_TOKENS, LINATTN_TASK_LINEAR},
               {"moments", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_MOMENTS, LINATTN_TASK_LINEAR},
               {"rotated moments", LINATTN_COVARIATES_ROTATED, LINATTN_BATCH_MOMENTS, LINATTN_TASK_LINEAR},
               {"sparse linear prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_SPARSE_LINEAR},
               {"sine prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_SINE},
               {"quadratic prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_QUADRATIC},
               {"fixed MLP prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_FIXED_MLP},
               {"ReLU network prompts", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_TOKENS, LINATTN_TASK_RELU_NETWORK},
               {"sparse linear moments", LINATTN_COVARIATES_NORMAL, LINATTN_BATCH_MOMENTS, LINATTN_TASK_SPARSE_LINEAR},
               {"table prompts", LINATTN_COVARIATES_TABLE, LINATTN_BATCH_TOKENS, LINATTN_TASK_LINEAR}};
    for (size_t i = 0; i < sizeof row / sizeof *row && !failed; i++) {
        options.covariates = row[i].covariates;
        options.kind = row[i].kind;
        options.task = row[i].task;
        failed = show_batch(row[i].name, &options);
    }
    return failed;
}

static void note(void *user, size_t from, size_t to) { ((double *)user)[to] = (double)from; }

/* Numbers of the prompts that the first draws of a data set take. */
static int show_minibatches(const char *name, int32_t mode) {
    enum { ALL = 11, TAKEN = 4, DRAWS = 5 };
    double taken[TAKEN];
    linattn__dataset set = {.size = ALL, .prompts = TAKEN, .mode = mode, .seed = SEED};
    if (linattn__dataset_open(&set) != LINATTN_OK) return 1;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        linattn__dataset_draw(&set, draw, note, taken);
        show(name, taken, TAKEN);
    }
    linattn__dataset_draw(&set, UINT64_MAX, note, taken);
    show(name, taken, TAKEN);
    linattn__release(set.order);
    return 0;
}

/* Keys, teacher, value vector and labels of drawn prompt-attention systems. */
static int show_prompt_attention(void) {
    enum { EXAMPLES = 2, TOKENS = 3, DIM = 7 };
    static const char *const names[] = {"prompt attention, scaled", "prompt attention, log-uniform", "prompt attention, active"};
    double tokens[EXAMPLES * TOKENS * DIM], value[DIM], teacher[DIM], labels[EXAMPLES];
    for (int32_t profile = 0; profile < 3; profile++) {
        linattn_prompt_options options;
        linattn_prompt *prompt;
        linattn_prompt_options_init(&options, sizeof options);
        options.examples = EXAMPLES;
        options.tokens = TOKENS;
        options.dim = DIM;
        options.seed = SEED;
        options.profile = profile;
        options.token_kind = profile == LINATTN_PROMPT_LOG_UNIFORM;
        options.key_map = profile == LINATTN_PROMPT_LOG_UNIFORM;
        options.loss = profile == LINATTN_PROMPT_ACTIVE;
        options.noise = 0.5;
        options.sparsity = 1e-3;
        if (linattn_prompt_create(&prompt, &options) != LINATTN_OK) return 1;
        linattn_prompt_get_arrays(prompt, tokens, NULL, value, teacher, labels);
        linattn_prompt_destroy(prompt);
        show(names[profile], tokens, TOKENS * DIM);
        show(names[profile], value, DIM);
        show(names[profile], teacher, DIM);
        show(names[profile], labels, EXAMPLES);
    }
    return 0;
}

int main(int count, char **arguments) {
    print_table = count == 2 && strcmp(arguments[1], "--table") == 0;
    show_variates();
    if (show_batches() || show_minibatches("minibatches of epochs", LINATTN_MINIBATCH_EPOCHS) ||
        show_minibatches("minibatches with replacement", LINATTN_MINIBATCH_REPLACEMENT) || show_prompt_attention()) {
        fprintf(stderr, "bits: %s\n", linattn_last_message());
        return 1;
    }
    if (print_table) return 0;
    if (position != sizeof table / sizeof *table) differences++;
    if (differences) fprintf(stderr, "bits: %d numbers differ from the pinned ones\n", differences);
    return differences != 0;
}
