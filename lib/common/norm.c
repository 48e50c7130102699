/* norm.c: sqrt(sum x_i^2), plainly where the sum is a good number, otherwise of x / 2^e with e that of the largest entry. */
#include "common/norm.h"
#include <float.h>
#include <math.h>

/* Between these the sum of squares has lost nothing: it has not overflowed, and squares that underflowed (below 2^-1022) are less
 * than the rounding of a sum above 2^-900, even 2^60 of them. */
static const double SMALLEST_SUM = 0x1p-900, LARGEST_SUM = DBL_MAX;

/* max |x_i|; NaN when there is a NaN. */
static double largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(x[i]);
        if (isnan(size)) return size;
        if (size > most) most = size;
    }
    return most;
}

linattn__norm linattn__norm_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    if (sum >= SMALLEST_SUM && sum <= LARGEST_SUM) return (linattn__norm){sqrt(sum), 0};

    const double most = largest(x, count);
    if (most == 0 || !isfinite(most)) return (linattn__norm){most, 0};
    const int exponent = ilogb(most);
    sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double scaled = ldexp(x[i], -exponent); /* below 2 in size, exact unless it is negligible */
        sum += scaled * scaled;
    }
    return (linattn__norm){sqrt(sum), exponent};
}

double linattn__norm_value(linattn__norm norm) { return ldexp(norm.mantissa, norm.exponent); }

int linattn__norm_exceeds(linattn__norm norm, double threshold) { return norm.mantissa > ldexp(threshold, -norm.exponent); }

void linattn__norm_rescale(double *out, const double *x, size_t count, linattn__norm norm, double length) {
    /* Divided first: one rounding only where length is a power of two, and a ratio length / |x| that is no double does not arise.
     */
    if (norm.exponent == 0) {
        for (size_t i = 0; i < count; i++) out[i] = x[i] / norm.mantissa * length;
        return;
    }
    for (size_t i = 0; i < count; i++) out[i] = ldexp(x[i], -norm.exponent) / norm.mantissa * length;
}
