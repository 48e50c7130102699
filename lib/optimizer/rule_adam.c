/* rule_adam.c: Adam (Kingma & Ba 2015, arXiv:1412.6980); weight decay is an L2 penalty, part of the gradient. */
#include "optimizer/rules.h"

static void update_adam(const linattn_optimizer_options *options, const linattn_update *update) {
    linattn__adam_step(options, update, options->weight_decay);
}

const linattn__rule linattn__rule_adam = {.name = "adam",
                                          .parts = 2,
                                          .ranges = linattn__adam_ranges,
                                          .range_count = LINATTN__ADAM_RANGES,
                                          .update = update_adam,
                                          .preconditioner = linattn__adam_preconditioner};
