/* test_tasks.c: the responses of each task: their distributions against closed forms, and against the linear task of the same seed,
 * whose weights they share. */
#include "support/distribution.h"
#include "support/suite.h"
#include <math.h>

enum { SAMPLE = 100000 };

static linattn_sampler_options options_of(int32_t task, size_t dim, size_t context) {
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = dim;
    o.context = context;
    o.seed = 77;
    o.task = task;
    return o;
}

/* tokens (prompts, n+1, d+1), the query's response in its place. */
static double *draw(const linattn_sampler_options *options, size_t prompts, uint64_t number) {
    linattn_sampler *sampler;
    linattn_batch *batch;
    const size_t numbers = (options->context + 1) * (options->dim + 1);
    double *tokens = malloc(prompts * numbers * sizeof *tokens), *targets = malloc(prompts * sizeof *targets);
    ck_assert_ok(linattn_sampler_create(&sampler, options));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, prompts, number));
    ck_assert_ok(linattn_batch_get_arrays(batch, tokens, targets));
    for (size_t b = 0; b < prompts; b++) tokens[(b + 1) * numbers - 1] = targets[b];
    linattn_sampler_destroy(sampler);
    linattn_batch_destroy(batch);
    free(targets);
    return tokens;
}

static void check_mean(const char *what, double sum, double count, double mean, double variance) {
    const double error = sqrt(variance / count), got = sum / count;
    ck_assert_msg(fabs(got - mean) <= 4 * error, "%s is %.10g, not %.10g +- %.2g", what, got, mean, error);
}

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double flat_cdf(double x) { return (x + 1) / 2; }

/* Weights w (prompts, d) of a task linear in x: covariates on axis j alone have responses w_j x_j, and the weights of a seed are the
 * same whatever the covariates. */
static double *weights_of(linattn_sampler_options o, size_t prompts) {
    const size_t d = o.dim, numbers = (o.context + 1) * (d + 1);
    double *w = malloc(prompts * d * sizeof *w), *axis = calloc(d * d, sizeof *axis);
    o.covariates = LINATTN_COVARIATES_ROTATED;
    o.covariate_factor = axis;
    for (size_t j = 0; j < d; j++) {
        memset(axis, 0, d * d * sizeof *axis);
        axis[j * d + j] = 1;
        double *tokens = draw(&o, prompts, 3);
        for (size_t b = 0; b < prompts; b++) w[b * d + j] = tokens[b * numbers + d] / tokens[b * numbers + j];
        free(tokens);
    }
    free(axis);
    return w;
}

/* Every set of s = 2 of 5 entries is equally likely, a chi-square of 9 degrees of freedom (27.9 at 1e-3), and the entries kept are
 * the linear task's. */
START_TEST(sparse_weights) {
    enum { D = 5, S = 2 };
    static size_t seen[1 << D];
    linattn_sampler_options o = options_of(LINATTN_TASK_LINEAR, D, 1);
    double *dense = weights_of(o, SAMPLE), *kept = malloc(SAMPLE * sizeof *kept), chi = 0;
    o.task = LINATTN_TASK_SPARSE_LINEAR;
    o.sparsity = S;
    double *w = weights_of(o, SAMPLE);
    for (size_t b = 0; b < SAMPLE; b++) {
        size_t set = 0, count = 0;
        for (size_t j = 0; j < D; j++) {
            const double entry = w[b * D + j];
            if (entry == 0) continue;
            ck_assert(entry == dense[b * D + j]);
            set |= (size_t)1 << j;
            count++;
            kept[b] = entry;
        }
        ck_assert_uint_eq(count, S);
        seen[set]++;
    }
    for (size_t set = 0; set < 1 << D; set++)
        if (seen[set] > 0) chi += pow((double)seen[set] - SAMPLE / 10.0, 2) / (SAMPLE / 10.0);
    ck_assert_msg(chi < 27.9, "chi-square is %g", chi);
    ck_assert_double_gt(ks_one_sample(kept, SAMPLE, normal_cdf), 1e-3);
    free(dense);
    free(kept);
    free(w);
}
END_TEST

/* s = d keeps all; a task factor acts on the sparse vector. */
START_TEST(sparse_weights_at_the_ends) {
    enum { D = 4, FEW = 50 };
    static const double factor[D * D] = {2, 0, 0, 1, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 5};
    linattn_sampler_options o = options_of(LINATTN_TASK_LINEAR, D, 1);
    double *dense = weights_of(o, FEW);
    o.task = LINATTN_TASK_SPARSE_LINEAR;
    o.sparsity = D;
    double *all = weights_of(o, FEW);
    ck_assert_mem_eq(all, dense, FEW * D * sizeof *all);
    o.sparsity = 1;
    double *one = weights_of(o, FEW);
    o.task_factor = factor;
    double *mapped = weights_of(o, FEW);
    for (size_t b = 0; b < FEW; b++)
        for (size_t i = 0; i < D; i++) {
            double sum = 0;
            for (size_t j = 0; j < D; j++) sum += factor[i * D + j] * one[b * D + j];
            ck_assert(fabs(mapped[b * D + i] - sum) <= 1e-14 * fabs(sum)); /* w is a quotient of rounded numbers */
        }
    free(dense);
    free(all);
    free(one);
    free(mapped);
}
END_TEST

/* Of the same seed, sine and quadratic responses are functions of the linear ones. */
START_TEST(functions_of_the_product) {
    enum { D = 7, N = 40, PROMPTS = 500, NUMBERS = (N + 1) * (D + 1) };
    linattn_sampler_options o = options_of(LINATTN_TASK_LINEAR, D, N);
    double *linear = draw(&o, PROMPTS, 5);
    o.task = LINATTN_TASK_SINE;
    double *sine = draw(&o, PROMPTS, 5);
    o.task = LINATTN_TASK_QUADRATIC;
    double *quadratic = draw(&o, PROMPTS, 5);
    for (size_t i = 0; i < PROMPTS * NUMBERS; i++) {
        const double x = linear[i];
        if ((i + 1) % (D + 1) != 0) {
            ck_assert(sine[i] == x && quadratic[i] == x);
            continue;
        }
        ck_assert(fabs(sine[i] - sin(x)) <= 4e-16);
        ck_assert(fabs(quadratic[i] - x * x / sqrt(3.0 * (D + 2))) <= 1e-15 * quadratic[i]);
    }
    free(linear);
    free(sine);
    free(quadratic);
}
END_TEST

/* E y^2 from one token of each prompt; fourth: E y^4. */
static void check_square(linattn_sampler_options o, double square, double fourth) {
    const size_t numbers = (o.context + 1) * (o.dim + 1);
    double *tokens = draw(&o, SAMPLE, 9), context = 0, target = 0;
    for (size_t b = 0; b < SAMPLE; b++) {
        context += pow(tokens[b * numbers + o.dim], 2);
        target += pow(tokens[(b + 1) * numbers - 1], 2);
    }
    check_mean("E y^2 in the context", context, SAMPLE, square, fourth - square * square);
    check_mean("E y^2 of the target", target, SAMPLE, square, fourth - square * square);
    free(tokens);
}

/* s = <w, x> given x is N(0, |x|^2), so E s^2k = (2k - 1)!! E |x|^2k, E |x|^2k = d (d + 2) ... (d + 2k - 2). For the networks, given x
 * a_k = relu(<u_k, x>) has E a^2 = |x|^2/2 and E a^4 = 3 |x|^4/2, so E y^4 = 3 (h + 5)/h |x|^4. For d = 1 and x = +-1 the sine's y is
 * sin z, z normal: E sin^2 z = (1 - e^-2)/2, E sin^4 z = 3/8 - e^-2/2 + e^-8/8. */
START_TEST(responses_have_the_scale_promised) {
    for (size_t d = 1; d <= 6; d += 5) {
        const double x4 = (double)d * ((double)d + 2), x8 = x4 * ((double)d + 4) * ((double)d + 6);
        const double square = 3 * ((double)d + 2);
        linattn_sampler_options o = options_of(LINATTN_TASK_LINEAR, d, 1);
        check_square(o, (double)d, 3 * x4);
        o.task = LINATTN_TASK_QUADRATIC;
        check_square(o, (double)d, 105 * x8 / (square * square));
        o.task = LINATTN_TASK_RELU_NETWORK;
        for (o.hidden = 1; o.hidden <= 100; o.hidden *= 10)
            check_square(o, (double)d, 3 * ((double)o.hidden + 5) / (double)o.hidden * x4);
        o.task = LINATTN_TASK_SPARSE_LINEAR;
        o.sparsity = (d + 1) / 2; /* w is N(0, 1) in s entries: E y^4 = 3 s (s + 2) */
        check_square(o, (double)o.sparsity, 3 * (double)o.sparsity * ((double)o.sparsity + 2));
    }
    linattn_sampler_options o = options_of(LINATTN_TASK_SINE, 1, 1);
    o.covariates = LINATTN_COVARIATES_SPHERE;
    check_square(o, (1 - exp(-2)) / 2, 3 / 8.0 - exp(-2) / 2 + exp(-8) / 8);
}
END_TEST

/* With d = 1 and x = +-1, a network of one unit answers 0 on one side: exactly one of y(1), y(-1) is 0. The other, over sqrt 2, is
 * v |u|, whose logarithm has mean 2 E log|z| and E log|z| = -(Euler's gamma + log 2)/2, Var log|z| = pi^2/8. */
START_TEST(a_network_of_one_unit) {
    linattn_sampler_options o = options_of(LINATTN_TASK_RELU_NETWORK, 1, 8);
    o.covariates = LINATTN_COVARIATES_SPHERE;
    o.hidden = 1;
    double *tokens = draw(&o, SAMPLE, 2), sum = 0, positive = 0, count = 0;
    for (size_t b = 0; b < SAMPLE; b++) {
        double side[2] = {NAN, NAN};
        for (size_t t = 0; t < 9; t++) {
            const double *row = tokens + (b * 9 + t) * 2;
            double *at = &side[row[0] > 0];
            ck_assert(isnan(*at) || *at == row[1]); /* one network for the whole prompt */
            *at = row[1];
        }
        if (isnan(side[0]) || isnan(side[1])) continue;
        ck_assert((side[0] == 0) != (side[1] == 0));
        const double y = side[0] + side[1];
        sum += log(fabs(y) / sqrt(2));
        positive += y > 0;
        count++;
    }
    check_mean("E log", sum, count, -(0.57721566490153286 + log(2)), 2 * acos(-1) * acos(-1) / 8);
    check_mean("P(y > 0)", positive, count, 0.5, 0.25);
    ck_assert_double_gt(count, SAMPLE * 0.98);
    free(tokens);
}
END_TEST

/* g(1) and g(-1) of the network, d = 1: with x = +-1 responses are w g(x), w being the linear task's. */
static void network_values(linattn_sampler_options o, uint64_t number, size_t prompts, double value[2]) {
    o.covariates = LINATTN_COVARIATES_SPHERE;
    double *mlp = draw(&o, prompts, number);
    o.task = LINATTN_TASK_LINEAR;
    double *linear = draw(&o, prompts, number);
    value[0] = value[1] = NAN;
    for (size_t i = 0; i < prompts * (o.context + 1); i++) {
        const double x = linear[2 * i], w = linear[2 * i + 1] / x, g = mlp[2 * i + 1] / w;
        double *at = &value[x > 0];
        ck_assert(mlp[2 * i] == x);
        ck_assert_msg(isnan(*at) || fabs(g - *at) <= 1e-13, "g is %.17g and %.17g", *at, g);
        *at = g;
    }
    free(mlp);
    free(linear);
}

START_TEST(fixed_network_is_one_for_all) {
    linattn_sampler_options o = options_of(LINATTN_TASK_FIXED_MLP, 1, 10);
    double first[2], other[2];
    network_values(o, 1, 100, first);
    for (int i = 0; i < 4; i++) {
        linattn_sampler_options p = o;
        p.seed = i == 1 ? 1234 : o.seed;
        p.stream = i == 2 ? LINATTN_STREAM_EVALUATION : LINATTN_STREAM_TRAINING;
        p.network_seed = i == 3 ? 1 : 0;
        network_values(p, i == 0 ? UINT64_MAX : 1, 100, other);
        for (int side = 0; side < 2; side++) ck_assert_int_eq(fabs(first[side] - other[side]) <= 1e-13, i != 3);
    }
}
END_TEST

/* d = h = 1: g(x) = a relu(b x + c) + e, all uniform on (-1, 1). c < -|b| in a quarter of the networks, and then g = e on both sides. */
START_TEST(fixed_network_is_uniform) {
    enum { NETWORKS = 8000 };
    double *flat = malloc(NETWORKS * sizeof *flat);
    size_t count = 0;
    linattn_sampler_options o = options_of(LINATTN_TASK_FIXED_MLP, 1, 12);
    o.hidden = 1;
    for (o.network_seed = 0; o.network_seed < NETWORKS; o.network_seed++) {
        double g[2];
        network_values(o, 0, 1, g);
        ck_assert(!(fabs(g[0]) > 3) && !(fabs(g[1]) > 3));
        if (fabs(g[0] - g[1]) <= 1e-13) flat[count++] = g[0];
    }
    check_mean("the share of flat networks", (double)count, NETWORKS, 0.25, 0.1875);
    ck_assert_double_gt(ks_one_sample(flat, count, flat_cdf), 1e-3);
    free(flat);
}
END_TEST

static Suite *tasks_suite(void) {
    Suite *suite = suite_create("tasks");
    TCase *tc = tcase_create("tasks");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, sparse_weights);
    tcase_add_test(tc, sparse_weights_at_the_ends);
    tcase_add_test(tc, functions_of_the_product);
    tcase_add_test(tc, responses_have_the_scale_promised);
    tcase_add_test(tc, a_network_of_one_unit);
    tcase_add_test(tc, fixed_network_is_one_for_all);
    tcase_add_test(tc, fixed_network_is_uniform);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(tasks_suite)
