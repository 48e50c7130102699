/* Hessian-vector products and the Hessian of a model: the gradient's chunks and rounds, some directions at a time. */
#include "common/allocate.h"
#include "common/fail.h"
#include "objective/transformer.h"

#include <string.h>

/* Lane sums of all directions of a pass, and what directions add to a thread's scratch memory, should stay in a second-level cache;
 * but a few directions together save more than that, where they do not take FEW_BYTES. */
enum { SUMS_BYTES = 512 * 1024, WORK_BYTES = 1024 * 1024, FEW_BYTES = 64 * 1024 * 1024, FEW_DIRECTIONS = 8, MOST_DIRECTIONS = 64 };

typedef struct {
    linattn__round round;
    const double *directions; /* (count, effective p) */
    size_t count;
    size_t first;
    int confined;
    double *out; /* (count, effective p), sums */
} hvp_job;

static void run_chunk(void *context, size_t slot, size_t worker) {
    const hvp_job *job = context;
    linattn__transformer *f = job->round.f;
    const linattn__data data = linattn__transformer_chunk(&job->round, slot, worker);
    linattn__hvp_kernels_for(&f->shape, f->isa)
        ->hvp(&f->shape, job->round.theta, &data, job->directions, job->count, job->first, job->confined,
              f->hvp_partial + slot * f->hvp_count * f->model->effective, f->hvp_work + worker * f->hvp_work_size);
}

static void add_slots(linattn__round *round, size_t slots) {
    const hvp_job *job = (const hvp_job *)round;
    const linattn__transformer *f = round->f;
    const size_t p = f->model->effective;
    for (size_t slot = 0; slot < slots; slot++)
        for (size_t i = 0; i < job->count * p; i++) job->out[i] += f->hvp_partial[slot * f->hvp_count * p + i];
}

/* Scratch memory, in doubles. */
typedef struct {
    size_t count;                              /* directions that one pass takes */
    size_t work_size;                          /* of a thread */
    size_t rows, composed, work, partial, all; /* (count, p); (count, q); (threads, work_size); (slots, count, q); together */
} sizes;

/* 0 when they overflow. */
static int measure(const linattn__transformer *f, sizes *s) {
    const size_t p = f->base.parameters, q = f->model->effective, slots = f->chunks < LINATTN__ROUND ? f->chunks : LINATTN__ROUND;
    const size_t most = PTRDIFF_MAX / sizeof(double) / 4; /* of each, so that their sum is safe */
    s->count = SUMS_BYTES / (LINATTN__BLOCK * sizeof(double)) / q;
    if (s->count < 1) s->count = 1;
    if (s->count > MOST_DIRECTIONS) s->count = MOST_DIRECTIONS;
    const linattn__hvp_kernels *kernels = linattn__hvp_kernels_for(&f->shape, f->isa);
    const size_t one = kernels->workspace(&f->shape, 1);
    while (s->count > 1 &&
           kernels->workspace(&f->shape, s->count) - one > (s->count > FEW_DIRECTIONS ? WORK_BYTES : FEW_BYTES) / sizeof(double))
        s->count--;
    s->work_size = (kernels->workspace(&f->shape, s->count) + 7) / 8 * 8;
    if (!linattn__multiply_sizes(s->count, p, &s->rows) || !linattn__multiply_sizes(s->count, q, &s->composed) ||
        !linattn__multiply_sizes(slots, s->composed, &s->partial) || s->rows > most ||
        !linattn__multiply_sizes(f->base.options.threads, s->work_size, &s->work) || s->work > most || s->partial > most)
        return 0;
    s->all = s->work + s->partial + 2 * s->rows + (f->composed ? 2 * s->composed : 0);
    return 1;
}

size_t linattn__transformer_hessian_workspace(const linattn_objective *objective) {
    sizes s;
    return measure((const linattn__transformer *)objective, &s) ? s.all * sizeof(double) : SIZE_MAX;
}

/* Scratch memory, once. */
static int equip(linattn__transformer *f) {
    sizes s;
    if (f->hvp_rows) return LINATTN_OK;
    if (!measure(f, &s)) return linattn__fail_memory("Hessian-vector products");
    f->hvp_count = s.count;
    f->hvp_work_size = s.work_size;
    if (!f->hvp_work) f->hvp_work = linattn__allocate(s.work, sizeof *f->hvp_work);
    if (!f->hvp_partial) f->hvp_partial = linattn__allocate(s.partial, sizeof *f->hvp_partial);
    if (!f->hvp_units) f->hvp_units = linattn__allocate(s.rows, sizeof *f->hvp_units);
    if (f->composed && !f->hvp_composed) f->hvp_composed = linattn__allocate(s.composed, 2 * sizeof *f->hvp_composed);
    if (f->hvp_work && f->hvp_partial && f->hvp_units && (f->hvp_composed || !f->composed))
        f->hvp_rows = linattn__allocate(s.rows, sizeof *f->hvp_rows);
    return f->hvp_rows ? LINATTN_OK : linattn__fail_memory("Hessian-vector products");
}

/* out = the mean of H u over the batch, for at most hvp_count directions. With theta composed, H u is the tangent of the pulled
 * gradient, whose two parts are the product's and the map's own (lib/model/parameters.c). */
static int pass(hvp_job *job, const double *theta, const double *directions, double *out) {
    const linattn__transformer *f = job->round.f;
    const size_t p = f->base.parameters, q = f->model->effective, numbers = job->count * q;
    job->round.theta = f->composed ? f->composed : theta;
    job->directions = f->composed ? f->hvp_composed : directions;
    job->out = f->composed ? f->hvp_composed + f->hvp_count * q : out;
    for (size_t i = 0; f->composed && i < job->count; i++)
        linattn__model_compose(f->model, theta, directions + i * p, f->hvp_composed + i * q);
    memset(job->out, 0, numbers * sizeof *job->out);
    const int status = linattn__transformer_rounds(&job->round, run_chunk, add_slots);
    for (size_t i = 0; i < numbers; i++) job->out[i] /= (double)f->data.prompts;
    for (size_t i = 0; f->composed && i < job->count; i++)
        linattn__model_pull_tangent(f->model, theta, directions + i * p, f->composed + q, job->out + i * q, out + i * p);
    return status;
}

int linattn__transformer_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions,
                             size_t count, double *out) {
    linattn__transformer *f = (linattn__transformer *)objective;
    int status = equip(f);
    if (status == LINATTN_OK && f->composed) status = linattn__transformer_compose(f, draw, theta);
    for (size_t i = 0, step; status == LINATTN_OK && i < count; i += step) {
        step = count - i < f->hvp_count ? count - i : f->hvp_count;
        hvp_job job = {.round = {.f = f, .draw = draw}, .count = step};
        job.round.done = (double)i / (double)count;
        job.round.share = (double)step / (double)count;
        status = pass(&job, theta, directions + i * objective->parameters, out + i * objective->parameters);
    }
    return status;
}

/* Unit directions, one stage's at a time, the front MLP's or a layer's with its feed-forward block: the kernel then leaves out what
 * symmetry gives. Of a row, the entries from the diagonal on are taken, and what is below the diagonal is copied from above it, so
 * that the result is symmetric bit for bit. */
int linattn__transformer_hessian(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count,
                                 int diagonal, double *out) {
    linattn__transformer *f = (linattn__transformer *)objective;
    const size_t p = objective->parameters, front = linattn__model_front(f->model), layer = (p - front) / f->shape.layers;
    int status = equip(f);
    if (status == LINATTN_OK && f->composed) status = linattn__transformer_compose(f, draw, theta);
    for (size_t i = 0, step; status == LINATTN_OK && i < count; i += step) {
        const size_t row = first + i, in_stage = row < front ? front - row : layer - (row - front) % layer;
        const size_t left = count - i < in_stage ? count - i : in_stage;
        step = left < f->hvp_count ? left : f->hvp_count;
        hvp_job job = {.round = {.f = f, .draw = draw}, .count = step, .confined = 1};
        job.first = row < front ? 0 : (row - front) / layer + (front > 0);
        job.round.done = (double)i / (double)count;
        job.round.share = (double)step / (double)count;
        memset(f->hvp_units, 0, step * p * sizeof *f->hvp_units);
        for (size_t j = 0; j < step; j++) f->hvp_units[j * p + row + j] = 1;
        status = pass(&job, theta, f->hvp_units, f->hvp_rows);
        for (size_t j = 0; status == LINATTN_OK && j < step; j++) {
            const double *from = f->hvp_rows + j * p + row + j;
            double *to = diagonal ? out + i + j : out + (i + j) * (count + 1);
            memcpy(to, from, (diagonal ? 1 : count - i - j) * sizeof *to);
        }
    }
    for (size_t i = 0; !diagonal && status == LINATTN_OK && i < count; i++)
        for (size_t j = 0; j < i; j++) out[i * count + j] = out[j * count + i];
    return status;
}
