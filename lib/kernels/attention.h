/* attention.h: what a row of scores becomes: one file a kind, and here their table.
 *
 * A strip holds the scores of `width` query tokens, (keys, width) lane numbers: the width is STRIP or 1. Each kind has a row
 * function a = act(s) and two derivatives, all in terms of a. J = da/ds is symmetric for every kind here, so one function gives
 * both the tangent adot = J sdot and the adjoint sbar = J abar:
 *
 *     forward    scores become a, in place
 *     apply      out = J x; out may be x
 *     bend       out += Jdot x, Jdot being the change of J when a changes by adot: the second derivative
 *
 * A kind whose row function reads the query's key counts n+1 keys, the others n. */
#ifndef LINATTN_KERNELS_ATTENTION_H
#define LINATTN_KERNELS_ATTENTION_H

#include "kernels/tile.h"
#include <linattn/model.h>

enum { STRIP = 4 };

typedef struct attention {
    int query_key; /* 1: the row function sees the query's key too */
    int bends;     /* 1: the derivative jumps at a score of 0 */
    void (*forward)(double *a, size_t keys, size_t width);
    void (*apply)(const double *a, const double *x, size_t keys, size_t width, double *out);
    void (*bend)(const double *a, const double *adot, const double *x, size_t keys, size_t width, double *out);
} attention;

#include "kernels/attention_linear.h"
#include "kernels/attention_relu.h"
#include "kernels/attention_softmax.h"

static const attention attentions[] = {
    [LINATTN_ATTENTION_LINEAR] = {0, 0, linear_forward, linear_apply, linear_bend},
    [LINATTN_ATTENTION_SOFTMAX] = {1, 0, softmax_forward, softmax_apply, softmax_bend},
    [LINATTN_ATTENTION_SOFTMAX_CONTEXT] = {0, 0, softmax_forward, softmax_apply, softmax_bend},
    [LINATTN_ATTENTION_RELU] = {0, 1, relu_forward, relu_apply, linear_bend},
};

#endif
