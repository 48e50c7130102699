/* hill.c: Hill's estimates of the tail index over a range of k, and whether they agree. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

static const linattn__struct TAIL = {"linattn_tail", sizeof(linattn_tail), sizeof(linattn_tail), NULL};

/* How many times 1/sqrt(first), the relative error at the beginning of the range, the estimates may be apart; and the shortest
 * range that can tell a plateau from a slope. */
static const double TOLERANCE = 3;
enum { LEAST_FIRST = 10, LEAST_FACTOR = 4 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static int choose_range(size_t count, size_t *first, size_t *last) {
    if (*first == 0 && *last == 0) {
        *last = larger(count / 100, smaller(10, count - 1));
        *first = larger(*last / 10, smaller(10, *last));
        return LINATTN_OK;
    }
    if (*last == 0 || *last >= count) return linattn__fail_count("last", *last, "1 to count - 1, or first and last both 0");
    if (*first == 0 || *first > *last) return linattn__fail_count("first", *first, "1 to last, or first and last both 0");
    return LINATTN_OK;
}

/* ln(a / b) for a >= b > 0, with the relative accuracy of a - b. */
static double log_ratio(double a, double b) { return a < 2 * b ? log1p((a - b) / b) : log(a) - log(b); }

/* sorted: (count), upwards. Estimates need only the spacings: sum over i <= k of ln(x_(i)/x_(k+1)) = sum of i ln(x_(i)/x_(i+1)).
 * alphas may be NULL. */
static void estimate(const double *sorted, size_t count, size_t first, size_t last, double *alphas, linattn_tail *out) {
    double sum = 0;
    for (size_t k = 1; k <= last; k++) {
        sum += (double)k * log_ratio(sorted[count - k], sorted[count - k - 1]);
        if (k < first) continue;
        const double alpha = (double)k / sum;
        if (alphas) alphas[k - first] = alpha;
        if (k == first) out->alpha_first = out->alpha_min = out->alpha_max = alpha;
        out->alpha_min = fmin(out->alpha_min, alpha);
        out->alpha_max = fmax(out->alpha_max, alpha);
        out->alpha_last = alpha;
    }
    out->first = first;
    out->last = last;
    out->relative_range = log(out->alpha_max / out->alpha_min);
    out->tolerance = TOLERANCE / sqrt((double)first);
    out->plateau = first >= LEAST_FIRST && last / LEAST_FACTOR >= first && out->relative_range <= out->tolerance;
    out->alpha = out->plateau ? out->alpha_last : NAN;
    out->error = out->alpha / sqrt((double)last);
}

int linattn_sample_tail(const double *sample, size_t count, size_t first, size_t last, double *alphas, linattn_tail *out) {
    int status = linattn__sample_check("sample", sample, count, 2);
    if (status == LINATTN_OK) status = choose_range(count, &first, &last);
    if (status == LINATTN_OK) status = linattn__result_check(&TAIL, out);
    if (status != LINATTN_OK) return status;
    double *sorted = linattn__sorted_copy(sample, count);
    if (!sorted) return linattn__fail_memory("a tail");
    if (!(sorted[count - last - 1] > 0)) {
        status = linattn__fail(LINATTN_EDEGENERATE,
                               "number %zu from the top is not positive; a tail of last = %zu needs positive "
                               "ones",
                               last + 1, last);
    } else if (sorted[count - 1] == sorted[count - first - 1]) {
        status = linattn__fail(LINATTN_EDEGENERATE, "the %zu largest numbers are equal; first = %zu needs two different ones",
                               first + 1, first);
    } else {
        linattn_tail result = {0};
        estimate(sorted, count, first, last, alphas, &result);
        linattn__result_write(&TAIL, out, &result);
    }
    linattn__release(sorted);
    return status;
}
