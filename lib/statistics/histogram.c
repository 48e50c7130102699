/* histogram.c: bins of equal width that account for every number. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const linattn__struct HISTOGRAM = {"linattn_histogram", sizeof(linattn_histogram), sizeof(linattn_histogram), NULL};

static int check_range(double low, double high) {
    if (isnan(low) && isnan(high)) return LINATTN_OK;
    if (!isfinite(low)) return linattn__fail_real("low", low, "finite; or both low and high NaN");
    if (!isfinite(high)) return linattn__fail_real("high", high, "finite; or both low and high NaN");
    if (!(low < high)) return linattn__fail_real("high", high, "above low");
    return LINATTN_OK;
}

static void range_of(const double *sample, size_t count, double *low, double *high) {
    *low = *high = sample[0];
    for (size_t i = 1; i < count; i++) {
        *low = fmin(*low, sample[i]);
        *high = fmax(*high, sample[i]);
    }
    if (*low < *high) return;
    const double x = *low, half = 0.5 * fmax(1, fabs(x));
    *low = fmax(x - half, -DBL_MAX);
    *high = fmin(x + half, DBL_MAX);
}

static double edge(double low, double high, size_t bins, size_t i) {
    return linattn__interpolate(low, high, (double)i / (double)bins);
}

/* The bin of low <= x <= high: a guess, which rounding may put beside the right one, then by the edges themselves, so that the
 * edges given out are the rule. */
static size_t bin_of(double x, double low, double high, size_t bins) {
    const double share = (0.5 * x - 0.5 * low) / (0.5 * high - 0.5 * low);
    const double guess = share * (double)bins;
    size_t i = guess > 0 ? (guess < (double)bins ? (size_t)guess : bins - 1) : 0;
    while (i > 0 && x < edge(low, high, bins, i)) i--;
    while (i + 1 < bins && x >= edge(low, high, bins, i + 1)) i++;
    return i;
}

int linattn_sample_histogram(const double *sample, size_t count, double low, double high, size_t bins, uint64_t *counts,
                             double *edges, linattn_histogram *out) {
    int status = linattn__sample_check("sample", sample, count, 1);
    if (status == LINATTN_OK) status = check_range(low, high);
    if (status != LINATTN_OK) return status;
    if (bins == 0 || bins > LINATTN_MAX_BINS) return linattn__fail_count("bins", bins, "1 to 2^24");
    if (!counts) return linattn__fail_null("counts");
    status = linattn__result_check(&HISTOGRAM, out);
    if (status != LINATTN_OK) return status;
    if (isnan(low)) range_of(sample, count, &low, &high);
    linattn_histogram result = {.low = low, .high = high};
    memset(counts, 0, bins * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        if (sample[i] < low) {
            result.below++;
        } else if (sample[i] > high) {
            result.above++;
        } else {
            result.inside++;
            counts[bin_of(sample[i], low, high, bins)]++;
        }
    }
    for (size_t i = 0; edges && i <= bins; i++) edges[i] = edge(low, high, bins, i);
    linattn__result_write(&HISTOGRAM, out, &result);
    return LINATTN_OK;
}
