/* two_sample.c: distances between two samples, and how often chance alone would make them as large. */
#include "common/allocate.h"
#include "common/fail.h"
#include "statistics/statistics.h"
#include <math.h>
#include <string.h>

static const linattn__struct COMPARISON = {"linattn_comparison", sizeof(linattn_comparison), sizeof(linattn_comparison), NULL};

/* Both samples in one sorted array, in units of deviations; of_a[i] says whether number i is from a. */
typedef struct pooled {
    double *x;
    unsigned char *of_a;
    size_t count, a_count;
} pooled;

typedef struct distances {
    double steps; /* D a_count b_count: a whole number */
    double wasserstein, difference;
} distances;

/* F_a - F_b between two neighbours of the pooled sample is s / (a_count b_count), s growing by b_count at numbers of a and falling
 * by a_count at those of b: whole numbers, so that ties between permutations are seen as ties. */
static distances measure(const pooled *p) {
    const double a_count = (double)p->a_count, b_count = (double)(p->count - p->a_count);
    double s = 0, largest = 0, area = 0, a_sum = 0, b_sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        s += p->of_a[i] ? b_count : -a_count;
        if (p->of_a[i])
            a_sum += p->x[i];
        else
            b_sum += p->x[i];
        if (i + 1 == p->count || p->x[i + 1] == p->x[i]) continue; /* within a tie the functions are in mid-jump */
        largest = fmax(largest, fabs(s));
        area += fabs(s) * (p->x[i + 1] - p->x[i]);
    }
    return (distances){largest, area / (a_count * b_count), a_sum / a_count - b_sum / b_count};
}

/* Sorts x by heapsort, taking the labels along. */
static void sift(pooled *p, size_t root, size_t count) {
    const double value = p->x[root];
    const unsigned char label = p->of_a[root];
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && p->x[child + 1] > p->x[child]) child++;
        if (!(p->x[child] > value)) break;
        p->x[root] = p->x[child];
        p->of_a[root] = p->of_a[child];
        root = child;
    }
    p->x[root] = value;
    p->of_a[root] = label;
}

static void sort(pooled *p) {
    for (size_t i = p->count / 2; i-- > 0;) sift(p, i, p->count);
    for (size_t last = p->count; last-- > 1;) {
        const double largest = p->x[0];
        const unsigned char label = p->of_a[0];
        p->x[0] = p->x[last];
        p->of_a[0] = p->of_a[last];
        p->x[last] = largest;
        p->of_a[last] = label;
        sift(p, 0, last);
    }
}

/* A uniformly random set of `chosen` places gets the label, the others its opposite. */
static void permute(pooled *p, const double *uniforms, size_t chosen, unsigned char label) {
    memset(p->of_a, !label, p->count);
    /* Floyd's sampling: for j = count - chosen .. count - 1 take a uniform t of 0 .. j, or j itself when t was taken before. */
    for (size_t i = 0; i < chosen; i++) {
        const size_t j = p->count - chosen + i, t = linattn__uniform_index(uniforms[i], j + 1);
        p->of_a[p->of_a[t] == label ? j : t] = label;
    }
}

/* Whether a permuted value is at least the one seen, allowing for the rounding of sums in another order. */
static int reaches(double value, double seen, double scale) { return value >= seen - 1e-12 * scale; }

static int permutations(pooled *p, const linattn_resampling_options *options, distances seen, linattn_comparison *out) {
    const size_t b_count = p->count - p->a_count, chosen = p->a_count < b_count ? p->a_count : b_count;
    const unsigned char label = p->a_count <= b_count;
    const double all = (double)options->resamples, spread = p->x[p->count - 1] - p->x[0];
    double steps = 0, wasserstein = 0, difference = 0;
    double *uniforms = linattn__allocate(chosen, sizeof *uniforms);
    int status = uniforms ? LINATTN_OK : linattn__fail_memory("permutations");
    for (size_t b = 0; b < options->resamples && status == LINATTN_OK; b++) {
        status = linattn__resampling_progress(options, p->count, b);
        if (status != LINATTN_OK) break;
        linattn__resample_uniforms(options, b, chosen, uniforms);
        permute(p, uniforms, chosen, label);
        const distances d = measure(p);
        steps += d.steps >= seen.steps;
        wasserstein += reaches(d.wasserstein, seen.wasserstein, spread);
        difference += reaches(fabs(d.difference), fabs(seen.difference), spread);
    }
    out->kolmogorov_smirnov_p = (steps + 1) / (all + 1);
    out->wasserstein_p = (wasserstein + 1) / (all + 1);
    out->mean_difference_p = (difference + 1) / (all + 1);
    linattn__release(uniforms);
    return status;
}

/* Units in which neither sample overflows: as linattn__deviations, about the first number of a. */
static int pool(const double *a, const double *b, pooled *p) {
    memcpy(p->x, a, p->a_count * sizeof *a);
    memcpy(p->x + p->a_count, b, (p->count - p->a_count) * sizeof *b);
    memset(p->of_a, 1, p->a_count);
    const int exponent = linattn__deviations(p->x, p->count, a[0], p->x);
    sort(p);
    return exponent;
}

int linattn_samples_compare(const double *a, size_t a_count, const double *b, size_t b_count,
                            const linattn_resampling_options *options, linattn_comparison *out) {
    linattn_resampling_options resampling;
    int status = linattn__sample_check("a", a, a_count, 1);
    if (status == LINATTN_OK) status = linattn__sample_check("b", b, b_count, 1);
    if (status == LINATTN_OK) status = linattn__resampling_read(&resampling, options, 1);
    if (status == LINATTN_OK) status = linattn__result_check(&COMPARISON, out);
    if (status != LINATTN_OK) return status;
    pooled p = {.count = a_count + b_count, .a_count = a_count};
    p.x = linattn__allocate(p.count, sizeof *p.x);
    p.of_a = linattn__allocate(p.count, 1);
    if (p.x && p.of_a) {
        const int exponent = pool(a, b, &p);
        const distances seen = measure(&p);
        linattn_comparison result = {.kolmogorov_smirnov = seen.steps / ((double)a_count * (double)b_count),
                                     .wasserstein = ldexp(seen.wasserstein, exponent),
                                     .mean_difference = ldexp(seen.difference, exponent),
                                     .kolmogorov_smirnov_p = NAN,
                                     .wasserstein_p = NAN,
                                     .mean_difference_p = NAN};
        if (options) status = permutations(&p, &resampling, seen, &result);
        if (status == LINATTN_OK) linattn__result_write(&COMPARISON, out, &result);
    } else {
        status = linattn__fail_memory("two samples");
    }
    linattn__release(p.x);
    linattn__release(p.of_a);
    return status;
}
