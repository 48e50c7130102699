/* parameters.c: from theta to the P and Q that kernels work with, and back: Q = W_Q^T W_K where it is factored.
 *
 * Effective parameters are those of the same model with free Q. With theta = (P, W_Q, W_K) of a head, W_Q and W_K (r, k):
 *     compose            Q = W_Q^T W_K
 *     its tangent        dQ = dW_Q^T W_K + W_Q^T dW_K
 *     its adjoint        W_Qbar = W_K Qbar^T                          W_Kbar = W_Q Qbar
 *     tangent of that    W_Qbardot = W_K Qbardot^T + dW_K Qbar^T      W_Kbardot = W_Q Qbardot + dW_Q Qbar */
#include "model/model.h"

#include <string.h>

/* Numbers of one head. */
typedef struct {
    size_t front; /* of the front MLP, which is copied */
    size_t heads; /* of all layers */
    size_t rank, side, square, factor;
} head_sizes;

static head_sizes sizes_of(const linattn_model *model) {
    const linattn_model_options *o = &model->options;
    const size_t side = linattn__model_side(model);
    return (head_sizes){linattn__model_front(model), o->layers * o->heads, o->qk_rank, side, side * side, o->qk_rank * side};
}

size_t linattn__model_side(const linattn_model *model) {
    return model->options.dim + (model->options.form == LINATTN_FORM_FULL ? 1 : 0);
}

size_t linattn__model_front(const linattn_model *model) {
    return linattn__front_size(model->options.mlp_hidden, model->options.dim);
}

int linattn__model_is_direct(const linattn_model *model) { return model->options.qk_rank == 0; }

/* out (side, side) += a^T b, a and b (rank, side). */
static void add_transposed_product(const head_sizes *s, const double *a, const double *b, double *out) {
    for (size_t i = 0; i < s->side; i++)
        for (size_t t = 0; t < s->rank; t++)
            for (size_t j = 0; j < s->side; j++) out[i * s->side + j] += a[t * s->side + i] * b[t * s->side + j];
}

/* out (rank, side) += w Q, w (rank, side), or w Q^T. */
static void add_product(const head_sizes *s, const double *w, const double *Q, int transposed, double *out) {
    const size_t row = transposed ? 1 : s->side, column = transposed ? s->side : 1;
    for (size_t t = 0; t < s->rank; t++)
        for (size_t i = 0; i < s->side; i++)
            for (size_t j = 0; j < s->side; j++) out[t * s->side + j] += w[t * s->side + i] * Q[i * row + j * column];
}

void linattn__model_compose(const linattn_model *model, const double *theta, const double *direction, double *out) {
    const head_sizes s = sizes_of(model);
    memcpy(out, direction ? direction : theta, s.front * sizeof *out);
    theta += s.front;
    out += s.front;
    if (direction) direction += s.front;
    for (size_t h = 0; h < s.heads; h++, out += 2 * s.square) {
        const double *const from = direction ? direction : theta, *const W_Q = theta + s.square, *const W_K = W_Q + s.factor;
        double *const Q = out + s.square;
        memcpy(out, from, s.square * sizeof *out);
        memset(Q, 0, s.square * sizeof *Q);
        add_transposed_product(&s, from + s.square, W_K, Q);
        if (direction) add_transposed_product(&s, W_Q, from + s.square + s.factor, Q);
        theta += s.square + 2 * s.factor;
        if (direction) direction += s.square + 2 * s.factor;
    }
}

void linattn__model_pull(const linattn_model *model, const double *theta, const double *bar, double *out) {
    const head_sizes s = sizes_of(model);
    memcpy(out, bar, s.front * sizeof *out);
    theta += s.front;
    bar += s.front;
    out += s.front;
    for (size_t h = 0; h < s.heads; h++, bar += 2 * s.square, out += s.square + 2 * s.factor) {
        const double *const W_Q = theta + s.square, *const W_K = W_Q + s.factor, *const Qbar = bar + s.square;
        memcpy(out, bar, s.square * sizeof *out);
        memset(out + s.square, 0, 2 * s.factor * sizeof *out);
        add_product(&s, W_K, Qbar, 1, out + s.square);
        add_product(&s, W_Q, Qbar, 0, out + s.square + s.factor);
        theta += s.square + 2 * s.factor;
    }
}

void linattn__model_pull_tangent(const linattn_model *model, const double *theta, const double *direction, const double *bar,
                                 const double *bardot, double *out) {
    const head_sizes s = sizes_of(model);
    linattn__model_pull(model, theta, bardot, out);
    direction += s.front;
    bar += s.front;
    out += s.front;
    for (size_t h = 0; h < s.heads; h++, bar += 2 * s.square, out += s.square + 2 * s.factor) {
        const double *const dW_Q = direction + s.square, *const dW_K = dW_Q + s.factor, *const Qbar = bar + s.square;
        add_product(&s, dW_K, Qbar, 1, out + s.square);
        add_product(&s, dW_Q, Qbar, 0, out + s.square + s.factor);
        direction += s.square + 2 * s.factor;
    }
}
