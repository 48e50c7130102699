/* model.h (internal): the architecture behind a handle. */
#ifndef LINATTN_MODEL_MODEL_H
#define LINATTN_MODEL_MODEL_H

#include "common/describe.h"
#include "common/owners.h"
#include "kernels/path.h"
#include <linattn/model.h>

struct linattn_model {
    linattn__owners owners;
    linattn_model_options options;
    size_t parameters; /* p */
    size_t effective;  /* p of the same model with free Q */
};

void linattn__model_retain(const linattn_model *model);
int linattn__model_describe(const linattn_model *model, linattn__describe visit, void *user);

/* linattn_model_predict with arguments known to be good, by one instruction set. Returns LINATTN_ENOMEM. */
int linattn__model_predict(const linattn_model *model, const linattn_batch *batch, enum linattn__isa isa, const double *theta,
                           double *out);

/* Parameters of the front MLP; they come first, in theta and in effective parameters. */
size_t linattn__model_front(const linattn_model *model);

/* Parameters of a feed-forward block; they come after the heads of its layer. */
size_t linattn__model_ff(const linattn_model *model);

/* Rows of P and Q as parameters: d in block form, d+1 in full form. */
size_t linattn__model_side(const linattn_model *model);

/* Where a head of a layer begins in theta, and among effective parameters; head = H: where the layer's feed-forward block does. */
size_t linattn__model_place(const linattn_model *model, size_t layer, size_t head);
size_t linattn__model_effective_place(const linattn_model *model, size_t layer, size_t head);

/* Kernels work with effective parameters: those of the same model with free Q (`effective` numbers). 1: theta is these already, and
 * the functions below need not be called. */
int linattn__model_is_direct(const linattn_model *model);

/* out (effective) from theta; with a direction (p), the tangent of that. */
void linattn__model_compose(const linattn_model *model, const double *theta, const double *direction, double *out);

/* The adjoint: a gradient with respect to theta, out (p), from the effective one, bar; and its tangent in a direction (p), bardot
 * being that of bar. */
void linattn__model_pull(const linattn_model *model, const double *theta, const double *bar, double *out);
void linattn__model_pull_tangent(const linattn_model *model, const double *theta, const double *direction, const double *bar,
                                 const double *bardot, double *out);

/* LINATTN_EMISMATCH when `what`, a batch or a sampler, has another d than the model. */
int linattn__model_check_dim(const linattn_model *model, const char *what, size_t dim);

/* LINATTN_EINVAL when the model has no such layer or head. */
int linattn__model_check_head(const linattn_model *model, size_t layer, size_t head);

/* Whether prompts must keep their tokens. */
int linattn__model_needs_tokens(const linattn_model *model);

/* LINATTN_EUNSUPPORTED when the model needs tokens and `what`, a batch or a sampler, has none. */
int linattn__model_check_tokens(const linattn_model *model, const char *what, int has_tokens);

/* The shape that kernels need, for prompts of `context` tokens. */
linattn__shape linattn__model_shape(const linattn_model *model, size_t context);

#endif
