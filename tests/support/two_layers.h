/* two_layers.h: a model of two layers in block form, for tests of what feeds it. */
#ifndef LINATTN_TESTS_TWO_LAYERS_H
#define LINATTN_TESTS_TWO_LAYERS_H

#include "support/suite.h"

/* theta: (4 dim^2), its initial parameters. */
static inline linattn_model *two_layers(size_t dim, int32_t attention, double *theta) {
    linattn_model_options o;
    linattn_model *model;
    ck_assert_ok(linattn_model_options_init(&o, sizeof o));
    o.dim = dim;
    o.layers = 2;
    o.attention = attention;
    ck_assert_ok(linattn_model_create(&model, &o));
    ck_assert_uint_eq(linattn_model_parameter_count(model), 4 * dim * dim);
    ck_assert_ok(linattn_model_init_parameters(model, 1, theta));
    return model;
}

#endif
