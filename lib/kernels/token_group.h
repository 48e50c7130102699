/* token_group.h: a group of lanes through the token path: its memory, its tokens, its squared error. */
#ifndef LINATTN_KERNELS_TOKEN_GROUP_H
#define LINATTN_KERNELS_TOKEN_GROUP_H

#include "kernels/groups.h"
#include "kernels/token.h"
#include "kernels/token_front.h"

enum { KEPT_DOUBLES = 1 << 17 }; /* of A: a megabyte, which a second-level cache holds */

/* Doubles of A in all layers and heads; 0 when they are too many to be kept. */
static size_t kept_size(const linattn__shape *shape) {
    const size_t rows = shape->context + 1, most = KEPT_DOUBLES / LINATTN__LANES;
    if (shape->context >= 4096 || rows * rows > most) return 0; /* and nothing below overflows */
    const size_t entries = shape->layers * shape->heads * rows * (shape->context + (size_t)attentions[shape->attention].query_key);
    return entries <= most ? entries * LINATTN__LANES : 0;
}

/* The parts of a workspace. The group's constant pointers are filled through the others. */
typedef struct {
    token_group group;
    double *theta, *dtheta, *sums, *rates; /* rates: (count), the tangents' last entries */
    size_t k, doubles;                     /* d + 1; of all parts */
} token_space;

/* Takes the parts one after the other from `space`, which may be NULL: only doubles is then meant. */
static token_space lay_out(const linattn__shape *shape, size_t count, double *space) {
    const size_t n = shape->context, k = shape->dim + 1, heads = shape->heads, p = linattn__token_full_count(shape);
    const size_t ff = shape->ff_hidden, larger = shape->hidden > ff ? shape->hidden : ff, sums = p * LINATTN__LANES;
    const size_t stack = shape->layers * token_layer_size(heads, n, k, ff) + (ff ? (n + 1) * k : 0);
    const size_t layers = stack * LINATTN__LANES;
    const size_t adjoint = token_adjoint_size(heads, n, k) * LINATTN__LANES, strip = token_strip_size(n) * LINATTN__LANES;
    const size_t hidden = shape->hidden, front = linattn__network_size(hidden, shape->dim);
    const size_t tokens = hidden ? (n + 1) * k * LINATTN__LANES : 0, units = (n + 1) * hidden * LINATTN__LANES;
    const size_t scratch = (n + 1) * larger * LINATTN__LANES;
    token_space s = {.group = {.layers = shape->layers, .heads = heads, .n = n, .hidden = hidden, .ff = ff}, .k = k};
    token_group *const g = &s.group;
    g->front = front;
    g->block = linattn__network_size(ff, shape->dim + 1);
    g->stack = stack;
    g->count = count;
    g->parameters = p;
    const struct {
        double **part;
        size_t doubles;
    } parts[] = {{&g->values, layers},
                 {&g->tangents, count * layers},
                 {&g->bars, adjoint},
                 {&g->dots, count * adjoint},
                 {&g->kept, kept_size(shape)},
                 {&g->a, strip},
                 {&g->abar, strip},
                 {&g->sbar, strip},
                 {&g->adot, strip},
                 {&g->sdot, strip},
                 {&g->X, tokens},
                 {&g->x, tokens},
                 {&g->R, units},
                 {&g->Rdot, count * units},
                 {&g->Rbar, scratch},
                 {&g->Rbardot, count ? scratch : 0},
                 {&s.sums, sums},
                 {&g->products, count * sums},
                 {&s.rates, count * LINATTN__LANES},
                 {&s.theta, p},
                 {&s.dtheta, count * p}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = space ? space + s.doubles : NULL;
        s.doubles += parts[i].doubles;
    }
    if (kept_size(shape) == 0) g->kept = NULL;
    g->kind = &attentions[shape->attention];
    g->theta = s.theta;
    g->dtheta = s.dtheta;
    return s;
}

/* Z of layer 0 from a block's tokens. */
LINATTN__INLINE void group_load(const token_group *g, const linattn__data *data, size_t block, size_t group, size_t k) {
    const size_t entries = (g->n + 1) * k;
    const double *const tokens = data->tokens + block * entries * LINATTN__BLOCK + group * LINATTN__LANES;
    double *const Z = g->hidden ? g->X : token_layer_at(g, g->values, 0, k).Z;
    for (size_t i = 0; i < entries; i++) put(Z, i, vreal_load(tokens + i * LINATTN__BLOCK));
    if (g->hidden) token_front_forward(g, k);
}

/* From a block's tokens to the query's last entry after the last layer. */
LINATTN__INLINE vreal group_forward(const token_group *g, const linattn__data *data, size_t block, size_t group, size_t k) {
    group_load(g, data, block, group, k);
    return token_forward(g, k);
}

/* The squared error; adds its gradient, if wanted, and products. rates: room for (count). */
LINATTN__INLINE vreal group_squares(const token_group *g, const linattn__data *data, size_t block, size_t group, double *rates,
                                    size_t k) {
    const vreal last = group_forward(g, data, block, group, k);
    const vreal target = vreal_load(data->targets + block * LINATTN__BLOCK + group * LINATTN__LANES);
    const vreal miss = group_mask(data, block, group, last + target);
    for (size_t i = 0; i < g->count; i++) put(rates, i, group_mask(data, block, group, 2.0 * token_rate(g, i, k)));
    if (g->gradient || g->count) token_backward(g, 2.0 * miss, rates, k);
    if (g->hidden && g->first == 0 && (g->gradient || g->count)) token_front_backward(g, k);
    return miss * miss;
}

#endif
