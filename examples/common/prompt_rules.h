/* prompt_rules.h: the ways of descent that prompt_descent compares, and one run of one of them. */
#ifndef EXAMPLES_PROMPT_RULES_H
#define EXAMPLES_PROMPT_RULES_H

#include "prompt_case.h"

enum { GD_INVERSE, GD, NORMALIZED, POLYAK, SGD_BATCHES, ADAM_FULL, PROMPT_RULES };
enum { PROMPT_FACTORS = 8 };

/* The learning rate is one of the factors, times 1/L (prompt_step) where it is relative. */
typedef struct prompt_rule {
    const char *name;
    const char *colour;
    int32_t rule;    /* enum linattn_rule */
    int decaying;    /* 1: to 0 by a cosine over the run */
    int minibatches; /* 1: N/10 examples, at least 1, drawn in epochs; 0: all N */
    int relative;
    double factors[PROMPT_FACTORS]; /* ascending; of which `count` are tried */
    size_t count;
} prompt_rule;

extern const prompt_rule prompt_rules[PROMPT_RULES];

/* What is known at theta_t, t = step, over all N examples. */
typedef struct prompt_point {
    double loss;     /* Inf once the run has diverged, as the distances */
    double distance; /* |p - p*| / |p*|; NaN when it was not asked for */
    double seen;     /* the same without the directions that no example sees */
} prompt_point;

typedef struct prompt_plan {
    prompt_system system;
    size_t rule;
    double factor;
    const uint64_t *stops; /* (stop_count), ascending, from 0: the steps that are looked at */
    size_t stop_count;
    int distances; /* 1: asked for */
} prompt_plan;

/* Draws the system and trains p from 0. points: (stop_count). Returns 0, also when the run diverged or the set of runs ended (the
 * rest is then Inf), or EXIT_FAILED after a complaint. */
int prompt_rule_run(const prompt_plan *plan, prompt_point *points);

#endif
