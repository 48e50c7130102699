/* Attention concentration of rows whose answers are known. */
#include "support/suite.h"

#include <linattn/diagnostics.h>
#include <math.h>

static linattn_concentration measure(const double *weights, size_t rows, size_t keys, size_t stride, size_t top) {
    linattn_concentration out = {.struct_size = sizeof out};
    ck_assert_ok(linattn_attention_concentration(weights, rows, keys, stride, top, &out));
    return out;
}

static void check(linattn_concentration c, double entropy, double largest, double top_share, double ratio) {
    ck_assert_double_eq_tol(c.entropy, entropy, 1e-14);
    ck_assert_double_eq_tol(c.largest, largest, 1e-15);
    ck_assert_double_eq_tol(c.top_share, top_share, 1e-15);
    ck_assert_double_eq_tol(c.ratio_median, ratio, 1e-15);
}

START_TEST(rows_with_known_answers) {
    const double even[4] = {0.25, 0.25, 0.25, 0.25}, one[4] = {0, 0, 3, 0}, signs[3] = {-1, 2, 1}, huge[2] = {1e308, -1e308};
    const double tiny[2] = {5e-324, 5e-324}, beside[3] = {1, 1, 5e-324};
    check(measure(even, 1, 4, 4, 3), log(4), 0.25, 0.75, 1);
    check(measure(one, 1, 4, 4, 1), 0, 1, 1, 0);
    check(measure(signs, 1, 3, 3, 2), 1.5 * log(2), 0.5, 0.75, 0.5);
    check(measure(huge, 1, 2, 2, 1), log(2), 0.5, 0.5, 1);
    check(measure(tiny, 1, 2, 2, 2), log(2), 0.5, 1, 1);
    check(measure(beside, 1, 3, 3, 2), log(2), 0.5, 1, 0);
    check(measure(one + 2, 1, 1, 1, 1), 0, 1, 1, 1);
}
END_TEST

/* Means over rows, the lower median, rows of zeros left out, and nothing read between the rows. */
START_TEST(rows_together) {
    const double weights[] = {1, 1, NAN, 1, 3, INFINITY, 0, 0, NAN, 4, 1, NAN, -5, 1};
    const linattn_concentration c = measure(weights, 5, 2, 3, 1);
    ck_assert_uint_eq(c.rows, 4);
    ck_assert_uint_eq(c.empty, 1);
    ck_assert_double_eq_tol(c.largest, (0.5 + 0.75 + 0.8 + 5.0 / 6) / 4, 1e-15);
    ck_assert_double_eq_tol(c.ratio_median, 1.0 / 4, 1e-15); /* of 1, 1/3, 1/4, 1/5 */
    ck_assert_double_eq_tol(c.ratio_smallest, 1.0 / 5, 1e-15);
    ck_assert_double_eq_tol(measure(weights, 4, 2, 3, 1).ratio_median, 1.0 / 3, 1e-15);
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    const double weights[4] = {1, 2, 3, NAN}, zeros[4] = {0};
    linattn_concentration out = {.struct_size = sizeof out, .entropy = 7};
    ck_assert_status(linattn_attention_concentration(NULL, 1, 1, 1, 1, &out), LINATTN_EINVAL, "weights is NULL");
    ck_assert_status(linattn_attention_concentration(weights, 0, 1, 1, 1, &out), LINATTN_EINVAL, "rows is 0");
    ck_assert_status(linattn_attention_concentration(weights, 1, 0, 1, 1, &out), LINATTN_EINVAL, "keys is 0");
    ck_assert_status(linattn_attention_concentration(weights, 1, 3, 2, 1, &out), LINATTN_EINVAL, "stride is 2");
    ck_assert_status(linattn_attention_concentration(weights, 1, 2, 2, 0, &out), LINATTN_EINVAL, "top is 0");
    ck_assert_status(linattn_attention_concentration(weights, 1, 2, 2, 3, &out), LINATTN_EINVAL, "top is 3");
    ck_assert_status(linattn_attention_concentration(weights, SIZE_MAX / 2, 2, 4, 1, &out), LINATTN_EOVERFLOW, "address space");
    ck_assert_status(linattn_attention_concentration(weights, 2, 2, 2, 1, &out), LINATTN_ENONFINITE, "row 1, key 1 is nan");
    ck_assert_status(linattn_attention_concentration(weights, 1, 1, 1, 1, NULL), LINATTN_EINVAL, "linattn_concentration");
    ck_assert_double_eq(out.entropy, 7);
    ck_assert_status(linattn_attention_concentration(zeros, 2, 2, 2, 1, &out), LINATTN_EDEGENERATE, "all 2 rows");
    ck_assert_uint_eq(out.empty, 2);
    ck_assert(isnan(out.entropy) && isnan(out.largest) && isnan(out.top_share) && isnan(out.ratio_median));
}
END_TEST

static Suite *concentration_suite(void) {
    Suite *suite = suite_create("concentration");
    TCase *tc = tcase_create("concentration");
    tcase_add_test(tc, rows_with_known_answers);
    tcase_add_test(tc, rows_together);
    tcase_add_test(tc, bad_arguments_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(concentration_suite)
