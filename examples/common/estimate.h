/* estimate.h: what a few runs say together, by the library's statistics. */
#ifndef EXAMPLES_ESTIMATE_H
#define EXAMPLES_ESTIMATE_H

#include <stddef.h>

typedef struct estimate {
    size_t count;
    double mean; /* NaN for no numbers */
    double sd;   /* n - 1 below; NaN, as low and high, for less than two */
    double low;  /* Student's 95 % interval of the mean */
    double high;
} estimate;

/* sample: (count), finite. */
estimate estimate_of(const double *sample, size_t count);

/* The same for the logarithms of a sample > 0, put back: geometric mean and interval; sd is that of the natural logarithms.
 * scratch: (count). */
estimate estimate_of_logs(const double *sample, size_t count, double *scratch);

/* The median, by the mean of the middle two; NaN for no numbers. */
double estimate_median(const double *sample, size_t count);

enum { ESTIMATE_TEXT = 96 };

/* "1.76 [1.52, 2.01]", without the interval where there is none, "-" without numbers. Returns text. */
char *estimate_print(double middle, double low, double high, char text[ESTIMATE_TEXT]);

#endif
