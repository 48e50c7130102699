/* draw.c: keys, teacher, value vector and labels of a drawn system: the same bits on every machine, so plain C and our own log and
 * exp (lib/random), and Gram and Schmidt instead of LAPACK. */
#include "common/allocate.h"
#include "common/fail.h"
#include "prompt/prompt.h"
#include "random/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* <x, y>, summed by eights. */
static double product(const double *x, const double *y, size_t count) {
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++) sums[k] += x[i + k] * y[i + k];
    for (size_t k = 0; i < count; i++, k++) sums[k] += x[i] * y[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void add_multiple(double *x, double factor, const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) x[i] += factor * y[i];
}

static void scale_to(double *x, size_t count, double length) {
    const double factor = length / sqrt(product(x, x, count));
    for (size_t i = 0; i < count; i++) x[i] *= factor;
}

/* Rows (count, d) of normals become orthonormal: Gram and Schmidt, twice, which leaves them orthogonal to rounding. The signs are
 * those of a triangular factor with a positive diagonal, so a square matrix is uniform over the orthogonal ones (Stewart 1980). */
static int orthonormalise(const linattn_prompt_options *options, double *rows, size_t count, size_t d) {
    for (size_t i = 0; i < count; i++) {
        for (int pass = 0; pass < 2; pass++) {
            for (size_t j = 0; j < i; j++) {
                double *row = rows + i * d;
                add_multiple(row, -product(row, rows + j * d, d), rows + j * d, d);
            }
            scale_to(rows + i * d, d, 1);
        }
        if (options->progress && i % 16 == 0) {
            const unsigned failures = linattn__failures();
            const double fraction = (double)i / (double)count;
            const int status =
                linattn__callback_status("progress", options->progress(fraction * fraction, options->user), failures);
            if (status != LINATTN_OK) return status;
        }
    }
    return LINATTN_OK;
}

/* The profile's teacher for orthonormal keys: K_ik . p* = T s_k. */
static void teach_orthonormal(const linattn_prompt_options *o, const double *scores, const double *keys, double *teacher) {
    for (size_t i = 0; i < o->examples * o->tokens; i++)
        add_multiple(teacher, o->temperature * scores[i], keys + i * o->dim, o->dim);
}

/* Log-uniform scores for Gaussian keys, along the direction that `teacher` holds; scores lose the mean of their example. */
static void teach_log_uniform(const linattn_prompt_options *o, double *scores, double *keys, double *teacher) {
    const size_t n = o->tokens, d = o->dim;
    double squares = 0, mean = 0;
    for (size_t k = 0; k < n; k++) mean += scores[k] / (double)n; /* of every example, but for rounding */
    for (size_t i = 0; i < o->examples * n; i++) scores[i] -= mean;
    for (size_t k = 0; k < n; k++) squares += scores[k] * scores[k] / (double)n;
    scale_to(teacher, d, 1);
    for (size_t i = 0; squares > 0 && i < o->examples * n; i++)
        add_multiple(keys + i * d, scores[i] / sqrt(squares) - product(keys + i * d, teacher, d), teacher, d);
    for (size_t j = 0; j < d; j++) teacher[j] *= o->temperature * sqrt(squares);
}

/* |p*| = T along the direction that `teacher` holds, and keys moved by their scores: K p* = T s more than before. */
static void teach_active(const linattn_prompt_options *o, const double *scores, double *keys, double *teacher) {
    const size_t d = o->dim;
    scale_to(teacher, d, 1);
    for (size_t i = 0; i < o->examples * o->tokens; i++) add_multiple(keys + i * d, scores[i], teacher, d);
    for (size_t j = 0; j < d; j++) teacher[j] *= o->temperature;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p* = c times the direction that `teacher` holds: ln R_i = -c (largest - smallest score of the direction) / T, so the median over
 * examples of those ranges, the upper one for the lower one of ln R, tells c. `ranges` (N) is scratch. */
static void teach_scaled(const linattn_prompt_options *o, double *ranges, const double *keys, double *teacher) {
    const size_t n = o->tokens, d = o->dim, upper_middle = o->examples / 2;
    for (size_t i = 0; i < o->examples; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < n; k++) {
            const double score = product(keys + (i * n + k) * d, teacher, d);
            low = fmin(low, score);
            high = fmax(high, score);
        }
        ranges[i] = high - low;
    }
    qsort(ranges, o->examples, sizeof *ranges, ascending);
    const double range = ranges[upper_middle];
    const double c = o->sparsity < 1 ? -o->temperature * linattn__random_log(o->sparsity) / range : 0;
    for (size_t j = 0; j < d; j++) teacher[j] *= c;
}

int linattn__prompt_draw(const linattn_prompt_options *o, linattn__plain *out, double *scores) {
    const size_t N = o->examples, n = o->tokens, d = o->dim;
    const int orthonormal = o->token_kind == LINATTN_PROMPT_ORTHONORMAL, scaled = o->profile == LINATTN_PROMPT_SCALED;
    double *map = NULL;
    int status = LINATTN_OK;
    linattn__stream stream;
    linattn__stream_open(&stream, o->seed, 0, LINATTN__PURPOSE_PROMPT);
    for (size_t i = 0; i < N; i++)
        linattn__random_normals(&stream, LINATTN__KIND_KEYS, (uint32_t)i, 0, n * d, out->keys + i * n * d);
    linattn__random_normals(&stream, LINATTN__KIND_VALUE, 0, 0, d, out->value);
    scale_to(out->value, d, orthonormal ? sqrt((double)d) : 1);
    if (orthonormal) status = orthonormalise(o, out->keys, N * n, d);
    if (status != LINATTN_OK) return status;
    if (scaled || !orthonormal) linattn__random_normals(&stream, LINATTN__KIND_TEACHER, 0, 0, d, out->teacher);
    if (!scaled) linattn__prompt_profile(o, scores);
    if (scaled)
        teach_scaled(o, scores, out->keys, out->teacher);
    else if (orthonormal)
        teach_orthonormal(o, scores, out->keys, out->teacher);
    else if (o->profile == LINATTN_PROMPT_ACTIVE)
        teach_active(o, scores, out->keys, out->teacher);
    else
        teach_log_uniform(o, scores, out->keys, out->teacher);
    if (out->tokens == out->keys) return LINATTN_OK;
    map = linattn__allocate(d * d, sizeof *map);
    if (!map) return linattn__fail_memory("a key map");
    linattn__random_normals(&stream, LINATTN__KIND_KEY_MAP, 0, 0, d * d, map);
    status = orthonormalise(o, map, d, d);
    memset(out->tokens, 0, N * n * d * sizeof *out->tokens);
    for (size_t i = 0; status == LINATTN_OK && i < N * n; i++)
        for (size_t a = 0; a < d; a++) add_multiple(out->tokens + i * d, out->keys[i * d + a], map + a * d, d);
    linattn__release(map);
    return status;
}

/* f_i(p*), as the kernels have it but with the same bits on every machine. */
static double teacher_output(const linattn_prompt_options *o, const linattn__plain *of, size_t i, double *scores, double *u) {
    const size_t n = o->tokens, d = o->dim;
    const int linear = o->attention == LINATTN_PROMPT_LINEAR;
    size_t top = 0;
    double sum = 0, f = 0;
    for (size_t k = 0; k < n; k++) {
        scores[k] = product(of->keys + (i * n + k) * d, of->teacher, d) / (linear ? (double)n : o->temperature);
        u[k] = product(of->tokens + (i * n + k) * d, of->value, d);
        if (scores[k] > scores[top]) top = k;
    }
    if (linear) return product(scores, u, n);
    const double most = scores[top];
    for (size_t k = 0; k < n; k++) {
        const double power = linattn__random_exp(scores[k] - most);
        sum += power;
        f += power * (u[k] - u[top]);
    }
    return u[top] + f / sum;
}

/* 1 / (1 + exp(-f)). */
static double sigmoid(double f) {
    const double e = linattn__random_exp(-fabs(f));
    return (f < 0 ? e : 1) / (1 + e);
}

void linattn__prompt_label(const linattn_prompt_options *o, const linattn__plain *of, double *scratch) {
    linattn__stream stream;
    linattn__stream_open(&stream, o->seed, 0, LINATTN__PURPOSE_PROMPT);
    for (size_t i = 0; i < o->examples; i++) {
        const double f = teacher_output(o, of, i, scratch, scratch + o->tokens);
        double variate;
        if (o->loss == LINATTN_PROMPT_LOGISTIC) {
            linattn__random_uniforms(&stream, LINATTN__KIND_LABELS, 0, i, 1, &variate);
            of->labels[i] = variate < sigmoid(f) ? 1 : -1;
        } else {
            linattn__random_normals(&stream, LINATTN__KIND_LABEL_NOISE, 0, i, 1, &variate);
            of->labels[i] = f + o->noise * variate;
        }
    }
}
