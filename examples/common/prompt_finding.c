#include "prompt_finding.h"

#include <math.h>

/* (sum x)^2 / sum x^2 of x_i = |b_i|^2, scaled by the largest so that squares do not vanish. */
static double effective_examples(const double *b, size_t examples, size_t tokens, double largest) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < examples; i++) {
        double x = 0;
        for (size_t k = 0; k < tokens; k++) x += b[i * tokens + k] * b[i * tokens + k] / largest;
        sum += x;
        squares += x * x;
    }
    return sum * sum / squares;
}

int prompt_measure(const prompt_system *system, const linattn_prompt *prompt, double *teacher, double *weights, double *b,
                   prompt_finding *out) {
    const size_t examples = system->sizes->examples, tokens = system->sizes->tokens;
    linattn_prompt_condition c = {.struct_size = sizeof c};
    linattn_concentration a = {.struct_size = sizeof a};
    int status = linattn_prompt_get_arrays(prompt, NULL, NULL, NULL, teacher, NULL);
    if (status == LINATTN_OK) status = linattn_prompt_evaluate(prompt, teacher, NULL, weights, b, NULL);
    if (status == LINATTN_OK) status = linattn_prompt_measure_condition(prompt, teacher, NULL, &c);
    if (status == LINATTN_OK && system->profile != LINEAR)
        status = linattn_attention_concentration(weights, examples, tokens, tokens, 1, &a);
    if (status != LINATTN_OK) return status;
    *out = (prompt_finding){.ratio = system->profile == LINEAR ? system->sparsity : a.ratio_median,
                            .smallest = system->profile == LINEAR ? NAN : a.ratio_smallest,
                            .condition = c.condition,
                            .bound = isfinite(c.bound) ? c.bound : NAN,
                            .ratio_bound = isfinite(c.ratio_bound) ? c.ratio_bound : NAN,
                            .spread = c.spread_largest / c.spread_smallest,
                            .effective = effective_examples(b, examples, tokens, c.spread_largest)};
    return LINATTN_OK;
}
