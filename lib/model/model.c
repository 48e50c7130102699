#include "model/model.h"

#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"

#include <stddef.h>

static const linattn_model_options defaults = {
    .struct_size = sizeof(linattn_model_options),
    .heads = 1,
    .attention = LINATTN_ATTENTION_LINEAR,
    .form = LINATTN_FORM_BLOCK,
    .init_std = 0.05,
};
static const linattn__struct options_type = {"linattn_model_options", sizeof defaults, offsetof(linattn_model_options, qk_rank),
                                             &defaults};

int linattn_model_options_init(linattn_model_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

/* NULL when there is no such kind. */
static const char *attention_name(int32_t attention) {
    static const char *const names[] = {"linear", "softmax", "softmax_context", "relu"};
    return attention >= 0 && (size_t)attention < sizeof names / sizeof *names ? names[attention] : NULL;
}

static int check_options(const linattn_model_options *o) {
    if (o->dim < 1 || o->dim > LINATTN_MAX_DIM) return linattn__fail_count("dim", o->dim, "1 to 1024");
    if (o->layers < 1 || o->layers > LINATTN_MAX_LAYERS) return linattn__fail_count("layers", o->layers, "1 to 256");
    if (o->heads < 1 || o->heads > LINATTN_MAX_HEADS) return linattn__fail_count("heads", o->heads, "1 to 64");
    if (!attention_name(o->attention))
        return linattn__fail_integer("attention", o->attention, "0 (linear), 1 (softmax), 2 (softmax_context) or 3 (relu)");
    if (o->form != LINATTN_FORM_BLOCK && o->form != LINATTN_FORM_FULL)
        return linattn__fail_integer("form", o->form, "0 (block) or 1 (full)");
    if (!(o->init_std >= 0 && o->init_std <= 1e300)) return linattn__fail_real("init_std", o->init_std, "0 to 1e300");
    if (o->qk_rank > LINATTN_MAX_RANK) return linattn__fail_count("qk_rank", o->qk_rank, "0 (Q is free) to 1024");
    if (o->mlp_hidden > LINATTN_MAX_HIDDEN) return linattn__fail_count("mlp_hidden", o->mlp_hidden, "0 (no front MLP) to 4096");
    if (o->ff_hidden > LINATTN_MAX_HIDDEN)
        return linattn__fail_count("ff_hidden", o->ff_hidden, "0 (no feed-forward blocks) to 4096");
    return LINATTN_OK;
}

int linattn_model_create(linattn_model **out, const linattn_model_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_model_options read;
    int status = linattn__options_read(&options_type, &read, options);
    if (status == LINATTN_OK) status = check_options(&read);
    if (status != LINATTN_OK) return status;
    linattn_model *model = linattn__allocate(1, sizeof *model);
    if (!model) return linattn__fail_memory("a model");
    linattn__owners_begin(&model->owners);
    model->options = read;
    const linattn__shape shape = linattn__model_shape(model, 1);
    const size_t side = linattn__model_side(model);
    model->effective = linattn__shape_parameter_count(&shape);
    const size_t squares = read.layers * read.heads * side * side, factors = read.layers * read.heads * 2 * read.qk_rank * side;
    model->parameters = read.qk_rank ? model->effective - squares + factors : model->effective;
    *out = model;
    return LINATTN_OK;
}

void linattn__model_retain(const linattn_model *model) { linattn__owners_add(&model->owners); }

void linattn_model_destroy(linattn_model *model) {
    if (model && linattn__owners_end(&model->owners)) linattn__release(model);
}

size_t linattn_model_parameter_count(const linattn_model *model) { return model ? model->parameters : 0; }

linattn__shape linattn__model_shape(const linattn_model *model, size_t context) {
    const linattn_model_options *o = &model->options;
    return (linattn__shape){o->layers,    o->heads,      o->dim,      context, o->form == LINATTN_FORM_FULL,
                            o->attention, o->mlp_hidden, o->ff_hidden};
}

int linattn__model_check_dim(const linattn_model *model, const char *what, size_t dim) {
    if (dim == model->options.dim) return LINATTN_OK;
    return linattn__fail(LINATTN_EMISMATCH, "the %s has dim %zu, the model %zu", what, dim, model->options.dim);
}

int linattn__model_check_head(const linattn_model *model, size_t layer, size_t head) {
    const linattn_model_options *o = &model->options;
    if (layer >= o->layers) return linattn__fail(LINATTN_EINVAL, "layer is %zu; allowed: 0 to %zu", layer, o->layers - 1);
    if (head >= o->heads) return linattn__fail(LINATTN_EINVAL, "head is %zu; allowed: 0 to %zu", head, o->heads - 1);
    return LINATTN_OK;
}

int linattn__model_needs_tokens(const linattn_model *model) {
    const linattn__shape shape = linattn__model_shape(model, 1);
    return linattn__needs_tokens(&shape);
}

int linattn__model_check_tokens(const linattn_model *model, const char *what, int has_tokens) {
    if (has_tokens || !linattn__model_needs_tokens(model)) return LINATTN_OK;
    const linattn_model_options *o = &model->options;
    if (o->mlp_hidden || o->ff_hidden) {
        const char *name = o->mlp_hidden ? "mlp_hidden" : "ff_hidden";
        return linattn__fail(LINATTN_EUNSUPPORTED,
                             "%s is %zu, which needs tokens, but the %s is of kind moments; allowed: kind tokens, or %s 0", name,
                             o->mlp_hidden ? o->mlp_hidden : o->ff_hidden, what, name);
    }
    return linattn__fail(LINATTN_EUNSUPPORTED,
                         "attention is %d (%s), which needs tokens, but the %s is of kind moments; allowed: %s", (int)o->attention,
                         attention_name(o->attention), what, "kind tokens, or attention 0 (linear)");
}

int linattn__model_describe(const linattn_model *model, linattn__describe visit, void *user) {
    const linattn_model_options *o = &model->options;
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"model.dim", o->dim},
                  {"model.layers", o->layers},
                  {"model.heads", o->heads},
                  {"model.attention", (uint64_t)o->attention},
                  {"model.form", (uint64_t)o->form}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const int status = visit(fields[i].name, fields[i].value, user);
        if (status != LINATTN_OK) return status;
    }
    /* Told only when in use: fingerprints of before they were there stay valid. */
    int status = o->qk_rank ? visit("model.qk_rank", o->qk_rank, user) : LINATTN_OK;
    if (status == LINATTN_OK && o->mlp_hidden) status = visit("model.mlp_hidden", o->mlp_hidden, user);
    if (status == LINATTN_OK && o->ff_hidden) status = visit("model.ff_hidden", o->ff_hidden, user);
    return status;
}
