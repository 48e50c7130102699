#include "crossed.h"

#include <math.h>

static double mean_of(const double *x, size_t count, size_t stride) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i * stride];
    return sum / (double)count;
}

/* A component of variance from mean squares: sqrt((above - below) / each). */
static double component(double above, double below, double each, int *negative) {
    if (above < below) *negative = 1;
    return above > below ? sqrt((above - below) / each) : 0;
}

/* With S seeds and B batches: MS_S = B sum_s (x_s. - x..)^2 / (S - 1), MS_B likewise, MS_E of x_sb - x_s. - x_.b + x.. by
 * (S - 1)(B - 1). Their expectations are B var a + var e, S var b + var e and var e; the mean's variance is
 * (MS_S + MS_B - MS_E) / (S B), with Satterthwaite's degrees of freedom. */
static void split_variance(const double *x, const double *seed_logs, crossed *out) {
    const size_t seeds = out->seeds, batches = out->batches;
    const double S = (double)seeds, B = (double)batches, middle = mean_of(seed_logs, seeds, 1);
    double by_seed = 0, by_batch = 0, rest = 0;
    out->wide_low = out->wide_high = out->sd_seeds = out->sd_batches = out->sd_rest = NAN;
    if (seeds < 2 || batches < 2) return;
    for (size_t s = 0; s < seeds; s++) by_seed += B * pow(seed_logs[s] - middle, 2) / (S - 1);
    for (size_t b = 0; b < batches; b++) {
        const double batch_log = mean_of(x + b, seeds, batches);
        by_batch += S * pow(batch_log - middle, 2) / (B - 1);
        for (size_t s = 0; s < seeds; s++)
            rest += pow(x[s * batches + b] - seed_logs[s] - batch_log + middle, 2) / ((S - 1) * (B - 1));
    }
    out->sd_seeds = component(by_seed, rest, B, &out->negative);
    out->sd_batches = component(by_batch, rest, S, &out->negative);
    out->sd_rest = sqrt(rest);

    const double sum = fmax(by_seed + by_batch - rest, fmax(by_seed, by_batch)); /* negative components count as 0 */
    const double spread = by_seed * by_seed / (S - 1) + by_batch * by_batch / (B - 1) + rest * rest / ((S - 1) * (B - 1));
    double t = NAN;
    if (spread > 0 && linattn_student_quantile(0.975, sum * sum / spread, &t) != LINATTN_OK) return;
    const double half = spread > 0 ? t * sqrt(sum / (S * B)) : 0;
    out->wide_low = exp(middle - half);
    out->wide_high = exp(middle + half);
}

void crossed_analyse(const double *logs, size_t seeds, size_t batches, double *ratios, double *scratch, crossed *out) {
    uint64_t above = 0;
    *out = (crossed){.seeds = seeds, .batches = batches};
    out->bca = (linattn_interval){.struct_size = sizeof out->bca, .low = NAN, .high = NAN};
    out->above = out->bca;
    for (size_t s = 0; s < seeds; s++) {
        scratch[s] = mean_of(logs + s * batches, batches, 1);
        ratios[s] = exp(scratch[s]);
        above += scratch[s] > 0;
    }
    split_variance(logs, scratch, out);
    out->geometric = estimate_of_logs(ratios, seeds, scratch);
    if (isfinite(out->wide_low)) { /* of few seeds the first one can be the wider one */
        out->wide_low = fmin(out->wide_low, out->geometric.low);
        out->wide_high = fmax(out->wide_high, out->geometric.high);
    }
    out->plain = estimate_of(ratios, seeds);
    out->median = estimate_median(ratios, seeds);
    linattn_sample_bootstrap(ratios, seeds, LINATTN_LOCATION_MEAN, 0.95, NULL, &out->bca);
    linattn_share_interval(above, seeds, 0.95, &out->above);
}
