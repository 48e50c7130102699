/* moments.c: moments to the sixth, their bootstrap errors, and whether a few numbers make up the sixth. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>

static const linattn__struct MOMENTS = {"linattn_moments", sizeof(linattn_moments), sizeof(linattn_moments), NULL};

enum { MEAN, VARIANCE, SD, SKEWNESS, KURTOSIS, FIFTH, SIXTH, MOMENTS_COUNT };

/* All moments of y (count), whose size is moderate. Standardising first keeps sixth powers below count^3. */
static void moments_of(const double *y, size_t count, double out[MOMENTS_COUNT]) {
    double third = 0, fourth = 0, fifth = 0, sixth = 0;
    const double n = (double)count;
    linattn__mean_variance(y, count, &out[MEAN], &out[VARIANCE]);
    out[SD] = sqrt(out[VARIANCE]);
    for (int j = SKEWNESS; j < MOMENTS_COUNT; j++) out[j] = NAN;
    if (!(out[VARIANCE] > 0)) return;
    const double inverse = 1 / sqrt(out[VARIANCE] * (n - 1) / n); /* 1/sqrt(m_2) */
    for (size_t i = 0; i < count; i++) {
        const double z = (y[i] - out[MEAN]) * inverse, square = z * z, cube = square * z;
        third += cube;
        fourth += square * square;
        fifth += square * cube;
        sixth += cube * cube;
    }
    out[SKEWNESS] = third / n;
    out[KURTOSIS] = fourth / n - 3;
    out[FIFTH] = fifth / n;
    out[SIXTH] = sixth / n;
}

/* The share of the sum of (y - mean)^6 that the ceil(count / 1000) largest terms have. work: (count). */
static double sixth_share(const double *y, size_t count, const double moments[MOMENTS_COUNT], double *work) {
    const size_t largest = (count + 999) / 1000;
    double sum = 0, top = 0;
    if (!(moments[VARIANCE] > 0)) return NAN;
    for (size_t i = 0; i < count; i++) work[i] = fabs(y[i] - moments[MEAN]) / moments[SD];
    linattn__sort(work, count);
    for (size_t i = 0; i < count; i++) {
        const double cube = work[i] * work[i] * work[i];
        sum += cube * cube;
        if (i + largest >= count) top += cube * cube;
    }
    return top / sum;
}

/* errors: the sd of each moment over resamples. */
static int bootstrap(const double *y, size_t count, const linattn_resampling_options *options, double errors[MOMENTS_COUNT]) {
    const size_t resamples = options->resamples;
    size_t *indices = linattn__allocate(count, sizeof *indices);
    double *drawn = linattn__allocate(count, sizeof *drawn);
    double *replicates = linattn__allocate(resamples, MOMENTS_COUNT * sizeof *replicates);
    int status = indices && drawn && replicates ? LINATTN_OK : linattn__fail_memory("the bootstrap of moments");
    for (size_t b = 0; b < resamples && status == LINATTN_OK; b++) {
        double moments[MOMENTS_COUNT];
        status = linattn__resampling_progress(options, count, b);
        if (status != LINATTN_OK) break;
        linattn__resample_indices(options, b, count, count, indices);
        for (size_t i = 0; i < count; i++) drawn[i] = y[indices[i]];
        moments_of(drawn, count, moments);
        for (size_t j = 0; j < MOMENTS_COUNT; j++) replicates[j * resamples + b] = moments[j];
    }
    if (status == LINATTN_OK)
        for (size_t j = 0; j < MOMENTS_COUNT; j++) errors[j] = linattn__finite_sd(replicates + j * resamples, resamples);
    linattn__release(indices);
    linattn__release(drawn);
    linattn__release(replicates);
    return status;
}

/* From the units of deviations to those of the sample. */
static void write_moments(const double moments[MOMENTS_COUNT], const double errors[MOMENTS_COUNT], double origin, int exponent,
                          linattn_moments *out) {
    out->mean = linattn__undo(origin, moments[MEAN], exponent);
    out->variance = ldexp(moments[VARIANCE], 2 * exponent);
    out->sd = ldexp(moments[SD], exponent);
    out->skewness = moments[SKEWNESS];
    out->excess_kurtosis = moments[KURTOSIS];
    out->moment5 = moments[FIFTH];
    out->moment6 = moments[SIXTH];
    out->mean_error = ldexp(errors[MEAN], exponent);
    out->variance_error = ldexp(errors[VARIANCE], 2 * exponent);
    out->sd_error = ldexp(errors[SD], exponent);
    out->skewness_error = errors[SKEWNESS];
    out->kurtosis_error = errors[KURTOSIS];
    out->moment5_error = errors[FIFTH];
    out->moment6_error = errors[SIXTH];
}

int linattn_sample_moments(const double *sample, size_t count, const linattn_resampling_options *options, linattn_moments *out) {
    linattn_resampling_options resampling;
    double moments[MOMENTS_COUNT], errors[MOMENTS_COUNT];
    int status = linattn__sample_check("sample", sample, count, 1);
    if (status == LINATTN_OK) status = linattn__resampling_read(&resampling, options, 2);
    if (status == LINATTN_OK) status = linattn__result_check(&MOMENTS, out);
    if (status != LINATTN_OK) return status;
    double *y = linattn__allocate(count, 2 * sizeof *y);
    if (!y) return linattn__fail_memory("moments");
    const int exponent = linattn__deviations(sample, count, sample[0], y);
    moments_of(y, count, moments);
    for (size_t j = 0; j < MOMENTS_COUNT; j++) errors[j] = NAN;
    linattn_moments result = {.count = count, .sixth_share = sixth_share(y, count, moments, y + count)};
    if (options) status = bootstrap(y, count, &resampling, errors);
    linattn__release(y);
    if (status != LINATTN_OK) return status;
    result.sixth_dominated = result.sixth_share > 0.5;
    write_moments(moments, errors, sample[0], exponent, &result);
    linattn__result_write(&MOMENTS, out, &result);
    return LINATTN_OK;
}
