/* isa.c: which instruction sets this machine and this build have. */
#include "kernels/isa.h"
#include "common/fail.h"
#include <linattn/version.h>

/* The processor must have the instructions and the operating system must save the registers; the compiler's test asks both. */
static int isa_runs(enum linattn__isa isa) {
    if (isa == LINATTN__ISA_BASELINE) return 1;
#if defined(__x86_64__)
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == LINATTN__ISA_AVX2) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}

enum linattn__isa linattn__isa_best(void) {
    if (isa_runs(LINATTN__ISA_AVX512)) return LINATTN__ISA_AVX512;
    return isa_runs(LINATTN__ISA_AVX2) ? LINATTN__ISA_AVX2 : LINATTN__ISA_BASELINE;
}

/* 1 and *isa when kernel is a member of enum linattn_kernel, 0 otherwise. */
static int isa_of_kernel(int32_t kernel, enum linattn__isa *isa) {
    switch (kernel) {
    case LINATTN_KERNEL_AUTO:
        *isa = linattn__isa_best();
        return 1;
    case LINATTN_KERNEL_BASELINE:
        *isa = LINATTN__ISA_BASELINE;
        return 1;
    case LINATTN_KERNEL_AVX2:
        *isa = LINATTN__ISA_AVX2;
        return 1;
    case LINATTN_KERNEL_AVX512:
        *isa = LINATTN__ISA_AVX512;
        return 1;
    default:
        return 0;
    }
}

int linattn__isa_resolve(int32_t kernel, enum linattn__isa *isa) {
    enum linattn__isa wanted;
    if (!isa_of_kernel(kernel, &wanted)) {
        return linattn__fail_integer("kernel", kernel, "0 (auto), 1 (baseline), 2 (avx2) or 3 (avx512)");
    }
    if (!isa_runs(wanted)) {
        return linattn__fail(LINATTN_EUNSUPPORTED, "kernel is %d (%s), which this machine or build lacks; allowed: 0 (auto)%s%s",
                             (int)kernel, linattn_kernel_name(kernel), ", 1 (baseline)",
                             isa_runs(LINATTN__ISA_AVX2) ? ", 2 (avx2)" : "");
    }
    *isa = wanted;
    return LINATTN_OK;
}

int linattn_kernel_available(int32_t kernel) {
    enum linattn__isa isa;
    return isa_of_kernel(kernel, &isa) && isa_runs(isa);
}

const char *linattn_kernel_name(int32_t kernel) {
    switch (kernel) {
    case LINATTN_KERNEL_AUTO:
        return "auto";
    case LINATTN_KERNEL_BASELINE:
        return "baseline";
    case LINATTN_KERNEL_AVX2:
        return "avx2";
    case LINATTN_KERNEL_AVX512:
        return "avx512";
    default:
        return "unknown";
    }
}
