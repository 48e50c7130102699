/* rule_adamw.c: AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101): theta shrinks by lr weight_decay theta first and the moments
 * never see the decay. */
#include "optimizer/rules.h"

static void update_adamw(const linattn_optimizer_options *options, const linattn_update *update) {
    const double keep = 1 - update->learning_rate * options->weight_decay;
    for (size_t i = 0; i < update->p; i++) update->theta[i] *= keep;
    linattn__adam_step(options, update, 0);
}

const linattn__rule linattn__rule_adamw = {.name = "adamw",
                                           .parts = 2,
                                           .ranges = linattn__adam_ranges,
                                           .range_count = LINATTN__ADAM_RANGES,
                                           .update = update_adamw,
                                           .preconditioner = linattn__adam_preconditioner};
