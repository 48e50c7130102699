/* attention.c: the attention weights of a layer and head. */
#include "common/allocate.h"
#include "common/fail.h"
#include "kernels/token.h"
#include "model/model.h"
#include "sampler/prompts.h"

static int check(const linattn_model *model, const linattn_batch *batch, const double *theta, size_t layer, size_t head,
                 const double *out) {
    if (!model) return linattn__fail_null("model");
    if (!batch) return linattn__fail_null("batch");
    if (!theta) return linattn__fail_null("theta");
    if (!out) return linattn__fail_null("out");
    int status = linattn__model_check_head(model, layer, head);
    if (status == LINATTN_OK) status = linattn__model_check_dim(model, "batch", linattn_batch_dim(batch));
    if (status != LINATTN_OK) return status;
    if (!linattn__batch_prompts(batch)->tokens)
        return linattn__fail(LINATTN_EUNSUPPORTED,
                             "attention weights need tokens, but the batch is of kind moments; allowed: kind tokens");
    return linattn__check_finite("theta", theta, model->parameters);
}

/* A block of 8 prompts at a time. lanes: ((n+1)(n+1), 8), and the kernel's workspace behind it. */
static void attend(const linattn_model *model, const linattn__prompts *data, const double *effective, size_t layer, size_t head,
                   double *lanes, double *out) {
    const linattn__shape shape = linattn__model_shape(model, data->context);
    const size_t entries = (data->context + 1) * (data->context + 1);
    for (size_t block = 0; block < data->blocks; block++) {
        const linattn__data part = linattn__prompts_part(data, block, 1);
        linattn__token_kernels(linattn__isa_best())
            ->attend(&shape, effective, &part, layer, head, lanes, lanes + entries * LINATTN__BLOCK);
        for (size_t i = 0; i < part.prompts; i++, out += entries)
            for (size_t j = 0; j < entries; j++) out[j] = lanes[j * LINATTN__BLOCK + i];
    }
}

int linattn_model_attention(const linattn_model *model, const linattn_batch *batch, const double *theta, size_t layer, size_t head,
                            double *out) {
    const int status = check(model, batch, theta, layer, head, out);
    if (status != LINATTN_OK) return status;
    const linattn__prompts *data = linattn__batch_prompts(batch);
    const linattn__shape shape = linattn__model_shape(model, data->context);
    const int direct = linattn__model_is_direct(model);
    size_t entries, total, lanes_size;
    if (!linattn__multiply_sizes(data->context + 1, data->context + 1, &entries) ||
        !linattn__multiply_sizes(entries, data->prompts, &total) ||
        !linattn__multiply_sizes(entries, LINATTN__BLOCK, &lanes_size) || total > PTRDIFF_MAX / sizeof *out ||
        lanes_size > PTRDIFF_MAX / sizeof *out)
        return linattn__fail(LINATTN_EOVERFLOW, "%zu prompts of %zu by %zu weights do not fit in the address space", data->prompts,
                             data->context + 1, data->context + 1);
    const size_t workspace = linattn__token_kernels(linattn__isa_best())->workspace(&shape);
    double *lanes = linattn__allocate(lanes_size + workspace, sizeof *lanes);
    double *composed = linattn__allocate(direct ? 0 : model->effective, sizeof *composed);
    if (lanes && composed) {
        if (!direct) linattn__model_compose(model, theta, NULL, composed);
        attend(model, data, direct ? theta : composed, layer, head, lanes, out);
    }
    const int complete = lanes && composed;
    linattn__release(lanes);
    linattn__release(composed);
    return complete ? LINATTN_OK : linattn__fail_memory("attention weights");
}
