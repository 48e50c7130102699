/* Blocks and diagonals of Hessians against the whole one, products and closed forms; the memory that all of them take.
 * Needs an allocator that counts: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/random_case.h"
#include "support/suite.h"

#include <math.h>
#include <stdint.h>

/* The fourth and the last have more parameters in a layer than one pass takes directions. */
static const reference_shape shapes[] = {{1, 1, 1, 1, 0}, {2, 1, 3, 4, 0}, {3, 1, 5, 6, 0}, {2, 2, 5, 4, 0},
                                         {2, 1, 2, 3, 1}, {3, 2, 3, 5, 1}, {2, 4, 4, 3, 1}};
/* Other kinds, factored Q and networks. */
static const reference_model others[] = {
    {.shape = {2, 1, 3, 4, 0}, .attention = LINATTN_ATTENTION_SOFTMAX},
    {.shape = {2, 1, 2, 3, 1}, .attention = LINATTN_ATTENTION_RELU, .qk_rank = 2},
    {.shape = {1, 2, 2, 3, 0}, .attention = LINATTN_ATTENTION_SOFTMAX_CONTEXT, .mlp_hidden = 3},
    {.shape = {2, 1, 2, 3, 0}, .attention = LINATTN_ATTENTION_LINEAR, .qk_rank = 1, .mlp_hidden = 3},
    {.shape = {2, 1, 2, 3, 0}, .attention = LINATTN_ATTENTION_SOFTMAX, .ff_hidden = 2},
    {.shape = {3, 1, 1, 3, 1}, .attention = LINATTN_ATTENTION_LINEAR, .qk_rank = 1, .mlp_hidden = 2, .ff_hidden = 3},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, CASES = SHAPES + sizeof others / sizeof *others };

static random_case open_case(int i, size_t prompts, unsigned seed) {
    const reference_model model = i < SHAPES ? (reference_model){.shape = shapes[i]} : others[i - SHAPES];
    return random_case_open_model(model, prompts, seed);
}
static const double MARK = 12345;

/* Block and diagonal of a range have the bits of the whole Hessian, and nothing behind them is touched. */
static void compare_range(linattn_objective *f, uint64_t draw, const double *theta, const double *whole, size_t first,
                          size_t count) {
    const size_t p = linattn_objective_parameter_count(f);
    double *block = numbers(count * count + 1), *diagonal = numbers(count + 1);
    block[count * count] = diagonal[count] = MARK;
    ck_assert_ok(linattn_objective_hessian_block(f, draw, theta, first, count, block));
    ck_assert_ok(linattn_objective_hessian_diagonal(f, draw, theta, first, count, diagonal));
    for (size_t i = 0; i < count; i++) {
        ck_assert_mem_eq(block + i * count, whole + (first + i) * p + first, count * sizeof *block);
        ck_assert_mem_eq(diagonal + i, whole + (first + i) * (p + 1), sizeof *diagonal);
        for (size_t j = 0; j < i; j++) ck_assert_mem_eq(block + i * count + j, block + j * count + i, sizeof *block);
    }
    ck_assert(block[count * count] == MARK && diagonal[count] == MARK);
    free(block);
    free(diagonal);
}

/* Everything, one entry, a layer, a tensor, and ranges that begin and end anywhere. */
static void compare_ranges(linattn_objective *f, const random_case *c, const double *whole) {
    const size_t p = c->p, layer = p / c->shape.layers, tensor = layer / c->shape.heads / 2;
    compare_range(f, 0, c->theta, whole, 0, p);
    compare_range(f, 0, c->theta, whole, 0, 1);
    compare_range(f, 0, c->theta, whole, p - 1, 1);
    compare_range(f, 0, c->theta, whole, p - layer, layer);
    compare_range(f, 0, c->theta, whole, tensor, tensor);
    compare_range(f, 0, c->theta, whole, p / 3, p - p / 3);
    compare_range(f, 0, c->theta, whole, p / 4, p / 2);
}

START_TEST(blocks_are_parts_of_the_hessian) {
    random_case c = open_case(_i, 150, (unsigned)_i); /* 3 chunks */
    const size_t p = c.p;
    double *whole = numbers(p * p), *first = numbers(p * p);
    int compared = 0;
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
        if (!linattn_kernel_available(kernel)) continue;
        for (size_t threads = 1; threads <= 3; threads += 2) {
            linattn_objective *f = random_case_objective(&c, NULL, kernel, threads);
            if (threads == 1) ck_assert_ok(linattn_objective_hessian(f, 0, c.theta, whole));
            compare_ranges(f, &c, whole); /* three threads: the bits of one */
            linattn_objective_destroy(f);
        }
        if (!compared++) memcpy(first, whole, p * p * sizeof *first);
        ck_assert_double_le(relative_distance(whole, first, p * p), 1e-13);
    }
    free(whole);
    free(first);
    random_case_close(&c);
}
END_TEST

/* A second method: products with unit vectors, for which the kernel uses no symmetry. */
START_TEST(blocks_are_products_with_unit_vectors) {
    random_case c = open_case(_i, 20, (unsigned)_i + 30);
    const size_t p = c.p, first = p / 3, count = p - first;
    double *unit = numbers(p), *row = numbers(p), *wanted = numbers(count * count), *wanted_diagonal = numbers(count),
           *block = numbers(count * count), *diagonal = numbers(count);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    for (size_t i = 0; i < count; i++) {
        unit[first + i] = 1;
        ck_assert_ok(linattn_objective_hvp(f, 0, c.theta, unit, 1, row));
        unit[first + i] = 0;
        memcpy(wanted + i * count, row + first, count * sizeof *row);
        wanted_diagonal[i] = row[first + i];
    }
    ck_assert_ok(linattn_objective_hessian_block(f, 0, c.theta, first, count, block));
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, c.theta, first, count, diagonal));
    ck_assert_double_le(relative_distance(block, wanted, count * count), 1e-12);
    ck_assert_double_le(relative_distance(diagonal, wanted_diagonal, count), 1e-12);
    linattn_objective_destroy(f);
    free(unit);
    free(row);
    free(wanted);
    free(wanted_diagonal);
    free(block);
    free(diagonal);
    random_case_close(&c);
}
END_TEST

/* The last layer's P, in full form without its last row, has no curvature: its block and diagonal are exact zeros. */
START_TEST(exact_zeros_stay_exact) {
    random_case c = random_case_open(shapes[_i], 9, (unsigned)_i + 60);
    const size_t d = c.shape.dim, side = c.shape.full ? d + 1 : d;
    const size_t P = (c.shape.layers - 1) * c.shape.heads * 2 * side * side, count = d * side;
    double *block = numbers(count * count), *diagonal = numbers(count), Q;
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    for (size_t i = 0; i < count * count; i++) block[i] = MARK;
    ck_assert_ok(linattn_objective_hessian_block(f, 0, c.theta, P, count, block));
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, c.theta, P, count, diagonal));
    for (size_t i = 0; i < count * count; i++) ck_assert(block[i] == 0);
    for (size_t i = 0; i < count; i++) ck_assert(diagonal[i] == 0);
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, c.theta, P + side * side, 1, &Q));
    ck_assert_double_gt(Q, 0);
    linattn_objective_destroy(f);
    free(block);
    free(diagonal);
    random_case_close(&c);
}
END_TEST

/* One layer, d = n = 1, tokens x = 1, y = 2, query 3, target 6: loss (6 q + 6)^2, whatever p. */
START_TEST(case_N1_by_hand) {
    const double token[4] = {1, 2, 3, 0}, target = 6, theta[2] = {0.7, 0.3};
    linattn_model_options options;
    linattn_model *model = NULL;
    linattn_batch *batch = NULL;
    linattn_objective *f = NULL;
    double out[2] = {MARK, MARK};
    ck_assert_ok(linattn_model_options_init(&options, sizeof options));
    options.dim = options.layers = 1;
    ck_assert_ok(linattn_model_create(&model, &options));
    ck_assert_ok(linattn_batch_create_from_arrays(&batch, token, &target, 1, 1, 1));
    ck_assert_ok(linattn_objective_create_fixed(&f, model, batch, NULL));
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, theta, 0, 2, out));
    ck_assert_double_eq(out[0], 0);
    ck_assert_double_eq_tol(out[1], 72, 1e-13);
    ck_assert_ok(linattn_objective_hessian_block(f, 0, theta, 1, 1, out));
    ck_assert_double_eq_tol(out[0], 72, 1e-13);
    linattn_objective_destroy(f);
    linattn_batch_destroy(batch);
    linattn_model_destroy(model);
}
END_TEST

static linattn_objective *sampled(const random_case *c, linattn_sampler **sampler, const linattn_objective_options *options) {
    linattn_sampler_options read;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_sampler_options_init(&read, sizeof read));
    read.dim = c->shape.dim;
    read.context = c->shape.context;
    ck_assert_ok(linattn_sampler_create(sampler, &read));
    ck_assert_ok(linattn_objective_create_sampled(&f, c->model, *sampler, 4000, options)); /* 63 chunks: two rounds */
    return f;
}

START_TEST(blocks_follow_the_draw) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 1, 5);
    linattn_sampler *sampler;
    linattn_batch *batch = NULL;
    linattn_objective *f = sampled(&c, &sampler, NULL);
    double *whole = numbers(c.p * c.p);
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 4000, 7));
    linattn_objective *g = random_case_objective(&c, batch, LINATTN_KERNEL_AUTO, 1);
    ck_assert_ok(linattn_objective_hessian(g, 0, c.theta, whole));
    compare_range(f, 7, c.theta, whole, 5, 20);
    linattn_objective_destroy(f);
    linattn_objective_destroy(g);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
    free(whole);
    random_case_close(&c);
}
END_TEST

typedef struct {
    int calls, stop_at, returned;
    double last;
    linattn_objective *objective;
    const double *theta;
} watcher;

static int watch(double fraction, void *user) {
    watcher *w = user;
    double out[4];
    ck_assert_double_ge(fraction, w->last);
    ck_assert_double_le(fraction, 1);
    w->last = fraction;
    ck_assert_status(linattn_objective_hessian_block(w->objective, 0, w->theta, 0, 2, out), LINATTN_EINVAL, "in a call");
    ck_assert_status(linattn_objective_hessian_diagonal(w->objective, 0, w->theta, 0, 2, out), LINATTN_EINVAL, "in a call");
    return ++w->calls == w->stop_at ? w->returned : 0;
}

/* Progress runs from 0 to 1 over the rows of the block alone, may stop it, and cannot use the objective. */
START_TEST(progress_of_a_block) {
    random_case c = random_case_open((reference_shape){3, 1, 3, 4, 0}, 1, 5);
    linattn_objective_options options;
    linattn_sampler *sampler;
    watcher w = {.stop_at = 2, .returned = -5, .theta = c.theta};
    ck_assert_ok(linattn_objective_options_init(&options, sizeof options));
    options.progress = watch;
    options.user = &w;
    w.objective = sampled(&c, &sampler, &options);
    double out[30 * 30], value, again;
    ck_assert_int_eq(linattn_objective_hessian_block(w.objective, 0, c.theta, 20, 30, out), -5);
    ck_assert_int_eq(w.calls, 2);
    w.calls = w.stop_at = 0;
    w.last = 0;
    ck_assert_ok(linattn_objective_hessian_block(w.objective, 0, c.theta, 20, 30, out));
    ck_assert_int_eq(w.calls, 3); /* two layers of two rounds each, told after the first */
    ck_assert_double_gt(w.last, 0.75);
    w.last = 0;
    ck_assert_ok(linattn_objective_hessian_diagonal(w.objective, 0, c.theta, 20, 30, out));
    ck_assert_int_eq(w.calls, 6);
    w.last = 0;
    ck_assert_ok(linattn_objective_value(w.objective, 0, c.theta, &value)); /* no call was left open */
    w.last = 0;
    ck_assert_ok(linattn_objective_value(w.objective, 0, c.theta, &again));
    ck_assert(value == again);
    linattn_objective_destroy(w.objective);
    linattn_sampler_destroy(sampler);
    random_case_close(&c);
}
END_TEST

/* f = sum over i < 4 of x_i^2 x_(i+1): H_ii = 2 x_(i+1), H_(i,i+1) = 2 x_i. */
enum { P = 5 };
static const double CHAIN_AT[P] = {1, -2, 3, 0.5, 4};
static const double CHAIN_HESSIAN[P][P] = {{-4, 2, 0, 0, 0}, {2, 6, -4, 0, 0}, {0, -4, 1, 6, 0}, {0, 0, 6, 8, 1}, {0, 0, 0, 1, 0}};

typedef struct {
    int directions; /* of all products so far */
    double skew;    /* added to H above the diagonal */
    int returned, unwritten;
    linattn_objective *objective; /* to be used, in vain; NULL: not */
} chain;

static int chain_gradient(uint64_t draw, const double *x, double *value, double *gradient, void *user) {
    (void)draw, (void)user;
    *value = 0;
    for (int i = 0; i < P; i++) gradient[i] = 0;
    for (int i = 0; i + 1 < P; i++) {
        *value += x[i] * x[i] * x[i + 1];
        gradient[i] += 2 * x[i] * x[i + 1];
        gradient[i + 1] += x[i] * x[i];
    }
    return 0;
}

static int chain_hvp(uint64_t draw, const double *x, const double *u, size_t count, double *out, void *user) {
    chain *c = user;
    double value;
    (void)draw;
    if (c->objective) ck_assert_status(linattn_objective_value(c->objective, 0, x, &value), LINATTN_EINVAL, "in a call");
    for (size_t k = 0; k < count; k++, c->directions++)
        for (int i = 0; i < P - c->unwritten; i++) {
            out[k * P + (size_t)i] = 0;
            if (i + 1 < P) out[k * P + (size_t)i] += 2 * x[i + 1] * u[k * P + (size_t)i];
            if (i + 1 < P) out[k * P + (size_t)i] += (2 * x[i] + c->skew) * u[k * P + (size_t)i + 1];
            if (i > 0) out[k * P + (size_t)i] += 2 * x[i - 1] * u[k * P + (size_t)i - 1];
        }
    return c->returned;
}

static linattn_objective *chain_objective(chain *c, int products, double step) {
    linattn_objective_callbacks callbacks;
    linattn_objective *f = NULL;
    ck_assert_ok(linattn_objective_callbacks_init(&callbacks, sizeof callbacks));
    callbacks.parameter_count = P;
    callbacks.gradient = chain_gradient;
    callbacks.hvp = products ? chain_hvp : NULL;
    callbacks.difference_step = step;
    ck_assert_ok(linattn_objective_create_callbacks(&f, &callbacks, NULL, c));
    return f;
}

/* Every range of the chain's Hessian: bits of the whole one, near what it is by hand. */
static void compare_chain(linattn_objective *f, double skew, double tolerance) {
    double whole[P * P];
    ck_assert_ok(linattn_objective_hessian(f, 0, CHAIN_AT, whole));
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) {
            const double beside = i + 1 == j || j + 1 == i ? skew / 2 : 0;
            ck_assert_double_le(fabs(whole[i * P + j] - CHAIN_HESSIAN[i][j] - beside), tolerance);
        }
    for (size_t first = 0; first < P; first++)
        for (size_t count = 1; count <= P - first; count++) compare_range(f, 0, CHAIN_AT, whole, first, count);
}

START_TEST(blocks_of_callbacks) {
    chain c = {0};
    double out[P * P];
    linattn_objective *f = chain_objective(&c, 1, 0);
    c.objective = f;
    compare_chain(f, 0, 0);
    c.objective = NULL;
    c.skew = 0.0625; /* what is not symmetric is replaced by the mean of both triangles */
    compare_chain(f, c.skew, 0);
    c.directions = 0;
    ck_assert_ok(linattn_objective_hessian_block(f, 0, CHAIN_AT, 1, 3, out));
    ck_assert_int_eq(c.directions, 3);
    ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, CHAIN_AT, 1, 2, out));
    ck_assert_int_eq(c.directions, 5);
    c.returned = -41;
    ck_assert_status(linattn_objective_hessian_block(f, 0, CHAIN_AT, 1, 3, out), -41, "hvp returned -41");
    ck_assert_int_eq(c.directions, 6); /* and no more rows */
    c.returned = LINATTN_STOP;
    ck_assert_int_eq(linattn_objective_hessian_diagonal(f, 0, CHAIN_AT, 1, 3, out), LINATTN_STOP);
    c.returned = 0;
    c.unwritten = 1; /* the last entry of each row */
    ck_assert_status(linattn_objective_hessian_block(f, 0, CHAIN_AT, 3, 2, out), LINATTN_ENONFINITE, "out[1] is nan");
    ck_assert_status(linattn_objective_hessian_diagonal(f, 0, CHAIN_AT, 3, 2, out), LINATTN_ENONFINITE, "out[1] is nan");
    ck_assert_ok(linattn_objective_hessian_block(f, 0, CHAIN_AT, 0, 4, out)); /* which this does not want */
    linattn_objective_destroy(f);

    f = chain_objective(&c, 0, 1e-5);
    compare_chain(f, 0, 1e-7);
    linattn_objective_destroy(f);

    f = chain_objective(&c, 0, 0);
    ck_assert_status(linattn_objective_hessian_block(f, 0, CHAIN_AT, 0, 1, out), LINATTN_EUNSUPPORTED,
                     "no Hessian-vector products");
    ck_assert_status(linattn_objective_hessian_diagonal(f, 0, CHAIN_AT, 0, 1, out), LINATTN_EUNSUPPORTED,
                     "no Hessian-vector products");
    linattn_objective_destroy(f);
}
END_TEST

/* A call that takes (f, draw, theta, first, count, out). */
typedef int part(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t count, double *out);

START_TEST(arguments_wrong_in_turn) {
    static part *const parts[] = {linattn_objective_hessian_block, linattn_objective_hessian_diagonal};
    random_case c = random_case_open((reference_shape){1, 1, 2, 3, 0}, 2, 1); /* p = 8 */
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    double out[64] = {MARK};
    for (size_t i = 0; i < 2; i++) {
        const double kept = c.theta[3];
        ck_assert_status(parts[i](NULL, 0, c.theta, 0, 1, out), LINATTN_EINVAL, "objective is NULL");
        ck_assert_status(parts[i](f, 0, NULL, 0, 1, out), LINATTN_EINVAL, "theta is NULL");
        ck_assert_status(parts[i](f, 0, c.theta, 0, 1, NULL), LINATTN_EINVAL, "out is NULL");
        ck_assert_status(parts[i](f, 0, c.theta, 8, 1, out), LINATTN_EINVAL, "first is 8; allowed: below the 8 parameters");
        ck_assert_status(parts[i](f, 0, c.theta, SIZE_MAX, 2, out), LINATTN_EINVAL, "first is 18446744073709551615");
        ck_assert_status(parts[i](f, 0, c.theta, 3, 0, out), LINATTN_EINVAL, "count is 0; allowed: 1 to 5, from row 3 of 8");
        ck_assert_status(parts[i](f, 0, c.theta, 3, 6, out), LINATTN_EINVAL, "count is 6; allowed: 1 to 5");
        ck_assert_status(parts[i](f, 0, c.theta, 3, SIZE_MAX, out), LINATTN_EINVAL, "count is 18446744073709551615");
        c.theta[3] = NAN;
        ck_assert_status(parts[i](f, 0, c.theta, 0, 1, out), LINATTN_ENONFINITE, "theta[3] is nan");
        c.theta[3] = kept;
        ck_assert_double_eq(out[0], MARK);
    }
    linattn_objective_destroy(f);
    random_case_close(&c);

    c = random_case_open((reference_shape){2, 1, 2, 3, 0}, 2, 1);
    for (size_t i = 0; i < c.p; i++) c.theta[i] = 1e200; /* each finite, the Hessian is not */
    f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    for (size_t i = 0; i < 2; i++) ck_assert_status(parts[i](f, 0, c.theta, 1, 3, out), LINATTN_ENONFINITE, "out[0] is ");
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

/* A call on an objective that has computed no second derivatives yet takes what the library tells, and never again. */
static void check_memory(linattn_objective *f, const double *theta, int call) {
    const size_t p = linattn_objective_parameter_count(f), told = linattn_objective_hessian_workspace(f);
    double *out = numbers(p * p), *gradient = numbers(p);
    ck_assert_ok(linattn_objective_gradient(f, 0, theta, NULL, gradient)); /* starts the threads */
    for (int again = 0; again < 2; again++) {
        const size_t before = linattn__allocated_bytes();
        if (call == 0) ck_assert_ok(linattn_objective_hvp(f, 0, theta, theta, 1, out));
        if (call == 1) ck_assert_ok(linattn_objective_hessian(f, 0, theta, out));
        if (call == 2) ck_assert_ok(linattn_objective_hessian_block(f, 0, theta, p / 2, 1, out));
        if (call == 3) ck_assert_ok(linattn_objective_hessian_diagonal(f, 0, theta, 0, p, out));
        ck_assert_uint_eq(linattn__allocated_bytes() - before, again ? 0 : told);
    }
    ck_assert_uint_eq(linattn_objective_hessian_workspace(f), told);
    ck_assert_uint_gt(told, 0);
    free(out);
    free(gradient);
}

START_TEST(workspace_is_what_is_taken) {
    chain c = {0};
    random_case r = open_case(_i, 100, (unsigned)_i);
    for (int call = 0; call < 4; call++) {
        for (int32_t kernel = LINATTN_KERNEL_AUTO; kernel <= LINATTN_KERNEL_AVX512; kernel++) {
            if (!linattn_kernel_available(kernel)) continue;
            linattn_objective *f = random_case_objective(&r, NULL, kernel, kernel == LINATTN_KERNEL_AUTO ? 2 : 1);
            check_memory(f, r.theta, call);
            linattn_objective_destroy(f);
        }
        linattn_objective *f = chain_objective(&c, 0, 1e-5);
        ck_assert_uint_eq(linattn_objective_hessian_workspace(f), 4 * P * sizeof(double));
        check_memory(f, CHAIN_AT, call);
        linattn_objective_destroy(f);
        f = chain_objective(&c, 1, 0);
        ck_assert_uint_eq(linattn_objective_hessian_workspace(f), 2 * P * sizeof(double));
        if (call != 0) check_memory(f, CHAIN_AT, call); /* products alone are the callback's own */
        linattn_objective_destroy(f);
    }
    random_case_close(&r);
    linattn_objective *f = chain_objective(&c, 0, 0);
    ck_assert_uint_eq(linattn_objective_hessian_workspace(f), 0);
    ck_assert_uint_eq(linattn_objective_hessian_workspace(NULL), 0);
    linattn_objective_destroy(f);
}
END_TEST

static Suite *hessian_blocks_suite(void) {
    Suite *suite = suite_create("hessian_blocks");
    TCase *tc = tcase_create("hessian_blocks");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, blocks_are_parts_of_the_hessian, 0, CASES);
    tcase_add_loop_test(tc, blocks_are_products_with_unit_vectors, 0, CASES);
    tcase_add_loop_test(tc, exact_zeros_stay_exact, 0, SHAPES);
    tcase_add_test(tc, case_N1_by_hand);
    tcase_add_test(tc, blocks_follow_the_draw);
    tcase_add_test(tc, progress_of_a_block);
    tcase_add_test(tc, blocks_of_callbacks);
    tcase_add_test(tc, arguments_wrong_in_turn);
    tcase_add_loop_test(tc, workspace_is_what_is_taken, 0, CASES);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(hessian_blocks_suite)
