/* vector.h: LINATTN__LANES doubles that move together.
 *
 * Included once per instruction set with LINATTN__LANES = 2, 4 or 8, and with 1 for code that works on single numbers. Arithmetic
 * and comparisons are the compiler's own on vector types; this file adds the few operations that have no operator. A comparison
 * gives a vmask: all ones where true, all zeros where false. */
#ifndef LINATTN_COMMON_VECTOR_H
#define LINATTN_COMMON_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if LINATTN__LANES > 1 && defined(__x86_64__)
#include <immintrin.h>
#elif LINATTN__LANES == 2 && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define LINATTN__INLINE static inline __attribute__((always_inline, unused))
/* Out of line for all sizes at once: copies for one constant would choose tiles anew. */
#ifdef __clang__
#define LINATTN__OUTLINE static __attribute__((noinline, unused))
#else
#define LINATTN__OUTLINE static __attribute__((noinline, noclone, unused))
#endif

/* Before a loop of few, constant turns: arrays indexed by it become registers. */
#ifdef __clang__
#define LINATTN__UNROLL _Pragma("clang loop unroll(full)")
#else
#define LINATTN__UNROLL _Pragma("GCC unroll 8")
#endif

typedef double vreal __attribute__((vector_size(8 * LINATTN__LANES)));
typedef uint64_t vword __attribute__((vector_size(8 * LINATTN__LANES)));
typedef int64_t vmask __attribute__((vector_size(8 * LINATTN__LANES)));

LINATTN__INLINE vreal vreal_all(double x) { return x - (vreal){0}; }
LINATTN__INLINE vword vword_all(uint64_t x) { return x - (vword){0}; }

/* Loads and stores at addresses aligned for the vector. */
LINATTN__INLINE vreal vreal_load(const double *from) { return *(const vreal *)(const void *)from; }
LINATTN__INLINE void vreal_store(double *to, vreal x) { *(vreal *)(void *)to = x; }

/* a where the mask is set, b elsewhere. */
LINATTN__INLINE vreal vreal_select(vmask mask, vreal a, vreal b) {
    return (vreal)(((vword)mask & (vword)a) | (~(vword)mask & (vword)b));
}

LINATTN__INLINE int vmask_any(vmask mask) {
    int64_t any = 0;
    for (int i = 0; i < LINATTN__LANES; i++) any |= mask[i];
    return any != 0;
}

/* The product of the low 32 bits of a and of b, 64 bits wide. */
LINATTN__INLINE vword vword_multiply_low(vword a, vword b) {
#if LINATTN__LANES == 8 && defined(__AVX512F__)
    return (vword)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif LINATTN__LANES == 4 && defined(__AVX2__)
    return (vword)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif LINATTN__LANES == 2 && defined(__SSE2__)
    return (vword)_mm_mul_epu32((__m128i)a, (__m128i)b);
#elif LINATTN__LANES == 2 && defined(__ARM_NEON) && defined(__aarch64__)
    return (vword)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* The correctly rounded square root. */
LINATTN__INLINE vreal vreal_sqrt(vreal x) {
#if LINATTN__LANES == 8 && defined(__AVX512F__)
    return (vreal)_mm512_sqrt_pd((__m512d)x);
#elif LINATTN__LANES == 4 && defined(__AVX2__)
    return (vreal)_mm256_sqrt_pd((__m256d)x);
#elif LINATTN__LANES == 2 && defined(__SSE2__)
    return (vreal)_mm_sqrt_pd((__m128d)x);
#elif LINATTN__LANES == 2 && defined(__ARM_NEON) && defined(__aarch64__)
    return (vreal)vsqrtq_f64((float64x2_t)x);
#else
    for (int i = 0; i < LINATTN__LANES; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
#endif
}

#endif
