#include "bench/peak.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A processor begins two vector operations a cycle and has the result of one four cycles later, of a multiplication and then an
 * addition eight: 12 chains keep it busy, and fit 16 registers with a and b. x stays near 2 b: subnormal numbers would be slow. */
enum { CHAINS = 12, MULTIPLY_ADDS = 1000000 };
typedef double pair __attribute__((vector_size(16)));

/* name(turn): all chains, `lanes` doubles each. */
#define PEAK(name, target, vector, lanes, all, multiply_add)                                                                       \
    target static double name(uint64_t turn) {                                                                                     \
        const vector a = all(0.5), b = all(1.0 + (double)(turn % 2));                                                              \
        vector x[CHAINS];                                                                                                          \
        for (int i = 0; i < CHAINS; i++) x[i] = all((double)i);                                                                    \
        for (int j = 0; j < MULTIPLY_ADDS / (CHAINS * (lanes)); j++) {                                                             \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) x[i] = multiply_add(a, x[i], b);                             \
        }                                                                                                                          \
        for (int i = 1; i < CHAINS; i++) x[0] += x[i];                                                                             \
        return x[0][0];                                                                                                            \
    }

#define PAIR(x)                                                                                                                    \
    (pair) { x, x }
#define MULTIPLY_ADD(a, x, b) ((a) * (x) + (b))
PEAK(peak_baseline, , pair, 2, PAIR, MULTIPLY_ADD)
#if defined(__x86_64__)
#define TARGET(name) __attribute__((target(name)))
PEAK(peak_avx2, TARGET("avx2,fma"), __m256d, 4, _mm256_set1_pd, _mm256_fmadd_pd)
PEAK(peak_avx512, TARGET("avx512f"), __m512d, 8, _mm512_set1_pd, _mm512_fmadd_pd)
#endif

int multiply_adds(enum linattn__isa isa, uint64_t turn) {
    static double (*const peaks[])(uint64_t turn) = {
        peak_baseline,
#if defined(__x86_64__)
        peak_avx2,
        peak_avx512,
#endif
    };
    volatile double kept = peaks[isa](turn);
    (void)kept;
    return 0;
}
