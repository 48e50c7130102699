/* philox.h: Philox 4x32-10, LINATTN__LANES counters at a time.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A round is
 *     (hi0, lo0) = M0 c0    (hi1, lo1) = M1 c2    c <- (hi1 ^ c1 ^ k0, lo1, hi0 ^ c3 ^ k1, lo0).
 * Words of 32 bits live in lanes of 64. What lies above the low 32 bits may be anything: products read the low half alone, so a
 * product is kept whole as both of its words and never masked. */
#ifndef LINATTN_RANDOM_PHILOX_H
#define LINATTN_RANDOM_PHILOX_H

#include "common/vector.h"
#include "random/random.h"

#define LINATTN__PHILOX_M0 0xd2511f53u
#define LINATTN__PHILOX_M1 0xcd9e8d57u
#define LINATTN__PHILOX_W0 0x9e3779b9u /* added to the key from round to round */
#define LINATTN__PHILOX_W1 0xbb67ae85u

/* The upper words of products, in the low halves of their lanes. A shuffle leaves to the multiplier the port that a shift would
 * share with it. */
LINATTN__INLINE vword philox_upper(vword product) {
#if LINATTN__LANES == 8 && defined(__AVX512F__)
    return (vword)_mm512_shuffle_epi32((__m512i)product, _MM_PERM_CDAB);
#elif LINATTN__LANES == 4 && defined(__AVX2__)
    return (vword)_mm256_shuffle_epi32((__m256i)product, 0xb1);
#elif LINATTN__LANES == 2 && defined(__SSE2__)
    return (vword)_mm_shuffle_epi32((__m128i)product, 0xb1);
#else
    return product >> 32;
#endif
}

/* The 128 bits of counter (c0, c1, c2, c3) as pair[0] = word 0 << 32 | word 1 and pair[1] = word 2 << 32 | word 3. */
LINATTN__INLINE void philox_counter(const linattn__stream *stream, vword c0, vword c1, vword c2, vword c3, vword pair[2]) {
    const vword m0 = vword_all(LINATTN__PHILOX_M0), m1 = vword_all(LINATTN__PHILOX_M1);
    for (int round = 0; round < LINATTN__PHILOX_ROUNDS - 1; round++) {
        const vword p0 = vword_multiply_low(c0, m0), p1 = vword_multiply_low(c2, m1);
        c0 = philox_upper(p1) ^ c1 ^ stream->key[round][0];
        c2 = philox_upper(p0) ^ c3 ^ stream->key[round][1];
        c1 = p1;
        c3 = p0;
    }
    /* The last round leaves its words where a uniform wants them, without taking the products apart. */
    const vword p0 = vword_multiply_low(c0, m0), p1 = vword_multiply_low(c2, m1);
    pair[0] = p1 ^ (c1 << 32) ^ (stream->key[LINATTN__PHILOX_ROUNDS - 1][0] << 32);
    pair[1] = p0 ^ (c3 << 32) ^ (stream->key[LINATTN__PHILOX_ROUNDS - 1][1] << 32);
}

/* Block `index` of (stream, kind, prompt). */
LINATTN__INLINE void philox_block(const linattn__stream *stream, unsigned kind, vword index, vword prompt, vword pair[2]) {
    const uint64_t word3 = stream->draw_high | (uint64_t)kind << 16;
    philox_counter(stream, index, prompt, vword_all(stream->draw_low), vword_all(word3), pair);
}

#endif
