/* parameters.c: from theta to the P and Q that kernels work with, and back: Q = W_Q^T W_K where it is factored.
 *
 * Effective parameters are those of the same model with free Q. With theta = (P, W_Q, W_K) of a head, W_Q and W_K (r, k):
 *     compose            Q = W_Q^T W_K
 *     its tangent        dQ = dW_Q^T W_K + W_Q^T dW_K
 *     its adjoint        W_Qbar = W_K Qbar^T                          W_Kbar = W_Q Qbar
 *     tangent of that    W_Qbardot = W_K Qbardot^T + dW_K Qbar^T      W_Kbardot = W_Q Qbardot + dW_Q Qbar
 * The front MLP and the feed-forward block after the heads of a layer are copied as they are. */
#include "model/model.h"

#include <string.h>

typedef struct {
    size_t front, layers, heads, ff;   /* numbers of the front MLP; layers; heads of one; numbers of a feed-forward block */
    size_t rank, side, square, factor; /* of one head */
    size_t head, effective;            /* its numbers in theta, and effective */
} head_sizes;

static head_sizes sizes_of(const linattn_model *model) {
    const linattn_model_options *o = &model->options;
    const size_t side = linattn__model_side(model), square = side * side, factor = o->qk_rank * side;
    return (head_sizes){.front = linattn__model_front(model),
                        .layers = o->layers,
                        .heads = o->heads,
                        .ff = linattn__model_ff(model),
                        .rank = o->qk_rank,
                        .side = side,
                        .square = square,
                        .factor = factor,
                        .head = square + (o->qk_rank ? 2 * factor : square),
                        .effective = 2 * square};
}

/* Where head h of layer l, or with h = heads the feed-forward block, begins when a head takes `head` numbers. */
static size_t place(const head_sizes *s, size_t head, size_t l, size_t h) {
    return s->front + l * (s->heads * head + s->ff) + h * head;
}

size_t linattn__model_place(const linattn_model *model, size_t layer, size_t head) {
    const head_sizes s = sizes_of(model);
    return place(&s, s.head, layer, head);
}

size_t linattn__model_effective_place(const linattn_model *model, size_t layer, size_t head) {
    const head_sizes s = sizes_of(model);
    return place(&s, s.effective, layer, head);
}

size_t linattn__model_side(const linattn_model *model) {
    return model->options.dim + (model->options.form == LINATTN_FORM_FULL ? 1 : 0);
}

size_t linattn__model_front(const linattn_model *model) {
    return linattn__network_size(model->options.mlp_hidden, model->options.dim);
}

size_t linattn__model_ff(const linattn_model *model) {
    return linattn__network_size(model->options.ff_hidden, model->options.dim + 1);
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

/* Everything but heads, from parameters whose heads take from_head numbers to parameters whose heads take to_head. */
static void copy_networks(const head_sizes *s, const double *from, size_t from_head, double *to, size_t to_head) {
    memcpy(to, from, s->front * sizeof *to);
    for (size_t l = 0; l < s->layers; l++)
        memcpy(to + place(s, to_head, l, s->heads), from + place(s, from_head, l, s->heads), s->ff * sizeof *to);
}

void linattn__model_compose(const linattn_model *model, const double *theta, const double *direction, double *out) {
    const head_sizes s = sizes_of(model);
    const double *const from = direction ? direction : theta;
    copy_networks(&s, from, s.head, out, s.effective);
    for (size_t i = 0; i < s.layers * s.heads; i++) {
        const size_t at = place(&s, s.head, i / s.heads, i % s.heads), W_Q = at + s.square, W_K = W_Q + s.factor;
        double *const P = out + place(&s, s.effective, i / s.heads, i % s.heads), *const Q = P + s.square;
        memcpy(P, from + at, s.square * sizeof *P);
        memset(Q, 0, s.square * sizeof *Q);
        add_transposed_product(&s, from + W_Q, theta + W_K, Q);
        if (direction) add_transposed_product(&s, theta + W_Q, direction + W_K, Q);
    }
}

void linattn__model_pull(const linattn_model *model, const double *theta, const double *bar, double *out) {
    const head_sizes s = sizes_of(model);
    copy_networks(&s, bar, s.effective, out, s.head);
    for (size_t i = 0; i < s.layers * s.heads; i++) {
        const size_t at = place(&s, s.head, i / s.heads, i % s.heads), W_Q = at + s.square, W_K = W_Q + s.factor;
        const double *const Pbar = bar + place(&s, s.effective, i / s.heads, i % s.heads), *const Qbar = Pbar + s.square;
        memcpy(out + at, Pbar, s.square * sizeof *out);
        memset(out + W_Q, 0, 2 * s.factor * sizeof *out);
        add_product(&s, theta + W_K, Qbar, 1, out + W_Q);
        add_product(&s, theta + W_Q, Qbar, 0, out + W_K);
    }
}

void linattn__model_pull_tangent(const linattn_model *model, const double *theta, const double *direction, const double *bar,
                                 const double *bardot, double *out) {
    const head_sizes s = sizes_of(model);
    linattn__model_pull(model, theta, bardot, out);
    for (size_t i = 0; i < s.layers * s.heads; i++) {
        const size_t W_Q = place(&s, s.head, i / s.heads, i % s.heads) + s.square, W_K = W_Q + s.factor;
        const double *const Qbar = bar + place(&s, s.effective, i / s.heads, i % s.heads) + s.square;
        add_product(&s, direction + W_K, Qbar, 1, out + W_Q);
        add_product(&s, direction + W_Q, Qbar, 0, out + W_K);
    }
}
