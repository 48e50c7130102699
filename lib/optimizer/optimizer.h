/* optimizer.h: the inside of an optimizer. */
#ifndef LINATTN_OPTIMIZER_OPTIMIZER_H
#define LINATTN_OPTIMIZER_OPTIMIZER_H

#include "common/describe.h"
#include "common/options.h"
#include "common/owners.h"
#include "optimizer/rules.h"
#include <linattn/optimizer.h>

enum { LINATTN__RULE_NAME = 40 }; /* room for the name of a rule, final NUL included */

struct linattn_optimizer {
    linattn__owners owners;
    linattn_optimizer_options options;
    const linattn__rule *rule; /* NULL: the caller's own, below */
    linattn_custom_rule custom;
    void *user;
    char name[LINATTN__RULE_NAME]; /* of the rule */
    size_t p, state_count, tensor_count;
    linattn_tensor *tensors; /* (tensor_count) */
    double *gradient;        /* (p): clipped */
    double *state;           /* (state_count): the rule's memory */
    double *old_theta;       /* (p): theta before the step, to be put back */
    double *old_state;       /* (state_count): likewise */
    uint64_t steps, skips;   /* skips of the steps were not updates */
};

/* linattn_step_record. */
extern const linattn__struct linattn__step_record_struct;

/* Another owner; linattn_optimizer_destroy gives it up. */
void linattn__optimizer_retain(linattn_optimizer *optimizer);

/* The options that its numbers depend on; the rule is told by name apart. */
int linattn__optimizer_describe(const linattn_optimizer *optimizer, linattn__describe visit, void *user);

#endif
