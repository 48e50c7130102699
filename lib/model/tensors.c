/* The tensor table: the layout of theta (docs/conventions.md), and the initialisation that follows it. */
#include "common/fail.h"
#include "common/options.h"
#include "model/model.h"
#include "random/random.h"

#include <math.h>
#include <stdio.h>

static const linattn__struct tensor_type = {"linattn_tensor", sizeof(linattn_tensor), sizeof(linattn_tensor), NULL};

/* Tensors of a layer's heads, and with its feed-forward block. */
static size_t tensors_of_heads(const linattn_model *model) { return (model->options.qk_rank ? 3 : 2) * model->options.heads; }
static size_t tensors_of_layer(const linattn_model *model) { return tensors_of_heads(model) + (model->options.ff_hidden ? 4 : 0); }

size_t linattn_model_tensor_count(const linattn_model *model) {
    return model ? (model->options.mlp_hidden ? 4 : 0) + model->options.layers * tensors_of_layer(model) : 0;
}

/* Tensor `index` of a layer's heads, one head after the other: P, then Q, or W_Q and W_K, row-major. */
static linattn_tensor head_tensor(const linattn_model *model, size_t layer, size_t index) {
    static const char *const names[] = {"P", "Q", "WQ", "WK"};
    const size_t rank = model->options.qk_rank, side = linattn__model_side(model), each = rank ? 3 : 2, head = index / each,
                 part = index % each;
    const int32_t kind = part == 0   ? LINATTN_TENSOR_P
                         : rank == 0 ? LINATTN_TENSOR_Q
                         : part == 1 ? LINATTN_TENSOR_WQ
                                     : LINATTN_TENSOR_WK;
    linattn_tensor tensor = {.columns = side, .layer = layer, .head = head, .kind = kind};
    tensor.rows = part > 0 && rank ? rank : side;
    tensor.offset = linattn__model_place(model, layer, head) + (part > 0 ? side * side : 0) + (part > 1 ? rank * side : 0);
    snprintf(tensor.name, sizeof tensor.name, "layer%u.head%u.%s", (unsigned)layer, (unsigned)head, names[kind]);
    return tensor;
}

/* W_1, b_1, W_2, b_2 of a network of `hidden` units on tokens of `width` numbers that begins at `offset`. */
static linattn_tensor network_tensor(size_t width, size_t hidden, size_t offset, size_t index, const char *where) {
    static const char *const names[] = {"W1", "b1", "W2", "b2"};
    const size_t rows[] = {hidden, hidden, width, width}, columns[] = {width, 1, hidden, 1};
    linattn_tensor tensor = {.rows = rows[index], .columns = columns[index], .offset = offset};
    for (size_t i = 0; i < index; i++) tensor.offset += rows[i] * columns[i];
    snprintf(tensor.name, sizeof tensor.name, "%s.%s", where, names[index]);
    return tensor;
}

static linattn_tensor front_tensor(const linattn_model *model, size_t index) {
    linattn_tensor tensor = network_tensor(model->options.dim, model->options.mlp_hidden, 0, index, "front");
    tensor.kind = LINATTN_TENSOR_W1 + (int32_t)index;
    return tensor;
}

static linattn_tensor ff_tensor(const linattn_model *model, size_t layer, size_t index) {
    const linattn_model_options *o = &model->options;
    char where[24];
    snprintf(where, sizeof where, "layer%u.ff", (unsigned)layer);
    linattn_tensor tensor = network_tensor(o->dim + 1, o->ff_hidden, linattn__model_place(model, layer, o->heads), index, where);
    tensor.layer = layer;
    tensor.kind = LINATTN_TENSOR_FF_W1 + (int32_t)index;
    return tensor;
}

static linattn_tensor tensor_at(const linattn_model *model, size_t index) {
    const size_t front = model->options.mlp_hidden ? 4 : 0, heads = tensors_of_heads(model);
    if (index < front) return front_tensor(model, index);
    const size_t layer = (index - front) / tensors_of_layer(model), in_layer = (index - front) % tensors_of_layer(model);
    return in_layer < heads ? head_tensor(model, layer, in_layer) : ff_tensor(model, layer, in_layer - heads);
}

int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out) {
    if (!model) return linattn__fail_null("model");
    const int status = linattn__result_check(&tensor_type, out);
    if (status != LINATTN_OK) return status;
    const size_t count = linattn_model_tensor_count(model);
    if (index >= count) return linattn__fail(LINATTN_EINVAL, "index is %zu; allowed: 0 to %zu", index, count - 1);
    const linattn_tensor tensor = tensor_at(model, index);
    linattn__result_write(&tensor_type, out, &tensor);
    return LINATTN_OK;
}

/* A network's parameters: numbers first .. of the uniforms of a kind, between +-1/sqrt(inputs of the unit). */
static void init_network(const linattn__stream *stream, unsigned kind, size_t first, size_t width, size_t hidden, double *theta) {
    const size_t count = linattn__network_size(hidden, width);
    linattn__random_uniforms(stream, kind, 0, first, count, theta);
    for (size_t i = 0; i < count; i++) theta[i] = (2 * theta[i] - 1) / sqrt((double)(i < hidden * (width + 1) ? width : hidden));
}

int linattn_model_init_parameters(const linattn_model *model, uint64_t seed, double *theta) {
    if (!model) return linattn__fail_null("model");
    if (!theta) return linattn__fail_null("theta");
    const linattn_model_options *o = &model->options;
    const size_t heads = linattn__model_place(model, 0, o->heads) - linattn__model_place(model, 0, 0),
                 ff = linattn__model_ff(model);
    linattn__stream stream;
    linattn__stream_open(&stream, seed, 0, LINATTN__PURPOSE_INITIALISATION);
    init_network(&stream, LINATTN__KIND_FRONT, 0, o->dim, o->mlp_hidden, theta);
    for (size_t l = 0; l < o->layers; l++) {
        double *const layer = theta + linattn__model_place(model, l, 0);
        linattn__random_normals(&stream, LINATTN__KIND_PARAMETERS, 0, l * heads, heads, layer);
        for (size_t i = 0; i < heads; i++) layer[i] *= o->init_std;
        init_network(&stream, LINATTN__KIND_FF, l * ff, o->dim + 1, o->ff_hidden, layer + heads);
    }
    return LINATTN_OK;
}
