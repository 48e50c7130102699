/* gradient_error.c: e = g(theta; draw) - g_ref for many draws.
 *
 * Draws are taken in rounds: all threads evaluate the gradients of a round, each with a one-thread clone of the objective; then
 * they are used in the order of the draws. So nothing depends on the number of threads, and one round of gradients is all that is
 * held. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/norm.h"
#include "diagnostics/diagnostics.h"

#include <math.h>
#include <string.h>

enum { ROUND = 64, ROWS = 16 }; /* draws of a round; rows of the covariance that one job brings up to date */

static const uint64_t most_draws = UINT64_C(1) << 32;

static const linattn_gradient_error_options defaults = {
    .struct_size = sizeof(linattn_gradient_error_options), .samples = 1000, .reference_draws = 100};
static const linattn__struct options_type = {"linattn_gradient_error_options", sizeof defaults, sizeof defaults, &defaults};
static const linattn__struct error_type = {"linattn_gradient_error", sizeof(linattn_gradient_error), sizeof(linattn_gradient_error),
                                           NULL};

int linattn_gradient_error_options_init(linattn_gradient_error_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

static int read_options(linattn_gradient_error_options *read, const linattn_gradient_error_options *options, size_t p) {
    int status = linattn__options_read(&options_type, read, options ? options : &defaults);
    if (status != LINATTN_OK) return status;
    size_t numbers;
    if (read->samples < 1 || read->samples > most_draws) return linattn__fail_count("samples", read->samples, "1 to 2^32");
    if (read->reference_draws < 1 || read->reference_draws > most_draws)
        return linattn__fail_count("reference_draws", read->reference_draws, "1 to 2^32");
    if (read->measure != LINATTN_ERROR_NORM && read->measure != LINATTN_ERROR_SQUARED)
        return linattn__fail_integer("measure", read->measure, "0 (norm), 1 (squared)");
    if (read->reserved != 0) return linattn__fail_integer("reserved", read->reserved, "0");
    if (read->surrogates > most_draws) return linattn__fail_count("surrogates", read->surrogates, "0 to 2^32");
    if (read->surrogates > 0 && read->samples < 2)
        return linattn__fail_count("samples", read->samples, "at least 2 when surrogates are wanted");
    if (read->reference) status = linattn__check_finite("reference", read->reference, p);
    if (status != LINATTN_OK || read->direction_count == 0) return status;
    if (!read->directions) return linattn__fail_null("directions");
    if (!linattn__multiply_sizes(read->direction_count, p, &numbers) || numbers > PTRDIFF_MAX / sizeof(double))
        return linattn__fail_count("direction_count", read->direction_count, "direction_count * p numbers must fit in memory");
    return linattn__check_finite("directions", read->directions, numbers);
}

typedef struct {
    linattn_diagnostics *d;
    const double *theta;
    const linattn_gradient_error_options *options;
    size_t p, used;      /* samples used so far */
    uint64_t draw;       /* of slot 0 of the round */
    double done, share;  /* progress of the draws under way */
    double *reference;   /* (p): g_ref */
    double *first;       /* (p): the first e; sums are of e - first, which do not cancel however far from 0 the errors are */
    double *sum;         /* (p): of e - first, then the mean of e */
    double squares;      /* sum of |e - first|^2 */
    double *gradients;   /* (ROUND, p): g, then e, then e - first */
    int status[ROUND];   /* of each gradient */
    size_t slots;        /* of the round, those in use */
    double *covariance;  /* (p, p): sum of (e - first) (e - first)^T, its upper triangle; NULL: no surrogate */
    double *errors;      /* (samples) */
    double *projections; /* (samples, K) */
} measurement;

/* ---- One-thread clones ---- */

static int equip(linattn_diagnostics *d) {
    if (d->pool) return LINATTN_OK;
    d->workers = !d->objective->concurrent ? 1 : d->options.threads < ROUND ? d->options.threads : ROUND;
    linattn_objective_options one = d->objective->options;
    one.threads = 1;
    one.progress = NULL;
    if (!d->clones) d->clones = linattn__allocate(d->workers, sizeof *d->clones);
    if (!d->clones) return linattn__fail_memory("the objectives of threads");
    for (size_t i = 0; i < d->workers; i++) {
        const int status = d->clones[i] ? LINATTN_OK : linattn__objective_clone_with(&d->clones[i], d->objective, &one);
        if (status != LINATTN_OK) return status;
    }
    return linattn__pool_create(&d->pool, d->workers);
}

/* ---- Rounds ---- */

static void evaluate_slot(void *context, size_t slot, size_t worker) {
    measurement *m = context;
    m->status[slot] = linattn_objective_gradient(m->d->clones[worker], m->draw + slot, m->theta, NULL, m->gradients + slot * m->p);
}

/* What failed in a worker left its message there: on this thread it fails once more, or succeeds after all. */
static int evaluate_round(measurement *m) {
    int status = linattn__pool_run(m->d->pool, m->slots, evaluate_slot, m);
    for (size_t slot = 0; status == LINATTN_OK && slot < m->slots; slot++) {
        if (m->status[slot] == LINATTN_OK) continue;
        status = m->d->workers == 1
                     ? m->status[slot]
                     : linattn_objective_gradient(m->d->clones[0], m->draw + slot, m->theta, NULL, m->gradients + slot * m->p);
    }
    return status;
}

/* Rounds of `count` draws from `first` on, `use` being called after each. */
static int take_draws(measurement *m, uint64_t first, uint64_t count, int (*use)(measurement *m)) {
    int status = LINATTN_OK;
    for (uint64_t i = 0; status == LINATTN_OK && i < count; i += ROUND) {
        m->draw = first + i;
        m->slots = count - i < ROUND ? (size_t)(count - i) : ROUND;
        status = i == 0 ? LINATTN_OK : linattn__diagnostics_progress(m->d, m->done + m->share * (double)i / (double)count);
        if (status == LINATTN_OK) status = evaluate_round(m);
        if (status == LINATTN_OK) status = use(m);
    }
    m->done += m->share;
    return status;
}

static int add_to_reference(measurement *m) {
    for (size_t slot = 0; slot < m->slots; slot++)
        for (size_t i = 0; i < m->p; i++) m->reference[i] += m->gradients[slot * m->p + i];
    return LINATTN_OK;
}

static void add_rows(void *context, size_t job, size_t worker) {
    measurement *m = context;
    const size_t first = job * ROWS, last = m->p - first < ROWS ? m->p : first + ROWS;
    (void)worker;
    for (size_t slot = 0; slot < m->slots; slot++) {
        const double *e = m->gradients + slot * m->p;
        for (size_t i = first; i < last; i++) {
            double *row = m->covariance + i * m->p;
            for (size_t j = i; j < m->p; j++) row[j] += e[i] * e[j];
        }
    }
}

static int use_samples(measurement *m) {
    const size_t p = m->p, directions = m->options->direction_count;
    for (size_t slot = 0; slot < m->slots; slot++, m->used++) {
        double *e = m->gradients + slot * p;
        for (size_t i = 0; i < p; i++) e[i] -= m->reference[i];
        const double norm = linattn__norm_value(linattn__norm_of(e, p));
        m->errors[m->used] = m->options->measure == LINATTN_ERROR_SQUARED ? norm * norm : norm;
        for (size_t k = 0; k < directions; k++) {
            double projection = 0;
            for (size_t i = 0; i < p; i++) projection += e[i] * m->options->directions[k * p + i];
            m->projections[m->used * directions + k] = projection;
        }
        if (m->used == 0) memcpy(m->first, e, p * sizeof *e);
        for (size_t i = 0; i < p; i++) {
            e[i] -= m->first[i];
            m->sum[i] += e[i];
            m->squares += e[i] * e[i];
        }
    }
    return m->covariance ? linattn__pool_run(m->d->pool, (p + ROWS - 1) / ROWS, add_rows, m) : LINATTN_OK;
}

/* ---- The whole ---- */

static int take_reference(measurement *m) {
    const linattn_gradient_error_options *o = m->options;
    if (o->reference) {
        memcpy(m->reference, o->reference, m->p * sizeof *m->reference);
        return LINATTN_OK;
    }
    m->share = (double)o->reference_draws / ((double)o->reference_draws + (double)o->samples);
    const int status = take_draws(m, o->first_draw, o->reference_draws, add_to_reference);
    for (size_t i = 0; i < m->p; i++) m->reference[i] /= (double)o->reference_draws;
    return status == LINATTN_OK ? linattn__check_finite("the reference gradient", m->reference, m->p) : status;
}

/* From sums of d = e - first to covariance, (sum of d d^T - N m m^T) / (N - 1) with m the mean of d, both triangles; then the
 * surrogate, whose mean is first + m. */
static int draw_surrogate(measurement *m, double *surrogate) {
    const double n = (double)m->used;
    const size_t p = m->p;
    for (size_t i = 0; i < p; i++)
        for (size_t j = i; j < p; j++)
            m->covariance[i * p + j] = m->covariance[j * p + i] = (m->covariance[i * p + j] - n * m->sum[i] * m->sum[j]) / (n - 1);
    for (size_t i = 0; i < p; i++) m->sum[i] += m->first[i];
    return linattn__surrogate(m->d, m->covariance, m->sum, m->options->seed, m->options->measure == LINATTN_ERROR_SQUARED,
                              m->options->surrogates, surrogate);
}

/* Sums become means. */
static void describe(measurement *m, linattn_gradient_error *result) {
    const double n = (double)m->used;
    double about_mean = m->squares;
    for (size_t i = 0; i < m->p; i++) {
        m->sum[i] /= n;
        about_mean -= n * m->sum[i] * m->sum[i];
        m->gradients[i] = m->first[i] + m->sum[i];
    }
    result->samples = m->used;
    result->reference_draws = m->options->reference ? 0 : m->options->reference_draws;
    result->measure = m->options->measure;
    result->reference_norm = linattn__norm_value(linattn__norm_of(m->reference, m->p));
    result->mean_error_norm = linattn__norm_value(linattn__norm_of(m->gradients, m->p));
    result->covariance_trace = m->used < 2 ? NAN : isinf(m->squares) ? INFINITY : about_mean > 0 ? about_mean / (n - 1) : 0;
}

static int measure(measurement *m, double *surrogate, linattn_gradient_error *result) {
    int status = take_reference(m);
    m->share = 1 - m->done;
    const uint64_t first = m->options->first_draw + (m->options->reference ? 0 : m->options->reference_draws);
    if (status == LINATTN_OK) status = take_draws(m, first, m->options->samples, use_samples);
    if (status != LINATTN_OK) return status;
    describe(m, result);
    return m->covariance ? draw_surrogate(m, surrogate) : LINATTN_OK;
}

/* Memory for results too: the caller's arrays are written at the end. */
typedef struct {
    double *vectors, *numbers, *covariance;
} memory;

static int open_memory(memory *room, measurement *m) {
    const linattn_gradient_error_options *o = m->options;
    size_t vectors, projections, numbers = 0;
    if (!linattn__multiply_sizes(ROUND + 3, m->p, &vectors) ||
        !linattn__multiply_sizes(o->samples, o->direction_count, &projections) || projections > PTRDIFF_MAX / 16)
        return linattn__fail_memory("gradient errors");
    numbers = o->samples + o->surrogates + projections;
    room->vectors = linattn__allocate(vectors, sizeof *room->vectors);
    room->numbers = linattn__allocate(numbers, sizeof *room->numbers);
    if (o->surrogates) room->covariance = linattn__allocate(m->p, m->p * sizeof *room->covariance);
    if (!room->vectors || !room->numbers || (o->surrogates && !room->covariance)) return linattn__fail_memory("gradient errors");
    m->reference = room->vectors;
    m->sum = m->reference + m->p;
    m->first = m->sum + m->p;
    m->gradients = m->first + m->p;
    m->errors = room->numbers;
    m->projections = m->errors + o->samples + o->surrogates;
    m->covariance = room->covariance;
    return LINATTN_OK;
}

static int check_outputs(const linattn_gradient_error_options *o, const double *errors, const double *projections,
                         const double *surrogate, const linattn_gradient_error *out) {
    if (!errors) return linattn__fail_null("errors");
    if (o->direction_count && !projections) return linattn__fail_null("projections");
    if (o->surrogates && !surrogate) return linattn__fail_null("surrogate");
    return linattn__result_check(&error_type, out);
}

int linattn_diagnostics_gradient_error(linattn_diagnostics *diagnostics, const double *theta,
                                       const linattn_gradient_error_options *options, double *errors, double *projections,
                                       double *surrogate, double *reference, linattn_gradient_error *out) {
    linattn_gradient_error_options read;
    int status = linattn__diagnostics_check(diagnostics, theta);
    if (status == LINATTN_OK) status = read_options(&read, options, diagnostics->parameters);
    if (status == LINATTN_OK) status = check_outputs(&read, errors, projections, surrogate, out);
    if (status != LINATTN_OK) return status;
    measurement m = {.d = diagnostics, .theta = theta, .options = &read, .p = diagnostics->parameters};
    memory room = {0};
    linattn_gradient_error result = {0};
    diagnostics->busy = 1;
    status = equip(diagnostics);
    if (status == LINATTN_OK) status = open_memory(&room, &m);
    if (status == LINATTN_OK) status = measure(&m, m.errors + read.samples, &result);
    diagnostics->busy = 0;
    if (status == LINATTN_OK) {
        memcpy(errors, m.errors, read.samples * sizeof *errors);
        if (read.direction_count) memcpy(projections, m.projections, read.samples * read.direction_count * sizeof *projections);
        if (read.surrogates) memcpy(surrogate, m.errors + read.samples, read.surrogates * sizeof *surrogate);
        if (reference) memcpy(reference, m.reference, m.p * sizeof *reference);
        linattn__result_write(&error_type, out, &result);
    }
    linattn__release(room.vectors);
    linattn__release(room.numbers);
    linattn__release(room.covariance);
    return status;
}
