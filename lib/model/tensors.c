/* The tensor table: the layout of theta (docs/conventions.md), and the initialisation that follows it. */
#include "common/fail.h"
#include "common/options.h"
#include "model/model.h"
#include "random/random.h"

#include <math.h>
#include <stdio.h>

static const linattn__struct tensor_type = {"linattn_tensor", sizeof(linattn_tensor), sizeof(linattn_tensor), NULL};

size_t linattn_model_tensor_count(const linattn_model *model) {
    if (!model) return 0;
    return (model->options.mlp_hidden ? 4 : 0) + (model->options.qk_rank ? 3 : 2) * model->options.layers * model->options.heads;
}

/* A head's tensor, layer by layer, head by head: P, then Q, or W_Q and W_K, row-major. */
static linattn_tensor head_tensor(const linattn_model *model, size_t index) {
    static const char *const names[] = {"P", "Q", "WQ", "WK"};
    const linattn_model_options *o = &model->options;
    const size_t rank = o->qk_rank, side = linattn__model_side(model), each = rank ? 3 : 2, head = index / each,
                 part = index % each;
    const int32_t kind = part == 0   ? LINATTN_TENSOR_P
                         : rank == 0 ? LINATTN_TENSOR_Q
                         : part == 1 ? LINATTN_TENSOR_WQ
                                     : LINATTN_TENSOR_WK;
    const size_t rows = part > 0 && rank ? rank : side, head_size = side * side + (rank ? 2 * rank : side) * side;
    linattn_tensor tensor = {.rows = rows, .columns = side, .layer = head / o->heads, .head = head % o->heads, .kind = kind};
    tensor.offset = linattn__model_front(model) + head * head_size + (part > 0 ? side * side : 0) + (part > 1 ? rank * side : 0);
    snprintf(tensor.name, sizeof tensor.name, "layer%u.head%u.%s", (unsigned)tensor.layer, (unsigned)tensor.head, names[kind]);
    return tensor;
}

/* The front MLP's: W_1, b_1, W_2, b_2. */
static linattn_tensor front_tensor(const linattn_model *model, size_t index) {
    static const char *const names[] = {"W1", "b1", "W2", "b2"};
    const size_t d = model->options.dim, h = model->options.mlp_hidden;
    const size_t rows[] = {h, h, d, d}, columns[] = {d, 1, h, 1}, offsets[] = {0, h * d, h * d + h, 2 * h * d + h};
    linattn_tensor tensor = {.rows = rows[index], .columns = columns[index], .offset = offsets[index]};
    tensor.kind = LINATTN_TENSOR_W1 + (int32_t)index;
    snprintf(tensor.name, sizeof tensor.name, "front.%s", names[index]);
    return tensor;
}

int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out) {
    if (!model) return linattn__fail_null("model");
    const int status = linattn__result_check(&tensor_type, out);
    if (status != LINATTN_OK) return status;
    const size_t count = linattn_model_tensor_count(model);
    if (index >= count) return linattn__fail(LINATTN_EINVAL, "index is %zu; allowed: 0 to %zu", index, count - 1);
    const size_t front = model->options.mlp_hidden ? 4 : 0;
    const linattn_tensor tensor = index < front ? front_tensor(model, index) : head_tensor(model, index - front);
    linattn__result_write(&tensor_type, out, &tensor);
    return LINATTN_OK;
}

int linattn_model_init_parameters(const linattn_model *model, uint64_t seed, double *theta) {
    if (!model) return linattn__fail_null("model");
    if (!theta) return linattn__fail_null("theta");
    linattn__stream stream;
    linattn__stream_open(&stream, seed, 0, LINATTN__PURPOSE_INITIALISATION);
    const size_t d = model->options.dim, h = model->options.mlp_hidden, front = linattn__model_front(model);
    linattn__random_uniforms(&stream, LINATTN__KIND_FRONT, 0, 0, front, theta);
    for (size_t i = 0; i < front; i++) theta[i] = (2 * theta[i] - 1) / sqrt((double)(i < h * d + h ? d : h));
    linattn__random_normals(&stream, LINATTN__KIND_PARAMETERS, 0, 0, model->parameters - front, theta + front);
    for (size_t i = front; i < model->parameters; i++) theta[i] *= model->options.init_std;
    return LINATTN_OK;
}
