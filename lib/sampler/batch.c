/* batch.c: linattn_batch: prompts in blocks of 8, drawn or from the caller's arrays, and back out. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/owners.h"
#include "sampler/prompts.h"
#include <string.h>

struct linattn_batch {
    linattn__owners owners;
    linattn__prompts prompts;
};

/* blocks * rows * 8 doubles in *out. */
static int allocate_blocks(const char *what, size_t blocks, size_t rows, double **out) {
    size_t count;
    if (!linattn__multiply_sizes(blocks, rows, &count) || !linattn__multiply_sizes(count, LINATTN__BLOCK, &count) ||
        count > PTRDIFF_MAX / sizeof **out)
        return linattn__fail(LINATTN_EOVERFLOW, "%s: %zu blocks of 8 prompts of %zu numbers do not fit in the address space", what,
                             blocks, rows);
    *out = linattn__allocate(count, sizeof **out);
    return *out == NULL ? linattn__fail_memory(what) : LINATTN_OK;
}

int linattn__prompts_create(linattn__prompts *out, size_t prompts, size_t context, size_t dim, int with_tokens) {
    const size_t blocks = prompts / LINATTN__BLOCK + (prompts % LINATTN__BLOCK != 0);
    linattn__prompts made = {.prompts = prompts, .context = context, .dim = dim, .blocks = blocks};
    size_t numbers = 0;
    int status = LINATTN_OK;
    *out = (linattn__prompts){0};
    if (with_tokens && !linattn__multiply_sizes(context + 1, dim + 1, &numbers))
        status =
            linattn__fail(LINATTN_EOVERFLOW,
                          "(context + 1) (dim + 1) with context %zu and dim %zu does not fit in the address space", context, dim);
    if (status == LINATTN_OK && with_tokens) status = allocate_blocks("tokens", blocks, numbers, &made.tokens);
    if (status == LINATTN_OK) status = allocate_blocks("moments", blocks, (dim + 1) * (dim + 2) / 2, &made.moments);
    if (status == LINATTN_OK) status = allocate_blocks("queries", blocks, dim + 1, &made.queries);
    if (status == LINATTN_OK) status = allocate_blocks("targets", blocks, 1, &made.targets);
    if (status == LINATTN_OK)
        *out = made;
    else
        linattn__prompts_release(&made);
    return status;
}

void linattn__prompts_release(linattn__prompts *prompts) {
    linattn__release(prompts->tokens);
    linattn__release(prompts->moments);
    linattn__release(prompts->queries);
    linattn__release(prompts->targets);
    *prompts = (linattn__prompts){0};
}

linattn__data linattn__prompts_part(const linattn__prompts *p, size_t first, size_t count) {
    const size_t k = p->dim + 1, at = first * LINATTN__BLOCK;
    return (linattn__data){.tokens = p->tokens ? p->tokens + at * (p->context + 1) * k : NULL,
                           .moments = p->moments + at * k * (k + 1) / 2,
                           .queries = p->queries + at * k,
                           .targets = p->targets + at,
                           .blocks = count,
                           .prompts = p->prompts - at < count * LINATTN__BLOCK ? p->prompts - at : count * LINATTN__BLOCK};
}

static int create(linattn_batch **out, size_t prompts, size_t context, size_t dim, int with_tokens) {
    linattn_batch *batch = linattn__allocate(1, sizeof *batch);
    if (batch == NULL) return linattn__fail_memory("the batch");
    linattn__owners_begin(&batch->owners);
    const int status = linattn__prompts_create(&batch->prompts, prompts, context, dim, with_tokens);
    if (status != LINATTN_OK)
        linattn__release(batch);
    else
        *out = batch;
    return status;
}

static int check_prompts(size_t prompts) {
    if (prompts >= 1 && prompts <= UINT32_MAX) return LINATTN_OK;
    return linattn__fail_count("prompts", prompts, "1 to 4294967295");
}

int linattn_batch_create_from_sampler(linattn_batch **out, const linattn_sampler *sampler, size_t prompts, uint64_t draw) {
    if (out == NULL) return linattn__fail_null("out");
    *out = NULL;
    if (sampler == NULL) return linattn__fail_null("sampler");
    const linattn_sampler_options *o = linattn__sampler_get_options(sampler);
    int status = check_prompts(prompts);
    if (status != LINATTN_OK) return status;
    linattn_batch *batch = NULL;
    status = create(&batch, prompts, o->context, o->dim, o->kind == LINATTN_BATCH_TOKENS);
    if (status != LINATTN_OK) return status;
    double *workspace = linattn__allocate(linattn__sampler_workspace(sampler), sizeof *workspace);
    if (workspace == NULL) {
        linattn_batch_destroy(batch);
        return linattn__fail_memory("drawing");
    }
    if (linattn__sampler_is_custom(sampler))
        status = linattn__sampler_call(sampler, draw, &batch->prompts, workspace);
    else
        linattn__sampler_draw(sampler, linattn__isa_best(), draw, 0, batch->prompts.blocks, &batch->prompts, workspace);
    linattn__release(workspace);
    if (status == LINATTN_OK)
        *out = batch;
    else
        linattn_batch_destroy(batch);
    return status;
}

/* Prompt b of a block, plain, into its lane. */
static void put_prompt(linattn__prompts *p, size_t b, const double *tokens, double target) {
    const size_t width = p->dim + 1, numbers = (p->context + 1) * width;
    for (size_t i = 0; i < numbers; i++) p->tokens[i * LINATTN__BLOCK + b] = tokens[i];
    for (size_t j = 0; j < width; j++) p->queries[j * LINATTN__BLOCK + b] = tokens[p->context * width + j];
    p->targets[b] = target;
}

/* C_0 of a block whose moments are 0. */
static void sum_moments(linattn__prompts *p) {
    const size_t width = p->dim + 1;
    for (size_t t = 0; t < p->context; t++) {
        const double *row = p->tokens + t * width * LINATTN__BLOCK;
        double *at = p->moments;
        for (size_t i = 0; i < width; i++)
            for (size_t j = 0; j <= i; j++, at += LINATTN__BLOCK)
                for (size_t lane = 0; lane < LINATTN__BLOCK; lane++)
                    at[lane] += row[i * LINATTN__BLOCK + lane] * row[j * LINATTN__BLOCK + lane];
    }
}

/* Rows of lane `from` of one block into lane `to` of another: both (rows, 8). */
static void copy_lane(const double *source, size_t from, size_t rows, double *out, size_t to) {
    for (size_t i = 0; i < rows; i++) out[i * LINATTN__BLOCK + to] = source[i * LINATTN__BLOCK + from];
}

void linattn__prompts_copy(const linattn__prompts *source, size_t from, linattn__prompts *out, size_t to) {
    const size_t k = out->dim + 1, entries = k * (k + 1) / 2 * LINATTN__BLOCK, queries = k * LINATTN__BLOCK;
    const size_t a = from / LINATTN__BLOCK, b = to / LINATTN__BLOCK, lane = from % LINATTN__BLOCK, into = to % LINATTN__BLOCK;
    const size_t tokens = (out->context + 1) * k;
    if (out->tokens)
        copy_lane(source->tokens + a * tokens * LINATTN__BLOCK, lane, tokens, out->tokens + b * tokens * LINATTN__BLOCK, into);
    copy_lane(source->moments + a * entries, lane, k * (k + 1) / 2, out->moments + b * entries, into);
    copy_lane(source->queries + a * queries, lane, k, out->queries + b * queries, into);
    out->targets[to] = source->targets[from];
}

void linattn__prompts_put_block(linattn__prompts *p, size_t block, const double *tokens, const double *targets, double *blocked) {
    const size_t width = p->dim + 1, numbers = (p->context + 1) * width, entries = width * (width + 1) / 2;
    const size_t left = p->prompts - block * LINATTN__BLOCK;
    linattn__prompts one = {.prompts = left < LINATTN__BLOCK ? left : LINATTN__BLOCK,
                            .context = p->context,
                            .dim = p->dim,
                            .blocks = 1,
                            .tokens = p->tokens != NULL ? p->tokens + block * numbers * LINATTN__BLOCK : blocked,
                            .moments = p->moments + block * entries * LINATTN__BLOCK,
                            .queries = p->queries + block * width * LINATTN__BLOCK,
                            .targets = p->targets + block * LINATTN__BLOCK};
    if (p->tokens == NULL) memset(blocked, 0, numbers * LINATTN__BLOCK * sizeof *blocked);
    memset(one.moments, 0, entries * LINATTN__BLOCK * sizeof *one.moments);
    for (size_t b = 0; b < one.prompts; b++) put_prompt(&one, b, tokens + b * numbers, targets[b]);
    sum_moments(&one);
}

int linattn_batch_create_from_arrays(linattn_batch **out, const double *tokens, const double *targets, size_t prompts,
                                     size_t context, size_t dim) {
    if (out == NULL) return linattn__fail_null("out");
    *out = NULL;
    if (tokens == NULL) return linattn__fail_null("tokens");
    if (targets == NULL) return linattn__fail_null("targets");
    if (dim < 1 || dim > LINATTN_MAX_DIM) return linattn__fail_count("dim", dim, "1 to 1024");
    if (context < 1 || context > LINATTN_MAX_CONTEXT) return linattn__fail_count("context", context, "1 to 4194304");
    const size_t numbers = (context + 1) * (dim + 1);
    size_t count;
    int status = check_prompts(prompts);
    if (status != LINATTN_OK) return status;
    if (!linattn__multiply_sizes(prompts, numbers, &count) || count > PTRDIFF_MAX / sizeof *tokens)
        return linattn__fail(LINATTN_EOVERFLOW, "tokens: %zu prompts of %zu numbers do not fit in the address space", prompts,
                             numbers);
    status = linattn__check_finite("tokens", tokens, count);
    if (status == LINATTN_OK) status = linattn__check_finite("targets", targets, prompts);
    linattn_batch *batch = NULL;
    if (status == LINATTN_OK) status = create(&batch, prompts, context, dim, 1);
    if (status != LINATTN_OK) return status;
    for (size_t first = 0; first < prompts; first += LINATTN__BLOCK)
        linattn__prompts_put_block(&batch->prompts, first / LINATTN__BLOCK, tokens + first * numbers, targets + first, NULL);
    *out = batch;
    return LINATTN_OK;
}

void linattn__batch_retain(const linattn_batch *batch) { linattn__owners_add(&batch->owners); }

void linattn_batch_destroy(linattn_batch *batch) {
    if (batch == NULL || !linattn__owners_end(&batch->owners)) return;
    linattn__prompts_release(&batch->prompts);
    linattn__release(batch);
}

const linattn__prompts *linattn__batch_prompts(const linattn_batch *batch) { return &batch->prompts; }

size_t linattn_batch_prompts(const linattn_batch *batch) { return batch == NULL ? 0 : batch->prompts.prompts; }
size_t linattn_batch_context(const linattn_batch *batch) { return batch == NULL ? 0 : batch->prompts.context; }
size_t linattn_batch_dim(const linattn_batch *batch) { return batch == NULL ? 0 : batch->prompts.dim; }

/* Rows of numbers out of lanes: out (prompts, rows) from blocked (blocks, rows, 8). */
static void copy_lanes(const double *blocked, size_t prompts, size_t rows, double *out) {
    for (size_t b = 0; b < prompts; b++) {
        const double *from = blocked + b / LINATTN__BLOCK * rows * LINATTN__BLOCK + b % LINATTN__BLOCK;
        for (size_t i = 0; i < rows; i++) out[b * rows + i] = from[i * LINATTN__BLOCK];
    }
}

int linattn_batch_get_arrays(const linattn_batch *batch, double *tokens, double *targets) {
    if (batch == NULL) return linattn__fail_null("batch");
    const linattn__prompts *p = &batch->prompts;
    if (tokens != NULL && p->tokens == NULL)
        return linattn__fail(LINATTN_EUNSUPPORTED,
                             "a batch of moments has no tokens; allowed: tokens NULL, or a sampler of kind tokens");
    if (tokens != NULL) copy_lanes(p->tokens, p->prompts, (p->context + 1) * (p->dim + 1), tokens);
    if (targets != NULL) copy_lanes(p->targets, p->prompts, 1, targets);
    return LINATTN_OK;
}

int linattn_batch_get_moments(const linattn_batch *batch, double *moments, double *queries) {
    if (batch == NULL) return linattn__fail_null("batch");
    const linattn__prompts *p = &batch->prompts;
    const size_t width = p->dim + 1, entries = width * (width + 1) / 2;
    if (queries != NULL) copy_lanes(p->queries, p->prompts, width, queries);
    for (size_t b = 0; moments != NULL && b < p->prompts; b++) {
        const double *from = p->moments + b / LINATTN__BLOCK * entries * LINATTN__BLOCK + b % LINATTN__BLOCK;
        double *into = moments + b * width * width;
        for (size_t i = 0; i < width; i++)
            for (size_t j = 0; j <= i; j++, from += LINATTN__BLOCK) into[i * width + j] = into[j * width + i] = *from;
    }
    return LINATTN_OK;
}
