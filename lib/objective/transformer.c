/* A model on a fixed batch or on a sampler: value, gradient, and the objective's life. */
#include "objective/transformer.h"

#include "common/allocate.h"
#include "common/fail.h"

#include <string.h>

/* What the chunks of one round share. */
typedef struct {
    linattn__transformer *f;
    const double *theta;
    size_t first;      /* chunk of slot 0 */
    int with_gradient; /* 0: values only */
    int fresh;         /* 1: the draw must be made */
    uint64_t draw;
} round_job;

linattn__moment_data linattn__transformer_chunk(linattn__transformer *f, size_t chunk, int fresh, uint64_t draw, size_t worker) {
    const size_t block = chunk * LINATTN__CHUNK, left = f->data.blocks - block, k = f->data.dim + 1;
    const size_t blocks = left < LINATTN__CHUNK ? left : LINATTN__CHUNK;
    double *work = f->work + worker * (f->work_size + f->draw_size) + f->work_size;
    if (fresh) linattn__sampler_draw(f->sampler, f->isa, draw, block, blocks, &f->data, work);
    return (linattn__moment_data){f->data.moments + block * k * (k + 1) / 2 * LINATTN__BLOCK,
                                  f->data.queries + block * k * LINATTN__BLOCK, f->data.targets + block * LINATTN__BLOCK, blocks};
}

static void run_chunk(void *context, size_t slot, size_t worker) {
    const round_job *job = context;
    linattn__transformer *f = job->f;
    const linattn__moment_data data = linattn__transformer_chunk(f, job->first + slot, job->fresh, job->draw, worker);
    double *gradient = job->with_gradient ? f->partial_gradient + slot * f->base.parameters : NULL;
    double *work = f->work + worker * (f->work_size + f->draw_size);
    f->partial_value[slot] = f->kernels->sum_squares(&f->shape, job->theta, &data, gradient, work);
}

static void add_slots(const linattn__transformer *f, size_t slots, double *value, double *gradient) {
    for (size_t slot = 0; slot < slots; slot++) {
        *value += f->partial_value[slot];
        for (size_t i = 0; gradient && i < f->base.parameters; i++)
            gradient[i] += f->partial_gradient[slot * f->base.parameters + i];
    }
}

static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    linattn__transformer *f = (linattn__transformer *)objective;
    round_job job = {f, theta, 0, gradient != NULL, f->sampler && !(f->drawn && f->draw == draw), draw};
    if (job.fresh) f->drawn = 0; /* until all of it is there */
    *value = 0;
    if (gradient) memset(gradient, 0, objective->parameters * sizeof *gradient);
    for (; job.first < f->chunks; job.first += LINATTN__ROUND) {
        int status = job.first ? linattn__objective_progress(objective, (double)job.first / (double)f->chunks) : LINATTN_OK;
        const size_t left = f->chunks - job.first, slots = left < LINATTN__ROUND ? left : LINATTN__ROUND;
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
    linattn__transformer *f = (linattn__transformer *)objective;
    linattn__pool_destroy(f->pool);
    linattn__release(f->work);
    linattn__release(f->partial_gradient);
    linattn__release(f->partial_value);
    linattn__release(f->hvp_work);
    linattn__release(f->hvp_partial);
    linattn__release(f->hvp_units);
    if (f->sampler) linattn__prompts_release(&f->data);
    linattn_model_destroy((linattn_model *)f->model);
    linattn_batch_destroy((linattn_batch *)f->batch);
    linattn_sampler_destroy((linattn_sampler *)f->sampler);
}

/* Scratch memory and threads, when model and data are in place. */
static int equip(linattn__transformer *f) {
    const size_t threads = f->base.options.threads, slots = f->chunks < LINATTN__ROUND ? f->chunks : LINATTN__ROUND;
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
    int status = linattn__objective_open(&objective, &transformer_class, sizeof(linattn__transformer),
                                         linattn_model_parameter_count(model), options);
    if (status != LINATTN_OK) return status;
    linattn__transformer *f = (linattn__transformer *)objective;
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
        f->chunks = (f->data.blocks + LINATTN__CHUNK - 1) / LINATTN__CHUNK;
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
    const linattn__transformer *f = (const linattn__transformer *)objective;
    return create(out, f->model, f->batch, f->sampler, f->data.prompts, &objective->options);
}

/* A fixed batch is told by a digest of its numbers. */
static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    const linattn__transformer *f = (const linattn__transformer *)objective;
    int status = visit("objective.kind", f->sampler ? 1 : 0, user);
    if (status == LINATTN_OK) status = visit("objective.prompts", f->data.prompts, user);
    if (status == LINATTN_OK) status = linattn__model_describe(f->model, visit, user);
    if (status != LINATTN_OK) return status;
    if (f->sampler) return linattn__sampler_describe(f->sampler, visit, user);
    const size_t lanes = f->data.blocks * LINATTN__BLOCK, k = f->data.dim + 1;
    uint64_t digest = linattn__digest_reals(LINATTN__DIGEST_BEGIN, f->data.moments, k * (k + 1) / 2 * lanes);
    digest = linattn__digest_reals(digest, f->data.queries, k * lanes);
    digest = linattn__digest_reals(digest, f->data.targets, lanes);
    status = visit("batch.context", f->data.context, user);
    return status == LINATTN_OK ? visit("batch.digest", digest, user) : status;
}

static const linattn__objective_class transformer_class = {.name = "transformer",
                                                           .evaluate = evaluate,
                                                           .hvp = linattn__transformer_hvp,
                                                           .hessian = linattn__transformer_hessian,
                                                           .clone = clone,
                                                           .close = close_transformer,
                                                           .describe = describe};

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
