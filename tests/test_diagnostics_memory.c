/* Every allocation of a measurement may fail: LINATTN_ENOMEM, outputs as they were, and the handle goes on.
 * Needs an allocator that can be told to fail: LINATTN_FAIL_ALLOCATION. */
#include "common/allocate.h"
#include "support/random_case.h"
#include "support/suite.h"

#ifdef LINATTN_FAIL_ALLOCATION

enum { MEASUREMENTS = 7, SAMPLES = 70, UNTOUCHED = 7 };

/* Measurement `which` on a handle; outputs go into numbers. */
static int measure(linattn_diagnostics *d, int which, const double *theta, const double *next, double *numbers) {
    const size_t boundaries[3] = {0, 18, 36};
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    linattn_condition condition = {.struct_size = sizeof condition};
    linattn_heterogeneity blocks = {.struct_size = sizeof blocks};
    linattn_extremes extremes = {.struct_size = sizeof extremes};
    linattn_gradient_error error = {.struct_size = sizeof error};
    linattn_smoothness smoothness = {.struct_size = sizeof smoothness};
    linattn_gradient_error_options noise;
    ck_assert_ok(linattn_gradient_error_options_init(&noise, sizeof noise));
    noise.samples = SAMPLES;
    noise.surrogates = 10;
    switch (which) {
    case 0:
        return linattn_diagnostics_spectrum(d, 0, theta, NULL, numbers, numbers + 36, &spectrum);
    case 1:
        return linattn_diagnostics_robust_condition(d, 0, theta, NULL, &condition, NULL);
    case 2:
        return linattn_diagnostics_heterogeneity(d, 0, theta, boundaries, 2, NULL, 0.1, numbers, &blocks);
    case 3:
        return linattn_diagnostics_extremes(d, 0, theta, NULL, numbers, numbers + 200, &extremes);
    case 4:
        return linattn_diagnostics_gradient_error(d, theta, &noise, numbers, NULL, numbers + SAMPLES, NULL, &error);
    case 5:
        return linattn_diagnostics_gradient_ratios(d, 0, theta, next, next, 1, numbers);
    default:
        return linattn_smoothness_fit(next, theta, 36, 4, 0.9, NULL, &smoothness);
    }
}

START_TEST(every_allocation_may_fail) {
    random_case c = random_case_open((reference_shape){2, 1, 3, 4, 0}, 30, 5);
    linattn_objective *f = random_case_objective(&c, NULL, LINATTN_KERNEL_AUTO, 1);
    linattn_diagnostics_options with;
    double next[36], numbers[36 * 37], wanted[36 * 37];
    ck_assert_ok(linattn_diagnostics_options_init(&with, sizeof with));
    with.threads = 2;
    for (size_t i = 0; i < 36; i++) next[i] = 0.1 + 0.01 * (double)i;
    long k = 0;
    int status = LINATTN_ENOMEM;
    for (; status != LINATTN_OK; k++) {
        linattn_diagnostics *d;
        for (size_t i = 0; i < 36 * 37; i++) numbers[i] = wanted[i] = UNTOUCHED;
        linattn__fail_allocation_after(k);
        status = linattn_diagnostics_create(&d, f, &with);
        if (status == LINATTN_OK) status = measure(d, _i, c.theta, next, numbers);
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) {
            ck_assert_status(status, LINATTN_ENOMEM, "no memory for");
            ck_assert_mem_eq(numbers, wanted, sizeof numbers);
        }
        if (!d) continue;
        ck_assert_ok(measure(d, _i, c.theta, next, wanted)); /* the same handle, as if nothing had been */
        if (status == LINATTN_OK) ck_assert_mem_eq(numbers, wanted, sizeof numbers);
        linattn_diagnostics_destroy(d);
    }
    ck_assert_int_gt(k, 2);
    linattn_objective_destroy(f);
    random_case_close(&c);
}
END_TEST

static Suite *diagnostics_memory_suite(void) {
    Suite *suite = suite_create("diagnostics, memory");
    TCase *tc = tcase_create("memory");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, MEASUREMENTS);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(diagnostics_memory_suite)
#endif
