#include "support/random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "random case: %s: %s\n", what, linattn_last_message());
    abort();
}

/* xorshift64*, Vigna 2016. */
static double uniform(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(int64_t)(*state * UINT64_C(2685821657736338717)) / 9223372036854775808.0;
}

random_case random_case_open(reference_shape shape, size_t prompts, unsigned seed) {
    return random_case_open_model((reference_model){.shape = shape}, prompts, seed);
}

random_case random_case_open_model(reference_model reference, size_t prompts, unsigned seed) {
    const reference_shape shape = reference.shape;
    random_case c = {.shape = shape, .reference = reference, .prompts = prompts, .p = reference_model_parameter_count(&reference)};
    const size_t k = shape.dim + 1, numbers = (shape.context + 1) * k;
    uint64_t state = 0x9e3779b97f4a7c15u * (seed + 1u);
    c.tokens = malloc(prompts * numbers * sizeof(double));
    c.targets = malloc(prompts * sizeof(double));
    c.theta = malloc(c.p * sizeof(double));
    need(c.tokens && c.targets && c.theta, "memory");
    for (size_t i = 0; i < prompts * numbers; i++) c.tokens[i] = uniform(&state);
    for (size_t b = 0; b < prompts; b++) {
        c.tokens[(b + 1) * numbers - 1] = 0;
        c.targets[b] = uniform(&state);
    }
    for (size_t i = 0; i < c.p; i++) c.theta[i] = 1.5 * uniform(&state) / sqrt((double)(k * shape.heads));

    linattn_model_options options;
    linattn_model_options_init(&options, sizeof options);
    options.dim = shape.dim;
    options.layers = shape.layers;
    options.heads = shape.heads;
    options.attention = reference.attention;
    options.qk_rank = reference.qk_rank;
    options.mlp_hidden = reference.mlp_hidden;
    options.ff_hidden = reference.ff_hidden;
    options.form = shape.full ? LINATTN_FORM_FULL : LINATTN_FORM_BLOCK;
    need(linattn_model_create(&c.model, &options) == LINATTN_OK, "model");
    need(linattn_model_parameter_count(c.model) == c.p, "parameter count");
    need(linattn_batch_create_from_arrays(&c.batch, c.tokens, c.targets, prompts, shape.context, shape.dim) == LINATTN_OK, "batch");
    return c;
}

void random_case_close(random_case *c) {
    linattn_model_destroy(c->model);
    linattn_batch_destroy(c->batch);
    free(c->tokens);
    free(c->targets);
    free(c->theta);
}

linattn_objective *random_case_objective(const random_case *c, const linattn_batch *batch, int32_t kernel, size_t threads) {
    linattn_objective_options options;
    linattn_objective *f = NULL;
    linattn_objective_options_init(&options, sizeof options);
    options.kernel = kernel;
    options.threads = threads;
    need(linattn_objective_create_fixed(&f, c->model, batch ? batch : c->batch, &options) == LINATTN_OK, "objective");
    return f;
}

double relative_distance(const double *a, const double *b, size_t count) {
    double largest = 0, distance = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(b[i]));
        if (!isfinite(a[i]) || !isfinite(b[i])) return INFINITY;
        distance = fmax(distance, fabs(a[i] - b[i]));
    }
    return largest > 0 ? distance / largest : distance;
}

double random_case_gradient(const random_case *c, const linattn_batch *batch, int32_t kernel, size_t threads, double *gradient) {
    linattn_objective *f = random_case_objective(c, batch, kernel, threads);
    double value = NAN;
    need(linattn_objective_gradient(f, 0, c->theta, &value, gradient) == LINATTN_OK, "gradient");
    linattn_objective_destroy(f);
    return value;
}

double *numbers(size_t count) {
    const size_t bytes = (count * sizeof(double) + 63) / 64 * 64;
    double *x = aligned_alloc(64, bytes);
    need(x != NULL, "memory");
    memset(x, 0, bytes);
    return x;
}
