/* profile.c: how the teacher's attention is made sparse. */
#include "common/fail.h"
#include "prompt/prompt.h"
#include "random/random.h"

/* s_k before it is permuted, by the number k of its rank; times ln R. */
static double rank_score(const linattn_prompt_options *options, size_t k) {
    if (options->profile == LINATTN_PROMPT_ACTIVE) return k < options->active ? 0 : 1;
    return (double)k / (double)(options->tokens - 1);
}

void linattn__prompt_profile(const linattn_prompt_options *options, double *scores) {
    const size_t n = options->tokens;
    const double log_ratio = options->sparsity < 1 ? linattn__random_log(options->sparsity) : 0;
    linattn__stream stream;
    linattn__stream_open(&stream, options->seed, 0, LINATTN__PURPOSE_PROMPT);
    for (size_t i = 0; i < options->examples; i++) {
        double *s = scores + i * n;
        for (size_t k = 0; k < n; k++) s[k] = n > 1 ? log_ratio * rank_score(options, k) : 0;
        for (size_t k = 0; k + 1 < n; k++) { /* Fisher and Yates */
            double u;
            linattn__random_uniforms(&stream, LINATTN__KIND_PLACES, (uint32_t)i, k, 1, &u);
            const size_t j = k + (size_t)(u * (double)(n - k));
            const double kept = s[k];
            s[k] = s[j];
            s[j] = kept;
        }
    }
}
