/* resampling.c: random draws from a sample, a function of (seed, resample, position); what replicates say. */
#include "common/allocate.h"
#include "common/fail.h"
#include "random/random.h"
#include "statistics/statistics.h"
#include <math.h>

enum { PIECE = 256, REPORTS = 100, MOST_NUMBERS = 1 << 20 }; /* the last: drawn between two reports, some hundredths of a second */

static const linattn_resampling_options DEFAULTS = {.struct_size = sizeof(linattn_resampling_options), .resamples = 2000};
static const linattn__struct OPTIONS = {"linattn_resampling_options", sizeof(linattn_resampling_options),
                                        sizeof(linattn_resampling_options), &DEFAULTS};
const linattn__struct linattn__interval_type = {"linattn_interval", sizeof(linattn_interval), sizeof(linattn_interval), NULL};

int linattn_resampling_options_init(linattn_resampling_options *options, size_t size) {
    return linattn__options_init(&OPTIONS, options, size);
}

int linattn__resampling_read(linattn_resampling_options *copy, const linattn_resampling_options *options, size_t least) {
    *copy = DEFAULTS;
    if (!options) return LINATTN_OK;
    const int status = linattn__options_read(&OPTIONS, copy, options);
    if (status != LINATTN_OK) return status;
    if (copy->resamples < least || copy->resamples > LINATTN_MAX_RESAMPLES)
        return linattn__fail(LINATTN_EINVAL, "resamples is %zu; allowed: %zu to %d", copy->resamples, least, LINATTN_MAX_RESAMPLES);
    return LINATTN_OK;
}

int linattn__resampling_progress(const linattn_resampling_options *options, size_t count, size_t b) {
    const size_t share = (options->resamples + REPORTS - 1) / REPORTS, most = count < MOST_NUMBERS ? MOST_NUMBERS / count : 1;
    if (!options->progress || b % (share < most ? share : most) != 0) return LINATTN_OK;
    const int returned = options->progress((double)b / (double)options->resamples, options->user);
    if (returned <= 0 || returned == LINATTN_STOP) return returned;
    return linattn__fail_integer("what the callback progress returned", returned, "0, LINATTN_STOP (1), negative statuses");
}

void linattn__resample_uniforms(const linattn_resampling_options *options, size_t b, size_t count, double *out) {
    linattn__stream stream;
    linattn__stream_open(&stream, options->seed, b, LINATTN__PURPOSE_RESAMPLING);
    linattn__random_uniforms(&stream, LINATTN__KIND_INDICES, 0, 0, count, out);
}

size_t linattn__uniform_index(double u, size_t range) {
    const size_t index = (size_t)(u * (double)range);
    return index < range ? index : range - 1;
}

void linattn__resample_indices(const linattn_resampling_options *options, size_t b, size_t range, size_t size, size_t *indices) {
    linattn__stream stream;
    double u[PIECE];
    linattn__stream_open(&stream, options->seed, b, LINATTN__PURPOSE_RESAMPLING);
    for (size_t first = 0; first < size; first += PIECE) {
        const size_t piece = size - first < PIECE ? size - first : PIECE;
        linattn__random_uniforms(&stream, LINATTN__KIND_INDICES, 0, first, piece, u);
        for (size_t i = 0; i < piece; i++) indices[first + i] = linattn__uniform_index(u[i], range);
    }
}

void linattn__resample_blocks(const linattn_resampling_options *options, size_t b, size_t count, size_t block, size_t *indices) {
    const size_t blocks = (count + block - 1) / block;
    linattn__resample_indices(options, b, count - block + 1, blocks, indices);
    /* Backwards, since a block's start is stored where an earlier block's numbers will lie. */
    for (size_t j = blocks; j-- > 0;) {
        const size_t start = indices[j], first = j * block;
        for (size_t i = block; i-- > 0;)
            if (first + i < count) indices[first + i] = start + i;
    }
}

void linattn__resample_normals(const linattn_resampling_options *options, size_t b, size_t count, double *out) {
    linattn__stream stream;
    linattn__stream_open(&stream, options->seed, b, LINATTN__PURPOSE_RESAMPLING);
    linattn__random_normals(&stream, LINATTN__KIND_SIMULATED, 0, 0, count, out);
}

double linattn__finite_sd(const double *values, size_t count) {
    double mean = 0, squares = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        const double d = values[i] - mean;
        n += 1;
        mean += d / n;
        squares += d * (values[i] - mean);
    }
    return n < 2 ? NAN : sqrt(squares / (n - 1));
}

double linattn__replicate_value(const double *sorted, size_t count, double p) {
    return linattn__order_value(sorted, count, ((double)count + 1) * p - 1);
}

void linattn__centred_interval(double *replicates, size_t count, double level, double estimate, double origin, int exponent,
                               linattn_interval *out) {
    double mean, variance;
    linattn__mean_variance(replicates, count, &mean, &variance);
    linattn__sort(replicates, count);
    const double low = linattn__replicate_value(replicates, count, 0.5 * (1 - level));
    const double high = linattn__replicate_value(replicates, count, 0.5 * (1 + level));
    out->estimate = linattn__undo(origin, estimate, exponent);
    out->low = linattn__undo(origin, estimate + (low - mean), exponent);
    out->high = linattn__undo(origin, estimate + (high - mean), exponent);
    out->error = ldexp(sqrt(variance), exponent);
    out->level = level;
}
