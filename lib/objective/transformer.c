/* A model on a fixed batch or on a sampler: value, gradient, and the objective's life. */
#include "objective/transformer.h"

#include "common/allocate.h"
#include "common/fail.h"

#include <string.h>

linattn__data linattn__transformer_chunk(const linattn__round *round, size_t slot, size_t worker) {
    linattn__transformer *f = round->f;
    const size_t block = (round->first + slot) * LINATTN__CHUNK, left = f->data.blocks - block;
    const size_t blocks = left < LINATTN__CHUNK ? left : LINATTN__CHUNK;
    double *work = f->work + worker * (f->work_size + f->draw_size) + f->work_size;
    if (round->fresh) linattn__sampler_draw(f->sampler, f->isa, round->draw, block, blocks, &f->data, work);
    return linattn__prompts_part(&f->data, block, blocks);
}

static void copy_prompt(void *user, size_t from, size_t to) {
    linattn__transformer *f = user;
    linattn__prompts_copy(linattn__batch_prompts(f->batch), from, &f->data, to);
}

/* Draws all at once, on the calling thread, what chunks cannot draw for themselves. */
static int draw_before(linattn__transformer *f, linattn__round *round) {
    int status = LINATTN_OK;
    if (f->set.size > 0)
        linattn__dataset_draw(&f->set, round->draw, copy_prompt, f);
    else if (f->called)
        status = linattn__sampler_call(f->sampler, round->draw, &f->data, f->call_work);
    else
        return LINATTN_OK;
    round->fresh = 0;
    return status;
}

int linattn__transformer_rounds(linattn__round *round, linattn__job job, void (*add)(linattn__round *round, size_t slots)) {
    linattn__transformer *f = round->f;
    round->fresh = f->fresh && !(f->drawn && f->draw == round->draw);
    if (round->fresh) {
        f->drawn = 0; /* until all of it is there */
        const int status = draw_before(f, round);
        if (status != LINATTN_OK) return status;
    }
    for (round->first = 0; round->first < f->chunks; round->first += LINATTN__ROUND) {
        const double fraction = round->done + round->share * (double)round->first / (double)f->chunks;
        const size_t left = f->chunks - round->first, slots = left < LINATTN__ROUND ? left : LINATTN__ROUND;
        int status = fraction > 0 ? linattn__objective_progress(&f->base, fraction) : LINATTN_OK;
        if (status == LINATTN_OK) status = linattn__pool_run(f->pool, slots, job, round);
        if (status != LINATTN_OK) return status;
        add(round, slots);
    }
    f->draw = round->draw;
    f->drawn = f->fresh;
    return LINATTN_OK;
}

typedef struct {
    linattn__round round;
    double *value, *gradient; /* sums; gradient (p) may be NULL */
} gradient_job;

static void run_chunk(void *context, size_t slot, size_t worker) {
    const gradient_job *job = context;
    linattn__transformer *f = job->round.f;
    const linattn__data data = linattn__transformer_chunk(&job->round, slot, worker);
    double *gradient = job->gradient ? f->partial_gradient + slot * f->model->effective : NULL;
    double *work = f->work + worker * (f->work_size + f->draw_size);
    f->partial_value[slot] = f->kernels->sum_squares(&f->shape, job->round.theta, &data, gradient, work);
}

static void add_slots(linattn__round *round, size_t slots) {
    const gradient_job *job = (const gradient_job *)round;
    const linattn__transformer *f = round->f;
    const size_t p = f->model->effective;
    for (size_t slot = 0; slot < slots; slot++) {
        *job->value += f->partial_value[slot];
        for (size_t i = 0; job->gradient && i < p; i++) job->gradient[i] += f->partial_gradient[slot * p + i];
    }
}

/* With effective parameters, of which the gradient is. share: of the progress, 0 for none. */
static int evaluate_effective(linattn__transformer *f, uint64_t draw, const double *theta, double share, double *value,
                              double *gradient) {
    const size_t p = f->model->effective;
    gradient_job job = {{.f = f, .theta = theta, .draw = draw, .share = share}, value, gradient};
    *value = 0;
    if (gradient) memset(gradient, 0, p * sizeof *gradient);
    const int status = linattn__transformer_rounds(&job.round, run_chunk, add_slots);
    *value /= (double)f->data.prompts;
    for (size_t i = 0; gradient && i < p; i++) gradient[i] /= (double)f->data.prompts;
    return status;
}

static int evaluate(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double *gradient) {
    linattn__transformer *f = (linattn__transformer *)objective;
    if (!f->composed) return evaluate_effective(f, draw, theta, 1, value, gradient);
    double *bar = f->composed + f->model->effective;
    linattn__model_compose(f->model, theta, NULL, f->composed);
    const int status = evaluate_effective(f, draw, f->composed, 1, value, gradient ? bar : NULL);
    if (status == LINATTN_OK && gradient) linattn__model_pull(f->model, theta, bar, gradient);
    return status;
}

int linattn__transformer_compose(linattn__transformer *f, uint64_t draw, const double *theta) {
    double value;
    linattn__model_compose(f->model, theta, NULL, f->composed);
    return evaluate_effective(f, draw, f->composed, 0, &value, f->composed + f->model->effective);
}

typedef struct {
    linattn__round round;
    double count;
} kink_job;

static void count_chunk(void *context, size_t slot, size_t worker) {
    const kink_job *job = context;
    linattn__transformer *f = job->round.f;
    const linattn__data data = linattn__transformer_chunk(&job->round, slot, worker);
    double *work = f->work + worker * (f->work_size + f->draw_size);
    f->partial_value[slot] = f->kernels->count_kinks(&f->shape, job->round.theta, &data, work);
}

static void add_counts(linattn__round *round, size_t slots) {
    kink_job *job = (kink_job *)round;
    for (size_t slot = 0; slot < slots; slot++) job->count += round->f->partial_value[slot];
}

static int count_kinks(linattn_objective *objective, uint64_t draw, const double *theta, uint64_t *count) {
    linattn__transformer *f = (linattn__transformer *)objective;
    kink_job job = {.round = {.f = f, .theta = f->composed ? f->composed : theta, .draw = draw, .done = 1}};
    if (f->composed) linattn__model_compose(f->model, theta, NULL, f->composed);
    const int status =
        linattn__needs_tokens(&f->shape) ? linattn__transformer_rounds(&job.round, count_chunk, add_counts) : LINATTN_OK;
    *count = (uint64_t)job.count;
    return status;
}

static void close_transformer(linattn_objective *objective) {
    linattn__transformer *f = (linattn__transformer *)objective;
    linattn__pool_destroy(f->pool);
    linattn__release(f->work);
    linattn__release(f->call_work);
    linattn__release(f->partial_gradient);
    linattn__release(f->partial_value);
    linattn__release(f->composed);
    linattn__release(f->hvp_work);
    linattn__release(f->hvp_partial);
    linattn__release(f->hvp_units);
    linattn__release(f->hvp_rows);
    linattn__release(f->hvp_composed);
    linattn__release(f->set.order);
    if (f->fresh) linattn__prompts_release(&f->data);
    linattn_model_destroy((linattn_model *)f->model);
    linattn_batch_destroy((linattn_batch *)f->batch);
    linattn_sampler_destroy((linattn_sampler *)f->sampler);
}

/* Scratch memory and threads, when model and data are in place. */
static int equip(linattn__transformer *f) {
    const size_t threads = f->base.options.threads, slots = f->chunks < LINATTN__ROUND ? f->chunks : LINATTN__ROUND;
    const int direct = linattn__model_is_direct(f->model);
    size_t gradients;
    f->work_size = (f->kernels->workspace(&f->shape) + 7) / 8 * 8; /* keeps the sampler's part aligned */
    f->draw_size = f->sampler && !f->called ? (linattn__sampler_workspace(f->sampler) + 7) / 8 * 8 : 0;
    if (!linattn__multiply_sizes(slots, f->model->effective, &gradients))
        return linattn__fail_memory("the gradient's partial sums");
    f->work = linattn__allocate(threads, (f->work_size + f->draw_size) * sizeof *f->work);
    f->partial_gradient = linattn__allocate(gradients, sizeof *f->partial_gradient);
    f->partial_value = linattn__allocate(slots, sizeof *f->partial_value);
    if (!direct) f->composed = linattn__allocate(f->model->effective, 2 * sizeof *f->composed);
    if (f->called) f->call_work = linattn__allocate(linattn__sampler_workspace(f->sampler), sizeof *f->call_work);
    if (!f->work || !f->partial_gradient || !f->partial_value || !(direct || f->composed) || (f->called && !f->call_work))
        return linattn__fail_memory("an objective's workspace");
    return linattn__pool_create(&f->pool, threads);
}

static const linattn__objective_class transformer_class;

/* Where prompts come from: a sampler; or a batch, minibatches of it when set.size is not 0. The other pointer is NULL. */
typedef struct {
    const linattn_sampler *sampler;
    const linattn_batch *batch;
    linattn__dataset set;
    size_t prompts;
} source;

/* Data and what it needs, retained at once so that close releases what was made. */
static int take_source(linattn__transformer *f, const source *from) {
    const linattn_batch *batch = from->batch;
    f->batch = batch;
    if (batch) linattn__batch_retain(batch);
    f->sampler = from->sampler;
    if (f->sampler) linattn__sampler_retain(f->sampler);
    if (batch && from->set.size == 0) {
        f->data = *linattn__batch_prompts(batch);
        return LINATTN_OK;
    }
    const size_t context = batch ? linattn_batch_context(batch) : linattn_sampler_context(f->sampler);
    const size_t dim = batch ? linattn_batch_dim(batch) : linattn_sampler_dim(f->sampler);
    f->fresh = 1;
    f->set = from->set;
    f->set.order = NULL;
    const int status = linattn__prompts_create(&f->data, from->prompts, context, dim, linattn__model_needs_tokens(f->model));
    return status == LINATTN_OK && batch ? linattn__dataset_open(&f->set) : status;
}

static int create(linattn_objective **out, const linattn_model *model, const source *from,
                  const linattn_objective_options *options) {
    linattn_objective *objective;
    int status = linattn__objective_open(&objective, &transformer_class, sizeof(linattn__transformer),
                                         linattn_model_parameter_count(model), options);
    if (status != LINATTN_OK) return status;
    linattn__transformer *f = (linattn__transformer *)objective;
    f->called = from->sampler && linattn__sampler_is_custom(from->sampler);
    objective->concurrent = !f->called;
    f->model = model;
    linattn__model_retain(model);
    status = take_source(f, from);
    if (status == LINATTN_OK) status = linattn__isa_resolve(objective->options.kernel, &f->isa);
    if (status == LINATTN_OK) {
        f->shape = linattn__model_shape(model, f->data.context);
        f->kernels = linattn__kernels_for(&f->shape, f->isa);
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

static int clone(linattn_objective **out, const linattn_objective *objective, const linattn_objective_options *options) {
    const linattn__transformer *f = (const linattn__transformer *)objective;
    const source from = {f->sampler, f->batch, f->set, f->data.prompts};
    return create(out, f->model, &from, options);
}

/* A batch is told by a digest of its numbers. Kinds: 0 fixed, 1 sampled, 3 a data set (2: callbacks). */
static int describe(const linattn_objective *objective, linattn__describe visit, void *user) {
    const linattn__transformer *f = (const linattn__transformer *)objective;
    int status = visit("objective.kind", f->sampler ? 1 : f->set.size > 0 ? 3 : 0, user);
    if (status == LINATTN_OK) status = visit("objective.prompts", f->data.prompts, user);
    if (status == LINATTN_OK) status = linattn__model_describe(f->model, visit, user);
    if (status == LINATTN_OK && f->set.size > 0) status = linattn__dataset_describe(&f->set, visit, user);
    if (status != LINATTN_OK) return status;
    if (f->sampler) return linattn__sampler_describe(f->sampler, visit, user);
    const linattn__prompts *all = linattn__batch_prompts(f->batch);
    const size_t lanes = all->blocks * LINATTN__BLOCK, k = all->dim + 1;
    uint64_t digest = linattn__digest_reals(LINATTN__DIGEST_BEGIN, all->moments, k * (k + 1) / 2 * lanes);
    digest = linattn__digest_reals(digest, all->queries, k * lanes);
    digest = linattn__digest_reals(digest, all->targets, lanes);
    if (linattn__needs_tokens(&f->shape)) digest = linattn__digest_reals(digest, all->tokens, (all->context + 1) * k * lanes);
    status = visit("batch.context", all->context, user);
    return status == LINATTN_OK ? visit("batch.digest", digest, user) : status;
}

static const linattn__objective_class transformer_class = {.name = "transformer",
                                                           .evaluate = evaluate,
                                                           .hvp = linattn__transformer_hvp,
                                                           .hessian = linattn__transformer_hessian,
                                                           .hessian_workspace = linattn__transformer_hessian_workspace,
                                                           .count_kinks = count_kinks,
                                                           .clone = clone,
                                                           .close = close_transformer,
                                                           .describe = describe};

int linattn_objective_create_fixed(linattn_objective **out, const linattn_model *model, const linattn_batch *batch,
                                   const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!model) return linattn__fail_null("model");
    if (!batch) return linattn__fail_null("batch");
    const source from = {.batch = batch};
    int status = linattn__model_check_dim(model, "batch", linattn_batch_dim(batch));
    if (status == LINATTN_OK) status = linattn__model_check_tokens(model, "batch", linattn__batch_prompts(batch)->tokens != NULL);
    return status == LINATTN_OK ? create(out, model, &from, options) : status;
}

int linattn_objective_create_sampled(linattn_objective **out, const linattn_model *model, const linattn_sampler *sampler,
                                     size_t prompts, const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!model) return linattn__fail_null("model");
    if (!sampler) return linattn__fail_null("sampler");
    if (prompts < 1 || prompts > UINT32_MAX) return linattn__fail_count("prompts", prompts, "1 to 4294967295");
    const source from = {.sampler = sampler, .prompts = prompts};
    const int has_tokens = linattn__sampler_get_options(sampler)->kind == LINATTN_BATCH_TOKENS;
    int status = linattn__model_check_dim(model, "sampler", linattn_sampler_dim(sampler));
    if (status == LINATTN_OK) status = linattn__model_check_tokens(model, "sampler", has_tokens);
    return status == LINATTN_OK ? create(out, model, &from, options) : status;
}

int linattn_objective_create_dataset(linattn_objective **out, const linattn_model *model, const linattn_batch *batch,
                                     size_t prompts, int32_t mode, uint64_t seed, const linattn_objective_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    if (!model) return linattn__fail_null("model");
    if (!batch) return linattn__fail_null("batch");
    const source from = {.batch = batch,
                         .set = {.size = linattn_batch_prompts(batch), .prompts = prompts, .mode = mode, .seed = seed},
                         .prompts = prompts};
    int status = linattn__dataset_check(&from.set, "prompts");
    if (status == LINATTN_OK) status = linattn__model_check_dim(model, "batch", linattn_batch_dim(batch));
    if (status == LINATTN_OK) status = linattn__model_check_tokens(model, "batch", linattn__batch_prompts(batch)->tokens != NULL);
    return status == LINATTN_OK ? create(out, model, &from, options) : status;
}
