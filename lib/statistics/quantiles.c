/* quantiles.c: medians and quantiles. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"

int linattn_sample_median(const double *sample, size_t count, int32_t rule, double *out) {
    const int status = linattn__sample_check("sample", sample, count, 1);
    if (status != LINATTN_OK) return status;
    if (rule != LINATTN_MEDIAN_LOWER && rule != LINATTN_MEDIAN_MEAN)
        return linattn__fail_integer("rule", rule, "0 (the lower middle value), 1 (the mean of both)");
    if (!out) return linattn__fail_null("out");
    double *sorted = linattn__sorted_copy(sample, count);
    if (!sorted) return linattn__fail_memory("a median");
    const double middle = 0.5 * (double)(count - 1);
    *out = rule == LINATTN_MEDIAN_LOWER ? sorted[(count - 1) / 2] : linattn__order_value(sorted, count, middle);
    linattn__release(sorted);
    return LINATTN_OK;
}

int linattn_sample_quantiles(const double *sample, size_t count, const double *probabilities, size_t quantiles, double *out) {
    const int status = linattn__sample_check("sample", sample, count, 1);
    if (status != LINATTN_OK) return status;
    if (!probabilities) return linattn__fail_null("probabilities");
    if (quantiles == 0) return linattn__fail_count("quantiles", quantiles, "1 or more");
    for (size_t i = 0; i < quantiles; i++)
        if (!(probabilities[i] >= 0 && probabilities[i] <= 1))
            return linattn__fail_real("a probability", probabilities[i], "0 to 1");
    if (!out) return linattn__fail_null("out");
    double *sorted = linattn__sorted_copy(sample, count);
    if (!sorted) return linattn__fail_memory("quantiles");
    for (size_t i = 0; i < quantiles; i++) out[i] = linattn__order_value(sorted, count, (double)(count - 1) * probabilities[i]);
    linattn__release(sorted);
    return LINATTN_OK;
}
