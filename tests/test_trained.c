/* Trained models beside theory: one layer comes to its closed-form optimum, and L layers are no worse than L steps of gradient
 * descent at the best rates. Samples are moments, so a run takes a second or two. */
#include "support/suite.h"

#include <linattn/baseline.h>
#include <math.h>

enum { D = 5, N = 20, BATCH = 1000, JUDGED = 100000, LAYERS = 3 };

/* U D and U D^-1 with D = diag(1, 1, 1/2, 1/4, 1), as in arXiv:2306.00297. U is Householder's reflection I - 2 u u^T / |u|^2, which
 * does for a rotation what any orthogonal matrix does. */
static double covariate_factor[D * D], task_factor[D * D];

static void set_factors(void) {
    static const double scales[D] = {1, 1, 0.5, 0.25, 1}, u[D] = {1, -2, 3, 1, 2};
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            const double entry = (i == j) - 2 * u[i] * u[j] / 19;
            covariate_factor[i * D + j] = entry * scales[j];
            task_factor[i * D + j] = entry / scales[j];
        }
}

static linattn_sampler *sampler_of(int rotated, int scaled_task, int32_t stream) {
    linattn_sampler_options o;
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = D;
    o.context = N;
    o.kind = LINATTN_BATCH_MOMENTS;
    o.stream = stream;
    o.covariates = rotated ? LINATTN_COVARIATES_ROTATED : LINATTN_COVARIATES_NORMAL;
    o.covariate_factor = covariate_factor;
    o.task_factor = scaled_task ? task_factor : NULL;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    return sampler;
}

/* Adam, its rate going down to 0 by a cosine; returns the loss on JUDGED prompts of the evaluation stream. */
static double train(const linattn_model *model, linattn_sampler *sampler, const linattn_batch *judges, uint64_t steps,
                    double *theta) {
    const size_t p = linattn_model_parameter_count(model);
    linattn_objective *f, *judge;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    linattn_optimizer_options o;
    double loss;
    ck_assert_ok(linattn_optimizer_options_init(&o, sizeof o));
    o.rule = LINATTN_RULE_ADAM;
    o.learning_rate = 0.02;
    o.beta2 = 0.9;
    o.clip = LINATTN_CLIP_GLOBAL_NORM;
    o.schedule = LINATTN_SCHEDULE_COSINE;
    o.decay_steps = steps;
    ck_assert_ok(linattn_objective_create_sampled(&f, model, sampler, BATCH, NULL));
    ck_assert_ok(linattn_optimizer_create(&optimizer, &o, NULL, 0, p));
    ck_assert_ok(linattn_model_init_parameters(model, 1, theta));
    ck_assert_ok(linattn_trainer_create(&trainer, f, optimizer, theta, NULL));
    ck_assert_ok(linattn_trainer_run(trainer, steps, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(trainer, theta));
    ck_assert_ok(linattn_objective_create_fixed(&judge, model, judges, NULL));
    ck_assert_ok(linattn_objective_value(judge, 0, theta, &loss));
    linattn_objective_destroy(judge);
    linattn_objective_destroy(f);
    linattn_optimizer_destroy(optimizer);
    linattn_trainer_destroy(trainer);
    return loss;
}

static linattn_model *model_of(size_t layers) {
    linattn_model_options o;
    linattn_model *model;
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = D;
    o.layers = layers;
    ck_assert_ok(linattn_model_create(&model, &o));
    return model;
}

static linattn_batch *judges_of(int rotated, int scaled_task) {
    linattn_sampler *sampler = sampler_of(rotated, scaled_task, LINATTN_STREAM_EVALUATION);
    linattn_batch *batch;
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, JUDGED, 0));
    linattn_sampler_destroy(sampler);
    return batch;
}

/* Weights of covariance U D^-2 U^T, and I. */
START_TEST(one_layer_reaches_the_optimum) {
    double theta[2 * D * D], wanted;
    linattn_sampler *sampler = sampler_of(1, _i == 0, LINATTN_STREAM_TRAINING);
    linattn_batch *judges = judges_of(1, _i == 0);
    linattn_model *model = model_of(1);
    linattn_theory_distance distance = {.struct_size = sizeof distance};
    ck_assert_ok(linattn_theory_one_layer(sampler, NULL, &wanted));
    const double loss = train(model, sampler, judges, 8000, theta);
    ck_assert_double_eq_tol(loss, wanted, 0.02 * wanted);
    ck_assert_ok(linattn_theory_compare(model, sampler, theta, 0, 0, &distance));
    ck_assert_double_le(distance.q_error, 0.05);
    linattn_model_destroy(model);
    linattn_batch_destroy(judges);
    linattn_sampler_destroy(sampler);
}
END_TEST

static double descent_loss(const linattn_batch *batch, const double *targets, size_t prompts, const double *rates) {
    static double predictions[JUDGED];
    linattn_baseline_options o;
    double sum = 0;
    ck_assert_ok(linattn_baseline_options_init(&o, sizeof o));
    o.baseline = LINATTN_BASELINE_GRADIENT_DESCENT;
    o.steps = LAYERS;
    o.rates = rates;
    ck_assert_ok(linattn_baseline_predict(batch, &o, predictions));
    for (size_t b = 0; b < prompts; b++) sum += (predictions[b] - targets[b]) * (predictions[b] - targets[b]);
    return sum / (double)prompts;
}

/* The best rate for each step: one at a time by golden section, in turns. */
static void tune(const linattn_batch *batch, const double *targets, size_t prompts, double *rates) {
    const double golden = (sqrt(5) - 1) / 2;
    for (int turn = 0; turn < 8; turn++)
        for (size_t t = 0; t < LAYERS; t++) {
            double low = 0, high = 2, at[2] = {high - golden * high, golden * high}, loss[2];
            for (int i = 0; i < 2; i++) rates[t] = at[i], loss[i] = descent_loss(batch, targets, prompts, rates);
            while (high - low > 1e-3) {
                const int worse = loss[0] < loss[1]; /* the point whose side is given up */
                if (worse)
                    high = at[1];
                else
                    low = at[0];
                at[worse] = at[!worse];
                loss[worse] = loss[!worse];
                at[!worse] = worse ? high - golden * (high - low) : low + golden * (high - low);
                rates[t] = at[!worse];
                loss[!worse] = descent_loss(batch, targets, prompts, rates);
            }
            rates[t] = (low + high) / 2;
        }
}

START_TEST(layers_are_no_worse_than_steps_of_gradient_descent) {
    enum { TUNED = 4000 };
    static double targets[JUDGED];
    double theta[LAYERS * 2 * D * D], rates[LAYERS] = {0.5, 0.5, 0.5};
    linattn_sampler *sampler = sampler_of(0, 0, LINATTN_STREAM_TRAINING);
    linattn_batch *judges = judges_of(0, 0), *some;
    linattn_model *model = model_of(LAYERS);
    ck_assert_ok(linattn_batch_create_from_sampler(&some, sampler, TUNED, 1 << 20));
    ck_assert_ok(linattn_batch_get_arrays(some, NULL, targets));
    tune(some, targets, TUNED, rates);
    ck_assert_ok(linattn_batch_get_arrays(judges, NULL, targets));
    const double descent = descent_loss(judges, targets, JUDGED, rates);
    const double loss = train(model, sampler, judges, 5000, theta);
    for (size_t t = 0; t < LAYERS; t++) rates[t] = (double)N / (N + D + 1); /* the best rate of a single step, for all of them */
    ck_assert_double_lt(descent, descent_loss(judges, targets, JUDGED, rates));
    ck_assert_double_le(loss, 1.02 * descent);
    linattn_model_destroy(model);
    linattn_batch_destroy(judges);
    linattn_batch_destroy(some);
    linattn_sampler_destroy(sampler);
}
END_TEST

static Suite *trained_suite(void) {
    Suite *suite = suite_create("trained models");
    TCase *tc = tcase_create("trained models");
    tcase_set_timeout(tc, 600);
    tcase_add_unchecked_fixture(tc, set_factors, NULL);
    tcase_add_loop_test(tc, one_layer_reaches_the_optimum, 0, 2);
    tcase_add_test(tc, layers_are_no_worse_than_steps_of_gradient_descent);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(trained_suite)
