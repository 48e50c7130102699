/* The tensor table: the layout of theta (docs/conventions.md), and the initialisation that follows it. */
#include "common/fail.h"
#include "common/options.h"
#include "model/model.h"
#include "random/random.h"

#include <stdio.h>

static const linattn__struct tensor_type = {"linattn_tensor", sizeof(linattn_tensor), sizeof(linattn_tensor), NULL};

size_t linattn_model_tensor_count(const linattn_model *model) {
    return model ? (model->options.qk_rank ? 3 : 2) * model->options.layers * model->options.heads : 0;
}

/* Layer by layer, head by head: P, then Q, or W_Q and W_K, row-major. */
int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out) {
    if (!model) return linattn__fail_null("model");
    const int status = linattn__result_check(&tensor_type, out);
    if (status != LINATTN_OK) return status;
    const size_t count = linattn_model_tensor_count(model);
    if (index >= count) return linattn__fail(LINATTN_EINVAL, "index is %zu; allowed: 0 to %zu", index, count - 1);
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
    tensor.offset = head * head_size + (part > 0 ? side * side : 0) + (part > 1 ? rank * side : 0);
    snprintf(tensor.name, sizeof tensor.name, "layer%u.head%u.%s", (unsigned)tensor.layer, (unsigned)tensor.head, names[kind]);
    linattn__result_write(&tensor_type, out, &tensor);
    return LINATTN_OK;
}

int linattn_model_init_parameters(const linattn_model *model, uint64_t seed, double *theta) {
    if (!model) return linattn__fail_null("model");
    if (!theta) return linattn__fail_null("theta");
    linattn__stream stream;
    linattn__stream_open(&stream, seed, 0, LINATTN__PURPOSE_INITIALISATION);
    linattn__random_normals(&stream, LINATTN__KIND_PARAMETERS, 0, 0, model->parameters, theta);
    for (size_t i = 0; i < model->parameters; i++) theta[i] *= model->options.init_std;
    return LINATTN_OK;
}
