/* A model on a fixed batch or on a sampler.
 *
 * The batch is divided into chunks of 64 prompts whatever the number of threads. A round of chunks is worked on by all threads,
 * each chunk filling a slot of its own; then the slots are added in the order of the chunks. So the result depends on the chunks
 * alone. A sampler's batch is drawn inside the same chunks, just before it is used, and kept: evaluating a draw again does not draw
 * again. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/pool.h"
#include "kernels/moment.h"
#include "model/model.h"
#include "objective/objective.h"
#include "sampler/prompts.h"

#include <string.h>

enum { CHUNK = 8, ROUND = 32 }; /* blocks of 8 prompts in a chunk; chunks in a round */

typedef struct {
    linattn_objective base;
    const linattn_model *model;
    const linattn_batch *batch;     /* fixed, or NULL */
    const linattn_sampler *sampler; /* fresh batches, or NULL */
    linattn__prompts data;          /* the batch's arrays, or those of the last draw */
    uint64_t draw;                  /* the draw that `data` holds */
    int drawn;                      /* 0: none */

    enum linattn__isa isa;
    const linattn__moment_kernels *kernels;
    linattn__moment_shape shape;
    linattn__pool *pool;
    size_t chunks;
    size_t work_size, draw_size; /* scratch of a thread, in doubles: kernel, then sampler */
    double *work;                /* (threads, work_size + draw_size) */
    double *partial_gradient;    /* (min(chunks, ROUND), p): the slots */
    double *partial_value;       /* (min(chunks, ROUND)) */
} transformer;

/* What the chunks of one round share. */
typedef struct {
    transformer *f;
    const double *theta;
    size_t first;      /* chunk of slot 0 */
    int with_gradient; /* 0: values only */
    int fresh;         /* 1: the draw must be made */
    uint64_t draw;
} round_job;

static void run_chunk(void *context, size_t slot, size_t worker) {
    const round_job *job = context;
    transformer *f = job->f;
    const size_t block = (job->first + slot) * CHUNK, left = f->data.blocks - block, d = f->data.dim;
    const size_t blocks = left < CHUNK ? left : CHUNK;
    double *work = f->work + worker * (f->work_size + f->draw_size);
    if (job->fresh) linattn__sampler_draw(f->sampler, f->isa, job->draw, block, blocks, &f->data, work + f->work_size);
    const linattn__moment_data data = {f->data.moments + block * (d + 1) * (d + 2) / 2 * LINATTN__BLOCK,
                                       f->data.queries + block * (d + 1) * LINATTN__BLOCK, f->data.targets + block * LINATTN__BLOCK,
                                       blocks};
    double *gradient = job->with_gradient ? f->partial_gradient + slot * f->base.parameters : NULL;
    f->partial_value[slot] = f->kernels->sum_squares(&f->shape, job->theta, &data, gradient, work);
}

static void add_slots(const transformer *f, size_t slots, double *value, double *gradient) {
    for (size_t slot = 0; slot < slots; slot++) {
        *value += f->partial_value[slot];
        for (size_t i = 0; gradient && i < f->base.parameters; i++)
            gradient[i] += f->partial_gradient[slot * f->base.parameters + i];
    }
}

static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    transformer *f = (transformer *)objective;
    round_job job = {f, theta, 0, gradient != NULL, f->sampler && !(f->drawn && f->draw == draw), draw};
    if (job.fresh) f->drawn = 0; /* until all of it is there */
    *value = 0;
    if (gradient) memset(gradient, 0, objective->parameters * sizeof *gradient);
    for (; job.first < f->chunks; job.first += ROUND) {
        int status = job.first ? linattn__objective_progress(objective, (double)job.first / (double)f->chunks) : LINATTN_OK;
        const size_t left = f->chunks - job.first, slots = left < ROUND ? left : ROUND;
        if (status == LINATTN_OK) status = linattn__pool_run(f->pool, slots, run_chunk, &job);
        if (status != LINATTN_OK) return status;
        add_slots(f, slots, value, gradient);
    }
    f->draw = draw;
    f->drawn = f->sampler != NULL;
    *value /= (double)f->data.prompts;
    for (size_t i = 0; gradient && i < objective->parameters; i++) gradient[i] /= (double)f->data.prompts;
    return LINATTN_OK;
}

static void close_transformer(linattn_objective *objective) {
    transformer *f = (transformer *)objective;
    linattn__pool_destroy(f->pool);
    linattn__release(f->work);
    linattn__release(f->partial_gradient);
    linattn__release(f->partial_value);
    if (f->sampler) linattn__prompts_release(&f->data);
    linattn_model_destroy((linattn_model *)f->model);
    linattn_batch_destroy((linattn_batch *)f->batch);
    linattn_sampler_destroy((linattn_sampler *)f->sampler);
}

/* Scratch memory and threads, when model and data are in place. */
static int equip(transformer *f) {
    const size_t threads = f->base.options.threads, slots = f->chunks < ROUND ? f->chunks : ROUND;
    size_t gradients;
    f->work_size = (f->kernels->workspace(&f->shape) + 7) / 8 * 8; /* keeps the sampler's part aligned */
    f->draw_size = f->sampler ? (linattn__sampler_workspace(f->sampler) + 7) / 8 * 8 : 0;
    if (!linattn__multiply_sizes(slots, f->base.parameters, &gradients)) return linattn__fail_memory("the gradient's partial sums");
    f->work = linattn__allocate(threads, (f->work_size + f->draw_size) * sizeof *f->work);
    f->partial_gradient = linattn__allocate(gradients, sizeof *f->partial_gradient);
    f->partial_value = linattn__allocate(slots, sizeof *f->partial_value);
    if (!f->work || !f->partial_gradient || !f->partial_value) return linattn__fail_memory("an objective's workspace");
    return linattn__pool_create(&f->pool, threads);
}

static const linattn__objective_class transformer_class;

/* Exactly one of batch and sampler is given. */
static int create(linattn_objective **out, const linattn_model *model, const linattn_batch *batch, const linattn_sampler *sampler,
                  size_t prompts, const linattn_objective_options *options) {
    linattn_objective *objective;
    int status =
        linattn__objective_open(&objective, &transformer_class, sizeof(transformer), linattn_model_parameter_count(model), options);
    if (status != LINATTN_OK) return status;
    transformer *f = (transformer *)objective;
    f->model = model;
    linattn__model_retain(model);
    if (batch) {
        f->batch = batch;
        linattn__batch_retain(batch);
        f->data = *linattn__batch_prompts(batch);
    } else {
        status = linattn__prompts_create(&f->data, prompts, linattn_sampler_context(sampler), linattn_sampler_dim(sampler), 0);
        if (status == LINATTN_OK) {
            f->sampler = sampler;
            linattn__sampler_retain(sampler);
        }
    }
    if (status == LINATTN_OK) status = linattn__isa_resolve(objective->options.kernel, &f->isa);
    if (status == LINATTN_OK) {
        f->kernels = linattn__moment_kernels_for(f->isa);
        f->shape = linattn__model_moment_shape(model, f->data.context);
        f->chunks = (f->data.blocks + CHUNK - 1) / CHUNK;
        status = equip(f);
    }
    if (status != LINATTN_OK) {
        linattn_objective_destroy(objective);
        return status;
    }
    *out = objective;
    return LINATTN_OK;
}

static int clone(linattn_objective **out, const linattn_objective *objective) {
    const transformer *f = (const transformer *)objective;
    return create(out, f->model, f->batch, f->sampler, f->data.prompts, &objective->options);
}

/* A fixed batch is told by a digest of its numbers. */
static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    const transformer *f = (const transformer *)objective;
    int status = visit("objective.kind", f->sampler ? 1 : 0, user);
    if (status == LINATTN_OK) status = visit("objective.prompts", f->data.prompts, user);
    if (status == LINATTN_OK) status = linattn__model_describe(f->model, visit, user);
    if (status != LINATTN_OK) return status;
    if (f->sampler) return linattn__sampler_describe(f->sampler, visit, user);
    const size_t lanes = f->data.blocks * LINATTN__BLOCK * sizeof(double), k = f->data.dim + 1;
    uint64_t digest = linattn__digest(LINATTN__DIGEST_BEGIN, f->data.moments, k * (k + 1) / 2 * lanes);
    digest = linattn__digest(digest, f->data.queries, k * lanes);
    digest = linattn__digest(digest, f->data.targets, lanes);
    status = visit("batch.context", f->data.context, user);
    return status == LINATTN_OK ? visit("batch.digest", digest, user) : status;
}

static const linattn__objective_class transformer_class = {"transformer", evaluate, clone, close_transformer, describe};

static int check_dims(const char *what, size_t dim, const linattn_model *model) {
    if (dim == model->options.dim) return LINATTN_OK;
    return linattn__fail(LINATTN_EMISMATCH, "the %s has dim %zu, the model %zu", what, dim, model->options.dim);
}

int linattn_objective_create_fixed(linattn_objective **out, const linattn_model *model, const linattn_batch *batch,
                                   const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!model) return linattn__fail_null("model");
    if (!batch) return linattn__fail_null("batch");
    const int status = check_dims("batch", linattn_batch_dim(batch), model);
    return status == LINATTN_OK ? create(out, model, batch, NULL, 0, options) : status;
}

int linattn_objective_create_sampled(linattn_objective **out, const linattn_model *model, const linattn_sampler *sampler,
                                     size_t prompts, const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!model) return linattn__fail_null("model");
    if (!sampler) return linattn__fail_null("sampler");
    if (prompts < 1 || prompts > UINT32_MAX) return linattn__fail_count("prompts", prompts, "1 to 4294967295");
    const int status = check_dims("sampler", linattn_sampler_dim(sampler), model);
    return status == LINATTN_OK ? create(out, model, NULL, sampler, prompts, options) : status;
}
