#include "noise.h"

enum { BOOTSTRAP = 500 }; /* resamples, of the errors of moments */

int noise_describe(noise_finding *f, size_t count) {
    linattn_resampling_options resampling;
    int status = linattn_resampling_options_init(&resampling, sizeof resampling);
    resampling.resamples = BOOTSTRAP;
    for (size_t k = 0; k < SAMPLES; k++) {
        f->moments[k] = (linattn_moments){.struct_size = sizeof f->moments[k]};
        f->line[k] = (linattn_normal_plot){.struct_size = sizeof f->line[k]};
        if (status == LINATTN_OK) status = linattn_sample_moments(f->errors[k], count, &resampling, &f->moments[k]);
        if (status == LINATTN_OK) status = linattn_sample_normal_plot(f->errors[k], count, NULL, NULL, &f->line[k]);
    }
    f->comparison = (linattn_comparison){.struct_size = sizeof f->comparison};
    resampling.resamples = NOISE_PERMUTATIONS;
    if (status == LINATTN_OK)
        status = linattn_samples_compare(f->errors[MEASURED], count, f->errors[SURROGATE], count, &resampling, &f->comparison);
    f->tail = (linattn_tail){.struct_size = sizeof f->tail};
    f->tail_status = linattn_sample_tail(f->errors[MEASURED], count, 0, 0, NULL, &f->tail);
    return status;
}

size_t noise_thin(double *quantiles, double *ordered, size_t count) {
    enum { ENDS = 150, MIDDLE = 300 };
    const size_t stride = count / MIDDLE + 1;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i < ENDS || i >= count - ENDS || i % stride == 0) {
            quantiles[kept] = quantiles[i];
            ordered[kept++] = ordered[i];
        }
    return kept;
}
