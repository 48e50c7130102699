/* Hessian-vector products and the Hessian of a model: the same chunks and rounds as for the gradient, a few directions at a time.
 * */
#include "common/allocate.h"
#include "common/fail.h"
#include "objective/transformer.h"

#include <string.h>

/* Lane sums of all directions of a pass should stay in a second-level cache. */
enum { SUMS_BYTES = 512 * 1024, MOST_DIRECTIONS = 64 };

typedef struct {
    linattn__round round;
    const double *directions; /* (count, p) */
    size_t count;
    size_t first_layer;
    int confined;
    double *out; /* (count, p), sums */
} hvp_job;

static void run_chunk(void *context, size_t slot, size_t worker) {
    const hvp_job *job = context;
    linattn__transformer *f = job->round.f;
    const linattn__moment_data data = linattn__transformer_chunk(&job->round, slot, worker);
    linattn__moment_hvp_kernels_for(f->isa)->hvp(&f->shape, job->round.theta, &data, job->directions, job->count, job->first_layer,
                                                 job->confined, f->hvp_partial + slot * f->hvp_count * f->base.parameters,
                                                 f->hvp_work + worker * f->hvp_work_size);
}

static void add_slots(linattn__round *round, size_t slots) {
    const hvp_job *job = (const hvp_job *)round;
    const linattn__transformer *f = round->f;
    const size_t p = f->base.parameters;
    for (size_t slot = 0; slot < slots; slot++)
        for (size_t i = 0; i < job->count * p; i++) job->out[i] += f->hvp_partial[slot * f->hvp_count * p + i];
}

/* Scratch memory, once. */
static int equip(linattn__transformer *f) {
    if (f->hvp_units) return LINATTN_OK;
    const size_t p = f->base.parameters, slots = f->chunks < LINATTN__ROUND ? f->chunks : LINATTN__ROUND;
    size_t count = SUMS_BYTES / (LINATTN__BLOCK * sizeof(double)) / p, numbers, partial;
    if (count < 1) count = 1;
    if (count > MOST_DIRECTIONS) count = MOST_DIRECTIONS;
    f->hvp_count = count;
    f->hvp_work_size = (linattn__moment_hvp_kernels_for(f->isa)->workspace(&f->shape, count) + 7) / 8 * 8;
    if (!linattn__multiply_sizes(count, p, &numbers) || !linattn__multiply_sizes(slots, numbers, &partial))
        return linattn__fail_memory("Hessian-vector products");
    if (!f->hvp_work) f->hvp_work = linattn__allocate(f->base.options.threads, f->hvp_work_size * sizeof *f->hvp_work);
    if (!f->hvp_partial) f->hvp_partial = linattn__allocate(partial, sizeof *f->hvp_partial);
    if (f->hvp_work && f->hvp_partial) f->hvp_units = linattn__allocate(numbers, sizeof *f->hvp_units);
    return f->hvp_units ? LINATTN_OK : linattn__fail_memory("Hessian-vector products");
}

/* out = the mean of H u over the batch, for at most hvp_count directions. */
static int pass(hvp_job *job) {
    const linattn__transformer *f = job->round.f;
    const size_t numbers = job->count * f->base.parameters;
    memset(job->out, 0, numbers * sizeof *job->out);
    const int status = linattn__transformer_rounds(&job->round, run_chunk, add_slots);
    for (size_t i = 0; i < numbers; i++) job->out[i] /= (double)f->data.prompts;
    return status;
}

int linattn__transformer_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions,
                             size_t count, double *out) {
    linattn__transformer *f = (linattn__transformer *)objective;
    int status = equip(f);
    for (size_t i = 0, step; status == LINATTN_OK && i < count; i += step) {
        step = count - i < f->hvp_count ? count - i : f->hvp_count;
        hvp_job job = {.round = {.f = f, .theta = theta, .draw = draw}, .count = step};
        job.round.done = (double)i / (double)count;
        job.round.share = (double)step / (double)count;
        job.directions = directions + i * objective->parameters;
        job.out = out + i * objective->parameters;
        status = pass(&job);
    }
    return status;
}

/* Unit directions, one layer's at a time: the kernel then leaves out what symmetry gives. Everything below the diagonal is copied
 * from above it, so that the result is symmetric bit for bit. */
int linattn__transformer_hessian(linattn_objective *objective, uint64_t draw, const double *theta, double *out) {
    linattn__transformer *f = (linattn__transformer *)objective;
    const size_t p = objective->parameters, layer = p / f->shape.layers;
    int status = equip(f);
    for (size_t i = 0, step; status == LINATTN_OK && i < p; i += step) {
        const size_t left = layer - i % layer;
        step = left < f->hvp_count ? left : f->hvp_count;
        hvp_job job = {.round = {.f = f, .theta = theta, .draw = draw}, .count = step, .first_layer = i / layer, .confined = 1};
        job.round.done = (double)i / (double)p;
        job.round.share = (double)step / (double)p;
        job.directions = f->hvp_units;
        job.out = out + i * p;
        memset(f->hvp_units, 0, step * p * sizeof *f->hvp_units);
        for (size_t j = 0; j < step; j++) f->hvp_units[j * p + i + j] = 1;
        status = pass(&job);
    }
    for (size_t i = 0; status == LINATTN_OK && i < p; i++)
        for (size_t j = 0; j < i; j++) out[i * p + j] = out[j * p + i];
    return status;
}
