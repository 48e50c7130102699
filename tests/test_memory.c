/* Memory: steps take none after the first, and every allocation that fails is a status that leaves things as they were.
 * Needs an allocator that can be told to fail: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/suite.h"

#include <unistd.h>

#ifdef LINATTN_FAIL_ALLOCATION

typedef struct {
    linattn_sampler *sampler;
    linattn_batch *batch;
    linattn_model *model;
    linattn_objective *fixed, *sampled, *clone, *bowl;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    double theta[36], hessian[36 * 36];
} everything;

static void destroy(everything *e) {
    linattn_trainer_destroy(e->trainer);
    linattn_optimizer_destroy(e->optimizer);
    linattn_objective_destroy(e->bowl);
    linattn_objective_destroy(e->clone);
    linattn_objective_destroy(e->sampled);
    linattn_objective_destroy(e->fixed);
    linattn_model_destroy(e->model);
    linattn_batch_destroy(e->batch);
    linattn_sampler_destroy(e->sampler);
}

/* |theta|^2 / 2, without Hessian-vector products of its own. */
static int bowl_gradient(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    (void)draw, (void)user;
    *value = 0;
    for (size_t i = 0; i < 36; i++) {
        gradient[i] = theta[i];
        *value += theta[i] * theta[i] / 2;
    }
    return 0;
}

/* A whole life of every object, ending at the first failure. */
static int live(everything *e, const char *path, int variant) {
    linattn_sampler_options sampler;
    linattn_model_options model;
    linattn_objective_options objective;
    linattn_objective_callbacks callbacks;
    linattn_optimizer_options optimizer;
    double values[20];
    memset(e, 0, sizeof *e);
    linattn_sampler_options_init(&sampler, sizeof sampler);
    linattn_model_options_init(&model, sizeof model);
    linattn_objective_options_init(&objective, sizeof objective);
    linattn_objective_callbacks_init(&callbacks, sizeof callbacks);
    linattn_optimizer_options_init(&optimizer, sizeof optimizer);
    sampler.dim = model.dim = 3;
    sampler.context = 4;
    model.layers = 2;
    if (variant == 1) { /* the token path and factors, with as many parameters */
        sampler.dim = model.dim = model.qk_rank = 2;
        model.layers = 3;
        model.attention = LINATTN_ATTENTION_SOFTMAX;
    }
    if (variant == 2) { /* a front MLP: 12 parameters and 3 x 8 */
        sampler.dim = model.dim = model.mlp_hidden = 2;
        model.layers = 3;
    }
    if (variant == 3) { /* feed-forward blocks: 2 x (6 + 12) parameters */
        sampler.dim = model.dim = 1;
        model.heads = 3;
        model.ff_hidden = 2;
    }
    objective.threads = 2;
    callbacks.parameter_count = 36;
    callbacks.gradient = bowl_gradient;
    callbacks.difference_step = 1e-5;
    optimizer.rule = LINATTN_RULE_ADAM;
    optimizer.learning_rate = 0.01;
    int status = linattn_sampler_create(&e->sampler, &sampler);
    if (!status) status = linattn_batch_create_from_sampler(&e->batch, e->sampler, 20, 1);
    if (!status) status = linattn_model_create(&e->model, &model);
    if (!status) status = linattn_model_init_parameters(e->model, 1, e->theta);
    if (!status) status = linattn_model_predict(e->model, e->batch, e->theta, values);
    if (!status) status = linattn_objective_create_fixed(&e->fixed, e->model, e->batch, NULL);
    if (!status) status = linattn_objective_create_sampled(&e->sampled, e->model, e->sampler, 200, &objective);
    if (!status) status = linattn_objective_clone(&e->clone, e->sampled);
    if (!status) status = linattn_objective_hessian(e->fixed, 0, e->theta, e->hessian);
    if (!status) status = linattn_objective_hessian_block(e->sampled, 0, e->theta, 10, 20, e->hessian);
    if (!status) status = linattn_objective_create_callbacks(&e->bowl, &callbacks, NULL, NULL);
    if (!status) status = linattn_objective_hessian_diagonal(e->bowl, 0, e->theta, 0, 36, e->hessian);
    if (!status) status = linattn_optimizer_create(&e->optimizer, &optimizer, NULL, 0, 36);
    if (!status) status = linattn_trainer_create(&e->trainer, e->sampled, e->optimizer, e->theta, NULL);
    if (!status) status = linattn_trainer_run(e->trainer, 3, NULL);
    if (!status) status = linattn_trainer_save(e->trainer, path);
    if (!status) status = linattn_trainer_load(e->trainer, path);
    return status;
}

/* The k-th allocation fails, k = 0, 1, 2, ...: LINATTN_ENOMEM each time, until there are no more of them. */
START_TEST(every_allocation_may_fail) {
    everything e;
    char path[] = "/tmp/linattn-memory-XXXXXX";
    int status = LINATTN_ENOMEM;
    long k = 0;
    close(mkstemp(path));
    for (; status != LINATTN_OK && k < 1000; k++) {
        linattn__fail_allocation_after(k);
        status = live(&e, path, _i);
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory for");
        /* What exists goes on as if nothing had been. */
        if (e.trainer) ck_assert_ok(linattn_trainer_run(e.trainer, 1, NULL));
        if (e.fixed) ck_assert_ok(linattn_objective_hessian(e.fixed, 0, e.theta, e.hessian));
        if (e.sampled) ck_assert_ok(linattn_objective_hessian_block(e.sampled, 0, e.theta, 10, 20, e.hessian));
        if (e.bowl) ck_assert_ok(linattn_objective_hessian_diagonal(e.bowl, 0, e.theta, 0, 36, e.hessian));
        destroy(&e);
    }
    ck_assert_int_eq(status, LINATTN_OK);
    ck_assert_int_gt(k, 30);
    unlink(path);
}
END_TEST

/* After the first step, steps take no memory; nor do gradients of new draws and Hessians that were computed once before. */
START_TEST(steps_take_no_memory) {
    everything e;
    char path[] = "/tmp/linattn-memory-XXXXXX";
    linattn_optimizer_options rule;
    linattn_trainer_options options;
    linattn_optimizer *optimizer = NULL;
    linattn_trainer *trainer = NULL;
    double gradient[36];
    uint64_t done = 0;
    close(mkstemp(path));
    ck_assert_ok(live(&e, path, _i));
    ck_assert_ok(linattn_optimizer_options_init(&rule, sizeof rule));
    ck_assert_ok(linattn_trainer_options_init(&options, sizeof options));
    rule.learning_rate = 0.01;
    options.record_stride = 0;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &rule, NULL, 0, 36));
    ck_assert_ok(linattn_trainer_create(&trainer, e.sampled, optimizer, e.theta, &options));
    ck_assert_ok(linattn_trainer_run(trainer, 1, NULL));
    linattn__fail_allocation_after(0);
    const int ran = linattn_trainer_run(trainer, 100, &done);
    const int evaluated = linattn_objective_gradient(e.sampled, 1000, e.theta, NULL, gradient);
    const int hessian = linattn_objective_hessian(e.fixed, 0, e.theta, e.hessian);
    const int block = linattn_objective_hessian_block(e.sampled, 1000, e.theta, 0, 36, e.hessian);
    const int diagonal = linattn_objective_hessian_diagonal(e.bowl, 0, e.theta, 5, 6, e.hessian);
    const int preconditioner = linattn_optimizer_preconditioner(e.optimizer, gradient);
    linattn__fail_allocation_after(-1);
    ck_assert_int_eq(ran, LINATTN_OK);
    ck_assert_uint_eq(done, 100);
    ck_assert_int_eq(evaluated, LINATTN_OK);
    ck_assert_int_eq(hessian, LINATTN_OK);
    ck_assert_int_eq(block, LINATTN_OK);
    ck_assert_int_eq(diagonal, LINATTN_OK);
    ck_assert_int_eq(preconditioner, LINATTN_OK);
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(optimizer);
    destroy(&e);
    unlink(path);
}
END_TEST

static Suite *memory_suite(void) {
    Suite *suite = suite_create("memory");
    TCase *tc = tcase_create("memory");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, 4);
    tcase_add_loop_test(tc, steps_take_no_memory, 0, 4);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(memory_suite)
#endif
