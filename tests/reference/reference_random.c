/* reference_random.c: see reference_random.h. */
#include "reference/reference_random.h"
#include <math.h>
#include <stdlib.h>

static const long double PI = 3.14159265358979323846264338327950288L;

/* Streams' kinds. */
enum {
    COVARIATES,
    RADII,
    RADII_BOOST,
    TASK,
    NOISE,
    BARTLETT,
    CHI,
    CHI_BOOST,
    PROJECTED,
    REMAINDER,
    REMAINDER_BOOST,
    POSITIONS,
    HIDDEN,
    ROWS
};

/* The purposes of the fixed network and of data sets, in place of a sampler's stream. */
enum { NETWORK = 0xffb, DATASET = 0xffa };

void reference_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]) {
    uint32_t k0 = key[0], k1 = key[1], c[4] = {counter[0], counter[1], counter[2], counter[3]};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        for (int i = 0; i < 4; i++) c[i] = next[i];
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

/* The integers k of the two uniforms of a block, u = (k + 1/2)/2^52. */
static void block_integers(reference_place place, uint64_t index, uint64_t k[2]) {
    uint32_t key[2] = {(uint32_t)place.seed, (uint32_t)(place.seed >> 32)}, words[4];
    const uint32_t high = (uint32_t)(place.draw >> 48);
    if (high != 0) {
        const uint32_t counter[4] = {high, 0, 0, 0xffff0000u};
        reference_philox(key, counter, words);
        key[0] = words[0];
        key[1] = words[1];
    }
    const uint32_t counter[4] = {(uint32_t)index, place.prompt + (uint32_t)(index >> 32), (uint32_t)place.draw,
                                 ((uint32_t)(place.draw >> 32) & 0xffffu) | place.stream << 16};
    reference_philox(key, counter, words);
    for (int i = 0; i < 2; i++) k[i] = ((uint64_t)words[2 * i] << 32 | words[2 * i + 1]) >> 12;
}

static long double from_integer(uint64_t k) { return ldexpl((long double)(2 * k + 1), -53); }

long double reference_uniform(reference_place place, uint64_t v) {
    uint64_t k[2];
    block_integers(place, v / 2, k);
    return from_integer(k[v % 2]);
}

/* cos or sin of 2 pi u for u = (2 k + 1)/2^53, the octant taken off in integers. */
static long double circle(uint64_t k, int sine) {
    const int64_t turns = (int64_t)(2 * k + 1), quarter = INT64_C(1) << 51;
    const int64_t quadrant = (turns + quarter / 2) / quarter;
    const long double angle = 2 * PI * ldexpl((long double)(turns - quadrant * quarter), -53);
    const long double c = cosl(angle), s = sinl(angle);
    const long double cosines[] = {c, -s, -c, s, c}, sines[] = {s, c, -s, -c, s};
    return sine ? sines[quadrant] : cosines[quadrant];
}

static long double block_normal(reference_place place, uint64_t index, int half) {
    uint64_t k[2];
    block_integers(place, index, k);
    return sqrtl(-2 * logl(from_integer(k[0]))) * circle(k[1], half);
}

long double reference_normal(reference_place place, uint64_t v) { return block_normal(place, v / 2, (int)(v % 2)); }

long double reference_gamma(reference_place place, uint32_t boosts, long double shape, uint64_t v) {
    const long double d = (shape < 1 ? shape + 1 : shape) - 1 / 3.0L, c = 1 / sqrtl(9 * d);
    long double power = 1;
    if (shape < 1) {
        reference_place from = place;
        from.stream = boosts;
        power = expl(logl(reference_uniform(from, v)) / shape);
    }
    for (uint64_t attempt = 0; attempt < 64; attempt++) {
        const uint64_t index = ((v / 2) * 64 + attempt) * 2;
        const long double x = block_normal(place, index, (int)(v % 2)), t = 1 + c * x;
        uint64_t k[2];
        block_integers(place, index + 1, k);
        if (t > 0 && logl(from_integer(k[v % 2])) < x * x / 2 + d * (1 - t * t * t + 3 * logl(t))) return d * t * t * t * power;
    }
    return d * power;
}

static reference_place stream_of(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, int kind) {
    return (reference_place){o->seed, draw, (uint32_t)o->stream * 16 + (uint32_t)kind, prompt};
}

/* y = F x in place, F NULL being the identity. */
static void multiply(const double *factor, size_t d, long double *x) {
    long double *y = malloc(d * sizeof *y);
    for (size_t i = 0; factor != NULL && i < d; i++) {
        y[i] = 0;
        for (size_t j = 0; j < d; j++) y[i] += factor[i * d + j] * x[j];
    }
    for (size_t i = 0; factor != NULL && i < d; i++) x[i] = y[i];
    free(y);
}

static void weights(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, long double *w) {
    size_t needed = o->task == LINATTN_TASK_SPARSE_LINEAR ? o->sparsity : o->dim;
    for (size_t j = 0; j < o->dim; j++) {
        const int keep =
            needed == o->dim - j ||
            reference_uniform(stream_of(o, draw, prompt, POSITIONS), j) * (long double)(o->dim - j) < (long double)needed;
        w[j] = keep ? reference_normal(stream_of(o, draw, prompt, TASK), j) : 0;
        needed -= (size_t)keep;
    }
    multiply(o->task_factor, o->dim, w);
}

/* Entry j of row `row` of the table, standardised where asked. */
static long double table_entry(const linattn_sampler_options *o, size_t row, size_t j) {
    const long double rows = (long double)o->table_rows;
    long double sum = 0, square = 0;
    for (size_t i = 0; i < o->table_rows; i++) sum += o->covariate_table[i * o->dim + j];
    for (size_t i = 0; i < o->table_rows; i++) square += powl(o->covariate_table[i * o->dim + j] - sum / rows, 2);
    const long double entry = o->covariate_table[row * o->dim + j];
    if (!o->standardise) return entry;
    return (entry - sum / rows) / sqrtl(square / rows);
}

static void covariates(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, size_t token, long double *x) {
    const size_t d = o->dim;
    if (o->covariates == LINATTN_COVARIATES_TABLE) {
        const long double u = reference_uniform(stream_of(o, draw, prompt, ROWS), token);
        for (size_t j = 0; j < d; j++) x[j] = table_entry(o, (size_t)(u * (long double)o->table_rows), j);
        return;
    }
    long double square = 0, scale = 1;
    for (size_t j = 0; j < d; j++) {
        x[j] = reference_normal(stream_of(o, draw, prompt, COVARIATES), token * d + j);
        square += x[j] * x[j];
    }
    if (o->covariates == LINATTN_COVARIATES_SPHERE) scale = 1 / sqrtl(square);
    if (o->covariates == LINATTN_COVARIATES_GAMMA)
        scale = sqrtl(
            reference_gamma(stream_of(o, draw, prompt, RADII), (uint32_t)o->stream * 16 + RADII_BOOST, o->gamma_shape, token) *
            o->gamma_scale / square);
    for (size_t j = 0; j < d; j++) x[j] *= scale;
    if (o->covariates == LINATTN_COVARIATES_ROTATED) multiply(o->covariate_factor, d, x);
}

/* Number v of an array of the fixed network. */
static long double network(const linattn_sampler_options *o, uint32_t array, size_t fan_in, size_t v) {
    const reference_place place = {o->network_seed, 0, NETWORK * 16 + array, 0};
    return (2 * reference_uniform(place, v) - 1) / sqrtl((long double)fan_in);
}

/* <w, W2 relu(W1 x + b1) + b2>, the network made anew. */
static long double fixed_mlp(const linattn_sampler_options *o, const long double *w, const long double *x) {
    const size_t d = o->dim, h = o->hidden;
    long double y = 0;
    for (size_t i = 0; i < d; i++) y += w[i] * network(o, 3, h, i);
    for (size_t k = 0; k < h; k++) {
        long double unit = network(o, 1, d, k);
        for (size_t j = 0; j < d; j++) unit += network(o, 0, d, k * d + j) * x[j];
        for (size_t i = 0; i < d; i++) y += w[i] * network(o, 2, h, i * h + k) * fmaxl(unit, 0);
    }
    return y;
}

static long double relu_network(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, const long double *x) {
    const size_t d = o->dim, h = o->hidden;
    long double y = 0;
    for (size_t k = 0; k < h; k++) {
        long double unit = 0;
        for (size_t j = 0; j < d; j++) unit += reference_normal(stream_of(o, draw, prompt, HIDDEN), k * d + j) * x[j];
        y += reference_normal(stream_of(o, draw, prompt, TASK), k) * fmaxl(unit, 0);
    }
    return y * sqrtl(2 / (long double)h);
}

static long double response(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, const long double *w,
                            const long double *x) {
    long double y = 0;
    for (size_t j = 0; j < o->dim; j++) y += w[j] * x[j];
    switch (o->task) {
    case LINATTN_TASK_SINE:
        return sinl(y);
    case LINATTN_TASK_QUADRATIC:
        return y * y / sqrtl(3 * ((long double)o->dim + 2));
    case LINATTN_TASK_FIXED_MLP:
        return fixed_mlp(o, w, x);
    case LINATTN_TASK_RELU_NETWORK:
        return relu_network(o, draw, prompt, x);
    default:
        return y;
    }
}

double reference_tokens(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, double *tokens) {
    const size_t d = o->dim, n = o->context;
    long double *w = malloc(2 * d * sizeof *w), *x = w + d;
    double target = 0;
    weights(o, draw, prompt, w);
    for (size_t token = 0; token <= n; token++) {
        double *row = tokens + (token == 0 ? n : token - 1) * (d + 1);
        covariates(o, draw, prompt, token, x);
        for (size_t j = 0; j < d; j++) row[j] = (double)x[j];
        long double y = response(o, draw, prompt, w, x);
        if (token > 0 || o->noisy_target) y += o->noise_std * reference_normal(stream_of(o, draw, prompt, NOISE), token);
        row[d] = token == 0 ? 0 : (double)y;
        if (token == 0) target = (double)y;
    }
    free(w);
    return target;
}

/* Column `c` of s F L. */
static void factor_column(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, size_t c, long double *column) {
    const size_t d = o->dim;
    const uint64_t before = c * (d - 1) - (c * (c - 1)) / 2 * (c > 0);
    const long double chi2 = 2 * reference_gamma(stream_of(o, draw, prompt, CHI), (uint32_t)o->stream * 16 + CHI_BOOST,
                                                 (long double)(o->context - c) / 2, c);
    for (size_t i = 0; i < d; i++)
        column[i] = i < c ? 0 : i == c ? sqrtl(chi2) : reference_normal(stream_of(o, draw, prompt, BARTLETT), before + (i - c - 1));
    if (o->covariates == LINATTN_COVARIATES_ROTATED) multiply(o->covariate_factor, d, column);
    if (o->covariates == LINATTN_COVARIATES_GAMMA)
        for (size_t i = 0; i < d; i++) column[i] *= sqrtl(o->gamma_scale / 2);
}

void reference_moments(const linattn_sampler_options *o, uint64_t draw, uint32_t prompt, double *moments) {
    const size_t d = o->dim, n = o->context, m = n < d ? n : d;
    const long double sigma = o->noise_std;
    long double *w = malloc((2 * d + (d + 1) * (d + 1)) * sizeof *w), *column = w + d, *sum = column + d;
    weights(o, draw, prompt, w);
    for (size_t i = 0; i < (d + 1) * (d + 1); i++) sum[i] = 0;
    for (size_t c = 0; c < m; c++) { /* C_0 is the sum of the outer squares of (column, b) */
        factor_column(o, draw, prompt, c, column);
        long double b = sigma * reference_normal(stream_of(o, draw, prompt, PROJECTED), c);
        for (size_t i = 0; i < d; i++) b += column[i] * w[i];
        for (size_t i = 0; i <= d; i++)
            for (size_t j = 0; j <= d; j++) sum[i * (d + 1) + j] += (i < d ? column[i] : b) * (j < d ? column[j] : b);
    }
    if (n > m)
        sum[(d + 1) * (d + 1) - 1] += sigma * sigma * 2 *
                                      reference_gamma(stream_of(o, draw, prompt, REMAINDER),
                                                      (uint32_t)o->stream * 16 + REMAINDER_BOOST, (long double)(n - m) / 2, 0);
    for (size_t i = 0; i < (d + 1) * (d + 1); i++) moments[i] = (double)sum[i];
    free(w);
}

/* floor(u range), u uniform v of a data set: kind 0 for the orders of epochs, 1 for picks. */
static size_t dataset_index(uint64_t seed, uint64_t draw, uint32_t kind, uint64_t v, size_t range) {
    const reference_place place = {.seed = seed, .draw = draw, .stream = DATASET * 16 + kind};
    return (size_t)floorl(reference_uniform(place, v) * (long double)range);
}

void reference_minibatch(uint64_t seed, uint64_t draw, size_t n, size_t b, int replacement, size_t *out) {
    const uint64_t minibatches = n / b, epoch = draw / minibatches;
    size_t *left = malloc(n * sizeof *left);
    for (size_t i = 0; i < n; i++) left[i] = i;
    for (size_t i = 0; i < n && !replacement && b < n; i++) {
        const size_t other = i + dataset_index(seed, epoch, 0, i, n - i), taken = left[other];
        left[other] = left[i];
        left[i] = taken;
    }
    for (size_t i = 0; i < b; i++)
        out[i] = replacement ? dataset_index(seed, draw, 1, i, n) : left[(size_t)(draw % minibatches) * b + i];
    free(left);
}
