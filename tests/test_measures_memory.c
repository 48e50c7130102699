/* Every allocation of a baseline, of theory or of attention's measures may fail: LINATTN_ENOMEM, outputs as they were, and the next
 * call succeeds. Needs an allocator that can be told to fail: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/suite.h"

#include <linattn/baseline.h>

#ifdef LINATTN_FAIL_ALLOCATION

enum { D = 3, N = 4, CALLS = 6, PROMPTS = 5, NUMBERS = PROMPTS * (N + 1) * (N + 1) };

static linattn_sampler *sampler;
static linattn_batch *batch;
static linattn_model *model;

static void open_handles(void) {
    static const double factor[D * D] = {1, 0.5, 0, 0, 1, 0.5, 0, 0, 1};
    linattn_sampler_options data;
    linattn_model_options shape;
    ck_assert_ok(linattn_sampler_options_init(&data, sizeof data));
    ck_assert_ok(linattn_model_options_init(&shape, sizeof shape));
    data.dim = shape.dim = D;
    data.context = N;
    data.covariates = LINATTN_COVARIATES_ROTATED;
    data.covariate_factor = factor;
    shape.layers = 1;
    shape.qk_rank = 2;
    ck_assert_ok(linattn_sampler_create(&sampler, &data));
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, PROMPTS, 0));
    ck_assert_ok(linattn_model_create(&model, &shape));
}

static void close_handles(void) {
    linattn_model_destroy(model);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
}

/* Call `which`; what it computes goes into out (NUMBERS). */
static int call(int which, double *out) {
    static const double rates[2] = {0.1, 0.2}, theta[D * D + 4 * D] = {1, 2, 3};
    linattn_theory_distance distance = {.struct_size = sizeof distance};
    linattn_baseline_options o;
    ck_assert_ok(linattn_baseline_options_init(&o, sizeof o));
    o.baseline = which;
    o.lambda = 0.5;
    o.steps = 2;
    o.rates = rates;
    if (which < 2) return linattn_baseline_predict(batch, &o, out);
    if (which == 2) return linattn_theory_one_layer(sampler, out, NULL);
    if (which == 3) return linattn_model_attention(model, batch, theta, 0, 0, out);
    linattn_concentration spread = {.struct_size = sizeof spread};
    const int status = which == 4 ? linattn_theory_compare(model, sampler, theta, 0, 0, &distance)
                                  : linattn_attention_concentration(rates, 1, 2, 2, 1, &spread);
    if (status == LINATTN_OK) out[0] = which == 4 ? distance.q_error : spread.entropy;
    return status;
}

START_TEST(every_allocation_may_fail) {
    int status = LINATTN_ENOMEM;
    long k = 0;
    double wanted[NUMBERS] = {7}, out[NUMBERS];
    ck_assert_ok(call(_i, wanted));
    for (; status != LINATTN_OK; k++) {
        for (size_t i = 0; i < NUMBERS; i++) out[i] = 7;
        linattn__fail_allocation_after(k);
        status = call(_i, out);
        linattn__fail_allocation_after(-1);
        if (status == LINATTN_OK) break;
        ck_assert_status(status, LINATTN_ENOMEM, "no memory for");
        for (size_t i = 0; i < NUMBERS; i++) ck_assert_double_eq(out[i], 7);
    }
    ck_assert_int_gt(k, 1);
    ck_assert_double_eq(out[0], wanted[0]);
}
END_TEST

static Suite *measures_memory_suite(void) {
    Suite *suite = suite_create("baselines and attention, memory");
    TCase *tc = tcase_create("memory");
    tcase_add_checked_fixture(tc, open_handles, close_handles);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, CALLS);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(measures_memory_suite)
#endif
