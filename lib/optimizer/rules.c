/* rules.c: the table of update rules. */
#include "optimizer/rules.h"

extern const linattn__rule linattn__rule_sgd, linattn__rule_adam, linattn__rule_adamw, linattn__rule_sign,
    linattn__rule_normalized_gd, linattn__rule_polyak;

static const linattn__rule *const RULES[] = {
    [LINATTN_RULE_SGD] = &linattn__rule_sgd,
    [LINATTN_RULE_ADAM] = &linattn__rule_adam,
    [LINATTN_RULE_ADAMW] = &linattn__rule_adamw,
    [LINATTN_RULE_SIGN] = &linattn__rule_sign,
    [LINATTN_RULE_NORMALIZED_GD] = &linattn__rule_normalized_gd,
    [LINATTN_RULE_POLYAK] = &linattn__rule_polyak,
};

const char linattn__rule_list[] =
    "0 (sgd), 1 (adam), 2 (adamw), 3 (sign), 4 (normalized_gd), 6 (polyak); a custom rule has a create of its own";

const linattn__rule *linattn__rule_find(int32_t rule) {
    if (rule < 0 || (size_t)rule >= sizeof RULES / sizeof RULES[0]) return NULL;
    return RULES[rule];
}
