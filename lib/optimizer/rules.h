/* rules.h: update rules. A rule is one file rule_<name>.c that exports a linattn__rule, and one row of the table in rules.c. */
#ifndef LINATTN_OPTIMIZER_RULES_H
#define LINATTN_OPTIMIZER_RULES_H

#include "optimizer/range.h"
#include <linattn/optimizer.h>

typedef struct linattn__rule {
    const char *name;             /* kept in checkpoints */
    size_t parts;                 /* its memory is (parts, p) */
    const linattn__range *ranges; /* (range_count): the options it reads; NULL: none */
    size_t range_count;
    int (*validate)(const linattn_optimizer_options *options); /* what no range can say; NULL: nothing */
    /* Moves theta and the memory by one step. Numbers that overflow may be left behind: the caller looks, and puts both back. */
    void (*update)(const linattn_optimizer_options *options, const linattn_update *update);
    /* The diagonal D (p) that divides the direction, from the memory after t updates: linattn_optimizer_preconditioner. Returns a
     * status, with a message. NULL: the rule has none. */
    int (*preconditioner)(const linattn_optimizer_options *options, const double *state, size_t p, uint64_t t, double *out);
} linattn__rule;

/* The rule of enum linattn_rule; NULL when the number is none of the library's own. */
const linattn__rule *linattn__rule_find(int32_t rule);

/* The names of the library's rules with their numbers, for messages. */
extern const char linattn__rule_list[];

/* v (p), the memory of SGD and sign descent, moved on: v = momentum v + (1 - dampening) g_i with g_i = g + weight_decay theta.
 * PyTorch's conventions: v_1 = g, undampened, and without momentum v = g, whatever the dampening. */
void linattn__velocity(const linattn_optimizer_options *options, const linattn_update *update, double weight_decay);

/* One step of Adam on g + weight_decay theta; the memory is m (p), then v (p). */
void linattn__adam_step(const linattn_optimizer_options *options, const linattn_update *update, double weight_decay);

/* What Adam divides by. */
int linattn__adam_preconditioner(const linattn_optimizer_options *options, const double *state, size_t p, uint64_t t, double *out);

/* The options that all rules of Adam's kind read. */
enum { LINATTN__ADAM_RANGES = 4 };
extern const linattn__range linattn__adam_ranges[LINATTN__ADAM_RANGES];

/* 1 - beta^t, the share of a moving average that t updates have filled. */
double linattn__bias_correction(double beta, uint64_t t);

#endif
