/* lanes.h: arrays of variates for LINATTN__LANES prompts at a time; the kernels of the sampler are made of these.
 *
 * Arrays are (count, lanes). Each number equals the scalar definition of random.c bit for bit. */
#ifndef LINATTN_SAMPLER_LANES_H
#define LINATTN_SAMPLER_LANES_H

#include "random/variates.h"

/* prompt, prompt + 1, ... */
LINATTN__INLINE vword lanes_prompts(uint32_t prompt) {
    vword lanes = vword_all(prompt);
    for (int i = 0; i < LINATTN__LANES; i++) lanes[i] += (uint64_t)i;
    return lanes;
}

/* Bit i is lane i. */
LINATTN__INLINE unsigned vmask_bits(vmask mask) {
#if LINATTN__LANES == 8 && defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)mask);
#elif LINATTN__LANES == 4 && defined(__AVX2__)
    return (unsigned)_mm256_movemask_pd((__m256d)mask);
#elif LINATTN__LANES == 2 && defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)mask);
#else
    unsigned bits = 0;
    for (int i = 0; i < LINATTN__LANES; i++) bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
#endif
}

/* Normals v = first .. first+count-1, first even; count odd writes one more. */
LINATTN__INLINE void lanes_normals(const linattn__stream *stream, unsigned kind, vword prompts, uint64_t first, size_t count,
                                   double *out) {
    for (size_t i = 0; i < count; i += 2) {
        vreal pair[2];
        normal_pair(stream, kind, vword_all((first + i) / 2), prompts, pair);
        vreal_store(out + i * LINATTN__LANES, pair[0]);
        vreal_store(out + (i + 1) * LINATTN__LANES, pair[1]);
    }
}

/* |z|^2, z (count, lanes). */
LINATTN__INLINE vreal lanes_square_norm(const double *z, size_t count) {
    vreal sum = vreal_all(0.0);
    for (size_t j = 0; j < count; j++) {
        const vreal entry = vreal_load(z + j * LINATTN__LANES);
        sum += entry * entry;
    }
    return sum;
}

/* y = A x, A (rows, columns) shared by the lanes, x (columns, lanes). */
LINATTN__INLINE void lanes_multiply(const double *a, size_t rows, size_t columns, const double *x, double *y) {
    for (size_t i = 0; i < rows; i++) {
        vreal sum = vreal_all(0.0);
        for (size_t j = 0; j < columns; j++) sum += a[i * columns + j] * vreal_load(x + j * LINATTN__LANES);
        vreal_store(y + i * LINATTN__LANES, sum);
    }
}

#endif
