/* attention_softmax.h: a_j = exp(s_j - max s) / sum_i exp(s_i - max s), along the keys.
 *
 *     J x = a * (x - <a, x>)          Jdot x = adot * (x - <a, x>) - a <adot, x>          (* entry by entry) */
#ifndef LINATTN_KERNELS_ATTENTION_SOFTMAX_H
#define LINATTN_KERNELS_ATTENTION_SOFTMAX_H

#include "kernels/tile.h"
#include "random/elementary.h"

/* Columns of a strip are independent chains: they advance side by side. */
LINATTN__INLINE void softmax_strip(double *a, size_t keys, size_t width) {
    vreal most[STRIP], sum[STRIP];
    LINATTN__UNROLL
    for (size_t r = 0; r < width; r++) most[r] = get(a, r);
    for (size_t j = 1; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) {
            const vreal s = get(a, j * width + r);
            most[r] = vreal_select(s > most[r], s, most[r]);
        }
    }
    LINATTN__UNROLL
    for (size_t r = 0; r < width; r++) sum[r] = (vreal){0};
    for (size_t j = 0; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) {
            const vreal e = vreal_exp(get(a, j * width + r) - most[r]);
            put(a, j * width + r, e);
            sum[r] += e;
        }
    }
    LINATTN__UNROLL
    for (size_t r = 0; r < width; r++) sum[r] = 1.0 / sum[r];
    for (size_t j = 0; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) put(a, j * width + r, get(a, j * width + r) * sum[r]);
    }
}

/* sums[r] = <x, y> of column r. */
LINATTN__INLINE void softmax_products(const double *x, const double *y, size_t keys, size_t width, vreal *sums) {
    LINATTN__UNROLL
    for (size_t r = 0; r < width; r++) sums[r] = (vreal){0};
    for (size_t j = 0; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) sums[r] += get(x, j * width + r) * get(y, j * width + r);
    }
}

LINATTN__INLINE void softmax_apply_strip(const double *a, const double *x, size_t keys, size_t width, double *out) {
    vreal mean[STRIP];
    softmax_products(a, x, keys, width, mean);
    for (size_t j = 0; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) {
            const size_t at = j * width + r;
            put(out, at, get(a, at) * (get(x, at) - mean[r]));
        }
    }
}

LINATTN__INLINE void softmax_bend_strip(const double *a, const double *adot, const double *x, size_t keys, size_t width,
                                        double *out) {
    vreal mean[STRIP], change[STRIP];
    softmax_products(a, x, keys, width, mean);
    softmax_products(adot, x, keys, width, change);
    for (size_t j = 0; j < keys; j++) {
        LINATTN__UNROLL
        for (size_t r = 0; r < width; r++) {
            const size_t at = j * width + r;
            put(out, at, get(out, at) + get(adot, at) * (get(x, at) - mean[r]) - get(a, at) * change[r]);
        }
    }
}

static void softmax_forward(double *a, size_t keys, size_t width) {
    if (width == STRIP)
        softmax_strip(a, keys, STRIP);
    else
        softmax_strip(a, keys, 1);
}

static void softmax_apply(const double *a, const double *x, size_t keys, size_t width, double *out) {
    if (width == STRIP)
        softmax_apply_strip(a, x, keys, STRIP, out);
    else
        softmax_apply_strip(a, x, keys, 1, out);
}

static void softmax_bend(const double *a, const double *adot, const double *x, size_t keys, size_t width, double *out) {
    if (width == STRIP)
        softmax_bend_strip(a, adot, x, keys, STRIP, out);
    else
        softmax_bend_strip(a, adot, x, keys, 1, out);
}

#endif
