/* The tensor table: the layout of theta (docs/conventions.md), and the initialisation that follows it. */
#include "common/fail.h"
#include "common/options.h"
#include "model/model.h"
#include "random/random.h"

#include <stdio.h>

static const linattn__struct tensor_type = {"linattn_tensor", sizeof(linattn_tensor), sizeof(linattn_tensor), NULL};

size_t linattn_model_tensor_count(const linattn_model *model) {
    return model ? 2 * model->options.layers * model->options.heads : 0;
}

/* Layer by layer, head by head: P, then Q, row-major. */
int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out) {
    if (!model) return linattn__fail_null("model");
    const int status = linattn__result_check(&tensor_type, out);
    if (status != LINATTN_OK) return status;
    const size_t count = linattn_model_tensor_count(model);
    if (index >= count) return linattn__fail(LINATTN_EINVAL, "index is %zu; allowed: 0 to %zu", index, count - 1);
    const linattn_model_options *o = &model->options;
    const size_t side = o->dim + (o->form == LINATTN_FORM_FULL ? 1 : 0), head = index / 2 % o->heads, layer = index / 2 / o->heads;
    linattn_tensor tensor = {.rows = side, .columns = side, .offset = index * side * side, .layer = layer, .head = head};
    tensor.kind = index % 2 ? LINATTN_TENSOR_Q : LINATTN_TENSOR_P;
    snprintf(tensor.name, sizeof tensor.name, "layer%u.head%u.%s", (unsigned)layer, (unsigned)head, index % 2 ? "Q" : "P");
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
