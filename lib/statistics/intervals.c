/* intervals.c: intervals by formula: Student's for a mean, Wilson's for a share. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

int linattn_sample_interval(const double *sample, size_t count, double level, linattn_interval *out) {
    double mean, variance;
    int status = linattn__sample_check("sample", sample, count, 2);
    if (status == LINATTN_OK) status = linattn__level_check(level);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__interval_type, out);
    if (status != LINATTN_OK) return status;
    double *y = linattn__allocate(count, sizeof *y);
    if (!y) return linattn__fail_memory("an interval");
    const double n = (double)count, origin = sample[0];
    const int exponent = linattn__deviations(sample, count, origin, y);
    linattn__mean_variance(y, count, &mean, &variance);
    linattn__release(y);
    /* The quantile of the small tail: (1 + level)/2 would round away what a level close to 1 asks for. */
    const double error = sqrt(variance / n), half = error > 0 ? -linattn__student_quantile(0.5 * (1 - level), n - 1) * error : 0;
    const linattn_interval result = {.estimate = linattn__undo(origin, mean, exponent),
                                     .low = linattn__undo(origin, mean - half, exponent),
                                     .high = linattn__undo(origin, mean + half, exponent),
                                     .error = ldexp(error, exponent),
                                     .level = level};
    linattn__result_write(&linattn__interval_type, out, &result);
    return LINATTN_OK;
}

int linattn_share_interval(uint64_t successes, uint64_t trials, double level, linattn_interval *out) {
    int status = linattn__level_check(level);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__interval_type, out);
    if (status != LINATTN_OK) return status;
    if (successes > trials) return linattn__fail_count("successes", successes, "up to trials");
    if (trials == 0) return linattn__fail(LINATTN_EDEGENERATE, "trials is 0; allowed: 1 or more");
    /* The shares p for which |estimate - p| <= z sqrt(p (1 - p) / n). */
    const double n = (double)trials, p = (double)successes / n, z = -linattn__normal_quantile(0.5 * (1 - level)), s = z * z / n;
    const double centre = (p + 0.5 * s) / (1 + s);
    const double half = sqrt(s * (p * (double)(trials - successes) / n + 0.25 * s)) / (1 + s);
    const linattn_interval result = {.estimate = p,
                                     .low = successes == 0 ? 0 : fmax(0, centre - half),
                                     .high = successes == trials ? 1 : fmin(1, centre + half),
                                     .error = sqrt(p * (double)(trials - successes) / n / n),
                                     .level = level};
    linattn__result_write(&linattn__interval_type, out, &result);
    return LINATTN_OK;
}
