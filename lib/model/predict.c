#include "common/allocate.h"
#include "common/fail.h"
#include "model/model.h"
#include "sampler/prompts.h"

enum { CHUNK = 8 }; /* blocks predicted at a time */

int linattn__model_predict(const linattn_model *model, const linattn_batch *batch, enum linattn__isa isa, const double *theta,
                           double *out) {
    const linattn__prompts *data = linattn__batch_prompts(batch);
    const linattn__shape shape = linattn__model_shape(model, data->context);
    const linattn__kernels *kernels = linattn__kernels_for(&shape, isa);
    const int direct = linattn__model_is_direct(model);
    double *lanes = linattn__allocate(CHUNK * LINATTN__BLOCK + kernels->workspace(&shape), sizeof *lanes);
    double *composed = linattn__allocate(direct ? 0 : model->effective, sizeof *composed);
    if (!lanes || !composed) {
        linattn__release(lanes);
        linattn__release(composed);
        return linattn__fail_memory("predictions");
    }
    if (!direct) linattn__model_compose(model, theta, NULL, composed);
    for (size_t block = 0; block < data->blocks; block += CHUNK) {
        const size_t blocks = data->blocks - block < CHUNK ? data->blocks - block : CHUNK;
        const linattn__data chunk = linattn__prompts_part(data, block, blocks);
        kernels->predict(&shape, direct ? theta : composed, &chunk, lanes, lanes + CHUNK * LINATTN__BLOCK);
        const size_t first = block * LINATTN__BLOCK, left = data->prompts - first;
        for (size_t i = 0; i < left && i < CHUNK * LINATTN__BLOCK; i++) out[first + i] = lanes[i];
    }
    linattn__release(lanes);
    linattn__release(composed);
    return LINATTN_OK;
}

int linattn_model_predict(const linattn_model *model, const linattn_batch *batch, const double *theta, double *out) {
    if (!model) return linattn__fail_null("model");
    if (!batch) return linattn__fail_null("batch");
    if (!theta) return linattn__fail_null("theta");
    if (!out) return linattn__fail_null("out");
    int status = linattn__model_check_dim(model, "batch", linattn_batch_dim(batch));
    if (status == LINATTN_OK) status = linattn__model_check_tokens(model, "batch", linattn__batch_prompts(batch)->tokens != NULL);
    if (status == LINATTN_OK) status = linattn__check_finite("theta", theta, model->parameters);
    return status == LINATTN_OK ? linattn__model_predict(model, batch, linattn__isa_best(), theta, out) : status;
}
