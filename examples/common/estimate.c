#include "estimate.h"

#include <linattn/statistics.h>
#include <math.h>
#include <stdio.h>

enum { LEVEL = 95 };

estimate estimate_of(const double *sample, size_t count) {
    estimate e = {count, NAN, NAN, NAN, NAN};
    linattn_moments moments = {.struct_size = sizeof moments};
    linattn_interval interval = {.struct_size = sizeof interval};
    if (linattn_sample_moments(sample, count, NULL, &moments) == LINATTN_OK) {
        e.mean = moments.mean;
        e.sd = moments.sd;
    }
    if (linattn_sample_interval(sample, count, LEVEL / 100.0, &interval) == LINATTN_OK) {
        e.low = interval.low;
        e.high = interval.high;
    }
    return e;
}

estimate estimate_of_logs(const double *sample, size_t count, double *scratch) {
    for (size_t i = 0; i < count; i++) scratch[i] = log(sample[i]);
    estimate e = estimate_of(scratch, count);
    e.mean = exp(e.mean);
    e.low = exp(e.low);
    e.high = exp(e.high);
    return e;
}

double estimate_median(const double *sample, size_t count) {
    double median = NAN;
    linattn_sample_median(sample, count, LINATTN_MEDIAN_MEAN, &median);
    return median;
}

char *estimate_print(double middle, double low, double high, char text[ESTIMATE_TEXT]) {
    if (isnan(middle))
        snprintf(text, ESTIMATE_TEXT, "-");
    else if (isnan(low) || isnan(high))
        snprintf(text, ESTIMATE_TEXT, "%.3g", middle);
    else
        snprintf(text, ESTIMATE_TEXT, "%.3g [%.3g, %.3g]", middle, low, high);
    return text;
}
