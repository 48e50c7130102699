/* test_optimizer_step.c: clipping, gradients that are not finite, schedules, and each option set wrong in turn. */
#include "common/norm.h"
#include "support/suite.h"
#include <float.h>
#include <math.h>

enum { MOST = 8 }; /* parameters */

static linattn_optimizer_options options_of(int32_t rule, int32_t clip, double threshold) {
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = rule;
    options.learning_rate = 1;
    options.clip = clip;
    options.clip_threshold = threshold;
    return options;
}

/* The clipped gradient, which is minus the first step of SGD from 0 with learning rate 1; and the step's record. */
static linattn_step_record clip(const linattn_optimizer_options *options, const linattn_tensor *tensors, size_t tensor_count,
                                const double *g, size_t p, double *clipped) {
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, options, tensors, tensor_count, p));
    linattn_step_record record = {.struct_size = sizeof record};
    double theta[MOST] = {0};
    ck_assert_ok(linattn_optimizer_step(optimizer, 1.5, g, theta, &record));
    for (size_t i = 0; i < p; i++) clipped[i] = -theta[i];
    linattn_optimizer_destroy(optimizer);
    return record;
}

static void assert_ulp(double x, double wanted) {
    ck_assert_msg(x >= nextafter(wanted, -INFINITY) && x <= nextafter(wanted, INFINITY), "%.17g is not %.17g to 1 ulp", x, wanted);
}

static void check_untouched(double bad, double norm, const char *message) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, LINATTN_CLIP_GLOBAL_NORM, 1);
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 2));
    const double memory[4] = {0.1, -0.2, 0.3, 0.4}, start[2] = {0.5, -0.5}, g[2] = {bad, 1};
    double state[4], theta[2] = {0.5, -0.5};
    uint64_t steps, skips;
    ck_assert_ok(linattn_optimizer_set_state(optimizer, memory, 7, 0));
    linattn_step_record record = {.struct_size = sizeof record};
    ck_assert_status(linattn_optimizer_step(optimizer, 1, g, theta, &record), LINATTN_ENONFINITE, message);
    ck_assert_mem_eq(theta, start, sizeof theta);
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, &steps, &skips));
    ck_assert_mem_eq(state, memory, sizeof state);
    ck_assert(steps == 7 && skips == 0 && record.step == 7 && record.skipped == 0);
    ck_assert(isnan(norm) ? isnan(record.gradient_norm) : record.gradient_norm == norm);
    linattn_optimizer_destroy(optimizer);

    options.nonfinite = LINATTN_NONFINITE_SKIP;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 2));
    ck_assert_ok(linattn_optimizer_set_state(optimizer, memory, 7, 0));
    ck_assert_ok(linattn_optimizer_step(optimizer, 1, g, theta, &record));
    ck_assert_mem_eq(theta, start, sizeof theta);
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, &steps, &skips));
    ck_assert_mem_eq(state, memory, sizeof state);
    ck_assert(steps == 8 && skips == 1 && record.skipped == 1);
    ck_assert(linattn_optimizer_step_count(optimizer) == 8 && linattn_optimizer_skip_count(optimizer) == 1);
    linattn_optimizer_destroy(optimizer);
}

START_TEST(case_O1_nonfinite_gradient) {
    check_untouched(INFINITY, INFINITY, "gradient[0] is inf at step 7");
    check_untouched(-INFINITY, INFINITY, "gradient[0] is -inf at step 7");
    check_untouched(NAN, NAN, "gradient[0] is nan at step 7");
}
END_TEST

/* A skipped first step does not use up the first update: Adam's correction and the undampened velocity are those of t = 1, while
 * the schedule has gone on. */
START_TEST(skipped_steps_are_not_updates) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, LINATTN_CLIP_NONE, 1);
    options.nonfinite = LINATTN_NONFINITE_SKIP;
    options.epsilon = 0;
    options.schedule = LINATTN_SCHEDULE_STEP;
    options.decay_factor = 0.5;
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_ADAM; rule++) {
        options.rule = rule;
        options.momentum = 0.9;
        options.dampening = 0.5;
        linattn_optimizer *optimizer;
        ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 1));
        double theta = 0;
        const double bad = NAN, good = 1;
        ck_assert_ok(linattn_optimizer_step(optimizer, NAN, &bad, &theta, NULL));
        ck_assert_ok(linattn_optimizer_step(optimizer, 1, &good, &theta, NULL));
        ck_assert_double_eq(theta, -0.5);
        linattn_optimizer_destroy(optimizer);
    }
}
END_TEST

START_TEST(value_that_is_nan) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_NONE, 1);
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 1));
    double theta = 1;
    const double g = 2;
    linattn_step_record record = {.struct_size = sizeof record};
    ck_assert_status(linattn_optimizer_step(optimizer, NAN, &g, &theta, &record), LINATTN_ENONFINITE, "value is nan at step 0");
    ck_assert(theta == 1 && record.gradient_norm == 2 && linattn_optimizer_step_count(optimizer) == 0);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

START_TEST(case_O2_record_of_a_clipped_step) {
    const linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_GLOBAL_NORM, 1);
    const double g[2] = {3, 4};
    double clipped[2];
    const linattn_step_record record = clip(&options, NULL, 0, g, 2, clipped);
    ck_assert(record.gradient_norm == 5 && record.clipped_norm == 1 && record.clipped == 1 && record.skipped == 0);
    ck_assert(record.step == 0 && record.value == 1.5 && record.learning_rate == 1 && record.struct_size == sizeof record);
}
END_TEST

START_TEST(case_O3_exact_ratio) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_GLOBAL_NORM, 1);
    const double g[2] = {3, 4};
    double clipped[2];
    clip(&options, NULL, 0, g, 2, clipped);
    assert_ulp(clipped[0], 0.6);
    assert_ulp(clipped[1], 0.8);

    /* norm exactly the threshold: 0.01, and 5 */
    const double edge[2] = {0, 0.01};
    options.clip_threshold = 0.01;
    linattn_step_record record = clip(&options, NULL, 0, edge, 2, clipped);
    ck_assert(clipped[0] == 0 && clipped[1] == 0.01 && !record.clipped && record.gradient_norm == 0.01);
    options.clip_threshold = 5;
    record = clip(&options, NULL, 0, g, 2, clipped);
    ck_assert(clipped[0] == 3 && clipped[1] == 4 && !record.clipped && record.clipped_norm == 5);
    options.clip_threshold = nextafter(5, 0);
    ck_assert(clip(&options, NULL, 0, g, 2, clipped).clipped);
}
END_TEST

START_TEST(case_O8_global_not_per_tensor) {
    const linattn_tensor layers[2] = {{.struct_size = sizeof(linattn_tensor), .rows = 1, .columns = 2},
                                      {.struct_size = sizeof(linattn_tensor), .rows = 2, .columns = 1, .offset = 2}};
    const double g[4] = {3, 0, 0, 4};
    double clipped[4];
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_GLOBAL_NORM, 1);
    clip(&options, layers, 2, g, 4, clipped);
    assert_ulp(clipped[0], 0.6);
    assert_ulp(clipped[3], 0.8);

    options.clip = LINATTN_CLIP_TENSOR_NORM;
    linattn_step_record record = clip(&options, layers, 2, g, 4, clipped);
    ck_assert(clipped[0] == 1 && clipped[3] == 1 && clipped[1] == 0 && record.clipped);
    ck_assert_double_eq_tol(record.clipped_norm, sqrt(2), 1e-15);
    ck_assert_double_eq(record.gradient_norm, 5);
    options.clip_threshold = 3;
    record = clip(&options, layers, 2, g, 4, clipped);
    ck_assert(clipped[0] == 3 && clipped[3] == 3 && record.clipped);

    /* without a table there is one tensor; entries of no tensor are left alone */
    options.clip_threshold = 1;
    clip(&options, NULL, 0, g, 4, clipped);
    assert_ulp(clipped[0], 0.6);
    clip(&options, layers, 1, g, 4, clipped);
    ck_assert(clipped[0] == 1 && clipped[3] == 4);
}
END_TEST

START_TEST(coordinate_clipping) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_COORDINATE, 2);
    const double g[4] = {3, -4, 1, -2};
    double clipped[4];
    const linattn_step_record record = clip(&options, NULL, 0, g, 4, clipped);
    ck_assert(clipped[0] == 2 && clipped[1] == -2 && clipped[2] == 1 && clipped[3] == -2 && record.clipped);
    ck_assert_double_eq_tol(record.gradient_norm, sqrt(30), 1e-14);
    ck_assert_double_eq_tol(record.clipped_norm, sqrt(13), 1e-14);
    options.clip_threshold = 4;
    ck_assert(!clip(&options, NULL, 0, g, 4, clipped).clipped);
}
END_TEST

/* Norms whose squares, or which themselves, are no doubles. */
START_TEST(norms_at_the_ends_of_the_range) {
    static const double SCALES[] = {0x1p+1020, 0x1p+600, 0x1p+500, 1, 0x1p-500, 0x1p-600, 0x1p-1040};
    for (size_t s = 0; s < sizeof SCALES / sizeof SCALES[0]; s++) {
        const double g[2] = {3 * SCALES[s], -4 * SCALES[s]};
        double out[2];
        const linattn__norm norm = linattn__norm_of(g, 2);
        ck_assert_double_eq(linattn__norm_value(norm), 5 * SCALES[s]);
        ck_assert(!linattn__norm_exceeds(norm, 5 * SCALES[s]));
        ck_assert(linattn__norm_exceeds(norm, nextafter(5 * SCALES[s], 0)));
        linattn__norm_rescale(out, g, 2, norm, 1);
        assert_ulp(out[0], 0.6);
        assert_ulp(out[1], -0.8);
    }
    double many[MOST], out[MOST];
    for (int i = 0; i < MOST; i++) many[i] = DBL_MAX;
    const linattn__norm norm = linattn__norm_of(many, 4); /* 2 DBL_MAX */
    ck_assert_double_eq(linattn__norm_value(norm), INFINITY);
    ck_assert(linattn__norm_exceeds(norm, DBL_MAX));
    linattn__norm_rescale(out, many, 4, norm, 1);
    assert_ulp(out[3], 0.5);
    const double nan_behind_inf[3] = {INFINITY, 1, NAN};
    ck_assert(isnan(linattn__norm_value(linattn__norm_of(nan_behind_inf, 3))));
    ck_assert_double_eq(linattn__norm_value(linattn__norm_of(nan_behind_inf, 2)), INFINITY);
    ck_assert_double_eq(linattn__norm_value(linattn__norm_of(many, 0)), 0);

    const linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_GLOBAL_NORM, 1);
    const linattn_step_record record = clip(&options, NULL, 0, many, 4, out);
    ck_assert(record.gradient_norm == INFINITY && record.clipped && record.clipped_norm == 1);
    assert_ulp(out[0], 0.5);
}
END_TEST

static double rate(const linattn_optimizer_options *options, uint64_t t) {
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, options, NULL, 0, 1));
    const double learning_rate = linattn_optimizer_learning_rate(optimizer, t);
    linattn_optimizer_destroy(optimizer);
    return learning_rate;
}

START_TEST(schedules) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_NONE, 1);
    options.learning_rate = 0.3;
    ck_assert(rate(&options, 0) == 0.3 && rate(&options, UINT64_MAX) == 0.3);

    options.schedule = LINATTN_SCHEDULE_STEP;
    options.decay_steps = 50;
    options.decay_factor = 0.5;
    ck_assert(rate(&options, 0) == 0.3 && rate(&options, 49) == 0.3 && rate(&options, 50) == 0.15 && rate(&options, 99) == 0.15);
    ck_assert(rate(&options, 100) == 0.075 && rate(&options, UINT64_MAX) == 0);
    options.warmup_steps = 4;
    ck_assert_double_eq(rate(&options, 0), 0.3 / 4);
    ck_assert_double_eq_tol(rate(&options, 2), 0.9 / 4, 1e-16);
    ck_assert(rate(&options, 3) == 0.3 && rate(&options, 4) == 0.3 && rate(&options, 50) == 0.15);

    options.schedule = LINATTN_SCHEDULE_COSINE;
    options.decay_steps = 104; /* 100 steps of cosine after 4 of warm-up */
    options.min_learning_rate = 0.1;
    ck_assert(rate(&options, 3) == 0.3 && rate(&options, 4) == 0.3);
    ck_assert_double_eq_tol(rate(&options, 54), 0.2, 1e-15);
    ck_assert_double_eq_tol(rate(&options, 29), 0.1 + 0.2 * (1 + sqrt(0.5)) / 2, 1e-15);
    ck_assert(rate(&options, 103) > 0.1 && rate(&options, 104) == 0.1 && rate(&options, UINT64_MAX) == 0.1);
    ck_assert(isnan(linattn_optimizer_learning_rate(NULL, 0)));
}
END_TEST

/* The options of each row are right but for one, which its message names. */
START_TEST(wrong_options) {
    linattn_optimizer_options good = options_of(LINATTN_RULE_SGD, LINATTN_CLIP_GLOBAL_NORM, 1), options;
    linattn_optimizer *optimizer;
#define WRONG(field, wrong, message)                                                                                               \
    do {                                                                                                                           \
        options = good;                                                                                                            \
        options.field = wrong;                                                                                                     \
        optimizer = (linattn_optimizer *)&options;                                                                                 \
        ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, 2), LINATTN_EINVAL, message);                     \
        ck_assert_ptr_null(optimizer);                                                                                             \
    } while (0)
#define RIGHT(field, right)                                                                                                        \
    do {                                                                                                                           \
        options = good;                                                                                                            \
        options.field = right;                                                                                                     \
        ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 2));                                                  \
        linattn_optimizer_destroy(optimizer);                                                                                      \
    } while (0)
    WRONG(struct_size, 8, "struct_size");
    WRONG(rule, -1, "rule is -1");
    WRONG(rule, 5, "rule is 5");
    WRONG(rule, INT32_MAX, "rule is 2147483647");
    WRONG(clip, 4, "clip is 4");
    WRONG(clip, -1, "clip is -1");
    WRONG(schedule, 3, "schedule is 3");
    WRONG(nonfinite, 2, "nonfinite is 2");
    WRONG(nesterov, 2, "nesterov is 2");
    WRONG(nesterov, 1, "momentum is 0; allowed: above 0 with nesterov");
    WRONG(reserved, 1, "reserved is 1");
    WRONG(learning_rate, NAN, "learning_rate is nan; allowed: finite and at least 0");
    WRONG(learning_rate, -0.1, "learning_rate is -0.1");
    WRONG(learning_rate, INFINITY, "learning_rate is inf");
    RIGHT(learning_rate, 0);
    WRONG(momentum, 1, "momentum is 1");
    WRONG(momentum, -0.5, "momentum is -0.5");
    WRONG(momentum, NAN, "momentum is nan");
    RIGHT(momentum, 0.999);
    WRONG(dampening, 1.5, "dampening is 1.5");
    WRONG(dampening, NAN, "dampening is nan");
    RIGHT(dampening, 1);
    WRONG(weight_decay, -1, "weight_decay is -1");
    WRONG(weight_decay, INFINITY, "weight_decay is inf");
    WRONG(clip_threshold, 0, "clip_threshold is 0");
    WRONG(clip_threshold, -1, "clip_threshold is -1");
    WRONG(clip_threshold, NAN, "clip_threshold is nan");
    WRONG(clip_threshold, INFINITY, "clip_threshold is inf");
    RIGHT(beta1, 7); /* not read by SGD */
    good.momentum = 0.9, good.dampening = 0.1;
    WRONG(nesterov, 1, "dampening is 0.1; allowed: 0 with nesterov");
    good.dampening = 0;
    RIGHT(nesterov, 1);

    good.rule = LINATTN_RULE_ADAM;
    WRONG(beta1, 1, "beta1 is 1");
    WRONG(beta1, -0.1, "beta1 is -0.1");
    WRONG(beta2, NAN, "beta2 is nan");
    WRONG(beta2, 1, "beta2 is 1");
    WRONG(epsilon, -1e-8, "epsilon is -1e-8");
    WRONG(epsilon, INFINITY, "epsilon is inf");
    WRONG(weight_decay, NAN, "weight_decay is nan");
    RIGHT(momentum, 2);

    good.schedule = LINATTN_SCHEDULE_STEP;
    WRONG(decay_steps, 0, "decay_steps is 0");
    WRONG(decay_factor, 0, "decay_factor is 0");
    WRONG(decay_factor, 1.1, "decay_factor is 1.1");
    WRONG(decay_factor, NAN, "decay_factor is nan");
    RIGHT(decay_factor, 1);
    good.schedule = LINATTN_SCHEDULE_COSINE;
    WRONG(warmup_steps, 1, "decay_steps is 1; allowed: more than warmup_steps");
    WRONG(decay_steps, 0, "decay_steps is 0");
    WRONG(min_learning_rate, -1, "min_learning_rate is -1");
    WRONG(min_learning_rate, 1.5, "min_learning_rate is 1.5");
    WRONG(min_learning_rate, NAN, "min_learning_rate is nan");
    RIGHT(min_learning_rate, 1);
}
END_TEST

START_TEST(wrong_arguments) {
    const linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, LINATTN_CLIP_NONE, 1);
    linattn_optimizer *optimizer;
    linattn_tensor tensors[3] = {{.struct_size = sizeof(linattn_tensor), .rows = 2, .columns = 2},
                                 {.struct_size = sizeof(linattn_tensor), .rows = 2, .columns = 1, .offset = 4}};
    ck_assert_status(linattn_optimizer_options_init(NULL, sizeof options), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_optimizer_create(NULL, &options, NULL, 0, 2), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_optimizer_create(&optimizer, NULL, NULL, 0, 2), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, 0), LINATTN_EINVAL, "p is 0");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 2, 6), LINATTN_EINVAL, "tensors is NULL");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 0, 6), LINATTN_EINVAL, "tensor_count is 0");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 5), LINATTN_EINVAL, "tensors[1] has 2 rows");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, SIZE_MAX / 2 + 1), LINATTN_EOVERFLOW, "do not fit");
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, SIZE_MAX / 8), LINATTN_EOVERFLOW, "do not fit");
    tensors[1].offset = 2;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL,
                     "tensors[1] begins at offset 2");
    tensors[1].offset = 4, tensors[1].struct_size += 8;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL, "struct_size of tensors[1]");
    tensors[1].struct_size -= 8;
    tensors[1].columns = SIZE_MAX;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL, "tensors[1]");
    tensors[1].columns = 0;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL, "tensors[1]");
    tensors[1].columns = 1, tensors[1].offset = SIZE_MAX;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL, "tensors[1]");
    tensors[1].offset = 4, tensors[0].struct_size = 0;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, tensors, 2, 6), LINATTN_EINVAL, "struct_size");
    ck_assert_ptr_null(optimizer);

    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, 2));
    double g[2] = {1, 1}, theta[2] = {0, 0};
    linattn_step_record record = {.struct_size = 3};
    ck_assert_status(linattn_optimizer_step(NULL, 0, g, theta, NULL), LINATTN_EINVAL, "optimizer is NULL");
    ck_assert_status(linattn_optimizer_step(optimizer, 0, NULL, theta, NULL), LINATTN_EINVAL, "gradient is NULL");
    ck_assert_status(linattn_optimizer_step(optimizer, 0, g, NULL, NULL), LINATTN_EINVAL, "theta is NULL");
    ck_assert_status(linattn_optimizer_step(optimizer, 0, g, theta, &record), LINATTN_EINVAL, "struct_size");
    ck_assert(theta[0] == 0 && linattn_optimizer_step_count(optimizer) == 0);
    linattn_optimizer_destroy(optimizer);
    linattn_optimizer_destroy(NULL);
    ck_assert(linattn_optimizer_step_count(NULL) == 0 && linattn_optimizer_skip_count(NULL) == 0 &&
              linattn_optimizer_state_count(NULL) == 0);
}
END_TEST

/* A caller built against a newer header has longer structs. */
START_TEST(newer_structs) {
    struct {
        linattn_optimizer_options options;
        double later;
    } newer = {options_of(LINATTN_RULE_SGD, LINATTN_CLIP_NONE, 1), 0};
    struct {
        linattn_tensor tensor;
        uint64_t later;
    } tensors[2] = {{{.rows = 1, .columns = 1}, 0}, {{.rows = 1, .columns = 1, .offset = 1}, 0}};
    for (int i = 0; i < 2; i++) tensors[i].tensor.struct_size = sizeof tensors[i];
    newer.options.struct_size = sizeof newer;
    newer.options.clip = LINATTN_CLIP_TENSOR_NORM;
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &newer.options, &tensors[0].tensor, 2, 2));
    const double g[2] = {3, 4};
    double theta[2] = {0, 0};
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert(theta[0] == -1 && theta[1] == -1);
    linattn_optimizer_destroy(optimizer);
    newer.later = 1;
    ck_assert_status(linattn_optimizer_create(&optimizer, &newer.options, NULL, 0, 2), LINATTN_EVERSION,
                     "linattn_optimizer_options");
}
END_TEST

static Suite *optimizer_step_suite(void) {
    Suite *suite = suite_create("optimizer_step");
    TCase *tc = tcase_create("step");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_O1_nonfinite_gradient);
    tcase_add_test(tc, skipped_steps_are_not_updates);
    tcase_add_test(tc, value_that_is_nan);
    tcase_add_test(tc, case_O2_record_of_a_clipped_step);
    tcase_add_test(tc, case_O3_exact_ratio);
    tcase_add_test(tc, case_O8_global_not_per_tensor);
    tcase_add_test(tc, coordinate_clipping);
    tcase_add_test(tc, norms_at_the_ends_of_the_range);
    tcase_add_test(tc, schedules);
    tcase_add_test(tc, wrong_options);
    tcase_add_test(tc, wrong_arguments);
    tcase_add_test(tc, newer_structs);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(optimizer_step_suite)
