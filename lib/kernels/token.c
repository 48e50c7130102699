#include "kernels/token.h"

#include <string.h>

/* Numbers of the parts of theta, and in full form: the front MLP, and for each layer 2 H squares and the feed-forward block. */
typedef struct {
    size_t front, squares, side, k, block;
} parts;

static parts parts_of(const linattn__shape *shape) {
    const size_t k = shape->dim + 1;
    return (parts){linattn__network_size(shape->hidden, shape->dim), 2 * shape->heads, shape->full ? k : shape->dim, k,
                   linattn__network_size(shape->ff_hidden, shape->dim + 1)};
}

size_t linattn__token_full_count(const linattn__shape *shape) {
    const parts s = parts_of(shape);
    return s.front + shape->layers * (s.squares * s.k * s.k + s.block);
}

/* Copies numbers as they are, and steps over them. */
static void copy(const double **from, double **to, size_t count) {
    memcpy(*to, *from, count * sizeof **to);
    *from += count;
    *to += count;
}

void linattn__token_expand(const linattn__shape *shape, const double *theta, double corner, double *out) {
    const parts s = parts_of(shape);
    const double n = (double)shape->context;
    copy(&theta, &out, s.front);
    for (size_t l = 0; l < shape->layers; l++) {
        for (size_t t = 0; t < s.squares; t++, theta += s.side * s.side, out += s.k * s.k) {
            const int is_P = t % 2 == 0;
            for (size_t i = 0; i < s.k; i++)
                for (size_t j = 0; j < s.k; j++) {
                    const double entry = i < s.side && j < s.side ? theta[i * s.side + j] : is_P && i == j ? corner : 0;
                    out[i * s.k + j] = is_P ? entry / n : entry;
                }
        }
        copy(&theta, &out, s.block);
    }
}

void linattn__token_contract(const linattn__shape *shape, const double *full, double *out) {
    const parts s = parts_of(shape);
    const double n = (double)shape->context;
    copy(&full, &out, s.front);
    for (size_t l = 0; l < shape->layers; l++) {
        for (size_t t = 0; t < s.squares; t++, full += s.k * s.k, out += s.side * s.side)
            for (size_t i = 0; i < s.side; i++)
                for (size_t j = 0; j < s.side; j++) out[i * s.side + j] = t % 2 == 0 ? full[i * s.k + j] / n : full[i * s.k + j];
        copy(&full, &out, s.block);
    }
}
