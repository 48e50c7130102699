/* reference_random.h: a second implementation of the sampler, from docs/numerics.md and published papers alone: 32-bit integers,
 * long double, libm, one number at a time. Shares nothing with the library but the public options. */
#ifndef LINATTN_TESTS_REFERENCE_RANDOM_H
#define LINATTN_TESTS_REFERENCE_RANDOM_H

#include <linattn/sampler.h>
#include <stddef.h>
#include <stdint.h>

/* Where variates come from: seed, draw, stream = purpose * 16 + kind, prompt. */
typedef struct reference_place {
    uint64_t seed, draw;
    uint32_t stream, prompt;
} reference_place;

void reference_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);
long double reference_uniform(reference_place place, uint64_t v);
long double reference_normal(reference_place place, uint64_t v);
/* Gamma of scale 1; the power of a uniform comes from stream `boosts`. */
long double reference_gamma(reference_place place, uint32_t boosts, long double shape, uint64_t v);

/* Prompt `prompt` of draw `draw`, token mode: tokens (n+1, d+1), query last; returns the target. */
double reference_tokens(const linattn_sampler_options *options, uint64_t draw, uint32_t prompt, double *tokens);
/* The same in moments mode: moments (d+1, d+1). */
void reference_moments(const linattn_sampler_options *options, uint64_t draw, uint32_t prompt, double *moments);
/* Which of n prompts draw `draw` of a data set takes, b of them, in order: out (b). replacement: 0 means epochs. */
void reference_minibatch(uint64_t seed, uint64_t draw, size_t n, size_t b, int replacement, size_t *out);

#endif
