/* condition.c: robust condition numbers, max |x| / median |x|. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include "spectrum/spectrum.h"
#include "statistics/statistics.h"
#include <math.h>

const linattn__struct linattn__condition_type = {"linattn_condition", sizeof(linattn_condition), sizeof(linattn_condition), NULL};

/* The magnitudes of values, those up to `zero` as 0; counts zeros and negatives. */
static void magnitudes_of(const double *values, size_t count, double zero, double *magnitudes, linattn_condition *out) {
    for (size_t i = 0; i < count; i++) {
        magnitudes[i] = fabs(values[i]);
        if (magnitudes[i] <= zero) magnitudes[i] = 0;
        out->largest = fmax(out->largest, magnitudes[i]);
        out->zeros += magnitudes[i] == 0;
        out->negatives += magnitudes[i] > 0 && values[i] < 0;
    }
}

/* Divides by nothing that is 0: a program may trap that. */
static void divide(linattn_condition *out) {
    if (out->median > 0) {
        out->value = out->largest / out->median;
        return;
    }
    out->flags = LINATTN_CONDITION_ZERO_MEDIAN;
    if (!(out->largest > 0)) out->flags |= LINATTN_CONDITION_ALL_ZERO;
    out->value = out->largest > 0 ? INFINITY : NAN;
}

int linattn_robust_condition(const double *values, size_t count, int32_t kind, int32_t rule, linattn_condition *out) {
    if (!values) return linattn__fail_null("values");
    if (count == 0) return linattn__fail_count("count", count, "1 or more");
    if (kind != LINATTN_CONDITION_EIGENVALUES && kind != LINATTN_CONDITION_DIAGONAL)
        return linattn__fail_integer("kind", kind, "0 (eigenvalues), 1 (a diagonal)");
    int status = linattn__sample_check("values", values, count, 1);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__condition_type, out);
    if (status != LINATTN_OK) return status;
    linattn_condition result = {.count = count, .kind = kind, .rule = rule};
    double *magnitudes = linattn__allocate(count, sizeof *magnitudes);
    if (!magnitudes) return linattn__fail_memory("a condition number");
    const double zero = kind == LINATTN_CONDITION_EIGENVALUES ? linattn__spectrum_zero(values, count) : 0;
    magnitudes_of(values, count, zero, magnitudes, &result);
    status = linattn_sample_median(magnitudes, count, rule, &result.median);
    linattn__release(magnitudes);
    if (status != LINATTN_OK) return status;
    divide(&result);
    linattn__result_write(&linattn__condition_type, out, &result);
    return LINATTN_OK;
}
