/* test_sampler.c: what samplers and batches promise besides distributions: bits, shapes, laws, bad input. */
#include "random/random.h"
#include "reference/reference_random.h"
#include "sampler/prompts.h"
#include "support/suite.h"
#include <math.h>

static const double FACTOR[9 * 9] = {1,    0.5,  -0.25, 2,   0.125, 3,   -1,   0.75, 1.5, 0.3, 1,   0.2, 0,   4,
                                     -0.5, 0.25, 1,     1,   0,     0.1, 2,    -0.3, 1,   0.6, 1,   0,   0.5, 2,
                                     0,    0,    1,     0.9, 1,     0.1, -0.2, 0.3,  1,   0,   0.5, -1,  1,   0};

/* Every kind of sampler; i = 0, 1, ... while it returns 1. d <= 9 because of the factors. */
static int nth_options(size_t i, size_t dim, size_t context, linattn_sampler_options *o) {
    static const int32_t tasks[][2] = {
        {LINATTN_TASK_LINEAR, LINATTN_BATCH_TOKENS},        {LINATTN_TASK_LINEAR, LINATTN_BATCH_MOMENTS},
        {LINATTN_TASK_SPARSE_LINEAR, LINATTN_BATCH_TOKENS}, {LINATTN_TASK_SPARSE_LINEAR, LINATTN_BATCH_MOMENTS},
        {LINATTN_TASK_SINE, LINATTN_BATCH_TOKENS},          {LINATTN_TASK_QUADRATIC, LINATTN_BATCH_TOKENS},
        {LINATTN_TASK_FIXED_MLP, LINATTN_BATCH_TOKENS},     {LINATTN_TASK_RELU_NETWORK, LINATTN_BATCH_TOKENS}};
    const size_t covariates = i / 4 % 7, factor = i % 2, noise = i / 2 % 2;
    ck_assert_ok(linattn_sampler_options_init(o, sizeof *o));
    if (i / 28 >= sizeof tasks / sizeof *tasks) return 0;
    const int32_t kind = tasks[i / 28][1];
    o->dim = dim;
    o->context = context;
    o->seed = 5 + i;
    o->covariates = covariates < 4 ? (int32_t)covariates : covariates == 4 ? LINATTN_COVARIATES_GAMMA : LINATTN_COVARIATES_TABLE;
    o->covariate_table = FACTOR;
    o->table_rows = 40 / dim;
    o->standardise = covariates == 6;
    o->gamma_shape = covariates == 4 ? (double)dim / 2 : 0.1;
    o->gamma_scale = 3;
    o->kind = kind;
    o->task = tasks[i / 28][0];
    o->sparsity = 1 + i % dim;
    o->hidden = 1 + i % 7;
    o->network_seed = i;
    o->covariate_factor = FACTOR;
    o->task_factor = factor ? FACTOR : NULL;
    o->noise_std = noise ? 0.5 : 0;
    o->noisy_target = (int32_t)(noise & i >> 3 & 1);
    o->stream = (int32_t)(i % 3);
    /* Moments exist for Gaussian covariates alone. */
    if (kind == LINATTN_BATCH_MOMENTS && covariates != LINATTN_COVARIATES_ROTATED && covariates != 4)
        o->covariates = LINATTN_COVARIATES_NORMAL;
    return 1;
}

static linattn_sampler *make(const linattn_sampler_options *options) {
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_create(&sampler, options));
    return sampler;
}

static linattn_batch *draw(const linattn_sampler_options *options, size_t prompts, uint64_t number) {
    linattn_sampler *sampler = make(options);
    linattn_batch *batch;
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, prompts, number));
    linattn_sampler_destroy(sampler);
    return batch;
}

/* Blocks drawn by one instruction set, in calls of `step` blocks, into memory full of rubbish. */
static linattn__prompts draw_with(const linattn_sampler_options *options, enum linattn__isa isa, size_t prompts, size_t step) {
    linattn_sampler *sampler = make(options);
    linattn__prompts p;
    ck_assert_ok(linattn__prompts_create(&p, prompts, options->context, options->dim, options->kind == LINATTN_BATCH_TOKENS));
    const size_t width = p.dim + 1, lanes = p.blocks * 8 * sizeof(double);
    if (p.tokens != NULL) memset(p.tokens, 0x77, (p.context + 1) * width * lanes);
    memset(p.moments, 0x77, width * (width + 1) / 2 * lanes);
    memset(p.queries, 0x77, width * lanes);
    memset(p.targets, 0x77, lanes);
    double *workspace = aligned_alloc(64, linattn__sampler_workspace(sampler) * sizeof(double));
    for (size_t first = 0; first < p.blocks; first += step) {
        memset(workspace, 0x55, linattn__sampler_workspace(sampler) * sizeof(double));
        linattn__sampler_draw(sampler, isa, 3, first, p.blocks - first < step ? p.blocks - first : step, &p, workspace);
    }
    free(workspace);
    linattn_sampler_destroy(sampler);
    return p;
}

static int same_bits(const double *a, const double *b, size_t count) { return memcmp(a, b, count * sizeof *a) == 0; }

static void check_same(const linattn__prompts *a, const linattn__prompts *b) {
    const size_t width = a->dim + 1, lanes = a->blocks * 8;
    if (a->tokens != NULL) ck_assert(same_bits(a->tokens, b->tokens, (a->context + 1) * width * lanes));
    ck_assert(same_bits(a->moments, b->moments, width * (width + 1) / 2 * lanes));
    ck_assert(same_bits(a->queries, b->queries, width * lanes));
    ck_assert(same_bits(a->targets, b->targets, lanes));
}

static void check_zero_lanes(const double *array, size_t rows, size_t from) {
    for (size_t i = 0; i < rows; i++)
        for (size_t lane = from; lane < 8; lane++) {
            const double zero = 0;
            ck_assert(same_bits(array + i * 8 + lane, &zero, 1));
        }
}

/* All shapes whose loops end differently. */
static const size_t SHAPES[][3] = {{1, 1, 1},  {1, 2, 7},   {2, 1, 8},   {3, 5, 9},  {5, 20, 17}, {5, 5, 33}, {5, 3, 16},
                                   {8, 31, 5}, {4, 32, 12}, {6, 33, 10}, {9, 64, 3}, {7, 100, 2}, {9, 2, 40}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

START_TEST(instruction_sets_agree_bit_for_bit) {
    linattn_sampler_options o;
    for (size_t i = 0; nth_options(i, 1, 1, &o); i++) {
        const size_t *shape = SHAPES[i % SHAPE_COUNT], *other = SHAPES[(i + 5) % SHAPE_COUNT];
        for (int second = 0; second < 2; second++) {
            const size_t *s = second ? other : shape;
            nth_options(i, s[0], s[1], &o);
            linattn__prompts base = draw_with(&o, LINATTN__ISA_BASELINE, s[2], 1000);
            const size_t rest = s[2] % 8;
            if (rest != 0) {
                const size_t width = s[0] + 1, last = base.blocks - 1;
                if (base.tokens != NULL) check_zero_lanes(base.tokens + last * (s[1] + 1) * width * 8, (s[1] + 1) * width, rest);
                check_zero_lanes(base.moments + last * width * (width + 1) / 2 * 8, width * (width + 1) / 2, rest);
                check_zero_lanes(base.queries + last * width * 8, width, rest);
                check_zero_lanes(base.targets + last * 8, 1, rest);
            }
            for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
                enum linattn__isa isa;
                if (!linattn_kernel_available(kernel)) continue;
                ck_assert_ok(linattn__isa_resolve(kernel, &isa));
                linattn__prompts p = draw_with(&o, isa, s[2], 1 + i % 3);
                check_same(&base, &p);
                linattn__prompts_release(&p);
            }
            linattn__prompts_release(&base);
        }
    }
}
END_TEST

/* Token `token` of a prompt put together from the scalar functions, in the arithmetic of docs/numerics.md. */
static void scalar_token(const linattn_sampler_options *o, const linattn__stream *stream, uint32_t prompt, size_t token,
                         double *x) {
    const size_t d = o->dim;
    double square = 0, z[9] = {0}, power;
    if (o->covariates == LINATTN_COVARIATES_TABLE) {
        double u;
        linattn__random_uniforms(stream, LINATTN__KIND_ROWS, prompt, token, 1, &u);
        memcpy(x, FACTOR + (size_t)(u * (double)o->table_rows) * d, d * sizeof *x);
        return;
    }
    linattn__random_normals(stream, LINATTN__KIND_COVARIATES, prompt, token * d, d, z);
    for (size_t j = 0; j < d; j++) square += z[j] * z[j];
    if (o->covariates == LINATTN_COVARIATES_GAMMA) {
        linattn__gamma gamma;
        double g;
        linattn__gamma_open(&gamma, o->gamma_shape);
        const double exponent = 0.5 * gamma.boost;
        gamma.boost = 0;
        linattn__random_gammas(stream, LINATTN__KIND_RADII, LINATTN__KIND_RADII_BOOST, prompt, &gamma, token, 1, &g);
        double scale = sqrt(g / square) * sqrt(o->gamma_scale);
        if (exponent > 0) {
            linattn__random_uniforms(stream, LINATTN__KIND_RADII_BOOST, prompt, token, 1, &power);
            scale *= linattn__random_exp(linattn__random_log(power) * exponent);
        }
        for (size_t j = 0; j < d; j++) x[j] = z[j] * scale;
    } else if (o->covariates == LINATTN_COVARIATES_ROTATED) {
        for (size_t i = 0; i < d; i++) {
            x[i] = 0;
            for (size_t j = 0; j < d; j++) x[i] += FACTOR[i * d + j] * z[j];
        }
    } else {
        for (size_t j = 0; j < d; j++) x[j] = o->covariates == LINATTN_COVARIATES_SPHERE ? z[j] / sqrt(square) : z[j];
    }
}

enum { MOST_HIDDEN = 7 };

/* Weights of a prompt put together likewise: w, W2^T w and <w, b2>, or v and u. */
static void scalar_weights(const linattn_sampler_options *o, const linattn__stream *stream, uint32_t prompt, double *out) {
    const size_t d = o->dim, h = o->hidden;
    double w0[9], w[9], u[9], w2[9 * MOST_HIDDEN], b2[9];
    if (o->task == LINATTN_TASK_RELU_NETWORK) {
        linattn__random_normals(stream, LINATTN__KIND_TASK, prompt, 0, h, out);
        linattn__random_normals(stream, LINATTN__KIND_HIDDEN, prompt, 0, h * d, out + h);
        return;
    }
    linattn__random_normals(stream, LINATTN__KIND_TASK, prompt, 0, d, w0);
    linattn__random_uniforms(stream, LINATTN__KIND_POSITIONS, prompt, 0, d, u);
    double needed = (double)o->sparsity;
    for (size_t j = 0; o->task == LINATTN_TASK_SPARSE_LINEAR && j < d; j++) {
        const int keep = u[j] < needed / (double)(d - j);
        needed -= keep;
        if (!keep) w0[j] = 0;
    }
    for (size_t i = 0; i < d; i++) {
        w[i] = o->task_factor ? 0 : w0[i];
        for (size_t j = 0; o->task_factor && j < d; j++) w[i] += FACTOR[i * d + j] * w0[j];
    }
    memcpy(out, w, d * sizeof *w);
    if (o->task != LINATTN_TASK_FIXED_MLP) return;
    linattn__stream network;
    linattn__stream_open(&network, o->network_seed, 0, LINATTN__PURPOSE_NETWORK);
    linattn__random_uniforms(&network, LINATTN__KIND_WEIGHTS_2, 0, 0, d * h, w2);
    linattn__random_uniforms(&network, LINATTN__KIND_BIASES_2, 0, 0, d, b2);
    for (size_t k = 0; k <= h; k++) {
        out[k] = 0;
        for (size_t i = 0; i < d; i++) out[k] += w[i] * ((2 * (k < h ? w2[i * h + k] : b2[i]) - 1) * (1 / sqrt((double)h)));
    }
}

static double scalar_relu(double x) { return x < 0 ? 0 : x; }

static double scalar_response(const linattn_sampler_options *o, const double *w, const double *x) {
    const size_t d = o->dim, h = o->hidden;
    double product = 0, y = 0, w1[9 * MOST_HIDDEN], b1[MOST_HIDDEN];
    if (o->task == LINATTN_TASK_RELU_NETWORK) {
        for (size_t k = 0; k < h; k++) {
            double unit = 0;
            for (size_t j = 0; j < d; j++) unit += w[h + k * d + j] * x[j];
            y += w[k] * scalar_relu(unit);
        }
        return sqrt(2 / (double)h) * y;
    }
    if (o->task == LINATTN_TASK_FIXED_MLP) {
        linattn__stream network;
        linattn__stream_open(&network, o->network_seed, 0, LINATTN__PURPOSE_NETWORK);
        linattn__random_uniforms(&network, LINATTN__KIND_WEIGHTS_1, 0, 0, h * d, w1);
        linattn__random_uniforms(&network, LINATTN__KIND_BIASES_1, 0, 0, h, b1);
        y = w[h];
        for (size_t k = 0; k < h; k++) {
            double unit = (2 * b1[k] - 1) * (1 / sqrt((double)d));
            for (size_t j = 0; j < d; j++) unit += (2 * w1[k * d + j] - 1) * (1 / sqrt((double)d)) * x[j];
            y += w[k] * scalar_relu(unit);
        }
        return y;
    }
    for (size_t j = 0; j < d; j++) product += w[j] * x[j];
    if (o->task == LINATTN_TASK_SINE) return linattn__random_sin(product);
    if (o->task == LINATTN_TASK_QUADRATIC) return product * product * (1 / sqrt(3 * ((double)d + 2)));
    return product;
}

START_TEST(scalar_code_defines_the_bits) {
    linattn_sampler_options o;
    for (size_t i = 0; nth_options(i, 1 + i % 9, 1 + 7 * (i % 6), &o); i++) {
        if (o.kind != LINATTN_BATCH_TOKENS || o.standardise) continue;
        enum { PROMPTS = 11 };
        const size_t d = o.dim, n = o.context, numbers = (n + 1) * (d + 1);
        linattn_batch *batch = draw(&o, PROMPTS, 77);
        double *tokens = malloc(PROMPTS * numbers * sizeof *tokens), targets[PROMPTS], x[9], w[MOST_HIDDEN * 10], e;
        linattn__stream stream;
        linattn__stream_open(&stream, o.seed, 77, (unsigned)o.stream);
        ck_assert_ok(linattn_batch_get_arrays(batch, tokens, targets));
        for (uint32_t b = 0; b < PROMPTS; b++) {
            scalar_weights(&o, &stream, b, w);
            for (size_t token = 0; token <= n; token++) {
                scalar_token(&o, &stream, b, token, x);
                const double *row = tokens + b * numbers + (token == 0 ? n : token - 1) * (d + 1);
                ck_assert_msg(same_bits(row, x, d), "covariates %d, prompt %u, token %zu", o.covariates, b, token);
                double y = scalar_response(&o, w, x);
                linattn__random_normals(&stream, LINATTN__KIND_NOISE, b, token, 1, &e);
                if (o.noise_std > 0 && (token > 0 || o.noisy_target)) y += o.noise_std * e;
                ck_assert_msg(same_bits(token == 0 ? &targets[b] : &row[d], &y, 1), "task %d, prompt %u, token %zu", o.task, b,
                              token);
            }
        }
        free(tokens);
        linattn_batch_destroy(batch);
    }
}
END_TEST

static void check_close(const double *got, const double *wanted, size_t count, double room) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(wanted[i]));
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(fabs(got[i] - wanted[i]) <= room * largest, "number %zu is %.17g, not %.17g", i, got[i], wanted[i]);
}

START_TEST(reference_agrees) {
    linattn_sampler_options o;
    for (size_t i = 0; nth_options(i, 1 + i % 7, 1 + 3 * (i % 11), &o); i++) {
        enum { PROMPTS = 10 };
        const size_t d = o.dim, n = o.context, numbers = (n + 1) * (d + 1), square = (d + 1) * (d + 1);
        const uint64_t number = i % 2 ? UINT64_C(0xfedcba9876543210) : 1;
        linattn_batch *batch = draw(&o, PROMPTS, number);
        double *tokens = malloc(PROMPTS * numbers * sizeof *tokens), *wanted = malloc((numbers + square) * sizeof *wanted);
        double *moments = malloc(PROMPTS * square * sizeof *moments), targets[PROMPTS], queries[PROMPTS * 8];
        ck_assert_ok(linattn_batch_get_arrays(batch, o.kind == LINATTN_BATCH_TOKENS ? tokens : NULL, targets));
        ck_assert_ok(linattn_batch_get_moments(batch, moments, queries));
        for (uint32_t b = 0; b < PROMPTS; b++) {
            const double target = reference_tokens(&o, number, b, wanted);
            if (o.kind == LINATTN_BATCH_TOKENS) check_close(tokens + b * numbers, wanted, numbers, 1e-13);
            /* A response may be a small difference of large terms: its error is that of the prompt's largest. */
            double largest = fabs(target);
            for (size_t t = 0; t < n; t++) largest = fmax(largest, fabs(wanted[t * (d + 1) + d]));
            ck_assert_msg(fabs(targets[b] - target) <= 1e-13 * largest, "target %.17g, not %.17g", targets[b], target);
            check_close(queries + b * (d + 1), wanted + n * (d + 1), d + 1, 1e-13);
            if (o.kind == LINATTN_BATCH_MOMENTS) {
                reference_moments(&o, number, b, wanted + numbers);
                check_close(moments + b * square, wanted + numbers, square, 1e-12);
            }
        }
        free(tokens);
        free(wanted);
        free(moments);
        linattn_batch_destroy(batch);
    }
}
END_TEST

/* A longer context, and a larger batch, extend a smaller one; the query and the target stay. */
START_TEST(larger_extends_smaller) {
    linattn_sampler_options o;
    for (size_t i = 0; nth_options(i, 3, 70, &o); i++) {
        if (o.kind != LINATTN_BATCH_TOKENS) continue;
        enum { D1 = 4, LONG = 70, SHORT = 37, MANY = 19, FEW = 10 };
        static double large[MANY * (LONG + 1) * D1], small[FEW * (SHORT + 1) * D1];
        double large_targets[MANY], small_targets[FEW];
        linattn_batch *batch = draw(&o, MANY, 4);
        ck_assert_ok(linattn_batch_get_arrays(batch, large, large_targets));
        linattn_batch_destroy(batch);
        o.context = SHORT;
        batch = draw(&o, FEW, 4);
        ck_assert_ok(linattn_batch_get_arrays(batch, small, small_targets));
        linattn_batch_destroy(batch);
        ck_assert(same_bits(large_targets, small_targets, FEW));
        for (size_t b = 0; b < FEW; b++) {
            const double *of_large = large + b * (LONG + 1) * D1, *of_small = small + b * (SHORT + 1) * D1;
            ck_assert(same_bits(of_large, of_small, SHORT * D1));
            ck_assert(same_bits(of_large + LONG * D1, of_small + SHORT * D1, D1));
        }
    }
}
END_TEST

/* Two batches of 64 prompts have a number in common when, and only when, seed, draw and stream are the same. */
START_TEST(seed_draw_and_stream_make_the_batch) {
    enum { COUNT = 64 };
    double targets[7][COUNT];
    for (int i = 0; i < 7; i++) {
        linattn_sampler_options o;
        nth_options(0, 3, 4, &o);
        o.seed = i == 1 ? 8 : 7;
        o.stream = i == 2 ? LINATTN_STREAM_EVALUATION : i == 3 ? LINATTN_STREAM_NOISE : LINATTN_STREAM_TRAINING;
        linattn_batch *batch = draw(&o, COUNT, i == 4 ? 1 : i == 5 ? UINT64_MAX : 0);
        ck_assert_ok(linattn_batch_get_arrays(batch, NULL, targets[i]));
        linattn_batch_destroy(batch);
    }
    ck_assert(same_bits(targets[0], targets[6], COUNT));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            for (size_t a = 0; a < COUNT; a++)
                for (size_t b = 0; b < COUNT; b++) ck_assert(targets[i][a] != targets[j][b]);
}
END_TEST

/* Out as arrays and in again: the same bits, moments included. */
START_TEST(arrays_round_trip) {
    linattn_sampler_options o;
    for (size_t i = 0; nth_options(i, 1 + i % 6, 1 + 5 * (i % 8), &o); i++) {
        if (o.kind != LINATTN_BATCH_TOKENS) continue;
        enum { PROMPTS = 13 };
        const size_t d = o.dim, n = o.context, numbers = (n + 1) * (d + 1);
        linattn_batch *batch = draw(&o, PROMPTS, 2), *copy;
        double *tokens = malloc(PROMPTS * numbers * sizeof *tokens), targets[PROMPTS];
        ck_assert_ok(linattn_batch_get_arrays(batch, tokens, targets));
        ck_assert_ok(linattn_batch_create_from_arrays(&copy, tokens, targets, PROMPTS, n, d));
        ck_assert_uint_eq(linattn_batch_prompts(copy), PROMPTS);
        ck_assert_uint_eq(linattn_batch_context(copy), n);
        ck_assert_uint_eq(linattn_batch_dim(copy), d);
        check_same(linattn__batch_prompts(batch), linattn__batch_prompts(copy));
        free(tokens);
        linattn_batch_destroy(batch);
        linattn_batch_destroy(copy);
    }
}
END_TEST

/* d = 1, n = 2: by hand. */
START_TEST(moments_of_arrays) {
    const double tokens[2][3][2] = {{{1, 2}, {3, -1}, {5, 0}}, {{2, 2}, {0, 7}, {-4, 0.5}}}, targets[2] = {6, 8};
    double moments[2][2][2], queries[2][2], back[2][3][2], back_targets[2];
    linattn_batch *batch;
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, &tokens[0][0][0], targets, 2, 2, 1));
    ck_assert_ok(linattn_batch_get_moments(batch, &moments[0][0][0], &queries[0][0]));
    ck_assert(moments[0][0][0] == 10 && moments[0][0][1] == -1 && moments[0][1][0] == -1 && moments[0][1][1] == 5);
    ck_assert(moments[1][0][0] == 4 && moments[1][0][1] == 4 && moments[1][1][0] == 4 && moments[1][1][1] == 53);
    ck_assert(queries[0][0] == 5 && queries[0][1] == 0 && queries[1][0] == -4 && queries[1][1] == 0.5);
    ck_assert_ok(linattn_batch_get_arrays(batch, &back[0][0][0], back_targets));
    ck_assert(memcmp(back, tokens, sizeof tokens) == 0 && memcmp(back_targets, targets, sizeof targets) == 0);
    ck_assert_ok(linattn_batch_get_arrays(batch, NULL, NULL));
    ck_assert_ok(linattn_batch_get_moments(batch, NULL, NULL));
    linattn_batch_destroy(batch);
}
END_TEST

/* Responses are exact products, noise is sigma times the normals of its stream, and the target's is there only where asked. */
START_TEST(noise_reaches_the_context_and_the_target_where_asked) {
    enum { D = 2, N = 3, PROMPTS = 9, NUMBERS = (N + 1) * (D + 1) };
    double clean[PROMPTS][N + 1][D + 1], noisy[PROMPTS][N + 1][D + 1], target[3][PROMPTS], e[N + 1];
    linattn_sampler_options o;
    nth_options(0, D, N, &o);
    linattn__stream stream;
    linattn__stream_open(&stream, o.seed, 6, LINATTN_STREAM_TRAINING);
    for (int i = 0; i < 3; i++) {
        o.noise_std = i == 0 ? 0 : 2;
        o.noisy_target = i == 2;
        linattn_batch *batch = draw(&o, PROMPTS, 6);
        ck_assert_ok(linattn_batch_get_arrays(batch, i == 0 ? &clean[0][0][0] : &noisy[0][0][0], target[i]));
        linattn_batch_destroy(batch);
    }
    for (uint32_t b = 0; b < PROMPTS; b++) {
        linattn__random_normals(&stream, LINATTN__KIND_NOISE, b, 0, N + 1, e);
        for (size_t t = 0; t < N; t++) {
            ck_assert(noisy[b][t][0] == clean[b][t][0] && noisy[b][t][1] == clean[b][t][1]);
            ck_assert(noisy[b][t][D] == clean[b][t][D] + 2 * e[t + 1]);
        }
        ck_assert(noisy[b][N][D] == 0);
        ck_assert(target[1][b] == target[0][b] && target[2][b] == target[0][b] + 2 * e[0]);
    }
}
END_TEST

START_TEST(handles_are_counted) {
    linattn_sampler_options o;
    nth_options(0, 2, 3, &o);
    linattn_sampler *sampler = make(&o);
    linattn__sampler_retain(sampler);
    linattn_sampler_destroy(sampler);
    ck_assert_uint_eq(linattn_sampler_dim(sampler), 2);
    ck_assert_uint_eq(linattn_sampler_context(sampler), 3);
    linattn_batch *batch;
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 5, 0));
    linattn_sampler_destroy(sampler);
    linattn__batch_retain(batch);
    linattn_batch_destroy(batch);
    ck_assert_uint_eq(linattn_batch_prompts(batch), 5);
    linattn_batch_destroy(batch);
    linattn_batch_destroy(NULL);
    linattn_sampler_destroy(NULL);
    ck_assert_uint_eq(linattn_sampler_dim(NULL) + linattn_sampler_context(NULL), 0);
    ck_assert_uint_eq(linattn_batch_prompts(NULL) + linattn_batch_context(NULL) + linattn_batch_dim(NULL), 0);
}
END_TEST

/* Options are copied: the caller's factors may change or go. */
START_TEST(factors_are_copied) {
    double factor[4] = {2, 0, 0, 2}, before, after;
    linattn_sampler_options o;
    nth_options(0, 2, 3, &o);
    o.task_factor = factor;
    linattn_sampler *sampler = make(&o);
    for (int i = 0; i < 2; i++) {
        linattn_batch *batch;
        ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 1, 0));
        ck_assert_ok(linattn_batch_get_arrays(batch, NULL, i ? &after : &before));
        factor[0] = factor[3] = NAN;
        linattn_batch_destroy(batch);
    }
    ck_assert(before == after);
    linattn_sampler_destroy(sampler);
}
END_TEST

static Suite *sampler_suite(void) {
    Suite *suite = suite_create("sampler");
    TCase *tc = tcase_create("sampler");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, instruction_sets_agree_bit_for_bit);
    tcase_add_test(tc, scalar_code_defines_the_bits);
    tcase_add_test(tc, reference_agrees);
    tcase_add_test(tc, larger_extends_smaller);
    tcase_add_test(tc, seed_draw_and_stream_make_the_batch);
    tcase_add_test(tc, arrays_round_trip);
    tcase_add_test(tc, moments_of_arrays);
    tcase_add_test(tc, noise_reaches_the_context_and_the_target_where_asked);
    tcase_add_test(tc, handles_are_counted);
    tcase_add_test(tc, factors_are_copied);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(sampler_suite)
