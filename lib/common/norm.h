/* norm.h: the Euclidean norm of vectors of any finite size of entries. */
#ifndef LINATTN_COMMON_NORM_H
#define LINATTN_COMMON_NORM_H

#include <stddef.h>

/* |x| = mantissa 2^exponent. The exponent is 0 unless the sum of squares leaves the range of a double, so that all ordinary vectors
 * get the plain square root of the plain sum. x with NaN: mantissa NaN; else x with Inf: mantissa Inf. */
typedef struct linattn__norm {
    double mantissa;
    int exponent;
} linattn__norm;

/* x (count). The sum runs in the order of the entries. */
linattn__norm linattn__norm_of(const double *x, size_t count);

/* |x| as a double: Inf when it is too large for one, though every entry is finite. */
double linattn__norm_value(linattn__norm norm);

/* 1 when |x| > threshold, a positive finite number. */
int linattn__norm_exceeds(linattn__norm norm, double threshold);

/* Every entry of x (count), whose norm is given and neither 0, NaN nor Inf, times length / |x|. out (count) may be x. */
void linattn__norm_rescale(double *out, const double *x, size_t count, linattn__norm norm, double length);

#endif
