/* prompt.c: linattn_prompt: options, their checks, and the blocks that kernels read. */
#include "prompt/prompt.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const linattn_prompt_options defaults = {
    .struct_size = sizeof(linattn_prompt_options), .active = 1, .sparsity = 0.1, .temperature = 1};
static const linattn__struct type = {"linattn_prompt_options", sizeof defaults, sizeof defaults, &defaults};

int linattn_prompt_options_init(linattn_prompt_options *options, size_t size) {
    return linattn__options_init(&type, options, size);
}

/* ---- Options ---- */

static const double SPARSEST = 1e-300;
enum { LARGEST = 1 << 24 }; /* tokens, and coordinates: what is larger does not fit anyway */

static int check_choice(const char *field, int32_t value, int32_t last, const char *allowed) {
    return value < 0 || value > last ? linattn__fail_integer(field, value, allowed) : LINATTN_OK;
}

/* What every system reads. */
static int check_common(const linattn_prompt_options *o) {
    if (o->examples < 1 || o->examples > UINT32_MAX) return linattn__fail_count("examples", o->examples, "1 to 4294967295");
    if (o->tokens < 1 || o->tokens > LARGEST) return linattn__fail_count("tokens", o->tokens, "1 to 16777216");
    if (o->dim < 1 || o->dim > LARGEST) return linattn__fail_count("dim", o->dim, "1 to 16777216");
    int status = check_choice("attention", o->attention, LINATTN_PROMPT_LINEAR, "0 (softmax), 1 (linear)");
    if (status == LINATTN_OK) status = check_choice("loss", o->loss, LINATTN_PROMPT_LOGISTIC, "0 (squared), 1 (logistic)");
    if (status == LINATTN_OK) status = check_choice("train_value", o->train_value, 1, "0, 1");
    if (status != LINATTN_OK) return status;
    if (!(o->temperature > 0 && o->temperature < INFINITY))
        return linattn__fail_real("temperature", o->temperature, "finite numbers above 0");
    if (!(o->noise >= 0 && o->noise < INFINITY)) return linattn__fail_real("noise", o->noise, "finite numbers from 0 on");
    return LINATTN_OK;
}

static int check_sparsity(const linattn_prompt_options *o) {
    if (!(o->sparsity >= SPARSEST && o->sparsity <= 1)) return linattn__fail_real("sparsity", o->sparsity, "1e-300 to 1");
    if (o->sparsity == 1) return LINATTN_OK;
    if (o->tokens == 1) return linattn__fail_real("sparsity", o->sparsity, "1 for examples of 1 token, whose weight is always 1");
    if (o->profile == LINATTN_PROMPT_ACTIVE && o->active == o->tokens)
        return linattn__fail(LINATTN_EINVAL, "active is %zu, all tokens, with a sparsity below 1; allowed: 1 to %zu", o->active,
                             o->tokens - 1);
    return LINATTN_OK;
}

/* What drawn systems read beside that. */
static int check_drawn(const linattn_prompt_options *o) {
    int status = check_choice("token_kind", o->token_kind, LINATTN_PROMPT_ORTHONORMAL, "0 (Gaussian), 1 (orthonormal)");
    if (status == LINATTN_OK)
        status = check_choice("key_map", o->key_map, LINATTN_PROMPT_ORTHOGONAL, "0 (identity), 1 (orthogonal)");
    if (status == LINATTN_OK)
        status = check_choice("profile", o->profile, LINATTN_PROMPT_ACTIVE, "0 (scaled), 1 (log-uniform), 2 (active)");
    if (status != LINATTN_OK) return status;
    if (o->profile == LINATTN_PROMPT_ACTIVE && (o->active < 1 || o->active > o->tokens))
        return linattn__fail(LINATTN_EINVAL, "active is %zu of %zu tokens; allowed: 1 to %zu", o->active, o->tokens, o->tokens);
    status = check_sparsity(o);
    if (status != LINATTN_OK) return status;
    if (o->token_kind == LINATTN_PROMPT_ORTHONORMAL && (o->tokens > o->dim || o->examples > o->dim / o->tokens))
        return linattn__fail(LINATTN_EINVAL, "dim is %zu; allowed with orthonormal keys: at least examples * tokens = %zu * %zu",
                             o->dim, o->examples, o->tokens);
    return LINATTN_OK;
}

/* ---- Memory ---- */

static const char NAME[] = "a prompt-attention system";

void linattn_prompt_destroy(linattn_prompt *prompt) {
    if (!prompt || !linattn__owners_end(&prompt->owners)) return;
    if (prompt->tokens != prompt->keys) linattn__release(prompt->tokens);
    linattn__release(prompt->keys);
    linattn__release(prompt->responses);
    linattn__release(prompt->labels);
    linattn__release(prompt->live);
    linattn__release(prompt->value);
    linattn__release(prompt->teacher);
    linattn__release(prompt);
}

void linattn__prompt_retain(const linattn_prompt *prompt) { linattn__owners_add(&prompt->owners); }

/* N n d numbers in *count, so few that all the arrays of a system, in blocks and plain, can be counted. */
static int count_numbers(const linattn_prompt_options *o, size_t *count) {
    size_t rows;
    if (linattn__multiply_sizes(o->examples + 7, o->tokens, &rows) && linattn__multiply_sizes(rows, o->dim, count) &&
        *count <= PTRDIFF_MAX / sizeof(double) / 8)
        return LINATTN_OK;
    return linattn__fail(LINATTN_EOVERFLOW, "%zu examples of %zu tokens in %zu dimensions do not fit in the address space",
                         o->examples, o->tokens, o->dim);
}

/* A system without numbers. */
static int open_prompt(linattn_prompt **out, const linattn_prompt_options *o, int mapped, int taught) {
    const size_t n = o->tokens, d = o->dim, blocks = (o->examples + LINATTN__BLOCK - 1) / LINATTN__BLOCK;
    const int linear = o->attention == LINATTN_PROMPT_LINEAR;
    linattn_prompt *prompt = linattn__allocate(1, sizeof *prompt);
    if (!prompt) return linattn__fail_memory(NAME);
    linattn__owners_begin(&prompt->owners);
    prompt->options = *o;
    prompt->options.progress = NULL;
    prompt->options.user = NULL;
    prompt->shape = (linattn__prompt_shape){.tokens = n,
                                            .dim = d,
                                            .linear = linear,
                                            .logistic = o->loss == LINATTN_PROMPT_LOGISTIC,
                                            .train_value = o->train_value,
                                            .scale = linear ? 1 / (double)n : 1 / o->temperature};
    prompt->blocks = blocks;
    prompt->keys = linattn__allocate(blocks * n * d, LINATTN__BLOCK * sizeof *prompt->keys);
    prompt->tokens = mapped ? linattn__allocate(blocks * n * d, LINATTN__BLOCK * sizeof *prompt->tokens) : prompt->keys;
    prompt->responses = linattn__allocate(blocks * n, LINATTN__BLOCK * sizeof *prompt->responses);
    prompt->labels = linattn__allocate(blocks, LINATTN__BLOCK * sizeof *prompt->labels);
    prompt->live = linattn__allocate(blocks, LINATTN__BLOCK * sizeof *prompt->live);
    prompt->value = linattn__allocate(d, sizeof *prompt->value);
    if (taught) prompt->teacher = linattn__allocate(d, sizeof *prompt->teacher);
    if (prompt->keys && prompt->tokens && prompt->responses && prompt->labels && prompt->live && prompt->value &&
        (prompt->teacher || !taught)) {
        *out = prompt;
        return LINATTN_OK;
    }
    linattn_prompt_destroy(prompt);
    return linattn__fail_memory(NAME);
}

/* Plain rows (N, count) into blocks (blocks, count, 8). */
static void put_blocks(const double *plain, size_t examples, size_t count, double *blocked) {
    for (size_t i = 0; i < examples; i++)
        for (size_t j = 0; j < count; j++)
            blocked[(i / LINATTN__BLOCK * count + j) * LINATTN__BLOCK + i % LINATTN__BLOCK] = plain[i * count + j];
}

static void get_blocks(const double *blocked, size_t examples, size_t count, double *plain) {
    for (size_t i = 0; i < examples; i++)
        for (size_t j = 0; j < count; j++)
            plain[i * count + j] = blocked[(i / LINATTN__BLOCK * count + j) * LINATTN__BLOCK + i % LINATTN__BLOCK];
}

static void fill(linattn_prompt *prompt, const linattn__plain *from) {
    const size_t N = prompt->options.examples, n = prompt->shape.tokens, d = prompt->shape.dim;
    put_blocks(from->keys, N, n * d, prompt->keys);
    if (prompt->tokens != prompt->keys) put_blocks(from->tokens, N, n * d, prompt->tokens);
    put_blocks(from->labels, N, 1, prompt->labels);
    memcpy(prompt->value, from->value, d * sizeof *prompt->value);
    if (prompt->teacher) memcpy(prompt->teacher, from->teacher, d * sizeof *prompt->teacher);
    for (size_t i = 0; i < N; i++) prompt->live[i] = 1;
    for (size_t row = 0; row < prompt->blocks * n; row++) {
        double *u = prompt->responses + row * LINATTN__BLOCK;
        for (size_t j = 0; j < d; j++)
            for (size_t lane = 0; lane < LINATTN__BLOCK; lane++)
                u[lane] += prompt->tokens[(row * d + j) * LINATTN__BLOCK + lane] * from->value[j];
    }
}

/* ---- Drawn systems ---- */

static void release_plain(linattn__plain *plain) {
    if (plain->tokens != plain->keys) linattn__release(plain->tokens);
    linattn__release(plain->keys);
    linattn__release(plain->value);
    linattn__release(plain->teacher);
    linattn__release(plain->labels);
}

static int draw(linattn__plain *plain, double *scores, const linattn_prompt_options *o) {
    const int status = linattn__prompt_draw(o, plain, scores);
    if (status == LINATTN_OK) linattn__prompt_label(o, plain, scores);
    return status;
}

int linattn_prompt_create(linattn_prompt **out, const linattn_prompt_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_prompt_options o;
    size_t numbers;
    int status = linattn__options_read(&type, &o, options);
    if (status == LINATTN_OK) status = check_common(&o);
    if (status == LINATTN_OK) status = check_drawn(&o);
    if (status == LINATTN_OK) status = count_numbers(&o, &numbers);
    if (status != LINATTN_OK) return status;
    const size_t used = o.examples * o.tokens * o.dim, rows = o.examples * o.tokens;
    const int mapped = o.key_map != LINATTN_PROMPT_IDENTITY;
    linattn__plain plain = {.keys = linattn__allocate(used, sizeof(double)),
                            .value = linattn__allocate(o.dim, sizeof(double)),
                            .teacher = linattn__allocate(o.dim, sizeof(double)),
                            .labels = linattn__allocate(o.examples, sizeof(double))};
    plain.tokens = mapped ? linattn__allocate(used, sizeof(double)) : plain.keys;
    double *scores = linattn__allocate(rows + o.tokens, sizeof *scores);
    const int there = plain.keys && plain.tokens && plain.value && plain.teacher && plain.labels && scores;
    linattn_prompt *prompt = NULL;
    status = there ? open_prompt(&prompt, &o, mapped, 1) : linattn__fail_memory(NAME);
    if (status == LINATTN_OK) status = draw(&plain, scores, &o);
    if (status == LINATTN_OK) status = linattn__check_finite("teacher", plain.teacher, o.dim);
    if (status == LINATTN_OK) {
        fill(prompt, &plain);
        *out = prompt;
    } else {
        linattn_prompt_destroy(prompt);
    }
    linattn__release(scores);
    release_plain(&plain);
    return status;
}

/* ---- Systems of the caller's numbers ---- */

static int check_arrays(const linattn_prompt_options *o, const double *tokens, const double *key_map, const double *value,
                        const double *teacher, const double *labels) {
    const size_t d = o->dim;
    if (!tokens) return linattn__fail_null("tokens");
    if (!value) return linattn__fail_null("value");
    if (!labels && !teacher) return linattn__fail(LINATTN_EINVAL, "labels and teacher are both NULL; allowed: at least one array");
    int status = linattn__check_finite("tokens", tokens, o->examples * o->tokens * d);
    if (status == LINATTN_OK && key_map) status = linattn__check_finite("key_map", key_map, d * d);
    if (status == LINATTN_OK) status = linattn__check_finite("value", value, d);
    if (status == LINATTN_OK && teacher) status = linattn__check_finite("teacher", teacher, d);
    if (status == LINATTN_OK && labels) status = linattn__check_finite("labels", labels, o->examples);
    for (size_t i = 0; status == LINATTN_OK && labels && o->loss == LINATTN_PROMPT_LOGISTIC && i < o->examples; i++) {
        if (labels[i] == 1 || labels[i] == -1) continue;
        char name[48];
        snprintf(name, sizeof name, "labels[%zu]", i);
        return linattn__fail_real(name, labels[i], "1 and -1 with logistic loss");
    }
    return status;
}

/* Keys K = X W_K^T. */
static void map_keys(const double *tokens, const double *key_map, size_t rows, size_t d, double *keys) {
    for (size_t i = 0; i < rows; i++)
        for (size_t a = 0; a < d; a++)
            for (size_t j = 0; j < d; j++) keys[i * d + a] += tokens[i * d + j] * key_map[a * d + j];
}

int linattn_prompt_create_from_arrays(linattn_prompt **out, const linattn_prompt_options *options, const double *tokens,
                                      const double *key_map, const double *value, const double *teacher, const double *labels) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_prompt_options o;
    size_t numbers;
    int status = linattn__options_read(&type, &o, options);
    if (status == LINATTN_OK) status = check_common(&o);
    if (status == LINATTN_OK) status = count_numbers(&o, &numbers);
    if (status == LINATTN_OK) status = check_arrays(&o, tokens, key_map, value, teacher, labels);
    if (status != LINATTN_OK) return status;
    const size_t rows = o.examples * o.tokens;
    double *keys = key_map ? linattn__allocate(rows * o.dim, sizeof *keys) : NULL;
    double *made = labels ? NULL : linattn__allocate(o.examples, sizeof *made);
    double *scratch = linattn__allocate(o.tokens, 2 * sizeof *scratch);
    linattn_prompt *prompt = NULL;
    status = (keys || !key_map) && (made || labels) && scratch ? open_prompt(&prompt, &o, key_map != NULL, teacher != NULL)
                                                               : linattn__fail_memory(NAME);
    if (status == LINATTN_OK) {
        if (keys) map_keys(tokens, key_map, rows, o.dim, keys);
        /* The caller's arrays are only read. */
        const linattn__plain plain = {keys ? keys : (double *)(uintptr_t)tokens, (double *)(uintptr_t)tokens,
                                      (double *)(uintptr_t)value, (double *)(uintptr_t)teacher,
                                      made ? made : (double *)(uintptr_t)labels};
        if (made) linattn__prompt_label(&o, &plain, scratch);
        if (keys) status = linattn__check_finite("keys", keys, rows * o.dim);
        if (made && status == LINATTN_OK) status = linattn__check_finite("labels", made, o.examples);
        fill(prompt, &plain);
    }
    if (status == LINATTN_OK) status = linattn__check_finite("responses", prompt->responses, prompt->blocks * o.tokens * 8);
    if (status == LINATTN_OK)
        *out = prompt;
    else
        linattn_prompt_destroy(prompt);
    linattn__release(keys);
    linattn__release(made);
    linattn__release(scratch);
    return status;
}

/* ---- Looking inside ---- */

size_t linattn_prompt_examples(const linattn_prompt *prompt) { return prompt ? prompt->options.examples : 0; }
size_t linattn_prompt_tokens(const linattn_prompt *prompt) { return prompt ? prompt->shape.tokens : 0; }
size_t linattn_prompt_dim(const linattn_prompt *prompt) { return prompt ? prompt->shape.dim : 0; }
size_t linattn_prompt_parameter_count(const linattn_prompt *prompt) {
    return prompt ? linattn__prompt_parameters(&prompt->shape) : 0;
}

int linattn_prompt_get_arrays(const linattn_prompt *prompt, double *tokens, double *keys, double *value, double *teacher,
                              double *labels) {
    if (!prompt) return linattn__fail_null("prompt");
    if (teacher && !prompt->teacher)
        return linattn__fail(LINATTN_EUNSUPPORTED, "teacher is asked of a system made without one; allowed: NULL");
    const size_t N = prompt->options.examples, n = prompt->shape.tokens, d = prompt->shape.dim;
    if (tokens) get_blocks(prompt->tokens, N, n * d, tokens);
    if (keys) get_blocks(prompt->keys, N, n * d, keys);
    if (value) memcpy(value, prompt->value, d * sizeof *value);
    if (teacher) memcpy(teacher, prompt->teacher, d * sizeof *teacher);
    if (labels) get_blocks(prompt->labels, N, 1, labels);
    return LINATTN_OK;
}

linattn__examples linattn__prompt_part(const linattn_prompt *prompt, size_t first, size_t count) {
    const size_t rows = first * prompt->shape.tokens * LINATTN__BLOCK;
    return (linattn__examples){.keys = prompt->keys + rows * prompt->shape.dim,
                               .tokens = prompt->tokens + rows * prompt->shape.dim,
                               .responses = prompt->responses + rows,
                               .labels = prompt->labels + first * LINATTN__BLOCK,
                               .live = prompt->live + first * LINATTN__BLOCK,
                               .blocks = count};
}

int linattn__prompt_describe(const linattn_prompt *prompt, linattn__describe visit, void *user) {
    const linattn_prompt_options *o = &prompt->options;
    const size_t rows = prompt->blocks * o->tokens * LINATTN__BLOCK;
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"prompt.examples", o->examples},
                  {"prompt.tokens", o->tokens},
                  {"prompt.attention", (uint64_t)o->attention},
                  {"prompt.loss", (uint64_t)o->loss},
                  {"prompt.train_value", (uint64_t)o->train_value},
                  {"prompt.temperature", linattn__real_bits(o->attention == LINATTN_PROMPT_SOFTMAX ? o->temperature : 1)}};
    int status = LINATTN_OK;
    for (size_t i = 0; status == LINATTN_OK && i < sizeof fields / sizeof *fields; i++)
        status = visit(fields[i].name, fields[i].value, user);
    uint64_t digest = linattn__digest_reals(LINATTN__DIGEST_BEGIN, prompt->keys, rows * o->dim);
    digest = linattn__digest_reals(digest, prompt->responses, rows);
    digest = linattn__digest_reals(digest, prompt->labels, prompt->blocks * LINATTN__BLOCK);
    return status == LINATTN_OK ? visit("prompt.digest", digest, user) : status;
}
