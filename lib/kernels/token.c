#include "kernels/token.h"

#include <string.h>

size_t linattn__token_full_count(const linattn__shape *shape) {
    const size_t k = shape->dim + 1;
    return linattn__front_size(shape->hidden, shape->dim) + 2 * shape->layers * shape->heads * k * k;
}

void linattn__token_expand(const linattn__shape *shape, const double *theta, double corner, double *out) {
    const size_t k = shape->dim + 1, side = shape->full ? k : shape->dim;
    const size_t front = linattn__front_size(shape->hidden, shape->dim);
    const double n = (double)shape->context;
    memcpy(out, theta, front * sizeof *out);
    theta += front;
    out += front;
    for (size_t t = 0; t < 2 * shape->layers * shape->heads; t++, theta += side * side, out += k * k) {
        const int is_P = t % 2 == 0;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                const double entry = i < side && j < side ? theta[i * side + j] : is_P && i == j ? corner : 0;
                out[i * k + j] = is_P ? entry / n : entry;
            }
    }
}

void linattn__token_contract(const linattn__shape *shape, const double *full, double *out) {
    const size_t k = shape->dim + 1, side = shape->full ? k : shape->dim;
    const size_t front = linattn__front_size(shape->hidden, shape->dim);
    const double n = (double)shape->context;
    memcpy(out, full, front * sizeof *out);
    full += front;
    out += front;
    for (size_t t = 0; t < 2 * shape->layers * shape->heads; t++, full += k * k, out += side * side)
        for (size_t i = 0; i < side; i++)
            for (size_t j = 0; j < side; j++) out[i * side + j] = t % 2 == 0 ? full[i * k + j] / n : full[i * k + j];
}
