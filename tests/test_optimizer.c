/* test_optimizer.c: update rules against closed forms, the caller's own rule, memory in and out. */
#include "optimizer/rules.h"
#include "support/suite.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

static linattn_optimizer_options options_of(int32_t rule, double learning_rate) {
    linattn_optimizer_options options;
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = rule;
    options.learning_rate = learning_rate;
    return options;
}

static linattn_optimizer *optimizer_of(const linattn_optimizer_options *options, size_t p) {
    linattn_optimizer *optimizer;
    ck_assert_ok(linattn_optimizer_create(&optimizer, options, NULL, 0, p));
    return optimizer;
}

/* theta after one step from 0 with gradient g of an optimizer with one parameter. */
static double step_from_zero(const linattn_optimizer_options *options, double g) {
    linattn_optimizer *optimizer = optimizer_of(options, 1);
    double theta = 0;
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, &g, &theta, NULL));
    linattn_optimizer_destroy(optimizer);
    return theta;
}

/* epsilon after the bias correction: |g| / (|g| + epsilon) = 1/2. */
START_TEST(case_O4_epsilon_after_bias_correction) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, 1);
    ck_assert_double_eq_tol(step_from_zero(&options, 1e-8), -0.5, 1e-14);
    options.rule = LINATTN_RULE_ADAMW;
    ck_assert_double_eq_tol(step_from_zero(&options, 1e-8), -0.5, 1e-14);
}
END_TEST

START_TEST(case_O5_first_step_has_t_1) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, 1);
    options.epsilon = 0;
    ck_assert_double_eq(step_from_zero(&options, 1), -1);
    options.beta1 = 0.9, options.beta2 = 0.9;
    ck_assert_double_eq(step_from_zero(&options, -1), 1);
    options.beta1 = options.beta2 = 1 - 1e-12;
    ck_assert_double_eq(step_from_zero(&options, 1), -1);
    options.beta1 = options.beta2 = 0;
    ck_assert_double_eq(step_from_zero(&options, 1), -1);
}
END_TEST

START_TEST(case_O6_learning_rate_outside_the_velocity) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, 1);
    options.momentum = 0.9;
    options.schedule = LINATTN_SCHEDULE_STEP; /* 1, then 0.1 */
    linattn_optimizer *optimizer = optimizer_of(&options, 1);
    double x = 0;
    const double g = 1;
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, &g, &x, NULL));
    ck_assert_double_eq(x, -1);
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, &g, &x, NULL));
    ck_assert_double_eq_tol(x, -1.19, DBL_EPSILON);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* An entry whose gradient is 0 stays where it is, beside one that moves; also when both are 0. */
START_TEST(case_O7_zero_gradient) {
    static const double EPSILONS[] = {1e-8, 0};
    for (size_t e = 0; e < 2; e++) {
        for (int32_t rule = LINATTN_RULE_ADAM; rule <= LINATTN_RULE_ADAMW; rule++) {
            linattn_optimizer_options options = options_of(rule, 0.1);
            options.epsilon = EPSILONS[e];
            linattn_optimizer *optimizer = optimizer_of(&options, 2);
            double theta[2] = {0.3, -7};
            for (int t = 0; t < 10; t++) {
                const double g[2] = {0, t < 5 ? 0 : 1};
                ck_assert_ok(linattn_optimizer_step(optimizer, 1, g, theta, NULL));
                ck_assert_double_eq(theta[0], 0.3);
                ck_assert(t < 5 ? theta[1] == -7 : theta[1] < -7);
            }
            linattn_optimizer_destroy(optimizer);
        }
    }
}
END_TEST

/* At epsilon = 0 a gradient too small to be squared divides by nothing. */
START_TEST(adam_denominator_that_underflows) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, 0.1);
    options.epsilon = 0;
    ck_assert_double_eq(step_from_zero(&options, 1e-200), 0);
}
END_TEST

/* 1 - beta^t against expm1(t log beta) in long double. */
START_TEST(bias_correction_is_accurate) {
    static const double BETAS[] = {0, 1e-3, 0.5, 0.9, 0.999, 1 - 1e-9, 1 - DBL_EPSILON / 2};
    static const uint64_t STEPS[] = {1, 2, 3, 7, 10, 100, 12345, 1000000007, UINT64_MAX};
    for (size_t b = 0; b < sizeof BETAS / sizeof BETAS[0]; b++)
        for (size_t t = 0; t < sizeof STEPS / sizeof STEPS[0]; t++) {
            const long double exact = BETAS[b] == 0 ? 1 : -expm1l((long double)STEPS[t] * log1pl((long double)BETAS[b] - 1));
            const double computed = linattn__bias_correction(BETAS[b], STEPS[t]);
            ck_assert_msg(fabsl((computed - exact) / exact) < 2e-14L, "beta %g, t %llu: %.17g, not %.17Lg", BETAS[b],
                          (unsigned long long)STEPS[t], computed, exact);
        }
}
END_TEST

enum { P = 4, STEPS = 40 };

/* A gradient that is nothing in particular, of one sign in no entry. */
static void gradient_at(int t, const double *theta, double *g) {
    for (int i = 0; i < P; i++) g[i] = 2 * sin(1.3 * t + i) + 0.3 * i * theta[i] + (t % 3 == 0 ? 0.7 : -0.2);
}

/* The rules again, in long double and as sums over the whole past rather than recurrences:
 * m_t / (1 - beta^t) = sum beta^(t-k) g_k / sum beta^(t-k), and v_t = sum momentum^(t-k) weight_k g_k. */
static void reference_step(const linattn_optimizer_options *o, int t, long double past[STEPS + 1][P], const double *g,
                           long double *theta) {
    long double norm = 0;
    for (int i = 0; i < P; i++) norm += (long double)g[i] * g[i];
    norm = sqrtl(norm);
    const int decoupled = o->rule == LINATTN_RULE_ADAMW;
    const int no_decay = decoupled || o->rule == LINATTN_RULE_SIGN || o->rule >= LINATTN_RULE_NORMALIZED_GD;
    const long double left = o->clip && norm > o->clip_threshold ? o->clip_threshold : norm; /* of the norm */
    for (int i = 0; i < P; i++) {
        past[t][i] = (no_decay ? 0 : o->weight_decay * theta[i]) +
                     (o->clip && norm > o->clip_threshold ? g[i] * o->clip_threshold / norm : g[i]);
        if (decoupled) theta[i] -= o->learning_rate * o->weight_decay * theta[i];
        long double m = 0, m_weight = 0, v = 0, v_weight = 0, velocity = 0;
        for (int k = 1; k <= t; k++) {
            m += powl(o->beta1, t - k) * past[k][i];
            m_weight += powl(o->beta1, t - k);
            v += powl(o->beta2, t - k) * past[k][i] * past[k][i];
            v_weight += powl(o->beta2, t - k);
            velocity += powl(o->momentum, t - k) * (k == 1 || o->momentum == 0 ? 1 : 1 - o->dampening) * past[k][i];
        }
        switch (o->rule) {
        case LINATTN_RULE_SGD:
            theta[i] -= o->learning_rate * (o->nesterov ? past[t][i] + o->momentum * velocity : velocity);
            break;
        case LINATTN_RULE_SIGN:
            theta[i] -= o->learning_rate * (velocity > 0 ? 1 : velocity < 0 ? -1 : 0);
            break;
        case LINATTN_RULE_NORMALIZED_GD:
            theta[i] -= o->learning_rate * g[i] / norm;
            break;
        case LINATTN_RULE_POLYAK: /* the value is 1 */
            theta[i] -= o->learning_rate * (1 - o->minimum_value) / (left * left) * past[t][i];
            break;
        default:
            theta[i] -= o->learning_rate * (m / m_weight) / (sqrtl(v / v_weight) + o->epsilon);
        }
    }
}

static void compare_with_reference(const linattn_optimizer_options *options) {
    linattn_optimizer *optimizer = optimizer_of(options, P);
    double theta[P] = {0.5, -1, 2, 0};
    long double exact[P] = {0.5L, -1, 2, 0}, past[STEPS + 1][P];
    for (int t = 1; t <= STEPS; t++) {
        double g[P];
        gradient_at(t, theta, g);
        reference_step(options, t, past, g, exact);
        ck_assert_ok(linattn_optimizer_step(optimizer, 1, g, theta, NULL));
        for (int i = 0; i < P; i++)
            ck_assert_msg(fabsl(theta[i] - exact[i]) < 1e-12L * (1 + fabsl(exact[i])),
                          "rule %d, step %d, entry %d: %.17g, not %.17Lg", options->rule, t, i, theta[i], exact[i]);
    }
    linattn_optimizer_destroy(optimizer);
}

START_TEST(rules_against_sums_over_the_past) {
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_POLYAK; rule += rule == LINATTN_RULE_NORMALIZED_GD ? 2 : 1) {
        linattn_optimizer_options options = options_of(rule, 0.05);
        compare_with_reference(&options);
        options.dampening = 0.5; /* no effect without momentum */
        compare_with_reference(&options);
        options.dampening = 0;
        options.momentum = 0.9, options.beta1 = 0.9, options.beta2 = 0.9;
        compare_with_reference(&options);
        options.weight_decay = 0.1;
        compare_with_reference(&options);
        options.clip = LINATTN_CLIP_GLOBAL_NORM;
        compare_with_reference(&options);
        options.dampening = 0.25;
        compare_with_reference(&options);
        options.dampening = 0, options.nesterov = 1;
        compare_with_reference(&options);
        options.minimum_value = -2;
        compare_with_reference(&options);
    }
}
END_TEST

START_TEST(sign_and_normalized_gd_by_hand) {
    double theta[3] = {0, 0, 0};
    const double g[3] = {-3, 0, 4};
    linattn_optimizer_options options = options_of(LINATTN_RULE_SIGN, 0.5);
    linattn_optimizer *optimizer = optimizer_of(&options, 3);
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert(theta[0] == 0.5 && theta[1] == 0 && theta[2] == -0.5);
    linattn_optimizer_destroy(optimizer);

    memset(theta, 0, sizeof theta);
    options.rule = LINATTN_RULE_NORMALIZED_GD;
    optimizer = optimizer_of(&options, 3);
    ck_assert_uint_eq(linattn_optimizer_state_count(optimizer), 0);
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert_double_eq_tol(theta[0], 0.3, 1e-16);
    ck_assert_double_eq_tol(theta[2], -0.4, 1e-16);
    const double zero[3] = {0, 0, 0}, huge[3] = {DBL_MAX, DBL_MAX, 0}, before = theta[0];
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, zero, theta, NULL));
    ck_assert_double_eq(theta[0], before);
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, huge, theta, NULL)); /* |g| itself is no double */
    ck_assert_double_eq_tol(theta[0], before - 0.5 / sqrt(2), 1e-15);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* A step of Polyak's ends at the minimum of a parabola's tangent: half way, on x^2 from x = 8. */
START_TEST(polyak_by_hand) {
    double theta = 8;
    linattn_optimizer_options options = options_of(LINATTN_RULE_POLYAK, 1);
    options.minimum_value = 3;
    linattn_optimizer *optimizer = optimizer_of(&options, 1);
    ck_assert_uint_eq(linattn_optimizer_state_count(optimizer), 0);
    for (int t = 0; t < 3; t++) {
        const double g = 2 * theta;
        ck_assert_ok(linattn_optimizer_step(optimizer, theta * theta + 3, &g, &theta, NULL));
        ck_assert_double_eq(theta, 4 / (double)(1 << t));
    }
    const double zero = 0, tiny = 0x1p-1000, one = 1;
    ck_assert_ok(linattn_optimizer_step(optimizer, 4, &zero, &theta, NULL)); /* no direction */
    ck_assert_ok(linattn_optimizer_step(optimizer, 3, &one, &theta, NULL));  /* there already */
    ck_assert_ok(linattn_optimizer_step(optimizer, -1, &one, &theta, NULL)); /* below */
    ck_assert_double_eq(theta, 1);
    ck_assert_ok(linattn_optimizer_step(optimizer, 3 + 0x1p-50, &tiny, &theta, NULL)); /* |g|^2 is no double */
    ck_assert_double_eq(theta, 1 - 0x1p950);
    linattn_optimizer_destroy(optimizer);
    options.minimum_value = NAN;
    ck_assert_status(linattn_optimizer_create(&optimizer, &options, NULL, 0, 1), LINATTN_EINVAL, "minimum_value is nan");
}
END_TEST

/* The memory, by its documented layout, after two steps with g = (1, 2). */
START_TEST(state_layout) {
    const double g[2] = {1, 2};
    double theta[2] = {0, 0}, state[4];
    uint64_t steps, skips;
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, 0.1);
    options.beta1 = 0.5, options.beta2 = 0.75;
    linattn_optimizer *optimizer = optimizer_of(&options, 2);
    ck_assert_uint_eq(linattn_optimizer_state_count(optimizer), 4);
    for (int t = 0; t < 2; t++) ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, &steps, &skips));
    ck_assert(steps == 2 && skips == 0);
    ck_assert(state[0] == 0.75 && state[1] == 1.5);    /* m = (1 - 1/4) g */
    ck_assert(state[2] == 0.4375 && state[3] == 1.75); /* v = (1 - 9/16) g^2 */
    linattn_optimizer_destroy(optimizer);

    options = options_of(LINATTN_RULE_SGD, 0.1);
    options.momentum = 0.5;
    optimizer = optimizer_of(&options, 2);
    ck_assert_uint_eq(linattn_optimizer_state_count(optimizer), 2);
    for (int t = 0; t < 2; t++) ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, NULL, NULL));
    ck_assert(state[0] == 1.5 && state[1] == 3);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* Memory taken out and put into another optimizer goes on with the same bits, for every rule. */
START_TEST(state_moves_between_optimizers) {
    for (int32_t rule = LINATTN_RULE_SGD; rule <= LINATTN_RULE_POLYAK; rule += rule == LINATTN_RULE_NORMALIZED_GD ? 2 : 1) {
        linattn_optimizer_options options = options_of(rule, 0.05);
        options.momentum = 0.9;
        options.clip = LINATTN_CLIP_GLOBAL_NORM;
        options.schedule = LINATTN_SCHEDULE_COSINE;
        options.decay_steps = STEPS;
        linattn_optimizer *first = optimizer_of(&options, P), *second = optimizer_of(&options, P);
        double theta[P] = {0.5, -1, 2, 0}, other[P], g[P], state[2 * P];
        for (int t = 0; t < STEPS; t++) {
            if (t == STEPS / 2) {
                uint64_t steps, skips;
                ck_assert_ok(linattn_optimizer_get_state(first, state, &steps, &skips));
                ck_assert_ok(linattn_optimizer_set_state(second, state, steps, skips));
                memcpy(other, theta, sizeof other);
            }
            gradient_at(t, theta, g);
            ck_assert_ok(linattn_optimizer_step(first, 0, g, theta, NULL));
            if (t < STEPS / 2) continue;
            ck_assert_ok(linattn_optimizer_step(second, 0, g, other, NULL));
            ck_assert_mem_eq(theta, other, sizeof theta);
        }
        linattn_optimizer_destroy(first);
        linattn_optimizer_destroy(second);
    }
}
END_TEST

START_TEST(set_state_refuses) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, 0.1);
    linattn_optimizer *optimizer = optimizer_of(&options, 2);
    const double good[2] = {1, 2}, bad[2] = {1, NAN};
    double state[2];
    uint64_t steps, skips;
    ck_assert_ok(linattn_optimizer_set_state(optimizer, good, 7, 3));
    ck_assert_status(linattn_optimizer_set_state(optimizer, NULL, 9, 0), LINATTN_EINVAL, "state is NULL");
    ck_assert_status(linattn_optimizer_set_state(optimizer, good, 2, 3), LINATTN_EINVAL, "skips is 3");
    ck_assert_status(linattn_optimizer_set_state(optimizer, bad, 9, 0), LINATTN_ENONFINITE, "state[1] is nan");
    ck_assert_status(linattn_optimizer_set_state(NULL, good, 9, 0), LINATTN_EINVAL, "optimizer is NULL");
    ck_assert_status(linattn_optimizer_get_state(NULL, state, NULL, NULL), LINATTN_EINVAL, "optimizer is NULL");
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, &steps, &skips));
    ck_assert(steps == 7 && skips == 3 && state[0] == 1 && state[1] == 2);
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), 7);
    ck_assert_uint_eq(linattn_optimizer_skip_count(optimizer), 3);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* A custom rule that does what user says: go on, fail, or write NaN into theta or state, after having changed both. */
typedef struct behaviour {
    int status;
    double theta_value, state_value;
    linattn_update seen;
} behaviour;

static int custom_update(const linattn_update *update, void *user) {
    behaviour *b = user;
    b->seen = *update;
    for (size_t i = 0; i < update->p; i++) update->theta[i] -= update->learning_rate * update->gradient[i];
    update->theta[update->p - 1] += b->theta_value;
    update->state[0] += 1 + b->state_value;
    return b->status;
}

START_TEST(custom_rule_steps_and_fails) {
    linattn_optimizer_options options = options_of(77, 0.5); /* the rule is ignored */
    options.momentum = NAN;
    options.clip = LINATTN_CLIP_GLOBAL_NORM;
    linattn_custom_rule rule;
    ck_assert_ok(linattn_custom_rule_init(&rule, sizeof rule));
    ck_assert_str_eq(rule.name, "custom");
    rule.update = custom_update;
    rule.state_count = 3;
    behaviour b = {0};
    linattn_optimizer *optimizer;
    linattn_tensor tensors[2] = {{.struct_size = sizeof(linattn_tensor), .name = "a", .rows = 1, .columns = 1},
                                 {.struct_size = sizeof(linattn_tensor), .name = "b", .rows = 1, .columns = 1, .offset = 1}};
    ck_assert_ok(linattn_optimizer_create_custom(&optimizer, &options, &rule, &b, tensors, 2, 2));
    double theta[2] = {0, 0}, state[3];
    const double g[2] = {3, 4};
    ck_assert_ok(linattn_optimizer_step(optimizer, 42, g, theta, NULL));
    ck_assert_double_eq_tol(theta[0], -0.3, 1e-15);
    ck_assert_double_eq_tol(theta[1], -0.4, 1e-15);
    ck_assert(b.seen.p == 2 && b.seen.step == 1 && b.seen.value == 42 && b.seen.learning_rate == 0.5 && b.seen.tensor_count == 2);
    ck_assert_str_eq(b.seen.tensors[1].name, "b");
    ck_assert_uint_eq(b.seen.tensors[1].offset, 1);

    static const struct {
        behaviour b;
        int status;
        const char *message;
    } FAILURES[] = {
        {{.status = -3}, LINATTN_EOVERFLOW, "\"custom\" returned -3 at step 1"},
        {{.status = -1234}, -1234, "-1234"},
        {{.status = 7}, LINATTN_EINVAL, "returned 7"},
        {{.status = LINATTN_STOP}, LINATTN_STOP, ""},
        {{.theta_value = NAN}, LINATTN_ENONFINITE, "theta[1] is nan after the update of step 1"},
        {{.theta_value = INFINITY}, LINATTN_ENONFINITE, "theta[1] is inf"},
        {{.state_value = NAN}, LINATTN_ENONFINITE, "state[0] is nan"},
    };
    const double theta_before[2] = {theta[0], theta[1]};
    for (size_t i = 0; i < sizeof FAILURES / sizeof FAILURES[0]; i++) {
        b = FAILURES[i].b;
        ck_assert_status(linattn_optimizer_step(optimizer, 0, g, theta, NULL), FAILURES[i].status, FAILURES[i].message);
        ck_assert_uint_eq(b.seen.step, 2);
        ck_assert_mem_eq(theta, theta_before, sizeof theta);
        ck_assert_ok(linattn_optimizer_get_state(optimizer, state, NULL, NULL));
        ck_assert(state[0] == 1 && state[1] == 0 && state[2] == 0);
        ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), 1);
    }
    b = (behaviour){0};
    ck_assert_ok(linattn_optimizer_step(optimizer, 0, g, theta, NULL));
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), 2);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

/* A custom rule that is SGD has SGD's bits. */
START_TEST(custom_rule_equals_built_in) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, 0.02);
    linattn_custom_rule rule;
    ck_assert_ok(linattn_custom_rule_init(&rule, sizeof rule));
    rule.update = custom_update;
    rule.state_count = 1;
    behaviour b = {0};
    linattn_optimizer *custom, *sgd = optimizer_of(&options, P);
    ck_assert_ok(linattn_optimizer_create_custom(&custom, &options, &rule, &b, NULL, 0, P));
    double theta[P] = {0.5, -1, 2, 0}, other[P], g[P];
    memcpy(other, theta, sizeof other);
    for (int t = 0; t < STEPS; t++) {
        gradient_at(t, theta, g);
        ck_assert_ok(linattn_optimizer_step(custom, 0, g, theta, NULL));
        ck_assert_ok(linattn_optimizer_step(sgd, 0, g, other, NULL));
        ck_assert_mem_eq(theta, other, sizeof theta);
    }
    linattn_optimizer_destroy(custom);
    linattn_optimizer_destroy(sgd);
}
END_TEST

START_TEST(custom_rule_refusals) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_SGD, 0.5);
    linattn_custom_rule rule, good;
    ck_assert_ok(linattn_custom_rule_init(&good, sizeof good));
    good.update = custom_update;
    linattn_optimizer *optimizer;
#define REFUSED(status, message)                                                                                                   \
    do {                                                                                                                           \
        optimizer = (linattn_optimizer *)&options;                                                                                 \
        ck_assert_status(linattn_optimizer_create_custom(&optimizer, &options, &rule, NULL, NULL, 0, 2), status, message);         \
        ck_assert_ptr_null(optimizer);                                                                                             \
        rule = good;                                                                                                               \
    } while (0)
    rule = good, rule.update = NULL;
    REFUSED(LINATTN_EINVAL, "update is NULL");
    rule.name = NULL;
    REFUSED(LINATTN_EINVAL, "name is NULL");
    rule.name = "";
    REFUSED(LINATTN_EINVAL, "1 to 39");
    rule.name = "0123456789012345678901234567890123456789";
    REFUSED(LINATTN_EINVAL, "1 to 39");
    rule.state_count = SIZE_MAX / 4;
    REFUSED(LINATTN_EOVERFLOW, "do not fit");
    rule.struct_size = 3;
    REFUSED(LINATTN_EINVAL, "struct_size");
    rule.name = "012345678901234567890123456789012345678";
    ck_assert_ok(linattn_optimizer_create_custom(&optimizer, &options, &rule, NULL, NULL, 0, 2));
    linattn_optimizer_destroy(optimizer);
    ck_assert_status(linattn_optimizer_create_custom(NULL, &options, &good, NULL, NULL, 0, 2), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_optimizer_create_custom(&optimizer, NULL, &good, NULL, NULL, 0, 2), LINATTN_EINVAL, "is NULL");
    ck_assert_status(linattn_optimizer_create_custom(&optimizer, &options, NULL, NULL, NULL, 0, 2), LINATTN_EINVAL, "is NULL");
}
END_TEST

/* Built-in rules that overflow put everything back as well. */
START_TEST(built_in_rule_overflow) {
    linattn_optimizer_options options = options_of(LINATTN_RULE_ADAM, 1);
    linattn_optimizer *optimizer = optimizer_of(&options, 1);
    double theta = 5, state[2], g = 1e200; /* g^2 is no double */
    linattn_step_record record = {.struct_size = sizeof record};
    ck_assert_status(linattn_optimizer_step(optimizer, 0, &g, &theta, &record), LINATTN_ENONFINITE, "state[1] is inf");
    ck_assert_double_eq(record.gradient_norm, 1e200);
    ck_assert_double_eq(theta, 5);
    ck_assert_ok(linattn_optimizer_get_state(optimizer, state, NULL, NULL));
    ck_assert(state[0] == 0 && state[1] == 0);
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), 0);
    linattn_optimizer_destroy(optimizer);

    options = options_of(LINATTN_RULE_SGD, 1e300);
    optimizer = optimizer_of(&options, 1);
    ck_assert_status(linattn_optimizer_step(optimizer, 0, &g, &theta, NULL), LINATTN_ENONFINITE, "theta[0] is -inf");
    ck_assert_double_eq(theta, 5);
    linattn_optimizer_destroy(optimizer);
}
END_TEST

static Suite *optimizer_suite(void) {
    Suite *suite = suite_create("optimizer");
    TCase *tc = tcase_create("rules");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_O4_epsilon_after_bias_correction);
    tcase_add_test(tc, case_O5_first_step_has_t_1);
    tcase_add_test(tc, case_O6_learning_rate_outside_the_velocity);
    tcase_add_test(tc, case_O7_zero_gradient);
    tcase_add_test(tc, adam_denominator_that_underflows);
    tcase_add_test(tc, bias_correction_is_accurate);
    tcase_add_test(tc, rules_against_sums_over_the_past);
    tcase_add_test(tc, sign_and_normalized_gd_by_hand);
    tcase_add_test(tc, polyak_by_hand);
    tcase_add_test(tc, state_layout);
    tcase_add_test(tc, state_moves_between_optimizers);
    tcase_add_test(tc, set_state_refuses);
    tcase_add_test(tc, custom_rule_steps_and_fails);
    tcase_add_test(tc, custom_rule_equals_built_in);
    tcase_add_test(tc, custom_rule_refusals);
    tcase_add_test(tc, built_in_rule_overflow);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(optimizer_suite)
