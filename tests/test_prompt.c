/* test_prompt.c: prompt attention: what is drawn, and the loss with its derivatives, against plain formulas in extended precision. */
#include "common/allocate.h"
#include "support/doubles.h"
#include "support/suite.h"
#include <linattn/spectrum.h>
#include <math.h>

/* ---- Making systems ---- */

static linattn_prompt_options options_of(size_t examples, size_t tokens, size_t dim) {
    linattn_prompt_options o;
    ck_assert_ok(linattn_prompt_options_init(&o, sizeof o));
    o.examples = examples;
    o.tokens = tokens;
    o.dim = dim;
    return o;
}

/* Everything a system holds, and theta near its teacher. */
typedef struct {
    linattn_prompt_options o;
    linattn_prompt *prompt;
    size_t N, n, d, p;
    double *tokens, *keys, *value, *teacher, *labels, *theta;
} setting;

static double around(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-52 - 1; }

static setting make(const linattn_prompt_options *o) {
    setting s = {.o = *o, .N = o->examples, .n = o->tokens, .d = o->dim};
    uint64_t state = 7;
    ck_assert_ok(linattn_prompt_create(&s.prompt, o));
    s.p = linattn_prompt_parameter_count(s.prompt);
    ck_assert_uint_eq(s.p, s.d * (o->train_value ? 2 : 1));
    s.tokens = calloc(s.N * s.n * s.d, sizeof(double));
    s.keys = calloc(s.N * s.n * s.d, sizeof(double));
    s.value = calloc(s.d, sizeof(double));
    s.teacher = calloc(s.d, sizeof(double));
    s.labels = calloc(s.N, sizeof(double));
    s.theta = calloc(s.p, sizeof(double));
    ck_assert_ok(linattn_prompt_get_arrays(s.prompt, s.tokens, s.keys, s.value, s.teacher, s.labels));
    for (size_t j = 0; j < s.p; j++) s.theta[j] = (j < s.d ? s.teacher[j] : s.value[j - s.d]) + 0.3 * around(&state);
    return s;
}

static void forget(setting *s) {
    linattn_prompt_destroy(s->prompt);
    double *all[] = {s->tokens, s->keys, s->value, s->teacher, s->labels, s->theta};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static linattn_objective *objective_of(const setting *s, size_t threads, int32_t kernel) {
    linattn_objective_options o;
    linattn_objective *f;
    ck_assert_ok(linattn_objective_options_init(&o, sizeof o));
    o.threads = threads;
    o.kernel = kernel;
    ck_assert_ok(linattn_objective_create_prompt(&f, s->prompt, &o));
    return f;
}

/* ---- The formulas, in long double ---- */

/* Weights (n) and the output of example i. */
static long double output(const setting *s, const double *theta, size_t i, long double *a) {
    const double *v = s->o.train_value ? theta + s->d : s->value;
    long double most = -INFINITY, sum = 0, f = 0;
    for (size_t k = 0; k < s->n; k++) {
        a[k] = 0;
        for (size_t j = 0; j < s->d; j++) a[k] += (long double)s->keys[(i * s->n + k) * s->d + j] * theta[j];
        a[k] /= s->o.attention == LINATTN_PROMPT_LINEAR ? (long double)s->n : s->o.temperature;
        most = fmaxl(most, a[k]);
    }
    for (size_t k = 0; s->o.attention == LINATTN_PROMPT_SOFTMAX && k < s->n; k++) sum += a[k] = expl(a[k] - most);
    for (size_t k = 0; k < s->n; k++) {
        if (s->o.attention == LINATTN_PROMPT_SOFTMAX) a[k] /= sum;
        for (size_t j = 0; j < s->d; j++) f += a[k] * s->tokens[(i * s->n + k) * s->d + j] * v[j];
    }
    return f;
}

static long double loss(const setting *s, const double *theta) {
    long double a[64], sum = 0;
    for (size_t i = 0; i < s->N; i++) {
        const long double f = output(s, theta, i, a), y = s->labels[i];
        sum += s->o.loss == LINATTN_PROMPT_SQUARED ? (f - y) * (f - y) / 2 : log1pl(expl(-y * f));
    }
    return sum / s->N;
}

/* The derivative of the loss by theta_j, by central differences of fourth order in long double. */
static long double difference(const setting *s, double *theta, size_t j) {
    const double centre = theta[j], h = 0x1p-10;
    const int at[] = {-2, -1, 1, 2};
    const long double weights[] = {1, -8, 8, -1};
    long double sum = 0;
    for (int i = 0; i < 4; i++) {
        theta[j] = centre + at[i] * h;
        sum += weights[i] * loss(s, theta);
    }
    theta[j] = centre;
    return sum / (12 * h);
}

static double largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Gradient against differences of the formula's values, HVP against differences of gradients, both to 1e-7 of the largest entry. */
static void check_derivatives(const setting *s) {
    linattn_objective *f = objective_of(s, 1, LINATTN_KERNEL_AUTO);
    double value, *g = calloc(4 * s->p, sizeof *g), *u = g + s->p, *hu = u + s->p, *moved = hu + s->p;
    double *low = calloc(2 * s->p, sizeof *low), *high = low + s->p;
    uint64_t state = 3;
    ck_assert_int_eq(linattn_objective_hvp_kind(f), LINATTN_HVP_EXACT);
    ck_assert_ok(linattn_objective_gradient(f, 0, s->theta, &value, g));
    ck_assert_double_eq_tol(value, (double)loss(s, s->theta), 1e-13 * fmax(1, value));
    for (size_t j = 0; j < s->p; j++)
        ck_assert_double_eq_tol(g[j], (double)difference(s, s->theta, j), 1e-7 * largest(g, s->p) + 1e-16);
    for (size_t j = 0; j < s->p; j++) u[j] = around(&state);
    ck_assert_ok(linattn_objective_hvp(f, 0, s->theta, u, 1, hu));
    const double h = 1e-5;
    for (size_t j = 0; j < s->p; j++) moved[j] = s->theta[j] - h * u[j];
    ck_assert_ok(linattn_objective_gradient(f, 0, moved, NULL, low));
    for (size_t j = 0; j < s->p; j++) moved[j] = s->theta[j] + h * u[j];
    ck_assert_ok(linattn_objective_gradient(f, 0, moved, NULL, high));
    for (size_t j = 0; j < s->p; j++)
        ck_assert_double_eq_tol(hu[j], (high[j] - low[j]) / (2 * h), 1e-7 * (largest(hu, s->p) + largest(g, s->p)));
    free(g);
    free(low);
    linattn_objective_destroy(f);
}

START_TEST(derivatives_in_every_combination) {
    const double ratios[] = {1, 0.1, 1e-3, 1e-6};
    int combinations = 0;
    for (int32_t attention = 0; attention < 2; attention++)
        for (int32_t kind = 0; kind < 2; kind++)
            for (int32_t profile = 0; profile < 3; profile++)
                for (int bits = 0; bits < 8; bits++)
                    for (size_t r = 0; r < 4; r++) {
                        linattn_prompt_options o = options_of(kind ? 3 : 11, 4, kind ? 13 : 3);
                        o.attention = attention;
                        o.token_kind = kind;
                        o.profile = profile;
                        o.active = 1 + (r & 1);
                        o.loss = bits & 1;
                        o.train_value = bits >> 1 & 1;
                        o.key_map = bits >> 2;
                        o.sparsity = ratios[r];
                        o.temperature = bits & 1 ? 0.7 : 1.5;
                        o.noise = 0.2;
                        o.seed = (uint64_t)combinations++;
                        setting s = make(&o);
                        check_derivatives(&s);
                        forget(&s);
                    }
    ck_assert_int_eq(combinations, 2 * 2 * 3 * 8 * 4);
}
END_TEST

/* One token: softmax is 1 whatever p is, and nothing depends on p, exactly. */
START_TEST(one_token_moves_nothing) {
    const size_t shapes[][3] = {{1, 1, 1}, {5, 1, 3}, {9, 1, 9}};
    for (size_t k = 0; k < 3; k++) {
        linattn_prompt_options o = options_of(shapes[k][0], shapes[k][1], shapes[k][2]);
        o.sparsity = 1;
        o.noise = 1;
        setting s = make(&o);
        linattn_objective *f = objective_of(&s, 1, LINATTN_KERNEL_AUTO);
        double value, g[9], hessian[81];
        ck_assert_ok(linattn_objective_gradient(f, 0, s.theta, &value, g));
        ck_assert_ok(linattn_objective_hessian(f, 0, s.theta, hessian));
        ck_assert_double_gt(value, 0);
        for (size_t j = 0; j < s.p; j++) ck_assert_double_eq(g[j], 0);
        for (size_t j = 0; j < s.p * s.p; j++) ck_assert_double_eq(hessian[j], 0);
        linattn_objective_destroy(f);
        forget(&s);
    }
}
END_TEST

/* ---- What is drawn ---- */

/* The teacher's weights: R of each example, and the median of R over them. */
static void teacher_ratios(const setting *s, double *ratios, double *median) {
    double *a = calloc(s->N * s->n, sizeof *a), *theta = calloc(s->p, sizeof *theta);
    linattn_concentration c = {.struct_size = sizeof c};
    memcpy(theta, s->teacher, s->d * sizeof *theta);
    if (s->o.train_value) memcpy(theta + s->d, s->value, s->d * sizeof *theta);
    ck_assert_ok(linattn_prompt_evaluate(s->prompt, theta, NULL, a, NULL, NULL));
    ck_assert_ok(linattn_attention_concentration(a, s->N, s->n, s->n, 1, &c));
    *median = c.ratio_median;
    for (size_t i = 0; i < s->N; i++) {
        double low = 1, high = 0;
        for (size_t k = 0; k < s->n; k++) {
            low = fmin(low, a[i * s->n + k]);
            high = fmax(high, a[i * s->n + k]);
        }
        ratios[i] = low / high;
    }
    free(a);
    free(theta);
}

START_TEST(sparsity_is_what_was_asked_for) {
    const double ratios[] = {1, 0.3, 1e-4, 1e-12, 1e-20};
    for (int32_t kind = 0; kind < 2; kind++)
        for (int32_t profile = 0; profile < 2 + kind; profile++)
            for (size_t r = 0; r < 5; r++) {
                linattn_prompt_options o = options_of(kind ? 5 : 200, 6, kind ? 40 : 5);
                double found[200], median;
                o.token_kind = kind;
                o.profile = profile;
                o.active = 3;
                o.key_map = LINATTN_PROMPT_ORTHOGONAL;
                o.sparsity = ratios[r];
                o.temperature = 0.25;
                setting s = make(&o);
                teacher_ratios(&s, found, &median);
                ck_assert_double_eq_tol(log(median), log(ratios[r]), 1e-12);
                for (size_t i = 0; i < s.N && profile != LINATTN_PROMPT_SCALED; i++)
                    ck_assert_double_eq_tol(log(found[i]), log(ratios[r]), 1e-12);
                forget(&s);
            }
}
END_TEST

/* Gaussian keys with active tokens: `sparsity` multiplies the unnormalised coefficients of all but `active` tokens, which keep their
 * keys; any token may be one of these. */
START_TEST(inactive_tokens_are_moved_along_the_teacher) {
    linattn_prompt_options o = options_of(400, 5, 3);
    size_t times[5] = {0};
    o.profile = LINATTN_PROMPT_ACTIVE;
    o.active = 2;
    o.temperature = 0.5;
    o.sparsity = 1;
    setting plain = make(&o);
    o.sparsity = 1e-8;
    setting sparse = make(&o);
    ck_assert_mem_eq(plain.teacher, sparse.teacher, 3 * sizeof(double));
    for (size_t i = 0; i < sparse.N; i++) {
        size_t kept = 0;
        for (size_t k = 0; k < 5; k++) {
            const double *before = plain.keys + (i * 5 + k) * 3, *after = sparse.keys + (i * 5 + k) * 3;
            double score = 0;
            for (size_t j = 0; j < 3; j++) score += (after[j] - before[j]) * sparse.teacher[j] / 0.5;
            if (memcmp(before, after, 3 * sizeof *before) == 0)
                kept++, times[k]++;
            else
                ck_assert_double_eq_tol(score, log(1e-8), 1e-12);
        }
        ck_assert_uint_eq(kept, 2);
    }
    for (size_t k = 0; k < 5; k++) ck_assert(times[k] > 115 && times[k] < 205); /* 160 +- 4.6 standard deviations of 9.8 */
    forget(&plain);
    forget(&sparse);
}
END_TEST

START_TEST(orthonormal_keys) {
    linattn_prompt_options o = options_of(4, 5, 23);
    o.token_kind = LINATTN_PROMPT_ORTHONORMAL;
    o.key_map = LINATTN_PROMPT_ORTHOGONAL;
    setting s = make(&o);
    const double *of[] = {s.keys, s.tokens}; /* X = K W_K keeps lengths and angles */
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < 20; i++)
            for (size_t j = 0; j < 20; j++) {
                double sum = 0;
                for (size_t k = 0; k < s.d; k++) sum += of[t][i * s.d + k] * of[t][j * s.d + k];
                ck_assert_double_eq_tol(sum, i == j, 1e-14);
            }
    forget(&s);
}
END_TEST

/* Gaussian keys: also what a profile has put along p* has mean 0 and mean square 1. */
START_TEST(keys_keep_their_variance) {
    linattn_prompt_options o = options_of(3000, 5, 4);
    o.profile = LINATTN_PROMPT_LOG_UNIFORM;
    o.sparsity = 1e-9;
    setting s = make(&o);
    const double rows = (double)(s.N * s.n);
    double along = 0, length = 0, squares = 0;
    for (size_t j = 0; j < s.d; j++) length += s.teacher[j] * s.teacher[j];
    for (size_t i = 0; i < s.N * s.n; i++) {
        double t = 0;
        for (size_t j = 0; j < s.d; j++) {
            t += s.keys[i * s.d + j] * s.teacher[j] / sqrt(length);
            squares += s.keys[i * s.d + j] * s.keys[i * s.d + j];
        }
        along += t * t;
    }
    ck_assert_double_eq_tol(along / rows, 1, 1e-12);
    ck_assert_double_eq_tol((squares - along) / rows, 3, 5 * sqrt(2 * 3 / rows)); /* chi-squared with 3 degrees of freedom */
    forget(&s);
}
END_TEST

/* y = f(p*) + noise: without noise the loss at p* is 0 to rounding, with it half the variance; logistic labels agree with p*'s
 * outputs as often as they should. */
START_TEST(labels_from_the_teacher) {
    linattn_prompt_options o = options_of(4000, 5, 4);
    setting s = make(&o);
    ck_assert_double_lt((double)loss(&s, s.teacher), 1e-30);
    forget(&s);
    o.noise = 0.5;
    s = make(&o);
    ck_assert_double_eq_tol((double)loss(&s, s.teacher), 0.125, 5 * 0.125 * sqrt(2 / 4000.0));
    forget(&s);
    o.loss = LINATTN_PROMPT_LOGISTIC;
    s = make(&o);
    long double a[5];
    double agree = 0, expected = 0, variance = 0;
    for (size_t i = 0; i < s.N; i++) {
        const double f = (double)output(&s, s.teacher, i, a), sure = 1 / (1 + exp(-fabs(f)));
        ck_assert(s.labels[i] == 1 || s.labels[i] == -1);
        agree += s.labels[i] * f > 0;
        expected += sure;
        variance += sure * (1 - sure);
    }
    ck_assert_double_eq_tol(agree, expected, 4 * sqrt(variance));
    forget(&s);
}
END_TEST

/* The same seed, the same system; another seed, another. */
START_TEST(seeds) {
    linattn_prompt_options o = options_of(3, 4, 5);
    o.seed = UINT64_MAX;
    setting a = make(&o), b = make(&o);
    o.seed = 0;
    setting c = make(&o);
    ck_assert_mem_eq(a.keys, b.keys, 60 * sizeof(double));
    ck_assert_mem_eq(a.labels, b.labels, 3 * sizeof(double));
    for (size_t i = 0; i < 60; i++) ck_assert_double_ne(a.keys[i], c.keys[i]);
    forget(&a);
    forget(&b);
    forget(&c);
}
END_TEST

/* A system of the arrays of a drawn one is that one; keys are X W_K^T. */
START_TEST(from_arrays) {
    for (int32_t logistic = 0; logistic < 2; logistic++) {
        linattn_prompt_options o = options_of(9, 3, 4);
        linattn_prompt *again, *made;
        double keys[108], labels[9], map[16] = {0}, twice[108];
        o.loss = logistic;
        o.noise = 0.1;
        setting s = make(&o);
        for (size_t j = 0; j < 4; j++) map[j * 4 + (j + 1) % 4] = 2; /* key_a = 2 token_(a+1) */
        ck_assert_ok(linattn_prompt_create_from_arrays(&again, &o, s.tokens, NULL, s.value, s.teacher, s.labels));
        ck_assert_ok(linattn_prompt_create_from_arrays(&made, &o, s.tokens, map, s.value, s.teacher, NULL));
        ck_assert_ok(linattn_prompt_get_arrays(again, NULL, keys, NULL, NULL, labels));
        ck_assert_mem_eq(keys, s.keys, sizeof keys);
        ck_assert_mem_eq(labels, s.labels, sizeof labels);
        linattn_prompt_destroy(again);
        /* Labels made from a teacher and the same seed: those of the drawn system. */
        ck_assert_ok(linattn_prompt_create_from_arrays(&again, &o, s.tokens, NULL, s.value, s.teacher, NULL));
        ck_assert_ok(linattn_prompt_get_arrays(again, NULL, NULL, NULL, NULL, labels));
        ck_assert_mem_eq(labels, s.labels, sizeof labels);
        ck_assert_ok(linattn_prompt_get_arrays(made, NULL, twice, NULL, NULL, NULL));
        for (size_t i = 0; i < 27; i++)
            for (size_t a = 0; a < 4; a++) ck_assert_double_eq(twice[i * 4 + a], 2 * s.tokens[i * 4 + (a + 1) % 4]);
        linattn_prompt_destroy(again);
        linattn_prompt_destroy(made);
        forget(&s);
    }
}
END_TEST

/* ---- The objective ---- */

START_TEST(threads_and_kernels) {
    linattn_prompt_options o = options_of(333, 5, 6);
    o.sparsity = 1e-2;
    o.train_value = 1;
    for (int32_t logistic = 0; logistic < 2; logistic++) {
        o.loss = logistic;
        setting s = make(&o);
        double value, g[12], h[144], other, other_g[12], other_h[144];
        linattn_objective *f = objective_of(&s, 1, LINATTN_KERNEL_BASELINE);
        ck_assert_ok(linattn_objective_gradient(f, 0, s.theta, &value, g));
        ck_assert_ok(linattn_objective_hessian(f, 0, s.theta, h));
        for (size_t threads = 2; threads < 5; threads++) {
            linattn_objective *t = objective_of(&s, threads, LINATTN_KERNEL_BASELINE);
            ck_assert_ok(linattn_objective_gradient(t, 5, s.theta, &other, other_g));
            ck_assert_ok(linattn_objective_hessian(t, 5, s.theta, other_h));
            ck_assert_double_eq(other, value);
            ck_assert_mem_eq(other_g, g, sizeof g);
            ck_assert_mem_eq(other_h, h, sizeof h);
            linattn_objective_destroy(t);
        }
        for (int32_t kernel = LINATTN_KERNEL_AVX2; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
            if (!linattn_kernel_available(kernel)) continue;
            linattn_objective *k = objective_of(&s, 1, kernel);
            ck_assert_ok(linattn_objective_gradient(k, 0, s.theta, &other, other_g));
            ck_assert_ok(linattn_objective_hessian(k, 0, s.theta, other_h));
            ck_assert_double_eq_tol(other, value, 1e-13 * value);
            for (size_t i = 0; i < 12; i++) ck_assert_double_eq_tol(other_g[i], g[i], 1e-13 * largest(g, 12));
            for (size_t i = 0; i < 144; i++) ck_assert_double_eq_tol(other_h[i], h[i], 1e-13 * largest(h, 144));
            linattn_objective_destroy(k);
        }
        linattn_objective_destroy(f);
        forget(&s);
    }
}
END_TEST

/* The whole Hessian is its products with unit vectors; blocks and diagonals are parts of it. */
START_TEST(hessians) {
    linattn_prompt_options o = options_of(70, 4, 11);
    o.train_value = 1;
    setting s = make(&o);
    linattn_objective *f = objective_of(&s, 2, LINATTN_KERNEL_AUTO);
    double h[22 * 22], unit[22] = {0}, row[22], block[9], diagonal[22];
    ck_assert_ok(linattn_objective_hessian(f, 0, s.theta, h));
    for (size_t i = 0; i < 22; i++) {
        unit[i] = 1;
        ck_assert_ok(linattn_objective_hvp(f, 0, s.theta, unit, 1, row));
        for (size_t j = 0; j < 22; j++) {
            ck_assert_double_eq_tol(h[i * 22 + j], row[j], 1e-14 * largest(h, 484));
            ck_assert_double_eq(h[i * 22 + j], h[j * 22 + i]);
        }
        unit[i] = 0;
    }
    ck_assert_ok(linattn_objective_hessian_block(f, 0, s.theta, 9, 3, block));
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, s.theta, 0, 22, diagonal));
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) ck_assert_double_eq(block[i * 3 + j], h[(9 + i) * 22 + 9 + j]);
    for (size_t i = 0; i < 22; i++) ck_assert_double_eq(diagonal[i], h[i * 23]);
    linattn_objective_destroy(f);
    forget(&s);
}
END_TEST

/* Minibatches of an epoch have the full batch's mean; all N of them, whatever the draw, are the full batch. */
START_TEST(minibatches) {
    for (int32_t variant = 0; variant < 4; variant++) {
        linattn_prompt_options o = options_of(60, 4, 3);
        o.train_value = variant & 1;
        o.loss = variant >> 1;
        o.key_map = LINATTN_PROMPT_ORTHOGONAL;
        setting s = make(&o);
        linattn_objective *full = objective_of(&s, 1, LINATTN_KERNEL_AUTO), *part, *all;
        double value, g[6], one, one_g[6], sum = 0, sum_g[6] = {0}, first = 0;
        ck_assert_ok(linattn_objective_gradient(full, 0, s.theta, &value, g));
        ck_assert_ok(linattn_objective_create_prompt_dataset(&part, s.prompt, 12, LINATTN_MINIBATCH_EPOCHS, 9, NULL));
        ck_assert_ok(linattn_objective_create_prompt_dataset(&all, s.prompt, 60, LINATTN_MINIBATCH_EPOCHS, 9, NULL));
        for (uint64_t draw = 5; draw < 10; draw++) {
            ck_assert_ok(linattn_objective_gradient(part, draw, s.theta, &one, one_g));
            for (size_t j = 0; j < s.p; j++) sum_g[j] += one_g[j] / 5;
            sum += one / 5;
            if (draw == 5) first = one;
        }
        ck_assert_double_eq_tol(sum, value, 1e-14);
        for (size_t j = 0; j < s.p; j++) ck_assert_double_eq_tol(sum_g[j], g[j], 1e-14);
        ck_assert_ok(linattn_objective_value(part, 5, s.theta, &one));
        ck_assert_double_eq(one, first);
        ck_assert_double_ne(one, value);
        ck_assert_ok(linattn_objective_gradient(all, 77, s.theta, &one, one_g));
        ck_assert_double_eq(one, value);
        ck_assert_mem_eq(one_g, g, s.p * sizeof *g);
        linattn_objective_destroy(all);
        linattn_objective_destroy(part);
        linattn_objective_destroy(full);
        forget(&s);
    }
}
END_TEST

/* The system outlives the caller's handle inside its objectives, and clones are equal. */
START_TEST(lives_and_clones) {
    linattn_prompt_options o = options_of(20, 3, 4);
    linattn_objective *f, *clone;
    linattn_prompt *prompt;
    double theta[4] = {0.1, -0.2, 0.3, 0}, a, b;
    ck_assert_ok(linattn_prompt_create(&prompt, &o));
    ck_assert_ok(linattn_objective_create_prompt_dataset(&f, prompt, 6, LINATTN_MINIBATCH_REPLACEMENT, 1, NULL));
    linattn_prompt_destroy(prompt);
    ck_assert_ok(linattn_objective_value(f, 3, theta, &a));
    ck_assert_ok(linattn_objective_clone(&clone, f));
    linattn_objective_destroy(f);
    ck_assert_ok(linattn_objective_value(clone, 3, theta, &b));
    ck_assert_double_eq(a, b);
    linattn_objective_destroy(clone);
    linattn_prompt_destroy(NULL);
}
END_TEST

static Suite *prompt_suite(void) {
    Suite *suite = suite_create("prompt");
    TCase *tests = tcase_create("prompt");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, derivatives_in_every_combination);
    tcase_add_test(tests, one_token_moves_nothing);
    tcase_add_test(tests, sparsity_is_what_was_asked_for);
    tcase_add_test(tests, inactive_tokens_are_moved_along_the_teacher);
    tcase_add_test(tests, orthonormal_keys);
    tcase_add_test(tests, keys_keep_their_variance);
    tcase_add_test(tests, labels_from_the_teacher);
    tcase_add_test(tests, seeds);
    tcase_add_test(tests, from_arrays);
    tcase_add_test(tests, threads_and_kernels);
    tcase_add_test(tests, hessians);
    tcase_add_test(tests, minibatches);
    tcase_add_test(tests, lives_and_clones);
    suite_add_tcase(suite, tests);
    return suite;
}

LINATTN_TEST_MAIN(prompt_suite)
