/* model.h (internal): the architecture behind a handle. */
#ifndef LINATTN_MODEL_MODEL_H
#define LINATTN_MODEL_MODEL_H

#include "common/describe.h"
#include "common/owners.h"
#include "kernels/moment.h"
#include <linattn/model.h>

struct linattn_model {
    linattn__owners owners;
    linattn_model_options options;
    size_t parameters; /* p */
};

void linattn__model_retain(const linattn_model *model);
int linattn__model_describe(const linattn_model *model, linattn__describe visit, void *user);

/* linattn_model_predict with arguments known to be good, by one instruction set. Returns LINATTN_ENOMEM. */
int linattn__model_predict(const linattn_model *model, const linattn_batch *batch, enum linattn__isa isa, const double *theta,
                           double *out);

/* The shape that the moment path needs, for prompts of `context` tokens. */
linattn__moment_shape linattn__model_moment_shape(const linattn_model *model, size_t context);

#endif
