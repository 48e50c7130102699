/* variates.h: uniforms, normals and gamma attempts, LINATTN__LANES at a time; see random.h for what they are.
 *
 * Always-inline functions of a block: random.c instantiates them for single numbers, the sampler's kernels for vectors. */
#ifndef LINATTN_RANDOM_VARIATES_H
#define LINATTN_RANDOM_VARIATES_H

#include "random/elementary.h"
#include "random/philox.h"

/* u = (k + 1/2) 2^-52, k the upper 52 bits: in (0, 1), exact, symmetric about 1/2; an odd multiple of 2^-53, never 0, 1 or a
 * multiple of 1/4. */
LINATTN__INLINE vreal vreal_uniform(vword bits) {
    const uint64_t one = 0x3ff0000000000000u;
    return (vreal)((bits >> 12) | one) - (1.0 - 0x1p-53); /* (1 + k 2^-52) - (1 - 2^-53) */
}

/* The uniforms (count, 2) of blocks index .. index+count-1; count is constant, at most PHILOX_BESIDE. */
LINATTN__INLINE void uniform_blocks(const linattn__stream *stream, unsigned kind, vword index, vword prompt, size_t count,
                                    vreal *out) {
    vword pairs[PHILOX_BESIDE][2];
    philox_blocks(stream, kind, index, prompt, count, pairs);
    LINATTN__UNROLL
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = vreal_uniform(pairs[i][0]);
        out[2 * i + 1] = vreal_uniform(pairs[i][1]);
    }
}

LINATTN__INLINE void uniform_pair(const linattn__stream *stream, unsigned kind, vword index, vword prompt, vreal out[2]) {
    uniform_blocks(stream, kind, index, prompt, 1, out);
}

/* Box and Muller, from log u_0 and u_1: sqrt(-2 log u_0) (cos 2 pi u_1, sin 2 pi u_1). Neither is ever 0, and neither exceeds 8.58. */
LINATTN__INLINE void box_muller(vreal log_u, vreal turn, vreal out[2]) {
    vreal cosine, sine;
    const vreal radius = vreal_sqrt(-2.0 * log_u);
    vreal_cos_sin(turn, &cosine, &sine);
    out[0] = radius * cosine;
    out[1] = radius * sine;
}

LINATTN__INLINE void normal_pair(const linattn__stream *stream, unsigned kind, vword index, vword prompt, vreal out[2]) {
    vreal u[2];
    uniform_pair(stream, kind, index, prompt, u);
    box_muller(vreal_log(u[0]), u[1], out);
}

/* Gamma variates come in pairs m = (2m, 2m + 1), whose attempt number a uses two blocks: two normals, one for each of the pair, and
 * two uniforms. */
LINATTN__INLINE vword gamma_block(vword pair, vword attempt) { return (pair * LINATTN__GAMMA_ATTEMPTS + attempt) * 2; }

LINATTN__INLINE void gamma_attempt(const linattn__stream *stream, unsigned kind, vword pair, vword attempt, vword prompt,
                                   vreal x[2], vreal u[2]) {
    const vword index = gamma_block(pair, attempt);
    normal_pair(stream, kind, index, prompt, x);
    uniform_pair(stream, kind, index + 1, prompt, u);
}

/* v = (1 + c x)^3, so that d v is the proposal (Marsaglia and Tsang 2000). */
LINATTN__INLINE vreal gamma_proposal(vreal c, vreal x) {
    const vreal t = 1.0 + c * x;
    return t * t * t;
}

/* The cheap sufficient condition for acceptance, u < 1 - 0.0331 x^4: about 92 in 100. It implies v > 0. */
LINATTN__INLINE vmask gamma_squeeze(vreal squeeze, vreal x, vreal u) {
    const vreal x2 = x * x;
    return u < 1.0 - squeeze * (x2 * x2);
}

/* v > 0 and log u < x^2/2 + d (1 - v + log v). */
LINATTN__INLINE vmask gamma_exact(vreal d, vreal x, vreal u, vreal v) {
    const vmask positive = v > 0.0; /* then v >= 2^-162, being the cube of a sum with 1 */
    const vreal safe = vreal_select(positive, v, vreal_all(1.0));
    return positive & (vreal_log(u) < 0.5 * (x * x) + d * (1.0 - safe + vreal_log(safe)));
}

/* U^(power), 0 < U < 1, power >= 0, in log space: U^(1/k) underflows for small k long before log U / k does. */
LINATTN__INLINE vreal uniform_power(vreal u, double power) { return vreal_exp(vreal_log(u) * power); }

#endif
