/* What is made of a spectrum: robust condition numbers, densities, distances; and preconditioned matrices. */
#include "support/doubles.h"
#include "support/suite.h"

#include <fenv.h>
#include <float.h>
#include <linattn/spectrum.h>
#include <math.h>

static const double ROOT_2PI = 2.50662827463100050242;

/* In [0, 1). */
static double uniform(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

/* ---- Robust condition numbers ---- */

static linattn_condition condition_of(const double *values, size_t count, int32_t kind, int32_t rule) {
    linattn_condition out = {.struct_size = sizeof out};
    ck_assert_ok(linattn_robust_condition(values, count, kind, rule, &out));
    ck_assert_uint_eq(out.struct_size, sizeof out);
    ck_assert_uint_eq(out.count, count);
    ck_assert_int_eq(out.kind, kind);
    ck_assert_int_eq(out.rule, rule);
    ck_assert_int_eq(out.reserved, 0);
    return out;
}

START_TEST(case_D1_median_of_an_even_count) {
    const double values[] = {3, -1, 4, 2}, negated[] = {-3, 1, -4, -2};
    for (int32_t kind = 0; kind <= 1; kind++) {
        const linattn_condition lower = condition_of(values, 4, kind, LINATTN_MEDIAN_LOWER);
        const linattn_condition mean = condition_of(values, 4, kind, LINATTN_MEDIAN_MEAN);
        ck_assert_double_eq(lower.value, 2);
        ck_assert_double_eq(lower.median, 2);
        ck_assert_double_eq(lower.largest, 4);
        ck_assert_uint_eq(lower.negatives, 1);
        ck_assert_uint_eq(lower.zeros, 0);
        ck_assert_int_eq(lower.flags, 0);
        ck_assert_double_eq(mean.value, 1.6);
        ck_assert_double_eq(condition_of(negated, 4, kind, LINATTN_MEDIAN_LOWER).value, 2);
        ck_assert_double_eq(condition_of(negated, 4, kind, LINATTN_MEDIAN_MEAN).value, 1.6);
        ck_assert_double_eq(condition_of(values, 1, kind, LINATTN_MEDIAN_LOWER).value, 1);
    }
}
END_TEST

/* Also for a program that traps divisions by 0 and NaNs. */
START_TEST(case_D2_zero_medians) {
    const double half[] = {0, 72}, zeros[] = {0, -0.0, 0};
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
    for (int32_t kind = 0; kind <= 1; kind++) {
        const linattn_condition lower = condition_of(half, 2, kind, LINATTN_MEDIAN_LOWER);
        const linattn_condition mean = condition_of(half, 2, kind, LINATTN_MEDIAN_MEAN);
        const linattn_condition none = condition_of(zeros, 3, kind, LINATTN_MEDIAN_LOWER);
        ck_assert_double_infinite(lower.value);
        ck_assert_double_gt(lower.value, 0);
        ck_assert_int_eq(lower.flags, LINATTN_CONDITION_ZERO_MEDIAN);
        ck_assert_double_eq(lower.largest, 72);
        ck_assert_uint_eq(lower.zeros, 1);
        ck_assert_double_eq(mean.value, 2);
        ck_assert_int_eq(mean.flags, 0);
        ck_assert_double_nan(none.value);
        ck_assert_int_eq(none.flags, LINATTN_CONDITION_ZERO_MEDIAN | LINATTN_CONDITION_ALL_ZERO);
        ck_assert_uint_eq(none.zeros, 3);
    }
    fedisableexcept(FE_DIVBYZERO | FE_INVALID);
}
END_TEST

/* Rounding noise is a zero among eigenvalues, a number on a diagonal. */
START_TEST(noise_counts_as_zero_among_eigenvalues_only) {
    const double values[] = {-1e-17, 1, 1e-17, -4, 2e-17}; /* 5 epsilon 4 = 4.4e-15 */
    const linattn_condition eigen = condition_of(values, 5, LINATTN_CONDITION_EIGENVALUES, LINATTN_MEDIAN_LOWER);
    const linattn_condition diagonal = condition_of(values, 5, LINATTN_CONDITION_DIAGONAL, LINATTN_MEDIAN_LOWER);
    ck_assert_double_infinite(eigen.value);
    ck_assert_double_eq(eigen.median, 0);
    ck_assert_uint_eq(eigen.zeros, 3);
    ck_assert_uint_eq(eigen.negatives, 1);
    ck_assert_double_eq(diagonal.median, 2e-17);
    ck_assert_double_eq(diagonal.value, 4 / 2e-17);
    ck_assert_uint_eq(diagonal.zeros, 0);
    ck_assert_uint_eq(diagonal.negatives, 2);
    const double wide[] = {1e300, 1e-300, 1e-300}, largest[] = {DBL_MAX, DBL_MAX};
    const linattn_condition overflow = condition_of(wide, 3, LINATTN_CONDITION_DIAGONAL, LINATTN_MEDIAN_LOWER);
    ck_assert_double_infinite(overflow.value);
    ck_assert_int_eq(overflow.flags, 0);
    ck_assert_double_eq(condition_of(largest, 2, LINATTN_CONDITION_EIGENVALUES, LINATTN_MEDIAN_MEAN).value, 1);
}
END_TEST

START_TEST(condition_arguments) {
    const double values[] = {1, 2, NAN};
    linattn_condition out = {.struct_size = sizeof out, .value = 77};
    ck_assert_status(linattn_robust_condition(NULL, 2, 0, 0, &out), LINATTN_EINVAL, "values is NULL");
    ck_assert_status(linattn_robust_condition(values, 0, 0, 0, &out), LINATTN_EINVAL, "count is 0");
    ck_assert_status(linattn_robust_condition(values, 2, 2, 0, &out), LINATTN_EINVAL, "kind is 2");
    ck_assert_status(linattn_robust_condition(values, 2, -1, 0, &out), LINATTN_EINVAL, "kind is -1");
    ck_assert_status(linattn_robust_condition(values, 2, 0, 2, &out), LINATTN_EINVAL, "rule is 2");
    ck_assert_status(linattn_robust_condition(values, 3, 0, 0, &out), LINATTN_ENONFINITE, "values[2] is nan");
    ck_assert_status(linattn_robust_condition(values, SIZE_MAX / 16, 0, 0, &out), LINATTN_EOVERFLOW, "values has");
    ck_assert_status(linattn_robust_condition(values, 2, 0, 0, NULL), LINATTN_EINVAL, "linattn_condition");
    ck_assert_double_eq(out.value, 77);
}
END_TEST

/* ---- Densities ---- */

static double normal(double x, double mean, double sd) {
    const double z = (x - mean) / sd;
    return exp(-0.5 * z * z) / (sd * ROOT_2PI);
}

/* diag(1, 2, 3) with the weights of a full Lanczos run and with none: the formula itself, integral 1, mean that of the nodes. */
START_TEST(case_N10_density) {
    enum { POINTS = 4001 };
    static double x[POINTS], out[POINTS];
    const double nodes[] = {1, 2, 3}, weights[] = {0.5, 0.2, 0.3}, equal[] = {1. / 3, 1. / 3, 1. / 3}, width = 0.25;
    for (size_t j = 0; j < POINTS; j++) x[j] = -2 + 8 * (double)j / (POINTS - 1);
    for (int with = 0; with <= 1; with++) {
        const double *w = with ? weights : equal;
        double integral = 0, mean = 0;
        ck_assert_ok(linattn_spectrum_density(nodes, with ? weights : NULL, 3, width, x, POINTS, out));
        for (size_t j = 0; j < POINTS; j++) {
            double wanted = 0;
            for (size_t i = 0; i < 3; i++) wanted += w[i] * normal(x[j], nodes[i], width);
            ck_assert_double_eq_tol(out[j], wanted, 1e-14);
            integral += out[j] * (x[1] - x[0]);
            mean += x[j] * out[j] * (x[1] - x[0]);
        }
        ck_assert_double_eq_tol(integral, 1, 1e-12);
        ck_assert_double_eq_tol(mean, w[0] + 2 * w[1] + 3 * w[2], 1e-12);
    }
}
END_TEST

START_TEST(density_of_extreme_numbers) {
    const double nodes[] = {-DBL_MAX, DBL_MAX}, x[] = {DBL_MAX, 0, -1};
    double out[3];
    ck_assert_ok(linattn_spectrum_density(nodes, NULL, 2, 1e-320, x, 3, out));
    ck_assert_double_infinite(out[0]);
    ck_assert_double_eq(out[1], 0);
    ck_assert_ok(linattn_spectrum_density(nodes, NULL, 2, DBL_MAX, x, 3, out));
    ck_assert_double_eq_tol(out[1] * DBL_MAX, exp(-0.5) / ROOT_2PI, 1e-14);
    ck_assert_double_eq_tol(out[0] * DBL_MAX, 0.5 * (1 + exp(-2)) / ROOT_2PI, 1e-14);
}
END_TEST

START_TEST(density_arguments) {
    const double nodes[] = {1, 2}, heavy[] = {0.5, 0.6}, negative[] = {-0.5, 1.5}, bad[] = {0.5, NAN}, x[] = {0, INFINITY};
    double out[2] = {77, 77};
    ck_assert_status(linattn_spectrum_density(NULL, NULL, 2, 1, x, 1, out), LINATTN_EINVAL, "eigenvalues is NULL");
    ck_assert_status(linattn_spectrum_density(nodes, NULL, 0, 1, x, 1, out), LINATTN_EINVAL, "count is 0");
    ck_assert_status(linattn_spectrum_density(bad, NULL, 2, 1, x, 1, out), LINATTN_ENONFINITE, "eigenvalues[1] is nan");
    ck_assert_status(linattn_spectrum_density(nodes, heavy, 2, 1, x, 1, out), LINATTN_EINVAL, "the sum of weights is 1.1");
    ck_assert_status(linattn_spectrum_density(nodes, negative, 2, 1, x, 1, out), LINATTN_EINVAL, "weights[0] is -0.5");
    ck_assert_status(linattn_spectrum_density(nodes, bad, 2, 1, x, 1, out), LINATTN_ENONFINITE, "weights[1] is nan");
    const double widths[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++)
        ck_assert_status(linattn_spectrum_density(nodes, NULL, 2, widths[i], x, 1, out), LINATTN_EINVAL, "width is");
    ck_assert_status(linattn_spectrum_density(nodes, NULL, 2, 1, NULL, 1, out), LINATTN_EINVAL, "x is NULL");
    ck_assert_status(linattn_spectrum_density(nodes, NULL, 2, 1, x, 0, out), LINATTN_EINVAL, "points is 0");
    ck_assert_status(linattn_spectrum_density(nodes, NULL, 2, 1, x, 2, out), LINATTN_ENONFINITE, "x[1] is inf");
    ck_assert_status(linattn_spectrum_density(nodes, NULL, 2, 1, x, 1, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_double_eq(out[0], 77);
}
END_TEST

/* ---- How far two spectra are apart ---- */

static linattn_spectra_distance distance_of(const double *a, size_t a_count, const double *b, size_t b_count, double width) {
    linattn_spectra_distance out = {.struct_size = sizeof out};
    ck_assert_ok(linattn_spectra_compare(a, a_count, b, b_count, width, &out));
    ck_assert_double_eq(out.distance, sqrt(out.divergence));
    return out;
}

static double entropy_term(double p, double q) { return p > 0 ? p * log2(2 * p / (p + q)) : 0; }

/* The divergence by its definition, with Simpson's rule on 20001 points; a and b lie in [0, 1], of which both ends occur. */
static double divergence_by_definition(const double *a, size_t a_count, const double *b, size_t b_count, double width) {
    enum { INTERVALS = 20000 };
    const double low = -12 * width, step = (1 + 24 * width) / INTERVALS;
    double sum = 0;
    for (size_t j = 0; j <= INTERVALS; j++) {
        const double x = low + (double)j * step;
        double p = 0, q = 0;
        for (size_t i = 0; i < a_count; i++) p += normal(x, a[i], width) / (double)a_count;
        for (size_t i = 0; i < b_count; i++) q += normal(x, b[i], width) / (double)b_count;
        const double weight = j == 0 || j == INTERVALS ? 1 : j % 2 ? 4 : 2;
        sum += weight * 0.5 * (entropy_term(p, q) + entropy_term(q, p));
    }
    return sum * step / 3;
}

START_TEST(distance_is_the_integral) {
    const double zero[] = {0}, one[] = {1}, widths[] = {0.001, 0.02, 0.1, 0.3, 1};
    double a[6] = {0, 1}, b[4];
    uint64_t state = 11;
    for (size_t w = 0; w < 5; w++) {
        const double two = divergence_by_definition(zero, 1, one, 1, widths[w]);
        ck_assert_double_eq_tol(distance_of(zero, 1, one, 1, widths[w]).divergence, two, 1e-9);
        for (int repeat = 0; repeat < 5; repeat++) {
            for (size_t i = 2; i < 6; i++) a[i] = uniform(&state);
            for (size_t i = 0; i < 4; i++) b[i] = repeat < 3 ? uniform(&state) : a[i] * (1 - 1e-3 * uniform(&state));
            const double wanted = divergence_by_definition(a, 6, b, 4, widths[w]);
            ck_assert_double_eq_tol(distance_of(a, 6, b, 4, widths[w]).divergence, wanted, 1e-8);
        }
    }
}
END_TEST

/* Symmetric to the bit; 0 for the same numbers in any order and number; blind to units; 1 when nothing overlaps. */
START_TEST(distance_laws) {
    double a[20], b[30], reversed[20], twice[40], moved_a[20], moved_b[30];
    uint64_t state = 12;
    for (size_t i = 0; i < 20; i++) a[i] = uniform(&state);
    for (size_t i = 0; i < 30; i++) b[i] = 3 * uniform(&state) - 1;
    for (size_t i = 0; i < 20; i++) {
        reversed[i] = twice[i] = twice[20 + i] = a[19 - i];
        moved_a[i] = 64 * a[i];
    }
    for (size_t i = 0; i < 30; i++) moved_b[i] = 64 * b[i];
    const linattn_spectra_distance ab = distance_of(a, 20, b, 30, 0.02), ba = distance_of(b, 30, a, 20, 0.02);
    ck_assert_mem_eq(&ab, &ba, sizeof ab);
    ck_assert_double_gt(ab.divergence, 0.1);
    ck_assert_double_lt(ab.divergence, 0.9);
    ck_assert_double_eq(distance_of(a, 20, a, 20, 0.02).distance, 0);
    ck_assert_double_le(distance_of(a, 20, reversed, 20, 0.02).distance, 1e-14);
    ck_assert_double_le(distance_of(a, 20, twice, 40, 0.02).distance, 1e-14);
    const linattn_spectra_distance moved = distance_of(moved_a, 20, moved_b, 30, 0.02);
    ck_assert_double_eq_tol(moved.divergence, ab.divergence, 1e-14);
    ck_assert_double_eq(moved.low, 64 * ab.low);
    ck_assert_double_eq(moved.high, 64 * ab.high);
    ck_assert_double_eq_tol(moved.width, 0.02 * (moved.high - moved.low), 1e-15 * moved.width);
    const double low[] = {-1, -0.9}, high[] = {1, 0.95, 0.9};
    ck_assert_double_eq_tol(distance_of(low, 2, high, 3, 0.02).distance, 1, 1e-12);
    ck_assert_double_le(distance_of(low, 2, high, 3, 0.02).distance, 1);
}
END_TEST

/* A metric: of spectra that have the same range, and so the same width. */
START_TEST(distance_obeys_the_triangle) {
    double s[3][8];
    uint64_t state = 13;
    for (int repeat = 0; repeat < 200; repeat++) {
        const double width = repeat % 2 ? 0.02 : 0.2;
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < 8; i++) s[k][i] = i < 2 ? (double)i : pow(uniform(&state), 1 + (double)k);
        const double ab = distance_of(s[0], 8, s[1], 8, width).distance, bc = distance_of(s[1], 8, s[2], 8, width).distance;
        const double ac = distance_of(s[0], 8, s[2], 8, width).distance;
        ck_assert_double_le(ac, ab + bc + 1e-12);
        ck_assert_double_le(ab, ac + bc + 1e-12);
        ck_assert_double_le(bc, ab + ac + 1e-12);
    }
}
END_TEST

START_TEST(distance_of_extreme_numbers) {
    const double threes[] = {3, 3}, low[] = {-DBL_MAX}, high[] = {DBL_MAX}, tiny[] = {0x1p-1074}, tinier[] = {0};
    const linattn_spectra_distance equal = distance_of(threes, 2, threes, 1, 0.02);
    ck_assert_double_eq(equal.distance, 0);
    ck_assert_double_eq(equal.width, 0);
    ck_assert_double_eq(equal.low, 3);
    ck_assert_double_eq(equal.high, 3);
    ck_assert_double_eq_tol(distance_of(low, 1, high, 1, 0.1).divergence, distance_of(tinier, 1, tiny, 1, 0.1).divergence, 1e-12);
    ck_assert_double_eq(distance_of(low, 1, high, 1, 0.1).width, 0.2 * DBL_MAX);
}
END_TEST

/* Numbers that differ by rounding are equal. */
START_TEST(distance_of_rounding) {
    const double a[2] = {1, 1 + 2e-16}, b[1] = {1}, c[2] = {0, 1}, e[2] = {-1e-17, 1};
    linattn_spectra_distance out = {.struct_size = sizeof out};
    ck_assert_ok(linattn_spectra_compare(a, 2, b, 1, 0.02, &out));
    ck_assert_double_eq(out.distance, 0);
    ck_assert_ok(linattn_spectra_compare(c, 2, e, 2, 0.02, &out));
    ck_assert_double_lt(out.distance, 1e-7);
    ck_assert_ok(linattn_spectra_compare(c, 2, b, 1, 0.02, &out));
    ck_assert_double_gt(out.distance, 0.4);
}
END_TEST

START_TEST(distance_arguments) {
    const double a[] = {1, 2}, bad[] = {0, INFINITY}, widths[] = {0, 0.0009, 1.0001, -1, NAN, INFINITY};
    linattn_spectra_distance out = {.struct_size = sizeof out, .low = 77};
    ck_assert_status(linattn_spectra_compare(NULL, 2, a, 2, 0.1, &out), LINATTN_EINVAL, "a is NULL");
    ck_assert_status(linattn_spectra_compare(a, 2, NULL, 2, 0.1, &out), LINATTN_EINVAL, "b is NULL");
    ck_assert_status(linattn_spectra_compare(a, 0, a, 2, 0.1, &out), LINATTN_EINVAL, "a_count is 0");
    ck_assert_status(linattn_spectra_compare(a, 2, a, 0, 0.1, &out), LINATTN_EINVAL, "b_count is 0");
    ck_assert_status(linattn_spectra_compare(a, 2, bad, 2, 0.1, &out), LINATTN_ENONFINITE, "b[1] is inf");
    ck_assert_status(linattn_spectra_compare(bad, 2, a, 2, 0.1, &out), LINATTN_ENONFINITE, "a[1] is inf");
    for (size_t i = 0; i < 6; i++)
        ck_assert_status(linattn_spectra_compare(a, 2, a, 2, widths[i], &out), LINATTN_EINVAL, "relative_width is");
    ck_assert_status(linattn_spectra_compare(a, 2, a, 2, 0.1, NULL), LINATTN_EINVAL, "linattn_spectra_distance");
    ck_assert_double_eq(out.low, 77);
}
END_TEST

/* ---- Preconditioning ---- */

START_TEST(preconditioned_matrix) {
    enum { P = 17 };
    double matrix[P * P], diagonal[P], out[P * P];
    uint64_t state = 14;
    for (size_t i = 0; i < P; i++) {
        diagonal[i] = pow(10, 8 * uniform(&state) - 6);
        for (size_t j = 0; j <= i; j++) matrix[i * P + j] = matrix[j * P + i] = 2 * uniform(&state) - 1;
    }
    ck_assert_ok(linattn_matrix_precondition(matrix, P, diagonal, out));
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) {
            const double wanted = matrix[i * P + j] * pow(diagonal[i], -0.5) * pow(diagonal[j], -0.5);
            ck_assert_double_eq_tol(out[i * P + j], wanted, 1e-14 * fabs(wanted));
            ck_assert_uint_eq(bits_of(out[i * P + j]), bits_of(out[j * P + i]));
        }
    ck_assert_ok(linattn_matrix_precondition(matrix, P, diagonal, matrix));
    ck_assert_mem_eq(matrix, out, sizeof out);
}
END_TEST

/* No step on the way overflows; a result that does not fit is Inf. */
START_TEST(preconditioner_of_extreme_numbers) {
    const double matrix[] = {1e-300, 1, 1, 1e300}, diagonal[] = {0x1p-1074, 1e300};
    double out[4];
    ck_assert_ok(linattn_matrix_precondition(matrix, 2, diagonal, out));
    ck_assert_double_eq_tol(out[0], 1e-300 / 0x1p-1074, 1e-14 * out[0]);
    ck_assert_double_eq_tol(out[1], 0x1p537 / 1e150, 1e-14 * out[1]);
    ck_assert_double_eq(out[2], out[1]);
    ck_assert_double_eq_tol(out[3], 1, 1e-15);
    const double large[] = {1e300}, small[] = {1e-100};
    ck_assert_ok(linattn_matrix_precondition(large, 1, small, out));
    ck_assert_double_infinite(out[0]);
}
END_TEST

START_TEST(precondition_arguments) {
    const double matrix[] = {1, 2, 2, NAN}, diagonal[] = {1, 0, -1, INFINITY};
    double out[4] = {77};
    ck_assert_status(linattn_matrix_precondition(NULL, 2, diagonal, out), LINATTN_EINVAL, "matrix is NULL");
    ck_assert_status(linattn_matrix_precondition(matrix, 0, diagonal, out), LINATTN_EINVAL, "p is 0");
    ck_assert_status(linattn_matrix_precondition(matrix, 1, NULL, out), LINATTN_EINVAL, "diagonal is NULL");
    ck_assert_status(linattn_matrix_precondition(matrix, 1, diagonal, NULL), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_matrix_precondition(matrix, 2, diagonal, out), LINATTN_ENONFINITE, "matrix[3] is nan");
    ck_assert_status(linattn_matrix_precondition(matrix, 1, diagonal + 1, out), LINATTN_EINVAL, "diagonal[0] is 0");
    ck_assert_status(linattn_matrix_precondition(matrix, 1, diagonal + 2, out), LINATTN_EINVAL, "diagonal[0] is -1");
    ck_assert_status(linattn_matrix_precondition(matrix, 1, diagonal + 3, out), LINATTN_ENONFINITE, "diagonal[0] is inf");
    ck_assert_status(linattn_matrix_precondition(matrix, SIZE_MAX / 4, diagonal, out), LINATTN_EOVERFLOW, "p is ");
    ck_assert_double_eq(out[0], 77);
}
END_TEST

static Suite *spectrum_measures_suite(void) {
    Suite *suite = suite_create("spectrum_measures");
    TCase *tc = tcase_create("spectrum_measures");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, case_D1_median_of_an_even_count);
    tcase_add_test(tc, case_D2_zero_medians);
    tcase_add_test(tc, noise_counts_as_zero_among_eigenvalues_only);
    tcase_add_test(tc, condition_arguments);
    tcase_add_test(tc, case_N10_density);
    tcase_add_test(tc, density_of_extreme_numbers);
    tcase_add_test(tc, density_arguments);
    tcase_add_test(tc, distance_is_the_integral);
    tcase_add_test(tc, distance_laws);
    tcase_add_test(tc, distance_obeys_the_triangle);
    tcase_add_test(tc, distance_of_extreme_numbers);
    tcase_add_test(tc, distance_of_rounding);
    tcase_add_test(tc, distance_arguments);
    tcase_add_test(tc, preconditioned_matrix);
    tcase_add_test(tc, preconditioner_of_extreme_numbers);
    tcase_add_test(tc, precondition_arguments);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(spectrum_measures_suite)
