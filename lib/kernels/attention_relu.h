/* attention_relu.h: a = max(s, 0); J is 1 where a > 0 and 0 elsewhere, at the kink too; Jdot = 0. */
#ifndef LINATTN_KERNELS_ATTENTION_RELU_H
#define LINATTN_KERNELS_ATTENTION_RELU_H

#include "kernels/tile.h"

/* Not a number stays so. */
static void relu_forward(double *a, size_t keys, size_t width) {
    for (size_t i = 0; i < keys * width; i++) put(a, i, vreal_select(get(a, i) <= 0.0, (vreal){0}, get(a, i)));
}

static void relu_apply(const double *a, const double *x, size_t keys, size_t width, double *out) {
    for (size_t i = 0; i < keys * width; i++) put(out, i, vreal_select(get(a, i) > 0.0, get(x, i), (vreal){0}));
}

#endif
