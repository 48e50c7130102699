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

/* One round, of c0 .. c3. */
LINATTN__INLINE void philox_round(const linattn__stream *stream, int round, vword c[4]) {
    const vword p0 = vword_multiply_low(c[0], vword_all(LINATTN__PHILOX_M0));
    const vword p1 = vword_multiply_low(c[2], vword_all(LINATTN__PHILOX_M1));
    c[0] = philox_upper(p1) ^ c[1] ^ stream->key[round][0];
    c[2] = philox_upper(p0) ^ c[3] ^ stream->key[round][1];
    c[1] = p1;
    c[3] = p0;
}

/* The last round leaves its words where a uniform wants them, without taking the products apart: pair[0] = word 0 << 32 | word 1 and
 * pair[1] = word 2 << 32 | word 3. */
LINATTN__INLINE void philox_last_round(const linattn__stream *stream, const vword c[4], vword pair[2]) {
    const int round = LINATTN__PHILOX_ROUNDS - 1;
    const vword p0 = vword_multiply_low(c[0], vword_all(LINATTN__PHILOX_M0));
    const vword p1 = vword_multiply_low(c[2], vword_all(LINATTN__PHILOX_M1));
    pair[0] = p1 ^ (c[1] << 32) ^ (stream->key[round][0] << 32);
    pair[1] = p0 ^ (c[3] << 32) ^ (stream->key[round][1] << 32);
}

/* How many blocks are best worked on side by side, each being one chain of dependent operations. */
enum { PHILOX_BESIDE = 4 };

/* The 128 bits, pairs of words as above, of blocks index .. index+count-1 (constant, at most PHILOX_BESIDE) of (stream, kind,
 * prompt). */
LINATTN__INLINE void philox_blocks(const linattn__stream *stream, unsigned kind, vword index, vword prompt, size_t count,
                                   vword pairs[][2]) {
    vword c[PHILOX_BESIDE][4];
    LINATTN__UNROLL
    for (size_t i = 0; i < count; i++) {
        c[i][0] = index + i;
        c[i][1] = prompt;
        c[i][2] = vword_all(stream->draw_low);
        c[i][3] = vword_all(stream->draw_high | (uint64_t)kind << 16);
    }
    for (int round = 0; round < LINATTN__PHILOX_ROUNDS - 1; round++) {
        LINATTN__UNROLL
        for (size_t i = 0; i < count; i++) philox_round(stream, round, c[i]);
    }
    LINATTN__UNROLL
    for (size_t i = 0; i < count; i++) philox_last_round(stream, c[i], pairs[i]);
}

#endif
