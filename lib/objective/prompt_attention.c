/* prompt_attention.c: the loss of a prompt-attention system, over all its examples or over minibatches.
 *
 * As with a model on a batch, chunks of 64 examples fill slots of their own, which are added in the order of the chunks, so results
 * do not depend on the number of threads. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/pool.h"
#include "objective/dataset.h"
#include "objective/objective.h"
#include "prompt/prompt.h"

#include <string.h>

enum { CHUNK = 8, ROUND = 32, DIRECTIONS = 8 }; /* blocks of a chunk; chunks of a round; directions of a pass */

typedef struct {
    linattn_objective base;
    const linattn_prompt *prompt;
    const linattn__prompt_kernels *kernels;
    linattn__pool *pool;
    linattn__dataset set; /* its size is 0 when all examples are used */
    double *copy;         /* a minibatch's examples: keys, tokens, responses, labels, live, one after the other */
    uint64_t draw;        /* that copy holds */
    int drawn;            /* 0: none */
    size_t examples, blocks, chunks, work_size;
    double *work;    /* (threads, work_size) */
    double *slots;   /* (min(chunks, ROUND), DIRECTIONS p) */
    double *values;  /* (min(chunks, ROUND)) */
    double *rows[2]; /* (DIRECTIONS, p): unit directions and rows of the Hessian; made by the first Hessian */
} prompt_objective;

/* ---- A minibatch ---- */

typedef struct {
    double *keys, *tokens, *responses, *labels, *live;
} copies;

static copies parts_of(const prompt_objective *f) {
    const size_t n = f->prompt->shape.tokens, d = f->prompt->shape.dim, lanes = f->blocks * LINATTN__BLOCK;
    copies c = {.keys = f->copy};
    c.tokens = f->prompt->tokens == f->prompt->keys ? c.keys : c.keys + lanes * n * d;
    c.responses = c.tokens + lanes * n * d;
    c.labels = c.responses + lanes * n;
    c.live = c.labels + lanes;
    return c;
}

static void copy_lane(const double *source, size_t from, size_t rows, double *out, size_t to) {
    source += from / LINATTN__BLOCK * rows * LINATTN__BLOCK + from % LINATTN__BLOCK;
    out += to / LINATTN__BLOCK * rows * LINATTN__BLOCK + to % LINATTN__BLOCK;
    for (size_t i = 0; i < rows; i++) out[i * LINATTN__BLOCK] = source[i * LINATTN__BLOCK];
}

static void copy_example(void *user, size_t from, size_t to) {
    const prompt_objective *f = user;
    const linattn_prompt *x = f->prompt;
    const copies c = parts_of(f);
    copy_lane(x->keys, from, x->shape.tokens * x->shape.dim, c.keys, to);
    if (c.tokens != c.keys) copy_lane(x->tokens, from, x->shape.tokens * x->shape.dim, c.tokens, to);
    copy_lane(x->responses, from, x->shape.tokens, c.responses, to);
    copy_lane(x->labels, from, 1, c.labels, to);
    c.live[to] = 1;
}

static linattn__examples part(const prompt_objective *f, size_t first, size_t count) {
    if (f->set.size == 0) return linattn__prompt_part(f->prompt, first, count);
    const copies c = parts_of(f);
    const size_t rows = first * f->prompt->shape.tokens * LINATTN__BLOCK, d = f->prompt->shape.dim;
    return (linattn__examples){.keys = c.keys + rows * d,
                               .tokens = c.tokens + rows * d,
                               .responses = c.responses + rows,
                               .labels = c.labels + first * LINATTN__BLOCK,
                               .live = c.live + first * LINATTN__BLOCK,
                               .blocks = count};
}

/* ---- Sums over chunks ---- */

typedef struct {
    prompt_objective *f;
    const double *theta;
    const double *directions; /* (count, p); NULL: value and gradient */
    size_t count;             /* results of p numbers: 0 for a value alone */
    size_t first;             /* chunk of slot 0 */
} job;

static void run_chunk(void *context, size_t slot, size_t worker) {
    const job *j = context;
    const prompt_objective *f = j->f;
    const size_t block = (j->first + slot) * CHUNK, left = f->blocks - block;
    const linattn__examples x = part(f, block, left < CHUNK ? left : CHUNK);
    double *out = f->slots + slot * DIRECTIONS * f->base.parameters, *work = f->work + worker * f->work_size;
    if (j->directions)
        f->kernels->hvp(&f->prompt->shape, j->theta, &x, j->directions, j->count, out, work);
    else
        f->values[slot] = f->kernels->loss(&f->prompt->shape, j->theta, &x, j->count > 0 ? out : NULL, work);
}

/* The mean over examples, of the results (count, p) into out, and of the value. done, share: progress before, and of this. */
static int run(job *j, uint64_t draw, double done, double share, double *value, double *out) {
    prompt_objective *f = j->f;
    const size_t p = f->base.parameters;
    if (f->set.size > 0 && !(f->drawn && f->draw == draw)) {
        linattn__dataset_draw(&f->set, draw, copy_example, f);
        f->draw = draw;
        f->drawn = 1;
    }
    if (value) *value = 0;
    if (out) memset(out, 0, j->count * p * sizeof *out);
    for (j->first = 0; j->first < f->chunks; j->first += ROUND) {
        const size_t left = f->chunks - j->first, slots = left < ROUND ? left : ROUND;
        const double fraction = done + share * (double)j->first / (double)f->chunks;
        int status = fraction > 0 ? linattn__objective_progress(&f->base, fraction) : LINATTN_OK;
        if (status == LINATTN_OK) status = linattn__pool_run(f->pool, slots, run_chunk, j);
        if (status != LINATTN_OK) return status;
        for (size_t slot = 0; slot < slots; slot++) {
            if (value) *value += f->values[slot];
            for (size_t i = 0; out && i < j->count * p; i++) out[i] += f->slots[slot * DIRECTIONS * p + i];
        }
    }
    if (value) *value /= (double)f->examples;
    for (size_t i = 0; out && i < j->count * p; i++) out[i] /= (double)f->examples;
    return LINATTN_OK;
}

static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    job j = {.f = (prompt_objective *)objective, .theta = theta, .count = gradient ? 1 : 0};
    return run(&j, draw, 0, 1, value, gradient);
}

static int products(prompt_objective *f, uint64_t draw, const double *theta, const double *directions, size_t count, double done,
                    double share, double *out) {
    job j = {.f = f, .theta = theta, .directions = directions, .count = count};
    return run(&j, draw, done, share, NULL, out);
}

static int hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t count,
               double *out) {
    const size_t p = objective->parameters;
    int status = LINATTN_OK;
    for (size_t i = 0, step; status == LINATTN_OK && i < count; i += step) {
        step = count - i < DIRECTIONS ? count - i : DIRECTIONS;
        status = products((prompt_objective *)objective, draw, theta, directions + i * p, step, (double)i / (double)count,
                          (double)step / (double)count, out + i * p);
    }
    return status;
}

/* Rows by unit directions, from the diagonal on; what is below it is copied from above, so the result is symmetric bit for bit. */
static int hessian(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count, int diagonal,
                   double *out) {
    prompt_objective *f = (prompt_objective *)objective;
    const size_t p = objective->parameters;
    for (int i = 0; i < 2; i++) {
        if (!f->rows[i]) f->rows[i] = linattn__allocate(p, DIRECTIONS * sizeof *f->rows[i]);
        if (!f->rows[i]) return linattn__fail_memory("Hessians");
    }
    int status = LINATTN_OK;
    for (size_t i = 0, step; status == LINATTN_OK && i < count; i += step) {
        step = count - i < DIRECTIONS ? count - i : DIRECTIONS;
        memset(f->rows[0], 0, step * p * sizeof *f->rows[0]);
        for (size_t k = 0; k < step; k++) f->rows[0][k * p + first + i + k] = 1;
        status = products(f, draw, theta, f->rows[0], step, (double)i / (double)count, (double)step / (double)count, f->rows[1]);
        for (size_t k = 0; status == LINATTN_OK && k < step; k++) {
            const double *from = f->rows[1] + k * p + first + i + k;
            memcpy(diagonal ? out + i + k : out + (i + k) * (count + 1), from, (diagonal ? 1 : count - i - k) * sizeof *from);
        }
    }
    for (size_t i = 0; !diagonal && status == LINATTN_OK && i < count; i++)
        for (size_t k = 0; k < i; k++) out[i * count + k] = out[k * count + i];
    return status;
}

static size_t hessian_workspace(const linattn_objective *objective) {
    size_t bytes;
    return linattn__multiply_sizes(objective->parameters, 2 * DIRECTIONS * sizeof(double), &bytes) ? bytes : SIZE_MAX;
}

/* ---- Life ---- */

static void close_objective(linattn_objective *objective) {
    prompt_objective *f = (prompt_objective *)objective;
    linattn__pool_destroy(f->pool);
    linattn__release(f->copy);
    linattn__release(f->work);
    linattn__release(f->slots);
    linattn__release(f->values);
    linattn__release(f->rows[0]);
    linattn__release(f->rows[1]);
    linattn__release(f->set.order);
    linattn_prompt_destroy((linattn_prompt *)f->prompt);
}

static int equip(prompt_objective *f) {
    const linattn__prompt_shape *shape = &f->prompt->shape;
    const size_t threads = f->base.options.threads, slots = f->chunks < ROUND ? f->chunks : ROUND;
    const size_t tables = f->prompt->tokens == f->prompt->keys ? 1 : 2;
    size_t work;
    f->work_size = (f->kernels->workspace(shape, DIRECTIONS) + 7) / 8 * 8;
    if (!linattn__multiply_sizes(threads, f->work_size, &work)) return linattn__fail_memory("an objective's workspace");
    f->work = linattn__allocate(work, sizeof *f->work);
    f->slots = linattn__allocate(slots * f->base.parameters, DIRECTIONS * sizeof *f->slots);
    f->values = linattn__allocate(slots, sizeof *f->values);
    if (f->set.size > 0)
        f->copy = linattn__allocate(f->blocks * (tables * shape->tokens * shape->dim + shape->tokens + 2),
                                    LINATTN__BLOCK * sizeof *f->copy);
    if (!f->work || !f->slots || !f->values || (f->set.size > 0 && !f->copy))
        return linattn__fail_memory("an objective's workspace");
    const int status = f->set.size > 0 ? linattn__dataset_open(&f->set) : LINATTN_OK;
    return status == LINATTN_OK ? linattn__pool_create(&f->pool, threads) : status;
}

static const linattn__objective_class prompt_class;

static int create(linattn_objective **out, const linattn_prompt *prompt, const linattn__dataset *set,
                  const linattn_objective_options *options) {
    linattn_objective *objective;
    enum linattn__isa isa = LINATTN__ISA_BASELINE;
    int status = linattn__objective_open(&objective, &prompt_class, sizeof(prompt_objective),
                                         linattn__prompt_parameters(&prompt->shape), options);
    if (status != LINATTN_OK) return status;
    prompt_objective *f = (prompt_objective *)objective;
    objective->concurrent = 1;
    f->prompt = prompt;
    linattn__prompt_retain(prompt);
    f->set = *set;
    f->set.order = NULL;
    f->examples = set->size > 0 ? set->prompts : prompt->options.examples;
    f->blocks = (f->examples + LINATTN__BLOCK - 1) / LINATTN__BLOCK;
    f->chunks = (f->blocks + CHUNK - 1) / CHUNK;
    status = linattn__isa_resolve(objective->options.kernel, &isa);
    f->kernels = linattn__prompt_kernels_for(isa);
    if (status == LINATTN_OK) status = equip(f);
    if (status == LINATTN_OK)
        *out = objective;
    else
        linattn_objective_destroy(objective);
    return status;
}

static int clone(linattn_objective **out, const linattn_objective *objective, const linattn_objective_options *options) {
    const prompt_objective *f = (const prompt_objective *)objective;
    return create(out, f->prompt, &f->set, options);
}

/* Kinds: 4 all examples, 5 minibatches. */
static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    const prompt_objective *f = (const prompt_objective *)objective;
    int status = visit("objective.kind", f->set.size > 0 ? 5 : 4, user);
    if (status == LINATTN_OK) status = visit("objective.prompts", f->examples, user);
    if (status == LINATTN_OK) status = linattn__prompt_describe(f->prompt, visit, user);
    return status == LINATTN_OK && f->set.size > 0 ? linattn__dataset_describe(&f->set, visit, user) : status;
}

static const linattn__objective_class prompt_class = {.name = "prompt",
                                                      .evaluate = evaluate,
                                                      .hvp = hvp,
                                                      .hessian = hessian,
                                                      .hessian_workspace = hessian_workspace,
                                                      .clone = clone,
                                                      .close = close_objective,
                                                      .describe = describe};

int linattn_objective_create_prompt(linattn_objective **out, const linattn_prompt *prompt,
                                    const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!prompt) return linattn__fail_null("prompt");
    const linattn__dataset all = {.size = 0};
    return create(out, prompt, &all, options);
}

int linattn_objective_create_prompt_dataset(linattn_objective **out, const linattn_prompt *prompt, size_t examples, int32_t mode,
                                            uint64_t seed, const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!prompt) return linattn__fail_null("prompt");
    const linattn__dataset set = {.size = prompt->options.examples, .prompts = examples, .mode = mode, .seed = seed};
    const int status = linattn__dataset_check(&set, "examples");
    return status == LINATTN_OK ? create(out, prompt, &set, options) : status;
}
