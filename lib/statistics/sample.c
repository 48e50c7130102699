/* sample.c: checks, order and units of samples. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>
#include <string.h>

/* Beyond it, positions are no longer exact in the arithmetic of quantiles, and indices no longer uniform. */
static const uint64_t LARGEST_COUNT = UINT64_C(1) << 40;

int linattn__sample_check(const char *argument, const double *sample, size_t count, size_t least) {
    if (!sample) return linattn__fail_null(argument);
    if ((uint64_t)count > LARGEST_COUNT)
        return linattn__fail(LINATTN_EOVERFLOW, "%s has %zu numbers; allowed: up to 2^40", argument, count);
    if (count < least)
        return linattn__fail(LINATTN_EDEGENERATE, "%s has %zu numbers; allowed: %zu or more", argument, count, least);
    return linattn__check_finite(argument, sample, count);
}

int linattn__level_check(double level) {
    return level > 0 && level < 1 ? LINATTN_OK : linattn__fail_real("level", level, "above 0, below 1");
}

int linattn__sample_constant(const double *sample, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (sample[i] != sample[0]) return 0;
    return 1;
}

/* Puts x[root] where it belongs in the heap x[root .. count-1], children of i being 2i + 1 and 2i + 2. */
static void sift(double *x, size_t root, size_t count) {
    const double value = x[root];
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && x[child + 1] > x[child]) child++;
        if (!(x[child] > value)) break;
        x[root] = x[child];
        root = child;
    }
    x[root] = value;
}

/* Heapsort: in place, no recursion, n log n for every input; the C library's qsort may take memory of its own. */
void linattn__sort(double *x, size_t count) {
    for (size_t i = count / 2; i-- > 0;) sift(x, i, count);
    for (size_t last = count; last-- > 1;) {
        const double largest = x[0];
        x[0] = x[last];
        x[last] = largest;
        sift(x, 0, last);
    }
}

double *linattn__sorted_copy(const double *sample, size_t count) {
    double *copy = linattn__allocate(count, sizeof *copy);
    if (!copy) return NULL;
    memcpy(copy, sample, count * sizeof *copy);
    linattn__sort(copy, count);
    return copy;
}

double linattn__interpolate(double a, double b, double t) {
    const double difference = b - a;
    if (t <= 0) return a;
    if (t >= 1) return b;
    return isfinite(difference) ? a + t * difference : (1 - t) * a + t * b;
}

double linattn__order_value(const double *sorted, size_t count, double h) {
    if (!(h > 0)) return sorted[0];
    if (h >= (double)(count - 1)) return sorted[count - 1];
    const size_t i = (size_t)h;
    return linattn__interpolate(sorted[i], sorted[i + 1], h - (double)i);
}

int linattn__exponent(const double *x, size_t count) {
    double largest = 0;
    int exponent = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    frexp(largest, &exponent);
    return exponent;
}

int linattn__deviations(const double *x, size_t count, double origin, double *out) {
    /* In units in which all are below 1/2, differences are below 1. */
    const int outer = linattn__exponent(x, count) + 1;
    const double scaled = ldexp(origin, -outer);
    for (size_t i = 0; i < count; i++) out[i] = ldexp(x[i], -outer) - scaled;
    const int inner = linattn__exponent(out, count);
    for (size_t i = 0; i < count; i++) out[i] = ldexp(out[i], -inner);
    return outer + inner;
}

double linattn__undo(double origin, double value, int exponent) {
    /* In large units value 2^e alone may overflow where the sum does not. */
    if (exponent > 1000) return ldexp(ldexp(origin, -exponent) + value, exponent);
    return origin + ldexp(value, exponent);
}

void linattn__mean_variance(const double *x, size_t count, double *mean, double *variance) {
    const double n = (double)count;
    double sum = 0, rest = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += x[i];
    const double centre = sum / n;
    for (size_t i = 0; i < count; i++) {
        const double d = x[i] - centre;
        rest += d;
        squares += d * d;
    }
    /* rest would be 0 but for the rounding of centre. */
    *mean = centre + rest / n;
    *variance = count < 2 ? NAN : fmax(0, squares - rest * rest / n) / (n - 1);
    if (linattn__sample_constant(x, count)) {
        *mean = x[0];
        if (count > 1) *variance = 0;
    }
}
