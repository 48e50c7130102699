/* sampler.c: linattn_sampler: options, their checks, and drawing through the tables of distributions. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/owners.h"
#include "sampler/custom.h"
#include "sampler/distribution.h"
#include "sampler/table.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

struct linattn_sampler {
    linattn__owners owners;
    linattn_sampler_options options; /* factors and table point to this handle's copies; NULL where they are not read */
    double *covariate_factor;
    double *task_factor;
    double *covariate_table;
    linattn__plan plan;
    linattn__custom custom;
    size_t workspace; /* in doubles */
};

#define DECLARE_COVARIATES(value, name) LINATTN__ISA_TABLE(linattn__covariates, name, name##_tables);
#define DECLARE_TASK(value, name)       LINATTN__ISA_TABLE(linattn__task, name, name##_tables);
#define ROW(value, name)                [value] = name##_tables,

LINATTN__COVARIATES_ROWS(DECLARE_COVARIATES)
LINATTN__TASK_ROWS(DECLARE_TASK)
LINATTN__ISA_TABLE(linattn__drawing, drawing_tokens, drawing_tokens_tables);
LINATTN__ISA_TABLE(linattn__drawing, drawing_moments, drawing_moments_tables);

static const linattn__covariates *const *const covariates_table[] = {LINATTN__COVARIATES_ROWS(ROW)};
static const linattn__task *const *const task_table[] = {LINATTN__TASK_ROWS(ROW)};
static const linattn__drawing *const *const drawing_table[] = {
    [LINATTN_BATCH_TOKENS] = drawing_tokens_tables, [LINATTN_BATCH_MOMENTS] = drawing_moments_tables};

enum {
    COVARIATES = sizeof covariates_table / sizeof *covariates_table,
    TASKS = sizeof task_table / sizeof *task_table,
    KINDS = sizeof drawing_table / sizeof *drawing_table
};

static const linattn_sampler_options defaults = {
    .struct_size = sizeof(linattn_sampler_options), .gamma_shape = 1, .gamma_scale = 1, .hidden = 10};

static const linattn__struct type = {"linattn_sampler_options", sizeof(linattn_sampler_options),
                                     offsetof(linattn_sampler_options, sparsity), &defaults};

int linattn_sampler_options_init(linattn_sampler_options *options, size_t size) {
    return linattn__options_init(&type, options, size);
}

static int fail_enum(const char *field, int32_t value, int count) {
    if (count == 1) return linattn__fail(LINATTN_EINVAL, "%s is %d; allowed: 0", field, (int)value);
    return linattn__fail(LINATTN_EINVAL, "%s is %d; allowed: the values 0 to %d of enum linattn_%s", field, (int)value, count - 1,
                         strcmp(field, "kind") == 0 ? "batch_kind" : field);
}

static int check_sizes(size_t dim, size_t context) {
    if (dim < 1 || dim > LINATTN_MAX_DIM) return linattn__fail_count("dim", dim, "1 to 1024");
    if (context < 1 || context > LINATTN_MAX_CONTEXT) return linattn__fail_count("context", context, "1 to 4194304");
    return LINATTN_OK;
}

static int check_options(const linattn_sampler_options *o) {
    const int status = check_sizes(o->dim, o->context);
    if (status != LINATTN_OK) return status;
    if (o->covariates < 0 || o->covariates >= COVARIATES) return fail_enum("covariates", o->covariates, COVARIATES);
    if (o->task < 0 || o->task >= TASKS) return fail_enum("task", o->task, TASKS);
    if (o->kind < 0 || o->kind >= KINDS) return fail_enum("kind", o->kind, KINDS);
    if (o->stream < 0 || o->stream > LINATTN_STREAM_NOISE) return fail_enum("stream", o->stream, LINATTN_STREAM_NOISE + 1);
    if (!(o->noise_std >= 0 && o->noise_std < INFINITY))
        return linattn__fail_real("noise_std", o->noise_std, "finite numbers from 0 on");
    if (o->noisy_target != 0 && o->noisy_target != 1) return linattn__fail_integer("noisy_target", o->noisy_target, "0 and 1");
    if (o->reserved != 0) return linattn__fail_integer("reserved", o->reserved, "0");
    if (o->reserved_2 != 0) return linattn__fail_integer("reserved_2", o->reserved_2, "0");
    return LINATTN_OK;
}

/* A copy of a caller's factor (d, d), or NULL for NULL. */
static int copy_factor(const char *name, const double *factor, size_t d, double **out) {
    if (factor == NULL) return LINATTN_OK;
    const int status = linattn__check_finite(name, factor, d * d);
    if (status != LINATTN_OK) return status;
    *out = linattn__allocate(d * d, sizeof **out);
    if (*out == NULL) return linattn__fail_memory(name);
    memcpy(*out, factor, d * d * sizeof **out);
    return LINATTN_OK;
}

/* Moments can be drawn only where they have a known distribution; the gammas of Bartlett's diagonal are made ready. */
static int prepare_moments(linattn__plan *plan, int32_t task) {
    if (!task_table[task][LINATTN__ISA_BASELINE]->linear)
        return linattn__fail(LINATTN_EUNSUPPORTED,
                             "kind is moments and task is %d; allowed with moments: tasks linear in the "
                             "covariates, which are 0 (linear) and 1 (sparse linear)",
                             (int)task);
    const size_t n = plan->context, m = n < plan->dim ? n : plan->dim;
    if (plan->gaussian_scale == 0)
        return linattn__fail(LINATTN_EUNSUPPORTED, "kind is moments, which needs Gaussian covariates; allowed: normal, rotated, or "
                                                   "gamma with gamma_shape = dim/2");
    plan->chi = linattn__allocate(m, sizeof *plan->chi);
    if (plan->chi == NULL) return linattn__fail_memory("the sampler");
    for (size_t j = 0; j < m; j++) linattn__gamma_open(&plan->chi[j], (double)(n - j) / 2);
    if (n > m) linattn__gamma_open(&plan->remainder, (double)(n - m) / 2);
    return LINATTN_OK;
}

static int build(linattn_sampler *s) {
    linattn_sampler_options *o = &s->options;
    if (o->covariates != LINATTN_COVARIATES_ROTATED) o->covariate_factor = NULL;
    if (o->task == LINATTN_TASK_RELU_NETWORK) o->task_factor = NULL;
    int status = copy_factor("covariate_factor", o->covariate_factor, o->dim, &s->covariate_factor);
    if (status == LINATTN_OK) status = copy_factor("task_factor", o->task_factor, o->dim, &s->task_factor);
    if (status == LINATTN_OK && o->covariates == LINATTN_COVARIATES_TABLE) status = linattn__table_copy(o, &s->covariate_table);
    if (status != LINATTN_OK) return status;
    o->covariate_factor = s->covariate_factor;
    o->covariate_table = s->covariate_table;
    o->task_factor = s->task_factor;
    s->plan = (linattn__plan){.dim = o->dim,
                              .context = o->context,
                              .noise_std = o->noise_std,
                              .noisy_target = o->noisy_target,
                              .task_factor = o->task_factor};
    status = covariates_table[o->covariates][LINATTN__ISA_BASELINE]->prepare(o, &s->plan);
    if (status == LINATTN_OK) status = task_table[o->task][LINATTN__ISA_BASELINE]->prepare(o, &s->plan);
    if (status == LINATTN_OK && o->kind == LINATTN_BATCH_MOMENTS) status = prepare_moments(&s->plan, o->task);
    if (status == LINATTN_OK) s->workspace = drawing_table[o->kind][LINATTN__ISA_BASELINE]->workspace(&s->plan);
    return status;
}

int linattn_sampler_create(linattn_sampler **out, const linattn_sampler_options *options) {
    linattn_sampler_options copy;
    if (out == NULL) return linattn__fail_null("out");
    *out = NULL;
    int status = linattn__options_read(&type, &copy, options);
    if (status == LINATTN_OK) status = check_options(&copy);
    if (status != LINATTN_OK) return status;
    linattn_sampler *s = linattn__allocate(1, sizeof *s);
    if (s == NULL) return linattn__fail_memory("the sampler");
    linattn__owners_begin(&s->owners);
    s->options = copy;
    status = build(s);
    if (status != LINATTN_OK)
        linattn_sampler_destroy(s);
    else
        *out = s;
    return status;
}

int linattn_sampler_create_custom(linattn_sampler **out, size_t dim, size_t context, linattn_fill fill, void *user) {
    size_t workspace;
    if (out == NULL) return linattn__fail_null("out");
    *out = NULL;
    if (fill == NULL) return linattn__fail_null("fill");
    int status = check_sizes(dim, context);
    if (status == LINATTN_OK) status = linattn__custom_workspace(context, dim, &workspace);
    if (status != LINATTN_OK) return status;
    linattn_sampler *s = linattn__allocate(1, sizeof *s);
    if (s == NULL) return linattn__fail_memory("the sampler");
    linattn__owners_begin(&s->owners);
    s->options = defaults;
    s->options.dim = dim;
    s->options.context = context;
    s->custom = (linattn__custom){fill, user};
    s->workspace = workspace;
    *out = s;
    return LINATTN_OK;
}

void linattn__sampler_retain(const linattn_sampler *sampler) { linattn__owners_add(&sampler->owners); }

void linattn_sampler_destroy(linattn_sampler *sampler) {
    if (sampler == NULL || !linattn__owners_end(&sampler->owners)) return;
    linattn__release(sampler->covariate_factor);
    linattn__release(sampler->task_factor);
    linattn__release(sampler->covariate_table);
    linattn__release(sampler->plan.chi);
    linattn__release(sampler->plan.network);
    linattn__release(sampler);
}

size_t linattn_sampler_dim(const linattn_sampler *sampler) { return sampler == NULL ? 0 : sampler->options.dim; }
size_t linattn_sampler_context(const linattn_sampler *sampler) { return sampler == NULL ? 0 : sampler->options.context; }

const linattn_sampler_options *linattn__sampler_get_options(const linattn_sampler *sampler) { return &sampler->options; }

size_t linattn__sampler_workspace(const linattn_sampler *sampler) { return sampler->workspace; }

int linattn__sampler_is_custom(const linattn_sampler *sampler) { return sampler->custom.fill != NULL; }

int linattn__sampler_call(const linattn_sampler *sampler, uint64_t draw, linattn__prompts *out, double *workspace) {
    return linattn__custom_draw(&sampler->custom, draw, out, workspace);
}

/* Zeroes lanes `from` .. 7 of an array (rows, 8). */
static void clear_lanes(double *array, size_t rows, size_t from) {
    for (size_t i = 0; i < rows; i++)
        for (size_t lane = from; lane < LINATTN__BLOCK; lane++) array[i * LINATTN__BLOCK + lane] = 0;
}

static void clear_beyond(linattn__prompts *out, size_t block) {
    const size_t d = out->dim, row = (d + 1) * LINATTN__BLOCK, entries = (d + 1) * (d + 2) / 2;
    const size_t from = out->prompts - block * LINATTN__BLOCK;
    if (out->tokens != NULL) clear_lanes(out->tokens + block * (out->context + 1) * row, (out->context + 1) * (d + 1), from);
    clear_lanes(out->moments + block * entries * LINATTN__BLOCK, entries, from);
    clear_lanes(out->queries + block * row, d + 1, from);
    clear_lanes(out->targets + block * LINATTN__BLOCK, 1, from);
}

void linattn__sampler_draw(const linattn_sampler *sampler, enum linattn__isa isa, uint64_t draw, size_t first, size_t count,
                           linattn__prompts *out, double *workspace) {
    const linattn_sampler_options *o = &sampler->options;
    const linattn__drawing *drawing = drawing_table[o->kind][isa];
    linattn__stream stream;
    linattn__stream_open(&stream, o->seed, draw, (unsigned)o->stream);
    drawing->blocks(&sampler->plan, covariates_table[o->covariates][isa], task_table[o->task][isa], &stream, first, count, out,
                    workspace);
    if (count > 0 && (first + count) * LINATTN__BLOCK > out->prompts) clear_beyond(out, first + count - 1);
}
