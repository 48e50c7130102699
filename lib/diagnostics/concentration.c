/* concentration.c: how unevenly attention weights spread over keys. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"
#include <linattn/diagnostics.h>

#include <math.h>
#include <stdlib.h>

static const linattn__struct TYPE = {"linattn_concentration", sizeof(linattn_concentration), sizeof(linattn_concentration), NULL};

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Adds a row to the sums of out and notes its ratio; w: (keys), scratch. Sizes are taken relative to the largest, so that no sum of
 * theirs overflows. */
static void add_row(const double *a, size_t keys, size_t top, double *w, double *ratio, linattn_concentration *out) {
    double largest = 0, sum = 0, entropy = 0, share = 0;
    for (size_t j = 0; j < keys; j++) largest = fmax(largest, fabs(a[j]));
    if (largest == 0) {
        out->empty++;
        return;
    }
    for (size_t j = 0; j < keys; j++) sum += w[j] = fabs(a[j]) / largest;
    for (size_t j = 0; j < keys; j++) {
        const double part = w[j] / sum; /* may be 0 where w is not */
        if (part > 0) entropy -= part * log(part);
    }
    qsort(w, keys, sizeof *w, descending);
    for (size_t j = 0; j < top; j++) share += w[j] / sum;
    ratio[out->rows++] = w[keys - 1];
    out->entropy += entropy;
    out->largest += 1 / sum;
    out->top_share += share;
}

/* The means, and the ratio's median and least. */
static void finish(double *ratio, linattn_concentration *out) {
    const size_t rows = out->rows;
    out->entropy /= (double)rows;
    out->largest /= (double)rows;
    out->top_share /= (double)rows;
    qsort(ratio, rows, sizeof *ratio, descending);
    out->ratio_median = rows > 0 ? ratio[rows / 2] : NAN; /* the (rows/2 + 1)-th from the top is the lower middle one */
    out->ratio_smallest = rows > 0 ? ratio[rows - 1] : NAN;
}

static int check(const double *weights, size_t rows, size_t keys, size_t stride, size_t top) {
    size_t count;
    if (!weights) return linattn__fail_null("weights");
    if (rows < 1) return linattn__fail_count("rows", rows, "at least 1");
    if (keys < 1) return linattn__fail_count("keys", keys, "at least 1");
    if (stride < keys) return linattn__fail(LINATTN_EINVAL, "stride is %zu; allowed: at least keys, which is %zu", stride, keys);
    if (top < 1 || top > keys) return linattn__fail(LINATTN_EINVAL, "top is %zu; allowed: 1 to keys, which is %zu", top, keys);
    if (!linattn__multiply_sizes(rows, stride, &count) || count > PTRDIFF_MAX / sizeof *weights)
        return linattn__fail(LINATTN_EOVERFLOW, "%zu rows of stride %zu do not fit in the address space", rows, stride);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < keys; j++)
            if (!isfinite(weights[i * stride + j]))
                return linattn__fail(LINATTN_ENONFINITE, "the weight of row %zu, key %zu is %s; allowed: finite numbers", i, j,
                                     isnan(weights[i * stride + j]) ? "nan" : "infinite");
    return LINATTN_OK;
}

int linattn_attention_concentration(const double *weights, size_t rows, size_t keys, size_t stride, size_t top,
                                    linattn_concentration *out) {
    int status = linattn__result_check(&TYPE, out);
    if (status == LINATTN_OK) status = check(weights, rows, keys, stride, top);
    if (status != LINATTN_OK) return status;
    linattn_concentration result = {0};
    double *w = linattn__allocate(keys, sizeof *w), *ratio = linattn__allocate(rows, sizeof *ratio);
    status = w && ratio ? LINATTN_OK : linattn__fail_memory("attention concentration");
    for (size_t i = 0; status == LINATTN_OK && i < rows; i++) add_row(weights + i * stride, keys, top, w, ratio, &result);
    if (status == LINATTN_OK) {
        finish(ratio, &result);
        linattn__result_write(&TYPE, out, &result);
        if (result.rows == 0)
            status = linattn__fail(LINATTN_EDEGENERATE, "all %zu rows of weights are 0: they have no concentration", rows);
    }
    linattn__release(w);
    linattn__release(ratio);
    return status;
}
